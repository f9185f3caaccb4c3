//! What others notice of clients that misbehave: the p99 of a page at a steady rate, with and without them.
//!
//! The misbehaving clients are a process of their own at the lowest priority. They use the same processors nevertheless,
//! and so would they if they misbehaved towards another server: so each attack is also made on a server that does
//! nothing, while the service is asked for the page.

pub mod attack;
mod guesses;
mod logins;
mod tenant;
mod tenants;

pub use self::tenants::end_group;

use std::process::Stdio;

use anyhow::Context;
use async_trait::async_trait;
use bench::{
    from_memory::FromMemory,
    haproxy::Haproxy,
    load::Load,
    paced::{Paced, Requests},
    process,
    report::{Beside, Row, Target},
    rounds::{Contender, Measured, in_turns},
    service::Service,
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use self::attack::Attack;
use crate::{Bench, DATABASE, contenders::Steady, reads};

/// Requests a second of the clients that behave, over this many connections.
pub const STEADY: f64 = 200.0;
pub const CLIENTS: usize = 16;
/// Requests of a key in a minute: more than a key of the clients that behave makes, even where there are few keys.
const LIMIT: &str = "1000";
/// How many times its p99 a client that behaves may wait.
pub const BOUND: f64 = 2.0;
/// What an attack on another server is called.
const ELSEWHERE: &str = "attack elsewhere";

/// The rows, what is measured, and the attack.
const FAULTS: [(&str, &str, Attack); 6] = [
    (
        "faults half-open",
        "10,000 connections from 100 addresses that send half a head, reopened when they are closed",
        Attack::HalfOpen,
    ),
    (
        "faults slow readers",
        "1,000 clients that read lists as CSV, half of them a million customers, a byte a second",
        Attack::SlowReaders,
    ),
    (
        "faults limited key",
        "a key over its limit, asking as fast as it can over 256 connections, half of them new each time",
        Attack::LimitedKey,
    ),
    (
        "faults unknown keys",
        "an address that tries a key after the other, as fast as it can over 256 connections, half of them new each time",
        Attack::UnknownKeys,
    ),
    (
        "faults many addresses",
        "unknown keys, each from an address and over a connection of its own, as fast as they can, 256 at a time",
        Attack::ManyAddresses,
    ),
    (
        "faults public",
        "an address that asks for /uptime, /incidents, /index and /health 2,000 times a second; a 503 ends the measurement",
        Attack::Public,
    ),
];

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    for (row, what, attack) in FAULTS {
        if bench.wants(row) {
            let row = measure(bench, row, what, attack).await?;
            bench.put(row)?;
        }
    }
    if bench.wants(tenants::ROW) {
        let row = tenants::measure(bench).await?;
        bench.put(row)?;
    }
    logins::run(bench).await
}

async fn measure(bench: &Bench, row: &str, what: &str, attack: Attack) -> anyhow::Result<Row> {
    let pool = reads::POOL.to_string();
    let mut settings = vec![("BAS_DATABASE_POOL", pool.as_str()), ("BAS_RATE_LIMIT_PER_MINUTE", LIMIT)];
    if attack.is_left_to_the_proxy() {
        settings.push(("BAS_TRUSTED_PROXIES", "127.0.0.1"));
    }
    let service = Service::start(&bench.api, &["serve"], &bench.postgres.url(DATABASE), &settings).await?;
    let proxy = if attack.is_left_to_the_proxy() { Some(Haproxy::start(&service.base_url).await?) } else { None };
    let base_url = proxy.as_ref().map_or(&service.base_url, |proxy| &proxy.base_url);
    let (pid, idle) = (service.pid()?, FromMemory::start(b"{}".to_vec())?);
    let mut processes = vec![pid, bench.postgres.pid()];
    processes.extend(proxy.as_ref().map(Haproxy::pid).transpose()?);
    let keys: Vec<String> = bench.data.keys().into_iter().map(str::to_owned).collect();
    let requests = Requests::get("/api/v1/customers", keys.clone());
    let paced = Paced { requests, connections: CLIENTS, seconds: bench.seconds * 2, rate: STEADY };
    let at_pace =
        |name, paced| Steady { name, paced, highest: None, base_url: base_url.clone(), processes: processes.clone() };
    let steady = |name| at_pace(name, paced.clone());
    let attackers = format!("{},{}", bench.data.largest.key, keys.join(","));
    let under = |name, target: &str| {
        let target = target.to_owned();
        Under::new(steady(name), attack, target, attackers.clone())
    };
    let mut alone = steady("without");
    // Every key is held before anything is measured, and was accepted: of new ones the proxy lets 200 a second through.
    let slowly = Paced { rate: STEADY / 2.0, seconds: paced.seconds * 2, ..paced.clone() };
    at_pace("at first", slowly).run().await?;
    let before = process::memory(pid)?.resident;
    process::forget_peak(pid)?;
    let (mut with, mut elsewhere) = (under("with", base_url), under(ELSEWHERE, &idle.base_url));
    let measured = in_turns(bench.rounds, &[], &mut [&mut with, &mut alone, &mut elsewhere]).await?;
    let memory = process::memory(pid)?;
    let done = (with.done.answers, elsewhere.done.answers);
    let command = service.command.clone();
    service.stop().await?;
    idle.stop().await;
    let place = if proxy.is_some() { "through HAProxy; " } else { "" };
    let note = format!(
        "{place}{} {}, {} elsewhere; memory {before:.0} to {:.0} MB, {:.0} at most",
        done.0,
        attack.counted(),
        done.1,
        memory.resident,
        memory.peak
    );
    Ok(row_of_p99(row, what, &command, &measured, BOUND).note(&note))
}

/// A row of the p99 of clients that behave: with those that do not, without them, and while those are busy elsewhere. `bound` is
/// how many times as long they may wait.
pub fn row_of_p99(row: &str, what: &str, command: &str, measured: &[Measured], bound: f64) -> Row {
    let rates = Row::of_rates(row, what, "ms", measured);
    let p99 = |index: usize| measured.get(index).and_then(|measured| measured.p99_ms).unwrap_or(f64::NAN);
    let failed = measured.first().map_or(1.0, |measured| measured.failed) * 100.0;
    let beside = rates.beside.iter().zip(1..);
    let beside = beside.map(|(beside, index)| Beside {
        value: p99(index),
        ratio: p99(0) / p99(index),
        ratio_range: None,
        ..beside.clone()
    });
    let command = format!("{command}; {}", rates.command);
    let row = Row { value: p99(0), cpu_per_1000: None, beside: beside.collect(), command, ..rates };
    row.target(Target::at_most("÷ without", p99(0) / p99(1), bound)).target(Target::at_most("% failed", failed, 0.0))
}

/// Clients that behave, and some that do not.
struct Under<'a> {
    steady: Steady<'a>,
    attack: Attack,
    /// The server that the others misbehave towards.
    target: String,
    /// Their keys, comma separated.
    keys: String,
    /// What the attacks have done so far: each says it at its end.
    done: Done,
}

/// What attacks have done.
#[derive(Debug, Clone, Copy, Default)]
struct Done {
    /// Or whatever is counted.
    answers: u64,
    /// Of log-ins, those that were answered by 503.
    refused: u64,
}

impl<'a> Under<'a> {
    fn new(steady: Steady<'a>, attack: Attack, target: String, keys: String) -> Self {
        Self { steady, attack, target, keys, done: Done::default() }
    }
}

#[async_trait]
impl Contender for Under<'_> {
    fn name(&self) -> String {
        self.steady.name()
    }

    fn command(&self) -> String {
        self.steady.command()
    }

    fn processes(&self) -> Vec<u32> {
        self.steady.processes()
    }

    async fn run(&mut self) -> anyhow::Result<Load> {
        let attack = Running::start(self.attack, &self.target, &self.keys, None).await?;
        let load = self.steady.run().await?;
        let Done { answers, refused } = attack.stop().await?;
        self.done.answers += answers;
        self.done.refused += refused;
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
    async fn start(attack: Attack, base_url: &str, keys: &str, receiver: Option<&str>) -> anyhow::Result<Self> {
        let mut child = Command::new("nice")
            .args(["-n", "19"])
            .arg(std::env::current_exe()?)
            .args(["--attack", attack.name(), "--attack-url", base_url, "--attack-keys", keys])
            .args(receiver.map(|address| format!("--attack-receiver={address}")))
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
    async fn stop(mut self) -> anyhow::Result<Done> {
        drop(self.child.stdin.take());
        let said = self.lines.next_line().await?.context("the attack said nothing")?;
        let (answers, refused) = said.split_once(' ').context("the attack said too little")?;
        let done = Done { answers: answers.parse()?, refused: refused.parse()? };
        self.child.wait().await?;
        Ok(done)
    }
}
