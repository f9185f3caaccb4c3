//! Ticks of an axis.

/// The most ticks of an axis.
const MOST_TICKS: usize = 6;
/// The same, to compute with.
const MOST: f64 = MOST_TICKS as f64;
/// Figures that are closer together than this part of the larger are one: between them floats leave no room for ticks.
const APART: f64 = 1e-12;

/// Steps within a power of ten.
const STEPS: [f64; 8] = [1.0, 2.0, 2.5, 5.0, 10.0, 20.0, 25.0, 50.0];

/// Ticks at round values that cover the figures: the first and the last are the edges of the plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    pub ticks: Vec<f64>,
    /// Decimals that the ticks need.
    pub decimals: u32,
}

impl Scale {
    /// At most six ticks whose distance is 1, 2, 2.5 or 5 times a power of ten (after Heckbert, "Nice numbers for graph
    /// labels", Graphics Gems, 1990), the smallest such distance that covers `low` to `high`. Both are finite.
    pub fn covering(low: f64, high: f64) -> Self {
        Self::with_steps(low, high, f64::MIN_POSITIVE, |_| true)
    }

    /// The same of what is counted: there are no halves of it.
    pub fn counting(low: f64, high: f64) -> Self {
        Self::with_steps(low, high, 1.0, |step| step.fract() == 0.0)
    }

    /// With the smallest step that is allowed, from the power of ten `least` on.
    fn with_steps(low: f64, high: f64, least: f64, is_allowed: impl Fn(f64) -> bool) -> Self {
        let largest = low.abs().max(high.abs());
        let (low, high) = if high - low > APART * largest {
            (low, high)
        } else if largest > 0.0 {
            // What is one figure is drawn by how far it is from zero.
            (low.min(0.0), high.max(0.0))
        } else {
            (0.0, 1.0)
        };
        let power = 10f64.powf(((high - low) / (MOST - 1.0)).log10().floor()).max(least);
        let fits = |step: &f64| is_allowed(*step) && (high / step).ceil() - (low / step).floor() < MOST;
        let step = STEPS.iter().map(|step| step * power).find(fits).unwrap_or(high - low);
        let (first, last) = ((low / step).floor(), (high / step).ceil());
        let indices = std::iter::successors(Some(first), |index| Some(index + 1.0)).take(MOST_TICKS);
        // Products, not sums: errors do not add up.
        let ticks = indices.take_while(|index| *index <= last).map(|index| index * step).collect();
        let decimals = (0..6).find(|decimals| {
            let scaled = step * 10f64.powi(*decimals);
            (scaled - scaled.round()).abs() < 1e-6
        });
        Self { ticks, decimals: decimals.and_then(|decimals| u32::try_from(decimals).ok()).unwrap_or(6) }
    }

    pub fn low(&self) -> f64 {
        self.ticks.first().copied().unwrap_or_default()
    }

    pub fn high(&self) -> f64 {
        self.ticks.last().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(Scale::covering(-1896.0, 1320.0).ticks, [-2000.0, -1000.0, 0.0, 1000.0, 2000.0]);
        assert_eq!(Scale::covering(0.0, 44.0).ticks, [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        assert_eq!(Scale::covering(0.021, 0.184).decimals, 2);
    }

    #[test]
    fn a_single_figure_stands_above_zero() {
        let ticks = |figure| Scale::covering(figure, figure).ticks;
        assert_eq!(ticks(5.0), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(ticks(5681.4), [0.0, 2000.0, 4000.0, 6000.0]);
        assert_eq!(ticks(-300.0), [-300.0, -200.0, -100.0, 0.0]);
        let edges = |figure| (Scale::covering(figure, figure).low(), Scale::covering(figure, figure).high());
        assert_eq!((edges(0.5), edges(0.0)), ((0.0, 0.5), (0.0, 1.0)));
    }

    #[test]
    fn ticks_of_counts_are_whole() {
        assert_eq!(Scale::covering(0.0, 2.0).ticks, [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!(Scale::counting(0.0, 2.0).ticks, [0.0, 1.0, 2.0]);
        assert_eq!(Scale::counting(0.3, 0.8).ticks, [0.0, 1.0]);
        assert_eq!(Scale::counting(0.0, 12.0).ticks, [0.0, 5.0, 10.0, 15.0]);
        assert_eq!(Scale::counting(0.0, 120.0).ticks, [0.0, 25.0, 50.0, 75.0, 100.0, 125.0]);
        assert_eq!(Scale::counting(3.0, 3.0).ticks, [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(Scale::counting(0.0, 0.0).ticks, [0.0, 1.0]);
    }

    #[test]
    fn what_is_too_large_for_steps_of_one_has_ticks_as_well() {
        for figure in [9.1e15, 1e18, -1e18, 1e26] {
            for scale in [Scale::covering(figure, figure), Scale::counting(figure, figure)] {
                assert!((2..=6).contains(&scale.ticks.len()), "{scale:?}");
                assert!(scale.low() <= figure && figure <= scale.high(), "{scale:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn ticks_cover_the_figures_and_are_few(low in -1e12f64..1e12, length in 0f64..1e12) {
            let high = low + length;
            for scale in [Scale::covering(low, high), Scale::counting(low, high)] {
                prop_assert!((2..=6).contains(&scale.ticks.len()), "{:?}", scale);
                prop_assert!(scale.ticks.is_sorted());
                let slack = (high - low).max(1.0) * 1e-9 + low.abs() * 1e-12;
                prop_assert!(scale.low() <= low + slack && scale.high() >= high - slack, "{:?}", scale);
            }
        }
    }
}
