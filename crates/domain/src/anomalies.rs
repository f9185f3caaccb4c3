//! Days on which a metric was not what its history led one to expect.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use time::{Date, OffsetDateTime};

pub use crate::insights::Severity;
use crate::{
    AccountId, StoreError,
    page::{Page, PageRequest},
};

text_enum!(
    /// Which way the metric went.
    Direction { Down = "down", Up = "up" }
);

text_enum!(
    /// One metric against its own history, or the inferred cause of such a deviation across metrics.
    Kind { Univariate = "univariate", Correlated = "correlated" }
);

/// A metric that moved with the anomaly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorrelatedMetric {
    pub metric: String,
    /// Modified z-score (Iglewicz and Hoaglin 1993) of the metric on that day.
    pub modz: f64,
    pub direction: Direction,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Anomaly {
    pub id: i64,
    pub kind: Kind,
    pub metric: String,
    /// The day that was scored, in the account's time zone.
    pub day: Date,
    pub observed_value: f64,
    pub expected_value: f64,
    /// Lower and upper bound of what was expected.
    pub expected_interval: Option<(f64, f64)>,
    pub z_score: f64,
    pub direction: Direction,
    pub severity: Severity,
    /// The end of the scored day: the first moment at which it could be judged.
    pub detected_at: OffsetDateTime,
    /// In words; none when unknown.
    pub inferred_cause: Option<String>,
    /// Probability, 0 to 1, that the cause is the right one; none when there is none.
    pub confidence: Option<f64>,
    pub correlated_metrics: Vec<CorrelatedMetric>,
    /// The metric did not return: a lasting change of level, reported once.
    pub is_shift: bool,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait AnomalyStore: Send + Sync {
    /// Those detected since `since`, newest first (detected_at, then id, descending).
    async fn page(
        &self,
        account: AccountId,
        severity: Option<Severity>,
        since: OffsetDateTime,
        page: PageRequest,
    ) -> Result<Page<Anomaly>, StoreError>;
}
