//! What to buy again, and how much.

mod reason;

pub use reason::Reason;

use async_trait::async_trait;
use rust_decimal::Decimal;
use time::OffsetDateTime;

use crate::{
    AccountId, StoreError,
    jobs::{Claim, Written},
    page::{Page, PageRequest},
};

text_enum!(
    /// Where a suggestion stands.
    Status { Pending = "pending", Ordered = "ordered", Dismissed = "dismissed" }
);

#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    pub id: i64,
    pub inventory_item_id: i64,
    pub sku: String,
    pub qty_suggested: i64,
    /// In words, with the numbers used.
    pub reason: String,
    /// 0 to 1.
    pub confidence: Decimal,
    pub forecast_days: i64,
    pub computed_at: OffsetDateTime,
    pub status: Status,
}

/// A page of suggestions and when the job that computed them last ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    pub page: Page<Suggestion>,
    pub generated_at: Option<OffsetDateTime>,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ReorderStore: Send + Sync {
    /// Newest first (id descending).
    async fn list(&self, account: AccountId, status: Option<Status>, page: PageRequest) -> Result<Listing, StoreError>;
}

/// What the job `smart_reorder` suggests for a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub product_id: i64,
    /// Above 0.
    pub qty_suggested: i64,
    pub reason: String,
    /// 0 to 1 with at most 4 decimals.
    pub confidence: Decimal,
    /// Above 0.
    pub forecast_days: i64,
    /// Days for which a decision on an earlier suggestion for the product stands: what was ordered has not arrived, and
    /// what was declined is not brought up again at once.
    pub decision_stands_days: i64,
}

/// Where the job `smart_reorder` puts its result.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ReorderWriter: Send + Sync {
    /// Makes `drafts` the account's pending suggestions and ends the run at `now`. A pending suggestion keeps its id while
    /// its item has one; suggestions that were ordered or dismissed stay as they are, and while such a decision stands
    /// there is no pending one for the item.
    async fn replace(&self, claim: &Claim, drafts: Vec<Draft>, now: OffsetDateTime) -> Result<Written, StoreError>;
}
