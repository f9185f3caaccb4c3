//! Rules that name a winner, and what they look at.

use analytics::creatives::{
    Contrast, FADED_BELOW, LEAST_DAYS, LEAST_GROUP_PURCHASES, LEAST_LIFT, LEAST_PURCHASES, Outcome, Stratum, TAU,
    THRESHOLD,
};

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.96;

/// What the arms of a group have brought by a look.
pub struct Seen<'a> {
    pub arms: &'a [Outcome],
    /// The same a look earlier; nothing before the first.
    pub before: &'a [Outcome],
    /// Looks so far, this one included.
    pub looks: usize,
    /// The squared coefficient of variation of an event's amount.
    pub spread: f64,
}

pub type Rule = fn(&Seen<'_>) -> Option<usize>;

pub const RULES: [(&str, Rule); 8] = [
    ("z, p < .05", |seen| seen.best(|contrast, _| contrast.d / contrast.v.sqrt() > Z)),
    ("z, Bonferroni", |seen| seen.best(|contrast, arms| contrast.d / contrast.v.sqrt() > bonferroni(arms))),
    ("1.5 times the rest", |seen| seen.best(|contrast, _| contrast.d >= 1.5_f64.ln())),
    ("flat Bayes, P(best) >= .95", |seen| seen.likeliest(f64::INFINITY)),
    ("empirical Bayes, P(best) >= .95", |seen| seen.likeliest(TAU)),
    ("e/K >= 20", |seen| seen.best(|contrast, arms| evidence(contrast, arms) >= 20.0)),
    ("e/K >= 10", |seen| seen.best(|contrast, arms| evidence(contrast, arms) >= THRESHOLD)),
    ("the full rule", full),
];

fn evidence(contrast: Contrast, arms: usize) -> f64 {
    contrast.ln_evidence(TAU).exp() / arms as f64
}

fn full(seen: &Seen<'_>) -> Option<usize> {
    let events: f64 = seen.arms.iter().map(|arm| arm.events).sum();
    let found =
        seen.best(|contrast, arms| evidence(contrast, arms) >= THRESHOLD && contrast.shrunk(TAU) >= LEAST_LIFT.ln())?;
    let before = Seen { arms: seen.before, before: &[], looks: seen.looks - 1, spread: seen.spread }.contrast(found)?;
    let lasts = evidence(before, seen.arms.len()) >= FADED_BELOW;
    let own = seen.arms.get(found)?.events;
    (lasts && own >= LEAST_PURCHASES && events >= LEAST_GROUP_PURCHASES && seen.looks >= LEAST_DAYS).then_some(found)
}

/// The quantile of .025 by the number of arms, for up to twelve.
fn bonferroni(arms: usize) -> f64 {
    const QUANTILES: [f64; 12] = [1.96, 2.24, 2.39, 2.5, 2.58, 2.64, 2.69, 2.73, 2.77, 2.81, 2.84, 2.87];
    QUANTILES.get(arms.saturating_sub(1)).copied().unwrap_or(2.9)
}

impl Seen<'_> {
    pub fn contrast(&self, arm: usize) -> Option<Contrast> {
        let mut others = Outcome::default();
        for (_, other) in self.arms.iter().enumerate().filter(|(place, _)| *place != arm) {
            others.exposure += other.exposure;
            others.amount += other.amount;
            others.events += other.events;
        }
        Contrast::of([Stratum { own: *self.arms.get(arm)?, others }], self.spread)
    }

    /// The arm that is furthest above the others, if it passes.
    fn best(&self, passes: impl Fn(Contrast, usize) -> bool) -> Option<usize> {
        let contrasts = (0..self.arms.len()).filter_map(|arm| Some((arm, self.contrast(arm)?)));
        let passing = contrasts.filter(|(_, contrast)| passes(*contrast, self.arms.len()));
        passing.max_by(|left, right| left.1.d.total_cmp(&right.1.d)).map(|(arm, _)| arm)
    }

    /// The arm that is the best with a probability of .95, by normal posteriors of the logarithms of the rates; `tau` is the
    /// deviation of their prior.
    fn likeliest(&self, tau: f64) -> Option<usize> {
        let events: f64 = self.arms.iter().map(|arm| arm.events).sum();
        let mean = (self.arms.iter().map(|arm| arm.amount).sum::<f64>()
            / self.arms.iter().map(|arm| arm.exposure).sum::<f64>())
        .ln();
        if events <= 0.0 || self.arms.iter().any(|arm| arm.amount <= 0.0) {
            return None;
        }
        let posteriors: Vec<(f64, f64)> = self
            .arms
            .iter()
            .map(|arm| {
                let (rate, v) = ((arm.amount / arm.exposure).ln(), (1.0 + self.spread) / arm.events);
                let weight = if tau.is_finite() { tau * tau / (tau * tau + v) } else { 1.0 };
                (mean + weight * (rate - mean), (weight * v).sqrt())
            })
            .collect();
        let best = posteriors.iter().enumerate().max_by(|left, right| left.1.0.total_cmp(&right.1.0))?.0;
        (chance_of_best(&posteriors, best) >= 0.95).then_some(best)
    }
}

/// The probability that one of independent normals is the largest, on a grid of its own deviations.
fn chance_of_best(normals: &[(f64, f64)], best: usize) -> f64 {
    const STEPS: i32 = 48;
    let Some(&(mean, sd)) = normals.get(best) else { return 0.0 };
    let mut chance = 0.0;
    let mut weight = 0.0;
    for step in 0..STEPS {
        let z = (f64::from(step) + 0.5) * 8.0 / f64::from(STEPS) - 4.0;
        let density = (-0.5 * z * z).exp();
        let below = normals.iter().enumerate().filter(|(place, _)| *place != best);
        let all_below: f64 = below.map(|(_, (other, their))| phi((mean + z * sd - other) / their)).product();
        chance += density * all_below;
        weight += density;
    }
    chance / weight
}

/// The normal distribution function, by the logistic approximation of Bowling et al. (2009), to 1.4e-4.
fn phi(x: f64) -> f64 {
    1.0 / (1.0 + (-0.07056 * x.powi(3) - 1.5976 * x).exp())
}
