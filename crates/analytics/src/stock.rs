//! How long the stock lasts, and how an owner should read that.

use serde::{Deserialize, Serialize};

use crate::demand::DemandModel;

/// Days ahead beyond which no statement is made; days of stock are cut to it.
pub const FARTHEST_DAYS: usize = 365;
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

impl Default for StatusBounds {
    fn default() -> Self {
        Self { critical: 7.0, low: 21.0, overstocked: 120.0 }
    }
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
    /// Units per day expected over the next 28 days.
    pub velocity: f64,
    /// Days until the expected demand, day by day with its weekdays and season, has used the stock up; at most 365.
    pub days_of_stock: f64,
    /// Days after the history's last day on which the last unit is expected to leave: 0 when there is none left, `None`
    /// beyond a year.
    pub stockout_in_days: Option<u32>,
    /// Days by which the stock is used up with a probability of 20 % and of 80 %; at most 365, around `days_of_stock`.
    pub range: (f64, f64),
}

/// When `stock` units run out under the model's demand; `None` if it sells nothing. A stock that is negative or no number
/// counts as none.
#[must_use]
pub fn outlook(stock: f64, model: &DemandModel<'_>) -> Option<Outlook> {
    let stock = if stock.is_finite() { stock.max(0.0) } else { 0.0 };
    let daily = model.forecast(FARTHEST_DAYS).daily_mean;
    let velocity = daily.iter().take(VELOCITY_DAYS).sum::<f64>() / VELOCITY_DAYS as f64;
    if velocity <= 0.0 {
        return None;
    }
    let days = days_until(stock, &daily);
    let cumulated: Vec<f64> = daily
        .iter()
        .scan(0.0, |sum, mean| {
            *sum += mean;
            Some(*sum)
        })
        .collect();
    let by = |probability| day_used_up(stock, &cumulated, model, probability);
    let (soonest, latest) = if stock > 0.0 { (by(RANGE.0), by(RANGE.1)) } else { (0.0, 0.0) };
    Some(Outlook {
        velocity,
        days_of_stock: days,
        stockout_in_days: (days < FARTHEST_DAYS as f64).then(|| days.ceil() as u32),
        range: (soonest.min(days), latest.max(days)),
    })
}

/// Days until the cumulated daily means reach `stock`, with the fraction of the last day.
fn days_until(stock: f64, daily_mean: &[f64]) -> f64 {
    let mut left = stock;
    for (day, &mean) in daily_mean.iter().enumerate() {
        if left <= mean {
            return day as f64 + if mean > 0.0 { left / mean } else { 0.0 };
        }
        left -= mean;
    }
    daily_mean.len() as f64
}

/// The first day by which the demand has reached `stock` with at least `probability`: the stock is used up by day `t`
/// exactly when the demand up to `t` is no smaller, so the quantile of the day is found on the distribution of the demand.
fn day_used_up(stock: f64, cumulated: &[f64], model: &DemandModel<'_>, probability: f64) -> f64 {
    let one_less = (stock.ceil() as u64).saturating_sub(1);
    let days: Vec<usize> = (1..=cumulated.len()).collect();
    let too_early = days.partition_point(|&day| {
        let mean = cumulated.get(day - 1).copied().unwrap_or_default();
        1.0 - model.around(day, mean).cdf(one_less) < probability
    });
    (too_early + 1).min(cumulated.len()) as f64
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

    #[rstest]
    #[case(45.0, 4.5, Some(5))]
    #[case(40.0, 4.0, Some(4))]
    #[case(0.0, 0.0, Some(0))]
    #[case(-3.0, 0.0, Some(0))]
    #[case(f64::NAN, 0.0, Some(0))]
    #[case(1e9, 365.0, None)]
    fn a_steady_seller_lasts_stock_over_velocity(
        #[case] stock: f64,
        #[case] days: f64,
        #[case] stockout_in_days: Option<u32>,
    ) {
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
        assert_eq!(StatusBounds::default().status(stock, days), status);
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
