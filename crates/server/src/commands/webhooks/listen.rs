//! `api webhooks listen`.

use std::{
    collections::HashSet,
    net::Ipv4Addr,
    process::ExitCode,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use actix_web::{
    App, HttpRequest, HttpResponse, HttpServer,
    http::{StatusCode, header::HeaderMap},
    web,
};
use anyhow::Context;
use domain::webhooks::{
    signature::Secret,
    verify::{Verdict, is_valid, verdicts},
};
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use super::parse_secret;
use crate::output::rfc3339;

pub const EXAMPLES: &str = "\
The service must be allowed to call this machine: start it with BAS_WEBHOOK_ALLOW_LOOPBACK=127.0.0.1:9000.
With Ctrl-C, or after --count deliveries, the exit code is 0 when every signature was right, else 1.

Examples:
  api webhooks listen --secret whsec_…
  api webhooks listen --secret whsec_… --status 500,500,200     two failures, then success
  api webhooks listen --secret whsec_… --delay 12               slower than an attempt waits";

/// The largest body that is read, bytes.
const MAX_BODY: usize = 1024 * 1024;

#[derive(Debug, clap::Args)]
pub struct ListenArgs {
    /// The subscription's secret, also as WEBHOOK_SECRET
    #[arg(long, env = "WEBHOOK_SECRET", hide_env_values = true, value_parser = parse_secret)]
    secret: Secret,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 9000)]
    port: u16,
    /// Status to answer with; several are answered one after the other, the last one from then on
    #[arg(long, value_delimiter = ',', default_value = "200", value_parser = clap::value_parser!(u16).range(200..=599))]
    status: Vec<u16>,
    /// Seconds to wait before each answer
    #[arg(long, default_value = "0", value_parser = parse_delay)]
    delay: Duration,
    /// End after that many deliveries
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Print a line of JSON for each delivery
    #[arg(long)]
    json: bool,
}

fn parse_delay(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=3_600.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "say 0 to 3600 seconds".to_owned())
}

struct Listening {
    args: ListenArgs,
    progress: Mutex<Progress>,
    enough: CancellationToken,
}

#[derive(Default)]
struct Progress {
    received: u64,
    wrong: u64,
    ids: HashSet<String>,
}

/// A delivery as it came in, judged.
struct Received<'a> {
    headers: &'a HeaderMap,
    body: &'a [u8],
    verdicts: Vec<Verdict>,
    /// Its id was there before.
    again: bool,
    answer: u16,
}

pub async fn listen(args: ListenArgs) -> anyhow::Result<ExitCode> {
    let (port, enough) = (args.port, CancellationToken::new());
    let listening = web::Data::new(Listening { args, progress: Mutex::default(), enough: enough.clone() });
    let state = listening.clone();
    let server = HttpServer::new(move || {
        let limit = web::PayloadConfig::new(MAX_BODY);
        App::new().app_data(state.clone()).app_data(limit).default_service(web::to(receive))
    })
    .workers(1)
    .disable_signals()
    .shutdown_timeout(1)
    .bind((Ipv4Addr::LOCALHOST, port))
    .with_context(|| format!("cannot listen on 127.0.0.1:{port}: choose another port with --port"))?;
    for address in server.addrs() {
        eprintln!("Listening on http://{address}/ for deliveries; Ctrl-C ends.");
    }
    let server = server.run();
    let handle = server.handle();
    #[expect(clippy::disallowed_methods, reason = "it is waited for")]
    let serving = tokio::spawn(server);
    tokio::select! {
        () = enough.cancelled() => {}
        interrupted = tokio::signal::ctrl_c() => interrupted?,
    }
    handle.stop(true).await;
    serving.await??;
    let wrong = listening.progress.lock().unwrap_or_else(PoisonError::into_inner).wrong;
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn receive(request: HttpRequest, body: web::Bytes, listening: web::Data<Listening>) -> HttpResponse {
    let headers = request.headers();
    let header = |name: &'static str| headers.get(name).and_then(|value| value.to_str().ok());
    let verdicts = verdicts(&listening.args.secret, header, &body, OffsetDateTime::now_utc());
    let (answer, again, last) = listening.note(header("x-svc-delivery-id"), is_valid(&verdicts));
    let received = Received { headers, body: &body, verdicts, again, answer };
    println!("{}", if listening.args.json { received.json().to_string() } else { received.text() });
    tokio::time::sleep(listening.args.delay).await;
    if last {
        listening.enough.cancel();
    }
    HttpResponse::build(StatusCode::from_u16(answer).unwrap_or(StatusCode::OK)).finish()
}

impl Listening {
    /// Counts a delivery. Gives the status to answer with, whether the id was there before, and whether it is the last.
    fn note(&self, id: Option<&str>, valid: bool) -> (u16, bool, bool) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let number = usize::try_from(progress.received).unwrap_or(usize::MAX);
        let status = self.args.status.get(number).or(self.args.status.last()).copied().unwrap_or(200);
        progress.received += 1;
        progress.wrong += u64::from(!valid);
        let again = id.is_some_and(|id| !progress.ids.insert(id.to_owned()));
        (status, again, self.args.count.is_some_and(|count| progress.received >= count))
    }
}

impl Received<'_> {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("-")
    }

    fn event(&self) -> Value {
        serde_json::from_slice::<Value>(self.body).ok().and_then(|body| body.get("event").cloned()).unwrap_or_default()
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{} {}  delivery {}{}  event {}  attempt {}  answered {}\n",
            rfc3339(OffsetDateTime::now_utc()),
            self.event().as_str().unwrap_or("(no event)"),
            self.header("x-svc-delivery-id"),
            if self.again { " (again)" } else { "" },
            self.header("x-svc-event-id"),
            self.header("x-svc-attempt"),
            self.answer,
        );
        if self.verdicts.is_empty() {
            text.push_str("  WRONG: there is no signature\n");
        }
        for Verdict { header, problem } in &self.verdicts {
            match problem {
                None => text.push_str(&format!("  {header}: right\n")),
                Some(problem) => text.push_str(&format!("  {header}: WRONG: {problem}\n")),
            }
        }
        text.push_str("  ");
        text.push_str(&String::from_utf8_lossy(self.body));
        text
    }

    fn json(&self) -> Value {
        let headers: Map<String, Value> = self
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into()))
            .collect();
        let signatures = self.verdicts.iter().map(|Verdict { header, problem }| {
            json!({ "header": header, "valid": problem.is_none(), "problem": problem.as_ref().map(ToString::to_string) })
        });
        json!({
            "received_at": rfc3339(OffsetDateTime::now_utc()), "event": self.event(), "valid": is_valid(&self.verdicts),
            "signatures": signatures.collect::<Vec<_>>(), "again": self.again, "answered": self.answer,
            "headers": headers, "body": String::from_utf8_lossy(self.body),
        })
    }
}
