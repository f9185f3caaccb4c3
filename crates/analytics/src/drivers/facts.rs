//! What is known of a business per day: the input of cause inference.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use time::Date;

use super::tree;
use crate::detector::LARGEST_VALUE;

/// One value of a dimension, such as country DE, of the whole business or within another part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Part {
    pub dimension: String,
    pub value: String,
    /// The part that this one is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Box<Part>>,
}

impl Part {
    /// A part of the whole business.
    pub fn of(dimension: &str, value: &str) -> Self {
        Self { dimension: dimension.to_owned(), value: value.to_owned(), within: None }
    }

    /// The same value of the dimension within `outer`.
    #[must_use]
    pub fn within(self, outer: Part) -> Self {
        Self { within: Some(Box::new(outer)), ..self }
    }

    /// The part and those that it lies in, the outermost first.
    pub fn path(&self) -> Vec<&Part> {
        let mut path: Vec<&Part> = std::iter::successors(Some(self), |part| part.within.as_deref()).collect();
        path.reverse();
        path
    }
}

/// Daily values of a business and of its parts, aligned on one list of dates.
///
/// Volumes and amounts are given (`orders`, `gross_revenue`, …); ratios such as `aov` or `conversion` and differences
/// such as `net_revenue` are derived from them where they are not given.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    dates: Vec<Date>,
    whole: BTreeMap<String, Vec<Option<f64>>>,
    parts: BTreeMap<Part, BTreeMap<String, Vec<Option<f64>>>>,
}

impl Facts {
    /// `dates` in ascending order; the last one is the day to explain. Days may be missing (closed days need not be given).
    pub fn new(dates: Vec<Date>) -> Self {
        Self { dates, ..Self::default() }
    }

    /// Adds a metric of the whole business, one value per date. What is not finite counts as missing.
    pub fn metric(&mut self, metric: &str, values: Vec<Option<f64>>) -> &mut Self {
        let values = self.aligned(values);
        self.whole.insert(metric.to_owned(), values);
        self
    }

    /// Adds a metric of one part of the business, one value per date; a missing value is zero: nothing happened there.
    pub fn part(&mut self, part: Part, metric: &str, values: Vec<Option<f64>>) -> &mut Self {
        let values = self.aligned(values).into_iter().map(|v| v.or(Some(0.0))).collect();
        self.parts.entry(part).or_default().insert(metric.to_owned(), values);
        self
    }

    fn aligned(&self, mut values: Vec<Option<f64>>) -> Vec<Option<f64>> {
        values.resize(self.dates.len(), None);
        values.into_iter().map(|v| v.filter(|v| v.is_finite() && v.abs() <= LARGEST_VALUE)).collect()
    }

    /// The day to explain.
    pub(super) fn date(&self) -> Option<Date> {
        self.dates.last().copied()
    }

    pub(super) fn dates(&self) -> &[Date] {
        &self.dates
    }

    /// Values of a metric, given or derived.
    pub(super) fn series(&self, metric: &str, part: Option<&Part>) -> Option<Vec<Option<f64>>> {
        let given = match part {
            Some(part) => self.parts.get(part)?,
            None => &self.whole,
        };
        if let Some(values) = given.get(metric) {
            return Some(values.clone());
        }
        let derived = tree::derived(metric)?;
        let of = self.series(derived.of, part)?;
        let Some(by) = self.series(derived.by, part.filter(|_| !derived.is_by_whole())) else {
            return derived.goes_without().then_some(of);
        };
        Some(of.into_iter().zip(by).map(|(of, by)| derived.value(of?, by?)).collect())
    }

    /// Dimensions by which all of `metrics` are known within a part, or the whole, with their values, in alphabetical order.
    pub(super) fn dimensions(&self, metrics: &[&str], within: Option<&Part>) -> BTreeMap<&str, Vec<&Part>> {
        let mut dimensions: BTreeMap<&str, Vec<&Part>> = BTreeMap::new();
        for (part, known) in &self.parts {
            if part.within.as_deref() == within && metrics.iter().all(|metric| known.contains_key(*metric)) {
                dimensions.entry(&part.dimension).or_default().push(part);
            }
        }
        dimensions
    }
}
