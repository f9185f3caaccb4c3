//! [`ImportStore`]: COPY into tables of the session, then set-based statements in one transaction.

mod ad_spend;
mod catalogue;
mod copy;
mod costs;
mod documents;
mod expenses;
mod levels;
mod merge;
mod session;
mod staging;
mod stock;

use async_trait::async_trait;
use domain::{
    accounts::Platform,
    imports::{
        AdSpendRow, DocumentPart, DocumentSummary, ExpenseRow, ImportError, ImportStore, ProductRow, RowSummary, Rows,
        StockRow, StockSummary, Target,
    },
};

use crate::Connect;

/// Takes data in bulk. Every import has a connection of its own, beside the pool of the requests.
#[derive(Debug, Clone)]
pub struct Importer {
    connect: Connect,
}

impl Importer {
    pub fn new(connect: Connect) -> Self {
        Self { connect }
    }
}

#[async_trait]
impl ImportStore for Importer {
    async fn documents(
        &self,
        target: Target,
        source: Platform,
        parts: Rows<DocumentPart>,
    ) -> Result<DocumentSummary, ImportError> {
        documents::import(&self.connect, target, source, parts).await
    }

    async fn products(&self, target: Target, rows: Rows<ProductRow>) -> Result<RowSummary, ImportError> {
        catalogue::import(&self.connect, target, rows).await
    }

    async fn stock(&self, target: Target, rows: Rows<StockRow>) -> Result<StockSummary, ImportError> {
        stock::import(&self.connect, target, rows).await
    }

    async fn ad_spend(&self, target: Target, rows: Rows<AdSpendRow>) -> Result<RowSummary, ImportError> {
        ad_spend::import(&self.connect, target, rows).await
    }

    async fn expenses(&self, target: Target, rows: Rows<ExpenseRow>) -> Result<RowSummary, ImportError> {
        expenses::import(&self.connect, target, rows).await
    }
}

/// A count of rows as the summaries have it.
fn count(rows: u64) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
