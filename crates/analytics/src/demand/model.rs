//! The demand model of one item: its level, and the distribution of its demand over any window.

use serde::{Deserialize, Serialize};

use super::clean::MOST_UNITS_A_DAY;
use super::{DemandClass, Insufficient, StoreRhythm, classify, clean, teunter_syntetos_babai};
use crate::negbin::NegBin;

/// Days the level is averaged over.
const LEVEL_DAYS: usize = 56;
/// With fewer selling days among them the level comes from Teunter–Syntetos–Babai over the whole history.
const FEWEST_SELLING_DAYS: usize = 4;
const TSB_ALPHA: f64 = 0.05;
/// An item younger than the level window starts from this many days at its category's mean.
const PRIOR_DAYS: f64 = 14.0;
/// History used at all, and the part of it that shows how much demand over a window varies.
const HISTORY_DAYS: usize = 365;
const VARIANCE_DAYS: usize = 182;
/// Windows that fit into the history less than this often say nothing about the variance of their sums.
const FEWEST_WINDOWS: usize = 14;
/// Variance to mean of items whose own history is too short to show it.
const PRIOR_VARIANCE_TO_MEAN: f64 = 3.0;

/// What is known of one item.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    /// Net units per day, oldest first, ending on the store's last day; `None` where the item was out of stock or the day
    /// is missing. Days before the first sale are ignored.
    pub units: &'a [Option<f64>],
    /// Mean units per day of the items of its category, if known; a young item is drawn towards it.
    pub category_level: Option<f64>,
}

/// How the level was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Mean of the last 56 known days by the store's weekday profile.
    MovingAverage,
    /// Teunter–Syntetos–Babai smoothing.
    Intermittent,
    /// A mean drawn towards the category, for an item in its first weeks.
    CategoryShrunk,
}

/// Daily demand expected over a horizon.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    pub class: DemandClass,
    pub method: Method,
    /// Expected units of each coming day, from the day after the history.
    pub daily_mean: Vec<f64>,
    /// Variance of the demand over the whole horizon divided by its mean.
    pub dispersion: f64,
    /// Damped yearly index that is part of the means (1 with less than 13 months of history).
    pub yearly_index: f64,
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
    /// Clean units from the first sale on, at most a year.
    units: Vec<Option<f64>>,
    class: DemandClass,
    method: Method,
    level: f64,
}

impl<'a> DemandModel<'a> {
    /// # Errors
    /// [`Insufficient::NoHistory`] without a single day of known units.
    pub fn fit(item: Item<'_>, rhythm: &'a StoreRhythm) -> Result<Self, Insufficient> {
        let recent = item.units.len().saturating_sub(HISTORY_DAYS);
        let mut units = clean(item.units.get(recent..).unwrap_or_default());
        if units.iter().flatten().next().is_none() {
            return Err(Insufficient::NoHistory);
        }
        if let Some(first_sale) = units.iter().position(|day| day.is_some_and(|u| u > 0.0)) {
            units.drain(..first_sale);
        }
        let class = classify(&units);
        let (method, level) = level(&units, rhythm, item.category_level);
        Ok(Self {
            rhythm,
            units,
            class,
            method,
            level,
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
    pub fn history_days(&self) -> usize {
        self.units.len()
    }

    /// Units per day expected over the next `days`.
    #[must_use]
    pub fn velocity(&self, days: usize) -> f64 {
        let days = days.max(1);
        self.window(days).mean() / days as f64
    }

    /// Expected units on each of the next `horizon` days.
    #[must_use]
    pub fn forecast(&self, horizon: usize) -> Forecast {
        let yearly_index = self.rhythm.yearly_index(horizon);
        let daily_mean = (1..=horizon)
            .map(|ahead| self.level * self.rhythm.ahead(ahead) * yearly_index)
            .collect();
        let window = self.window(horizon);
        Forecast {
            class: self.class,
            method: self.method,
            daily_mean,
            dispersion: if window.mean() > 0.0 {
                window.variance() / window.mean()
            } else {
                1.0
            },
            yearly_index,
        }
    }

    /// Distribution of the units demanded over the next `days` together.
    #[must_use]
    pub fn window(&self, days: usize) -> NegBin {
        let weight: f64 = (1..=days).map(|ahead| self.rhythm.ahead(ahead)).sum();
        let mean = self.level * weight * self.rhythm.yearly_index(days);
        let ratio = self.variance_to_mean(days);
        NegBin::from_moments(mean, mean * ratio).unwrap_or_default()
    }

    /// Variance to mean of the sums over `days` in the last half year; sums with missing days are scaled up.
    fn variance_to_mean(&self, days: usize) -> f64 {
        let days = days.max(1);
        let start = self.units.len().saturating_sub(VARIANCE_DAYS);
        let recent = self.units.get(start..).unwrap_or_default();
        let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
        for window in recent.windows(days) {
            let known = window.iter().flatten().count();
            if known * 2 < days {
                continue;
            }
            let sum = window.iter().flatten().sum::<f64>() * days as f64 / known as f64;
            count += 1.0;
            let delta = sum - mean;
            mean += delta / count;
            squares += delta * (sum - mean);
        }
        if count < FEWEST_WINDOWS as f64 || mean <= 0.0 {
            return PRIOR_VARIANCE_TO_MEAN;
        }
        squares / count / mean
    }
}

fn level(
    units: &[Option<f64>],
    rhythm: &StoreRhythm,
    category_level: Option<f64>,
) -> (Method, f64) {
    let (mut sum, mut weight, mut selling) = (0.0, 0.0, 0);
    let known = units
        .iter()
        .rev()
        .enumerate()
        .filter_map(|(i, day)| Some((i + 1, (*day)?)));
    for (back, day) in known.take(LEVEL_DAYS) {
        sum += day;
        weight += rhythm.back(back);
        selling += usize::from(day > 0.0);
    }
    let prior = category_level.filter(|level| (0.0..=MOST_UNITS_A_DAY).contains(level));
    if let Some(prior) = prior.filter(|_| units.len() < LEVEL_DAYS) {
        return (
            Method::CategoryShrunk,
            (sum + PRIOR_DAYS * prior) / (weight + PRIOR_DAYS),
        );
    }
    if selling < FEWEST_SELLING_DAYS {
        let known: Vec<f64> = units.iter().flatten().copied().collect();
        return (
            Method::Intermittent,
            teunter_syntetos_babai(&known, TSB_ALPHA, TSB_ALPHA),
        );
    }
    // A week that is closed by its profile has no weight to divide by.
    (
        Method::MovingAverage,
        if weight > 0.0 { sum / weight } else { 0.0 },
    )
}
