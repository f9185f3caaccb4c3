//! Events, compared with pgbench inserting one row a transaction, both with synchronous commit.

use std::time::{Duration, Instant};

use bench::{
    dataset::Dataset,
    from_memory::FromMemory,
    load::Wrk,
    pgbench::Pgbench,
    report::{Row, Target},
    rounds::in_turns,
    service::Service,
};
use tokio_postgres::Client;

use crate::{
    Bench, DATABASE,
    contenders::{Http, Statements},
};

const PATH: &str = "/api/v1/track";
/// Clients of the service, and of pgbench.
const CLIENTS: u32 = 32;

/// How long a worker may take to make partitions.
const PATIENCE: Duration = Duration::from_secs(30);

/// Events a second that the collector of Umami stored, the most that was measured; it was measured elsewhere.
const UMAMI: f64 = 80.0;

const EVENT: &str = r#"{"event":"checkout.started","props":{"plan":"pro","value":49.9},"visitor_id":"v-81f3","session_id":"s-2201","url":"https://shop.example/cart"}"#;

/// The same event as a row.
fn insert(accounts: i64) -> String {
    format!(
        "\\set account random(1, {accounts})
INSERT INTO track_events (account_id, name, props, visitor_id, session_id, url, country, region, city, occurred_at, \
         received_at) VALUES (:account, 'checkout.started', '{{\"plan\":\"pro\",\"value\":49.9}}', 'v-81f3', 's-2201', \
         'https://shop.example/cart', NULL, NULL, NULL, now(), now()) RETURNING id;
"
    )
}

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    if bench.wants("track") {
        let row = measure(bench).await?;
        bench.put(row)?;
    }
    Ok(())
}

/// Lets a worker make the partitions that events go to, and no more: the jobs that it would run meanwhile are no part of
/// what is measured.
pub async fn make_partitions(bench: &Bench, database: &str) -> anyhow::Result<()> {
    let worker = Service::start(&bench.api, &["work"], &bench.postgres.url(database), &[]).await?;
    let client = bench.postgres.client(database).await?;
    let partitions = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'track_events'::regclass";
    let began = Instant::now();
    // One is there from the start: for what no other was made for.
    while client.query_one(partitions, &[]).await?.try_get::<_, i64>(0)? < 2 {
        anyhow::ensure!(began.elapsed() < PATIENCE, "the worker makes no partitions");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    worker.stop().await
}

/// Stores events of the last hour.
pub async fn fill(client: &Client, accounts: i64, events: i64) -> anyhow::Result<()> {
    let insert =
        "INSERT INTO track_events (account_id, name, props, visitor_id, session_id, url, occurred_at, received_at)
        SELECT 1 + n % $1, 'checkout.started', '{\"plan\":\"pro\",\"value\":49.9}', 'v-81f3', 's-2201',
            'https://shop.example/cart', at, at
        FROM generate_series(1, $2::bigint) AS n, LATERAL (SELECT now() - n * interval '1 hour' / $2 AS at) AS placed";
    client.execute(insert, &[&accounts, &events]).await?;
    client.batch_execute("VACUUM ANALYZE track_events").await?;
    client.batch_execute("CHECKPOINT").await?;
    Ok(())
}

/// Clients that send an event after the other.
pub fn wrk(keys: &[&str], seconds: u32) -> Wrk {
    let mut wrk = Wrk::get(PATH, keys, CLIENTS, seconds);
    wrk.method = "POST";
    wrk.body = Some(EVENT.to_owned());
    wrk
}

/// What an event is answered with.
async fn answer(service: &Service, data: &Dataset) -> anyhow::Result<Vec<u8>> {
    let request = reqwest::Client::new()
        .post(format!("{}{PATH}", service.base_url))
        .bearer_auth(&data.tenfold.key)
        .header("content-type", "application/json")
        .body(EVENT);
    Ok(request.send().await?.error_for_status()?.bytes().await?.to_vec())
}

async fn measure(bench: &Bench) -> anyhow::Result<Row> {
    make_partitions(bench, DATABASE).await?;
    let service = Service::start(&bench.api, &["serve"], &bench.postgres.url(DATABASE), &[]).await?;
    let wrk = wrk(&bench.data.keys(), bench.seconds);
    let mut subject = Http::service(bench, "service", wrk.clone(), &service)?;
    let script = insert(bench.data.size.accounts);
    let pgbench = Pgbench { database: DATABASE.to_owned(), script, clients: CLIENTS, seconds: bench.seconds };
    let mut limit = Statements { name: "pgbench", pgbench, postgres: &bench.postgres };
    let memory = FromMemory::start(answer(&service, &bench.data).await?)?;
    let mut floor = Http::from_memory(bench, wrk, &memory);
    let measured = in_turns(bench.many_rounds(), &[], &mut [&mut subject, &mut limit, &mut floor]).await?;
    memory.stop().await;
    service.stop().await?;
    let row = Row::of_rates("track", "POST /track, one event a request", "events/s", &measured);
    let (ratio, umami) = (row.ratio("pgbench"), row.value / UMAMI);
    let note = format!("Umami's collector, measured elsewhere: 40 to {UMAMI:.0} events/s");
    Ok(row
        .target(Target::at_least("÷ pgbench", ratio, 1.3))
        .target(Target::at_least("÷ Umami", umami, 50.0))
        .note(&note))
}
