//! Files that people bring in: how they arrive, how they are read, and what became of them.
//!
//! An upload is a row that outlives the worker that imports it: its bytes arrive in pieces, somebody says how it is to be read, then a
//! worker with a lease imports it. A worker that dies leaves the lease to run out, and the next one starts over, as an import
//! that did not end has stored nothing.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
};

use async_trait::async_trait;
use time::{Duration, OffsetDateTime};

use crate::{
    AccountId, StoreError, UploadId,
    accounts::{Account, Platform},
    audit::Entry,
    imports::{DateOrder, Target},
    page::{Page, PageRequest},
};

/// Bytes of a file.
pub const MAX_BYTES: u64 = 200 << 20;
/// Bytes of a piece; the last one of a file may be shorter.
pub const PIECE_BYTES: usize = 256 << 10;
/// Bytes from the beginning of a file that tell its columns and how it is written.
pub const SAMPLE_BYTES: usize = 1 << 20;
/// Characters of a file's name that are kept.
pub const MAX_NAME_CHARS: usize = 200;
/// How long an upload is kept.
pub const KEPT: Duration = Duration::days(30);
/// What has not arrived by then is removed, and does not arrive any more.
pub const ARRIVES_WITHIN: Duration = Duration::hours(1);
/// Uploads of an account that may arrive or wait to be imported.
pub const MOST_WAITING: i64 = 20;
/// Pieces of an account that are kept before it may begin another upload: those of as many of the largest files. Refused lines
/// of files that were imported count, too.
pub const MOST_PIECES: i64 = 16_000;

text_enum!(
    /// What a file holds.
    Kind { Orders = "orders", Products = "products", Stock = "stock", AdSpend = "ad_spend", Expenses = "expenses" }
);

text_enum!(
    State {
        /// Its bytes are arriving.
        Arriving = "arriving",
        /// Somebody has to say how it is to be read.
        Ready = "ready",
        /// It is to be imported.
        Queued = "queued",
        /// It is being imported.
        Running = "running",
        Done = "done",
        /// Nothing of it was stored.
        Failed = "failed",
    }
);

text_enum!(
    /// Bytes that belong to an upload.
    Part { File = "file", Rejects = "rejects" }
);

/// How a file is to be read.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Reading {
    /// Field → column, where the header's names do not tell.
    pub map: BTreeMap<String, String>,
    /// Found in the first rows when not given.
    pub date_order: Option<DateOrder>,
    /// Whether the comma separates decimals. Without it, the first rows may still show that it does.
    pub decimal_comma: bool,
    /// The platform of the orders.
    pub source: Option<Platform>,
}

/// What became of the lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Outcome {
    pub lines: i64,
    pub accepted: i64,
    pub rejected: i64,
    /// Sound lines that say nothing to import.
    pub skipped: i64,
    /// Orders, refunds or rows that were not there.
    pub new: i64,
    pub changed: i64,
    pub unchanged: i64,
    /// Days whose figures are to be computed again.
    pub days_touched: i64,
    pub ignored_columns: Vec<String>,
}

/// An upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    pub id: UploadId,
    pub kind: Kind,
    /// As the browser called it.
    pub name: String,
    pub bytes: i64,
    pub state: State,
    pub reading: Reading,
    /// How far the worker has come.
    pub read_bytes: i64,
    /// `None` until it is done.
    pub outcome: Option<Outcome>,
    /// Why it failed.
    pub error: Option<String>,
    /// Whether it was no table when it arrived.
    pub is_unreadable: bool,
    /// How many leases of it ran out since its import was asked for: of workers that died.
    pub lost_leases: i64,
    pub created_at: OffsetDateTime,
    pub finished_at: Option<OffsetDateTime>,
}

impl Upload {
    /// Whether it was imported and had nothing below the names of its columns.
    pub fn has_no_lines(&self) -> bool {
        self.outcome.as_ref().is_some_and(|outcome| outcome.lines == 0)
    }

    /// Whether it was imported, and nothing of it could be taken.
    pub fn is_all_refused(&self) -> bool {
        self.outcome.as_ref().is_some_and(|outcome| outcome.rejected > 0 && outcome.rejected == outcome.lines)
    }
}

/// The right to import an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UploadLease {
    pub account: AccountId,
    pub id: UploadId,
    /// Rises with every lease: a write with an older number touches no row.
    pub number: i64,
}

/// How an import ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    Done(Outcome),
    Failed(String),
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait UploadStore: Send + Sync {
    /// Begins an upload, whose bytes are yet to arrive. `None` where [`MOST_WAITING`] of the account are not done,
    /// or [`MOST_PIECES`] are kept.
    async fn begin(
        &self,
        account: AccountId,
        kind: Kind,
        name: &str,
        now: OffsetDateTime,
    ) -> Result<Option<UploadId>, StoreError>;
    /// Keeps a piece of an upload that is arriving; false for any other. Pieces are numbered from 0.
    async fn append(&self, account: AccountId, id: UploadId, number: i64, bytes: Vec<u8>) -> Result<bool, StoreError>;
    /// All bytes have arrived.
    async fn arrived(
        &self,
        account: AccountId,
        id: UploadId,
        bytes: i64,
        is_unreadable: bool,
    ) -> Result<(), StoreError>;
    async fn find(&self, account: AccountId, id: UploadId) -> Result<Option<Upload>, StoreError>;
    /// Newest first, but those that are still arriving.
    async fn page(&self, account: AccountId, page: PageRequest) -> Result<Page<Upload>, StoreError>;
    /// A piece; `None` behind the last one, and once the file is imported.
    async fn piece(
        &self,
        account: AccountId,
        id: UploadId,
        part: Part,
        number: i64,
    ) -> Result<Option<Vec<u8>>, StoreError>;
    /// Has an upload imported that is ready or failed. False for any other.
    async fn queue(
        &self,
        account: AccountId,
        id: UploadId,
        reading: &Reading,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError>;
    /// Removes an upload that nobody imports. False when there is none, or it is being imported.
    async fn discard(
        &self,
        account: AccountId,
        id: UploadId,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError>;
    /// Of each account that has files to be imported, and none being imported, the next one; of at most `limit` accounts, the one
    /// that has waited longest first. An account of which one is taken waits anew.
    async fn due(&self, limit: i64) -> Result<Vec<(AccountId, UploadId)>, StoreError>;
    /// Takes an upload, for `lease_seconds` of the database's clock. `None` when it is in other hands or not to be imported.
    async fn lease(
        &self,
        account: AccountId,
        id: UploadId,
        lease_seconds: i64,
    ) -> Result<Option<(UploadLease, Upload)>, StoreError>;
    /// Notes how far it is, and holds the lease. False when it is another's by now.
    async fn progress(&self, lease: UploadLease, read_bytes: i64, lease_seconds: i64) -> Result<bool, StoreError>;
    /// Gives it back, to be imported from the beginning.
    async fn release(&self, lease: UploadLease) -> Result<(), StoreError>;
    /// Keeps a piece of the lines that were refused, unless the lease is another's by now.
    async fn add_rejects(&self, lease: UploadLease, number: i64, bytes: Vec<u8>) -> Result<(), StoreError>;
    /// Ends the import. With one that is done the file goes, and the account's jobs are asked for. False when the lease is
    /// another's by now; then nothing is written.
    async fn end(&self, lease: UploadLease, ended: Ended, now: OffsetDateTime) -> Result<bool, StoreError>;
    /// Removes uploads of all accounts that were kept for [`KEPT`], but those being imported, and those that have been
    /// arriving for longer than [`ARRIVES_WITHIN`]; returns how many.
    async fn prune(&self, now: OffsetDateTime) -> Result<u64, StoreError>;
}

text_enum!(
    /// Why a file cannot be shown.
    Unreadable {
        Empty = "empty",
        /// It is compressed, and nothing of it can be unpacked.
        Damaged = "damaged",
        /// A workbook or archive.
        Spreadsheet = "spreadsheet",
        Utf16 = "utf16",
        /// Its first line cannot be cut into columns.
        NoTable = "no_table",
    }
);

/// A field that a file of its kind may have, with the column that it is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    pub field: &'static str,
    pub is_required: bool,
    /// The place of its column, from 0.
    pub column: Option<usize>,
}

/// The beginning of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub fields: Vec<Matched>,
    /// Whether its dates can be read as day/month and as month/day, and nothing tells which.
    pub has_ambiguous_dates: bool,
}

impl Preview {
    /// Required fields that no column was found for.
    pub fn missing(&self) -> impl Iterator<Item = &Matched> {
        self.fields.iter().filter(|field| field.is_required && field.column.is_none())
    }
}

/// Why an import failed.
#[derive(Debug, thiserror::Error)]
pub enum ImportFailure {
    /// The file is not as it must be: trying again does not help.
    #[error("{0}")]
    File(String),
    /// All is stored that was taken, but the lines that were refused could not be kept. Importing it again changes nothing and
    /// gives them again.
    #[error("the refused lines could not be kept: {0}")]
    Rejects(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A file with what is to be done with it.
pub struct Job {
    pub kind: Kind,
    pub reading: Reading,
    pub reader: Box<dyn Read + Send>,
    /// Takes the lines that are refused, as a file of the same form.
    pub rejects: Box<dyn Write + Send>,
}

/// Reads files of shops.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait FileImporter: Send + Sync {
    /// Shows the beginning of a file as it would be read.
    ///
    /// # Errors
    /// Why it is no table.
    fn preview(&self, account: &Account, kind: Kind, reading: &Reading, sample: &[u8]) -> Result<Preview, Unreadable>;
    /// Imports a file: all of it, but what is refused, or nothing.
    ///
    /// # Errors
    /// [`ImportFailure`].
    async fn import(&self, target: Target, account: &Account, job: Job) -> Result<Outcome, ImportFailure>;
}
