//! What insights are drawn from: the results of the other jobs, and nothing else.

use async_trait::async_trait;
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use super::{KnownTexts, Severity};
use crate::{
    AccountId, StoreError, accounts::Platform, anomalies::Direction, customers::Segment, daily::DayTotals,
    money::Currency, profit::DayRange,
};

/// The newest anomaly of a metric in one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct AnomalyFact {
    pub metric: String,
    pub day: Date,
    pub observed: f64,
    pub expected: f64,
    pub direction: Direction,
    pub severity: Severity,
    pub is_shift: bool,
    /// In words; none when it is not known.
    pub cause: Option<String>,
}

/// Customers of a segment and what they spent so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentFact {
    pub segment: Segment,
    pub customers: i64,
    pub revenue: Decimal,
}

/// A connected shop that has not been heard of for too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleShop {
    pub provider: Platform,
    pub shop: String,
    pub last_sync_at: OffsetDateTime,
}

/// What the database knows for insights.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stored {
    pub anomalies: Vec<AnomalyFact>,
    /// SKUs without stock that sold in the last 30 days, most sold first.
    pub sold_out: Vec<String>,
    /// SKUs with stock for 7 days at most, the most urgent first.
    pub running_out: Vec<String>,
    /// Pending suggestions to reorder.
    pub reorders: i64,
    pub segments: Vec<SegmentFact>,
    pub stale_shops: Vec<StaleShop>,
}

/// Everything that the rules look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    pub currency: Currency,
    /// The 60 days that end with the last full day, or as many as there are.
    pub days: Vec<DayTotals>,
    pub stored: Stored,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait InsightSource: Send + Sync {
    /// The newest results of the other jobs: anomalies of the days `news`, the rest as it stands; shops are stale as of
    /// `now`.
    async fn stored(&self, account: AccountId, news: DayRange, now: OffsetDateTime) -> Result<Stored, StoreError>;
    /// What has been worded, and what is to be left alone at `now`.
    async fn worded(&self, account: AccountId, now: OffsetDateTime) -> Result<KnownTexts, StoreError>;
}
