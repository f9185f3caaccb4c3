//! BG/NBD: how often a customer without a contract buys, and when they silently stop.
//!
//! While active a customer buys as a Poisson process with a personal rate λ ~ Gamma(r, α); after
//! each purchase they leave for good with a personal probability p ~ Beta(a, b). Source: P. Fader,
//! B. Hardie, K. L. Lee, "Counting Your Customers" the Easy Way, Marketing Science 24 (2005).

use serde::Serialize;

pub use super::bgnbd_fit::fit;
use super::special::ln_gamma;

/// One customer's purchases up to the moment of observation; always consistent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    frequency: u32,
    recency: f64,
    age: f64,
}

impl Summary {
    /// `frequency`: purchases after the first; `recency`: weeks from the first to the last
    /// purchase; `age`: weeks from the first purchase to now.
    ///
    /// Inconsistent input is brought to the nearest consistent one: what is negative or not a
    /// number becomes 0, an age over [`MAX_AGE`] becomes that, and the recency lies within 0 and
    /// the age, at 0 without a repeat purchase.
    #[must_use]
    pub fn new(frequency: u32, recency: f64, age: f64) -> Self {
        let age = non_negative(age).min(MAX_AGE);
        let recency = if frequency == 0 { 0.0 } else { non_negative(recency).min(age) };
        Self { frequency, recency, age }
    }

    /// Purchases after the first (x).
    #[must_use]
    pub const fn frequency(&self) -> u32 {
        self.frequency
    }

    /// Weeks from the first to the last purchase (t_x).
    #[must_use]
    pub const fn recency(&self) -> f64 {
        self.recency
    }

    /// Weeks from the first purchase to now (T).
    #[must_use]
    pub const fn age(&self) -> f64 {
        self.age
    }
}

/// Longest age in weeks, about a century.
pub const MAX_AGE: f64 = 5_200.0;
/// Longest horizon of a forecast in weeks.
pub const MAX_HORIZON: f64 = 520.0;
/// No forecast counts more purchases of one customer than this.
const MAX_PURCHASES: u32 = 100_000;
/// Parameters outside these bounds describe no customers that anybody has met.
pub(super) const PLAUSIBLE: std::ops::RangeInclusive<f64> = 1e-3..=1e4;

/// Parameters of the model, each within 1e-3 and 1e4.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Params {
    r: f64,
    alpha: f64,
    a: f64,
    b: f64,
}

impl Params {
    /// Parameters used when an account has no customers to learn from, and the centre towards
    /// which a small account is pulled: one purchase in fourteen weeks while active, one customer
    /// in seven leaving after a purchase. They lie between what two public data sets give (a music
    /// shop and a gift wholesaler).
    pub const POOLED: Self = Self { r: 0.45, alpha: 6.3, a: 0.4, b: 2.4 };

    /// Shape `r` and rate `alpha` (weeks) of the purchase rates, shapes `a` and `b` of the
    /// probabilities to leave. `None` unless all lie within 1e-3 and 1e4.
    #[must_use]
    pub fn new(r: f64, alpha: f64, a: f64, b: f64) -> Option<Self> {
        [r, alpha, a, b].iter().all(|p| PLAUSIBLE.contains(p)).then_some(Self { r, alpha, a, b })
    }

    #[must_use]
    pub const fn r(&self) -> f64 {
        self.r
    }

    #[must_use]
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    #[must_use]
    pub const fn a(&self) -> f64 {
        self.a
    }

    #[must_use]
    pub const fn b(&self) -> f64 {
        self.b
    }

    /// Shape of a customer's purchase rate after what has been seen of them, r + x.
    #[must_use]
    pub fn shape(&self, customer: &Summary) -> f64 {
        self.r + f64::from(customer.frequency)
    }

    /// Log-likelihood of one customer (equation 6 of the paper in logarithms).
    #[must_use]
    pub fn log_likelihood(&self, customer: &Summary) -> f64 {
        let Self { r, alpha, a, b } = *self;
        let x = f64::from(customer.frequency);
        let counts = ln_gamma(r + x) - ln_gamma(r) + r * alpha.ln() + ln_gamma(a + b) - ln_gamma(b) + ln_gamma(b + x)
            - ln_gamma(a + b + x);
        let alive = -(r + x) * (alpha + customer.age).ln();
        counts + alive + ln_1p_exp(self.ln_odds_gone(customer))
    }

    /// Probability that the customer is still active, 0 to 1. A customer without a repeat purchase
    /// had no occasion to leave in this model, so theirs is 1: for the risk of losing somebody
    /// use [`super::churn`].
    #[must_use]
    pub fn p_alive(&self, customer: &Summary) -> f64 {
        1.0 / (1.0 + self.ln_odds_gone(customer).exp())
    }

    /// Expected number of purchases in the next `weeks` (capped at [`MAX_HORIZON`]).
    ///
    /// The paper's formula with the hypergeometric function ₂F₁ is a difference of two terms that
    /// cancel, and breaks down at a = 1 and at a + b + x ≤ 1. Expanding the power series gives the
    /// same expectation as a sum of positive terms,
    ///
    /// E = P(alive) · Σ_j P(N > j) · (b+x)_j / (a+b+x)_j,
    ///
    /// where N, the purchases of somebody who never leaves, is negative binomial with shape r + x
    /// and success odds t / (α + T), and the fraction of rising factorials is the probability to
    /// survive j purchases. It converges geometrically and holds for all parameters.
    #[must_use]
    pub fn expected_purchases(&self, customer: &Summary, weeks: f64) -> f64 {
        let weeks = non_negative(weeks).min(MAX_HORIZON);
        if weeks == 0.0 {
            return 0.0;
        }
        self.p_alive(customer) * self.purchases_if_alive(customer, weeks)
    }

    fn purchases_if_alive(&self, customer: &Summary, weeks: f64) -> f64 {
        let shape = self.shape(customer);
        let stay = self.b + f64::from(customer.frequency);
        let exposure = self.alpha + customer.age;
        let z = weeks / (exposure + weeks);
        let ln_none = -shape * (weeks / exposure).ln_1p();
        let mut mass = Mass::new(ln_none);
        let mut more_than_j = -ln_none.exp_m1();
        let mut survives = 1.0;
        let mut sum = 0.0;
        for j in 0..MAX_PURCHASES {
            sum += more_than_j * survives;
            let done = f64::from(j);
            let ratio = (shape + done) / (done + 1.0) * z;
            mass.times(ratio);
            more_than_j = (more_than_j - mass.value).max(0.0);
            survives *= (stay + done) / (self.a + stay + done);
            // Past the mode the rest of the sum is below a geometric one.
            let decay = ratio.max(z);
            if decay < 1.0 {
                let rest = mass.value * decay / ((1.0 - decay) * (1.0 - decay)) * survives;
                if rest <= 1e-12 * sum {
                    break;
                }
            }
        }
        sum
    }

    /// Logarithm of P(gone) / P(alive); −∞ without a repeat purchase.
    fn ln_odds_gone(&self, customer: &Summary) -> f64 {
        if customer.frequency == 0 {
            return f64::NEG_INFINITY;
        }
        let x = f64::from(customer.frequency);
        (self.a / (self.b + (x - 1.0))).ln()
            + (self.r + x) * ((self.alpha + customer.age) / (self.alpha + customer.recency)).ln()
    }
}

/// A probability that may start below the smallest float and grow into range by factors.
struct Mass {
    ln_start: f64,
    value: f64,
}

impl Mass {
    /// Below this a product of further factors would lose digits.
    const SMALLEST: f64 = 1e-290;

    fn new(ln: f64) -> Self {
        Self { ln_start: ln, value: ln.exp() }
    }

    fn times(&mut self, factor: f64) {
        if self.value > Self::SMALLEST {
            self.value *= factor;
        } else {
            self.ln_start += factor.ln();
            self.value = self.ln_start.exp();
        }
    }
}

/// ln(1 + eˣ) without overflow.
fn ln_1p_exp(x: f64) -> f64 {
    if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

fn non_negative(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.max(0.0) }
}
