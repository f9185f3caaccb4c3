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
        Self {
            critical: 7.0,
            low: 21.0,
            overstocked: 120.0,
        }
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

/// The last week against the three before it: a change counts when it is by a fifth at least and unlikely by chance
/// (|z| above 1.64, one in ten), given how much the item's weeks vary.
const TREND_CHANGE: f64 = 0.2;
const TREND_Z: f64 = 1.64;
const TREND_DAYS: usize = 30;
const TREND_RECENT_DAYS: usize = 7;

/// Trend of clean daily units, oldest first; `None` = unknown day.
#[must_use]
pub fn trend(units: &[Option<f64>]) -> Trend {
    let recent_first = units
        .iter()
        .rev()
        .take(TREND_DAYS)
        .map(|day| day.filter(|u| u.is_finite() && *u >= 0.0));
    let (mut recent, mut before) = (Sample::default(), Sample::default());
    for (back, day) in recent_first.enumerate() {
        if let Some(units) = day {
            let sample = if back < TREND_RECENT_DAYS {
                &mut recent
            } else {
                &mut before
            };
            sample.add(units);
        }
    }
    if recent.sum + before.sum <= 0.0 {
        return Trend::NoSales;
    }
    if recent.days < 1.0 || before.days < TREND_RECENT_DAYS as f64 {
        return Trend::Stable;
    }
    let pooled = (recent.sum + before.sum) / (recent.days + before.days);
    let variance = ((recent.squares + before.squares) / (recent.days + before.days)
        - pooled * pooled)
        .max(pooled);
    let change = recent.mean() - before.mean();
    let z = change / (variance * (1.0 / recent.days + 1.0 / before.days)).sqrt();
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
