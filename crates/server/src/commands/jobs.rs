//! `api jobs`.

use std::{process::ExitCode, str::FromStr, sync::Arc};

use app::jobs::{Outcome, Report, Selection, run_all};
use clap::Subcommand;
use domain::{
    AccountId, instants,
    jobs::{JobName, JobStore, Run},
};
use serde_json::{Value, json};
use store::Store;
use time::{Date, OffsetDateTime};

use crate::{
    ai,
    commands::PARTLY,
    config::Config,
    output::{rfc3339, rfc3339_or_dash},
};

#[derive(Debug, Subcommand)]
pub enum JobsCommand {
    /// Shows the newest runs
    List {
        /// Only this account's
        #[arg(long, value_name = "ID")]
        account: Option<i64>,
        /// How many
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=10_000))]
        limit: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Runs a job, or all of them, now
    #[command(
        after_help = "Examples:\n  api jobs run all\n  api jobs run profit_snapshots --account 1\n  api jobs run anomaly_detection --account 1 --as-of 2026-03-01"
    )]
    Run {
        /// customer_metrics, profit_snapshots, inventory_velocity, smart_reorder, anomaly_detection,
        /// insight_generation, risk_assessment or all
        #[arg(value_name = "NAME")]
        job: Jobs,
        /// Only this account's
        #[arg(long, value_name = "ID")]
        account: Option<i64>,
        /// The day to take for today, in each account's time zone: what came later is not used
        #[arg(long, value_name = "DATE", value_parser = parse_day)]
        as_of: Option<Date>,
        /// Compute even where nothing has changed since the result that stands
        #[arg(long)]
        recompute: bool,
        /// Accounts side by side
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
        at_once: u16,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// One job or all.
#[derive(Debug, Clone, Copy)]
pub struct Jobs(Option<JobName>);

impl FromStr for Jobs {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self(None)),
            name => name.parse().map(|job| Self(Some(job))).map_err(|unknown| format!("{unknown}, all")),
        }
    }
}

fn parse_day(text: &str) -> Result<Date, String> {
    instants::parse_day(text).map_err(|_| "say a date such as 2026-03-01, from 1970 to 2999".to_owned())
}

pub async fn run(command: JobsCommand, config: &Config, store: Store) -> anyhow::Result<ExitCode> {
    match command {
        JobsCommand::List { account, limit, json } => {
            print_runs(&store.list(account.map(AccountId), limit).await?, json)?;
            Ok(ExitCode::SUCCESS)
        }
        JobsCommand::Run { job, account, as_of, recompute, at_once, json } => {
            // A run that is asked for happens, done today already or not.
            let selection = Selection { job: job.0, account: account.map(AccountId), as_of, again: true, recompute };
            let deps = ai::deps(config, &Arc::new(store))?;
            let reports = run_all(&deps, selection, at_once.into(), OffsetDateTime::now_utc).await?;
            if let (Some(account), true) = (account, reports.is_empty()) {
                anyhow::bail!("there is no account {account}; `api accounts list` shows which there are");
            }
            print_reports(&reports, json)?;
            let failed = reports.iter().filter(|report| matches!(report.outcome, Outcome::Failed { .. })).count();
            Ok(match failed {
                0 => ExitCode::SUCCESS,
                all if all == reports.len() => ExitCode::FAILURE,
                _ => ExitCode::from(PARTLY),
            })
        }
    }
}

fn print_reports(reports: &[Report], json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(&reports.iter().map(report_json).collect::<Vec<_>>())?);
        return Ok(());
    }
    println!("{:>8}  {:<20}  {:<10}  {:>8}  OUTCOME", "ACCOUNT", "JOB", "AS OF", "MS");
    for report in reports {
        let (outcome, detail) = outcome(&report.outcome);
        println!(
            "{:>8}  {:<20}  {:<10}  {:>8}  {outcome} {detail}",
            report.account,
            report.job.as_str(),
            report.as_of,
            report.milliseconds
        );
    }
    Ok(())
}

fn outcome(outcome: &Outcome) -> (&'static str, String) {
    match outcome {
        Outcome::Done { rows } => ("done", format!("({rows} rows)")),
        Outcome::Skipped => ("skipped", "(being run elsewhere)".to_owned()),
        Outcome::Superseded => ("superseded", "(claimed elsewhere)".to_owned()),
        Outcome::Interrupted => ("interrupted", "(the process was stopped)".to_owned()),
        Outcome::Failed { error } => ("failed", error.clone()),
    }
}

fn report_json(report: &Report) -> Value {
    let Report { account, job, as_of, outcome: ended, milliseconds } = report;
    let rows = if let Outcome::Done { rows } = ended { Some(*rows) } else { None };
    let error = if let Outcome::Failed { error } = ended { Some(error.as_str()) } else { None };
    json!({
        "account_id": account,
        "job": job,
        "as_of": as_of.to_string(),
        "outcome": outcome(ended).0,
        "rows": rows,
        "error": error,
        "ms": milliseconds,
    })
}

fn print_runs(runs: &[Run], json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(&runs.iter().map(run_json).collect::<Vec<_>>())?);
        return Ok(());
    }
    println!(
        "{:>8}  {:<20}  {:<10}  {:<8}  {:>8}  {:<20}  ERROR",
        "ACCOUNT", "JOB", "AS OF", "STATE", "ATTEMPTS", "ENDED"
    );
    for run in runs {
        println!(
            "{:>8}  {:<20}  {:<10}  {:<8}  {:>8}  {:<20}  {}",
            run.account,
            run.job.as_str(),
            run.as_of,
            run.state.as_str(),
            run.attempts,
            rfc3339_or_dash(run.finished_at),
            run.error.as_deref().unwrap_or("-")
        );
    }
    Ok(())
}

fn run_json(run: &Run) -> Value {
    let Run { account, job, as_of, state, attempts, started_at, finished_at, error } = run;
    json!({
        "account_id": account,
        "job": job,
        "as_of": as_of.to_string(),
        "state": state,
        "attempts": attempts,
        "started_at": rfc3339(*started_at),
        "finished_at": finished_at.map(rfc3339),
        "error": error,
    })
}
