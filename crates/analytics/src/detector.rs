//! Daily anomaly detection: a robust, weekday-aware forecast of one day ahead, and how far the day fell from it.
//!
//! [`score`] judges one day against the days before it, [`scan`] walks a series and reports each event once.

mod baseline;
mod scan;
pub(crate) mod smoothing;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use time::{Date, Duration};

pub(crate) use baseline::weekday_index;
pub use baseline::{Baseline, Interval, Score};
pub use scan::{Anomaly, Shape, scan};

/// Days before the judged one that a baseline learns from; older ones are ignored.
pub const HISTORY_DAYS: usize = 90;
/// Days with a value below which nothing is scored.
pub const MIN_HISTORY_DAYS: usize = 14;
/// Largest magnitude a daily value may have: beyond it a value counts as missing. Far above any shop's takings and far
/// below where sums of squares overflow.
pub const LARGEST_VALUE: f64 = 1e15;

/// A run of consecutive calendar days of one metric, oldest first.
///
/// `None`, NaN, infinities and magnitudes above [`LARGEST_VALUE`] are all "no value that day".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DailySeries<'a> {
    /// Date of the first value.
    pub first: Date,
    /// One entry per calendar day, in the metric's own unit.
    pub values: &'a [Option<f64>],
}

impl<'a> DailySeries<'a> {
    /// Dates with their usable values. Days beyond the calendar's end are dropped.
    pub fn days(self) -> impl DoubleEndedIterator<Item = (Date, Option<f64>)> + 'a {
        let dated = self.values.iter().enumerate().map(move |(i, value)| {
            let date = i64::try_from(i).ok().and_then(|i| self.first.checked_add(Duration::days(i)));
            (date, value.and_then(usable))
        });
        dated.filter_map(|(date, value)| date.map(|date| (date, value)))
    }

    /// The date after the last value: the day a history forecasts.
    pub fn next_date(self) -> Option<Date> {
        i64::try_from(self.values.len()).ok().and_then(|n| self.first.checked_add(Duration::days(n)))
    }
}

/// A value that arithmetic can trust. What is smaller than any metric's resolution is zero.
fn usable(value: f64) -> Option<f64> {
    let known = value.is_finite() && value.abs() <= LARGEST_VALUE;
    known.then(|| if value.abs() < 1e-9 { 0.0 } else { value })
}

/// Why a day cannot be judged. Not a failure: the answer to show is "not enough history yet".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Insufficient {
    /// Too few of the last 90 days carry a value.
    #[error("insufficient history: {days} days with data, {needed} needed")]
    History { days: usize, needed: usize },
    /// Values exist, but too few differ from zero to say what a usual day is.
    #[error("insufficient activity: {days} days differ from zero, {needed} needed")]
    Activity { days: usize, needed: usize },
    /// The day itself has no usable value.
    #[error("the day has no usable value")]
    Value,
    /// A public holiday is neither learned from nor judged as a plain day.
    #[error("the day is a holiday")]
    Holiday,
}

/// Judges `today`, the value of the day that follows `history`, with at most the last [`HISTORY_DAYS`] days of it.
///
/// `holidays` are dates to leave out of training; if the judged day is one of them it is not judged at all.
///
/// # Errors
/// [`Insufficient`] when the history is too short or too empty, the value is unusable or the day is a holiday.
pub fn score(history: DailySeries<'_>, today: f64, holidays: &BTreeSet<Date>) -> Result<Score, Insufficient> {
    let date = history.next_date().ok_or(Insufficient::Value)?;
    if holidays.contains(&date) {
        return Err(Insufficient::Holiday);
    }
    Baseline::fit(history, holidays)?.score(today, date.weekday())
}

#[cfg(test)]
mod tests;
