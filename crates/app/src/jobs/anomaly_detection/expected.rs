//! What was expected of every metric on every day.

use std::collections::BTreeSet;

use analytics::detector::{Baseline, DailySeries, HISTORY_DAYS};
use domain::{
    daily::DayTotals,
    metric_days::{Expected, MetricDay, Observed},
    metrics::Metric,
};
use time::Date;

use super::{KEPT_DAYS, Shop, back};

/// Every metric on the scored days, each day as the days before it let one expect; on all days that are to be kept where what is
/// `kept` of the days before the scored ones is not there yet, or not what they are. `known` are the days of the shop, without
/// gaps.
pub(super) fn days(known: &[DayTotals], shop: &Shop, kept: &Observed) -> Vec<MetricDay> {
    let Some(first) = known.first().map(|day| day.day) else { return Vec::new() };
    let earliest = first.max(back(shop.scored.last, KEPT_DAYS - 1));
    let older: Observed = known
        .iter()
        .filter(|day| (earliest..shop.scored.first).contains(&day.day))
        .flat_map(|day| Metric::ALL.iter().map(|metric| ((*metric, day.day), metric.measured(day))))
        .collect();
    let from = if older == *kept { shop.scored.first.max(earliest) } else { earliest };
    let mut found = Vec::new();
    for metric in Metric::ALL.iter().copied() {
        let values: Vec<Option<f64>> = known.iter().map(|day| metric.measured(day)).collect();
        let left_out = shop.left_out(metric);
        let wanted = known.iter().zip(&values).enumerate().filter(|(_, (day, _))| day.day >= from);
        found.extend(wanted.map(|(at, (day, observed))| {
            let is_judged = !shop.holidays.contains(&day.day);
            let expected = if is_judged { expected(known, &values, at, &left_out) } else { None };
            MetricDay { metric, day: day.day, observed: *observed, expected }
        }));
    }
    found
}

/// What the days before that at `at` led to expect of it, those in `left_out` apart.
fn expected(known: &[DayTotals], values: &[Option<f64>], at: usize, left_out: &BTreeSet<Date>) -> Option<Expected> {
    let start = at.saturating_sub(HISTORY_DAYS);
    let (first, day) = (known.get(start)?.day, known.get(at)?.day);
    let baseline = Baseline::fit(DailySeries { first, values: values.get(start..at)? }, left_out).ok()?;
    let (value, interval) = baseline.forecast(day.weekday());
    Some(Expected { value, low: interval.low, high: interval.high })
}
