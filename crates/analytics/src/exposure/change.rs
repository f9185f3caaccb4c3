//! Whether a ratio of sums has fallen from one period to the next, by resampling its days.

use super::{LASTING, Spread};

/// Resamples of each period: they tell a probability of 2.5 % to half a percent.
const RESAMPLES: usize = 999;
/// Fewer days on either side tell nothing.
const FEWEST_DAYS: usize = 7;
/// Days that [`Change::fall`] is about.
const AHEAD_DAYS: f64 = 30.0;
/// Probabilities of the ends of [`Change::interval`].
const INTERVAL: (f64, f64) = (0.025, 0.975);

/// The two sums of a day whose ratio is looked at, such as contribution and net revenue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DayRatio {
    pub part: f64,
    pub whole: f64,
}

/// How a ratio has changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    pub before: f64,
    pub after: f64,
    /// Ends of the 95 % interval of `after − before`.
    pub interval: (f64, f64),
    /// By how much the ratio of the next 30 days will be lower than before, of what it fell [`LASTING`]; at least 0.
    pub fall: Spread,
}

/// The change of Σ part / Σ whole from the days `before` to the days `after`, with a bootstrap over days: each period's days
/// are drawn with replacement. The draws are the same at every call. None with too few days or no whole.
#[must_use]
pub fn change_of_ratio(before: &[DayRatio], after: &[DayRatio]) -> Option<Change> {
    if before.len() < FEWEST_DAYS || after.len() < FEWEST_DAYS {
        return None;
    }
    let (was, is) = (ratio(before.iter())?, ratio(after.iter())?);
    let mut draws = Draws(0x9E37_79B9_7F4A_7C15);
    let mut changes: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            let was = ratio((0..before.len()).filter_map(|_| before.get(draws.below(before.len()))))?;
            let is = ratio((0..after.len()).filter_map(|_| after.get(draws.below(after.len()))))?;
            Some(is - was)
        })
        .collect();
    changes.sort_by(f64::total_cmp);
    let at = |probability: f64| changes.get((probability * changes.len() as f64) as usize).copied();
    let count = changes.len().max(1) as f64;
    let mean = changes.iter().sum::<f64>() / count;
    let variance = changes.iter().map(|change| (change - mean) * (change - mean)).sum::<f64>() / count;
    // The month ahead has more days than were compared, and varies less.
    let by_days = |days: f64| 1.0 / before.len() as f64 + 1.0 / days;
    let ahead = variance * by_days(AHEAD_DAYS) / by_days(after.len() as f64);
    let fall = Spread::normal(LASTING * (was - is).max(0.0), ahead);
    Some(Change { before: was, after: is, interval: (at(INTERVAL.0)?, at(INTERVAL.1)?), fall })
}

fn ratio<'a>(days: impl Iterator<Item = &'a DayRatio>) -> Option<f64> {
    let (part, whole) = days.fold((0.0, 0.0), |(part, whole), day| (part + day.part, whole + day.whole));
    (whole > 0.0).then(|| part / whole)
}

/// SplitMix64 (Steele, Lea and Flood 2014): a fixed sequence, so that the same days give the same interval.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let drawn = u128::from(mixed ^ (mixed >> 31)) * bound as u128;
        (drawn >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Days of a whole of 100 whose parts go round a few values.
    fn days(count: usize, parts: [f64; 3]) -> Vec<DayRatio> {
        (0..count).map(|day| DayRatio { part: parts[day % 3], whole: 100.0 }).collect()
    }

    #[test]
    fn a_fall_beyond_the_days_own_spread_is_certain() {
        let found = change_of_ratio(&days(56, [40.0, 42.0, 38.0]), &days(14, [30.0, 32.0, 28.0])).unwrap();
        assert!((found.after - found.before + 0.1).abs() < 0.005, "{found:?}");
        assert!(found.interval.1 < 0.0 && found.interval.0 > -0.12, "{found:?}");
        // The standard error of 30 days against 56 is 1.63 · √(1/30 + 1/56) = 0.37 %, and 20 % and 80 % lie 0.84 of it off a
        // fifth of the fall.
        assert!((found.fall.high - found.fall.low - 0.0062).abs() < 0.001, "{found:?}");
        assert!((found.fall.expected - 0.02).abs() < 0.001, "{found:?}");
    }

    #[test]
    fn days_that_vary_more_than_they_fell_say_nothing() {
        let found = change_of_ratio(&days(56, [10.0, 80.0, 30.0]), &days(14, [5.0, 80.0, 25.0])).unwrap();
        assert!(found.interval.0 < 0.0 && found.interval.1 > 0.0, "{found:?}");
    }

    #[test]
    fn too_few_days_or_no_sales_are_not_compared() {
        assert_eq!(change_of_ratio(&days(56, [1.0; 3]), &days(6, [1.0; 3])), None);
        assert_eq!(change_of_ratio(&[DayRatio { part: 1.0, whole: 0.0 }; 9], &days(9, [1.0; 3])), None);
    }

    proptest! {
        #[test]
        fn ends_are_in_order(parts in prop::array::uniform3(-50.0f64..150.0), later in prop::array::uniform3(-50.0f64..150.0)) {
            let Change { interval, fall, .. } = change_of_ratio(&days(56, parts), &days(14, later)).unwrap();
            prop_assert!(interval.0 <= interval.1);
            prop_assert!(0.0 <= fall.low && fall.low <= fall.expected && fall.expected <= fall.high);
        }
    }
}
