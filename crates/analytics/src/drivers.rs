//! Cause inference: which driver of a metric, in which part of the business, made it depart from what was expected.
//!
//! Metrics hang together by definition (takings = visitors × conversion × units per order × price per unit; profit =
//! revenue − costs; a total = the sum over countries). [`explain`] splits a deviation along these identities, exactly,
//! names the driver whose change explains it, and goes on inside that driver. It never reasons from correlation.

mod attribution;
mod facts;
mod tree;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use time::Date;

pub use facts::{Facts, Part};

use crate::detector::{Insufficient, LARGEST_VALUE};
use attribution::{MIN_SHARE, MIN_Z, OTHER};
use tree::Node;

/// |z| of the explained metric below which there is nothing to explain: with several drivers the largest of them looks
/// striking on every other ordinary day.
const MIN_ROOT_Z: f64 = 2.5;
/// Probability below which a more detailed cause is not put in place of the one already found.
const MIN_CONFIDENCE: f64 = 0.5;
/// Longest chain of causes; the tree itself is shallower.
const MAX_DEPTH: usize = 8;

/// Which way a metric departed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Down,
    Up,
}

impl Direction {
    fn of(change: f64) -> Self {
        if change < 0.0 { Self::Down } else { Self::Up }
    }
}

/// Along what a metric was split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Its drivers, by definition.
    Drivers,
    /// The values of a dimension, such as `country`.
    Dimension(String),
}

/// One driver's part in a deviation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contribution {
    pub metric: String,
    /// Part of the business the driver is about; `None` is the whole.
    pub part: Option<Part>,
    /// In the driver's own unit.
    pub expected: f64,
    pub observed: f64,
    /// In the unit of the metric that was split: the contributions of a breakdown sum to its observed − expected.
    pub contribution: f64,
    /// Contribution as a fraction of the deviation; the shares sum to 1, single ones may be negative or above 1. All 0
    /// when there is no deviation.
    pub share: f64,
    /// Distance from the driver's own forecast in standard deviations of its one-day-ahead error, by robust estimates.
    pub modz: f64,
    pub direction: Direction,
}

/// A metric split along one identity, the most likely driver first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Breakdown {
    pub metric: String,
    pub part: Option<Part>,
    pub by: By,
    pub expected: f64,
    pub observed: f64,
    /// Ranked by |contribution| × significance.
    pub contributions: Vec<Contribution>,
    /// Probability, 0 to 1, that the first of them is the one that changed, given that one did.
    pub confidence: f64,
}

impl Breakdown {
    /// Its first driver, if that accounts for half of the deviation at least and is itself out of its ordinary range. The
    /// rest of a dimension names nothing that anybody could look at.
    fn names_one(&self) -> Option<&Contribution> {
        let is_rest = |c: &Contribution| c.part.as_ref().is_some_and(|part| part.value == OTHER);
        self.contributions.first().filter(|c| c.share >= MIN_SHARE && c.modz.abs() >= MIN_Z && !is_rest(c))
    }
}

/// The driver found at the end of the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    pub metric: String,
    pub part: Option<Part>,
    pub direction: Direction,
    pub expected: f64,
    pub observed: f64,
    pub modz: f64,
    /// Fraction of the explained metric's deviation that it accounts for, at least 0.5.
    pub share: f64,
    /// Calibrated probability, 0.5 to 1, that it is the driver that changed.
    pub confidence: f64,
}

/// Why a metric was not what was expected on one day. Every number is finite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    pub metric: String,
    pub date: Date,
    pub expected: f64,
    pub observed: f64,
    /// Of the explained metric against its own forecast.
    pub z_score: f64,
    /// Every split that the facts allow along the chain of causes, from the whole to the detail.
    pub breakdowns: Vec<Breakdown>,
    /// The chain from the first driver to the detail; empty when the cause is unknown.
    pub chain: Vec<Cause>,
}

impl Explanation {
    /// The most detailed cause; `None` when it is unknown.
    pub fn cause(&self) -> Option<&Cause> {
        self.chain.last()
    }

    /// The finding in one sentence, in plain words.
    pub fn sentence(&self) -> String {
        let what = format!("{} was {}", plain(&self.metric), against(self.observed, self.expected));
        let Some(cause) = self.cause() else {
            return format!("{what}; cause unknown: no single driver explains half of it beyond its ordinary range");
        };
        let chain: Vec<String> = self
            .chain
            .iter()
            .map(|c| format!("{} {}", name(&c.metric, c.part.as_ref()), against(c.observed, c.expected)))
            .collect();
        format!("{what}, mainly because of {} ({:.0} % of the deviation)", chain.join(", there "), 100.0 * cause.share)
    }
}

/// "price per unit" for `price_per_unit`.
fn plain(metric: &str) -> String {
    metric.replace('_', " ")
}

fn name(metric: &str, part: Option<&Part>) -> String {
    match part {
        Some(part) => {
            let path: Vec<String> =
                part.path().iter().map(|part| format!("{} {}", part.dimension, part.value)).collect();
            format!("{} of {}", plain(metric), path.join(", "))
        }
        None => plain(metric),
    }
}

fn against(observed: f64, expected: f64) -> String {
    let side = if observed < expected { "below" } else { "above" };
    if expected.abs() > 1e-9 {
        format!("{:.0} % {side} what was expected", 100.0 * ((observed - expected) / expected).abs())
    } else {
        format!("{side} what was expected")
    }
}

/// Explains `metric` on the last day of `facts`.
///
/// `expected` is what its detector expected, so that the contributions add up to the deviation that was reported; without
/// it the metric's own forecast is taken. Where the facts allow no split at all, or nothing stands out, the explanation
/// comes back with an empty chain: the cause is unknown.
///
/// # Errors
/// [`Insufficient`] when the day has no value of the metric or fewer than 14 days before it have.
pub fn explain(facts: &Facts, metric: &str, expected: Option<f64>) -> Result<Explanation, Insufficient> {
    let mut node = Node { metric: metric.to_owned(), part: None };
    let own = attribution::own_forecast(facts, &node)?;
    let root_expected = expected.filter(|e| e.abs() <= LARGEST_VALUE).unwrap_or(own.expected);
    let mut explanation = Explanation {
        metric: metric.to_owned(),
        date: facts.date().ok_or(Insufficient::Value)?,
        expected: root_expected,
        observed: own.observed,
        z_score: own.z_score,
        breakdowns: Vec::new(),
        chain: Vec::new(),
    };
    let (mut share, mut confidence, mut node_expected) = (1.0, 1.0, root_expected);
    let mut weighed = BTreeSet::from([metric.to_owned()]);
    for _ in 0..MAX_DEPTH {
        let splits = attribution::breakdowns(facts, &node, node_expected, &weighed);
        let best = splits
            .iter()
            .filter_map(|split| split.names_one().map(|c| (split, c.clone())))
            .max_by(|a, b| a.0.confidence.total_cmp(&b.0.confidence));
        let Some((split, driver)) = best else {
            explanation.breakdowns.extend(splits);
            break;
        };
        share *= driver.share;
        confidence *= split.confidence;
        weighed.extend(split.contributions.iter().map(|c| c.metric.clone()));
        if let By::Dimension(_) = split.by {
            // What a ratio is made of has been weighed with its parts.
            weighed.extend(tree::summed(&split.metric).1.into_iter().map(str::to_owned));
        }
        explanation.breakdowns.extend(splits);
        if own.z_score.abs() < MIN_ROOT_Z || share < MIN_SHARE || confidence < MIN_CONFIDENCE {
            break;
        }
        node = Node { metric: driver.metric.clone(), part: driver.part.clone() };
        node_expected = driver.expected;
        let Contribution { metric, part, expected, observed, modz, direction, contribution: _, share: _ } = driver;
        explanation.chain.push(Cause { metric, part, direction, expected, observed, modz, share, confidence });
    }
    Ok(explanation)
}

#[cfg(test)]
mod tests;
