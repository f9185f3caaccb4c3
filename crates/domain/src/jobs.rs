//! Background jobs: which there are, and who may run one.

use async_trait::async_trait;
use time::{Date, Duration, OffsetDateTime};

use crate::{AccountId, StoreError, audit::Entry, zone::Zone};

text_enum!(
    /// A job, in the order in which the results build on each other.
    JobName {
        CustomerMetrics = "customer_metrics",
        ProfitSnapshots = "profit_snapshots",
        InventoryVelocity = "inventory_velocity",
        SmartReorder = "smart_reorder",
        AnomalyDetection = "anomaly_detection",
        CreativeWinners = "creative_winners",
        InsightGeneration = "insight_generation",
        RiskAssessment = "risk_assessment",
    }
);

/// The right to run a job, and the number that guards every write of its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub account: AccountId,
    pub job: JobName,
    /// The day that the run is for, in the account's time zone: "today", which has not ended yet.
    pub as_of: Date,
    /// Rises with every claim of the same run: a write with an older number touches no row.
    pub number: i64,
    /// Identifies everything that the run reads, once that is known; kept with the result. A later run that would read
    /// the same is spared. `None` for a job whose input has no such mark.
    pub input_fingerprint: Option<String>,
}

impl Claim {
    /// The last day that is over: the newest one that is judged or forecast from.
    pub fn last_full_day(&self) -> Date {
        self.as_of.previous_day().unwrap_or(Date::MIN)
    }
}

/// What became of the write of a result. The result and the end of the run are one transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Rows that were inserted, changed or removed.
    Rows(u64),
    /// The run has been claimed again in the meantime; nothing was written.
    Superseded,
}

text_enum!(
    /// Where a run stands.
    RunState { Running = "running", Done = "done", Failed = "failed" }
);

/// A run of a job, for listings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub account: AccountId,
    pub job: JobName,
    pub as_of: Date,
    pub state: RunState,
    pub attempts: i64,
    pub started_at: OffsetDateTime,
    /// When the result was last written.
    pub finished_at: Option<OffsetDateTime>,
    pub error: Option<String>,
}

/// Which of the runs that are done may be claimed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    All,
    /// Those that ended before this instant. One that ended before its day began was of another time zone.
    EndedBefore(OffsetDateTime),
}

/// The right to run the jobs that an account asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLease {
    pub account: AccountId,
    /// Rises with every lease: a write with an older number touches no row.
    pub number: i64,
}

/// For how long a job has not been run for the day that it is in the account's zone; `None` for one that has never been done.
pub fn lateness(job: JobName, runs: &[Run], zone: &Zone, now: OffsetDateTime) -> Option<Duration> {
    // One that runs again has the result of before.
    let done = runs.iter().filter(|run| run.job == job && (run.state == RunState::Done || run.finished_at.is_some()));
    let next = done.map(|run| run.as_of).max()?.next_day()?;
    Some((now - zone.start_of(next)).max(Duration::ZERO))
}

/// Accounts whose jobs are to run now instead of at night: somebody asked, or new data came in.
#[async_trait]
pub trait JobRequests: Send + Sync {
    /// Asks for the jobs of an account. Asking again before they have begun changes nothing.
    /// `note` is for the audit log, where that is all that a person does.
    async fn request(&self, account: AccountId, note: Option<Entry>, now: OffsetDateTime) -> Result<(), StoreError>;
    /// Whether they were asked for and have not ended.
    async fn is_requested(&self, account: AccountId) -> Result<bool, StoreError>;
    /// Takes the request that has waited longest, for `lease_seconds` of the database's clock.
    async fn lease(&self, now: OffsetDateTime, lease_seconds: i64) -> Result<Option<RequestLease>, StoreError>;
    /// Holds a lease. False when it is another's by now.
    async fn hold(&self, lease: RequestLease, lease_seconds: i64) -> Result<bool, StoreError>;
    /// The jobs have run. One that was asked for since the lease was taken stays.
    async fn done(&self, lease: RequestLease) -> Result<(), StoreError>;
    /// Not all of them could run: they are to be tried again at `due_at`.
    async fn put_back(&self, lease: RequestLease, due_at: OffsetDateTime) -> Result<(), StoreError>;
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait JobStore: Send + Sync {
    /// Claims the run of `job` for the account and day, for `lease_seconds` of the database's clock. `None` when it is
    /// done (unless `again`) or held by a live lease.
    async fn claim(
        &self,
        account: AccountId,
        job: JobName,
        as_of: Date,
        lease_seconds: i64,
        again: Again,
    ) -> Result<Option<Claim>, StoreError>;
    /// Ends a run, done, if the job's result that stands has the `input_fingerprint` of the claim. Returns whether
    /// it did; nothing else is written.
    async fn end_if_unchanged(&self, claim: &Claim, now: OffsetDateTime) -> Result<bool, StoreError>;
    /// Ends a run that failed; it may be claimed again. Without effect on a run that has ended or was claimed again.
    async fn fail(&self, claim: &Claim, error: &str) -> Result<(), StoreError>;
    /// The newest runs, newest first.
    async fn list(&self, account: Option<AccountId>, limit: i64) -> Result<Vec<Run>, StoreError>;
}

#[cfg(test)]
mod tests {
    use time::macros::{date, datetime};

    use super::*;

    #[test]
    fn a_job_is_late_from_the_beginning_of_the_day_that_it_has_not_run_for() {
        let zone = "America/Sao_Paulo".parse().unwrap();
        let run = |as_of, state| Run {
            account: AccountId(1),
            job: JobName::ProfitSnapshots,
            as_of,
            state,
            attempts: 1,
            started_at: datetime!(2026-11-22 9:00 UTC),
            finished_at: None,
            error: None,
        };
        let runs = [run(date!(2026 - 11 - 23), RunState::Failed), run(date!(2026 - 11 - 22), RunState::Done)];
        let late = |now| lateness(JobName::ProfitSnapshots, &runs, &zone, now);
        assert_eq!(late(datetime!(2026-11-23 2:59 UTC)), Some(Duration::ZERO));
        assert_eq!(late(datetime!(2026-11-23 8:00 UTC)), Some(Duration::hours(5)));
        assert_eq!(lateness(JobName::SmartReorder, &runs, &zone, datetime!(2026-11-23 8:00 UTC)), None);
        // One that runs again has a result.
        let finished_at = Some(datetime!(2026-11-23 4:00 UTC));
        let runs = [Run { finished_at, ..run(date!(2026 - 11 - 23), RunState::Running) }, runs[1].clone()];
        let behind = lateness(JobName::ProfitSnapshots, &runs, &zone, datetime!(2026-11-23 20:00 UTC));
        assert_eq!(behind, Some(Duration::ZERO));
    }
}
