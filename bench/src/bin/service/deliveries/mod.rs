//! Webhook deliveries: how many a second and at which cost, how soon after the event, and how much one receiver that
//! hangs costs the others. Each sample has a database, a receiver and a worker of its own. Events are written as the
//! service writes them, one transaction each, by this process; only Postgres's part of that counts as cost.

mod receiver;
mod world;

use std::time::{Duration, Instant};

use anyhow::Context;
use bench::{
    machine::Watch,
    process::{self, Memory},
    report::{Row, Target},
    rounds::{Measured, at_least_half, median, percentile},
};
use tokio::time::{MissedTickBehavior, interval};

pub use self::receiver::Receiver;
use self::world::World;
use crate::Bench;

const DATABASE: &str = "deliveries";
const GROWTH: &str = "growth deliveries";
/// Three times what svix-server managed on a machine of this size, deliveries a second.
const RATE_AIM: f64 = 1_110.0;
/// A third of the processor seconds per 1,000 that it took, with its Postgres.
const CPU_AIM: f64 = 0.87;
/// Deliveries that are due at once in the measurement of a backlog.
const BACKLOG: usize = 100_000;
/// Events written and not yet received, at most, in the measurement of the sustained rate.
const OUTSTANDING: usize = 1_000;
/// Writers of events in the measurement of the sustained rate.
const WRITERS: usize = 16;
/// Events a second in the measurements of latency.
const STEADY: u64 = 200;
/// Seconds at the beginning of a measurement of latency that do not count.
const WARM_UP: u64 = 2;
/// How long stragglers are waited for.
const PATIENCE: Duration = Duration::from_secs(30);

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    if bench.wants_any(&["deliveries backlog", "deliveries memory"]) {
        for row in backlog(bench).await? {
            bench.put(row)?;
        }
    }
    if bench.wants(GROWTH) {
        let row = growth(bench).await?;
        bench.put(row)?;
    }
    if bench.wants("deliveries sustained") {
        let row = sustained(bench).await?;
        bench.put(row)?;
    }
    if bench.wants("deliveries latency") {
        let row = latency(bench).await?;
        bench.put(row)?;
    }
    if bench.wants("deliveries hanging") {
        let row = hanging(bench).await?;
        bench.put(row)?;
    }
    Ok(())
}

/// What is due when a worker starts: how fast it goes out, and the memory that takes.
async fn backlog(bench: &Bench) -> anyhow::Result<[Row; 2]> {
    let count = count(bench);
    let sent = send_backlog(bench, count).await?;
    let (rate, what) =
        (count as f64 / sent.seconds, format!("{count} deliveries due to 10 receivers when `api work` starts"));
    let mut speed = Row::new("deliveries backlog", &what, rate, "deliveries/s").target(Target::at_least(
        "deliveries/s",
        rate,
        RATE_AIM,
    ));
    speed.cpu_per_1000 = Some(sent.cpu_per_1000);
    let note = format!("{:.0} MB at the end", sent.memory.resident);
    let mut held = Row::new("deliveries memory", "the peak while it sends them", sent.memory.peak, "MB").note(&note);
    for row in [&mut speed, &mut held] {
        row.command.clone_from(&sent.command);
        row.disturbed = sent.disturbed;
    }
    Ok([speed, held])
}

/// A delivery of a backlog, and one of a tenth of it, in turns.
async fn growth(bench: &Bench) -> anyhow::Result<Row> {
    let (mut large, mut small) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        large.push(send_backlog(bench, count(bench)).await?);
        small.push(send_backlog(bench, count(bench) / 10).await?);
    }
    let what = format!("a delivery of a backlog of {}, and of {}", count(bench), count(bench) / 10);
    let measured = [("10 × deliveries", large), ("1 ×", small)].map(|(name, sent)| Measured {
        name: name.to_owned(),
        command: sent.iter().map(|sent| sent.command.clone()).next().unwrap_or_default(),
        cpu_per_1000: median(sent.iter().map(|sent| sent.cpu_per_1000)),
        disturbed: at_least_half(sent.iter().map(|sent| sent.disturbed)),
        ..Measured::default()
    });
    Ok(Row::of_growth(GROWTH, &what, 1.0, &measured))
}

fn count(bench: &Bench) -> usize {
    if bench.seconds > 1 { BACKLOG } else { BACKLOG / 20 }
}

/// A backlog that was sent.
struct Sent {
    seconds: f64,
    cpu_per_1000: f64,
    memory: Memory,
    disturbed: bool,
    command: String,
}

async fn send_backlog(bench: &Bench, count: usize) -> anyhow::Result<Sent> {
    let receiver = Receiver::start(count).await?;
    let world = World::new(&bench.postgres, DATABASE, 10, &receiver, false).await?;
    world.emit_backlog(count).await?;
    let postgres = process::cpu_seconds(&[bench.postgres.pid()]);
    let (began, worker) = (Instant::now(), world.worker(bench).await?);
    let watch = Watch::begin(&[worker.pid()?, bench.postgres.pid()]);
    until(|| receiver.count() >= count, PATIENCE * 10).await?;
    let seconds = began.elapsed().as_secs_f64();
    while world.delivered().await? < count {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let memory = process::memory(worker.pid()?)?;
    let cpu = process::cpu_seconds(&[bench.postgres.pid()]) - postgres + process::cpu_seconds(&[worker.pid()?]);
    let (disturbed, command) = (watch.disturbed(), worker.command.clone());
    worker.stop().await?;
    Ok(Sent { seconds, cpu_per_1000: cpu / count as f64 * 1_000.0, memory, disturbed, command })
}

/// Events that keep coming as fast as they are delivered.
async fn sustained(bench: &Bench) -> anyhow::Result<Row> {
    let (mut rates, mut costs, mut disturbed, mut command) = (Vec::new(), Vec::new(), 0, String::new());
    for _ in 0..bench.rounds {
        let capacity = usize::try_from(bench.seconds)? * 100_000;
        let receiver = Receiver::start(capacity).await?;
        let world = World::new(&bench.postgres, DATABASE, 10, &receiver, false).await?;
        let worker = world.worker(bench).await?;
        let processes = [worker.pid()?, bench.postgres.pid()];
        let watch = Watch::begin(&processes);
        let (cpu, began) = (process::cpu_seconds(&processes), Instant::now());
        let ends = began + Duration::from_secs(u64::from(bench.seconds));
        write_until(&world, &receiver, ends).await?;
        let count = receiver.count() as f64;
        rates.push(count / began.elapsed().as_secs_f64());
        costs.push((process::cpu_seconds(&processes) - cpu) / count * 1_000.0);
        disturbed += usize::from(watch.disturbed());
        command.clone_from(&worker.command);
        worker.stop().await?;
    }
    let (rate, cost) = (median(rates), median(costs));
    let what = format!("an event a transaction from {WRITERS} writers to 10 receivers, as fast as they are delivered");
    let mut row = Row::new("deliveries sustained", &what, rate, "deliveries/s")
        .target(Target::at_least("deliveries/s", rate, RATE_AIM))
        .target(Target::at_most("CPU-s per 1,000", cost, CPU_AIM));
    row.cpu_per_1000 = Some(cost);
    row.disturbed = disturbed * 2 >= bench.rounds.max(1);
    row.command = command;
    Ok(row)
}

/// Writes events with few enough outstanding, until the time is over.
async fn write_until(world: &World, receiver: &Receiver, ends: Instant) -> anyhow::Result<()> {
    let next = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let mut writers = tokio::task::JoinSet::new();
    let (tell, received) = tokio::sync::watch::channel(0);
    for _ in 0..WRITERS {
        let (world, next, mut received) = (world.clone(), next.clone(), received.clone());
        writers.spawn(async move {
            while Instant::now() < ends {
                let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let room = received.wait_for(|received| number < *received + OUTSTANDING);
                if tokio::time::timeout_at(ends.into(), room).await.is_err() {
                    break;
                }
                world.emit(number).await?;
            }
            anyhow::Ok(())
        });
    }
    while Instant::now() < ends {
        tell.send_replace(receiver.count());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    while let Some(writer) = writers.join_next().await {
        writer??;
    }
    Ok(())
}

/// p50 and p99 in ms, and whether something else was busy.
struct Waits {
    p50: f64,
    p99: f64,
    disturbed: bool,
    command: String,
}

/// Events at a steady rate: from the call that writes one, its commit included, until its request has come.
async fn latency(bench: &Bench) -> anyhow::Result<Row> {
    let mut samples = Vec::new();
    for _ in 0..bench.rounds {
        samples.push(steady(bench, 1, false).await?);
    }
    let what = format!("from writing an event, commit included, to its receipt, at {STEADY} events/s to 1 receiver");
    let p99 = median(samples.iter().map(|sample| sample.p99));
    let mut row = Row::new("deliveries latency", &what, p99, "ms, p99").target(Target::at_most("ms", p99, 50.0));
    row.p50_ms = Some(median(samples.iter().map(|sample| sample.p50)));
    row.p99_ms = Some(p99);
    row.disturbed = at_least_half(samples.iter().map(|sample| sample.disturbed));
    row.command = samples.pop().map(|sample| sample.command).unwrap_or_default();
    Ok(row)
}

/// The same to 100 receivers, with and without one that never answers, in turns.
async fn hanging(bench: &Bench) -> anyhow::Result<Row> {
    let (mut all_answer, mut one_hangs) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        all_answer.push(steady(bench, 100, false).await?);
        one_hangs.push(steady(bench, 100, true).await?);
    }
    let ratio = median(one_hangs.iter().zip(&all_answer).map(|(with, without)| with.p99 / without.p99));
    let (with, without) = (median(one_hangs.iter().map(|s| s.p99)), median(all_answer.iter().map(|s| s.p99)));
    let what = format!("the p99 of 99 receivers beside one that hangs ÷ the same without it, at {STEADY} events/s");
    let note = format!("{with:.1} ms beside it, {without:.1} ms without it");
    let mut row = Row::new("deliveries hanging", &what, ratio, "×").note(&note);
    row = row.target(Target::at_most("×", ratio, 1.2));
    let all = || one_hangs.iter().chain(&all_answer);
    row.disturbed = at_least_half(all().map(|sample| sample.disturbed));
    row.command = all().next().map(|sample| sample.command.clone()).unwrap_or_default();
    Ok(row)
}

async fn steady(bench: &Bench, receivers: usize, one_hangs: bool) -> anyhow::Result<Waits> {
    let seconds = u64::from(bench.seconds) * 2;
    let (count, first) = (usize::try_from(STEADY * (WARM_UP + seconds))?, usize::try_from(STEADY * WARM_UP)?);
    let receiver = Receiver::start(count).await?;
    let world = World::new(&bench.postgres, DATABASE, receivers, &receiver, one_hangs).await?;
    let worker = world.worker(bench).await?;
    let watch = Watch::begin(&[worker.pid()?, bench.postgres.pid()]);
    let mut pace = interval(Duration::from_secs(1) / u32::try_from(STEADY)?);
    pace.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut writes = Vec::new();
    for number in 0..count {
        pace.tick().await;
        let world = world.clone();
        writes.push(tokio::spawn(async move {
            let began = Instant::now();
            world.emit(number).await.map(|()| began)
        }));
    }
    let mut began = Vec::new();
    for write in writes {
        began.push(write.await??);
    }
    let hangs = |number: usize| one_hangs && number.is_multiple_of(receivers);
    let expected = (0..count).filter(|number| !hangs(*number)).count();
    until(|| receiver.count() >= expected, PATIENCE).await?;
    let disturbed = watch.disturbed();
    let command = worker.command.clone();
    worker.stop().await?;
    let mut waits = Vec::new();
    for (number, began) in began.iter().enumerate().skip(first).filter(|(number, _)| !hangs(*number)) {
        let arrived = receiver.arrival(number).context("an event that did not arrive")?;
        waits.push(arrived.saturating_duration_since(*began).as_secs_f64() * 1_000.0);
    }
    waits.sort_by(f64::total_cmp);
    Ok(Waits { p50: percentile(&waits, 0.5), p99: percentile(&waits, 0.99), disturbed, command })
}

pub async fn until(mut holds: impl FnMut() -> bool, timeout: Duration) -> anyhow::Result<()> {
    let began = Instant::now();
    while !holds() {
        anyhow::ensure!(began.elapsed() < timeout, "what was expected has not come");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(())
}
