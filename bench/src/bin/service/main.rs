//! Measures the running service and compares it with its limits and its peers, prints one JSON object a row, and writes
//! `docs/benchmarks.md` with a chart.

use std::{net::SocketAddr, path::PathBuf, time::Instant};

use bench::{
    cluster::Postgres,
    dataset::{Dataset, Size},
    machine,
    report::{Report, Row},
    service,
};
use clap::{Parser, builder::NonEmptyStringValueParser};
use time::OffsetDateTime;

use crate::faults::attack::{self, Attack};

mod contenders;
mod dashboard;
mod debits;
mod deliveries;
mod faults;
mod growth;
mod imports;
mod memory;
mod nightly;
mod reads;
mod shops;
mod track;

/// The database that everything but growth is measured on.
const DATABASE: &str = "bench";

#[derive(Parser)]
#[command(version, about)]
struct Cli {
    /// Rows to measure, comma separated; every row when not said.
    #[arg(long, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    rows: Vec<String>,
    /// Little data and short samples: for a look at whether everything works.
    #[arg(long)]
    quick: bool,
    /// Accounts.
    #[arg(long)]
    accounts: Option<i64>,
    /// Customers of each account.
    #[arg(long)]
    customers: Option<i64>,
    /// Seconds of a sample.
    #[arg(long)]
    seconds: Option<u32>,
    /// Rounds that count, of most rows.
    #[arg(long)]
    rounds: Option<usize>,
    /// The release binary of the service [default: `api` beside this program].
    #[arg(long, value_name = "FILE")]
    api: Option<PathBuf>,
    /// Folder on a disk for the private Postgres.
    #[arg(long, value_name = "DIR", default_value = "data/bench")]
    scratch: PathBuf,
    /// Folder that the report is written to.
    #[arg(long, value_name = "DIR", default_value = "docs")]
    out: PathBuf,
    /// Be a client that misbehaves: how the row of it starts this program.
    #[arg(long, hide = true, requires_all = ["attack_url", "attack_keys"])]
    attack: Option<Attack>,
    #[arg(long, hide = true)]
    attack_url: Option<String>,
    #[arg(long, hide = true)]
    attack_keys: Option<String>,
    /// Where the webhooks of that client go.
    #[arg(long, hide = true)]
    attack_receiver: Option<SocketAddr>,
}

/// What every group of rows works with.
pub struct Bench {
    pub postgres: Postgres,
    pub data: Dataset,
    pub api: PathBuf,
    pub seconds: u32,
    pub rounds: usize,
    /// Little data.
    pub quick: bool,
    rows: Vec<String>,
    /// The rows that have been put.
    measured: Vec<String>,
    report: Report,
    out: PathBuf,
}

impl Bench {
    /// Whether a row is asked for; a group is asked for when its name is.
    #[must_use]
    pub fn wants(&self, row: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|asked| is_named(row, asked))
    }

    /// Whether any of several rows that are measured together is asked for.
    #[must_use]
    pub fn wants_any(&self, rows: &[&str]) -> bool {
        rows.iter().any(|row| self.wants(row))
    }

    /// Rounds of a row whose turns differ by more than lies between the row and its bound: those of pgbench by a third.
    #[must_use]
    pub const fn many_rounds(&self) -> usize {
        3 * self.rounds
    }

    /// Prints a row and puts it into the report.
    ///
    /// # Errors
    /// When the report cannot be written.
    pub fn put(&mut self, mut row: Row) -> anyhow::Result<()> {
        row.measured = format!("{}, {}", OffsetDateTime::now_utc().date(), env!("CARGO_PKG_VERSION"));
        println!("{}", serde_json::to_string(&row)?);
        self.measured.push(row.row.clone());
        self.report.put(row);
        // After each row, so that an interrupted run keeps what it has measured.
        self.report.write(&self.out)
    }

    /// What was asked for and is no row.
    fn unknown(&self) -> Vec<String> {
        self.rows.iter().filter(|asked| !self.measured.iter().any(|row| is_named(row, asked))).cloned().collect()
    }
}

/// Whether a name selects a row: its own, or its group's, which is its first word.
fn is_named(row: &str, name: &str) -> bool {
    row == name || row.split_once(' ').is_some_and(|(group, _)| group == name)
}

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    rustls::crypto::ring::default_provider().install_default().ok();
    if let (Some(attack), Some(url), Some(keys)) = (cli.attack, &cli.attack_url, &cli.attack_keys) {
        // One thread: the clients must not use more than one processor.
        return tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(attack::run(
            attack,
            url,
            keys,
            cli.attack_receiver,
        ));
    }
    let api = service::binary(cli.api.clone())?;
    // The server ends with the thread that starts it: this one.
    let postgres = Postgres::start(&cli.scratch)?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run(cli, api, postgres))
}

async fn run(cli: Cli, api: PathBuf, postgres: Postgres) -> anyhow::Result<()> {
    let began = Instant::now();
    let base = if cli.quick { Size::QUICK } else { Size::FULL };
    let size = Size {
        accounts: cli.accounts.unwrap_or(base.accounts),
        customers: cli.customers.unwrap_or(base.customers),
        ..base
    };
    postgres.create_database(DATABASE).await?;
    let data = Dataset::load(&postgres.client(DATABASE).await?, size).await?;
    eprintln!("loaded in {:.0} s", began.elapsed().as_secs_f64());
    let mut report = Report::read(&cli.out)?;
    report.machine = machine::describe();
    let mut bench = Bench {
        postgres,
        data,
        api,
        seconds: cli.seconds.unwrap_or(if cli.quick { 1 } else { 5 }),
        rounds: cli.rounds.unwrap_or(if cli.quick { 1 } else { 3 }),
        quick: cli.quick,
        rows: cli.rows,
        measured: Vec::new(),
        report,
        out: cli.out,
    };
    let mut broken = Vec::new();
    for group in Group::ALL {
        // The others are measured nevertheless.
        if let Err(error) = group.run(&mut bench).await {
            eprintln!("{group:?} broke off: {error:#}");
            broken.push(group);
        }
    }
    eprintln!("measured in {:.0} s", began.elapsed().as_secs_f64());
    let unknown = bench.unknown();
    bench.postgres.stop()?;
    anyhow::ensure!(broken.is_empty(), "not all rows were measured: {broken:?}");
    anyhow::ensure!(unknown.is_empty(), "no such rows: {unknown:?}; docs/benchmarks.md has the names of all");
    Ok(())
}

/// Rows that are measured by one file.
#[derive(Debug, Clone, Copy)]
enum Group {
    Reads,
    Track,
    Growth,
    Memory,
    Imports,
    Nightly,
    Deliveries,
    Debits,
    Faults,
    Shops,
    Dashboard,
}

impl Group {
    /// In the order of the page.
    const ALL: [Self; 11] = [
        Self::Reads,
        Self::Track,
        Self::Growth,
        Self::Memory,
        Self::Imports,
        Self::Nightly,
        Self::Deliveries,
        Self::Debits,
        Self::Faults,
        Self::Shops,
        Self::Dashboard,
    ];

    async fn run(self, bench: &mut Bench) -> anyhow::Result<()> {
        match self {
            Self::Reads => reads::run(bench).await,
            Self::Track => track::run(bench).await,
            Self::Growth => growth::run(bench).await,
            Self::Memory => memory::run(bench).await,
            Self::Imports => imports::run(bench).await,
            Self::Nightly => nightly::run(bench).await,
            Self::Deliveries => deliveries::run(bench).await,
            Self::Debits => debits::run(bench).await,
            Self::Faults => faults::run(bench).await,
            Self::Shops => shops::run(bench).await,
            Self::Dashboard => dashboard::run(bench).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_by_their_name_or_their_groups() {
        for (row, name, is_meant) in [
            ("track", "track", true),
            ("growth track", "growth", true),
            ("growth track", "growth track", true),
            ("growth track", "track", false),
            ("faults slow readers", "faults slow", false),
            ("track", "tra", false),
        ] {
            assert_eq!(is_named(row, name), is_meant, "{row}, {name}");
        }
    }

    /// Else a run of everything that is asked for with an empty variable would measure nothing.
    #[test]
    fn an_empty_name_is_refused() {
        assert!(Cli::try_parse_from(["service", "--rows", ""]).is_err());
        assert!(Cli::try_parse_from(["service", "--rows", "track,"]).is_err());
    }
}
