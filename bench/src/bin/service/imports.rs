//! Importing a file of order lines, compared with a bare `\copy` of the same file into a table without an index.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::Context;
use async_trait::async_trait;
use bench::{
    cluster::Postgres,
    load::Load,
    report::{Row, Target},
    rounds::{Contender, in_turns},
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::process::Command;
use tokio_postgres::Client;

use crate::{Bench, nightly};

const DATABASE: &str = "imports";
const GROWTH: &str = "growth import";
/// Order lines of the file, and lines of an order.
const LINES: u32 = 500_000;
const QUICK_LINES: u32 = 20_000;
const LINES_OF_ORDER: u32 = 3;
/// Within five times of the bare copy, and within this much memory.
const RATIO: f64 = 0.2;
const MEGABYTES: f64 = 200.0;

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    if !bench.wants_any(&["import", "memory importing", GROWTH]) {
        return Ok(());
    }
    bench.postgres.create_database(DATABASE).await?;
    let client = bench.postgres.client(DATABASE).await?;
    client.batch_execute(RAW_TABLE).await?;
    if bench.wants_any(&["import", "memory importing"]) {
        for row in measure(bench, &client).await? {
            bench.put(row)?;
        }
    }
    if bench.wants(GROWTH) {
        let row = growth(bench, &client).await?;
        bench.put(row)?;
    }
    Ok(())
}

/// A file of that number of lines.
pub fn file_of(postgres: &Postgres, lines: u32) -> anyhow::Result<PathBuf> {
    let file = postgres.scratch().join(format!("order_lines_{lines}.csv"));
    std::fs::write(&file, order_lines(lines)?)?;
    Ok(file)
}

/// A file of ten times the lines, compared with one of a tenth.
async fn growth(bench: &Bench, client: &Client) -> anyhow::Result<Row> {
    let lines = if bench.quick { QUICK_LINES } else { LINES };
    let mut large = Import::of(bench, client, "10 × lines", lines, 1_000)?;
    let mut small = Import::of(bench, client, "1 ×", lines / 10, 2_000)?;
    let measured = in_turns(bench.rounds, &[], &mut [&mut large, &mut small]).await?;
    let what = format!("api import orders, a line of a file of {lines}, and of {}", lines / 10);
    Ok(Row::of_growth(GROWTH, &what, 1.0, &measured))
}

async fn measure(bench: &Bench, client: &Client) -> anyhow::Result<[Row; 2]> {
    let lines = if bench.quick { QUICK_LINES } else { LINES };
    let mut import = Import::of(bench, client, "service", lines, 0)?;
    let mut copy = Copy { postgres: &bench.postgres, client, file: import.file.clone(), lines: lines.into() };
    let measured = in_turns(bench.rounds, &[], &mut [&mut import, &mut copy]).await?;
    let peak = import.peak_mb;
    let what = format!("api import orders, a file of {lines} lines into an empty account");
    let row = Row::of_rates("import", &what, "lines/s", &measured);
    let ratio = row.ratio("\\copy");
    let row = row.target(Target::at_least("÷ \\copy", ratio, RATIO));
    let mut memory = Row::new("memory importing", "the peak of api import orders with that file", peak, "MB")
        .target(Target::at_most("MB", peak, MEGABYTES));
    memory.command.clone_from(&row.command);
    memory.disturbed = row.disturbed;
    Ok([row, memory])
}

const RAW_TABLE: &str =
    "CREATE TABLE raw_lines (order_id text, sku text, quantity bigint, date timestamptz, price numeric,
    customer_id text)";

/// The file, made from the numbers of its lines: a few products sell most.
fn order_lines(lines: u32) -> anyhow::Result<String> {
    let mut text = String::from("order_id,sku,quantity,date,price,customer_id\n");
    let first = OffsetDateTime::now_utc() - Duration::from_secs(365 * 86_400);
    for line in 0..lines {
        let order = line / LINES_OF_ORDER;
        let seconds = u64::from(order) * 365 * 86_400 / u64::from(lines / LINES_OF_ORDER + 1);
        let placed = (first + Duration::from_secs(seconds)).replace_nanosecond(0)?.format(&Rfc3339)?;
        let drawn = line.wrapping_mul(2_654_435_761) >> 20;
        let (sku, quantity, cents) = (drawn * drawn / 4_096, 1 + drawn % 4, 500 + drawn % 60 * 100);
        let customer = order.wrapping_mul(2_246_822_519) % 20_000;
        writeln!(text, "{order},SKU-{sku},{quantity},{placed},{}.{:02},C{customer}", cents / 100, cents % 100)?;
    }
    Ok(text)
}

struct Import<'a> {
    name: &'a str,
    bench: &'a Bench,
    client: &'a Client,
    file: PathBuf,
    lines: f64,
    /// Another one each time: the same file again would change nothing.
    account: i64,
    peak_mb: f64,
}

impl<'a> Import<'a> {
    /// Imports into the accounts that come after `account`.
    fn of(bench: &'a Bench, client: &'a Client, name: &'a str, lines: u32, account: i64) -> anyhow::Result<Self> {
        let file = file_of(&bench.postgres, lines)?;
        Ok(Self { name, bench, client, file, lines: lines.into(), account, peak_mb: 0.0 })
    }
}

#[async_trait]
impl Contender for Import<'_> {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn command(&self) -> String {
        "api import orders order_lines.csv --account N".to_owned()
    }

    /// The process of the import is not there yet; it counts as a child of this one.
    fn processes(&self) -> Vec<u32> {
        vec![self.bench.postgres.pid(), std::process::id()]
    }

    async fn run(&mut self) -> anyhow::Result<Load> {
        self.account += 1;
        let account = self.account;
        self.client
            .batch_execute(&format!(
                "INSERT INTO users (id, created_at) VALUES ('user_' || lpad('{account}', 24, '0'), now());
                INSERT INTO accounts (id, user_id, mode, name, plan, currency, timezone, created_at) OVERRIDING SYSTEM VALUE
                    VALUES ({account}, 'user_' || lpad('{account}', 24, '0'), 'live', 'Shop', 'scale', 'USD', 'UTC', now());
                CHECKPOINT"
            ))
            .await?;
        let file = self.file.to_str().context("a path that is no text")?;
        let arguments = ["import", "orders", file, "--account", &account.to_string(), "--nice-ratio", "0"];
        let (seconds, peak_mb, _) =
            nightly::measured(&self.bench.api, &arguments, &self.bench.postgres, DATABASE).await?;
        self.peak_mb = self.peak_mb.max(peak_mb);
        Ok(Load { per_second: self.lines / seconds, requests: self.lines, ..Load::default() })
    }
}

struct Copy<'a> {
    postgres: &'a Postgres,
    client: &'a Client,
    file: PathBuf,
    lines: f64,
}

#[async_trait]
impl Contender for Copy<'_> {
    fn name(&self) -> String {
        "\\copy".to_owned()
    }

    fn command(&self) -> String {
        "psql -c '\\copy raw_lines FROM order_lines.csv CSV HEADER'".to_owned()
    }

    fn processes(&self) -> Vec<u32> {
        vec![self.postgres.pid(), std::process::id()]
    }

    async fn run(&mut self) -> anyhow::Result<Load> {
        self.client.batch_execute("TRUNCATE raw_lines; CHECKPOINT").await?;
        let began = Instant::now();
        copy(self.postgres, &self.file).await?;
        Ok(Load { per_second: self.lines / began.elapsed().as_secs_f64(), requests: self.lines, ..Load::default() })
    }
}

async fn copy(postgres: &Postgres, file: &Path) -> anyhow::Result<()> {
    let output = Command::new("psql")
        .args(["-X", "-q", "-U", "postgres", "-d", DATABASE, "-h"])
        .arg(postgres.socket())
        .arg("-c")
        .arg(format!("\\copy raw_lines FROM '{}' CSV HEADER", file.display()))
        .stdin(Stdio::null())
        .output()
        .await
        .context("psql cannot be run")?;
    anyhow::ensure!(output.status.success(), "psql: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
