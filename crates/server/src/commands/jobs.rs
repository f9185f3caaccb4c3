//! `api jobs`.

use std::{process::ExitCode, str::FromStr, sync::Arc};

use app::jobs::{Deps, Outcome, Report, Selection, run_all, run_as_of};
use clap::Subcommand;
use domain::{
    AccountId,
    as_of::{AsOfStore, earliest},
    instants,
    jobs::{JobName, JobStore, Run},
};
use serde_json::{Value, json};
use store::Store;
use time::{Date, OffsetDateTime};

use super::{Misconfigured, PARTLY, find_account};
use crate::{
    ai,
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
        after_help = "Examples:\n  api jobs run all\n  api jobs run profit_snapshots --account 1\n  api jobs run anomaly_detection --account 1 --as-of 2026-03-01\n\nExit codes: 0 all runs are done, 1 none is, 3 some are not: they failed, or another process has them."
    )]
    Run {
        /// customer_metrics, profit_snapshots, inventory_velocity, smart_reorder, anomaly_detection,
        /// creative_winners, insight_generation, risk_assessment or all
        #[arg(value_name = "NAME")]
        job: Jobs,
        /// Only this account's
        #[arg(long, value_name = "ID")]
        account: Option<i64>,
        /// Compute as if on this day of the last two years, in each account's time zone, beside what is live, which does not
        /// change: what came later is not used. Prints the results as JSON; `?as_of=DATE` of the API gives them out. All jobs
        /// are computed, as they build on each other; NAME is whose results are printed
        #[arg(long, value_name = "DATE", value_parser = parse_day, conflicts_with_all = ["recompute", "at_once"])]
        as_of: Option<Date>,
        /// Set the clock to this day, in each account's time zone, and replace what is live: for benchmarks and demo shops,
        /// whose data ends in the past
        #[arg(long, value_name = "DATE", value_parser = parse_day, conflicts_with = "as_of")]
        clock: Option<Date>,
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
            if let Some(account) = account {
                find_account(&store, account).await?;
            }
            print_runs(&store.list(account.map(AccountId), limit).await?, json)?;
            Ok(ExitCode::SUCCESS)
        }
        JobsCommand::Run { job, account, as_of, clock, recompute, at_once, json } => {
            let account = account.map(AccountId);
            let store = Arc::new(store);
            let deps = ai::deps(config, &store)?;
            let reports = if let Some(as_of) = as_of {
                run_beside(&deps, &*store, job, account, as_of, json).await?
            } else {
                // A run that is asked for happens, done today already or not.
                let selection = Selection { job: job.0, account, today: clock, again: true, recompute };
                let reports = run_all(&deps, selection, at_once.into(), OffsetDateTime::now_utc).await?;
                print_reports(&reports, json)?;
                reports
            };
            if let (Some(account), true) = (account, reports.is_empty()) {
                anyhow::bail!("there is no account {account}; `api accounts list` shows which there are");
            }
            Ok(ExitCode::from(exit_code(&reports)))
        }
    }
}

/// What was asked for is done only where this process has done it: of a run that another one has, nobody here knows how it
/// ends.
fn exit_code(reports: &[Report]) -> u8 {
    match reports.iter().filter(|report| matches!(report.outcome, Outcome::Done { .. })).count() {
        done if done == reports.len() => 0,
        0 => 1,
        _ => PARTLY,
    }
}

/// Computes the results as of a day, and prints how each run ended and the rows of its results.
async fn run_beside(
    deps: &Deps,
    copies: &dyn AsOfStore,
    wanted: Jobs,
    account: Option<AccountId>,
    as_of: Date,
    json: bool,
) -> anyhow::Result<Vec<Report>> {
    let accounts = match account {
        Some(account) => deps.accounts.find(account).await?.into_iter().collect(),
        None => deps.accounts.list().await?,
    };
    // Other days are not given out.
    for account in &accounts {
        let today = account.timezone.day_of(OffsetDateTime::now_utc());
        let first = earliest(today);
        if !(first..=today).contains(&as_of) {
            let id = account.id;
            return Err(Misconfigured(format!("--as-of: a day from {first} to {today} for account {id}")).into());
        }
    }
    let (mut reports, mut printed) = (Vec::new(), Vec::new());
    for account in accounts {
        let Some(run) = run_as_of(deps, copies, &account, as_of, OffsetDateTime::now_utc).await? else { continue };
        for report in run.reports {
            if wanted.0.is_none_or(|wanted| wanted == report.job) {
                let mut shown = report_json(&report);
                if let Some(fields) = shown.as_object_mut() {
                    fields.insert("results".to_owned(), copies.rows(run.copy, report.job).await?.into());
                }
                printed.push(shown);
            }
            reports.push(report);
        }
    }
    if json {
        println!("{}", serde_json::to_string_pretty(&printed)?);
    } else {
        for shown in printed {
            println!("{shown}");
        }
    }
    Ok(reports)
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
        Outcome::Failed { error, .. } => ("failed", error.clone()),
    }
}

fn report_json(report: &Report) -> Value {
    let Report { account, job, as_of, outcome: ended, milliseconds } = report;
    let rows = if let Outcome::Done { rows } = ended { Some(*rows) } else { None };
    let error = if let Outcome::Failed { error, .. } = ended { Some(error.as_str()) } else { None };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_process_has_is_not_done() {
        let reports = |outcomes: &[Outcome]| -> Vec<Report> {
            let report = |outcome: &Outcome| Report {
                account: AccountId(1),
                job: JobName::SmartReorder,
                as_of: Date::MIN,
                outcome: outcome.clone(),
                milliseconds: 1,
            };
            outcomes.iter().map(report).collect()
        };
        let done = Outcome::Done { rows: 1 };
        let code = |outcomes: &[Outcome]| exit_code(&reports(outcomes));
        assert_eq!(code(&[]), 0);
        assert_eq!(code(&[done.clone(), done.clone()]), 0);
        for other in [
            Outcome::Skipped,
            Outcome::Superseded,
            Outcome::Interrupted,
            Outcome::Failed { error: "error".to_owned(), is_outage: false },
        ] {
            assert_eq!(code(&[other.clone(), other.clone()]), 1, "{other:?}");
            assert_eq!(code(&[done.clone(), other.clone()]), 3, "{other:?}");
        }
    }
}
