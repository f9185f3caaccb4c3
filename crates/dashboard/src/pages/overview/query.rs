//! What is asked for by the URL: the state of the page, whole.

use actix_web::HttpRequest;
use domain::{metrics::Metric, periods::Comparison};
use time::Date;

use super::METRICS;
use crate::{
    error::PageError,
    pages::{query, window::Window},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query {
    pub window: Window,
    pub compare: Comparison,
    pub metric: Metric,
}

impl Query {
    const USUAL: Self = Self { window: Window::USUAL, compare: Comparison::Weekdays, metric: Metric::Profit };

    pub fn of(request: &HttpRequest, today: Date) -> Result<Self, PageError> {
        let metric = query::one(request, "metric")?.unwrap_or(Self::USUAL.metric);
        if !METRICS.contains(&metric) {
            return Err(PageError::Invalid("metric"));
        }
        Ok(Self {
            window: Window::of(request, today)?,
            compare: query::one(request, "compare")?.unwrap_or(Self::USUAL.compare),
            metric,
        })
    }

    /// The address of the page in this state; what is as usual is left out.
    pub fn address(self) -> String {
        let Self { window, compare, metric } = self;
        let [period, until] = window.pairs();
        let pairs = [
            period,
            until,
            (compare != Self::USUAL.compare).then(|| format!("compare={compare}")),
            (metric != Self::USUAL.metric).then(|| format!("metric={metric}")),
        ];
        query::address("/", pairs)
    }
}
