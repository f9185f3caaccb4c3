//! How the figures of a metric are shown, told and compared.

use domain::{
    freshness::Dated,
    metrics::{Components, Metric, Sums, Unit},
    periods::{Change, days},
    profit::{Basis, DayRange, Snapshot},
};
use rust_decimal::{Decimal, prelude::ToPrimitive};

use crate::{
    parts::chart::Part,
    text::Writer,
    views::{figures::Moved, rows::Cell},
};

/// What the days of a range add up to.
pub fn sums(snapshots: &[Snapshot], range: DayRange) -> Sums {
    let mut components = Components::default();
    for day in snapshots.iter().filter(|day| (range.first..=range.last).contains(&day.date)) {
        components += day.components;
    }
    Sums { components, ..Sums::default() }
}

/// What the days that are compared with add up to; `None` where the shop's figures do not reach back over all of them: fewer days
/// would be compared than are told.
pub fn sums_before(snapshots: &[Snapshot], range: DayRange) -> Option<Sums> {
    let there = snapshots.iter().filter(|day| (range.first..=range.last).contains(&day.date)).count();
    (i64::try_from(there) == Ok(days(range))).then(|| sums(snapshots, range))
}

/// That nothing is compared, where a comparison was `wanted` and there are figures.
pub fn lacks_comparison(
    writer: &Writer,
    snapshots: &[Snapshot],
    wanted: Option<DayRange>,
    before: Option<&Sums>,
) -> Option<String> {
    let is_missing = wanted.is_some() && before.is_none() && !snapshots.is_empty();
    is_missing.then(|| writer.say("lacks-comparison"))
}

/// What the profit of a range rests on that the shop does not tell, or leaves out: a sentence each.
pub fn lacks(writer: &Writer, profit: &Dated<Vec<Snapshot>>, range: DayRange) -> Vec<String> {
    let (mut basis, mut without_rates) = (Basis::default(), 0_i64);
    for day in profit.found.iter().filter(|day| (range.first..=range.last).contains(&day.date)) {
        basis += day.basis;
        without_rates += i64::from(day.lacks_rates);
    }
    let costs = basis.cogs_coverage_pct().filter(|known| *known < Decimal::ONE_HUNDRED);
    // Rounded down: 99.97 % is not all.
    let percent = |known: Decimal| writer.percent(known.trunc() / Decimal::ONE_HUNDRED, 0);
    let costs = costs.map(|known| writer.message("profit-lacks-costs").text("share", percent(known)).say());
    let rates = (without_rates > 0).then(|| writer.message("profit-lacks-rates").count("days", without_rates).say());
    // Between midnight and the night's jobs, the day that has just ended is as it was when it began.
    let is_before = profit.freshness.last_complete(&writer.zone).is_some_and(|last| last < range.last);
    let computed = profit.freshness.as_of.filter(|_| is_before);
    let later = computed.map(|at| writer.message("profit-lacks-later").text("at", writer.moment(at)).say());
    later.into_iter().chain(costs).chain(rates).collect()
}

/// What of the profit is estimated, and how it can be made exact: a sentence each.
pub fn estimates(writer: &Writer, basis: &Basis) -> Vec<String> {
    let of_orders = |id: &str, orders: i64| (orders > 0).then(|| writer.message(id).count("orders", orders).say());
    let is_told = |id: &str, is_so: bool| is_so.then(|| writer.say(id));
    let came_back = !basis.returned_cogs.is_zero() || !basis.returned_fees.is_zero();
    let found = [
        is_told("estimates-costs", basis.cogs_covered_revenue < basis.goods_revenue),
        of_orders("estimates-fees", basis.fees_estimated_orders),
        of_orders("estimates-shipping", basis.shipping_estimated_orders),
        is_told("estimates-returns", came_back),
        is_told("estimates-none", !basis.is_estimated()),
    ];
    std::iter::once(writer.say("how-estimates")).chain(found.into_iter().flatten()).collect()
}

/// A part of a whole: a bar, and the share in whole percent.
pub fn share(writer: &Writer, share: Decimal) -> Cell {
    Cell::Share { text: writer.percent(share, 0), part: Part::of(share.to_f64().unwrap_or_default()) }
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
pub fn value(writer: &Writer, metric: Metric, value: Decimal) -> String {
    let exact = match metric.unit() {
        Unit::Money => writer.currency.round(value),
        Unit::Share => domain::money::round(value.saturating_mul(Decimal::ONE_HUNDRED), 2),
        Unit::Ratio | Unit::Count => domain::money::round(value, 4),
    };
    exact.normalize().to_string()
}

/// How a figure differs from what it is compared with.
pub fn change(metric: Metric, now: &Sums, before: &Sums) -> Option<Change> {
    let (now, before) = metric.of(now).zip(metric.of(before))?;
    match metric.unit() {
        Unit::Share => Some(Change::Points(now - before)),
        _ => Change::relative(now, before),
    }
}

pub fn moved(writer: &Writer, metric: Metric, change: Change) -> Moved {
    // More spent is no good news by itself.
    judged(writer, change, metric != Metric::AdSpend)
}

/// A change as it is written, to a tenth of a percent: what is rounded to nothing is none.
pub fn written(change: Change) -> Decimal {
    domain::money::round(change.amount(), 3)
}

/// A change, of which more is good news or bad.
pub fn judged(writer: &Writer, change: Change, more_is_good: bool) -> Moved {
    let amount = written(change);
    let is_up = amount > Decimal::ZERO;
    let is_good = is_up == more_is_good;
    let (class, word) = match (amount.is_zero(), is_up, is_good) {
        (true, ..) => ("soft", "unchanged"),
        (_, true, true) => ("up good", "more"),
        (_, true, false) => ("up bad", "more"),
        (_, false, true) => ("down good", "less"),
        (_, false, false) => ("down bad", "less"),
    };
    Moved { class, text: writer.change(change), word: writer.say(word) }
}

/// How a metric is called.
pub fn name(writer: &Writer, metric: Metric) -> String {
    writer.say(&format!("metric-{metric}"))
}

/// The same above a column, where the unit stands.
pub fn column(writer: &Writer, metric: Metric) -> String {
    in_unit(writer, name(writer, metric), metric.unit())
}

pub fn in_unit(writer: &Writer, name: String, unit: Unit) -> String {
    if unit == Unit::Money { format!("{name} ({})", writer.currency) } else { name }
}

/// A figure among others in a table: exact.
pub fn cell(writer: &Writer, unit: Unit, value: Decimal) -> String {
    match unit {
        Unit::Money => writer.exact(value),
        Unit::Share => writer.percent(value, 2),
        Unit::Ratio => writer.number(value, 2),
        Unit::Count => writer.number(value, 0),
    }
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;
    use time::macros::date;

    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn days_before_the_shop_s_first_are_not_compared_with() {
        let day =
            |date| Snapshot { date, components: Components::default(), basis: Basis::default(), lacks_rates: false };
        let range = DayRange { first: date!(2026 - 11 - 01), last: date!(2026 - 11 - 02) };
        let all = [day(range.last), day(range.first)];
        assert!(sums_before(&all, range).is_some() && sums_before(&all[..1], range).is_none());
        let told = |snapshots: &[Snapshot], wanted, before: Option<&Sums>| {
            lacks_comparison(&writer("en"), snapshots, wanted, before)
        };
        assert!(told(&all, Some(range), None).is_some_and(|said| said.starts_with("No change is shown")));
        assert_eq!(told(&all, Some(range), Some(&Sums::default())), None);
        assert_eq!((told(&all, None, None), told(&[], Some(range), None)), (None, None));
    }

    #[test]
    fn what_is_rounded_to_nothing_is_no_change() {
        let moved = |by| judged(&writer("en"), Change::Relative(by), true);
        let told = |by| format!("{}: {} {}", moved(by).class, moved(by).text, moved(by).word);
        assert_eq!([dec!(0), dec!(-0.0004)].map(told), ["soft: 0.0% no change", "soft: 0.0% no change"]);
        assert_eq!([dec!(0.1), dec!(-0.0006)].map(told), ["up good: 10.0% more", "down bad: 0.1% less"]);
    }
}
