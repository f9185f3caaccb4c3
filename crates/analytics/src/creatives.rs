//! Which creative of a campaign does better than the others, and when that is known.
//!
//! A rate (revenue per spend, purchases or clicks per impression) is compared with that of the other creatives, within days
//! and ad sets, by the ratio of Mantel and Haenszel (Statistical aspects of the analysis of data from retrospective studies,
//! 1959) with the variance of Greenland and Robins (Estimation of a common effect parameter from sparse follow-up data, 1985).
//! The evidence is an e-value: the likelihood ratio of the measured logarithm against none, mixed over a half-normal prior
//! (Robbins, Statistical methods related to the law of the iterated logarithm, 1970; Johari, Pekelis, Walsh: Always valid
//! inference, 2015). By Ville's inequality it exceeds 1/α with a probability of at most α however often it is looked at.

mod fatigue;
mod verdict;

pub use fatigue::{Fatigue, Shown, fatigue};
pub use verdict::{
    Cell, FADED_BELOW, Group, LEAST_CLICKS, LEAST_DAYS, LEAST_GROUP_PURCHASES, LEAST_LIFT, LEAST_PURCHASES, Metric,
    Needs, Status, THRESHOLD, Told, Verdict, contrasts, judge,
};

/// The standard deviation of the true differences between creatives, in logarithms: what was measured over thousands of
/// tests of headlines is .214.
pub const TAU: f64 = 0.25;
/// Comparisons after which an account's own [`own_tau`] is used.
pub const OWN_TAU_FROM: usize = 200;
/// No estimate of it is outside of these.
const TAUS: (f64, f64) = (0.05, 1.0);
/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// What a creative and the others did in a stratum, such as an ad set on a day.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stratum {
    pub own: Outcome,
    pub others: Outcome,
}

/// An exposure (spend or impressions), what came of it, and in how many events (purchases or clicks).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Outcome {
    pub exposure: f64,
    pub amount: f64,
    pub events: f64,
}

/// How a creative's rate compares with that of the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    /// The logarithm of the ratio.
    pub d: f64,
    /// Its variance.
    pub v: f64,
}

/// By how much a rate is higher than that of the others, in parts of it: 0.5 is half as much again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lift {
    pub observed: f64,
    /// Shrunk by what is known of such differences: the one to quote.
    pub shrunk: f64,
    /// The 95 % interval of the shrunk one.
    pub low: f64,
    pub high: f64,
}

impl Contrast {
    /// Over strata in which both were seen. `spread` is the squared coefficient of variation of an event's amount, 0 for
    /// counts. None where either brought nothing.
    pub fn of(strata: impl IntoIterator<Item = Stratum>, spread: f64) -> Option<Self> {
        let (mut own, mut others) = (Outcome::default(), Outcome::default());
        let mut pooled = 0.0;
        for Stratum { own: here, others: there } in strata {
            let all = here.exposure + there.exposure;
            if here.exposure <= 0.0 || there.exposure <= 0.0 {
                continue;
            }
            own.amount += here.amount * there.exposure / all;
            own.events += here.events * there.exposure / all;
            others.amount += there.amount * here.exposure / all;
            others.events += there.events * here.exposure / all;
            pooled += (here.events + there.events) * here.exposure * there.exposure / (all * all);
        }
        let is_known = own.amount > 0.0 && others.amount > 0.0 && own.events > 0.0 && others.events > 0.0;
        is_known.then(|| Self {
            d: libm::log(own.amount / others.amount),
            v: (1.0 + spread) * pooled / (own.events * others.events),
        })
    }

    /// The logarithm of the e-value for a higher rate.
    pub fn ln_evidence(&self, tau: f64) -> f64 {
        let Self { d, v } = *self;
        let (square, sum) = (tau * tau, v + tau * tau);
        let normal = 0.5 * libm::log(v / sum) + d * d * square / (2.0 * v * sum);
        normal + std::f64::consts::LN_2 + ln_phi(d * tau / libm::sqrt(v * sum))
    }

    /// The same comparison, of the others with the creative.
    pub fn mirrored(&self) -> Self {
        Self { d: -self.d, v: self.v }
    }

    /// The logarithm of the shrunk ratio: the mean under a normal prior.
    pub fn shrunk(&self, tau: f64) -> f64 {
        self.d * tau * tau / (tau * tau + self.v)
    }

    pub fn lift(&self, tau: f64) -> Lift {
        let (shrunk, square) = (self.shrunk(tau), tau * tau);
        let half = Z * libm::sqrt(square * self.v / (square + self.v));
        let part = |logarithm: f64| libm::expm1(logarithm);
        Lift { observed: part(self.d), shrunk: part(shrunk), low: part(shrunk - half), high: part(shrunk + half) }
    }
}

/// The logarithm of the normal distribution function. Far below 0 its first asymptotic term is used, where `erfc` has no digits
/// left.
fn ln_phi(x: f64) -> f64 {
    if x > -30.0 {
        return libm::log(0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2));
    }
    -0.5 * x * x - libm::log(-x) - 0.918_938_533_204_672_7
}

/// An account's own [`TAU`], by the moments of its comparisons (DerSimonian and Laird: Meta-analysis in clinical trials, 1986,
/// with a mean of 0). [`TAU`] where there are too few.
pub fn own_tau(contrasts: &[Contrast]) -> f64 {
    if contrasts.len() < OWN_TAU_FROM {
        return TAU;
    }
    let weights: f64 = contrasts.iter().map(|contrast| 1.0 / contrast.v).sum();
    let spread: f64 = contrasts.iter().map(|contrast| contrast.d * contrast.d / contrast.v).sum();
    let square = (spread - contrasts.len() as f64) / weights;
    libm::sqrt(square.max(0.0)).clamp(TAUS.0, TAUS.1)
}

#[cfg(test)]
mod tests;
