//! What a risk may cost: quantiles and means of amounts that are not known yet.

mod change;
mod spike;

pub use change::{Change, DayRatio, change_of_ratio};
pub use spike::{Counts, Spike, spike};

use crate::negbin::NegBin;

/// Probabilities of the lower and the upper end of a [`Spread`].
pub const RANGE: (f64, f64) = (0.2, 0.8);
/// Standard normal quantile of the upper of them.
const RANGE_Z: f64 = 0.841_621_233_572_914_3;

/// The part of what stands out of a few weeks that the month after shows again, as measured: a week is picked for being out of
/// line, and most of that is chance.
const LASTING: f64 = 0.2;

/// An amount that is not known yet: its 20 % and 80 % quantiles around its mean, `low ≤ expected ≤ high`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    pub low: f64,
    pub expected: f64,
    pub high: f64,
}

impl Spread {
    /// Where the distribution is so skewed that its mean lies outside of the quantiles, they give way to it.
    #[must_use]
    pub const fn new(low: f64, expected: f64, high: f64) -> Self {
        Self { low: low.min(expected), expected, high: high.max(expected) }
    }

    /// Of an amount that is normally distributed and not negative.
    #[must_use]
    pub fn normal(mean: f64, variance: f64) -> Self {
        let reach = RANGE_Z * variance.max(0.0).sqrt();
        Self::new((mean - reach).max(0.0), mean.max(0.0), mean + reach)
    }

    /// The same amount in another unit; `factor` is not negative.
    #[must_use]
    pub const fn times(self, factor: f64) -> Self {
        Self { low: self.low * factor, expected: self.expected * factor, high: self.high * factor }
    }
}

/// Demand that a stock does not meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shortfall {
    /// That there is any.
    pub probability: f64,
    /// Units.
    pub units: Spread,
}

/// What is demanded over `days` beyond `stock` and what is `on_order`, which counts as none below 0. A stock below 0 was sold
/// already and takes as much of what is on order. `demand` gives the distribution of the units of the next days, by their number.
///
/// When an order arrives is not known: half-way, so that the stock alone has to last until then. The worse of the two halves
/// is what is missed.
#[must_use]
pub fn shortfall(demand: impl Fn(usize) -> NegBin, days: usize, stock: f64, on_order: f64) -> Shortfall {
    let (stock, on_order) = (whole(stock), whole(on_order + stock.min(0.0)));
    let in_the_end = beyond(&demand(days), stock.saturating_add(on_order));
    if on_order == 0 {
        return in_the_end;
    }
    let at_first = beyond(&demand(days.div_ceil(2)), stock);
    Shortfall {
        probability: at_first.probability.max(in_the_end.probability),
        units: Spread {
            low: at_first.units.low.max(in_the_end.units.low),
            expected: at_first.units.expected.max(in_the_end.units.expected),
            high: at_first.units.high.max(in_the_end.units.high),
        },
    }
}

fn whole(units: f64) -> u64 {
    if units.is_finite() { units.max(0.0) as u64 } else { 0 }
}

fn beyond(demand: &NegBin, stock: u64) -> Shortfall {
    let beyond = |probability| demand.quantile(probability).saturating_sub(stock) as f64;
    let (low, high) = RANGE;
    Shortfall {
        probability: (1.0 - demand.cdf(stock)).clamp(0.0, 1.0),
        units: Spread::new(beyond(low), demand.expected_excess(stock), beyond(high)),
    }
}

/// Standard deviation of what moves all chances alike (a season, a competitor), in parts of their mean: as measured, without
/// it a range holds 35 % of outcomes.
const COMMON_SHOCK: f64 = 0.13;

/// The sum of amounts of which each is lost with its own probability; independently of the others but for a
/// [`COMMON_SHOCK`].
#[must_use]
pub fn sum_of_chances(chances: &[(f64, f64)]) -> Spread {
    let (mut mean, mut variance, mut whole) = (0.0, 0.0, 0.0);
    for &(probability, amount) in chances {
        let probability = probability.clamp(0.0, 1.0);
        whole += amount;
        mean += probability * amount;
        variance += probability * (1.0 - probability) * amount * amount;
    }
    variance += (COMMON_SHOCK * mean) * (COMMON_SHOCK * mean);
    let Spread { low, expected, high } = Spread::normal(mean, variance);
    Spread::new(low, expected, high.min(whole))
}

/// Herfindahl–Hirschman index of parts of a whole, 0 to 10,000: the sum of the squares of their shares in percent. None
/// where there is no whole.
#[must_use]
pub fn concentration(squares: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| (10_000.0 * squares / (whole * whole)).min(10_000.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_certain_to_sell_is_missed_unit_by_unit() {
        let demand = NegBin::from_moments(100.0, 105.0).unwrap();
        let missed = shortfall(|_| demand, 9, 40.0, 0.0);
        assert!(missed.probability > 0.999_999, "{missed:?}");
        // The distribution's standard deviation is 10.2, so that 20 % and 80 % lie 8.6 off the mean.
        let Spread { low, expected, high } = missed.units;
        assert!(
            (expected - 60.0).abs() < 1e-6 && (low - 51.0).abs() <= 1.0 && (high - 69.0).abs() <= 1.0,
            "{missed:?}"
        );
        assert_eq!(shortfall(|_| demand, 9, -3.0, f64::NAN), shortfall(|_| demand, 9, 0.0, 0.0));
        assert!((shortfall(|_| demand, 9, 0.0, 0.0).units.expected - 100.0).abs() < 1e-9);
    }

    #[test]
    fn the_stock_alone_has_to_last_until_half_way() {
        // Ten a day, almost for certain: 5 days of the 10 are 50, and only 20 are there.
        let demand = |days: usize| NegBin::from_moments(10.0 * days as f64, 10.5 * days as f64).unwrap();
        let missed = shortfall(demand, 10, 20.0, 500.0);
        assert!(missed.probability > 0.999 && (missed.units.expected - 30.0).abs() < 0.01, "{missed:?}");
        let in_time = shortfall(demand, 10, 90.0, 500.0);
        assert!(in_time.probability < 0.001 && in_time.units.high < 0.001, "{in_time:?}");
        assert!((shortfall(demand, 10, 49.0, 1.0).units.expected - 50.0).abs() < 0.01, "the order is too small");
    }

    #[test]
    fn a_sum_of_chances_has_the_moments_of_its_parts() {
        // Four customers of 100 with even odds: 200, and a standard deviation of √(100² + 26²) = 103.325.
        let Spread { low, expected, high } = sum_of_chances(&[(0.5, 100.0); 4]);
        assert!((expected - 200.0).abs() < 1e-9 && (low - 113.04).abs() < 0.01 && (high - 286.96).abs() < 0.01);
        let certain = sum_of_chances(&[(1.0, 70.0)]);
        assert_eq!((certain.expected, certain.high), (70.0, 70.0), "no more than there is");
        assert_eq!(sum_of_chances(&[]), Spread::default());
    }

    #[test]
    fn concentration_is_that_of_the_competition_authorities() {
        // Four equal parts, and one alone.
        assert_eq!(concentration(4.0 * 25.0 * 25.0, 100.0), Some(2_500.0));
        assert_eq!(concentration(9.0, 3.0), Some(10_000.0));
        assert_eq!(concentration(0.0, 0.0), None);
    }

    proptest! {
        #[test]
        fn spreads_are_in_order(
            mean in 0.0f64..1e5, ratio in 1.0f64..80.0, stock in -10.0f64..1e5, on_order in -10.0f64..1e4,
            chances in prop::collection::vec((0.0f64..=1.0, 0.0f64..1e6), 0..20),
        ) {
            let demand = |days: usize| NegBin::from_moments(mean * days as f64, mean * ratio * days as f64).unwrap();
            let missed = shortfall(demand, 14, stock, on_order);
            prop_assert!((0.0..=1.0).contains(&missed.probability));
            for Spread { low, expected, high } in [missed.units, sum_of_chances(&chances)] {
                prop_assert!(0.0 <= low && low <= expected && expected <= high, "{low} {expected} {high}");
            }
        }

        #[test]
        fn more_stock_never_misses_more(mean in 0.1f64..1e3, ratio in 1.0f64..40.0, stock in 0u32..2_000) {
            let demand = NegBin::from_moments(mean, mean * ratio).unwrap();
            let [some, more] = [f64::from(stock), f64::from(stock) + 1.0].map(|stock| shortfall(|_| demand, 14, stock, 0.0));
            prop_assert!(more.probability <= some.probability + 1e-9);
            prop_assert!(more.units.expected <= some.units.expected + 1e-6);
        }
    }
}
