//! What others notice of clients that misbehave: the p99 of a page at a steady rate, with and without them.
//!
//! The misbehaving clients are a process of their own at the lowest priority: what they use of the processors is not
//! what the service is to blame for.

pub mod attack;

use std::process::Stdio;

use anyhow::Context;
use async_trait::async_trait;
use bench::{
    load::{Load, Wrk},
    process,
    report::{Beside, Row, Target},
    rounds::{Contender, in_turns},
    service::Service,
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use self::attack::Attack;
use crate::{Bench, DATABASE, contenders::Http, reads};

/// Requests a second of the clients that behave, over this many connections.
const STEADY: f64 = 200.0;
const CLIENTS: u32 = 16;
/// Requests of a key in a minute: more than a key of the clients that behave makes, even where there are few keys.
const LIMIT: &str = "1000";
/// How many times its p99 a client that behaves may wait.
const BOUND: f64 = 2.0;

const FAULTS: [(&str, &str, Attack); 5] = [
    (
        "faults half-open",
        "10,000 connections that send half a head, opened anew when they are closed",
        Attack::HalfOpen,
    ),
    ("faults slow readers", "1,000 clients that read a million customers, a byte a second", Attack::SlowReaders),
    ("faults limited key", "a key over its limit, asking as fast as it can", Attack::LimitedKey),
    ("faults unknown keys", "an address that tries a key after the other, as fast as it can", Attack::UnknownKeys),
    (
        "faults many addresses",
        "unknown keys, each from an address of its own, as fast as they can",
        Attack::ManyAddresses,
    ),
];

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    for (row, what, attack) in FAULTS {
        if bench.wants(row) {
            let row = measure(bench, row, what, attack).await?;
            bench.put(row)?;
        }
    }
    Ok(())
}

async fn measure(bench: &Bench, row: &str, what: &str, attack: Attack) -> anyhow::Result<Row> {
    let pool = reads::POOL.to_string();
    let settings =
        [("DATABASE_POOL", pool.as_str()), ("RATE_LIMIT_PER_MINUTE", LIMIT), ("TRUSTED_PROXIES", "127.0.0.1")];
    let service = Service::start(&bench.api, &["serve"], &bench.postgres.url(DATABASE), &settings).await?;
    let pid = service.pid()?;
    let wrk =
        Wrk { rate: Some(STEADY), ..Wrk::get("/api/v1/customers", &bench.data.keys(), CLIENTS, bench.seconds * 2) };
    let http = |name| Http {
        name,
        wrk: wrk.clone(),
        base_url: service.base_url.clone(),
        processes: vec![pid, bench.postgres.pid()],
        scratch: bench.postgres.scratch().to_owned(),
    };
    let mut alone = http("without");
    // Every key is held before anything is measured.
    alone.run().await?;
    let before = process::memory(pid)?.resident;
    process::forget_peak(pid)?;
    let mut under = Under { http: http("with"), attack, key: bench.data.largest.key.clone(), done: 0 };
    let measured = in_turns(bench.rounds, &[], &mut [&mut under, &mut alone]).await?;
    let memory = process::memory(pid)?;
    let done = under.done;
    let command = service.command.clone();
    service.stop().await?;
    let rates = Row::of_rates(row, what, "ms", &measured);
    let p99 = |index: usize| measured.get(index).and_then(|measured| measured.p99_ms).unwrap_or(f64::NAN);
    let ratio = p99(0) / p99(1);
    let beside = rates.beside.iter().map(|beside| Beside { value: p99(1), ratio, ..beside.clone() });
    let note = format!(
        "p99 of GET /customers at {STEADY:.0} requests/s; {done} {} in all; memory {before:.0} MB before, {:.0} MB after, {:.0} MB at most",
        attack.counted(),
        memory.resident,
        memory.peak
    );
    let command = format!("{command}; {}", rates.command);
    let row = Row { value: p99(0), cpu_per_1000: None, beside: beside.collect(), command, ..rates };
    Ok(row.target(Target::at_most("÷ without", ratio, BOUND)).note(&note))
}

/// Clients that behave, beside some that do not.
struct Under<'a> {
    http: Http<'a>,
    attack: Attack,
    key: String,
    /// What the attacks have done so far: each says it at its end.
    done: u64,
}

#[async_trait]
impl Contender for Under<'_> {
    fn name(&self) -> String {
        self.http.name()
    }

    fn command(&self) -> String {
        self.http.command()
    }

    fn processes(&self) -> Vec<u32> {
        self.http.processes()
    }

    async fn run(&mut self) -> anyhow::Result<Load> {
        let attack = Running::start(self.attack, &self.http.base_url, &self.key).await?;
        let load = self.http.run().await?;
        self.done += attack.stop().await?;
        Ok(load)
    }
}

/// The process of an attack.
struct Running {
    child: Child,
    lines: tokio::io::Lines<BufReader<tokio::process::ChildStdout>>,
}

impl Running {
    /// Starts it and waits until it is under way.
    async fn start(attack: Attack, base_url: &str, key: &str) -> anyhow::Result<Self> {
        let mut child = Command::new("nice")
            .args(["-n", "19"])
            .arg(std::env::current_exe()?)
            .args(["--attack", attack.name(), "--attack-url", base_url, "--attack-key", key])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        let mut running = Self { child, lines };
        running.lines.next_line().await?.context("the attack ended at its start")?;
        Ok(running)
    }

    /// Ends it; gives what it counted.
    async fn stop(mut self) -> anyhow::Result<u64> {
        drop(self.child.stdin.take());
        let done = self.lines.next_line().await?.context("the attack said nothing")?.parse()?;
        self.child.wait().await?;
        Ok(done)
    }
}
