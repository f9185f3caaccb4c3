//! What each day of a metric was, beside what had been expected of it.

use std::collections::BTreeMap;

use async_trait::async_trait;
use time::Date;

use crate::{AccountId, AnomalyId, StoreError, freshness::Dated, metrics::Metric, profit::DayRange};

/// What the days before led to expect of a day: the value, and the range that about 95 % of ordinary days fall into.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// A metric on a day. Every number is finite and in the metric's [`unit`](Metric::unit).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricDay {
    pub metric: Metric,
    pub day: Date,
    /// `None` where the day does not tell it: a ratio without a denominator.
    pub observed: Option<f64>,
    /// `None` on a holiday, and where too little was known before.
    pub expected: Option<Expected>,
}

/// What metrics were on days, without what was expected.
pub type Observed = BTreeMap<(Metric, Date), Option<f64>>;

/// The same with the anomaly of the metric on that day, if it is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedDay {
    pub day: Date,
    pub observed: Option<f64>,
    pub expected: Option<Expected>,
    pub anomaly: Option<AnomalyId>,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait MetricDayStore: Send + Sync {
    /// The days of the range that the job `anomaly_detection` has looked at, newest first.
    async fn range(
        &self,
        account: AccountId,
        metric: Metric,
        range: DayRange,
    ) -> Result<Dated<Vec<JudgedDay>>, StoreError>;
}
