//! Exponential smoothing of intermittent demand: Croston (1972), the Syntetos–Boylan approximation (2005) and
//! Teunter–Syntetos–Babai (2011).
//!
//! All three take units per period, oldest first, and return the expected units per period from the next one on.
//! Values that are not finite or not above zero count as periods without demand; a smoothing constant outside `(0, 1]`
//! is moved into it.

/// Smoothing constant of the classic methods.
pub const CLASSIC_ALPHA: f64 = 0.1;

/// Simple exponential smoothing that starts at the first observation.
#[derive(Clone, Copy, Default)]
struct Smoothed(Option<f64>);

impl Smoothed {
    fn update(&mut self, observed: f64, alpha: f64) {
        self.0 = Some(self.0.map_or(observed, |level| level + alpha * (observed - level)));
    }
}

fn demand_of(units: f64) -> Option<f64> {
    (units.is_finite() && units > 0.0).then_some(units)
}

fn smoothing_constant(alpha: f64) -> f64 {
    if alpha.is_finite() { alpha.clamp(1e-6, 1.0) } else { CLASSIC_ALPHA }
}

/// Croston's method: smoothed demand size over smoothed interval between demands. Zero without any demand.
///
/// J. D. Croston, "Forecasting and stock control for intermittent demands", *Operational Research Quarterly* 23 (1972).
#[must_use]
pub fn croston(units: &[f64], alpha: f64) -> f64 {
    let alpha = smoothing_constant(alpha);
    let (mut size, mut interval) = (Smoothed::default(), Smoothed::default());
    let mut since_last = 0.0;
    for &observed in units {
        since_last += 1.0;
        if let Some(demand) = demand_of(observed) {
            size.update(demand, alpha);
            interval.update(since_last, alpha);
            since_last = 0.0;
        }
    }
    match (size.0, interval.0) {
        (Some(size), Some(interval)) => size / interval,
        _ => 0.0,
    }
}

/// Croston's method with the bias of the ratio removed: `(1 − α/2) · croston`.
///
/// A. A. Syntetos and J. E. Boylan, "The accuracy of intermittent demand estimates", *International Journal of
/// Forecasting* 21 (2005). The 5 % reduction of `α = 0.1` is theirs; other constants scale it.
#[must_use]
pub fn syntetos_boylan(units: &[f64], alpha: f64) -> f64 {
    let alpha = smoothing_constant(alpha);
    (1.0 - alpha / 2.0) * croston(units, alpha)
}

/// Teunter–Syntetos–Babai: smoothed demand size times the smoothed probability of a demand. Unlike Croston's ratio the
/// probability also falls in periods without demand, so that the forecast of a dying item decays to zero.
///
/// R. H. Teunter, A. A. Syntetos and M. Z. Babai, "Intermittent demand: linking forecasting to inventory obsolescence",
/// *European Journal of Operational Research* 214 (2011).
#[must_use]
pub fn teunter_syntetos_babai(units: &[f64], alpha_size: f64, alpha_probability: f64) -> f64 {
    let (alpha_size, alpha_probability) = (smoothing_constant(alpha_size), smoothing_constant(alpha_probability));
    let (mut size, mut probability) = (Smoothed::default(), Smoothed::default());
    for &observed in units {
        let demand = demand_of(observed);
        probability.update(if demand.is_some() { 1.0 } else { 0.0 }, alpha_probability);
        if let Some(demand) = demand {
            size.update(demand, alpha_size);
        }
    }
    size.0.unwrap_or(0.0) * probability.0.unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const SPARSE: &[f64] = &[0., 0., 3., 0., 0., 0., 5., 0., 1., 0., 0., 2., 0., 0., 0., 0., 4., 0., 0., 6.];
    const SELLS_FIRST: &[f64] = &[2., 0., 0., 1., 0., 7., 0., 0., 0., 3., 0., 0.];
    const DENSE: &[f64] = &[4., 2., 5., 1., 3., 6., 2., 4.];
    const DYING: &[f64] = &[0., 1., 0., 0., 0., 0., 8., 0., 0., 0., 0., 0., 0., 0., 0.];

    /// Expected values: statsforecast 2.1.1 (`CrostonClassic`, `CrostonSBA`, `TSB(alpha_d=.1, alpha_p=.1)`,
    /// `TSB(alpha_d=.3, alpha_p=.05)`), one step ahead.
    #[rstest]
    #[case(SPARSE, 1.038361526896565, 0.9864434505517367, 0.9534829641505538, 0.7843596253528695)]
    #[case(SELLS_FIRST, 1.5908505154639172, 1.5113079896907213, 1.2122824987952106, 2.1903738189160378)]
    #[case(DENSE, 3.6650308000000007, 3.4817792600000006, 3.6650308000000007, 3.534841599999999)]
    #[case(DYING, 0.7391304347826089, 0.7021739130434784, 0.11639114478159306, 0.1823981897581279)]
    fn agrees_with_statsforecast(
        #[case] units: &[f64],
        #[case] classic: f64,
        #[case] sba: f64,
        #[case] tsb: f64,
        #[case] tsb_uneven: f64,
    ) {
        for (ours, theirs) in [
            (croston(units, 0.1), classic),
            (syntetos_boylan(units, 0.1), sba),
            (teunter_syntetos_babai(units, 0.1, 0.1), tsb),
            (teunter_syntetos_babai(units, 0.3, 0.05), tsb_uneven),
        ] {
            assert!((ours - theirs).abs() < 1e-6, "{ours} is not {theirs}");
        }
    }

    #[rstest]
    #[case(&[])]
    #[case(&[0.0, 0.0])]
    #[case(&[f64::NAN, f64::INFINITY, -3.0])]
    fn no_demand_is_a_forecast_of_zero(#[case] units: &[f64]) {
        assert_eq!(croston(units, 0.1), 0.0);
        assert_eq!(syntetos_boylan(units, f64::NAN), 0.0);
        assert_eq!(teunter_syntetos_babai(units, 0.1, 9.0), 0.0);
    }
}
