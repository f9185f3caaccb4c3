//! Why a metric departed: from the metrics it is made of, and the parts of the shop.

use std::collections::{BTreeMap, BTreeSet};

use analytics::drivers::{self, Contribution, Explanation, Facts, Lever, Part, explain};
use domain::{
    anomalies::{Cause, CorrelatedMetric, Direction, Driver, Finding, Kind, drivers::OTHER, wording},
    daily::{DayTotals, Dimension, PartTotals},
    metrics::Metric,
    texts::{Locale, Texts},
};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use time::Date;

use super::{super::demand::number, Shop};

/// Parts of a dimension that are looked at one by one, the largest; the others count as one.
const LARGEST_PARTS: usize = 12;
/// |modified z| from which a metric counts as having moved along.
const MOVED_ALONG: f64 = 2.0;
/// Metrics that are named as having moved along, at most.
const MOST_CORRELATED: usize = 8;

/// The finding with its drivers, and its cause if the facts name one.
pub(super) fn explained(metric: Metric, finding: Finding, shop: &Shop, parts: &[PartTotals]) -> [Option<Finding>; 2] {
    let facts = facts(finding.day, shop, parts);
    let Ok(explanation) = explain(&facts, name_in_tree(metric), Some(finding.expected_value)) else {
        return [Some(finding), None];
    };
    let finding = Finding { drivers: drivers_of(&explanation), ..finding };
    let cause = explanation.cause().and_then(|found| {
        let cause = lever(found)?;
        Some(Finding {
            kind: Kind::Correlated,
            inferred_cause: Some(wording::cause(
                cause,
                finding.expected_value,
                &finding.drivers,
                &Texts::of(Locale::ENGLISH),
            )),
            confidence: Some(found.confidence.clamp(0.0, 1.0)),
            correlated_metrics: correlated(&explanation),
            cause: Some(cause),
            ..finding.clone()
        })
    });
    [Some(finding), cause]
}

fn drivers_of(explanation: &Explanation) -> Vec<Driver> {
    let levels = explanation.levels.iter().zip(1_u8..);
    levels.flat_map(|(level, number)| level.iter().map(move |driver| driver_of(number, driver))).collect()
}

fn driver_of(level: u8, driver: &Contribution) -> Driver {
    let place = driver.part.as_ref().and_then(place);
    Driver {
        level,
        metric: driver.metric.clone(),
        dimension: place.as_ref().map(|(dimension, _)| *dimension),
        part: place.map(|(_, part)| part),
        effect: driver.contribution,
        share: driver.share.clamp(0.0, 1.0),
        observed: driver.observed,
        expected: driver.expected,
        direction: direction(driver.direction),
    }
}

/// A part as daily sums name it, whichever way it was come to.
fn place(part: &Part) -> Option<(Dimension, String)> {
    let dimension: Dimension = part.dimension.parse().ok()?;
    let Some(outer) = part.within.as_deref() else { return Some((dimension, part.value.clone())) };
    let (outer, inner) = (&outer.value, &part.value);
    match dimension {
        Dimension::Country => Some((Dimension::CountryPlatform, format!("{inner}/{outer}"))),
        Dimension::Platform => Some((Dimension::CountryPlatform, format!("{outer}/{inner}"))),
        _ => Some((dimension, format!("{outer}/{inner}"))),
    }
}

/// What is to be looked at: the lever, where one moved within a part as well; otherwise the part itself.
fn lever(cause: &drivers::Cause) -> Option<Cause> {
    let part = cause.part.as_ref().and_then(|part| match part.dimension.parse().ok()? {
        Dimension::Platform | Dimension::CountryPlatform => Some(Cause::Platform),
        Dimension::Product => Some(Cause::Product),
        Dimension::Country => Some(Cause::Country),
        Dimension::Campaign => Some(Cause::Campaign),
    });
    match cause.lever() {
        Some(Lever::Price) => Some(Cause::Price),
        Some(Lever::Traffic) => Some(Cause::Traffic),
        Some(Lever::Conversion) => Some(Cause::Conversion),
        Some(Lever::Basket) => Some(Cause::Basket),
        Some(Lever::Refund) => Some(Cause::Refund),
        Some(Lever::Cost) => part.or(Some(Cause::Cost)),
        Some(Lever::Customers) => part.or(Some(Cause::Customers)),
        None => part,
    }
}

const fn direction(direction: drivers::Direction) -> Direction {
    match direction {
        drivers::Direction::Down => Direction::Down,
        drivers::Direction::Up => Direction::Up,
    }
}

/// The metric's name in the tree of drivers.
const fn name_in_tree(metric: Metric) -> &'static str {
    match metric {
        Metric::Profit => "final_profit",
        other => other.as_str(),
    }
}

/// A sum of a day as a number.
type Measure = fn(&DayTotals) -> Option<f64>;

/// What is known of the days up to and including `day`, holidays and closed days left out.
fn facts(day: Date, shop: &Shop, parts: &[PartTotals]) -> Facts {
    let until = shop.days.iter().take_while(|totals| totals.day <= day);
    let days: Vec<&DayTotals> = until.filter(|totals| totals.day == day || !shop.is_left_out(totals.day)).collect();
    let mut facts = Facts::new(days.iter().map(|totals| totals.day).collect());
    let measured: [(&str, Measure); 13] = [
        ("gross_revenue", |day| day.gross_revenue.to_f64()),
        ("refunds", |day| day.refunds.to_f64()),
        ("orders", |day| Some(number(day.orders))),
        ("units", |day| Some(number(day.units))),
        ("customers", |day| Some(number(day.customers))),
        ("new_customers", |day| Some(number(day.new_customers))),
        ("cogs", |day| day.cogs.to_f64()),
        ("fees", |day| day.fees.to_f64()),
        ("shipping", |day| day.shipping.to_f64()),
        ("ad_spend", |day| day.ad_spend.to_f64()),
        ("ad_clicks", |day| Some(number(day.ad_clicks))),
        ("extra_expenses", |day| day.extra_expenses.to_f64()),
        ("visitors", |day| Some(number(day.visitors))),
    ];
    for (name, value) in measured {
        let values: Vec<_> = days.iter().map(|totals| value(totals)).collect();
        // What a shop never measures (visitors, ads) is unknown, not zero.
        if values.iter().flatten().any(|value| *value != 0.0) {
            facts.metric(name, values);
        }
    }
    let positions = days.iter().enumerate().map(|(at, totals)| (totals.day, at)).collect();
    let days = Days { today: day, positions };
    for dimension in [Dimension::Platform, Dimension::Product, Dimension::Country, Dimension::Campaign] {
        for outer in days.add_parts(&mut facts, dimension, &of_dimension(dimension, parts), None) {
            let within = Part::of(dimension.as_str(), outer);
            for (dimension, found) in within_part(dimension, outer, parts) {
                days.add_parts(&mut facts, dimension, &found, Some(&within));
            }
        }
    }
    facts
}

/// Sums of a day with the value of the dimension that they are those of.
type Valued<'a> = Vec<(&'a str, &'a PartTotals)>;

fn of_dimension(dimension: Dimension, parts: &[PartTotals]) -> Valued<'_> {
    parts.iter().filter(|part| part.dimension == dimension).map(|part| (part.value.as_str(), part)).collect()
}

/// What is known within a part: platforms and countries within each other, campaigns within the platform they are paid to.
fn within_part<'a>(dimension: Dimension, outer: &str, parts: &'a [PartTotals]) -> Vec<(Dimension, Valued<'a>)> {
    let inner = |of: Dimension, name: &dyn Fn(&'a str) -> Option<&'a str>| {
        of_dimension(of, parts).into_iter().filter_map(|(value, part)| Some((name(value)?, part))).collect()
    };
    let after = |value: &'a str| value.strip_prefix(outer)?.strip_prefix('/');
    let before = |value: &'a str| value.strip_suffix(outer)?.strip_suffix('/');
    match dimension {
        Dimension::Country => vec![(Dimension::Platform, inner(Dimension::CountryPlatform, &after))],
        Dimension::Platform => vec![
            (Dimension::Country, inner(Dimension::CountryPlatform, &before)),
            (Dimension::Campaign, inner(Dimension::Campaign, &after)),
        ],
        _ => Vec::new(),
    }
}

/// The days that are looked at, with their places in the series.
struct Days {
    today: Date,
    positions: BTreeMap<Date, usize>,
}

impl Days {
    /// Adds the largest values of a dimension to the facts, those within a part if one is given. Returns which these are.
    fn add_parts<'a>(
        &self,
        facts: &mut Facts,
        dimension: Dimension,
        parts: &[(&'a str, &PartTotals)],
        within: Option<&Part>,
    ) -> BTreeSet<&'a str> {
        let known = || parts.iter().filter_map(|(value, part)| Some((*value, *part, *self.positions.get(&part.day)?)));
        // A part is of interest when it is large as a rule or on the day to explain.
        let mut volume: BTreeMap<&str, (Decimal, Decimal)> = BTreeMap::new();
        for (value, part, _) in known() {
            let (all, of_today) = volume.entry(value).or_default();
            *all += part.gross_revenue + part.ad_spend;
            if part.day == self.today {
                *of_today += part.gross_revenue + part.ad_spend;
            }
        }
        let days = Decimal::from(self.positions.len().max(1));
        let mut by_volume: Vec<(Decimal, &str)> =
            volume.into_iter().map(|(value, (all, today))| ((all / days).max(today), value)).collect();
        by_volume.sort_by(|a, b| b.cmp(a));
        let largest: BTreeSet<&str> = by_volume.iter().take(LARGEST_PARTS).map(|(_, value)| *value).collect();
        let mut series: BTreeMap<(&str, &str), Vec<Option<f64>>> = BTreeMap::new();
        for (value, part, at) in known() {
            let value = largest.get(value).copied().unwrap_or(OTHER);
            let measured = [
                ("gross_revenue", part.gross_revenue.to_f64().unwrap_or_default()),
                ("orders", number(part.orders)),
                ("units", number(part.units)),
                ("ad_spend", part.ad_spend.to_f64().unwrap_or_default()),
                ("visitors", number(part.visitors)),
            ];
            for (metric, amount) in measured.into_iter().filter(|(_, amount)| *amount != 0.0) {
                let values = series.entry((value, metric)).or_insert_with(|| vec![Some(0.0); self.positions.len()]);
                if let Some(Some(sum)) = values.get_mut(at) {
                    *sum += amount;
                }
            }
        }
        let mut values_of: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, metric) in series.keys() {
            *values_of.entry(metric).or_default() += 1;
        }
        for ((value, metric), values) in series {
            // The only part of a metric is the metric: that tells nothing.
            if values_of.get(metric).is_none_or(|values| *values < 2) {
                continue;
            }
            let part = Part { within: within.cloned().map(Box::new), ..Part::of(dimension.as_str(), value) };
            facts.part(part, metric, values);
        }
        largest
    }
}

/// The metrics along the way to the cause that were out of their ordinary range themselves, the most striking first.
fn correlated(explanation: &Explanation) -> Vec<CorrelatedMetric> {
    let contributions = explanation.breakdowns.iter().flat_map(|breakdown| &breakdown.contributions);
    let is_rest = |driver: &Contribution| {
        driver.part.as_ref().is_some_and(|part| part.path().iter().any(|part| part.value == OTHER))
    };
    let mut moved: Vec<&Contribution> = contributions
        .filter(|driver| driver.modz.is_finite() && driver.modz.abs() >= MOVED_ALONG && !is_rest(driver))
        .collect();
    moved.sort_by(|a, b| b.modz.abs().total_cmp(&a.modz.abs()));
    let mut named = BTreeSet::new();
    moved
        .into_iter()
        .map(|driver| CorrelatedMetric {
            metric: match &driver.part {
                Some(part) => {
                    let path: Vec<String> =
                        part.path().iter().map(|part| format!("{}={}", part.dimension, part.value)).collect();
                    format!("{}[{}]", driver.metric, path.join(","))
                }
                None => driver.metric.clone(),
            },
            modz: driver.modz,
            direction: direction(driver.direction),
        })
        .filter(|metric| named.insert(metric.metric.clone()))
        .take(MOST_CORRELATED)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use domain::profit::DayRange;
    use proptest::prelude::*;
    use time::{Duration, macros::date};

    use super::*;

    fn any_day() -> impl Strategy<Value = DayTotals> {
        (100i64..200, proptest::collection::vec(0i64..120, 8), 1i64..40).prop_map(|(gross, amounts, count)| {
            let money = |at: usize| amounts.get(at).copied().map(Decimal::from).unwrap_or_default();
            DayTotals {
                gross_revenue: gross.into(),
                refunds: money(0),
                cogs: money(1),
                fees: money(2),
                shipping: money(3),
                ad_spend: money(4),
                extra_expenses: money(5),
                orders: count,
                units: count * 2,
                customers: count,
                new_customers: count % 7,
                visitors: count * 20,
                ..DayTotals::quiet(date!(2026 - 03 - 01))
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// What a cause is told of is what the detector saw: the tree of drivers derives the same figures.
        #[test]
        fn the_tree_of_drivers_has_the_figures_of_the_metrics(mut days in proptest::collection::vec(any_day(), 60)) {
            for (day, back) in days.iter_mut().rev().zip(0..) {
                day.day -= Duration::days(back);
            }
            let last = days[59];
            let scored = DayRange { first: last.day, last: last.day };
            let shop = Shop { days, holidays: BTreeSet::new(), closed: BTreeSet::new(), scored, zone: "UTC".parse().unwrap() };
            let facts = facts(last.day, &shop, &[]);
            for metric in Metric::ALL.iter().copied() {
                let explained = explain(&facts, name_in_tree(metric), None);
                match metric.measured(&last) {
                    Some(value) => {
                        let observed = explained.unwrap_or_else(|error| panic!("{metric}: {error}")).observed;
                        prop_assert!((observed - value).abs() < 1e-9 * value.abs().max(1.0), "{metric}: {observed}, {value}");
                    }
                    None => prop_assert!(explained.is_err(), "{metric} has no value"),
                }
            }
        }
    }
}
