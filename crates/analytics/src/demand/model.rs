//! The demand model of one item: its level, and the distribution of its demand over any window.

use serde::{Deserialize, Serialize};

use super::clean::MOST_UNITS_A_DAY;
use super::{DemandClass, Insufficient, StoreRhythm, bulk_limit, classify, clean, teunter_syntetos_babai};
use crate::negbin::NegBin;

/// Days the level is averaged over.
const LEVEL_DAYS: usize = 56;
/// Smoothing constant for items that sell seldom.
const TSB_ALPHA: f64 = 0.05;
/// An item younger than the level window starts from this many days at its category's mean.
const PRIOR_DAYS: f64 = 14.0;
/// History used at all, and the half year that shows bulk days and how much demand varies.
const HISTORY_DAYS: usize = 365;
const VARIANCE_DAYS: usize = 182;
/// Sums over this many days show the variance to mean; longer windows keep the ratio, the half year holds too few of them.
const VARIANCE_WINDOW: usize = 21;
/// Fewer windows than this say nothing about the variance of their sums.
const FEWEST_WINDOWS: f64 = 14.0;
/// Variance to mean of items whose own history is too short to show it.
const PRIOR_VARIANCE_TO_MEAN: f64 = 3.0;
/// The level is itself an estimate, from 56 days, and it drifts: over `d` days the variance grows by `1.5 · d / 56`
/// of itself (1 would be the error of a mean of 56 days alone).
const LEVEL_UNCERTAINTY: f64 = 1.5;

/// What is known of one item.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    /// Net units per day, oldest first, ending on the store's last day; `None` where the item was out of stock or the day
    /// is missing. Days before the first sale are ignored.
    pub units: &'a [Option<f64>],
    /// Mean units per day of the items of its category (or of the store), if known; a young item is drawn towards it.
    pub category_level: Option<f64>,
}

/// How the level was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Mostly the mean of the last 56 known days by the store's weekday profile: it sells every other day or more.
    MovingAverage,
    /// Mostly Teunter–Syntetos–Babai smoothing: it sells less often.
    Intermittent,
    /// A mean drawn towards the category, for an item in its first 56 days.
    CategoryShrunk,
}

/// Daily demand expected over a horizon.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    pub class: DemandClass,
    pub method: Method,
    /// Expected units of each coming day, from the day after the history.
    pub daily_mean: Vec<f64>,
    /// Variance of the demand over the whole horizon divided by its mean, the uncertainty of the level included.
    pub dispersion: f64,
}

impl Forecast {
    /// Expected units over the whole horizon.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.daily_mean.iter().sum()
    }
}

/// Fitted demand of one item.
#[derive(Debug, Clone)]
pub struct DemandModel<'a> {
    rhythm: &'a StoreRhythm,
    class: DemandClass,
    method: Method,
    level: f64,
    variance_to_mean: f64,
    history_days: usize,
}

impl<'a> DemandModel<'a> {
    /// # Errors
    /// [`Insufficient::NoHistory`] without a single day of known units in the last year.
    pub fn fit(item: Item<'_>, rhythm: &'a StoreRhythm) -> Result<Self, Insufficient> {
        let year = clean(last(item.units, HISTORY_DAYS));
        if year.iter().flatten().next().is_none() {
            return Err(Insufficient::NoHistory);
        }
        let first_sale = year.iter().position(|day| day.is_some_and(|u| u > 0.0));
        let units = year.get(first_sale.unwrap_or_default()..).unwrap_or_default();
        let (method, level) = level(units, rhythm, item.category_level);
        Ok(Self {
            rhythm,
            class: classify(units),
            method,
            level,
            variance_to_mean: variance_to_mean(last(units, VARIANCE_DAYS)),
            history_days: units.len(),
        })
    }

    #[must_use]
    pub const fn class(&self) -> DemandClass {
        self.class
    }

    #[must_use]
    pub const fn method(&self) -> Method {
        self.method
    }

    /// Units per day, averaged over a week, before the yearly index.
    #[must_use]
    pub const fn level(&self) -> f64 {
        self.level
    }

    /// Days since the first known sale, at most 365.
    #[must_use]
    pub const fn history_days(&self) -> usize {
        self.history_days
    }

    /// Expected units on each of the next `horizon` days.
    #[must_use]
    pub fn forecast(&self, horizon: usize) -> Forecast {
        Forecast {
            class: self.class,
            method: self.method,
            daily_mean: (1..=horizon).map(|ahead| self.daily_mean(ahead)).collect(),
            dispersion: self.dispersion(horizon),
        }
    }

    /// Distribution of the units demanded over the next `days` together.
    #[must_use]
    pub fn window(&self, days: usize) -> NegBin {
        self.around(days, (1..=days).map(|ahead| self.daily_mean(ahead)).sum())
    }

    /// Distribution over `days` whose expected units are known already.
    pub(crate) fn around(&self, days: usize, mean: f64) -> NegBin {
        NegBin::from_moments(mean, mean * self.dispersion(days)).unwrap_or_default()
    }

    fn daily_mean(&self, ahead: usize) -> f64 {
        self.level * self.rhythm.ahead(ahead)
    }

    fn dispersion(&self, days: usize) -> f64 {
        self.variance_to_mean * (1.0 + LEVEL_UNCERTAINTY * days as f64 / LEVEL_DAYS as f64)
    }
}

fn last<T>(items: &[T], count: usize) -> &[T] {
    items.get(items.len().saturating_sub(count)..).unwrap_or_default()
}

/// Level of clean units that begin with the first sale.
///
/// The 56-day mean is taken of winsorised units, and what winsorising cut is added back at its half-year rate: a bulk
/// order counts, but not as if the last weeks were like it. The share of days without a sale is the weight of the
/// Teunter–Syntetos–Babai estimate beside it.
fn level(units: &[Option<f64>], rhythm: &StoreRhythm, category_level: Option<f64>) -> (Method, f64) {
    let half_year = last(units, VARIANCE_DAYS);
    let limit = bulk_limit(half_year);
    let (mut sum, mut weight, mut days, mut selling) = (0.0, 0.0, 0.0, 0.0);
    let known = half_year.iter().rev().enumerate().filter_map(|(i, day)| Some((i + 1, (*day)?)));
    for (back, day) in known.take(LEVEL_DAYS) {
        sum += day.min(limit);
        weight += rhythm.back(back);
        days += 1.0;
        selling += if day > 0.0 { 1.0 } else { 0.0 };
    }
    let recent = ratio(sum, weight) + mean(half_year.iter().flatten().map(|day| (day - limit).max(0.0)));
    let prior = category_level.filter(|level| (0.0..=MOST_UNITS_A_DAY).contains(level));
    if let Some(prior) = prior.filter(|_| units.len() < LEVEL_DAYS) {
        return (Method::CategoryShrunk, (recent * weight + PRIOR_DAYS * prior) / (weight + PRIOR_DAYS));
    }
    let known: Vec<f64> = units.iter().flatten().copied().collect();
    let smoothed = teunter_syntetos_babai(&known, TSB_ALPHA, TSB_ALPHA);
    let selling_share = ratio(selling, days);
    let method = if selling_share < 0.5 { Method::Intermittent } else { Method::MovingAverage };
    (method, selling_share * recent + (1.0 - selling_share) * smoothed)
}

/// Variance to mean of sums over up to three weeks; sums with missing days are scaled up.
fn variance_to_mean(units: &[Option<f64>]) -> f64 {
    let sums = units.windows(VARIANCE_WINDOW).filter_map(|window| {
        let known = window.iter().flatten().count();
        (known * 2 >= VARIANCE_WINDOW)
            .then(|| window.iter().flatten().sum::<f64>() * VARIANCE_WINDOW as f64 / known as f64)
    });
    let by_window = Moments::of(sums);
    if by_window.count >= FEWEST_WINDOWS && by_window.mean > 0.0 {
        return by_window.squares / by_window.count / by_window.mean;
    }
    // Too young for three-week sums: its single days, unless they look more regular than such items are.
    let by_day = Moments::of(units.iter().flatten().copied());
    ratio(by_day.squares, by_day.count * by_day.mean).max(PRIOR_VARIANCE_TO_MEAN)
}

/// Welford's running moments.
#[derive(Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        values.fold(Self::default(), |mut moments, value| {
            moments.count += 1.0;
            let delta = value - moments.mean;
            moments.mean += delta / moments.count;
            moments.squares += delta * (value - moments.mean);
            moments
        })
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    Moments::of(values).mean
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
