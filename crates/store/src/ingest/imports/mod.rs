//! [`ImportStore`]: COPY into tables of the session, then set-based statements in one transaction.

mod ad_spend;
mod catalogue;
mod copy;
mod costs;
mod documents;
mod expenses;
mod gone_orders;
mod levels;
mod merge;
mod not_stocked;
mod numbers;
mod pace;
mod rates;
mod refunds;
mod session;
mod shop_documents;
mod staging;
mod stock;

use async_trait::async_trait;
use diesel::{
    QueryResult,
    sql_types::{BigInt, Bool},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, IntegrationId,
    accounts::Platform,
    imports::{
        AdSource, AdSpendRow, AdSpendSummary, ExpenseRow, FileDocument, FileSummary, ImportError, ImportStore,
        ProductRow, RateRow, RowSummary, Rows, ShopCatalogue, ShopDocument, ShopSource, ShopSummary, StockRow,
        StockSummary, Target,
    },
};

use crate::{
    Connect,
    database::{query::RunQueryDsl, statement::Scalar},
};
use pace::Pace;

statement!(
    Lock(account: i64 => BigInt) -> Scalar<Bool> =
        "SELECT pg_advisory_xact_lock(hashtextextended('import of account', $1)) IS NULL"
);

/// Waits for an import of the account, and keeps others from beginning until the transaction ends.
pub(crate) async fn lock(connection: &mut AsyncPgConnection, account: AccountId) -> QueryResult<()> {
    Lock { account: account.0 }.get_result(connection).await.map(|_: bool| ())
}

/// Takes data in bulk. Every import has a connection of its own, beside the pool of the requests.
///
/// It pauses after each statement, so that others who share the database hardly notice: a service that imports for one of
/// its tenants takes it as [`Importer::new`] makes it. [`Importer::with_nice_ratio`] is for other pauses, or none.
#[derive(Debug, Clone)]
pub struct Importer {
    connect: Connect,
    pace: Pace,
}

impl Importer {
    /// How long an import pauses for each unit of time that a statement took, unless it is told otherwise. With it the p99
    /// of other tenants' requests stays below twice that of idle where Postgres shares two processors with the service (row
    /// `faults tenant` of docs/benchmarks.md); 9 misses that by a little, and without pauses it is about six times that of
    /// idle.
    pub const NICE_RATIO: u32 = 29;

    /// An importer that pauses by [`Importer::NICE_RATIO`].
    pub fn new(connect: Connect) -> Self {
        Self { connect, pace: Pace::new(Self::NICE_RATIO) }
    }

    /// Pauses after each statement, `nice_ratio` times as long as it took. The name is
    /// [gh-ost's](https://github.com/github/gh-ost). 0, no pauses, is for a database that serves nobody else: a first fill,
    /// maintenance, tests.
    ///
    /// Rows that are written are locked until the end, pauses included.
    pub fn with_nice_ratio(self, nice_ratio: u32) -> Self {
        Self { pace: Pace::new(nice_ratio), ..self }
    }
}

#[async_trait]
impl ImportStore for Importer {
    async fn documents(
        &self,
        target: Target,
        source: Platform,
        documents: Rows<FileDocument>,
    ) -> Result<FileSummary, ImportError> {
        documents::import(self, target, source, documents).await
    }

    async fn shop_documents(
        &self,
        target: Target,
        source: ShopSource,
        documents: Rows<ShopDocument>,
    ) -> Result<ShopSummary, ImportError> {
        shop_documents::import(self, target, source, documents).await
    }

    async fn products(&self, target: Target, rows: Rows<ProductRow>) -> Result<RowSummary, ImportError> {
        catalogue::import(self, target, None, rows).await
    }

    async fn shop_products(
        &self,
        target: Target,
        connection: IntegrationId,
        rows: Rows<ProductRow>,
    ) -> Result<RowSummary, ImportError> {
        catalogue::import(self, target, Some(connection), rows).await
    }

    async fn not_stocked(
        &self,
        target: Target,
        connection: IntegrationId,
        catalogue: ShopCatalogue,
    ) -> Result<i64, ImportError> {
        not_stocked::import(self, target, connection, catalogue).await
    }

    async fn stock(&self, target: Target, rows: Rows<StockRow>) -> Result<StockSummary, ImportError> {
        stock::import(self, target, rows).await
    }

    async fn ad_spend(
        &self,
        target: Target,
        source: AdSource,
        rows: Rows<AdSpendRow>,
    ) -> Result<AdSpendSummary, ImportError> {
        ad_spend::import(self, target, source, rows).await
    }

    async fn rates(&self, target: Target, rows: Rows<RateRow>) -> Result<RowSummary, ImportError> {
        rates::import(self, target, rows).await
    }

    async fn expenses(&self, target: Target, rows: Rows<ExpenseRow>) -> Result<RowSummary, ImportError> {
        expenses::import(self, target, rows).await
    }
}

/// A count of rows as the summaries have it.
fn count(rows: u64) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_leaves_the_database_to_others_unless_it_is_told_that_there_are_none() {
        let importer = Importer::new(Connect::parse("postgres://shop@localhost/shop").unwrap());
        assert_eq!(importer.pace, Pace::new(29));
        assert_eq!(importer.with_nice_ratio(0).pace, Pace::new(0));
    }
}
