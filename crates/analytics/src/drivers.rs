//! Cause inference: which driver of a metric, in which part of the business, made it depart from what was expected.
//!
//! Metrics hang together by definition (takings = visitors × conversion × units per order × price per unit; profit =
//! revenue − costs; a total = the sum over countries). [`explain`] splits a deviation along these identities, exactly,
//! names the lever or the part of the business whose change explains it, and goes on inside that. A sum or a count that
//! only restates the deviation (profit by revenue, revenue by orders) is passed through. It never reasons from correlation.

mod attribution;
mod facts;
mod levels;
mod tree;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use time::Date;

pub use facts::{Facts, Part};
pub use tree::Lever;

use crate::detector::{Insufficient, LARGEST_VALUE};
use attribution::{MIN_SHARE, MIN_Z, OTHER};
use tree::Node;

/// |z| of the explained metric below which there is nothing to explain: with several drivers the largest of them looks
/// striking on every other ordinary day.
const MIN_ROOT_Z: f64 = 2.5;
/// Probability below which a more detailed cause is not put in place of the one already found.
const MIN_CONFIDENCE: f64 = 0.5;
/// How much further than the others together a part has gone, relative to what was expected of each.
const APART: f64 = 2.0;
/// Share of what is expected of the whole beyond which a part is nearly all of it, and has to have gone further still: by
/// chance alone the little that is left goes its own way.
const NEARLY_ALL: f64 = 0.85;
const FAR_APART: f64 = 10.0;
/// Part of an expected value by which sums of it may be off.
const ROUNDING: f64 = 1e-9;
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
    /// The part of all contributions in the direction of the deviation that is this one's, 0 for what went against it: the
    /// shares sum to 1. All 0 when there is no deviation.
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
        let is_one = |c: &&Contribution| {
            c.share >= MIN_SHARE && c.modz.abs() >= MIN_Z && !is_rest(c) && self.is_whole_or_apart(c)
        };
        self.contributions.first().filter(is_one)
    }

    /// Whether a part of a dimension has gone much further than the others together: most of what moves everywhere moves in
    /// the largest part.
    fn is_whole_or_apart(&self, driver: &Contribution) -> bool {
        if self.by == By::Drivers {
            return true;
        }
        let least = (ROUNDING * self.expected.abs()).max(f64::MIN_POSITIVE);
        let relative = |deviation: f64, expected: f64| deviation.abs() / expected.abs().max(least);
        let others = self.observed - self.expected - driver.contribution;
        // That it has nothing left is no chance.
        let is_nearly_all = driver.observed != 0.0 && driver.expected.abs() > NEARLY_ALL * self.expected.abs();
        // What went the other way did not go with it.
        if !is_nearly_all && others * driver.contribution < 0.0 {
            return true;
        }
        let own = relative(driver.contribution, driver.expected);
        let rest = relative(others, self.expected - driver.expected);
        let times = if is_nearly_all { FAR_APART } else { APART };
        own >= times * rest
    }
}

/// How much a cause says, of those that are as likely: what moved more than where it did; of a platform that sells in one country
/// alone the platform, of one that has a single campaign the campaign.
fn closeness(driver: &Contribution) -> u8 {
    match driver.part.as_ref().map(|part| part.dimension.as_str()) {
        None => 4,
        Some("campaign") => 3,
        Some("platform") => 2,
        Some("country") => 1,
        Some(_) => 0,
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
    /// Of what made the explained metric deviate, the part that it accounts for, 0.5 to 1.
    pub share: f64,
    /// Calibrated probability, 0.5 to 1, that it is the driver that changed.
    pub confidence: f64,
}

impl Cause {
    /// What an owner can look at, where the metric is that in itself; a part of the business is, whatever its metric.
    pub fn lever(&self) -> Option<Lever> {
        tree::lever(&self.metric)
    }
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
    /// What the deviation is made of, then what the first driver of it is made of, and so on along the chain. Contributions
    /// are in the unit of the explained metric; those of the first level sum to its deviation, those of the next to the
    /// first contribution of the level before; the shares of each to 1. Where the cause is known it comes first.
    pub levels: Vec<Vec<Contribution>>,
    /// From the first lever or part of the business to the detail; empty when the cause is unknown.
    pub chain: Vec<Cause>,
}

impl Explanation {
    /// The most detailed cause; `None` when it is unknown.
    pub fn cause(&self) -> Option<&Cause> {
        self.chain.last()
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
    let root = Node { metric: metric.to_owned(), part: None };
    let own = attribution::own_forecast(facts, &root)?;
    let expected = expected.filter(|e| e.abs() <= LARGEST_VALUE).unwrap_or(own.expected);
    let mut explanation = Explanation {
        metric: metric.to_owned(),
        date: facts.date().ok_or(Insufficient::Value)?,
        expected,
        observed: own.observed,
        z_score: own.z_score,
        breakdowns: Vec::new(),
        levels: Vec::new(),
        chain: Vec::new(),
    };
    let search = Search { facts, explained: metric };
    let mut place =
        Place { node: root, expected, share: 1.0, confidence: 1.0, weighed: BTreeSet::from([metric.to_owned()]) };
    let mut effect = own.observed - expected;
    for _ in 0..MAX_DEPTH {
        let splits = search.splits(&place);
        let found = if own.z_score.abs() < MIN_ROOT_Z { None } else { search.next(&place, &splits, MAX_DEPTH) };
        let Some(steps) = found else {
            if explanation.levels.is_empty() {
                explanation.levels.extend(splits.first().map(|split| search.opened(&place, split)));
            }
            explanation.breakdowns.extend(splits);
            break;
        };
        explanation.breakdowns.extend(splits);
        explanation.breakdowns.extend(steps.iter().skip(1).map(|step| step.split.clone()));
        let level = levels::of(&steps, effect);
        effect = level.first().map_or(0.0, |driver| driver.contribution);
        explanation.levels.push(level);
        let Some(step) = steps.into_iter().next_back() else { break };
        explanation.chain.push(step.cause());
        place = step.to;
    }
    Ok(explanation)
}

/// A metric on the way to the cause.
#[derive(Clone)]
struct Place {
    node: Node,
    expected: f64,
    /// Of the explained deviation.
    share: f64,
    confidence: f64,
    /// Metrics that were weighed on the way here.
    weighed: BTreeSet<String>,
}

/// From a metric to the first driver of one of its splits.
struct Step {
    split: Breakdown,
    driver: Contribution,
    to: Place,
}

impl Step {
    fn cause(&self) -> Cause {
        let Contribution { metric, part, expected, observed, modz, direction, contribution: _, share: _ } =
            self.driver.clone();
        let Place { share, confidence, .. } = self.to;
        Cause { metric, part, direction, expected, observed, modz, share, confidence }
    }
}

struct Search<'a> {
    facts: &'a Facts,
    explained: &'a str,
}

impl Search<'_> {
    fn splits(&self, place: &Place) -> Vec<Breakdown> {
        attribution::breakdowns(self.facts, &place.node, place.expected, &place.weighed)
    }

    /// The way to the next cause: through sums and counts, which only restate what they are made of, to a lever or to a part
    /// of the business. Of several the one with the highest confidence, but a place where nothing happened first, as it tells why
    /// fewer of all bought, and who bought last.
    fn next(&self, place: &Place, splits: &[Breakdown], depth: usize) -> Option<Vec<Step>> {
        let ways = splits.iter().filter_map(|split| {
            let step = Self::step(place, split)?;
            if self.is_named(&step.driver, place) {
                return Some(vec![step]);
            }
            let onward = self.next(&step.to, &self.splits(&step.to), depth.checked_sub(1)?)?;
            Some(std::iter::once(step).chain(onward).collect())
        });
        let says = |driver: &Contribution| match tree::lever(&driver.metric) {
            _ if driver.part.is_some() && driver.observed == 0.0 => 2 + closeness(driver),
            Some(Lever::Customers) if driver.part.is_none() => 0,
            _ => 1,
        };
        let rank = |way: &[Step]| {
            way.last().map_or((0, 0.0, 0), |step| (says(&step.driver), step.to.confidence, closeness(&step.driver)))
        };
        ways.max_by(|a, b| {
            let (a, b) = (rank(a), rank(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
        })
    }

    /// Whether a driver of what is split at `place` can be a cause.
    fn is_named(&self, driver: &Contribution, place: &Place) -> bool {
        let restates = [self.explained, &place.node.metric].iter().any(|of| tree::restates(&driver.metric, of));
        driver.part.is_some() || tree::lever(&driver.metric).is_some() && !restates
    }

    /// To the first driver of a split, where it may be the cause or lead to it.
    fn step(place: &Place, split: &Breakdown) -> Option<Step> {
        let driver = split.names_one()?.clone();
        let (share, confidence) = (place.share * driver.share, place.confidence * split.confidence);
        if share < MIN_SHARE || confidence < MIN_CONFIDENCE {
            return None;
        }
        let weighed = Self::weighed(place, split);
        let node = Node { metric: driver.metric.clone(), part: driver.part.clone() };
        let to = Place { node, expected: driver.expected, share, confidence, weighed };
        Some(Step { split: split.clone(), driver, to })
    }

    fn weighed(place: &Place, split: &Breakdown) -> BTreeSet<String> {
        let mut weighed = place.weighed.clone();
        weighed.extend(split.contributions.iter().map(|c| c.metric.clone()));
        if let By::Dimension(_) = split.by {
            // What a ratio is made of has been weighed with its parts.
            weighed.extend(tree::summed(&split.metric).1.into_iter().map(str::to_owned));
        }
        weighed
    }

    /// A split of which no one driver is the cause, its sums and counts split in their turn.
    fn opened(&self, place: &Place, split: &Breakdown) -> Vec<Contribution> {
        let weighed = Self::weighed(place, split);
        let mut opened = Vec::new();
        for driver in &split.contributions {
            let inner = (driver.part.is_none() && !self.is_named(driver, place)).then(|| {
                let node = Node { metric: driver.metric.clone(), part: None };
                let to = Place { node, expected: driver.expected, weighed: weighed.clone(), ..place.clone() };
                let by_drivers = self.splits(&to).into_iter().find(|split| split.by == By::Drivers)?;
                Some(levels::scaled(self.opened(&to, &by_drivers), driver.contribution))
            });
            match inner.flatten() {
                Some(inner) => opened.extend(inner),
                None => opened.push(driver.clone()),
            }
        }
        levels::ranked(opened, None)
    }
}

#[cfg(test)]
mod tests;
