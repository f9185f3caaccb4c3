//! How far each connection has been read, who reads it now, and what came of it.

use async_trait::async_trait;
use time::{Duration, OffsetDateTime};

use super::{Window, known_orders::Position};
use crate::{
    AccountId, IntegrationId, StoreError, SyncRunId,
    audit::Entry,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    integrations::{ErrorCode, Integration},
    page::{Page, PageRequest},
};

/// How long after a read that found nothing wrong a connection is due again.
pub const INTERVAL: Duration = Duration::minutes(10);
/// The longest pause after failures.
pub const MAX_PAUSE: Duration = Duration::hours(6);
/// Failures of a stream in a row, over at least [`BROKEN_AFTER`], that make a connection broken.
pub const BROKEN_FAILURES: i64 = 3;
/// How long a stream has failed at least when its connection counts as broken.
pub const BROKEN_AFTER: Duration = Duration::minutes(15);
/// Refused records that a run names one by one: the newest.
pub const MAX_REFUSALS: usize = 100;
/// How long runs are kept.
pub const KEEP_RUNS: Duration = Duration::days(30);

text_enum!(
    /// What is read of a shop, each with a cursor of its own: an instant.
    Stream {
        /// Orders that changed; the cursor is the end of the last window.
        Changes = "changes",
        /// The history, backwards; the cursor is the beginning of the last window.
        BackFill = "back_fill",
        /// Products, prices, costs and stock; the cursor is the last whole pass.
        Catalogue = "catalogue",
        /// Young orders, one by one; the cursor is the last whole pass.
        Reread = "reread",
        /// What was spent on the platform's ads; the cursor is the last time.
        Ads = "ads",
    }
);

text_enum!(
    /// How a run ended.
    RunState { Done = "done", Failed = "failed" }
);

/// Where a stream stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub stream: Stream,
    pub at: OffsetDateTime,
}

/// How far the reading of known orders one by one has come that is not at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// When it was begun.
    pub begun_at: OffsetDateTime,
    /// The last order that was read.
    pub after: Position,
}

/// A connection that is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueSync {
    pub account: AccountId,
    pub integration: IntegrationId,
}

/// The right to read a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncLease {
    pub account: AccountId,
    pub integration: IntegrationId,
    /// Rises with every lease: a write with an older number touches no row.
    pub number: i64,
}

/// A connection as its reader has to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedSync {
    pub lease: SyncLease,
    /// When the connection was to be read, or had to be already.
    pub due_at: OffsetDateTime,
    /// Until when nobody but who asks for it makes it due; it may be over.
    pub paused_until: Option<OffsetDateTime>,
    pub integration: Integration,
    /// Of the streams that have been read.
    pub cursors: Vec<Cursor>,
    /// When each of the streams that fail failed last.
    pub failed: Vec<Cursor>,
    /// Where the reading of young orders goes on that was not brought to its end.
    pub rereading: Option<Progress>,
}

impl LeasedSync {
    pub fn cursor(&self, stream: Stream) -> Option<OffsetDateTime> {
        self.cursors.iter().find(|cursor| cursor.stream == stream).map(|cursor| cursor.at)
    }
}

/// A record that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Refusal {
    /// What the platform calls it: `order`, `product`.
    pub kind: String,
    pub external_id: String,
    pub reason: String,
}

/// What a run counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Records that the platform gave.
    pub read: i64,
    /// Those that were new or changed.
    pub stored: i64,
    pub refused: i64,
    /// Orders that no longer count.
    pub voided: i64,
    /// Calls of the platform.
    pub calls: i64,
    /// How long the platform's limits made the run wait, milliseconds.
    pub waited_ms: i64,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunError {
    pub code: ErrorCode,
    /// A sentence for the owner, without personal data.
    pub message: String,
}

/// A run that has ended: one window of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedRun {
    pub stream: Stream,
    /// `None` for a stream that has no windows.
    pub window: Option<Window>,
    pub counts: Counts,
    /// The newest [`MAX_REFUSALS`] of them.
    pub refusals: Vec<Refusal>,
    pub started_at: OffsetDateTime,
    pub finished_at: OffsetDateTime,
    pub outcome: Outcome,
}

/// What a run achieved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was stored.
    Done {
        /// Where the stream stands now.
        cursor: OffsetDateTime,
        /// The present of the platform, when the run reached it: `last_sync_at` from now on.
        reached: Option<OffsetDateTime>,
        /// A part of the past is there that was not: the account's jobs are asked for in the same transaction, so that its
        /// figures do not wait for the night.
        run_jobs: bool,
    },
    /// A part of the known orders was read, and stored; the others are still to be. The cursor stays.
    InPart(Progress),
    /// The stream, which has been read before, is to be read again from there on, however far it had come.
    Restarted { cursor: OffsetDateTime },
    /// The cursor stays.
    Failed(RunError),
}

/// What a connection has come to after a run was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Failing {
    /// How often in a row the run's stream has failed; other streams are not counted.
    pub failures: i64,
    /// `integration.broken` was emitted with this run.
    pub became_broken: bool,
}

/// A run of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncRun {
    pub id: SyncRunId,
    pub stream: Stream,
    pub window: Option<Window>,
    pub state: RunState,
    pub counts: Counts,
    pub refusals: Vec<Refusal>,
    pub error: Option<RunError>,
    pub started_at: OffsetDateTime,
    pub finished_at: OffsetDateTime,
}

/// The failures of a stream since it last succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failures {
    pub count: i64,
    /// When the first of them was.
    pub since: OffsetDateTime,
}

impl Failures {
    /// With one more, at `now`.
    #[must_use]
    pub fn with_another(known: Option<Self>, now: OffsetDateTime) -> Self {
        match known {
            Some(Self { count, since }) => Self { count: count.saturating_add(1), since },
            None => Self { count: 1, since: now },
        }
    }

    /// Whether the connection counts as broken at `now`.
    pub fn are_broken(&self, now: OffsetDateTime) -> bool {
        self.count >= BROKEN_FAILURES && now - self.since >= BROKEN_AFTER
    }
}

/// When a connection is due again after a number of failures in a row: every [`INTERVAL`], and twice as late with each
/// failure after the first, up to [`MAX_PAUSE`].
pub fn next_due(failures: i64, now: OffsetDateTime) -> OffsetDateTime {
    let doublings = u32::try_from(failures.saturating_sub(1).clamp(0, 16)).unwrap_or(0);
    now + (INTERVAL * 2_i32.pow(doublings)).min(MAX_PAUSE)
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait SyncStore: Send + Sync {
    /// Connections that are due and that nobody reads, the longest due first, at most `limit`. Of all accounts.
    async fn due(&self, now: OffsetDateTime, limit: i64) -> Result<Vec<DueSync>, StoreError>;
    /// Takes the right to read a connection, for `lease_seconds` of the database's clock, due or not. `None` when another
    /// process has it, or the connection has ended.
    async fn lease(&self, due: DueSync, lease_seconds: i64) -> Result<Option<LeasedSync>, StoreError>;
    /// Holds a lease for another `lease_seconds`. False when it is another's by now, or the connection has ended.
    async fn heartbeat(&self, lease: SyncLease, lease_seconds: i64) -> Result<bool, StoreError>;
    /// Records a run: moves the stream's cursor, of the history backwards only and of all else forwards only unless it is
    /// restarted, notes failures, and says once that a connection is broken, until it is mended. `None` when the lease is
    /// another's by now, or the connection has ended: nothing was stored.
    async fn record(&self, lease: SyncLease, run: EndedRun) -> Result<Option<Failing>, StoreError>;
    /// Gives a lease back; the connection is due at `next_due`, or as it was hinted at since the lease was taken.
    async fn release(&self, lease: SyncLease, next_due: OffsetDateTime) -> Result<(), StoreError>;
    /// Gives a lease back of a connection that could not be read: no [`hint_of_change`](Self::hint_of_change) makes it due before
    /// `until`.
    async fn pause(&self, lease: SyncLease, until: OffsetDateTime) -> Result<(), StoreError>;
    /// Makes a connection due at once: something changed there. False when there is none, or it has ended.
    async fn hint(&self, account: AccountId, id: IntegrationId, now: OffsetDateTime) -> Result<bool, StoreError>;
    /// As [`hint`](Self::hint), where anybody may have said so: not within a pause, and not within a minute of the last time.
    async fn hint_of_change(
        &self,
        account: AccountId,
        id: IntegrationId,
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// As [`hint`](Self::hint), where somebody asks for it: under a key once, and with `note` in the audit log.
    async fn ask(
        &self,
        account: AccountId,
        id: IntegrationId,
        key: Option<IdempotencyKey>,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<bool>, IdempotencyError>;
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait SyncRunStore: Send + Sync {
    /// Runs of a connection, newest first. `None` when the account has no such connection.
    async fn page(
        &self,
        account: AccountId,
        id: IntegrationId,
        page: PageRequest,
    ) -> Result<Option<Page<SyncRun>>, StoreError>;
    /// Removes runs that ended before `before`, of all accounts; returns how many.
    async fn prune(&self, before: OffsetDateTime) -> Result<u64, StoreError>;
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-24 12:00 UTC);

    #[rstest]
    #[case(0, Duration::minutes(10))]
    #[case(1, Duration::minutes(10))]
    #[case(2, Duration::minutes(20))]
    #[case(3, Duration::minutes(40))]
    #[case(6, Duration::minutes(320))]
    #[case(7, Duration::hours(6))]
    #[case(i64::MAX, Duration::hours(6))]
    fn failures_lengthen_the_pause(#[case] failures: i64, #[case] pause: Duration) {
        assert_eq!(next_due(failures, NOW) - NOW, pause);
    }

    #[test]
    fn three_failures_over_a_quarter_of_an_hour_are_broken() {
        let at = |minute| NOW + Duration::minutes(minute);
        let first = Failures::with_another(None, at(0));
        let second = Failures::with_another(Some(first), at(10));
        let third = Failures::with_another(Some(second), at(14));
        assert_eq!(third, Failures { count: 3, since: at(0) });
        assert!(!second.are_broken(at(60)));
        assert!(!third.are_broken(at(14)));
        assert!(third.are_broken(at(15)));
    }
}
