//! What each day of a metric was, beside what had been expected of it.

use std::collections::BTreeMap;

use async_trait::async_trait;
use time::Date;

use crate::{
    AccountId, AnomalyId, StoreError, anomalies::Direction, freshness::Dated, metrics::Metric, profit::DayRange,
};

/// Days that are known before one is judged by them.
pub const NEEDED_DAYS: usize = 14;

/// Days that are kept with what was expected of them, today left out: as many as a client can ask for.
pub const KEPT_DAYS: i64 = 365;

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

/// An anomaly of a single metric, as far as it tells which days are its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnomalyDays {
    pub id: AnomalyId,
    pub span: DayRange,
    /// The day of the span that departed most.
    pub peak: Date,
    pub direction: Direction,
}

impl AnomalyDays {
    /// Whether a day is one of its span that left the expected interval to the same side.
    fn have(&self, day: Date, observed: Option<f64>, expected: Option<Expected>) -> bool {
        let departed =
            observed.zip(expected).is_some_and(|(observed, Expected { low, high, .. })| match self.direction {
                Direction::Down => observed < low,
                Direction::Up => observed > high,
            });
        departed && (self.span.first..=self.span.last).contains(&day)
    }
}

/// The same with the anomaly of the metric that the day is a part of, if it is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedDay {
    pub day: Date,
    pub observed: Option<f64>,
    pub expected: Option<Expected>,
    pub anomaly: Option<AnomalyId>,
}

impl JudgedDay {
    /// A day, and which of the metric's anomalies it is a part of: of several, the one whose peak it is.
    pub fn new(day: Date, observed: Option<f64>, expected: Option<Expected>, anomalies: &[AnomalyDays]) -> Self {
        let peak = anomalies.iter().find(|anomaly| anomaly.peak == day);
        let anomaly = peak.or_else(|| anomalies.iter().find(|anomaly| anomaly.have(day, observed, expected)));
        Self { day, observed, expected, anomaly: anomaly.map(|anomaly| anomaly.id) }
    }
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

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;

    #[test]
    fn a_day_is_a_part_of_the_anomaly_that_spans_it_if_it_departed_the_same_way() {
        let span = DayRange { first: date!(2026 - 05 - 01), last: date!(2026 - 05 - 04) };
        let down = AnomalyDays { id: AnomalyId(7), span, peak: date!(2026 - 05 - 03), direction: Direction::Down };
        let up = AnomalyDays { id: AnomalyId(8), span, peak: date!(2026 - 05 - 02), direction: Direction::Up };
        let expected = Some(Expected { value: 50.0, low: 40.0, high: 60.0 });
        let of = |day, observed| JudgedDay::new(day, observed, expected, &[down, up]).anomaly.map(|id| id.0);
        assert_eq!(of(date!(2026 - 05 - 01), Some(39.0)), Some(7));
        assert_eq!(of(date!(2026 - 05 - 01), Some(40.0)), None, "the bounds are expected");
        assert_eq!(of(date!(2026 - 05 - 02), Some(39.0)), Some(8), "a peak has an anomaly of its own");
        assert_eq!(of(date!(2026 - 05 - 03), None), Some(7), "a peak is one whatever is known of it today");
        assert_eq!(of(date!(2026 - 05 - 04), Some(61.0)), Some(8));
        assert_eq!(of(date!(2026 - 05 - 04), None), None);
        assert_eq!(of(date!(2026 - 05 - 05), Some(39.0)), None);
        assert_eq!(JudgedDay::new(date!(2026 - 05 - 01), Some(1.0), None, &[down]).anomaly, None);
    }
}
