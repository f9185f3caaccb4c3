//! The reads, each compared with pgbench running the same statements, and with the same bytes from memory.

use std::sync::Mutex;

use anyhow::Context;
use bench::{
    fastify::Fastify,
    from_memory::FromMemory,
    load::{Load, Wrk},
    paced::{Paced, Requests},
    pgbench::Pgbench,
    report::{Row, Target},
    rounds::{Contender, Measured, in_turns},
    service::Service,
    statements,
};

use crate::{
    Bench, DATABASE,
    contenders::{Http, Speed, Statements, Steady},
};

/// Connections of the service to the database.
pub const POOL: u32 = 8;
/// Connections of the load generator, and of pgbench.
const CLIENTS: u32 = 16;
/// Those at half of the rate: each waits between two requests.
const HALF_CLIENTS: u32 = 64;
/// The account whose statements are looked at; its number is no other value of them.
const PROBE: usize = 76;

/// A read that is measured.
struct Read {
    row: &'static str,
    what: &'static str,
    path: &'static str,
}

/// The row that has bounds.
const CUSTOMERS: &str = "customers";
const READS: [Read; 4] = [
    Read { row: CUSTOMERS, what: "GET /customers, 25 rows", path: "/api/v1/customers" },
    Read { row: "profit", what: "GET /profit, 30 days", path: "/api/v1/profit" },
    Read { row: "webhooks", what: "GET /webhooks, 3 subscriptions", path: "/api/v1/webhooks" },
    Read { row: "status", what: "GET /status", path: "/api/v1/status" },
];

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    for read in READS {
        if bench.wants(read.row) {
            let row = measure(bench, &read).await?;
            bench.put(row)?;
        }
    }
    if bench.wants("latency") {
        let row = latency(bench).await?;
        bench.put(row)?;
    }
    Ok(())
}

/// Starts the service with the pool of the reads.
pub async fn serve(bench: &Bench, database: &str) -> anyhow::Result<Service> {
    let pool = POOL.to_string();
    Service::start(&bench.api, &["serve"], &bench.postgres.url(database), &[("BAS_DATABASE_POOL", &pool)]).await
}

async fn measure(bench: &Bench, read: &Read) -> anyhow::Result<Row> {
    let probe = bench.data.accounts.get(PROBE).unwrap_or(&bench.data.largest);
    let made =
        statements::of_request(&bench.postgres, DATABASE, async || serve(bench, DATABASE).await, read.path, &probe.key)
            .await?;
    let service = serve(bench, DATABASE).await?;
    let memory = FromMemory::start(service.get(read.path, &probe.key).await?)?;
    let wrk = Wrk::get(read.path, &bench.data.keys(), CLIENTS, bench.seconds);
    let (scratch, server) = (bench.postgres.scratch().to_owned(), bench.postgres.pid());
    let mut subject = Http::service(bench, "service", wrk.clone(), &service)?;
    let script = statements::script(&made, probe.id, bench.data.size.accounts)?;
    let pgbench = Pgbench { database: DATABASE.to_owned(), script, clients: CLIENTS, seconds: bench.seconds };
    let fewer = Pgbench { clients: POOL, ..pgbench.clone() };
    let mut limit = Statements { name: "pgbench", pgbench, postgres: &bench.postgres };
    let mut stricter = Statements { name: "pgbench on 8 connections", pgbench: fewer, postgres: &bench.postgres };
    let mut floor = Http::from_memory(bench, wrk.clone(), &memory);
    let mut contenders: Vec<&mut (dyn Contender + Send)> = vec![&mut subject, &mut floor];
    if !made.is_empty() {
        contenders.splice(1..1, [&mut limit as &mut (dyn Contender + Send), &mut stricter]);
    }
    let peer = match read.row {
        CUSTOMERS => Some(Fastify::start(&bench.postgres, DATABASE, POOL).await?),
        _ => None,
    };
    let mut fastify = match &peer {
        Some(peer) => Some(Http {
            name: "Fastify",
            wrk,
            speed: Speed::Full,
            base_url: peer.base_url.clone(),
            processes: vec![peer.pid()?, server],
            scratch,
        }),
        None => None,
    };
    if let Some(fastify) = &mut fastify {
        contenders.push(fastify);
    }
    let rounds = if read.row == CUSTOMERS { bench.many_rounds() } else { bench.rounds };
    let measured = in_turns(rounds, &[], &mut contenders).await?;
    memory.stop().await;
    service.stop().await?;
    let row = Row::of_rates(read.row, read.what, "requests/s", &measured);
    Ok(with_targets(row).note(&statements_a_request(made.len())))
}

fn statements_a_request(count: usize) -> String {
    match count {
        0 => "answered from memory: no statement a request".to_owned(),
        1 => "1 statement a request".to_owned(),
        more => format!("{more} statements a request"),
    }
}

fn with_targets(row: Row) -> Row {
    if row.row != CUSTOMERS {
        return row;
    }
    let (pgbench, fastify) = (row.ratio("pgbench"), row.ratio("Fastify"));
    row.target(Target::at_least("÷ pgbench", pgbench, 0.7)).target(Target::at_least("÷ Fastify", fastify, 2.5))
}

/// The latency of the customers page at half of its highest rate, which each round measures again.
async fn latency(bench: &Bench) -> anyhow::Result<Row> {
    let service = serve(bench, DATABASE).await?;
    let path = "/api/v1/customers";
    let fastest = Wrk::get(path, &bench.data.keys(), CLIENTS, bench.seconds);
    let half = Wrk { connections: HALF_CLIENTS, ..fastest.clone() };
    let memory = FromMemory::start(service.get(path, half.keys.first().context("no key")?).await?)?;
    let highest = Mutex::new(Load::default());
    let at_half = |http| Http { speed: Speed::Half(&highest), ..http };
    let fastest = Http::service(bench, "at full speed", fastest, &service)?;
    let mut fastest = Http { speed: Speed::Highest(&highest), ..fastest };
    let mut subject = at_half(Http::service(bench, "service", half.clone(), &service)?);
    let mut floor = at_half(Http::from_memory(bench, half.clone(), &memory));
    let Wrk { path, keys, seconds, .. } = half;
    let mut due = Steady {
        name: "due at random instants",
        paced: Paced { requests: Requests::get(&path, keys), connections: HALF_CLIENTS as usize, seconds, rate: 0.0 },
        highest: Some(&highest),
        base_url: service.base_url.clone(),
        processes: vec![service.pid()?, bench.postgres.pid()],
    };
    fastest.run().await?;
    // Each round's half is that of what came just before it.
    let measured = in_turns(bench.many_rounds(), &[], &mut [&mut subject, &mut due, &mut floor, &mut fastest]).await?;
    memory.stop().await;
    service.stop().await?;
    let [subject, due, floor, fastest] = measured.as_slice() else { anyhow::bail!("not all were measured") };
    let both = |measured: &Measured| {
        let ms = |value: Option<f64>| value.unwrap_or(f64::NAN);
        format!("{:.2} / {:.2} ms", ms(measured.p50_ms), ms(measured.p99_ms))
    };
    let note = format!(
        "requests due at random instants: {}, of it the generator's lateness {:.2} ms at the p99; from memory: {}",
        both(due),
        due.late_p99_ms.unwrap_or(f64::NAN),
        both(floor),
    );
    let row = Row::of_rates(
        "latency",
        "GET /customers at half of the highest rate",
        "requests/s",
        &[subject.clone(), fastest.clone()],
    );
    let (p50, p99) = (row.p50_ms.unwrap_or(0.0), row.p99_ms.unwrap_or(f64::MAX));
    Ok(row.target(Target::at_most("p99 ÷ p50", p99 / p50, 5.0)).note(&note))
}
