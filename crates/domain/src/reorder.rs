//! What to buy again, and how much.

use async_trait::async_trait;
use rust_decimal::Decimal;
use time::OffsetDateTime;

use crate::{
    AccountId, StoreError,
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
