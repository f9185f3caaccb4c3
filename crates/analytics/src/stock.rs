//! How long the stock lasts, and how an owner should read that.

use serde::{Deserialize, Serialize};

use crate::demand::DemandModel;

/// Days of stock are cut to a century: enough for "never" and still a date.
pub const FARTHEST_DAYS: usize = 36_500;
/// Days ahead with an expected demand of their own.
const DAILY_DAYS: usize = 364;
/// Days ahead that the velocity is the mean of.
const VELOCITY_DAYS: usize = 28;
/// Probabilities of the range of days of stock.
const RANGE: (f64, f64) = (0.2, 0.8);

/// Boundaries of [`StockStatus`] in days of stock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StatusBounds {
    /// Critical up to and including this.
    pub critical: f64,
    /// Low up to and including this.
    pub low: f64,
    /// Overstocked above this.
    pub overstocked: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StockStatus {
    Critical,
    Low,
    Ok,
    Overstocked,
}

impl StatusBounds {
    /// Status of an item with `stock` units that last `days`; `None` = nothing is being sold.
    #[must_use]
    pub fn status(&self, stock: f64, days: Option<f64>) -> StockStatus {
        if stock.is_nan() || stock <= 0.0 {
            return StockStatus::Critical;
        }
        match days {
            Some(days) if days <= self.critical => StockStatus::Critical,
            Some(days) if days <= self.low => StockStatus::Low,
            Some(days) if days > self.overstocked => StockStatus::Overstocked,
            _ => StockStatus::Ok,
        }
    }
}

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

/// Trend of daily units, oldest first; `None`, negative and not finite = unknown day.
#[must_use]
pub fn trend(units: &[Option<f64>]) -> Trend {
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

/// How long a stock lasts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook {
    /// Units per day expected over the next 28 days, above 0.
    pub velocity: f64,
    /// Days until the expected demand, day by day with its weekdays and season, has used the stock up; at most a century.
    pub days_of_stock: f64,
    /// Days after the history's last day on which the last unit is expected to leave; 0 when there is none left.
    pub stockout_in_days: u32,
    /// Days by which the stock is used up with a probability of 20 % and of 80 %; around `days_of_stock`.
    pub range: (f64, f64),
}

/// When `stock` units run out under the model's demand; `None` if it sells nothing. A stock that is negative or no number
/// counts as none.
#[must_use]
pub fn outlook(stock: f64, model: &DemandModel<'_>) -> Option<Outlook> {
    let stock = if stock.is_finite() { stock.max(0.0) } else { 0.0 };
    let path = Path::of(model);
    let velocity = path.demand_until(VELOCITY_DAYS) / VELOCITY_DAYS as f64;
    if velocity <= 0.0 {
        return None;
    }
    let days = path.days_until(stock);
    let by = |probability| if stock > 0.0 { path.day_used_up(stock, probability) } else { 0.0 };
    Some(Outlook {
        velocity,
        days_of_stock: days,
        stockout_in_days: days.ceil() as u32,
        range: (by(RANGE.0).min(days), by(RANGE.1).max(days)),
    })
}

/// Expected demand from tomorrow on: day by day for a year, then at the year's mean.
struct Path<'a> {
    model: &'a DemandModel<'a>,
    /// Units up to and including each day.
    cumulated: Vec<f64>,
}

impl<'a> Path<'a> {
    fn of(model: &'a DemandModel<'a>) -> Self {
        let mut sum = 0.0;
        let daily = model.forecast(DAILY_DAYS).daily_mean.into_iter();
        let cumulated = daily
            .map(|mean| {
                sum += mean;
                sum
            })
            .collect();
        Self { model, cumulated }
    }

    fn year(&self) -> f64 {
        self.cumulated.last().copied().unwrap_or_default()
    }

    /// Units expected up to and including day `day` (1 = tomorrow).
    fn demand_until(&self, day: usize) -> f64 {
        match day.checked_sub(1) {
            None => 0.0,
            Some(at) => self.cumulated.get(at).copied().unwrap_or(self.year() * day as f64 / DAILY_DAYS as f64),
        }
    }

    /// Days until the expected demand reaches `stock`, with the fraction of the last day.
    fn days_until(&self, stock: f64) -> f64 {
        let full_days = self.cumulated.partition_point(|&demand| demand < stock);
        if full_days == self.cumulated.len() {
            return (stock / self.year() * DAILY_DAYS as f64).min(FARTHEST_DAYS as f64);
        }
        let before = self.demand_until(full_days);
        let day = self.demand_until(full_days + 1) - before;
        full_days as f64 + if day > 0.0 { (stock - before) / day } else { 0.0 }
    }

    /// The first day by which the demand has reached `stock` with at least `probability`: the stock is used up by day `t`
    /// exactly when the demand up to `t` is no smaller, so the quantile of the day is read off the distribution of the
    /// demand.
    fn day_used_up(&self, stock: f64, probability: f64) -> f64 {
        let one_less = (stock.ceil() as u64).saturating_sub(1);
        let too_early = |day: usize| {
            let demand = self.model.around(day, self.demand_until(day));
            1.0 - demand.cdf(one_less) < probability
        };
        // Invariant: `low` is too early, `high` is not (or the farthest day).
        let (mut low, mut high) = (0, FARTHEST_DAYS);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if too_early(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        high as f64
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::{Date, Month};

    use super::*;
    use crate::demand::{Item, StoreRhythm};

    fn rhythm() -> StoreRhythm {
        StoreRhythm::flat(Date::from_calendar_date(2024, Month::March, 31).unwrap())
    }

    const BOUNDS: StatusBounds = StatusBounds { critical: 7.0, low: 21.0, overstocked: 120.0 };

    #[rstest]
    #[case(45.0, 4.5, 5)]
    #[case(40.0, 4.0, 4)]
    #[case(0.0, 0.0, 0)]
    #[case(-3.0, 0.0, 0)]
    #[case(f64::NAN, 0.0, 0)]
    #[case(7300.0, 730.0, 730)]
    #[case(1e9, 36_500.0, 36_500)]
    fn a_steady_seller_lasts_stock_over_velocity(#[case] stock: f64, #[case] days: f64, #[case] stockout_in_days: u32) {
        let rhythm = rhythm();
        let model = DemandModel::fit(Item { units: &[Some(10.0); 100], category_level: None }, &rhythm).unwrap();
        let outlook = outlook(stock, &model).unwrap();
        assert!((outlook.velocity - 10.0).abs() < 1e-9);
        assert!((outlook.days_of_stock - days).abs() < 1e-9);
        assert_eq!(outlook.stockout_in_days, stockout_in_days);
        assert!(outlook.range.0 <= days && days <= outlook.range.1);
    }

    #[test]
    fn the_range_is_wider_for_uneven_demand() {
        let rhythm = rhythm();
        let width = |units: &[Option<f64>]| {
            let model = DemandModel::fit(Item { units, category_level: None }, &rhythm).unwrap();
            let (soonest, latest) = outlook(300.0, &model).unwrap().range;
            latest - soonest
        };
        let uneven: Vec<Option<f64>> = (0..182).map(|day| Some(if day % 30 < 3 { 100.0 } else { 0.0 })).collect();
        assert!(width(&uneven) > 2.0 * width(&[Some(10.0); 182]));
    }

    #[test]
    fn what_does_not_sell_has_no_outlook() {
        let rhythm = rhythm();
        let model = DemandModel::fit(Item { units: &[Some(0.0); 100], category_level: None }, &rhythm).unwrap();
        assert_eq!(outlook(5.0, &model), None);
    }

    #[rstest]
    #[case(10.0, Some(7.0), StockStatus::Critical)]
    #[case(10.0, Some(7.1), StockStatus::Low)]
    #[case(10.0, Some(21.0), StockStatus::Low)]
    #[case(10.0, Some(120.0), StockStatus::Ok)]
    #[case(10.0, Some(120.5), StockStatus::Overstocked)]
    #[case(10.0, None, StockStatus::Ok)]
    #[case(0.0, None, StockStatus::Critical)]
    #[case(-1.0, Some(200.0), StockStatus::Critical)]
    #[case(f64::NAN, Some(200.0), StockStatus::Critical)]
    fn status_by_days_of_stock(#[case] stock: f64, #[case] days: Option<f64>, #[case] status: StockStatus) {
        assert_eq!(BOUNDS.status(stock, days), status);
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
