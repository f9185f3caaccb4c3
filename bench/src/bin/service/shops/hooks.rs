//! Hooks at a steady rate while the database is busy: how soon they are acknowledged, and whether each one that was is
//! there.

use std::process::Stdio;

use base64::{Engine, engine::general_purpose::STANDARD};
use bench::{
    machine::Watch,
    paced::{Paced, Requests},
    report::{Row, Target},
    service::Service,
};
use domain::accounts::Platform;
use ring::hmac;
use tokio::process::Command;

use super::world::{SECRET, SHOP, Stub, World};
use crate::{Bench, imports};

pub const ROW: &str = "shops hooks";
/// Hooks a second, over this many connections, for so long.
const RATE: f64 = 500.0;
const CONNECTIONS: usize = 16;
const SECONDS: u32 = 60;
/// How soon they are to be acknowledged, ms.
const BOUND: f64 = 50.0;
/// Orders of the shop, which the hooks are about.
const ORDERS: u32 = 500;
/// Lines of the file that is imported over and over meanwhile, without pauses.
const LINES: u32 = 100_000;

pub async fn measure(bench: &Bench) -> anyhow::Result<Row> {
    let stub = Stub::start(Platform::Shopify, ORDERS).await?;
    let world = World::new(bench, "hooks", &stub, 2).await?;
    let settings = stub.settings(&[("BAS_SHOPS_NICE_RATIO", "0"), ("BAS_JOBS_CRON", "0 0 1 1 *")]);
    let service = Service::start(&bench.api, &["up", "--no-demo"], &world.url, &settings).await?;
    stub.connect(&service, &world.owner.key).await?;
    world.wait_for_history().await?;
    let orders: Vec<String> = world
        .sql
        .query("SELECT external_id FROM orders WHERE account_id = $1", &[&world.owner.id])
        .await?
        .iter()
        .map(|row| row.try_get(0))
        .collect::<Result<_, _>>()?;
    let busy = Busy::start(bench, &world)?;
    let watch = Watch::begin(&[service.pid()?, bench.postgres.pid()]);
    let requests = Requests::of("POST /hooks/shopify", move |number| hook(number, &orders));
    let seconds = if bench.quick { bench.seconds } else { SECONDS };
    let paced = Paced { requests, connections: CONNECTIONS, seconds, rate: RATE };
    let (shown, base_url) = (paced.shown(), service.base_url.clone());
    let load = tokio::task::spawn_blocking(move || paced.run(&base_url)).await??;
    let disturbed = watch.disturbed();
    busy.stop().await?;
    let kept = "SELECT count(*) FROM provider_inbox WHERE account_id = $1 AND dedup_key LIKE 'bench-%'";
    let kept: i64 = world.sql.query_one(kept, &[&world.owner.id]).await?.try_get(0)?;
    let lost = (load.requests - load.failed - kept as f64).max(0.0);
    let p99 = load.p99_ms.unwrap_or(f64::NAN);
    let what = "from when a hook was due to its acknowledgement, while they are acted on and a file is imported for another \
        account without pauses";
    let mut row = Row::new(ROW, what, p99, "ms, p99")
        .target(Target::at_most("ms", p99, BOUND))
        .target(Target::at_most("% not acknowledged", load.failed / load.requests * 100.0, 0.0))
        .target(Target::at_most("acknowledged and not there", lost, 0.0))
        .note(&format!("{kept} hooks in {seconds} s"));
    (row.p50_ms, row.p99_ms, row.disturbed) = (load.p50_ms, load.p99_ms, disturbed);
    row.command = format!("{}; {shown}", service.command);
    service.stop().await?;
    Ok(row)
}

/// The n-th hook: signed, about an order of the shop, and none that came before.
fn hook(number: usize, orders: &[String]) -> Vec<u8> {
    let order = orders.get(number % orders.len().max(1)).map_or("1", String::as_str);
    let body = format!(r#"{{"id":{order},"note":"{}"}}"#, "x".repeat(2_000));
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let signature = STANDARD.encode(hmac::sign(&key, body.as_bytes()));
    format!(
        "POST /hooks/shopify HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/json\r\n\
         X-Shopify-Topic: orders/updated\r\nX-Shopify-Shop-Domain: {SHOP}\r\nX-Shopify-Event-Id: bench-{number}\r\n\
         X-Shopify-Hmac-Sha256: {signature}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Imports for another account, one after the other.
struct Busy(tokio::process::Child);

impl Busy {
    fn start(bench: &Bench, world: &World) -> anyhow::Result<Self> {
        let file = imports::file_of(&bench.postgres, LINES)?;
        let account = world.data.tenfold.id;
        // Each time its orders are other ones, as a file that was imported already changes nothing.
        let script = format!(
            "n=0; while :; do n=$((n+1)); sed \"2,\\$s/^/$n-/\" {file} > {file}.$n; \
             {api} import orders {file}.$n --account {account} --nice-ratio 0; rm {file}.$n; done",
            file = file.display(),
            api = bench.api.display()
        );
        let command = &mut Command::new("setsid");
        command.args(["sh", "-c", &script]).env("DATABASE_URL", &world.url);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        Ok(Self(child.spawn()?))
    }

    async fn stop(mut self) -> anyhow::Result<()> {
        crate::faults::end_group(&self.0).await?;
        self.0.wait().await?;
        Ok(())
    }
}
