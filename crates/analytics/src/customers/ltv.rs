//! Value of the purchases to come.

use super::bgnbd::{Params, Summary};

/// Weeks that the value looks ahead.
pub const HORIZON_WEEKS: f64 = 52.0;

/// Discount rate per year when the account states none.
pub const ANNUAL_RATE: f64 = 0.10;

/// Weeks in a mean Gregorian year.
const WEEKS_PER_YEAR: f64 = 365.242_5 / 7.0;

/// Nodes in 0..1 and weights of the three-point Gauss–Legendre rule.
const GAUSS: [(f64, f64); 3] =
    [(0.112_701_665_379_258_31, 5.0 / 18.0), (0.5, 8.0 / 18.0), (0.887_298_334_620_741_7, 5.0 / 18.0)];

/// Force of interest per week that compounds to `annual_rate` in a year: ln(1 + i) / 52.18.
/// A rate that is negative or not a number counts as 0, one over 10 (1,000 %) as 10.
#[must_use]
pub fn weekly_force(annual_rate: f64) -> f64 {
    let rate = if annual_rate.is_nan() { 0.0 } else { annual_rate.clamp(0.0, 10.0) };
    rate.ln_1p() / WEEKS_PER_YEAR
}

/// Expected purchases within `weeks`, each weighted with its present value e^(−ρt).
///
/// Integration by parts turns ∫ e^(−ρt) dE(t) into e^(−ρH)·E(H) + ρ ∫ e^(−ρt)·E(t) dt. The
/// integral is a small part and smooth, so three points give it to about 1e-5 of the whole.
#[must_use]
pub fn discounted_purchases(params: &Params, customer: &Summary, weeks: f64, annual_rate: f64) -> f64 {
    let weeks = if weeks.is_nan() { 0.0 } else { weeks.clamp(0.0, super::bgnbd::MAX_HORIZON) };
    let force = weekly_force(annual_rate);
    let worth = |t: f64| (-force * t).exp() * params.expected_purchases(customer, t);
    let integral: f64 = GAUSS.iter().map(|(node, weight)| weight * worth(node * weeks)).sum();
    worth(weeks) + force * weeks * integral
}

/// Present value of the purchases of the next [`HORIZON_WEEKS`]: discounted purchases times the
/// expected value of one, never negative, always finite. `weeks`: how long they last on the clock
/// that the parameters are in, above 0.
#[must_use]
pub fn estimate(params: &Params, customer: &Summary, purchase_value: f64, weeks: f64, annual_rate: f64) -> f64 {
    if !(purchase_value > 0.0 && purchase_value.is_finite()) {
        return 0.0;
    }
    // As much interest in the year, however long its weeks are.
    let rate = (weekly_force(annual_rate) * WEEKS_PER_YEAR * HORIZON_WEEKS / weeks).exp_m1();
    let value = purchase_value * discounted_purchases(params, customer, weeks, rate);
    value.min(f64::MAX)
}
