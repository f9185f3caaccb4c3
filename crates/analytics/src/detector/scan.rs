//! From scored days to events: repeats are one anomaly, a lasting change is one shift.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use time::{Date, Weekday};

use super::{Baseline, DailySeries, HISTORY_DAYS, Score};
use crate::robust;
use crate::severity::{ALARM_Z, Severity};

/// Alarms in the same direction at most this many days apart are one anomaly.
pub const REPEAT_DAYS: i64 = 3;
/// Judged days from the first alarm on that decide whether the change lasts.
const CONFIRM_DAYS: usize = 7;
/// A day counts as still changed from this |z| on, measured from the baseline of before the change.
const CHANGED_Z: f64 = 2.0;
/// Changed days among [`CONFIRM_DAYS`] that make a shift.
const CHANGED_DAYS: usize = 5;
/// Days after which the moving baseline has learned a new level on its own.
const SHIFT_MEMORY_DAYS: i64 = 35;

/// Whether an anomaly passed or stayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// One day or a few; the series came back, or it is too early to tell.
    Spike,
    /// The level itself moved and stayed for a week at least.
    Shift,
}

/// One event in a series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Anomaly {
    /// First day of the event: with the metric and the direction it identifies the anomaly across runs.
    pub first: Date,
    /// Last day on which the series still departed.
    pub last: Date,
    /// Day of the largest |z|, which `observed` and `score` describe.
    pub peak: Date,
    /// Days that raised an alarm by themselves.
    pub alarms: usize,
    pub observed: f64,
    pub score: Score,
    /// Of its gravest day: an event that goes on is told no less loudly than before.
    pub severity: Severity,
    pub shape: Shape,
}

impl Anomaly {
    /// Whether the metric went up.
    pub fn is_up(&self) -> bool {
        self.score.z_score > 0.0
    }
}

/// Walks `series` and reports the events of the days from `from` on, oldest first.
///
/// Every day is judged on the days before it alone, so that the same events come out however late the walk is made.
/// Days that cannot be judged (too little history, no value, holidays) are passed over. Events are told apart from what
/// happens after `from` only: start some 40 days before the first day of interest to let a running shift be recognised.
pub fn scan(series: DailySeries<'_>, holidays: &BTreeSet<Date>, from: Date) -> Vec<Anomaly> {
    let mut events: Vec<Event> = Vec::new();
    for (i, (date, value)) in series.days().enumerate() {
        let Some(observed) = value.filter(|_| date >= from && !holidays.contains(&date)) else {
            continue;
        };
        let Some(baseline) = before(series, i, holidays) else {
            continue;
        };
        for event in &mut events {
            event.follow(date, observed);
        }
        absorb_confirmed(&mut events);
        let Ok(score) = baseline.score(observed, date.weekday()) else {
            continue;
        };
        let Some(severity) = score.severity() else {
            continue;
        };
        let day = Day { date, observed, score };
        let explained = events.iter_mut().rev().any(|event| event.explains(day, severity));
        if !explained {
            events.push(Event::begin(day, severity, baseline));
        }
    }
    events.into_iter().map(|event| event.anomaly).collect()
}

/// Baseline of the days before the `i`-th of the series.
fn before(series: DailySeries<'_>, i: usize, holidays: &BTreeSet<Date>) -> Option<Baseline> {
    let start = i.saturating_sub(HISTORY_DAYS);
    let first = series.first.checked_add(time::Duration::days(i64::try_from(start).ok()?))?;
    Baseline::fit(DailySeries { first, values: series.values.get(start..i)? }, holidays).ok()
}

/// Once a change is known to last, alarms of its first week in the same direction were part of it.
fn absorb_confirmed(events: &mut Vec<Event>) {
    let shifts: Vec<(Date, Date, bool)> =
        events.iter().filter_map(|e| e.level.map(|_| (e.anomaly.first, e.anomaly.last, e.anomaly.is_up()))).collect();
    events.retain(|e| {
        let inside = |(first, last, up): &(Date, Date, bool)| {
            e.level.is_none() && e.anomaly.first > *first && e.anomaly.first <= *last && e.anomaly.is_up() == *up
        };
        !shifts.iter().any(inside)
    });
}

#[derive(Debug, Clone, Copy)]
struct Day {
    date: Date,
    observed: f64,
    score: Score,
}

/// New level of a shifted series relative to the baseline of before.
#[derive(Debug, Clone, Copy)]
enum Level {
    Times(f64),
    Plus(f64),
}

impl Level {
    /// Takes the shift out of an observation.
    fn undo(self, observed: f64) -> f64 {
        match self {
            Self::Times(ratio) => observed / ratio,
            Self::Plus(offset) => observed - offset,
        }
    }
}

/// An anomaly with what is needed to follow it.
struct Event {
    anomaly: Anomaly,
    last_alarm: Date,
    /// Fitted on the days before the event and kept: it does not learn the change.
    baseline: Baseline,
    /// The first judged days of the event: date, value, and how they look from before it.
    week: Vec<Day>,
    /// Set once the change is known to last.
    level: Option<Level>,
}

impl Event {
    fn begin(day: Day, severity: Severity, baseline: Baseline) -> Self {
        let Day { date, observed, score } = day;
        let shape = Shape::Spike;
        let anomaly = Anomaly { first: date, last: date, peak: date, alarms: 1, observed, score, severity, shape };
        Self { anomaly, last_alarm: date, baseline, week: vec![day], level: None }
    }

    fn seen_from_before(&self, observed: f64, weekday: Weekday) -> Option<Score> {
        self.baseline.score(observed, weekday).ok()
    }

    /// Whether a score points the way of this event, by at least `z` standard deviations.
    fn continues(&self, score: &Score, z: f64) -> bool {
        score.z_score.abs() >= z && (score.z_score > 0.0) == self.anomaly.is_up()
    }

    /// Takes note of a day after the first one and decides, after a week, whether the change lasts.
    fn follow(&mut self, date: Date, observed: f64) {
        if (date - self.anomaly.first).whole_days() > SHIFT_MEMORY_DAYS {
            return;
        }
        let Some(score) = self.seen_from_before(observed, date.weekday()) else {
            return;
        };
        if self.level.is_some() {
            let uninterrupted = (date - self.anomaly.last).whole_days() <= REPEAT_DAYS;
            if uninterrupted && self.continues(&score, CHANGED_Z) {
                self.anomaly.last = date;
            }
        } else if self.week.len() < CONFIRM_DAYS {
            self.week.push(Day { date, observed, score });
            if self.week.len() == CONFIRM_DAYS {
                self.judge_week();
            }
        }
    }

    fn judge_week(&mut self) {
        let changed: Vec<Day> = self.week.iter().filter(|d| self.continues(&d.score, CHANGED_Z)).copied().collect();
        if changed.len() < CHANGED_DAYS {
            return;
        }
        let ratios: Vec<f64> =
            changed.iter().filter(|d| d.score.expected > 0.0).map(|d| d.observed / d.score.expected).collect();
        let offsets: Vec<f64> = changed.iter().map(|d| d.observed - d.score.expected).collect();
        let ratio = robust::median(&ratios).filter(|r| ratios.len() == changed.len() && (0.05..=20.0).contains(r));
        self.level = match ratio {
            Some(ratio) => Some(Level::Times(ratio)),
            None => robust::median(&offsets).map(Level::Plus),
        };
        self.anomaly.shape = Shape::Shift;
        self.anomaly.last = changed.last().map_or(self.anomaly.last, |d| d.date);
    }

    /// Whether an alarm belongs to this event: a repeat soon after, the new level of a shift, or the way back from one.
    fn explains(&mut self, day: Day, severity: Severity) -> bool {
        if (day.date - self.anomaly.first).whole_days() > SHIFT_MEMORY_DAYS {
            return false;
        }
        let repeat = (day.date - self.last_alarm).whole_days() <= REPEAT_DAYS && self.continues(&day.score, ALARM_Z);
        let weekday = day.date.weekday();
        let ordinary = |score: Option<Score>| score.is_some_and(|s| s.z_score.abs() < ALARM_Z);
        // A series that has been back for some days has left the new level: what goes there once more is another event.
        let goes_on = (day.date - self.anomaly.last).whole_days() <= REPEAT_DAYS;
        let expected_now = self.level.is_some_and(|level| {
            (goes_on && ordinary(self.seen_from_before(level.undo(day.observed), weekday)))
                || ordinary(self.seen_from_before(day.observed, weekday))
        });
        if repeat {
            self.anomaly.last = self.anomaly.last.max(day.date);
            self.anomaly.alarms += 1;
            self.last_alarm = day.date;
            self.anomaly.severity = self.anomaly.severity.max(severity);
            if day.score.z_score.abs() > self.anomaly.score.z_score.abs() {
                self.anomaly.peak = day.date;
                self.anomaly.observed = day.observed;
                self.anomaly.score = day.score;
            }
        }
        repeat || expected_now
    }
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;

    #[test]
    fn an_event_that_goes_on_is_as_grave_as_its_gravest_day() {
        let first = date!(2026 - 03 - 02);
        let values = [Some(100.0); 28];
        let baseline = Baseline::fit(DailySeries { first: date!(2026 - 02 - 02), values: &values }, &BTreeSet::new());
        let baseline = baseline.unwrap();
        let usual = baseline.score(100.0, Weekday::Monday).unwrap();
        let day = |date: Date, z_score: f64, relative_change: f64| {
            let score = Score { z_score, relative_change, ..usual };
            (Day { date, observed: 100.0, score }, score.severity().unwrap())
        };
        let (begun, medium) = day(first, 3.6, 0.12);
        let mut event = Event::begin(begun, medium, baseline);
        // More of a surprise on a day on which more is usual, and less of a change.
        let (next, low) = day(first.next_day().unwrap(), 3.9, 0.09);
        assert!(event.explains(next, low));
        assert_eq!((medium, low), (Severity::Medium, Severity::Low));
        assert_eq!((event.anomaly.peak, event.anomaly.severity), (next.date, Severity::Medium));
        let (last, high) = day(next.date.next_day().unwrap(), 5.5, 0.3);
        assert!(event.explains(last, high));
        assert_eq!((high, event.anomaly.severity), (Severity::High, Severity::High));
    }
}
