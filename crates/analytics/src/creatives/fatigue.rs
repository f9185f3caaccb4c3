//! Whether people tire of a creative.

use super::{Contrast, TAU, THRESHOLD};

/// The days that tell how often a creative was clicked on when it was new, and of late.
const FIRST_DAYS: usize = 14;
const LAST_DAYS: usize = 7;

/// How a creative's clicks per impression have changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fatigue {
    /// Those of the last 7 days by those of the first 14, or of as many as there are before the last 7.
    pub ctr_ratio: f64,
    /// Whether they are lower, with evidence of at least [`THRESHOLD`].
    pub is_fatigued: bool,
}

/// Of clicks and impressions by day, the oldest first. None for less than 14 days, or without a click in either.
pub fn fatigue(days: &[(f64, f64)]) -> Option<Fatigue> {
    if days.len() < FIRST_DAYS {
        return None;
    }
    let (before, last) = days.split_at(days.len().checked_sub(LAST_DAYS)?);
    let sums =
        |days: &[(f64, f64)]| days.iter().fold((0.0, 0.0), |(clicks, shown), day| (clicks + day.0, shown + day.1));
    let (first, last) = (sums(before.get(..FIRST_DAYS).unwrap_or(before)), sums(last));
    if [first.0, first.1, last.0, last.1].iter().any(|sum| *sum <= 0.0) {
        return None;
    }
    let ratio = (last.0 / last.1) / (first.0 / first.1);
    let lower = Contrast { d: -libm::log(ratio), v: 1.0 / first.0 + 1.0 / last.0 };
    let is_fatigued = ratio < 1.0 && lower.ln_evidence(TAU) >= libm::log(THRESHOLD);
    Some(Fatigue { ctr_ratio: ratio, is_fatigued })
}
