//! Files of all that an account has, for its owners to take along: NDJSON, packed by gzip.
//!
//! The first line says what the file is of; each line after it is a row: `{"table": "orders", "row": {…}}`. Secrets and
//! fingerprints are left out.

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use time::{Duration, OffsetDateTime};

use crate::{AccountId, ExportId, StoreError, audit::Entry};

/// How long a file can be fetched.
pub const KEPT: Duration = Duration::days(7);
/// Bytes of a file that are stored together.
pub const PIECE_BYTES: usize = 1 << 20;
/// Files of an account that are listed, and kept.
pub const LISTED: i64 = 10;

text_enum!(
    /// Where an export stands.
    State {
        Queued = "queued",
        Running = "running",
        Done = "done",
        /// It was tried as often as it is, and the service is at fault.
        Failed = "failed",
    }
);

/// An export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    pub id: ExportId,
    pub state: State,
    /// Rows that are in the file so far.
    pub rows: i64,
    /// Bytes of the file so far, packed.
    pub bytes: i64,
    pub created_at: OffsetDateTime,
    pub finished_at: Option<OffsetDateTime>,
}

impl Export {
    /// Whether somebody is at it, or will be.
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Queued | State::Running)
    }
}

/// Says whose an export is, and which try at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportLease {
    pub account: AccountId,
    pub id: ExportId,
    /// Rises with every lease.
    pub number: i64,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ExportStore: Send + Sync {
    /// Asks for a file. The one that is under way is it, if there is one: then nothing is noted.
    async fn request(&self, account: AccountId, note: Entry, now: OffsetDateTime) -> Result<ExportId, StoreError>;
    /// The [`LISTED`] newest.
    async fn list(&self, account: AccountId) -> Result<Vec<Export>, StoreError>;
    async fn find(&self, account: AccountId, id: ExportId) -> Result<Option<Export>, StoreError>;
    /// A piece of the file, from 0; `None` after the last.
    async fn piece(&self, account: AccountId, id: ExportId, number: i64) -> Result<Option<Vec<u8>>, StoreError>;
    /// Exports that nobody has a lease of, the oldest first, at most `limit`. Of all accounts.
    async fn due(&self, limit: i64) -> Result<Vec<(AccountId, ExportId)>, StoreError>;
    /// Takes an export, for `lease_seconds` of the database's clock, and throws away what a try before it left. `None` when it
    /// is in other hands or has ended.
    async fn lease(
        &self,
        account: AccountId,
        id: ExportId,
        lease_seconds: i64,
    ) -> Result<Option<ExportLease>, StoreError>;
    /// Notes how far it is, and holds the lease. False when it is another's by now.
    async fn progress(&self, lease: ExportLease, rows: i64, bytes: i64, lease_seconds: i64)
    -> Result<bool, StoreError>;
    /// Keeps a piece of the file. False when the lease is another's by now; then nothing is written.
    async fn append(&self, lease: ExportLease, number: i64, bytes: Vec<u8>) -> Result<bool, StoreError>;
    /// Ends it as done or failed, with the rows and bytes that were written. False when the lease is another's by now.
    async fn end(
        &self,
        lease: ExportLease,
        state: State,
        written: (i64, i64),
        now: OffsetDateTime,
    ) -> Result<bool, StoreError>;
    /// Removes exports that were asked for before `before`, and those that have ended and are not among the [`LISTED`] newest of
    /// their account. Of all accounts; returns how many.
    async fn prune(&self, before: OffsetDateTime) -> Result<u64, StoreError>;
}

/// Lines of a file.
pub type Lines = BoxStream<'static, Result<String, StoreError>>;

/// Reads all that an account has.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait AccountReader: Send + Sync {
    /// Every line, as of one moment.
    async fn lines(&self, account: AccountId, now: OffsetDateTime) -> Result<Lines, StoreError>;
}
