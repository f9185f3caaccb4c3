//! Whether people tire of a creative.

use super::{Contrast, TAU, THRESHOLD};

/// The days on which it ran that tell how often a creative was clicked on at first.
const FIRST_DAYS: usize = 14;
/// The days of the calendar that tell how often it is of late.
const LAST_DAYS: i64 = 7;

/// How a creative's clicks per impression have changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fatigue {
    /// Those of the last 7 days by those of the first 14 on which it ran, or of as many as there are before the last 7.
    pub ctr_ratio: f64,
    /// Whether they are lower, with evidence of at least [`THRESHOLD`].
    pub is_fatigued: bool,
}

/// A day on which a creative ran.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shown {
    /// Counted from any day.
    pub day: i64,
    pub clicks: f64,
    pub impressions: f64,
}

/// Of the days on which a creative ran, the oldest first, up to `last`. None for less than 14 of them, or without a click in
/// either span: who tires of a creative that is not shown any more cannot be told.
pub fn fatigue(days: &[Shown], last: i64) -> Option<Fatigue> {
    if days.len() < FIRST_DAYS {
        return None;
    }
    let (before, lately) = days.split_at(days.partition_point(|shown| shown.day <= last - LAST_DAYS));
    let sums = |days: &[Shown]| {
        days.iter().fold((0.0, 0.0), |(clicks, shown), day| (clicks + day.clicks, shown + day.impressions))
    };
    let (first, last) = (sums(before.get(..FIRST_DAYS).unwrap_or(before)), sums(lately));
    if [first.0, first.1, last.0, last.1].iter().any(|sum| *sum <= 0.0) {
        return None;
    }
    let ratio = (last.0 / last.1) / (first.0 / first.1);
    let lower = Contrast { d: -libm::log(ratio), v: 1.0 / first.0 + 1.0 / last.0 };
    let is_fatigued = ratio < 1.0 && lower.ln_evidence(TAU) >= libm::log(THRESHOLD);
    Some(Fatigue { ctr_ratio: ratio, is_fatigued })
}
