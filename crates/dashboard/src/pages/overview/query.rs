//! What is asked for by the URL: the state of the page, whole.

use actix_web::HttpRequest;
use domain::{
    metrics::Metric,
    periods::{Comparison, Period},
};

use super::METRICS;
use crate::{error::PageError, pages::parameter};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query {
    pub period: Period,
    pub compare: Comparison,
    pub metric: Metric,
}

impl Query {
    const USUAL: Self = Self { period: Period::Month, compare: Comparison::Weekdays, metric: Metric::Profit };

    pub fn of(request: &HttpRequest) -> Result<Self, PageError> {
        Ok(Self {
            period: one(request, "period", Self::USUAL.period)?,
            compare: one(request, "compare", Self::USUAL.compare)?,
            metric: one(request, "metric", Self::USUAL.metric)
                .ok()
                .filter(|metric| METRICS.contains(metric))
                .ok_or(PageError::Invalid("metric"))?,
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
        let query = pairs.into_iter().flatten().collect::<Vec<_>>().join("&");
        if query.is_empty() { "/".to_owned() } else { format!("/?{query}") }
    }
}

fn one<T: std::str::FromStr>(request: &HttpRequest, name: &'static str, usual: T) -> Result<T, PageError> {
    match parameter(request, name) {
        Some(text) => text.parse().map_err(|_| PageError::Invalid(name)),
        None => Ok(usual),
    }
}
