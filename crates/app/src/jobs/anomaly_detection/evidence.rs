//! What was expected of the days of an event, of the shop and of its parts: what stories are told from.

use std::collections::{BTreeMap, BTreeSet};

use analytics::detector::{Baseline, DailySeries, HISTORY_DAYS};
use domain::{
    anomalies::Finding,
    daily::{DayTotals, Dimension, PartTotals},
    metrics::{Metric, contribution::contribution_share},
    profit::DayRange,
    stories::{self, Band, Certainties, DayEvidence, Gauge, PartBand, StockOut, Story},
};
use rust_decimal::Decimal;
use time::{Date, Duration};

use super::Shop;

/// Parts of a dimension that are looked at: the largest of the history, and as many of the largest of one of the days. What was
/// large before stays among them, however long an event lasts.
const LARGEST_PARTS: usize = 12;
/// Days that the usual contribution is taken from.
const CONTRIBUTION_DAYS: i64 = 28;

/// A part's sums by day.
type Days<'a> = BTreeMap<Date, &'a PartTotals>;

/// A shop with its parts by day, to be asked about many events.
pub struct Parts<'a>(BTreeMap<(Dimension, &'a str), Days<'a>>);

impl<'a> Parts<'a> {
    pub fn new(parts: &'a [PartTotals]) -> Self {
        let mut by_name: BTreeMap<_, Days<'a>> = BTreeMap::new();
        for part in parts {
            by_name.entry((part.dimension, part.value.as_str())).or_default().insert(part.day, part);
        }
        Self(by_name)
    }
}

impl Shop {
    /// The stories of the findings, as far as the days are known.
    pub fn stories(&self, findings: &[Finding], parts: &Parts<'_>, stock_outs: Vec<StockOut>) -> Vec<Story> {
        let until = self.days.last().map_or(self.scored.last, |day| day.day);
        let untracked =
            stories::untracked(&self.days).into_iter().filter(|gap| gap.last >= self.scored.first).collect();
        let certain = Certainties { stock_outs, untracked };
        stories::group(findings, &certain, until, &|range| self.evidence(range, parts, &certain.stock_outs))
    }

    /// The days of a range beside what the days before it led to expect. Products of `stock_outs` are looked at however small
    /// they are.
    fn evidence(&self, range: DayRange, parts: &Parts<'_>, stock_outs: &[StockOut]) -> Vec<DayEvidence> {
        let start = range.first.saturating_sub(Duration::days(HISTORY_DAYS as i64));
        let days: Vec<&DayTotals> = self.days.iter().filter(|day| (start..=range.last).contains(&day.day)).collect();
        let contribution = contribution(&days, range.first);
        let mut known: BTreeMap<Date, DayEvidence> = days
            .iter()
            .filter(|day| day.day >= range.first && !self.holidays.contains(&day.day))
            .map(|day| {
                let evidence = DayEvidence { day: day.day, whole: BTreeMap::new(), parts: Vec::new(), contribution };
                (day.day, evidence)
            })
            .collect();
        for gauge in Gauge::ALL.iter().copied() {
            let mut values: Vec<Option<f64>> = days.iter().map(|day| gauge.of_day(day)).collect();
            // What a shop never measures (visits, ads) is unknown, not zero; so are visits before it began to count them.
            let Some(begins) = values.iter().position(|value| value.is_some_and(|value| value != 0.0)) else {
                continue;
            };
            if gauge == Gauge::Visitors {
                values.iter_mut().take(begins).for_each(|value| *value = None);
            }
            for (day, band) in self.bands(&days, &values, range.first, gauge) {
                known.entry(day).and_modify(|known| _ = known.whole.insert(gauge, band));
            }
        }
        for dimension in [Dimension::Platform, Dimension::Country, Dimension::Product, Dimension::Campaign] {
            let gauges: &[Gauge] = match dimension {
                Dimension::Campaign => &[Gauge::AdSpend],
                Dimension::Product => &[Gauge::GrossRevenue, Gauge::PricePerUnit, Gauge::Refunds],
                _ => &[Gauge::GrossRevenue, Gauge::Orders],
            };
            for (value, of_part) in largest(parts, dimension, &days, range.first, stock_outs) {
                for gauge in gauges.iter().copied() {
                    let values: Vec<Option<f64>> = days
                        .iter()
                        .map(|day| of_part.get(&day.day).map_or(gauge.of_nothing(), |part| gauge.of_part(part)))
                        .collect();
                    for (day, band) in self.bands(&days, &values, range.first, gauge) {
                        let part = PartBand { dimension, value: value.to_owned(), gauge, band };
                        known.entry(day).and_modify(|known| known.parts.push(part));
                    }
                }
            }
        }
        known.into_values().collect()
    }

    /// The values of a gauge from `first` on beside what those before it led to expect.
    fn bands(&self, days: &[&DayTotals], values: &[Option<f64>], first: Date, gauge: Gauge) -> Vec<(Date, Band)> {
        let Some(start) = days.first().map(|day| day.day) else { return Vec::new() };
        let before = days.iter().take_while(|day| day.day < first).count();
        let history = DailySeries { first: start, values: values.get(..before).unwrap_or_default() };
        let later = days.iter().zip(values).skip(before);
        // Money is paid back, and ads are paid for, on closed days as well.
        let metric = match gauge {
            Gauge::Refunds | Gauge::RefundCost => Metric::Refunds,
            Gauge::AdSpend => Metric::AdSpend,
            _ => Metric::GrossRevenue,
        };
        let Ok(baseline) = Baseline::fit(history, &self.left_out(metric)) else {
            // A small shop has no refund and no expense on most days, and pays nothing for a new campaign before its first.
            let is_sparse = matches!(gauge, Gauge::Refunds | Gauge::RefundCost | Gauge::AdSpend | Gauge::ExtraExpenses);
            return if is_sparse { sparse(history.values, later) } else { Vec::new() };
        };
        // Rent comes once a month, and among expenses of every day as well: as much as before is no news.
        let least_high = if gauge == Gauge::ExtraExpenses { largest_of(history.values) } else { f64::NEG_INFINITY };
        later
            .filter_map(|(day, value)| {
                let observed = (*value)?;
                let (expected, interval) = baseline.forecast(day.day.weekday());
                Some((day.day, Band { observed, expected, low: interval.low, high: interval.high.max(least_high) }))
            })
            .collect()
    }
}

/// Of too few days with anything for a forecast: their mean, and anything up to the largest of them.
fn sparse<'a>(
    history: &[Option<f64>],
    later: impl Iterator<Item = (&'a &'a DayTotals, &'a Option<f64>)>,
) -> Vec<(Date, Band)> {
    let known: Vec<f64> = history.iter().flatten().copied().collect();
    let expected = known.iter().sum::<f64>() / known.len().max(1) as f64;
    let high = largest_of(history);
    later.filter_map(|(day, value)| Some((day.day, Band { observed: (*value)?, expected, low: 0.0, high }))).collect()
}

fn largest_of(history: &[Option<f64>]) -> f64 {
    history.iter().flatten().copied().fold(0.0, f64::max)
}

/// What is left of revenue on the days before `first`, as a rule.
fn contribution(days: &[&DayTotals], first: Date) -> Option<f64> {
    let start = first.saturating_sub(Duration::days(CONTRIBUTION_DAYS));
    contribution_share(days.iter().copied().filter(|day| day.day >= start && day.day < first))
}

/// The parts of a dimension that are largest on the days before `first`, those largest on one from there on, and the products
/// that are out of stock; none where there is only one.
fn largest<'a, 'b>(
    parts: &'b Parts<'a>,
    dimension: Dimension,
    days: &[&DayTotals],
    first: Date,
    stock_outs: &[StockOut],
) -> Vec<(&'a str, &'b Days<'a>)> {
    let Some((start, last)) = days.first().zip(days.last()).map(|(start, last)| (start.day, last.day)) else {
        return Vec::new();
    };
    let of_dimension = parts.0.iter().filter(|((of, _), _)| *of == dimension);
    let sized: Vec<PartSize<'a, 'b>> = of_dimension
        .map(|((_, value), of_part)| {
            let size = |part: &PartTotals| part.gross_revenue + part.refunds + part.ad_spend;
            let before: Decimal = of_part.range(start..first).map(|(_, part)| size(part)).sum();
            let since = of_part.range(first..=last).map(|(_, part)| size(part)).max().unwrap_or_default();
            PartSize { value, of_part, before, since }
        })
        .filter(|part| part.before.max(part.since) > Decimal::ZERO)
        .collect();
    if sized.len() < 2 {
        return Vec::new();
    }
    let top = |size: fn(&PartSize<'a, 'b>) -> Decimal| {
        let mut ranked: Vec<&PartSize<'a, 'b>> = sized.iter().filter(|part| size(part) > Decimal::ZERO).collect();
        ranked.sort_by(|a, b| size(b).cmp(&size(a)).then(a.value.cmp(b.value)));
        ranked.into_iter().take(LARGEST_PARTS).map(|part| part.value).collect::<Vec<_>>()
    };
    let mut chosen: BTreeSet<&str> = top(|part| part.before).into_iter().chain(top(|part| part.since)).collect();
    if dimension == Dimension::Product {
        chosen.extend(stock_outs.iter().map(|stock_out| stock_out.sku.as_str()));
    }
    sized.iter().filter(|part| chosen.contains(part.value)).map(|part| (part.value, part.of_part)).collect()
}

/// A part and how large it is.
struct PartSize<'a, 'b> {
    value: &'a str,
    of_part: &'b Days<'a>,
    /// Over all days before the event.
    before: Decimal,
    /// On the largest day since.
    since: Decimal,
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;

    #[test]
    fn refunds_and_ads_of_closed_days_tell_what_is_usual() {
        const FIRST: Date = date!(2026 - 01 - 01);
        let days: Vec<DayTotals> = (0..61).map(|day| DayTotals::quiet(FIRST + Duration::days(day))).collect();
        let last = DayRange { first: days[60].day, last: days[60].day };
        // Open on the last ten days before only: too few to learn from.
        let closed = days[..50].iter().map(|day| day.day).collect();
        let shop =
            Shop { days: days.clone(), holidays: BTreeSet::new(), closed, scored: last, zone: "UTC".parse().unwrap() };
        let bands = |gauge: Gauge| {
            let days: Vec<&DayTotals> = days.iter().collect();
            shop.bands(&days, &[Some(100.5); 61], last.first, gauge)
        };
        for gauge in [Gauge::Refunds, Gauge::RefundCost, Gauge::AdSpend] {
            let found = bands(gauge);
            let [(_, band)] = found.as_slice() else { panic!("{gauge}: {found:?}") };
            assert!((band.expected - 100.5).abs() < 1.0 && band.low > 50.0, "{gauge}: {band:?}");
        }
        assert_eq!(bands(Gauge::GrossRevenue), []);
    }

    #[test]
    fn rent_is_expected_among_expenses_of_every_day_as_well() {
        const FIRST: Date = date!(2026 - 01 - 01);
        let days: Vec<DayTotals> = (0..61).map(|day| DayTotals::quiet(FIRST + Duration::days(day))).collect();
        let last = DayRange { first: days[60].day, last: days[60].day };
        let (holidays, closed) = (BTreeSet::new(), BTreeSet::new());
        let shop = Shop { days: days.clone(), holidays, closed, scored: last, zone: "UTC".parse().unwrap() };
        let holds = |usual: f64, rent: f64| {
            let days: Vec<&DayTotals> = days.iter().collect();
            let mut paid = [Some(usual); 61];
            (paid[10], paid[40], paid[60]) = (Some(900.0), Some(900.0), Some(rent));
            let found = shop.bands(&days, &paid, last.first, Gauge::ExtraExpenses);
            let [(_, band)] = found.as_slice() else { panic!("{found:?}") };
            assert!(band.expected < 100.0, "{band:?}");
            band.holds()
        };
        for usual in [0.0, 20.0] {
            assert!(holds(usual, 900.0) && !holds(usual, 1_200.0));
        }
    }
}
