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
/// Nightly runs of ten times the accounts.
const ACCOUNTS: &str = "nightly growth accounts";
/// How many times the orders of a usual day there are on a busy one.
const MORE: i64 = 5;
/// How often the memory of a run is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Measures what is asked for.
///
/// # Errors
/// When a database cannot be made or a run fails.
pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let size = |shops: Shops| if bench.quick { shops.quick() } else { shops };
    let (large, small) = (size(Shops::LARGE), size(Shops::SMALL));
    if bench.wants_any(&["nightly large", "nightly growth history", "nightly growth orders"]) {
        one_large(bench, large).await?;
    }
    if bench.wants_any(&["nightly small", ACCOUNTS]) {
        many_small(bench, small).await?;
    }
    Ok(())
}

/// A shop's nightly runs through a week: the first, on a Sunday, over the whole history; Monday's, in which the models of the week
/// change the estimates of all customers; a usual one; and what it costs when less, nothing or more has come in.
async fn one_large(bench: &mut Bench, shops: Shops) -> anyhow::Result<()> {
    let night = NightlyRun::prepare(bench, "nightly_large", shops).await?;
    let monday = night.monday;
    let first = night.first(bench, 1).await?;
    night.day(bench, monday + 1, 1).await?;
    let weekly = night.jobs(bench, monday, 1).await?;
    let usual = night.usual(bench).await?;
    let unchanged = night.jobs(bench, monday - 1, 1).await?;
    night.day(bench, monday - 1, 1).await?;
    let late = night.jobs(bench, monday - 1, 1).await?;
    night.day(bench, monday - 2, MORE).await?;
    let more = night.jobs(bench, monday - 2, 1).await?;
    let what = format!(
        "all jobs of one shop in the first night of a week: {} customers, {} products, {} days, {} orders a day",
        shops.customers, shops.products, shops.days, shops.orders_a_day
    );
    let mut row = Row::new("nightly large", &what, weekly.seconds, "s")
        .target(Target::at_most("s", weekly.seconds, 20.0))
        .target(Target::at_most("MB", weekly.peak_mb, 300.0));
    row.note = format!(
        "{:.0} MB at most; CPU: Postgres {:.1} s, service {:.1} s. Any other night {:.2} s; first run {:.1} s, {:.0} MB; nothing \
         changed {:.2} s; a day's orders late {:.2} s",
        weekly.peak_mb,
        weekly.postgres_cpu,
        weekly.service_cpu,
        usual.seconds,
        first.seconds,
        first.peak_mb,
        unchanged.seconds,
        late.seconds
    );
    row.command = weekly.command;
    row.disturbed = weekly.disturbed;
    bench.put(row)?;

    let what = format!("a night after {MORE} times the orders of a day");
    let times = i32::try_from(MORE)?;
    bench.put(growth("nightly growth orders", &what, &more, &usual, (times, "1 × orders"), times.into()))?;

    // Both shops have a year behind the last: from then on the models know the season, which a younger shop is spared.
    let longer = Shops { days: 2 * shops.days, ..shops };
    let long = NightlyRun::prepare(bench, "nightly_long", longer).await?;
    long.first(bench, 1).await?;
    long.day(bench, monday + 1, 1).await?;
    long.jobs(bench, monday, 1).await?;
    let longest = long.usual(bench).await?;
    let what = format!("a usual night of a shop with {} days behind it beside one with {}", longer.days, shops.days);
    bench.put(growth("nightly growth history", &what, &longest, &usual, (2, "1 × days"), 1.15))
}

/// What a nightly run costs in processor time, compared with one with less of something by a factor.
fn growth(name: &str, what: &str, larger: &Ran, smaller: &Ran, of: (i32, &str), bound: f64) -> Row {
    let (times, of) = of;
    let ratio = larger.cpu() / smaller.cpu();
    let mut row = Row::new(name, what, larger.cpu(), "CPU s").target(Target::at_most("cost", ratio, bound));
    row.beside.push(Beside {
        name: of.to_owned(),
        value: smaller.cpu(),
        cpu_per_1000: None,
        ratio,
        ratio_range: None,
        command: smaller.command.clone(),
    });
    row.note = format!(
        "exponent {:.2}; {:.2} s beside {:.2} s; Postgres {:.1} s CPU beside {:.1}, service {:.1} beside {:.1}",
        ratio.log(times.into()),
        larger.seconds,
        smaller.seconds,
        larger.postgres_cpu,
        smaller.postgres_cpu,
        larger.service_cpu,
        smaller.service_cpu
    );
    row.command = larger.command.clone();
    row.disturbed = larger.disturbed || smaller.disturbed;
    row
}

async fn many_small(bench: &mut Bench, shops: Shops) -> anyhow::Result<()> {
    let ran = NightlyRun::prepare(bench, "nightly_small", shops).await?.of_many(bench).await?;
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
        ratio_range: None,
        command: "processors ÷ processor time of Postgres per account".to_owned(),
    });
    row.cpu_per_1000 = Some(1e3 * (ran.postgres_cpu + ran.service_cpu) / accounts);
    row.note = format!(
        "{:.0} MB at most; CPU per account: Postgres {:.1} ms, service {:.1} ms",
        ran.peak_mb,
        1e3 * ran.postgres_cpu / accounts,
        1e3 * ran.service_cpu / accounts
    );
    row.command.clone_from(&ran.command);
    row.disturbed = ran.disturbed;
    bench.put(row)?;

    let tenth = Shops { accounts: shops.accounts / 10, ..shops };
    let less = NightlyRun::prepare(bench, "nightly_few", tenth).await?.of_many(bench).await?;
    let what = format!("the same of {} shops beside {}", shops.accounts, tenth.accounts);
    bench.put(growth(ACCOUNTS, &what, &ran, &less, (10, "1 × accounts"), 10.0))
}

/// Shops in a database of their own.
struct NightlyRun {
    database: &'static str,
    shops: Shops,
    /// How many days ago the week began that is looked at: three at least, so that there are days after it.
    monday: i64,
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

impl Ran {
    /// Processor seconds.
    fn cpu(&self) -> f64 {
        self.postgres_cpu + self.service_cpu
    }
}

impl NightlyRun {
    /// The shops with their days up to the Saturday before the week.
    async fn prepare(bench: &Bench, database: &'static str, shops: Shops) -> anyhow::Result<Self> {
        let began = Instant::now();
        bench.postgres.create_database(database).await?;
        let client = bench.postgres.client(database).await?;
        let since_monday: i32 =
            client.query_one("SELECT extract(isodow FROM current_date)::int - 1", &[]).await?.try_get(0)?;
        let monday = i64::from(if since_monday < 3 { since_monday + 7 } else { since_monday });
        shops.found(&client).await?;
        shops.trade(&client, monday + shops.days, monday + 2).await?;
        client.batch_execute("VACUUM ANALYZE").await?;
        client.batch_execute("CHECKPOINT").await?;
        eprintln!("{database} loaded in {:.0} s", began.elapsed().as_secs_f64());
        Ok(Self { database, shops, monday })
    }

    /// The nightly run of the Sunday, over the whole history. The tables that it fills are vacuumed at once, as they would be
    /// in the day that follows, and not by Postgres in the midst of a measurement.
    async fn first(&self, bench: &Bench, at_once: usize) -> anyhow::Result<Ran> {
        let ran = self.jobs(bench, self.monday + 1, at_once).await?;
        bench.postgres.client(self.database).await?.batch_execute("VACUUM ANALYZE").await?;
        Ok(ran)
    }

    /// A nightly run of many shops, after one over the whole history.
    async fn of_many(&self, bench: &Bench) -> anyhow::Result<Ran> {
        self.first(bench, AT_ONCE).await?;
        self.day(bench, self.monday + 1, 1).await?;
        self.jobs(bench, self.monday, AT_ONCE).await
    }

    /// The nightly run of the Tuesday.
    async fn usual(&self, bench: &Bench) -> anyhow::Result<Ran> {
        self.day(bench, self.monday, 1).await?;
        self.jobs(bench, self.monday - 1, 1).await
    }

    /// `times` the trade of the day that began `days_ago`.
    async fn day(&self, bench: &Bench, days_ago: i64, times: i64) -> anyhow::Result<()> {
        let client = bench.postgres.client(self.database).await?;
        let shops = Shops { orders_a_day: times * self.shops.orders_a_day, ..self.shops };
        shops.trade(&client, days_ago, days_ago).await?;
        client.batch_execute("CHECKPOINT").await?;
        Ok(())
    }

    /// Runs all jobs as of the day that began `days_ago`.
    async fn jobs(&self, bench: &Bench, days_ago: i64, at_once: usize) -> anyhow::Result<Ran> {
        let client = bench.postgres.client(self.database).await?;
        let as_of: String =
            client.query_one("SELECT (current_date - $1::bigint::int)::text", &[&days_ago]).await?.try_get(0)?;
        let arguments = ["jobs", "run", "all", "--clock", &as_of, "--at-once", &at_once.to_string()];
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
