//! The forecast of one day and the score of what came instead.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use time::{Date, Weekday};

use super::smoothing::{Smoothed, is_sparse};
use super::{DailySeries, HISTORY_DAYS, Insufficient, MIN_HISTORY_DAYS, usable};
use crate::robust;
use crate::severity::{Severity, severity};

/// Half-width of the reported interval in standard deviations. Errors of real shops have heavier tails than a normal
/// distribution: this width holds about 95 % of ordinary days (see the methods).
const INTERVAL_Z: f64 = 2.4;
/// Standard deviations of the day ahead for one between the levels of the smoothing constants: they learn from the same days,
/// so that they lie closer to each other than to the truth.
const APART: f64 = 2.0;
/// A forecast is never trusted to better than this fraction of a usual day.
const FLOOR: f64 = 0.02;
/// Open days below which closed weekdays are not told apart.
const MIN_OPEN_DAYS: usize = 10;
/// A sale as large as a usual day on a closed weekday scores this many standard deviations.
const CLOSED_DAY_Z: f64 = 6.0;

/// Range that about 95 % of ordinary days fall into, in the metric's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// One judged day. Every number is finite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// What the history led to expect, in the metric's unit.
    pub expected: f64,
    pub interval: Interval,
    /// Distance from the expected value in standard deviations of the one-day-ahead error, the weighted mean of the linear
    /// and the logarithmic baseline's; its sign is the direction.
    pub z_score: f64,
    /// (observed − expected) / |expected| as a fraction; where next to nothing was expected, as a fraction of a usual day.
    pub relative_change: f64,
    /// Days with a value that the baseline was fitted on, at most [`HISTORY_DAYS`].
    pub history_days: usize,
}

impl Score {
    /// Severity of the deviation; `None` when it is no anomaly.
    pub fn severity(&self) -> Option<Severity> {
        severity(self.z_score, self.relative_change, self.history_days)
    }
}

/// Scale on which a copy of the series is smoothed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    Linear,
    /// ln(1 + x / unit), mirrored for negative x.
    Log {
        unit: f64,
    },
}

impl Scale {
    fn apply(self, x: f64) -> f64 {
        match self {
            Self::Linear => x,
            Self::Log { unit } => (x.abs() / unit).ln_1p().copysign(x),
        }
    }

    fn undo(self, y: f64) -> f64 {
        match self {
            Self::Linear => y,
            // 230 is ln(1e100): the interval of a hopelessly noisy series stays finite.
            Self::Log { unit } => (y.abs().min(230.0).exp_m1() * unit).copysign(y),
        }
    }
}

/// One smoothed copy of the series.
#[derive(Debug, Clone, PartialEq)]
struct Copy {
    scale: Scale,
    fit: Smoothed,
    /// Usual open day on this copy's scale.
    usual: f64,
}

impl Copy {
    fn fit(scale: Scale, values: &[f64], weekdays: &[usize], usual: f64) -> Self {
        let scaled: Vec<f64> = values.iter().map(|v| scale.apply(*v)).collect();
        let fit = if is_sparse(&scaled) {
            Smoothed::flat(&scaled)
        } else {
            Smoothed::fit_following_weekdays(&scaled, weekdays)
        };
        Self { scale, fit, usual: scale.apply(usual) }
    }

    fn forecast(&self, weekday: usize, closed: Option<f64>, counts: bool) -> Forecast {
        let scale = self.scale;
        if let Some(rms) = closed {
            let sigma = (self.usual / CLOSED_DAY_Z).max(self.scale.apply(rms)).max(1e-9);
            return Forecast { scale, centre: 0.0, sigma };
        }
        let centre = self.fit.forecast(weekday);
        let floor = match self.scale {
            Scale::Linear => FLOOR * self.usual,
            // A count of n cannot be forecast better than 1/√n.
            Scale::Log { .. } if counts => FLOOR.max(1.0 / (self.scale.undo(centre).max(0.0) + 1.0).sqrt()),
            Scale::Log { .. } => FLOOR,
        };
        let sigma = self.fit.spread.hypot(APART * self.fit.disagreement);
        Forecast { scale, centre, sigma: sigma.max(floor).max(1e-9) }
    }
}

/// What a copy says of a weekday to come: centre and standard deviation, both on its scale.
#[derive(Debug, Clone, Copy)]
struct Forecast {
    scale: Scale,
    centre: f64,
    sigma: f64,
}

impl Forecast {
    /// Weight of the score: what sells multiplies more than it adds up.
    fn weight(&self) -> f64 {
        match self.scale {
            Scale::Linear => 0.4,
            Scale::Log { .. } => 0.6,
        }
    }
}

/// The weighted mean of the scores of the copies: each alone sees outliers where the other sees none.
fn mean_score(forecasts: &[Forecast], observed: f64) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for of in forecasts {
        sum += of.weight() * (of.scale.apply(observed) - of.centre) / of.sigma;
        weights += of.weight();
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}

/// Halvings of the range in which a value is looked for: to 1e-12 of it.
const HALVINGS: usize = 40;

/// The value whose [`mean_score`] is `z`: between those that have it on each copy alone.
fn value_of_score(forecasts: &[Forecast], z: f64) -> f64 {
    let alone = || forecasts.iter().map(|of| of.scale.undo(of.centre + z * of.sigma));
    let (mut below, mut above) = (alone().fold(f64::INFINITY, f64::min), alone().fold(f64::NEG_INFINITY, f64::max));
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(below, above);
        if mean_score(forecasts, middle) < z {
            below = middle;
        } else {
            above = middle;
        }
    }
    f64::midpoint(below, above)
}

/// What a history says about the days after it, for each weekday.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    copies: Vec<Copy>,
    /// Root mean square of the latest values of weekdays on which the shop is closed.
    closed: [Option<f64>; 7],
    /// Whole non-negative numbers only: a count, with a count's noise.
    counts: bool,
    never_negative: bool,
    /// Median magnitude of the days that differ from zero.
    usual: f64,
    history_days: usize,
}

impl Baseline {
    /// Fits the last [`HISTORY_DAYS`] days of `history`, holidays left out.
    ///
    /// # Errors
    /// [`Insufficient::History`] below 14 days with a value, [`Insufficient::Activity`] when fewer than half of the days
    /// and fewer than 14 differ from zero.
    pub fn fit(history: DailySeries<'_>, holidays: &BTreeSet<Date>) -> Result<Self, Insufficient> {
        let mut days: Vec<(usize, f64)> = history
            .days()
            .rev()
            .take(HISTORY_DAYS)
            .filter(|(date, _)| !holidays.contains(date))
            .filter_map(|(date, value)| value.map(|v| (weekday_index(date.weekday()), v)))
            .collect();
        days.reverse();
        let active: Vec<f64> = days.iter().filter(|(_, v)| *v != 0.0).map(|(_, v)| v.abs()).collect();
        let needed_active = MIN_HISTORY_DAYS.min(days.len().div_ceil(2));
        if days.len() < MIN_HISTORY_DAYS {
            return Err(Insufficient::History { days: days.len(), needed: MIN_HISTORY_DAYS });
        }
        let usual = robust::median(&active).unwrap_or(0.0);
        if active.len() < needed_active {
            return Err(Insufficient::Activity { days: active.len(), needed: needed_active });
        }
        Ok(Self::of_days(&days, usual))
    }

    fn of_days(days: &[(usize, f64)], usual: f64) -> Self {
        let mut closed = closed_weekdays(days);
        let is_open = |closed: &[Option<f64>; 7], day: usize| closed.get(day).is_none_or(Option::is_none);
        if days.iter().filter(|(d, _)| is_open(&closed, *d)).count() < MIN_OPEN_DAYS {
            closed = [None; 7];
        }
        let (weekdays, values): (Vec<usize>, Vec<f64>) =
            days.iter().filter(|(d, _)| is_open(&closed, *d)).copied().unzip();
        let never_negative = values.iter().all(|v| *v >= 0.0);
        let counts = never_negative && values.iter().all(|v| v.fract() == 0.0);
        let mut copies = vec![Copy::fit(Scale::Linear, &values, &weekdays, usual)];
        if never_negative && !is_sparse(&values) {
            // Counts keep the natural unit; for ratios and small amounts one hundredth of a usual day is the unit.
            let unit = if counts { 1.0 } else { (0.01 * usual).min(1.0) };
            copies.push(Copy::fit(Scale::Log { unit }, &values, &weekdays, usual));
        }
        Self { copies, closed, counts, never_negative, usual, history_days: days.len() }
    }

    /// Days with a value that the baseline was fitted on.
    pub fn history_days(&self) -> usize {
        self.history_days
    }

    /// Judges a value that follows the history on the given weekday.
    ///
    /// # Errors
    /// [`Insufficient::Value`] when `observed` is not finite or beyond [`super::LARGEST_VALUE`].
    pub fn score(&self, observed: f64, weekday: Weekday) -> Result<Score, Insufficient> {
        let observed = usable(observed).ok_or(Insufficient::Value)?;
        let forecasts = self.forecasts(weekday);
        let (z_score, (expected, interval)) = (mean_score(&forecasts, observed), self.range(&forecasts));
        let basis = if expected.abs() < 0.01 * self.usual { self.usual } else { expected.abs() };
        let relative_change = (observed - expected) / basis;
        Ok(Score { expected, interval, z_score, relative_change, history_days: self.history_days })
    }

    /// What is expected of a weekday, and the range that about 95 % of ordinary days fall into, in the metric's unit: the values
    /// with a score of 0, and of 2.4 either way.
    pub fn forecast(&self, weekday: Weekday) -> (f64, Interval) {
        self.range(&self.forecasts(weekday))
    }

    /// What each copy says of a weekday.
    fn forecasts(&self, weekday: Weekday) -> Vec<Forecast> {
        let day = weekday_index(weekday);
        let closed = self.closed.get(day).copied().flatten();
        self.copies.iter().map(|copy| copy.forecast(day, closed, self.counts)).collect()
    }

    fn range(&self, forecasts: &[Forecast]) -> (f64, Interval) {
        let at = |z: f64| self.in_range(value_of_score(forecasts, z));
        (at(0.0), Interval { low: at(-INTERVAL_Z), high: at(INTERVAL_Z) })
    }

    fn in_range(&self, value: f64) -> f64 {
        if self.never_negative { value.max(0.0) } else { value }
    }
}

/// 0 for Monday … 6 for Sunday.
pub(crate) fn weekday_index(weekday: Weekday) -> usize {
    usize::from(weekday.number_days_from_monday())
}

/// Weekdays the shop does not open on: at least two of the latest eight are known and three quarters of them are
/// zero, while the other weekdays are hardly ever zero. A metric that is zero on any odd day has no closed weekdays.
fn closed_weekdays(days: &[(usize, f64)]) -> [Option<f64>; 7] {
    let mut closed = [None; 7];
    let (mut open, mut open_zeros) = (0, 0);
    for (weekday, slot) in closed.iter_mut().enumerate() {
        let all: Vec<f64> = days.iter().filter(|(d, _)| *d == weekday).map(|(_, v)| *v).collect();
        let latest: Vec<f64> = all.iter().rev().take(8).copied().collect();
        let zeros = latest.iter().filter(|v| **v == 0.0).count();
        if latest.len() >= 2 && 4 * zeros >= 3 * latest.len() {
            let squares: Vec<f64> = latest.iter().map(|v| v * v).collect();
            *slot = Some(robust::mean(&squares).unwrap_or(0.0).sqrt());
        } else {
            open += all.len();
            open_zeros += all.iter().filter(|v| **v == 0.0).count();
        }
    }
    if open == 0 || 4 * open_zeros > open { [None; 7] } else { closed }
}
