//! Gamma-Gamma: how much a purchase of a customer is worth.
//!
//! The value of a purchase varies around a personal mean as Gamma(p, ν), and ν ~ Gamma(q, γ) from
//! customer to customer. Source: P. Fader, B. Hardie, *The Gamma-Gamma Model of Monetary Value*
//! (2013). The model takes the value to be independent of how often somebody buys.

use serde::Serialize;

use super::minimise::{Minimum, minimise};
use super::prior::{Prior, wall};
use super::special::{digamma, ln_gamma};
use super::{Basis, ENOUGH_CUSTOMERS, Fit, Insufficient};

/// The purchases that a customer's mean value is taken over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spend {
    /// Number of purchases.
    pub purchases: u32,
    /// Mean value of one, in the account's currency. Customers without a purchase or without a
    /// positive, finite mean carry no information: they are left out of the fit and are expected
    /// to spend what everybody does.
    pub mean: f64,
}

impl Spend {
    /// Means outside this range (of any currency) are no prices.
    const USABLE: std::ops::RangeInclusive<f64> = 1e-9..=1e15;

    fn is_usable(&self) -> bool {
        self.purchases > 0 && Self::USABLE.contains(&self.mean)
    }
}

/// Parameters of the model: `p` and `q` have no unit, `gamma` is money.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Params {
    p: f64,
    q: f64,
    gamma: f64,
}

/// Shapes p and q − 1 outside these bounds describe nobody's customers.
const PLAUSIBLE: (f64, f64) = (1e-2, 1e4);

/// Pooled shapes (p, q): the centre towards which a small account is pulled. γ is set so that the
/// population mean is the account's own, whatever its currency.
pub const POOLED_SHAPES: (f64, f64) = (5.0, 3.5);

/// Customers that the model is fitted to, up to twice as many; of more of them as many are evenly taken.
const MOST: usize = 16_000;

/// The logarithms of p, q − 1 and γ are normal around the pooled values.
const POOLED: Prior<3> = Prior { spread: [0.7, 0.7, 1.0] };

impl Params {
    /// `None` unless p > 0, q > 1 (a mean exists) and γ > 0, all finite.
    #[must_use]
    pub fn new(p: f64, q: f64, gamma: f64) -> Option<Self> {
        let valid = p > 0.0 && q > 1.0 && gamma > 0.0 && [p, q, gamma].iter().all(|v| v.is_finite());
        valid.then_some(Self { p, q, gamma })
    }

    #[must_use]
    pub const fn p(&self) -> f64 {
        self.p
    }

    #[must_use]
    pub const fn q(&self) -> f64 {
        self.q
    }

    #[must_use]
    pub const fn gamma(&self) -> f64 {
        self.gamma
    }

    /// Mean value of a purchase over all customers, pγ / (q − 1).
    #[must_use]
    pub fn population_mean(&self) -> f64 {
        self.p * self.gamma / (self.q - 1.0)
    }

    /// Expected value of this customer's purchases to come: (γ + x·m)·p / (p·x + q − 1), a mean of
    /// the customer's own and everybody's, by how much is known of them.
    #[must_use]
    pub fn expected_value(&self, customer: &Spend) -> f64 {
        if !customer.is_usable() {
            return self.population_mean();
        }
        let x = f64::from(customer.purchases);
        (self.gamma + x * customer.mean) * self.p / (self.p * x + (self.q - 1.0))
    }
}

/// Fits the model by maximum likelihood; pools like [`super::bgnbd::fit`] when fewer than
/// [`ENOUGH_CUSTOMERS`] customers have a usable value or the maximum is implausible.
///
/// # Errors
/// [`Insufficient::NoSpend`] when no customer has a positive value.
pub fn fit(customers: &[Spend]) -> Result<Fit<Params>, Insufficient> {
    let all = Values::of(customers).ok_or(Insufficient::NoSpend)?;
    let informative = all.count();
    let taken = all.part();
    let values = taken.as_ref().unwrap_or(&all);
    let own = (informative >= ENOUGH_CUSTOMERS).then(|| values.most_likely()).flatten();
    let (at, basis) = match own {
        Some(at) => (at, Basis::Account),
        None => (values.search(values.centre(), true).at, Basis::Pooled),
    };
    let params = values.params(&at).or_else(|| values.params(&values.centre())).ok_or(Insufficient::NoSpend)?;
    let log_likelihood = all.log_likelihood(&at);
    Ok(Fit { params, basis, customers: customers.len(), informative, log_likelihood })
}

/// Mean values in units of their own mean, grouped by the number of purchases.
struct Values {
    by_purchases: Vec<(f64, Vec<f64>)>,
    unit: f64,
}

impl Values {
    fn of(customers: &[Spend]) -> Option<Self> {
        let mut usable: Vec<Spend> = customers.iter().copied().filter(Spend::is_usable).collect();
        usable.sort_unstable_by(|l, r| l.purchases.cmp(&r.purchases).then(l.mean.total_cmp(&r.mean)));
        let unit = usable.iter().map(|c| c.mean).sum::<f64>() / usable.len() as f64;
        let by_purchases = usable
            .chunk_by(|l, r| l.purchases == r.purchases)
            .filter_map(|same| {
                let purchases = f64::from(same.first()?.purchases);
                Some((purchases, same.iter().map(|c| c.mean / unit).collect()))
            })
            .collect();
        (!usable.is_empty()).then_some(Self { by_purchases, unit })
    }

    /// [`MOST`] to twice as many of the values, evenly taken from their order. `None` when there are not many more.
    fn part(&self) -> Option<Self> {
        let stride = self.count() / MOST;
        if stride < 2 {
            return None;
        }
        let numbered = self.by_purchases.iter().flat_map(|(x, means)| means.iter().map(move |mean| (*x, *mean)));
        let taken: Vec<(f64, f64)> = numbered.step_by(stride).collect();
        let by_purchases = taken
            .chunk_by(|l, r| l.0 == r.0)
            .filter_map(|same| Some((same.first()?.0, same.iter().map(|(_, mean)| *mean).collect())))
            .collect();
        Some(Self { by_purchases, unit: self.unit })
    }

    fn count(&self) -> usize {
        self.by_purchases.iter().map(|(_, means)| means.len()).sum()
    }

    /// Logarithms of p, q − 1 and γ (in units of the mean) under the pooled shapes.
    fn centre(&self) -> [f64; 3] {
        let (p, q) = POOLED_SHAPES;
        [p, q - 1.0, (q - 1.0) / p].map(f64::ln)
    }

    fn most_likely(&self) -> Option<[f64; 3]> {
        let found = self.search(self.centre(), false);
        let (low, high) = (PLAUSIBLE.0.ln(), PLAUSIBLE.1.ln());
        let [ln_p, ln_q, _] = found.at;
        let interior = [ln_p, ln_q].iter().all(|ln| *ln > low && *ln < high);
        (found.converged && interior).then_some(found.at)
    }

    fn search(&self, start: [f64; 3], pooled: bool) -> Minimum<3> {
        let customers = self.count() as f64;
        let centre = self.centre();
        minimise(start, |at| {
            let (mut value, mut gradient) = self.deviance(at);
            if pooled {
                POOLED.add(&centre, at, &mut value, &mut gradient);
            }
            value /= customers;
            gradient = gradient.map(|g| g / customers);
            wall(&(PLAUSIBLE.0.ln(), PLAUSIBLE.1.ln()), at, &mut value, &mut gradient);
            (value, gradient)
        })
    }

    fn params(&self, at: &[f64; 3]) -> Option<Params> {
        let [p, q_less_one, gamma] = at.map(f64::exp);
        Params::new(p, 1.0 + q_less_one, gamma * self.unit)
    }

    /// In the account's currency: a density changes with its unit.
    fn log_likelihood(&self, at: &[f64; 3]) -> f64 {
        -self.deviance(at).0 - self.count() as f64 * self.unit.ln()
    }

    /// Minus the log-likelihood (equation 3 of the note) and its gradient by the logarithms of p,
    /// q − 1 and γ.
    fn deviance(&self, at: &[f64; 3]) -> (f64, [f64; 3]) {
        let [p, q_less_one, gamma] = at.map(f64::exp);
        let (q, ln_gamma_scale) = (1.0 + q_less_one, at[2]);
        let fixed = q * ln_gamma_scale - ln_gamma(q);
        let psi_q = digamma(q);
        let mut value = 0.0;
        let mut gradient = [0.0; 3];
        for (x, means) in &self.by_purchases {
            let (px, pxq) = (p * x, p * x + q);
            let shared = fixed + ln_gamma(pxq) - ln_gamma(px) + px * x.ln();
            let psi_sum = digamma(pxq);
            let by_p = psi_sum - digamma(px) + x.ln();
            let by_q = psi_sum - psi_q + ln_gamma_scale;
            for mean in means {
                let (ln_mean, sum) = (mean.ln(), gamma + mean * x);
                let ln_sum = sum.ln();
                value -= shared + (px - 1.0) * ln_mean - pxq * ln_sum;
                gradient[0] -= px * (by_p + ln_mean - ln_sum);
                gradient[1] -= q_less_one * (by_q - ln_sum);
                gradient[2] -= q - gamma * pxq / sum;
            }
        }
        (value, gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_of_very_many_is_that_of_an_even_part_of_them() {
        // Values around means of 10 to 30; a multiplicative hash stands for chance.
        let spend = |i: u32| {
            let drawn = |salt: u32| f64::from((i ^ salt).wrapping_mul(2_654_435_761) >> 8) / f64::from(1_u32 << 24);
            Spend { purchases: 1 + i % 5, mean: (10.0 + 20.0 * drawn(0x5bd1)) * (0.7 + 0.6 * drawn(0x00c3_7a00)) }
        };
        let customers: Vec<Spend> = (0..100_000).map(spend).collect();
        let fitted = fit(&customers).unwrap();
        assert_eq!((fitted.customers, fitted.informative), (100_000, 100_000));
        let values = Values::of(&customers).unwrap();
        let all = values.params(&values.most_likely().unwrap()).unwrap();
        let one = Spend { purchases: 2, mean: 30.0 };
        let (taken, whole) = (fitted.params.expected_value(&one), all.expected_value(&one));
        assert!((taken / whole - 1.0).abs() < 0.01 && fitted.params != all, "{taken} beside {whole}");
        assert!(Values::of(&customers[..31_999]).unwrap().part().is_none(), "few are asked at once");
    }
}
