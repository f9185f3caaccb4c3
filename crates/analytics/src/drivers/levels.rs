//! What a deviation is made of in the terms that an owner knows: the splits along the way to a cause as one list each.

use std::collections::BTreeMap;

use super::attribution::{OTHER, shares};
use super::{Contribution, Part, Step};

/// Parts of a dimension that are listed one by one; the rest is one part.
const LISTED_PARTS: usize = 6;

/// One level: the last step's split, and around it what is left of the splits that were passed through. The contributions
/// sum to `total`; the driver that was found comes first.
pub(super) fn of(steps: &[Step], total: f64) -> Vec<Contribution> {
    let mut level: Vec<Contribution> = Vec::new();
    for step in steps.iter().rev() {
        let others = step.split.contributions.iter().skip(1).cloned();
        level = if level.is_empty() { vec![step.driver.clone()] } else { scaled(level, step.driver.contribution) };
        level.extend(others);
    }
    ranked(scaled(level, total), steps.last().map(|step| &step.driver))
}

/// The same contributions, in proportion, with another sum.
pub(super) fn scaled(mut level: Vec<Contribution>, total: f64) -> Vec<Contribution> {
    let sum: f64 = level.iter().map(|driver| driver.contribution).sum();
    let factor = total / sum;
    if sum != 0.0 && factor.is_finite() {
        level.iter_mut().for_each(|driver| driver.contribution *= factor);
    }
    level
}

/// The cause first, then the largest share; a driver that several splits came to is one, small parts are one, and the shares
/// are computed again.
pub(super) fn ranked(level: Vec<Contribution>, cause: Option<&Contribution>) -> Vec<Contribution> {
    let is_cause =
        |driver: &Contribution| cause.is_some_and(|c| (&c.metric, &c.part) == (&driver.metric, &driver.part));
    let mut level = shortened(united(level), is_cause);
    let contributions: Vec<f64> = level.iter().map(|driver| driver.contribution).collect();
    for (driver, share) in level.iter_mut().zip(shares(&contributions)) {
        driver.share = share;
    }
    level.sort_by(|a, b| {
        let largest = b.share.total_cmp(&a.share).then(b.contribution.abs().total_cmp(&a.contribution.abs()));
        is_cause(b).cmp(&is_cause(a)).then(largest)
    });
    level
}

/// Adds up what several splits say of one driver, as sales are in what each cost takes of them. Its figures are those of the
/// split where it matters most.
fn united(level: Vec<Contribution>) -> Vec<Contribution> {
    let mut united: Vec<Contribution> = Vec::new();
    for driver in level {
        match united.iter_mut().find(|known| (&known.metric, &known.part) == (&driver.metric, &driver.part)) {
            Some(known) => {
                let contribution = known.contribution + driver.contribution;
                if driver.contribution.abs() > known.contribution.abs() {
                    *known = driver;
                }
                known.contribution = contribution;
            }
            None => united.push(driver),
        }
    }
    united
}

/// Adds up the smallest parts of each dimension.
fn shortened(mut level: Vec<Contribution>, is_cause: impl Fn(&Contribution) -> bool) -> Vec<Contribution> {
    level.sort_by(|a, b| is_cause(b).cmp(&is_cause(a)).then(b.contribution.abs().total_cmp(&a.contribution.abs())));
    let mut kept = Vec::new();
    let mut listed: BTreeMap<Part, usize> = BTreeMap::new();
    let mut rest: BTreeMap<(String, Part), Contribution> = BTreeMap::new();
    for driver in level {
        let Some(part) = &driver.part else {
            kept.push(driver);
            continue;
        };
        let other = Part { value: OTHER.to_owned(), ..part.clone() };
        let count = listed.entry(other.clone()).or_default();
        if part.value != OTHER && *count < LISTED_PARTS {
            *count += 1;
            kept.push(driver);
        } else {
            rest.entry((driver.metric.clone(), other.clone()))
                .and_modify(|sum| sum.add(&driver))
                .or_insert(Contribution { part: Some(other), ..driver });
        }
    }
    kept.extend(rest.into_values());
    kept
}

impl Contribution {
    fn add(&mut self, other: &Self) {
        self.expected += other.expected;
        self.observed += other.observed;
        self.contribution += other.contribution;
        // Of several parts none is out of its range by a distance of its own.
        self.modz = 0.0;
        self.direction = super::Direction::of(self.observed - self.expected);
    }
}
