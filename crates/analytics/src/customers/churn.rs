//! Probability of silence.

/// Days ahead that the churn score looks.
pub const HORIZON_DAYS: u32 = 90;

/// [`HORIZON_DAYS`] in weeks, the unit of the purchase model.
pub const HORIZON_WEEKS: f64 = HORIZON_DAYS as f64 / 7.0;

/// Probability of no purchase at all when `expected` purchases are forecast, 0 to 1:
/// (1 + E/k)^(−k).
///
/// The count is taken as negative binomial with mean E and shape k = r + x, the shape of the
/// customer's purchase rate after x repeat purchases ([`super::bgnbd::Params::shape`]). Unlike
/// 1 − P(alive) this ranks a customer who buys seldom as likely to be silent, which they are.
///
/// Input without sense (not a number, negative) counts as no purchases expected: 1.
#[must_use]
pub fn probability(expected: f64, shape: f64) -> f64 {
    if !(expected > 0.0 && shape > 0.0) {
        return 1.0;
    }
    if shape == f64::INFINITY {
        return (-expected).exp();
    }
    (-shape * (expected / shape).ln_1p()).exp().clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked by hand: (1 + 1/1)^−1, (1 + 3/1)^−1, (1 + 2/2)^−2, e^−1 in the Poisson limit.
    #[rstest::rstest]
    #[case(1.0, 1.0, 0.5)]
    #[case(3.0, 1.0, 0.25)]
    #[case(2.0, 2.0, 0.25)]
    #[case(1.0, f64::INFINITY, 0.367_879_441_171_442_33)]
    #[case(0.0, 1.0, 1.0)]
    #[case(-1.0, 1.0, 1.0)]
    #[case(f64::NAN, 1.0, 1.0)]
    #[case(1.0, f64::NAN, 1.0)]
    #[case(f64::INFINITY, 1.0, 0.0)]
    fn silence(#[case] expected: f64, #[case] shape: f64, #[case] probability_of_none: f64) {
        assert!((probability(expected, shape) - probability_of_none).abs() < 1e-15);
    }
}
