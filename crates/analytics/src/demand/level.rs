//! Level of one item: expected units on an average day.

use super::clean::MOST_UNITS_A_DAY;
use super::model::{Method, VARIANCE_DAYS, last, mean, ratio};
use super::{StoreRhythm, bulk_limit, teunter_syntetos_babai};

/// Days the level is averaged over.
pub(super) const LEVEL_DAYS: usize = 56;
/// Smoothing constant for items that sell seldom.
const TSB_ALPHA: f64 = 0.05;
/// An item younger than the level window starts from this many days at its category's mean.
const PRIOR_DAYS: f64 = 14.0;

pub(super) struct Level {
    pub method: Method,
    /// Units on an average day of the week.
    pub units: f64,
    /// Days that the level rests on, those of the category's mean included.
    pub days: f64,
}

impl Level {
    /// Of clean units that begin with the first sale.
    ///
    /// The 56-day mean is taken of winsorised units, and what winsorising cut is added back at its half-year rate: a bulk
    /// order counts, but not as if the last weeks were like it. The share of open days without a sale is the weight of the
    /// Teunter–Syntetos–Babai estimate beside it.
    pub fn of(units: &[Option<f64>], rhythm: &StoreRhythm, category_level: Option<f64>) -> Self {
        let recent = Recent::of(last(units, VARIANCE_DAYS), rhythm);
        let prior = category_level.filter(|level| (0.0..=MOST_UNITS_A_DAY).contains(level));
        if let Some(prior) = prior.filter(|_| units.len() < LEVEL_DAYS) {
            let sum = recent.mean * recent.weight + PRIOR_DAYS * prior;
            return Self {
                method: Method::CategoryShrunk,
                units: sum / (recent.weight + PRIOR_DAYS),
                days: recent.days + PRIOR_DAYS,
            };
        }
        let chances: Vec<f64> = open_days(units, rhythm).flatten().collect();
        let smoothed = teunter_syntetos_babai(&chances, TSB_ALPHA, TSB_ALPHA) / rhythm.open_factor();
        let often = recent.selling_share;
        Self {
            method: if often < 0.5 { Method::Intermittent } else { Method::MovingAverage },
            units: often * recent.mean + (1.0 - often) * smoothed,
            days: recent.days,
        }
    }
}

/// The last 56 known days.
struct Recent {
    /// Mean by the weekday profile, bulk days at their half-year rate.
    mean: f64,
    /// Sum of the weekday factors.
    weight: f64,
    days: f64,
    /// Of the days open.
    selling_share: f64,
}

impl Recent {
    fn of(half_year: &[Option<f64>], rhythm: &StoreRhythm) -> Self {
        let limit = bulk_limit(half_year);
        let (mut sum, mut weight, mut days, mut open, mut selling) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let known = half_year.iter().rev().enumerate().filter_map(|(i, day)| Some((i + 1, (*day)?)));
        for (back, units) in known.take(LEVEL_DAYS) {
            sum += units.min(limit);
            weight += rhythm.back(back);
            days += 1.0;
            let sold = units > 0.0;
            selling += if sold { 1.0 } else { 0.0 };
            open += if sold || !rhythm.was_closed(back) { 1.0 } else { 0.0 };
        }
        let bulk = mean(half_year.iter().flatten().map(|units| (units - limit).max(0.0)));
        Self { mean: ratio(sum, weight) + bulk, weight, days, selling_share: ratio(selling, open) }
    }
}

/// The units with closed weekdays as missing days: they say nothing about how often the item sells.
pub(super) fn open_days(units: &[Option<f64>], rhythm: &StoreRhythm) -> impl Iterator<Item = Option<f64>> {
    let days = units.len();
    units.iter().enumerate().map(move |(i, day)| day.filter(|&units| units > 0.0 || !rhythm.was_closed(days - i)))
}
