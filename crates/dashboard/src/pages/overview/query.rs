//! What is asked for by the URL: the state of the page, whole.

use actix_web::HttpRequest;
use domain::{
    metrics::Metric,
    periods::{Comparison, Period},
};

use super::METRICS;
use crate::{error::PageError, pages::query};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query {
    pub period: Period,
    pub compare: Comparison,
    pub metric: Metric,
}

impl Query {
    const USUAL: Self = Self { period: Period::Month, compare: Comparison::Weekdays, metric: Metric::Profit };

    pub fn of(request: &HttpRequest) -> Result<Self, PageError> {
        let metric = query::one(request, "metric")?.unwrap_or(Self::USUAL.metric);
        if !METRICS.contains(&metric) {
            return Err(PageError::Invalid("metric"));
        }
        Ok(Self {
            period: query::one(request, "period")?.unwrap_or(Self::USUAL.period),
            compare: query::one(request, "compare")?.unwrap_or(Self::USUAL.compare),
            metric,
        })
    }

    /// The address of the page in this state; what is as usual is left out.
    pub fn address(self) -> String {
        let Self { period, compare, metric } = self;
        let pairs = [
            (period != Self::USUAL.period).then(|| format!("period={period}")),
            (compare != Self::USUAL.compare).then(|| format!("compare={compare}")),
            (metric != Self::USUAL.metric).then(|| format!("metric={metric}")),
        ];
        query::address("/", pairs)
    }
}
