//! [`ImportStore`]: COPY into tables of the session, then set-based statements in one transaction.

mod ad_spend;
mod catalogue;
mod copy;
mod costs;
mod documents;
mod expenses;
mod levels;
mod merge;
mod pace;
mod session;
mod shop_documents;
mod staging;
mod stock;

use async_trait::async_trait;
use domain::{
    accounts::Platform,
    imports::{
        AdSpendRow, DocumentPart, DocumentSummary, ExpenseRow, ImportError, ImportStore, ProductRow, RowSummary, Rows,
        ShopDocument, ShopSummary, StockRow, StockSummary, Target,
    },
};

use crate::Connect;
use pace::Pace;

/// Takes data in bulk. Every import has a connection of its own, beside the pool of the requests.
#[derive(Debug, Clone)]
pub struct Importer {
    connect: Connect,
    pace: Pace,
}

impl Importer {
    pub fn new(connect: Connect) -> Self {
        Self { connect, pace: Pace::default() }
    }

    /// Pauses after each statement, `nice_ratio` times as long as it took, so that a database that serves others at the
    /// same time is left to them most of the time. The name is [gh-ost's](https://github.com/github/gh-ost).
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
        parts: Rows<DocumentPart>,
    ) -> Result<DocumentSummary, ImportError> {
        documents::import(self, target, source, parts).await
    }

    async fn shop_documents(
        &self,
        target: Target,
        source: Platform,
        documents: Rows<ShopDocument>,
    ) -> Result<ShopSummary, ImportError> {
        shop_documents::import(self, target, source, documents).await
    }

    async fn products(&self, target: Target, rows: Rows<ProductRow>) -> Result<RowSummary, ImportError> {
        catalogue::import(self, target, rows).await
    }

    async fn stock(&self, target: Target, rows: Rows<StockRow>) -> Result<StockSummary, ImportError> {
        stock::import(self, target, rows).await
    }

    async fn ad_spend(&self, target: Target, rows: Rows<AdSpendRow>) -> Result<RowSummary, ImportError> {
        ad_spend::import(self, target, rows).await
    }

    async fn expenses(&self, target: Target, rows: Rows<ExpenseRow>) -> Result<RowSummary, ImportError> {
        expenses::import(self, target, rows).await
    }
}

/// A count of rows as the summaries have it.
fn count(rows: u64) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
