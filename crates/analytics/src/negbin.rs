//! Negative binomial distribution of the demand over a window, by its mean and variance.
//!
//! A Poisson stream of orders whose rate varies from week to week (gamma) gives negative binomial counts; with
//! `r = mean² / (variance − mean)` and `p = r / (r + mean)`, `P(X ≤ k) = I_p(r, k + 1)`, the regularised incomplete beta
//! function (Johnson, Kemp and Kotz, *Univariate Discrete Distributions*, 2005, eq. 5.31).

use libm::{exp, fabs, lgamma, log, log1p};

/// The variance is never taken below this multiple of the mean: a sample of a few weeks can look regular by accident.
const MIN_VARIANCE_TO_MEAN: f64 = 1.05;
/// Above this mean (or quantile) counts no longer matter and the search stops.
const LARGEST_COUNT: u64 = 1 << 40;

/// Counts with a given mean and variance (`variance ≥ 1.05 · mean`; a smaller one is raised). The default is always zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NegBin {
    mean: f64,
    variance: f64,
}

impl NegBin {
    /// `None` if either moment is negative or not finite.
    #[must_use]
    pub fn from_moments(mean: f64, variance: f64) -> Option<Self> {
        let valid = |x: f64| x.is_finite() && x >= 0.0;
        (valid(mean) && valid(variance)).then(|| Self { mean, variance: variance.max(mean * MIN_VARIANCE_TO_MEAN) })
    }

    #[must_use]
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    #[must_use]
    pub const fn variance(&self) -> f64 {
        self.variance
    }

    #[must_use]
    pub fn standard_deviation(&self) -> f64 {
        self.variance.sqrt()
    }

    /// `P(X ≤ k)`.
    #[must_use]
    pub fn cdf(&self, k: u64) -> f64 {
        let excess = self.variance - self.mean;
        if self.mean <= f64::MIN_POSITIVE || excess <= 0.0 {
            return 1.0;
        }
        let r = self.mean * self.mean / excess;
        // p = r / (r + mean) = mean / variance
        regularized_beta(self.mean / self.variance, r, k as f64 + 1.0)
    }

    /// The mean of `(X − k)⁺`: what is demanded beyond `k` units. With `X⁺` of the same `p` and `r + 1`,
    /// `E[X; X > k] = E[X] · P(X⁺ ≥ k)`.
    #[must_use]
    pub fn expected_excess(&self, k: u64) -> f64 {
        let excess = self.variance - self.mean;
        if self.mean <= f64::MIN_POSITIVE || excess <= 0.0 {
            return (self.mean - k as f64).max(0.0);
        }
        let Some(before) = k.checked_sub(1) else { return self.mean };
        // One more in r is one more times (1 − p) / p in the mean, at the same variance to mean.
        let more = self.mean + excess / self.mean;
        let shifted = Self { mean: more, variance: more * self.variance / self.mean };
        let beyond = self.mean * (1.0 - shifted.cdf(before)) - k as f64 * (1.0 - self.cdf(k));
        beyond.clamp(0.0, self.mean)
    }

    /// The smallest `k` with `P(X ≤ k) ≥ probability`; `probability` is kept within `[0, 0.9999]`.
    #[must_use]
    pub fn quantile(&self, probability: f64) -> u64 {
        let goal = if probability.is_finite() { probability.clamp(0.0, 0.9999) } else { 0.0 };
        if self.cdf(0) >= goal {
            return 0;
        }
        // Invariant: cdf(low) < goal ≤ cdf(high).
        let mut low = 0u64;
        let mut high = (self.mean as u64).clamp(1, LARGEST_COUNT);
        while self.cdf(high) < goal {
            low = high;
            high = high.saturating_mul(2);
            if high > LARGEST_COUNT {
                return LARGEST_COUNT;
            }
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.cdf(middle) < goal {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

/// `I_x(a, b)` for `a, b > 0`, by Lentz's evaluation of the continued fraction (Abramowitz and Stegun 26.5.8).
fn regularized_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    let value = if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(1.0 - x, b, a) / b
    };
    if value.is_finite() {
        value.clamp(0.0, 1.0)
    } else {
        // Only reached where a or b overflow the gamma function: the distribution is then a point at its mean.
        if x < a / (a + b) { 0.0 } else { 1.0 }
    }
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const MOST_TERMS: u32 = 5_000; // about √max(a, b) are needed
    let away_from_zero = |v: f64| if fabs(v) < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for term in 1..=MOST_TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        let step = d * c;
        value *= step;
        if fabs(step - 1.0) < 1e-14 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// Expected values: scipy 1.17.1, `nbinom.cdf` and `nbinom.ppf`.
    #[rstest]
    #[case(12.0, 40.0, &[(0, 0.0020460173397584), (5, 0.1373943610011901), (12, 0.5901972320348128), (30, 0.9895808709636804)])]
    #[case(0.05, 0.0525, &[(0, 0.9523809523809523), (1, 0.9977324263038548)])]
    #[case(900.0, 25_000.0, &[(600, 0.018195004494667107), (900, 0.5242035543505513), (1300, 0.9890542576827892)])]
    #[case(50_000.0, 4e6, &[(47_000, 0.0645934098639808), (50_000, 0.5053857535428703)])]
    #[case(3.0, 60.0, &[(0, 0.62312361621777), (2, 0.7679998569884017), (20, 0.9633013960066228)])]
    fn cdf_agrees_with_scipy(#[case] mean: f64, #[case] variance: f64, #[case] expected: &[(u64, f64)]) {
        let demand = NegBin::from_moments(mean, variance).unwrap();
        for &(k, probability) in expected {
            assert!((demand.cdf(k) - probability).abs() < 1e-8, "cdf({k}) = {}", demand.cdf(k));
        }
    }

    #[rstest]
    #[case(12.0, 40.0, &[(0.1, 5), (0.5, 11), (0.9, 20), (0.95, 24), (0.99, 31)])]
    #[case(0.05, 0.0525, &[(0.5, 0), (0.95, 0), (0.99, 1), (0.999, 2)])]
    #[case(900.0, 25_000.0, &[(0.05, 656), (0.5, 891), (0.95, 1175)])]
    #[case(50_000.0, 4e6, &[(0.5, 49_974), (0.95, 53_334)])]
    #[case(3.0, 60.0, &[(0.5, 0), (0.8, 3), (0.95, 17)])]
    fn quantile_agrees_with_scipy(#[case] mean: f64, #[case] variance: f64, #[case] expected: &[(f64, u64)]) {
        let demand = NegBin::from_moments(mean, variance).unwrap();
        for &(probability, k) in expected {
            assert_eq!(demand.quantile(probability), k, "quantile({probability})");
        }
    }

    #[test]
    fn moments_that_are_no_numbers_are_refused() {
        for (mean, variance) in [(f64::NAN, 1.0), (1.0, f64::INFINITY), (-1.0, 1.0), (1.0, -1.0)] {
            assert_eq!(NegBin::from_moments(mean, variance), None);
        }
        assert_eq!(NegBin::from_moments(0.0, 0.0).unwrap().quantile(0.95), 0);
    }

    /// The mean of what is above `k` is the sum of `P(X > j)` over all `j` from `k` on.
    #[rstest]
    #[case(12.0, 40.0)]
    #[case(0.05, 0.0525)]
    #[case(3.0, 60.0)]
    #[case(90.0, 2_500.0)]
    fn excess_agrees_with_the_sum_of_tails(#[case] mean: f64, #[case] variance: f64) {
        let demand = NegBin::from_moments(mean, variance).unwrap();
        for k in [0, 1, 2, 5, 12, 60, 200] {
            let sum: f64 = (k..2_000).map(|above| 1.0 - demand.cdf(above)).sum();
            assert!((demand.expected_excess(k) - sum).abs() < 1e-6, "{k}: {} and {sum}", demand.expected_excess(k));
        }
    }

    proptest! {
        #[test]
        fn quantile_inverts_the_cdf(mean in 1e-6f64..1e7, ratio in 0.0f64..500.0, probability in 0.0f64..1.0) {
            let demand = NegBin::from_moments(mean, mean * ratio).unwrap();
            let k = demand.quantile(probability);
            let goal = probability.min(0.9999);
            prop_assert!(demand.cdf(k) >= goal);
            prop_assert!(k == 0 || demand.cdf(k - 1) < goal);
        }
    }
}
