//! Reads CSV files row by row and passes what is valid to the [`ImportStore`]. A bad line is refused with its number
//! and the reason; the rest goes in. Memory stays flat whatever the file.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

#[cfg(test)]
mod collect;
mod columns;
mod countries;
mod dates;
mod fields;
mod files;
mod groups;
mod numbers;
mod orders;
mod others;
mod pipeline;
mod plain;
mod reason;
mod records;
mod rejects;
mod sample;
mod table;

use std::{collections::BTreeMap, io};

use domain::{
    StoreError,
    accounts::{Account, Platform},
    imports::{
        AdSource, AdSpendSummary, DocumentSummary, FileSummary, ImportError, ImportStore, RowSummary, StockRow,
        StockSummary, SyncedRow, Target,
    },
    money::Currency,
    zone::Zone,
};
use time::Date;

pub use domain::imports::DateOrder;
pub use files::Files;
use pipeline::run;
pub use plain::plain;
pub use reason::{Audience, Reason};
pub use rejects::Form;
use rejects::Refused;

/// How a file is to be read.
#[derive(Debug, Clone)]
pub struct FileOptions {
    /// Field → column, where the header's names do not tell.
    pub map: BTreeMap<String, String>,
    /// Found in the first line when not given.
    pub delimiter: Option<u8>,
    /// Found in the first rows when not given.
    pub date_order: Option<DateOrder>,
    /// Whether the comma separates decimals. Without it, the first rows may still show that it does.
    pub decimal_comma: bool,
    /// Read bytes that are no UTF-8 as Windows-1252, of which ISO 8859-1 is a part, instead of refusing their line.
    pub latin1: bool,
    /// The clock that dates without an offset were written by.
    pub zone: Zone,
    /// The account's, which cuts its days.
    pub account_zone: Zone,
    /// The account's: it has no rate, and amounts are supposed to have no more decimals than it has.
    pub currency: Currency,
    /// Who reads why lines are refused.
    pub audience: Audience,
}

/// What order lines mean.
#[derive(Debug, Clone)]
pub struct OrderOptions {
    pub source: Platform,
    /// What the number of a cancellation begins with. Without it, lines of negative quantity are refunds.
    pub cancellation_prefix: Option<String>,
    /// SKUs that are no product, in any case of letters.
    pub non_products: Vec<String>,
    /// The currency that lines must have.
    pub currency: Currency,
}

/// A line that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    pub line: u64,
    pub reason: String,
    /// The line as it came, without its line break; `None` when it is longer than a record may be.
    pub record: Option<Vec<u8>>,
}

/// Takes the refused lines, with the form of the file that they stand in. An error ends the import.
pub type Rejects = Box<dyn FnMut(&Form, Reject) -> io::Result<()> + Send>;

/// The lines that were read, by outcome.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Report<S> {
    pub read: Counts,
    pub result: S,
}

/// The outcomes of the lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Counts {
    /// Records, the header not counted.
    pub lines: u64,
    pub accepted: u64,
    pub rejected: u64,
    /// Sound lines that say nothing to import, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    pub ignored_columns: Vec<String>,
}

/// Why an import failed. Nothing of it was stored, unless the failure says so.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The file is not as it must be.
    #[error("{0}")]
    File(Reason),
    /// The options are not as they must be.
    #[error("{0}")]
    Usage(String),
    /// The file was packed, and cannot be unpacked to its end.
    #[error("{0}")]
    Damaged(String),
    /// The file could not be read, or the rejects not be written.
    #[error("{0}")]
    Io(String),
    /// All is stored that was taken, but the last of the refused lines could not be written.
    #[error("the other lines went in, but {0}")]
    Rejects(String),
    #[error("there is no such account")]
    UnknownAccount,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Source(broken) => Self::Io(broken.0),
            ImportError::UnknownAccount => Self::UnknownAccount,
            ImportError::Store(error) => Self::Store(error),
        }
    }
}

/// Imports order lines: orders, refunds, customers and products come out of them. An order of which a line is refused is
/// refused as a whole.
pub async fn import_orders(
    store: &dyn ImportStore,
    target: Target,
    file: FileOptions,
    orders: OrderOptions,
    reader: impl io::Read + Send + 'static,
    rejects: Rejects,
) -> Result<Report<DocumentSummary>, Failure> {
    let source = orders.source;
    let rows = orders::OrderLines::new(&file, orders, target.now);
    let (report, mut refused) =
        run(reader, file, rows, rejects, |documents| store.documents(target, source, documents)).await?;
    let (FileSummary { documents, refused: orders }, mut read) = (report.result, report.read);
    for (order_id, lines) in orders {
        let Some(group) = refused.groups.get(&order_id).copied() else { continue };
        let elsewhere = lines - group.others;
        if elsewhere > 0 {
            let reason = Reason::new("refused-above-it").with("count", elsewhere).with("order", &order_id);
            add_refused(&mut refused, group.line, &reason, None)?;
            read.refuse(elsewhere);
        }
    }
    Ok(Report { read, result: documents })
}

/// Imports a catalogue. Costs hold from `cost_from` on where a row does not say its own date.
pub async fn import_products(
    store: &dyn ImportStore,
    target: Target,
    file: FileOptions,
    cost_from: Date,
    reader: impl io::Read + Send + 'static,
    rejects: Rejects,
) -> Result<Report<RowSummary>, Failure> {
    let rows = others::Products::new(&file, cost_from);
    run(reader, file, rows, rejects, |rows| store.products(target, rows)).await.map(|(report, _)| report)
}

/// Imports stock levels, of `counted_on` where a row does not say its own date. Rows of unknown SKUs are refused.
pub async fn import_stock(
    store: &dyn ImportStore,
    target: Target,
    file: FileOptions,
    counted_on: Date,
    reader: impl io::Read + Send + 'static,
    rejects: Rejects,
) -> Result<Report<RowSummary>, Failure> {
    let rows = others::Stock::new(&file, counted_on, target.now);
    let (report, mut refused) = run(reader, file, rows, rejects, |rows| store.stock(target, rows)).await?;
    let (StockSummary { rows, unknown, unknown_count }, mut read) = (report.result, report.read);
    for StockRow { line, record, .. } in unknown {
        add_refused(&mut refused, line, &Reason::new("refused-unknown-sku"), Some(record))?;
    }
    read.refuse(unknown_count);
    Ok(Report { read, result: rows })
}

/// Imports ad spend. Rows of a platform's days which the platform itself told of are refused.
pub async fn import_ad_spend(
    store: &dyn ImportStore,
    target: Target,
    file: FileOptions,
    reader: impl io::Read + Send + 'static,
    rejects: Rejects,
) -> Result<Report<RowSummary>, Failure> {
    let rows = others::AdSpend::new(&file, target.now);
    let (report, mut refused) =
        run(reader, file, rows, rejects, |rows| store.ad_spend(target, AdSource::File, rows)).await?;
    let (AdSpendSummary { rows, synced, synced_count }, mut read) = (report.result, report.read);
    for SyncedRow { line, platform, day, record } in synced {
        let reason = Reason::new("refused-synced").with("name", platform).with("date", day);
        add_refused(&mut refused, line, &reason, Some(record))?;
    }
    read.refuse(synced_count);
    Ok(Report { read, result: rows })
}

/// Imports rates of exchange.
pub async fn import_rates(
    store: &dyn ImportStore,
    target: Target,
    file: FileOptions,
    reader: impl io::Read + Send + 'static,
    rejects: Rejects,
) -> Result<Report<RowSummary>, Failure> {
    let rows = others::Rates::new(&file);
    run(reader, file, rows, rejects, |rows| store.rates(target, rows)).await.map(|(report, _)| report)
}

/// Adds a line that the store refused, when the others are in.
fn add_refused(refused: &mut Refused, line: u64, reason: &Reason, record: Option<Vec<u8>>) -> Result<(), Failure> {
    let written = refused.add(line, reason, record);
    written.map_err(|failure| Failure::Rejects(failure.to_string()))
}

impl Counts {
    /// Counts lines as refused that were taken for accepted.
    fn refuse(&mut self, lines: i64) {
        let lines = u64::try_from(lines).unwrap_or_default();
        self.rejected += lines;
        self.accepted = self.accepted.saturating_sub(lines);
    }
}

/// Imports extra expenses.
pub async fn import_expenses(
    store: &dyn ImportStore,
    target: Target,
    file: FileOptions,
    reader: impl io::Read + Send + 'static,
    rejects: Rejects,
) -> Result<Report<RowSummary>, Failure> {
    let rows = others::Expenses::new(&file);
    run(reader, file, rows, rejects, |rows| store.expenses(target, rows)).await.map(|(report, _)| report)
}

/// The options that an account implies: its own clock, and everything else found in the file.
impl FileOptions {
    pub fn of(account: &Account) -> Self {
        Self {
            map: BTreeMap::new(),
            delimiter: None,
            date_order: None,
            decimal_comma: false,
            latin1: false,
            zone: account.timezone.clone(),
            account_zone: account.timezone.clone(),
            currency: account.currency,
            audience: Audience::Page(account.locale),
        }
    }
}
