//! Estimation of BG/NBD parameters.

use super::bgnbd::{PLAUSIBLE, Params, Summary};
use super::minimise::{Minimum, minimise};
use super::prior::{Prior, wall};
use super::special::{digamma, ln_gamma};
use super::{Basis, ENOUGH_CUSTOMERS, Fit, Insufficient};

/// What shops of this kind look like before one has been seen: the logarithms of r, α, a and b
/// are normal around [`Params::POOLED`]. Shops differ most in the pace of buying (α) and in how
/// readily customers leave (a): a standard deviation there is a factor of 3 to 4, else of 2 to 3.
const POOLED: Prior<4> = Prior { spread: [0.7, 1.2, 1.5, 1.0] };

/// Groups of equal customers that a model is fitted to, up to twice as many: with more of them, evenly taken, its parameters
/// change by less than their own error, and the time does not grow with a shop's customers and history.
const MOST: usize = 16_000;
/// Groups that show the way to the maximum of many more.
const PART: usize = 4_000;

/// Fits the model by maximum likelihood.
///
/// With fewer than [`ENOUGH_CUSTOMERS`] repeat buyers, or when the likelihood rises towards
/// implausible parameters (nobody ever leaves, say), the pooled parameters join as a prior and the
/// result is the posterior mode; [`Fit::basis`] says which of the two happened.
///
/// The cost is linear in the number of *different* customers, and bounded: equal summaries are counted, not
/// repeated, and of more than [`MOST`] different ones as many are evenly taken.
///
/// # Errors
/// [`Insufficient::NoBuyers`] without any customer.
pub fn fit(customers: &[Summary]) -> Result<Fit<Params>, Insufficient> {
    if customers.is_empty() {
        return Err(Insufficient::NoBuyers);
    }
    let all = Groups::of(customers);
    let taken = all.part(MOST);
    let groups = taken.as_ref().unwrap_or(&all);
    let repeaters = customers.iter().filter(|c| c.frequency() > 0).count();
    let own = (repeaters >= ENOUGH_CUSTOMERS).then(|| groups.most_likely()).flatten();
    let (params, basis) = match own {
        Some(params) => (params, Basis::Account),
        None => (groups.most_probable(), Basis::Pooled),
    };
    let log_likelihood = -all.deviance(&logs(params)).0;
    Ok(Fit { params, basis, customers: customers.len(), informative: repeaters, log_likelihood })
}

/// Customers with equal purchase counts, and among them equal summaries counted once.
struct Groups {
    by_frequency: Vec<(f64, Vec<Weighted>)>,
    customers: f64,
}

#[derive(Clone, Copy)]
struct Weighted {
    recency: f64,
    age: f64,
    count: f64,
}

impl Groups {
    fn of(customers: &[Summary]) -> Self {
        let mut sorted = customers.to_vec();
        sorted.sort_unstable_by(|l, r| {
            l.frequency()
                .cmp(&r.frequency())
                .then(l.age().total_cmp(&r.age()))
                .then(l.recency().total_cmp(&r.recency()))
        });
        let by_frequency = sorted
            .chunk_by(|l, r| l.frequency() == r.frequency())
            .filter_map(|same| {
                let frequency = f64::from(same.first()?.frequency());
                Some((frequency, same.chunk_by(|l, r| l == r).filter_map(weigh).collect()))
            })
            .collect();
        Self { by_frequency, customers: customers.len() as f64 }
    }

    /// The maximum of the likelihood, if it lies at plausible parameters.
    fn most_likely(&self) -> Option<Params> {
        let centre = logs(Params::POOLED);
        // The second start has rare leaving; the likelihood may be flat between the two.
        let starts = [centre, [centre[0] + 0.5, centre[1] + 0.5, centre[2] - 2.0, centre[3]]];
        // Of many customers a part shows which way to go, and all of them are asked for the last steps only.
        let led = self.part(PART).and_then(|part| part.lowest(&starts)).map(|found| found.at);
        let found = self.lowest(led.as_ref().map_or(&starts[..], std::slice::from_ref))?;
        is_plausible(&found).then(|| params(&found.at)).flatten()
    }

    /// The mode of the posterior under the pooled prior.
    fn most_probable(&self) -> Params {
        let centre = logs(Params::POOLED);
        let start = self.part(PART).map_or(centre, |part| part.search(centre, Some(&POOLED)).at);
        params(&self.search(start, Some(&POOLED)).at).unwrap_or(Params::POOLED)
    }

    /// The lowest of the minima that are found from `starts`; one at plausible parameters before any other.
    fn lowest(&self, starts: &[[f64; 4]]) -> Option<Minimum<4>> {
        let found = starts.iter().map(|start| self.search(*start, None));
        found.min_by(|l, r| is_plausible(r).cmp(&is_plausible(l)).then(l.value.total_cmp(&r.value)))
    }

    /// `size` to twice as many of the groups, evenly taken from their order by frequency and age. `None` when there are not
    /// many more.
    fn part(&self, size: usize) -> Option<Self> {
        let all: usize = self.by_frequency.iter().map(|(_, customers)| customers.len()).sum();
        let stride = all / size;
        if stride < 2 {
            return None;
        }
        let numbered = self.by_frequency.iter().flat_map(|(x, customers)| customers.iter().map(move |one| (*x, *one)));
        let taken: Vec<(f64, Weighted)> = numbered.step_by(stride).collect();
        let by_frequency = taken
            .chunk_by(|l, r| l.0 == r.0)
            .filter_map(|same| Some((same.first()?.0, same.iter().map(|(_, customer)| *customer).collect())))
            .collect();
        let customers = taken.iter().map(|(_, customer)| customer.count).sum();
        Some(Self { by_frequency, customers })
    }

    fn search(&self, start: [f64; 4], prior: Option<&Prior<4>>) -> Minimum<4> {
        let centre = logs(Params::POOLED);
        minimise(start, |at| {
            let (mut value, mut gradient) = self.deviance(at);
            if let Some(prior) = prior {
                prior.add(&centre, at, &mut value, &mut gradient);
            }
            value /= self.customers;
            gradient = gradient.map(|g| g / self.customers);
            wall(&bounds(), at, &mut value, &mut gradient);
            (value, gradient)
        })
    }

    /// Minus the log-likelihood and its gradient, by the logarithms of r, α, a and b.
    fn deviance(&self, at: &[f64; 4]) -> (f64, [f64; 4]) {
        let [r, alpha, a, b] = at.map(f64::exp);
        let ln_alpha = at[1];
        let fixed = ln_gamma(a + b) - ln_gamma(b) - ln_gamma(r) + r * ln_alpha;
        let (psi_r, psi_b, psi_ab) = (digamma(r), digamma(b), digamma(a + b));
        let mut value = 0.0;
        let mut gradient = [0.0; 4];
        for (x, customers) in &self.by_frequency {
            let shape = r + x;
            let shared = fixed + ln_gamma(shape) + ln_gamma(b + x) - ln_gamma(a + b + x);
            let psi_shape = digamma(shape) - psi_r + ln_alpha;
            let psi_leave = psi_ab - digamma(a + b + x);
            let psi_stay = psi_leave + digamma(b + x) - psi_b;
            let ln_leave = if *x > 0.0 { (a / (b + (x - 1.0))).ln() } else { f64::NEG_INFINITY };
            let by_stay = if *x > 0.0 { 1.0 / (b + (x - 1.0)) } else { 0.0 };
            for customer in customers {
                let (until_now, until_last) = (alpha + customer.age, alpha + customer.recency);
                let ln_now = until_now.ln();
                let (ln_last, ln_odds) = if *x > 0.0 {
                    let ln_last = until_last.ln();
                    (ln_last, ln_leave + shape * (ln_now - ln_last))
                } else {
                    (ln_now, f64::NEG_INFINITY)
                };
                // Of the odds and their inverse, the one that is at most 1.
                let odds = (-ln_odds.abs()).exp();
                let gone = if ln_odds > 0.0 { 1.0 / (1.0 + odds) } else { odds / (1.0 + odds) };
                let alive = 1.0 - gone;
                let w = customer.count;
                value -= w * (shared - shape * ln_now + ln_odds.max(0.0) + odds.ln_1p());
                gradient[0] -= w * r * (psi_shape - alive * ln_now - gone * ln_last);
                gradient[1] -= w * (r - alpha * shape * (alive / until_now + gone / until_last));
                gradient[2] -= w * (a * psi_leave + gone);
                gradient[3] -= w * b * (psi_stay - gone * by_stay);
            }
        }
        (value, gradient)
    }
}

fn weigh(equal: &[Summary]) -> Option<Weighted> {
    let one = equal.first()?;
    Some(Weighted { recency: one.recency(), age: one.age(), count: equal.len() as f64 })
}

fn logs(params: Params) -> [f64; 4] {
    [params.r(), params.alpha(), params.a(), params.b()].map(f64::ln)
}

fn params(at: &[f64; 4]) -> Option<Params> {
    let (low, high) = (*PLAUSIBLE.start(), *PLAUSIBLE.end());
    let [r, alpha, a, b] = at.map(|ln| ln.exp().clamp(low, high));
    Params::new(r, alpha, a, b)
}

fn bounds() -> (f64, f64) {
    (PLAUSIBLE.start().ln(), PLAUSIBLE.end().ln())
}

fn is_plausible(found: &Minimum<4>) -> bool {
    found.converged && interior(&found.at)
}

/// Whether the point is inside the plausible region, a factor of 2 away from its edge.
fn interior(at: &[f64; 4]) -> bool {
    let (low, high) = bounds();
    at.iter().all(|ln| *ln > low + std::f64::consts::LN_2 && *ln < high - std::f64::consts::LN_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All different: a pace of buying of their own, half of them left at some time. A multiplicative hash stands for chance.
    fn many(count: u32) -> Vec<Summary> {
        let drawn =
            |i: u32, salt: u32| (f64::from((i ^ salt).wrapping_mul(2_654_435_761) >> 8) + 0.5) / f64::from(1_u32 << 24);
        let customer = |i: u32| {
            let age = 1.0 + 104.0 * drawn(i, 0x5bd1);
            let life = if i.is_multiple_of(2) { age } else { age * drawn(i, 0xe995_0000) };
            let frequency = (-0.1 * drawn(i, 0x00c3_7a00).ln() * life).floor().min(200.0) as u32;
            let recency = if frequency == 0 { 0.0 } else { life * (1.0 - 0.5 / f64::from(frequency)) };
            Summary::new(frequency, recency, age)
        };
        (0..count).map(customer).collect()
    }

    #[test]
    fn a_part_leads_to_the_same_maximum() {
        let groups = Groups::of(&many(30_000));
        let part = groups.part(PART).unwrap();
        let taken: usize = part.by_frequency.iter().map(|(_, customers)| customers.len()).sum();
        assert!((PART..2 * PART).contains(&taken), "{taken}");
        let found = logs(groups.most_likely().unwrap());
        let (_, slope) = groups.deviance(&found);
        assert!(slope.iter().all(|by| by.abs() / groups.customers < 1e-6), "not flat: {slope:?}");
        let of_part = part.search(logs(Params::POOLED), None).at;
        assert!(found.iter().zip(of_part).any(|(all, part)| (all - part).abs() > 1e-4), "all of them have a say");
        assert!(Groups::of(&many(2 * 4_000 - 1)).part(PART).is_none(), "few are asked at once");
    }

    #[test]
    fn a_model_of_very_many_is_that_of_an_even_part_of_them() {
        let customers = many(100_000);
        let fitted = fit(&customers).unwrap();
        assert_eq!((fitted.customers, fitted.basis), (100_000, Basis::Account));
        let all = Groups::of(&customers);
        let taken: usize = all.part(MOST).unwrap().by_frequency.iter().map(|(_, customers)| customers.len()).sum();
        assert!((MOST..2 * MOST).contains(&taken), "{taken}");
        // Hardly a slope is left for all of them.
        let (_, slope) = all.deviance(&logs(fitted.params));
        assert!(slope.iter().all(|by| by.abs() / all.customers < 0.05), "{slope:?}");
    }
}
