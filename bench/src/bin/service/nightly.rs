//! The nightly run of all jobs: of one large shop, and of many small ones in one process.

use std::{path::Path, process::Stdio, time::Duration};

use anyhow::Context;
use bench::{
    cluster::Postgres,
    machine::Watch,
    process,
    report::{Beside, Row, Target},
    shops::Shops,
};
use tokio::{process::Command, time::Instant};

use crate::Bench;

/// Accounts side by side when there are many.
const AT_ONCE: usize = 4;
/// How often the memory of a run is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Measures what is asked for.
///
/// # Errors
/// When a database cannot be made or a run fails.
pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let size = |shops: Shops| if bench.quick { shops.quick() } else { shops };
    let (large, small) = (size(Shops::LARGE), size(Shops::SMALL));
    if bench.wants("nightly large") {
        one_large(bench, large).await?;
    }
    if bench.wants("nightly small") {
        many_small(bench, small).await?;
    }
    Ok(())
}

async fn one_large(bench: &mut Bench, shops: Shops) -> anyhow::Result<()> {
    let database = "nightly_large";
    let night = Night::prepare(bench, database, shops).await?;
    let first = night.jobs(bench, 1, 1).await?;
    night.day(bench, 1).await?;
    let changed = night.jobs(bench, 0, 1).await?;
    let unchanged = night.jobs(bench, 0, 1).await?;
    night.day(bench, 0).await?;
    let few = night.jobs(bench, 0, 1).await?;
    let what = format!(
        "all jobs of one shop after a day of trade: {} customers, {} products, {} days, {} orders a day",
        shops.customers, shops.products, shops.days, shops.orders_a_day
    );
    let mut row = Row::new("nightly large", &what, changed.seconds, "s")
        .target(Target::at_most("s", changed.seconds, 20.0))
        .target(Target::at_most("MB", changed.peak_mb, 300.0));
    row.note = format!(
        "{:.0} MB at most; processor: Postgres {:.1} s, the service {:.1} s. The first run, over the whole history: {:.1} s, \
         {:.0} MB. A run after which nothing had changed: {:.2} s. Once one customer in a hundred had bought the same day: {:.1} s.",
        changed.peak_mb,
        changed.postgres_cpu,
        changed.service_cpu,
        first.seconds,
        first.peak_mb,
        unchanged.seconds,
        few.seconds
    );
    row.command = changed.command;
    row.disturbed = changed.disturbed;
    bench.put(row)
}

async fn many_small(bench: &mut Bench, shops: Shops) -> anyhow::Result<()> {
    let night = Night::prepare(bench, "nightly_small", shops).await?;
    night.jobs(bench, 1, AT_ONCE).await?;
    night.day(bench, 1).await?;
    let ran = night.jobs(bench, 0, AT_ONCE).await?;
    let accounts = i32::try_from(shops.accounts).map(f64::from)?;
    let cores = std::thread::available_parallelism().map_or(1.0, |n| f64::from(u16::try_from(n.get()).unwrap_or(1)));
    let rate = accounts / ran.seconds;
    let limit = cores * accounts / ran.postgres_cpu;
    let what = format!(
        "all jobs of {} shops in one process, {AT_ONCE} at once, after a day of trade: each {} customers, {} products, \
         {} days, {} orders a day",
        shops.accounts, shops.customers, shops.products, shops.days, shops.orders_a_day
    );
    let mut row = Row::new("nightly small", &what, rate, "accounts/s");
    row.beside.push(Beside {
        name: "Postgres alone".to_owned(),
        value: limit,
        cpu_per_1000: Some(1e3 * ran.postgres_cpu / accounts),
        ratio: rate / limit,
        command: "processors ÷ processor time of Postgres per account".to_owned(),
    });
    row.cpu_per_1000 = Some(1e3 * (ran.postgres_cpu + ran.service_cpu) / accounts);
    row.note = format!(
        "{:.0} MB at most; processor per account: Postgres {:.1} ms, the service {:.1} ms.",
        ran.peak_mb,
        1e3 * ran.postgres_cpu / accounts,
        1e3 * ran.service_cpu / accounts
    );
    row.command = ran.command;
    row.disturbed = ran.disturbed;
    bench.put(row)
}

/// Shops in a database of their own.
struct Night {
    database: &'static str,
    shops: Shops,
}

/// What a run took.
struct Ran {
    seconds: f64,
    peak_mb: f64,
    postgres_cpu: f64,
    service_cpu: f64,
    command: String,
    disturbed: bool,
}

impl Night {
    /// The shops with all of their days but yesterday.
    async fn prepare(bench: &Bench, database: &'static str, shops: Shops) -> anyhow::Result<Self> {
        let began = Instant::now();
        bench.postgres.create_database(database).await?;
        let client = bench.postgres.client(database).await?;
        shops.found(&client).await?;
        shops.trade(&client, shops.days, 2).await?;
        client.batch_execute("VACUUM ANALYZE").await?;
        client.batch_execute("CHECKPOINT").await?;
        eprintln!("{database} loaded in {:.0} s", began.elapsed().as_secs_f64());
        Ok(Self { database, shops })
    }

    /// The trade of the day that began `days_ago`.
    async fn day(&self, bench: &Bench, days_ago: i64) -> anyhow::Result<()> {
        let client = bench.postgres.client(self.database).await?;
        self.shops.trade(&client, days_ago, days_ago).await?;
        client.batch_execute("CHECKPOINT").await?;
        Ok(())
    }

    /// Runs all jobs as of the day that began `days_ago`.
    async fn jobs(&self, bench: &Bench, days_ago: i32, at_once: usize) -> anyhow::Result<Ran> {
        let client = bench.postgres.client(self.database).await?;
        let as_of: String =
            client.query_one("SELECT (current_date - $1::int)::text", &[&days_ago]).await?.try_get(0)?;
        let arguments = ["jobs", "run", "all", "--as-of", &as_of, "--at-once", &at_once.to_string()];
        let before = process::cpu_seconds(&[bench.postgres.pid()]);
        let watch = Watch::begin(&[std::process::id(), bench.postgres.pid()]);
        let (seconds, peak_mb, service_cpu) = measured(&bench.api, &arguments, &bench.postgres, self.database).await?;
        Ok(Ran {
            seconds,
            peak_mb,
            service_cpu,
            postgres_cpu: process::cpu_seconds(&[bench.postgres.pid()]) - before,
            command: format!("api {}", arguments.join(" ")),
            disturbed: watch.disturbed(),
        })
    }
}

/// Runs the binary to its end on a database: seconds, the peak of its memory in MB, processor seconds.
pub async fn measured(
    api: &Path,
    arguments: &[&str],
    postgres: &Postgres,
    database: &str,
) -> anyhow::Result<(f64, f64, f64)> {
    let began = Instant::now();
    let mut child = Command::new(api)
        .args(arguments)
        .args(["--log", "warn"])
        .env("DATABASE_URL", postgres.url(database))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("{} cannot be run", api.display()))?;
    let pid = child.id().context("a process without a number")?;
    let (mut peak, mut cpu) = (0.0_f64, 0.0_f64);
    let status = loop {
        // The peak counts from the start of the process, so the last look tells it all but for the very end.
        if let Ok(memory) = process::memory(pid) {
            peak = peak.max(memory.peak);
            cpu = cpu.max(process::cpu_seconds(&[pid]));
        }
        if let Some(status) = child.try_wait()? {
            break status;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    };
    anyhow::ensure!(status.success(), "api {} failed: {status}", arguments.join(" "));
    Ok((began.elapsed().as_secs_f64(), peak, cpu))
}
