//! Background jobs: claim a run, bring the daily sums up to date, compute, write the result and the end of the run in
//! one transaction.
//!
//! A run is for an account and a day, so however many processes there are, each is done once. Killed anywhere it can be
//! run again to the same rows: until the end of the last transaction nothing but the claim has changed, and the lease of
//! a dead claim runs out.

mod anomaly_detection;
mod as_of;
mod creative_winners;
mod customer_metrics;
mod demand;
mod insight_generation;
mod inventory_velocity;
mod profit_snapshots;
mod risk_assessment;
mod smart_reorder;
mod stop;
mod sums;
#[cfg(test)]
mod tests;

use std::{panic::AssertUnwindSafe, sync::Arc, time::Instant};

use domain::{
    AccountId, StoreError,
    accounts::{Account, AccountStore},
    anomalies::AnomalyWriter,
    creatives::{CreativeSource, CreativeWriter},
    customer_metrics::CustomerMetricsStore,
    daily::DailyStore,
    demand::DemandStore,
    error::Chain,
    insights::{InsightSource, InsightWriter},
    inventory::InventoryWriter,
    jobs::{Again, Claim, JobName, JobStore, WriteOutcome},
    profit::ProfitWriter,
    reorder::ReorderWriter,
    risks::{RiskSource, RiskWriter},
};
use futures_util::{FutureExt, StreamExt, stream};
use time::{Date, OffsetDateTime};
use tokio::sync::OnceCell;
use tracing::{Instrument, Span, field::Empty};

pub use anomaly_detection::{Event, Parts, Shop};
pub use as_of::{AsOfRun, run_as_of};
pub use stop::{Shutdown, Stop};

use demand::SharedStocked;

pub(crate) use insight_generation::situation;
pub(crate) use sums::roll_up_for;

use crate::{ai::InsightTextGenerator, outage};

/// How long a claim lasts. Far above the longest run; a process that dies holds its runs up for no longer than this.
pub const LEASE_SECONDS: i64 = 15 * 60;

/// Longest error text kept with a run, in characters.
const ERROR_CHARS: usize = 500;

/// The ports that jobs read from and write to.
#[derive(Clone)]
pub struct Deps {
    pub accounts: Arc<dyn AccountStore>,
    pub jobs: Arc<dyn JobStore>,
    pub daily: Arc<dyn DailyStore>,
    pub profit: Arc<dyn ProfitWriter>,
    pub customers: Arc<dyn CustomerMetricsStore>,
    pub demand: Arc<dyn DemandStore>,
    pub inventory: Arc<dyn InventoryWriter>,
    pub reorder: Arc<dyn ReorderWriter>,
    pub anomalies: Arc<dyn AnomalyWriter>,
    pub insight_source: Arc<dyn InsightSource>,
    pub insights: Arc<dyn InsightWriter>,
    pub risk_source: Arc<dyn RiskSource>,
    pub risks: Arc<dyn RiskWriter>,
    pub creative_source: Arc<dyn CreativeSource>,
    pub creatives: Arc<dyn CreativeWriter>,
    /// What words insights better than the rules do; without it they keep the rules' texts.
    pub text_generator: Option<InsightTextGenerator>,
}

impl Deps {
    /// All ports from one store.
    pub fn of<S>(store: &Arc<S>) -> Self
    where
        S: AccountStore + JobStore + DailyStore + DemandStore + InsightSource + RiskSource,
        S: CreativeSource + CreativeWriter,
        S: ProfitWriter
            + CustomerMetricsStore
            + InventoryWriter
            + ReorderWriter
            + AnomalyWriter
            + InsightWriter
            + RiskWriter
            + 'static,
    {
        Self {
            accounts: store.clone(),
            jobs: store.clone(),
            daily: store.clone(),
            profit: store.clone(),
            customers: store.clone(),
            demand: store.clone(),
            inventory: store.clone(),
            reorder: store.clone(),
            anomalies: store.clone(),
            insight_source: store.clone(),
            insights: store.clone(),
            risk_source: store.clone(),
            risks: store.clone(),
            creative_source: store.clone(),
            creatives: store.clone(),
            text_generator: None,
        }
    }
}

/// Tells the time. Passed in, so that a run can be repeated at another time.
pub type Clock = fn() -> OffsetDateTime;

/// Which runs are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Selection {
    /// One job, or all in their order.
    pub job: Option<JobName>,
    /// One account, or all.
    pub account: Option<AccountId>,
    /// The day that the clock is set to, in each account's time zone; without it, today. The results are live all the same.
    pub today: Option<Date>,
    /// Run again what is done already.
    pub again: bool,
    /// Compute even where nothing has changed since the result that stands was made.
    pub recompute: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Rows that were inserted, changed or removed.
    Done { rows: u64 },
    /// Done before, or being done elsewhere.
    Skipped,
    /// The lease ran out and the run was claimed elsewhere; nothing was written.
    Superseded,
    Failed {
        error: String,
        /// Whether the database was away or overloaded: then all of them fail.
        is_outage: bool,
    },
    /// Broken off because the process stops; the claim was released.
    Interrupted,
}

/// One run, for the log and the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub account: AccountId,
    pub job: JobName,
    pub as_of: Date,
    pub outcome: Outcome,
    pub milliseconds: u64,
}

/// What a job works on.
struct Work<'a> {
    deps: &'a Deps,
    account: &'a Account,
    claim: &'a Claim,
    clock: Clock,
    stocked: &'a SharedStocked,
}

/// What is noted with a run that was broken off.
const INTERRUPTED: &str = "broken off: the process was stopped";

/// [`run_all_until`] without a stop.
///
/// # Errors
/// [`StoreError`] when the accounts cannot be listed. Failures of runs are in their reports.
pub async fn run_all(
    deps: &Deps,
    selection: Selection,
    at_once: usize,
    clock: Clock,
) -> Result<Vec<Report>, StoreError> {
    run_all_until(deps, selection, at_once, clock, &Stop::never()).await
}

/// Runs the selected jobs: accounts side by side, at most `at_once` of them, the jobs of an account in the order in which
/// they build on each other. What fails is reported and noted with its run; everything else goes on, until `stop` says otherwise.
///
/// # Errors
/// [`StoreError`] when the accounts cannot be listed. Failures of runs are in their reports.
pub async fn run_all_until(
    deps: &Deps,
    selection: Selection,
    at_once: usize,
    clock: Clock,
    stop: &Stop,
) -> Result<Vec<Report>, StoreError> {
    let accounts = match selection.account {
        Some(account) => deps.accounts.find(account).await?.into_iter().collect(),
        None => deps.accounts.list().await?,
    };
    let reports = stream::iter(accounts)
        .map(|account| run_account(deps.clone(), account, selection, clock, stop.clone()))
        .buffer_unordered(at_once.max(1))
        .collect::<Vec<_>>()
        .await;
    Ok(reports.into_iter().flatten().collect())
}

async fn run_account(deps: Deps, account: Account, selection: Selection, clock: Clock, stop: Stop) -> Vec<Report> {
    let as_of = selection.today.unwrap_or_else(|| account.timezone.day_of(clock()));
    let run = AccountRun::of(&deps, &account, as_of, selection, clock, &stop);
    let mut reports = Vec::new();
    for job in JobName::ALL.iter().copied().filter(|job| selection.job.is_none_or(|wanted| wanted == *job)) {
        if stop.is_asked() {
            break;
        }
        reports.push(run.run(job).await);
    }
    reports
}

/// Runs one job for one account, unless it is done (and not wanted `again`) or being done elsewhere.
pub async fn run(deps: &Deps, account: &Account, job: JobName, as_of: Date, again: bool, clock: Clock) -> Report {
    let selection = Selection { again, ..Selection::default() };
    AccountRun::of(deps, account, as_of, selection, clock, &Stop::never()).run(job).await
}

/// The jobs of an account, one after the other.
struct AccountRun<'a> {
    deps: &'a Deps,
    account: &'a Account,
    as_of: Date,
    selection: Selection,
    clock: Clock,
    stop: &'a Stop,
    /// The version of the sums, which the first job brings up to date for all.
    version: OnceCell<i64>,
    /// What one of them leaves for the next.
    stocked: SharedStocked,
}

impl<'a> AccountRun<'a> {
    fn of(
        deps: &'a Deps,
        account: &'a Account,
        as_of: Date,
        selection: Selection,
        clock: Clock,
        stop: &'a Stop,
    ) -> Self {
        Self {
            deps,
            account,
            as_of,
            selection,
            clock,
            stop,
            version: OnceCell::new(),
            stocked: SharedStocked::default(),
        }
    }

    async fn run(&self, job: JobName) -> Report {
        let span =
            tracing::error_span!("job", %job, account_id = self.account.id.0, as_of = %self.as_of, claim = Empty);
        self.run_logged(job).instrument(span).await
    }

    async fn run_logged(&self, job: JobName) -> Report {
        let started = Instant::now();
        let again = match self.selection.again {
            true => Again::All,
            false => Again::EndedBefore(self.account.timezone.start_of(self.as_of)),
        };
        let claimed = self.deps.jobs.claim(self.account.id, job, self.as_of, LEASE_SECONDS, again);
        let outcome = match claimed.await {
            Ok(Some(claim)) => {
                Span::current().record("claim", claim.number);
                self.run_claimed(claim).await
            }
            Ok(None) => Outcome::Skipped,
            Err(error) => failed(&error),
        };
        let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let report = Report { account: self.account.id, job, as_of: self.as_of, outcome, milliseconds };
        log(&report);
        report
    }

    /// A panic of the computation fails the run like an error does. A run that is broken off counts as failed too: so it
    /// is free to be claimed at once, not when its lease ends.
    async fn run_claimed(&self, claim: Claim) -> Outcome {
        let ended = tokio::select! {
            ended = AssertUnwindSafe(self.compute(claim.clone())).catch_unwind() => ended,
            () = self.stop.over() => {
                note_failure(self.deps, &claim, INTERRUPTED).await;
                return Outcome::Interrupted;
            }
        };
        let failed = match ended {
            Ok(Ok(WriteOutcome::Rows(rows))) => return Outcome::Done { rows },
            Ok(Ok(WriteOutcome::Superseded)) => return Outcome::Superseded,
            Ok(Err(error)) => failed(&error),
            Err(_) => Outcome::Failed { error: "the computation panicked".to_owned(), is_outage: false },
        };
        if let Outcome::Failed { error, .. } = &failed {
            note_failure(self.deps, &claim, error).await;
        }
        failed
    }

    /// Brings the sums up to date and computes, unless the result that stands was made from the same.
    async fn compute(&self, mut claim: Claim) -> Result<WriteOutcome, StoreError> {
        let (deps, clock) = (self.deps, self.clock);
        let now = clock();
        // Noted before anything is read: what changes from here on is for the next run to see.
        let version = self.version.get_or_try_init(|| self.roll_up(now)).await?;
        let input = self.input(*version, now);
        claim.input_fingerprint = match claim.job {
            // Depend on the hour and on what people decide as well, and are computed every time.
            JobName::InsightGeneration | JobName::RiskAssessment => None,
            JobName::SmartReorder => {
                Some(format!("{input} {}", deps.reorder.decisions_fingerprint(self.account.id).await?))
            }
            _ => Some(input),
        };
        if !self.selection.recompute && deps.jobs.end_if_unchanged(&claim, now).await? {
            return Ok(WriteOutcome::Rows(0));
        }
        let work = Work { deps, account: self.account, claim: &claim, clock, stocked: &self.stocked };
        match claim.job {
            JobName::CustomerMetrics => customer_metrics::run(&work).await,
            JobName::ProfitSnapshots => profit_snapshots::run(&work).await,
            JobName::InventoryVelocity => inventory_velocity::run(&work).await,
            JobName::SmartReorder => smart_reorder::run(&work).await,
            JobName::AnomalyDetection => anomaly_detection::run(&work).await,
            JobName::InsightGeneration => insight_generation::run(&work).await,
            JobName::RiskAssessment => risk_assessment::run(&work).await,
            JobName::CreativeWinners => creative_winners::run(&work).await,
        }
    }

    async fn roll_up(&self, now: OffsetDateTime) -> Result<i64, StoreError> {
        sums::bring_up_to_date(&*self.deps.daily, self.account, now).await
    }

    /// Stands for all that jobs read of an account: its data, the day they are asked for and the one they are asked on, its
    /// settings, and the computation itself. Settings that the sums are made with raise the version of the data.
    fn input(&self, version: i64, now: OffsetDateTime) -> String {
        let zone = &self.account.timezone;
        let holidays = self.account.holiday_country.as_ref().map_or("", |country| country.as_str());
        let (as_of, today, computation) = (self.as_of, zone.day_of(now), env!("COMPUTATION"));
        format!("{computation} {version} {as_of} {today} {} {holidays}", zone.name())
    }
}

fn failed(error: &StoreError) -> Outcome {
    let is_outage = outage::is_outage(error);
    Outcome::Failed { error: Chain(error).to_string().chars().take(ERROR_CHARS).collect(), is_outage }
}

async fn note_failure(deps: &Deps, claim: &Claim, error: &str) {
    if let Err(unnoted) = deps.jobs.fail(claim, error).await {
        outage::warn(&unnoted, "a failed run stays claimed");
    }
}

/// One line a run, within its span.
fn log(report: &Report) {
    let Report { outcome, milliseconds, .. } = report;
    match outcome {
        Outcome::Done { rows } => {
            tracing::info!(ms = milliseconds, rows, "job done");
        }
        Outcome::Skipped => tracing::debug!("job not due"),
        Outcome::Superseded => {
            tracing::warn!(ms = milliseconds, "job claimed elsewhere, result dropped");
        }
        Outcome::Interrupted => {
            tracing::warn!(ms = milliseconds, "job broken off, to be run again");
        }
        Outcome::Failed { error, is_outage: true } => outage::warn_of_outage(error, "job failed"),
        Outcome::Failed { error, is_outage: false } => tracing::error!(ms = milliseconds, error, "job failed"),
    }
}

/// Runs a computation that takes long enough to keep others of this thread waiting.
async fn off_thread<T: Send + 'static>(compute: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    let span = tracing::Span::current();
    tokio::task::spawn_blocking(move || span.in_scope(compute))
        .await
        .map_err(|_| StoreError::Internal("the computation panicked".into()))
}
