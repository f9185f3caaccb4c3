//! What a request costs when there is ten times as much: processor time, of the service and Postgres together.
//!
//! The cost is processor time and not the rate, because it is what grows; the larger size is measured in turns with the
//! smaller one. What imports, nightly runs, deliveries and debits cost at ten times the size is in their files.

use bench::{
    dataset::{Dataset, Size},
    load::Wrk,
    report::{Row, Target},
    rounds::{Measured, in_turns},
    service::Service,
};

use crate::{Bench, DATABASE, contenders::Http, reads, track};

const CLIENTS: u32 = 16;
const PATH: &str = "/api/v1/customers";
/// The database with a tenth of the accounts.
const SMALL: &str = "bench_small";
/// How much a page may cost at ten times the size, as a multiple.
const BOUND: f64 = 1.15;
/// Rows that are measured among ten times the accounts.
const AMONG_ACCOUNTS: [(&str, &str, &str); 3] = [
    ("growth accounts", "a page of customers among ten times the accounts", PATH),
    ("growth profit", "30 days of profit among ten times the accounts", "/api/v1/profit"),
    ("growth webhooks", "the list of webhooks among ten times the accounts", "/api/v1/webhooks"),
];
/// Events that are there already, ten times as many and once.
const EVENTS: [(&str, i64); 2] = [("events_large", 2_000_000), ("events_small", 200_000)];
const QUICK_SHARE: i64 = 100;

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    if bench.wants("growth customers") {
        let row = customers(bench).await?;
        bench.put(row)?;
    }
    if AMONG_ACCOUNTS.iter().any(|(row, ..)| bench.wants(row)) {
        for row in accounts(bench).await? {
            bench.put(row)?;
        }
    }
    if bench.wants("growth track") {
        let row = events(bench).await?;
        bench.put(row)?;
    }
    Ok(())
}

/// A page of the account with ten times the customers, compared with one of an ordinary account.
async fn customers(bench: &Bench) -> anyhow::Result<Row> {
    let service = reads::serve(bench, DATABASE).await?;
    let ordinary = bench.data.accounts.first().unwrap_or(&bench.data.tenfold);
    let page = |key: &str| Wrk::get(PATH, &[key], CLIENTS, bench.seconds);
    let mut tenfold = Http::service(bench, "10 × customers", page(&bench.data.tenfold.key), &service)?;
    let mut single = Http::service(bench, "1 ×", page(&ordinary.key), &service)?;
    let measured = in_turns(bench.rounds, &[], &mut [&mut tenfold, &mut single]).await?;
    service.stop().await?;
    Ok(row("growth customers", "a page of an account with ten times the customers", &measured))
}

/// Lists among all accounts, compared with the same among a tenth of them, from databases of the same cluster.
async fn accounts(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let size = Size { accounts: (bench.data.size.accounts / 10).max(1), largest: 0, ..bench.data.size };
    bench.postgres.create_database(SMALL).await?;
    let small = Dataset::load(&bench.postgres.client(SMALL).await?, size).await?;
    let (all, few) = (reads::serve(bench, DATABASE).await?, reads::serve(bench, SMALL).await?);
    let mut rows = Vec::new();
    for (name, what, path) in AMONG_ACCOUNTS {
        let list = |keys: &[&str]| Wrk::get(path, keys, CLIENTS, bench.seconds);
        let mut tenfold = Http::service(bench, "10 × accounts", list(&bench.data.keys()), &all)?;
        let mut single = Http::service(bench, "1 ×", list(&small.keys()), &few)?;
        let measured = in_turns(bench.rounds, &[all.pid()?, few.pid()?], &mut [&mut tenfold, &mut single]).await?;
        rows.push(row(name, what, &measured));
    }
    all.stop().await?;
    few.stop().await?;
    Ok(rows)
}

/// An event where ten times as many are stored already.
async fn events(bench: &Bench) -> anyhow::Result<Row> {
    let mut servers = Vec::new();
    for (database, events) in EVENTS {
        let events = if bench.quick { events / QUICK_SHARE } else { events };
        bench.postgres.create_database(database).await?;
        let client = bench.postgres.client(database).await?;
        let size = Size { accounts: 100, customers: 1, largest: 0 };
        let data = Dataset::load(&client, size).await?;
        track::make_partitions(bench, database).await?;
        track::fill(&client, size.accounts, events).await?;
        let service = Service::start(&bench.api, &["serve"], &bench.postgres.url(database), &[]).await?;
        servers.push((service, data));
    }
    let pids = servers.iter().map(|(service, _)| service.pid()).collect::<anyhow::Result<Vec<_>>>()?;
    let mut contenders = Vec::new();
    for ((service, data), name) in servers.iter().zip(["10 × events", "1 ×"]) {
        contenders.push(Http::service(bench, name, track::wrk(&data.keys(), bench.seconds), service)?);
    }
    let mut turns: Vec<_> = contenders.iter_mut().map(|contender| contender as _).collect();
    let measured = in_turns(bench.rounds, &pids, &mut turns).await?;
    for (service, _) in servers {
        service.stop().await?;
    }
    let what =
        format!("an event where {} are stored already", EVENTS.map(|(_, events)| events.to_string()).join(" and "));
    Ok(Row::of_growth("growth track", &what, 0.0, &measured))
}

/// A list, for which there is a bound.
fn row(name: &str, what: &str, measured: &[Measured]) -> Row {
    let row = Row::of_growth(name, what, 0.0, measured);
    let multiple = row.ratio("1 ×");
    row.target(Target::at_most("cost at 10 ×", multiple, BOUND))
}
