//! What an item is expected to sell from tomorrow on, and whether it sells faster than it did.

use serde::{Deserialize, Serialize};

use crate::demand::DemandModel;

/// Days ahead with an expected demand of their own.
const DAILY_DAYS: u32 = 364;
/// Probabilities of the model between which the day lies as often as between a true 20 % and 80 %: with these 0.60 and 0.62 of
/// the days do, on two years of one shop (protocol V1), with 0.2 and 0.8 it was 0.66 and 0.68.
const RANGE: (f64, f64) = (0.24, 0.76);

/// Whether an item sells faster than it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    Accelerating,
    Stable,
    Decelerating,
    NoSales,
}

/// A change counts when it is by a fifth at least and unlikely by chance (|z| above 1.64, one in ten), given how much the
/// item's days vary.
const TREND_CHANGE: f64 = 0.2;
const TREND_Z: f64 = 1.64;
/// The last week against the three before it, so that each weekday counts alike on both sides.
const TREND_RECENT_DAYS: usize = 7;
const TREND_DAYS: usize = 28;
/// Without a sale for so long an item does not sell.
const NO_SALES_DAYS: usize = 30;

/// Trend of daily units, oldest first; `None`, negative and not finite = unknown day. What first sold less than two weeks ago
/// has none yet: the days before were not days on which it did not sell.
#[must_use]
pub fn trend(units: &[Option<f64>]) -> Trend {
    let first_sale = units.iter().position(|day| day.is_some_and(|units| units > 0.0)).unwrap_or_default();
    let units = units.get(first_sale..).unwrap_or_default();
    let recent_first = units.iter().rev().map(|day| day.filter(|u| u.is_finite() && *u >= 0.0));
    if !recent_first.clone().take(NO_SALES_DAYS).flatten().any(|u| u > 0.0) {
        return Trend::NoSales;
    }
    let (mut recent, mut before) = (Sample::default(), Sample::default());
    for (back, day) in recent_first.take(TREND_DAYS).enumerate() {
        if let Some(units) = day {
            let sample = if back < TREND_RECENT_DAYS { &mut recent } else { &mut before };
            sample.add(units);
        }
    }
    if recent.days < 1.0 || before.days < TREND_RECENT_DAYS as f64 {
        return Trend::Stable;
    }
    let pooled = (recent.sum + before.sum) / (recent.days + before.days);
    let variance = ((recent.squares + before.squares) / (recent.days + before.days) - pooled * pooled).max(pooled);
    let change = recent.mean() - before.mean();
    let z = change / (variance * (1.0 / recent.days + 1.0 / before.days)).sqrt().max(f64::MIN_POSITIVE);
    if change.abs() < TREND_CHANGE * before.mean() || z.abs() < TREND_Z {
        Trend::Stable
    } else if change > 0.0 {
        Trend::Accelerating
    } else {
        Trend::Decelerating
    }
}

#[derive(Default)]
struct Sample {
    days: f64,
    sum: f64,
    squares: f64,
}

impl Sample {
    fn add(&mut self, units: f64) {
        self.days += 1.0;
        self.sum += units;
        self.squares += units * units;
    }

    fn mean(&self) -> f64 {
        self.sum / self.days.max(1.0)
    }
}

/// Expected demand from tomorrow on: day by day for a year, then at the year's mean.
pub struct ExpectedDemand<'a> {
    model: &'a DemandModel<'a>,
    /// Units up to and including each day.
    cumulated: Vec<f64>,
}

impl<'a> ExpectedDemand<'a> {
    #[must_use]
    pub fn of(model: &'a DemandModel<'a>) -> Self {
        let mut sum = 0.0;
        let daily = model.forecast(DAILY_DAYS as usize).daily_mean.into_iter();
        let cumulated = daily
            .map(|mean| {
                sum += mean;
                sum
            })
            .collect();
        Self { model, cumulated }
    }

    /// Units expected up to and including day `day` (1 = tomorrow).
    #[must_use]
    pub fn until(&self, day: u32) -> f64 {
        let Some(at) = day.checked_sub(1) else { return 0.0 };
        let year = self.cumulated.last().copied().unwrap_or_default();
        self.cumulated.get(at as usize).copied().unwrap_or(year * f64::from(day) / f64::from(DAILY_DAYS))
    }

    /// Days by which `stock` units are used up with a probability of 20 % and of 80 %, around the expected `days`; none is
    /// beyond `farthest`.
    #[must_use]
    pub fn range_of_days(&self, stock: f64, days: f64, farthest: u32) -> (f64, f64) {
        let by = |probability| if stock > 0.0 { self.day_used_up(stock, probability, farthest).into() } else { 0.0 };
        (days.min(by(RANGE.0)), days.max(by(RANGE.1)))
    }

    /// The first day by which the demand has reached `stock` with at least `probability`: the stock is used up by day `t`
    /// exactly when the demand up to `t` is no smaller, so the quantile of the day is read off the distribution of the
    /// demand.
    fn day_used_up(&self, stock: f64, probability: f64, farthest: u32) -> u32 {
        let one_less = (stock.ceil() as u64).saturating_sub(1);
        let too_early = |day: u32| {
            let demand = self.model.around(day as usize, self.until(day));
            1.0 - demand.cdf(one_less) < probability
        };
        // Invariant: `low` is too early, `high` is not (or the farthest day).
        let (mut low, mut high) = (0, farthest);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if too_early(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::{Date, Month};

    use super::*;
    use crate::demand::{Sales, StoreRhythm};

    fn rhythm() -> StoreRhythm {
        StoreRhythm::flat(Date::from_calendar_date(2024, Month::March, 31).unwrap())
    }

    #[test]
    fn a_steady_seller_is_expected_to_sell_on() {
        let rhythm = rhythm();
        let model = DemandModel::fit(Sales::of(&[Some(10.0); 100]), None, &rhythm).unwrap();
        let expected = ExpectedDemand::of(&model);
        for (day, units) in [(0, 0.0), (1, 10.0), (364, 3_640.0), (365, 3_650.0), (36_500, 365_000.0)] {
            assert!((expected.until(day) - units).abs() < 1e-6, "{day}: {}", expected.until(day));
        }
        for (stock, days) in [(45.0, 4.5), (0.0, 0.0), (-3.0, 0.0), (f64::NAN, 0.0), (1e9, 36_500.0)] {
            let (soonest, latest) = expected.range_of_days(stock, days, 36_500);
            assert!((0.0..=days).contains(&soonest) && (days..=36_500.0).contains(&latest), "{stock}");
        }
    }

    #[test]
    fn the_range_is_wider_for_uneven_demand() {
        let rhythm = rhythm();
        let width = |units: &[Option<f64>]| {
            let model = DemandModel::fit(Sales::of(units), None, &rhythm).unwrap();
            let (soonest, latest) = ExpectedDemand::of(&model).range_of_days(300.0, 30.0, 36_500);
            latest - soonest
        };
        let uneven: Vec<Option<f64>> = (0..182).map(|day| Some(if day % 30 < 3 { 100.0 } else { 0.0 })).collect();
        assert!(width(&uneven) > 2.0 * width(&[Some(10.0); 182]));
    }

    #[rstest]
    #[case(4.0, 4.0, Trend::Stable)]
    #[case(4.0, 9.0, Trend::Accelerating)]
    #[case(9.0, 4.0, Trend::Decelerating)]
    #[case(4.0, 4.4, Trend::Stable)]
    #[case(0.1, 0.2, Trend::Stable)]
    #[case(0.0, 0.0, Trend::NoSales)]
    #[case(f64::NAN, f64::INFINITY, Trend::NoSales)]
    fn trend_of_the_last_week(#[case] before: f64, #[case] last_week: f64, #[case] expected: Trend) {
        let units: Vec<Option<f64>> = (0..40).map(|day| Some(if day < 33 { before } else { last_week })).collect();
        assert_eq!(trend(&units), expected);
    }

    #[test]
    fn a_week_old_item_has_no_trend_yet() {
        assert_eq!(trend(&[[Some(0.0); 40].as_slice(), &[Some(9.0); 6]].concat()), Trend::Stable);
        assert_eq!(trend(&[Some(1.0), Some(2.0), Some(30.0)]), Trend::Stable);
    }

    #[test]
    fn one_sale_within_thirty_days_is_a_sale() {
        let mut units = [Some(0.0); 60];
        units[31] = Some(1.0);
        assert_eq!(trend(&units), Trend::Stable);
        units.swap(31, 29);
        assert_eq!(trend(&units), Trend::NoSales);
    }
}
