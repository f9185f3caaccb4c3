//! `api webhooks sample`.

use std::{net::SocketAddr, process::ExitCode};

use anyhow::Context;
use delivery::sender::{DEADLINE, HttpSender, SenderConfig};
use domain::{
    AccountId, DeliveryId,
    events::{Event, EventKind},
    webhooks::{
        address::AllowList,
        attempt::{Attempt, Outcome, Request, Sender},
        signature::{Envelope, Secret},
    },
};
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use url::{Host, Url};
use uuid::Uuid;

use super::parse_secret;
use crate::random;

pub const EXAMPLES: &str = "\
Examples:
  api webhooks sample anomaly.detected
  api webhooks sample credits.low --secret whsec_… --to http://127.0.0.1:9000/";

#[derive(Debug, clap::Args)]
pub struct SampleArgs {
    /// Name of the event, such as credits.low
    event: EventKind,
    /// The secret to sign with, also as WEBHOOK_SECRET [default: a random one, which is printed]
    #[arg(long, env = "WEBHOOK_SECRET", hide_env_values = true, value_parser = parse_secret)]
    secret: Option<Secret>,
    /// Post it there: to this machine, or to HTTPS on the public Internet
    #[arg(long, visible_alias = "url", value_name = "URL")]
    to: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the sample as it is sent; after posting it, what came of that.
pub async fn sample(args: SampleArgs) -> anyhow::Result<ExitCode> {
    let SampleArgs { event, secret, to, json } = args;
    let given = secret.is_some();
    let secret = secret.map_or_else(new_secret, Ok)?;
    let body = Event::sample(event).body()?;
    let envelope = Envelope {
        delivery_id: DeliveryId(Uuid::now_v7()),
        event_id: "1",
        attempt: 1,
        now: OffsetDateTime::now_utc(),
        secret: &secret,
        previous: None,
        body: &body,
    };
    let headers = envelope.headers();
    let url = to.clone().unwrap_or_default();
    let request = Request { account: AccountId(0), url, headers: headers.clone(), body: body.clone() };
    let made = if to.is_some() { Some(sender(&request.url)?.send(request).await) } else { None };
    let text = String::from_utf8(body)?;
    if json {
        println!("{}", serde_json::to_string_pretty(&as_json(&secret, headers, &text, made.as_ref()))?);
    } else {
        if !given {
            eprintln!("Signed with {}, made up for this sample; --secret takes yours.", secret.expose());
        }
        headers.iter().for_each(|(name, value)| println!("{name}: {value}"));
        println!("\n{text}");
        if let Some(attempt) = &made {
            println!("\n{}", in_words(attempt));
        }
    }
    let delivered = made.is_none_or(|attempt| attempt.is_success());
    Ok(if delivered { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn new_secret() -> anyhow::Result<Secret> {
    let bytes: Vec<u8> = random::bytes().take(32).collect();
    let bytes: [u8; 32] = bytes.try_into().ok().context("the system gives no random numbers")?;
    Ok(Secret::generate(bytes))
}

/// The client of deliveries, which may also call this machine when that was asked for by its address.
fn sender(url: &str) -> anyhow::Result<HttpSender> {
    rustls::crypto::ring::default_provider().install_default().ok();
    let parsed = Url::parse(url).with_context(|| format!("--to: `{url}` is not a URL"))?;
    let address = match parsed.host() {
        Some(Host::Ipv4(address)) => Some(address.into()),
        Some(Host::Ipv6(address)) => Some(address.into()),
        _ => None,
    };
    let own = address.filter(std::net::IpAddr::is_loopback).zip(parsed.port_or_known_default());
    let allow_loopback = match own {
        Some(own) => SocketAddr::from(own).to_string().parse()?,
        None => AllowList::default(),
    };
    let user_agent = concat!("business-analytics/", env!("CARGO_PKG_VERSION")).to_owned();
    HttpSender::new(SenderConfig { deadline: DEADLINE, allow_loopback, user_agent }).context("cannot send")
}

fn in_words(attempt: &Attempt) -> String {
    let ms = attempt.timings.total.as_secs_f64() * 1_000.0;
    match &attempt.outcome {
        Outcome::Status(status) => {
            format!("Answered {status} in {ms:.1} ms. {}", String::from_utf8_lossy(&attempt.answer)).trim().to_owned()
        }
        Outcome::Failed(failure) => format!("Not delivered ({}): {failure}.", failure.code),
    }
}

fn as_json(secret: &Secret, headers: Vec<(&'static str, String)>, body: &str, made: Option<&Attempt>) -> Value {
    let headers: Map<String, Value> =
        headers.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    let attempt = made.map(|attempt| {
        let error = match &attempt.outcome {
            Outcome::Status(_) => None,
            Outcome::Failed(failure) => Some(failure.code.as_str()),
        };
        json!({
            "status": attempt.status(), "error": error, "message": in_words(attempt),
            "total_ms": attempt.timings.total.as_secs_f64() * 1_000.0,
        })
    });
    json!({ "secret": secret.expose(), "headers": headers, "body": body, "attempt": attempt })
}
