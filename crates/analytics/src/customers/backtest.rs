//! What came of each purchase that was expected, by how often a customer had bought.
//!
//! The purchase model is one for all customers of a shop. What it misses (cohorts of other kinds, a change of the shop) shows
//! in what it would have said some months ago: the ratio of what came to what was expected then.

use time::{Date, Duration};

use super::score::ESTABLISHED_DAYS;

/// Half a year, a time in which most who come back do.
const BACK_TEST_DAYS: i64 = 182;
/// Days from the first purchase of all that a model is fitted on at least.
const FEWEST_DAYS: i64 = 45;

/// The day that models of the end of `as_of` are tried out at: half a year before, and where that is not 90 days after the
/// first purchase of all, half-way from that.
#[must_use]
pub fn back_test_day(first: Option<Date>, as_of: Date) -> Date {
    let half_a_year = as_of.saturating_sub(Duration::days(BACK_TEST_DAYS));
    let young = first.filter(|first| half_a_year < first.saturating_add(Duration::days(ESTABLISHED_DAYS)));
    young.map_or(half_a_year, |first| as_of.saturating_sub((as_of - first).max(Duration::ZERO) / 2))
}

/// Whether a day is far enough from the first purchase of all to fit a model at its end.
pub(super) fn is_long_enough(first: Date, day: Date) -> bool {
    day >= first.saturating_add(Duration::days(FEWEST_DAYS))
}

/// What was expected of a customer, and what came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Purchases after the first, by the day of the forecast.
    pub repeats: u32,
    pub expected: f64,
    pub came: f64,
}

/// Purchases after the first from which the next class begins: 1, 2 to 3, 4 to 8 and more purchases.
const CLASSES: [u32; 3] = [1, 3, 8];
/// Purchases that each ratio starts from: that of all for a class, one for all.
const PRIOR_PURCHASES: f64 = 50.0;
/// How far a class goes from the ratio of all to its own, on the scale of logarithms.
const OWN_SHARE: f64 = 0.75;
/// No correction is beyond these.
const RANGE: (f64, f64) = (0.3, 2.0);

/// Purchases that come for each that is expected, by class; 1 where nothing is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corrections([f64; 4]);

impl Default for Corrections {
    fn default() -> Self {
        Self([1.0; 4])
    }
}

impl Corrections {
    pub fn of(outcomes: &[Outcome]) -> Self {
        let sums = |of: &dyn Fn(&&Outcome) -> bool| {
            outcomes.iter().filter(of).fold((0.0, 0.0), |(came, expected), o| (came + o.came, expected + o.expected))
        };
        let (came, expected) = sums(&|_| true);
        let all = (came + PRIOR_PURCHASES) / (expected + PRIOR_PURCHASES);
        let correction = |class: usize| {
            let (came, expected) = sums(&|outcome| class_of(outcome.repeats) == class);
            let own = (came + PRIOR_PURCHASES * all) / (expected + PRIOR_PURCHASES);
            let ratio = all * (own / all).powf(OWN_SHARE);
            if ratio.is_finite() { ratio.clamp(RANGE.0, RANGE.1) } else { 1.0 }
        };
        Self([0, 1, 2, 3].map(correction))
    }

    /// Without those that would expect more: over a year a good half-year is not kept up.
    pub fn at_most_as_expected(self) -> Self {
        Self(self.0.map(|ratio| ratio.min(1.0)))
    }

    /// Half of the way to these, on the scale of logarithms: a short test shows the season as much as the level.
    pub fn half_way(self) -> Self {
        Self(self.0.map(f64::sqrt))
    }

    pub fn of_repeats(&self, repeats: u32) -> f64 {
        self.0.get(class_of(repeats)).copied().unwrap_or(1.0)
    }
}

fn class_of(repeats: u32) -> usize {
    CLASSES.iter().filter(|from| repeats >= **from).count()
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;

    #[test]
    fn a_young_shop_is_tried_out_half_way() {
        let as_of = date!(2026 - 03 - 01);
        let known = |days: i64| (as_of - back_test_day(Some(as_of - Duration::days(days)), as_of)).whole_days();
        assert_eq!([known(900), known(272), known(271), known(100), known(1), known(0)], [182, 182, 135, 50, 0, 0]);
        assert_eq!(known(-5), 0, "a first purchase to come");
        assert_eq!(back_test_day(None, as_of), date!(2025 - 08 - 31));
        let first = date!(2026 - 01 - 01);
        assert!(is_long_enough(first, date!(2026 - 02 - 15)) && !is_long_enough(first, date!(2026 - 02 - 14)));
    }

    fn outcomes(repeats: u32, customers: usize, expected: f64, came: f64) -> Vec<Outcome> {
        vec![Outcome { repeats, expected, came }; customers]
    }

    #[test]
    fn nothing_known_corrects_nothing() {
        assert_eq!(Corrections::of(&[]), Corrections::default());
        assert!((Corrections::default().of_repeats(7) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn each_class_goes_most_of_the_way_to_its_own_ratio() {
        let known = [outcomes(0, 10_000, 1.0, 0.5), outcomes(5, 10_000, 1.0, 1.0)].concat();
        let found = Corrections::of(&known);
        // All: 0.75. Own: 0.5 and 1.
        let way = |own: f64| 0.75 * (own / 0.75_f64).powf(0.75);
        assert!((found.of_repeats(0) - way(0.5)).abs() < 0.01, "{found:?}");
        assert!((found.of_repeats(3) - way(1.0)).abs() < 0.01 && (found.of_repeats(7) - way(1.0)).abs() < 0.01);
        assert!((found.of_repeats(1) - 0.75).abs() < 0.01, "a class without customers is that of all");
        assert!(found.at_most_as_expected().of_repeats(99) <= 1.0);
    }

    #[test]
    fn a_few_customers_change_little_and_nothing_is_beyond_bounds() {
        let few = Corrections::of(&outcomes(0, 3, 1.0, 0.0));
        assert!(few.of_repeats(0) > 0.9, "{few:?}");
        let wild = Corrections::of(&outcomes(0, 1_000, 1.0, 1e9));
        assert!((wild.of_repeats(0) - 2.0).abs() < f64::EPSILON);
        assert!((wild.half_way().of_repeats(0) - 2.0_f64.sqrt()).abs() < f64::EPSILON);
        assert!(Corrections::of(&outcomes(0, 1, f64::INFINITY, f64::NAN)).of_repeats(0).is_finite());
    }
}
