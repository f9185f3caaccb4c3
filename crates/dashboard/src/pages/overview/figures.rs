//! The figures of a window beside those that it is compared with.

use domain::{
    metrics::{Components, Metric, Sums, Unit},
    periods::Change,
    profit::{DayRange, Snapshot},
};
use rust_decimal::Decimal;

use super::{METRICS, Query};
use crate::{
    text::Writer,
    views::overview::{Figure, Moved},
};

/// What the days of a range add up to.
pub fn sums(snapshots: &[Snapshot], range: DayRange) -> Sums {
    let mut components = Components::default();
    for day in snapshots.iter().filter(|day| (range.first..=range.last).contains(&day.date)) {
        components += day.components;
    }
    Sums { components, ..Sums::default() }
}

/// A figure as it is shown by itself: cents only where they decide.
pub fn shown(writer: &Writer, metric: Metric, value: Decimal) -> String {
    match (metric.unit(), metric) {
        (Unit::Share, _) => writer.percent(value, 1),
        (Unit::Money, Metric::Aov) => writer.exact(value),
        (Unit::Money, _) => writer.whole(value),
        (Unit::Ratio, _) => writer.number(value, 2),
        (Unit::Count, _) => writer.number(value, 0),
    }
}

/// The same with its unit, for a sentence.
pub fn told(writer: &Writer, metric: Metric, value: Decimal) -> String {
    let figure = shown(writer, metric, value);
    match metric.unit() {
        Unit::Money => writer.message("money").text("number", figure).text("currency", writer.currency).say(),
        _ => figure,
    }
}

/// The number as the API gives it.
fn value(writer: &Writer, metric: Metric, value: Decimal) -> String {
    let exact = match metric.unit() {
        Unit::Money => writer.currency.round(value),
        Unit::Share => domain::money::round(value * Decimal::ONE_HUNDRED, 2),
        Unit::Ratio | Unit::Count => domain::money::round(value, 4),
    };
    exact.normalize().to_string()
}

pub fn change(metric: Metric, now: &Sums, before: &Sums) -> Option<Change> {
    let (now, before) = metric.of(now).zip(metric.of(before))?;
    match metric.unit() {
        Unit::Share => Some(Change::Points(now - before)),
        _ => Change::relative(now, before),
    }
}

fn moved(writer: &Writer, metric: Metric, change: Change) -> Moved {
    let amount = change.amount();
    let is_up = amount > Decimal::ZERO;
    // More spent is no good news by itself.
    let is_good = is_up != (metric == Metric::AdSpend);
    let class = match (amount.is_zero(), is_up, is_good) {
        (true, ..) => "soft",
        (_, true, true) => "up good",
        (_, true, false) => "up bad",
        (_, false, true) => "down good",
        (_, false, false) => "down bad",
    };
    Moved { class, text: writer.change(change), word: writer.say(if is_up { "more" } else { "less" }) }
}

/// The figures that can be chosen.
pub fn all(writer: &Writer, query: Query, now: &Sums, before: Option<&Sums>) -> Vec<Figure> {
    let figure = |metric: &Metric| {
        let metric = *metric;
        let current = metric.of(now);
        let old = before.and_then(|before| metric.of(before));
        Figure {
            address: Query { metric, ..query }.address(),
            name: writer.say(&format!("metric-{metric}")),
            text: current.map_or_else(|| "–".to_owned(), |current| shown(writer, metric, current)),
            value: current.map(|current| value(writer, metric, current)),
            change: before.and_then(|before| change(metric, now, before)).map(|change| moved(writer, metric, change)),
            before: old.map(|old| writer.message("from-before").text("before", shown(writer, metric, old)).say()),
            is_chosen: metric == query.metric,
        }
    };
    METRICS.iter().map(figure).collect()
}

#[cfg(test)]
mod tests {
    use domain::periods::{Comparison, Period};
    use rust_decimal::dec;

    use super::*;
    use crate::text::tests::writer;

    fn of(revenue: Decimal, ads: Decimal, orders: i64) -> Sums {
        let components =
            Components { gross_revenue: revenue, ad_spend: ads, purchase_count: orders, ..Components::default() };
        Sums { components, ..Sums::default() }
    }

    #[test]
    fn direction_and_judgement_are_two_things() {
        let query = Query { period: Period::Month, compare: Comparison::Before, metric: Metric::Profit };
        let (now, before) = (of(dec!(1100), dec!(120), 10), of(dec!(1000), dec!(100), 0));
        let figures = all(&writer("en"), query, &now, Some(&before));
        let class = |index: usize| figures[index].change.as_ref().map(|change| (change.class, change.text.as_str()));
        // Profit, net revenue, orders, average order, margin, ad spend.
        assert_eq!(class(1), Some(("up good", "10.0%")));
        assert_eq!(class(5), Some(("up bad", "20.0%")));
        // From nothing, a change says nothing.
        assert_eq!(class(2), None);
        assert_eq!(class(4), Some(("down bad", "0.9 points")));
        assert_eq!((figures[3].text.as_str(), figures[3].value.as_deref()), ("110.00", Some("110")));
    }

    #[test]
    fn what_has_no_value_is_a_dash() {
        let query = Query { period: Period::Month, compare: Comparison::Nothing, metric: Metric::Profit };
        let figures = all(&writer("en"), query, &of(dec!(0), dec!(0), 0), None);
        assert_eq!((figures[3].text.as_str(), figures[3].value.as_deref()), ("–", None));
    }
}
