//! Days on which a metric was not what its history led one to expect.

pub mod drivers;
pub mod wording;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use time::{Date, OffsetDateTime};

pub use self::drivers::{Cause, Driver};
pub use crate::insights::Severity;
use crate::{
    AccountId, AnomalyId, StoreError, StoryId,
    daily::DayTotals,
    freshness::Dated,
    jobs::{Claim, WriteOutcome},
    metric_days::{MetricDay, Observed},
    page::{Page, PageRequest},
    profit::DayRange,
    stories::{StockOut, Story},
    texts::Texts,
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
    pub id: AnomalyId,
    pub kind: Kind,
    pub metric: String,
    /// The days that it spans, in the account's time zone.
    pub span: DayRange,
    /// The day of the span that departed most, which the numbers describe.
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
    /// In English, as it was when it was found; `None` when unknown.
    pub inferred_cause: Option<String>,
    /// Probability, 0 to 1, that the cause is the right one; `None` when there is none.
    pub confidence: Option<f64>,
    pub correlated_metrics: Vec<CorrelatedMetric>,
    /// By level, then the largest share first; where a cause is known it is first of its level. Empty where the metric
    /// cannot be split.
    pub drivers: Vec<Driver>,
    /// What kind of lever the cause is; `None` when it is unknown.
    pub cause: Option<Cause>,
    /// The metric did not return: a lasting change of level, reported once.
    pub is_shift: bool,
    /// The story that it is a part of; `None` where it is not notable.
    pub story_id: Option<StoryId>,
}

impl Anomaly {
    /// The cause in a sentence; one from before drivers were kept is told in English. `None` when unknown.
    pub fn cause_in(&self, texts: &Texts) -> Option<String> {
        match self.cause {
            Some(cause) if cause == Cause::ClosedDay || !self.drivers.is_empty() => {
                Some(wording::cause(cause, self.expected_value, &self.drivers, texts))
            }
            _ => self.inferred_cause.clone(),
        }
    }
}

/// An anomaly, and what else was found on its day.
#[derive(Debug, Clone, PartialEq)]
pub struct OnItsDay {
    pub anomaly: Anomaly,
    /// By id.
    pub others: Vec<Anomaly>,
}

impl OnItsDay {
    /// The finding that names the cause: the anomaly, or the one that was inferred of it. `None` when the cause is unknown.
    pub fn explained(&self) -> Option<&Anomaly> {
        let Self { anomaly, others } = self;
        let is_its_cause = |other: &&Anomaly| {
            (other.kind, &other.metric, other.direction) == (Kind::Correlated, &anomaly.metric, anomaly.direction)
        };
        if anomaly.cause.is_some() { Some(anomaly) } else { others.iter().find(is_its_cause) }
    }

    /// The other metrics that departed on that day.
    pub fn beside(&self) -> impl Iterator<Item = &Anomaly> {
        self.others.iter().filter(|other| other.kind == Kind::Univariate && other.metric != self.anomaly.metric)
    }
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
    ) -> Result<Dated<Page<Anomaly>>, StoreError>;
    /// One, with the others of its day.
    async fn find(&self, account: AccountId, id: AnomalyId) -> Result<Option<Dated<OnItsDay>>, StoreError>;
    /// All that span a day, by id.
    async fn of_day(&self, account: AccountId, day: Date) -> Result<Dated<Vec<Anomaly>>, StoreError>;
}

/// What the job `anomaly_detection` found. Every number is finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub kind: Kind,
    pub metric: String,
    /// The days that the event spans; with kind, metric and direction they tell it from run to run.
    pub span: DayRange,
    /// The day of the span that departed most, which the numbers describe.
    pub day: Date,
    pub observed_value: f64,
    pub expected_value: f64,
    /// Lower and upper bound of what was expected.
    pub expected_interval: Option<(f64, f64)>,
    pub z_score: f64,
    pub direction: Direction,
    pub severity: Severity,
    /// The end of `day`.
    pub detected_at: OffsetDateTime,
    pub inferred_cause: Option<String>,
    pub confidence: Option<f64>,
    pub correlated_metrics: Vec<CorrelatedMetric>,
    /// As in [`Anomaly`].
    pub drivers: Vec<Driver>,
    pub cause: Option<Cause>,
    pub is_shift: bool,
}

/// Whether a deviation of a single metric is worth telling: as an event, and as an insight.
pub fn is_notable(severity: Severity) -> bool {
    severity >= Severity::Medium
}

/// Of the visits of a usual day, those that come to a closed shop nevertheless: at most this part.
const CLOSED_VISITS: i64 = 10;

/// Whether the shop was closed on a day of which orders were expected: it sold nothing, and where visits are measured hardly
/// anybody came. A shop that was visited and sold nothing was open, and has another problem.
pub fn is_closed_day(day: &DayTotals, usual_visitors: i64) -> bool {
    day.orders == 0 && day.gross_revenue.is_zero() && day.visitors <= usual_visitors / CLOSED_VISITS
}

impl Finding {
    /// Whether receivers of events are told of it: of notable deviations, but not of their causes.
    pub fn is_announced(&self) -> bool {
        self.kind == Kind::Univariate && is_notable(self.severity)
    }
}

/// What a run of the job `anomaly_detection` comes to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Detected {
    pub findings: Vec<Finding>,
    /// What the findings are told as; each notable one of a single metric is a member of one.
    pub stories: Vec<Story>,
    pub days: Vec<MetricDay>,
    /// The first day that is known of the shop: nothing is kept of days before it.
    pub begins: Option<Date>,
}

/// Where the job `anomaly_detection` puts its result.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait AnomalyWriter: Send + Sync {
    /// Makes what was detected the account's anomalies and stories of the days `scored` and ends the run at `now`. An event
    /// and a story keep their ids from run to run; older ones stay. Events that are new and whose day is `announced_from` or
    /// later are announced in the same transaction, which also keeps the days, each in the place of what was kept of it.
    async fn replace(
        &self,
        claim: &Claim,
        scored: DayRange,
        announced_from: Date,
        detected: Detected,
        now: OffsetDateTime,
    ) -> Result<WriteOutcome, StoreError>;
    /// When the best sellers of the range had no stock, as far as their stock is known, by SKU and day.
    async fn stock_outs(&self, account: AccountId, range: DayRange) -> Result<Vec<StockOut>, StoreError>;
    /// What is kept of the metrics' days of the range.
    async fn observed(&self, account: AccountId, range: DayRange) -> Result<Observed, StoreError>;
}
