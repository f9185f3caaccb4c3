//! The job `anomaly_detection`: days on which a metric was not what its history led one to expect, and why.

mod causes;
mod evidence;
mod expected;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use analytics::{
    detector::{Anomaly, DailySeries, HISTORY_DAYS, MIN_HISTORY_DAYS, Shape, scan, score},
    holidays,
    severity::Severity as Grade,
};
use domain::{
    StoreError,
    anomalies::{Cause, Detected, Direction, Finding, Kind, Severity, is_closed_day, wording},
    daily::{DayTotals, PartTotals, without_gaps},
    jobs::WriteOutcome,
    metric_days::{KEPT_DAYS, NEEDED_DAYS},
    metrics::Metric,
    money::Currency,
    profit::DayRange,
    texts::{Locale, Texts},
    zone::Zone,
};
use rust_decimal::Decimal;
use time::{Date, Duration, Weekday};

pub use evidence::Parts;

use super::{Work, off_thread};

/// Days that are scored by every run: as many as a client can ask for.
const SCORED_DAYS: i64 = 90;
/// Days before those on which a lasting change may have begun that goes on into them.
const LEAD_IN_DAYS: i64 = 40;
/// Days that a day is judged by.
const HISTORY: i64 = HISTORY_DAYS as i64;
/// What pages say that it takes is what it takes.
const _: () = assert!(NEEDED_DAYS == MIN_HISTORY_DAYS);
/// Days that are news: receivers are not told of what a first run finds in the past.
const NEWS_DAYS: i64 = 3;

pub(super) async fn run(work: &Work<'_>) -> Result<WriteOutcome, StoreError> {
    let (account, last) = (work.account, work.claim.last_full_day());
    let scored = DayRange { first: back(last, SCORED_DAYS - 1), last };
    let known = DayRange { first: back(last, KEPT_DAYS - 1 + HISTORY), last };
    let known = without_gaps(&work.deps.daily.series(account.id, known).await?, known.first, last);
    let holidays = match &account.holiday_country {
        Some(country) => holidays::of(country.as_str(), known.first().map_or(last, |day| day.day)..=last),
        None => BTreeSet::new(),
    };
    let older = DayRange { first: back(last, KEPT_DAYS - 1), last: back(scored.first, 1) };
    let kept = work.deps.anomalies.observed(account.id, older).await?;
    let zone = account.timezone.clone();
    let begins = known.first().map(|day| day.day);
    let currency = account.currency;
    let (shop, events, expected) = off_thread(move || {
        let (shop, events) = Shop::judged(known.clone(), holidays, scored, zone);
        let expected = expected::days(&known, &shop, &kept);
        (Arc::new(shop), events, expected)
    })
    .await?;
    let stock_outs = work.deps.anomalies.stock_outs(account.id, scored).await?;
    // The parts of a shop are many, and tell nothing but causes.
    let peaks: BTreeSet<Date> = events.iter().map(|(_, event)| event.peak).collect();
    let parts = if peaks.is_empty() && stock_outs.is_empty() {
        Vec::new()
    } else {
        let read = DayRange { first: looked_at_from(scored), last };
        work.deps.daily.parts(account.id, read, peaks.into_iter().collect()).await?
    };
    let detected = off_thread(move || {
        let findings = shop.findings(&events, &parts);
        let stories = shop.stories(&findings, &Parts::new(&parts), stock_outs);
        let findings = findings.into_iter().map(|finding| rounded(finding, currency)).collect();
        Detected { findings, stories, days: expected, begins }
    })
    .await?;
    let news = back(last, NEWS_DAYS - 1);
    work.deps.anomalies.replace(work.claim, scored, news, detected, (work.clock)()).await
}

fn back(day: Date, days: i64) -> Date {
    day.checked_sub(Duration::days(days)).unwrap_or(Date::MIN)
}

/// The first of the days that the scored ones are judged and explained by.
fn looked_at_from(scored: DayRange) -> Date {
    back(scored.first, LEAD_IN_DAYS + HISTORY)
}

/// What is known of a shop's days.
pub struct Shop {
    /// One after the other, without gaps.
    days: Vec<DayTotals>,
    holidays: BTreeSet<Date>,
    /// Days of sales that the shop was closed on. They are told as such: to every metric but orders they say nothing.
    closed: BTreeSet<Date>,
    scored: DayRange,
    zone: Zone,
}

/// An event of a metric.
pub type Event = (Metric, Anomaly);

impl Shop {
    /// The shop with what it was closed on, and the events of every metric within the scored days. Days before those that it
    /// takes to judge these tell when the shop was closed, and nothing else.
    pub fn judged(
        mut days: Vec<DayTotals>,
        holidays: BTreeSet<Date>,
        scored: DayRange,
        zone: Zone,
    ) -> (Self, Vec<Event>) {
        let closed = closed_days(&days, &holidays);
        let first = looked_at_from(scored);
        days.retain(|day| day.day >= first);
        let shop = Self { days, holidays, closed, scored, zone };
        let mut found: Vec<Event> = Vec::new();
        for metric in Metric::ALL.iter().copied() {
            found.extend(shop.scan(metric).into_iter().filter(|e| e.peak >= scored.first).map(|e| (metric, e)));
        }
        found.retain(|event| !shop.is_of_expenses_as_before(event));
        let unseen: Vec<Event> = shop.takings_behind(&found);
        found.extend(unseen);
        let all = found.clone();
        found.retain(|event| !shop.is_of_few_orders(event, &all));
        (shop, found)
    }

    /// Whether a day neither teaches nor is judged, for all metrics but those that do not follow from sales.
    fn is_left_out(&self, day: Date) -> bool {
        self.holidays.contains(&day) || self.closed.contains(&day)
    }

    /// The days that say nothing of a metric.
    fn left_out(&self, metric: Metric) -> Cow<'_, BTreeSet<Date>> {
        match metric {
            Metric::Orders | Metric::Refunds | Metric::AdSpend => Cow::Borrowed(&self.holidays),
            _ => Cow::Owned(self.holidays.union(&self.closed).copied().collect()),
        }
    }

    fn values(&self, metric: Metric) -> Vec<Option<f64>> {
        self.days.iter().map(|day| metric.measured(day)).collect()
    }

    fn scan(&self, metric: Metric) -> Vec<Anomaly> {
        let Some(first) = self.days.first().map(|day| day.day) else { return Vec::new() };
        let from = back(self.scored.first, LEAD_IN_DAYS);
        scan(DailySeries { first, values: &self.values(metric) }, &self.left_out(metric), from)
    }

    /// The days that `day` is judged by.
    fn before(&self, day: Date) -> impl Iterator<Item = &DayTotals> {
        self.days.iter().filter(move |known| (back(day, HISTORY)..day).contains(&known.day))
    }

    /// Whether an event of profit is nothing but expenses that were as large before, such as rent: with those that its weekday has
    /// as a rule, which are expected, it would be within its interval.
    fn is_of_expenses_as_before(&self, (metric, event): &Event) -> bool {
        if event.is_up() || !matches!(metric, Metric::Profit | Metric::Margin) {
            return false;
        }
        let Some(largest) = self.before(event.first).map(|day| day.extra_expenses).max() else { return false };
        let usual = |weekday: Weekday| {
            let alike = self.before(event.first).filter(|day| day.day.weekday() == weekday);
            let mut paid: Vec<Decimal> = alike.map(|day| day.extra_expenses).collect();
            paid.sort_unstable();
            // What is paid every other week is expected as well, more or less.
            paid.get(2 * paid.len() / 3).copied().unwrap_or_default()
        };
        let is_within = |day: &DayTotals| {
            let as_usual = DayTotals { extra_expenses: day.extra_expenses.min(usual(day.day.weekday())), ..*day };
            let value = metric.measured(&as_usual);
            day.extra_expenses <= largest && value.is_none_or(|value| value >= event.score.interval.low)
        };
        let last = event.last.max(event.peak);
        let mut days = self.days.iter().filter(|day| (event.first..=last).contains(&day.day));
        days.clone().any(|day| day.extra_expenses > usual(day.day.weekday())) && days.all(is_within)
    }

    /// Whether an event is a day without an order in a shop of so few that such a day is no event of orders: what was not sold
    /// on it says no more than that.
    fn is_of_few_orders(&self, (metric, event): &Event, all: &[Event]) -> bool {
        let Some(day) = self.days.iter().find(|day| day.day == event.peak) else { return false };
        let is_told = |of: Metric, is_up: bool| {
            all.iter().any(|(metric, other)| {
                (*metric, other.is_up()) == (of, is_up) && (other.first..=other.last).contains(&event.peak)
            })
        };
        let follows = match metric {
            Metric::GrossRevenue
            | Metric::Units
            | Metric::Customers
            | Metric::NewCustomers
            | Metric::Conversion
            | Metric::Roas => true,
            Metric::NetRevenue => day.refunds.is_zero(),
            Metric::Profit => {
                let is_as_before = |paid: fn(&DayTotals) -> Decimal| {
                    self.before(day.day).map(paid).max().is_some_and(|largest| paid(day) <= largest)
                };
                day.refunds.is_zero()
                    && is_as_before(|day| day.extra_expenses)
                    && is_as_before(|day| day.ad_spend)
                    && !is_told(Metric::AdSpend, true)
            }
            _ => false,
        };
        let is_one_day = event.first == event.last.max(event.peak);
        follows && day.orders == 0 && !event.is_up() && is_one_day && !is_told(Metric::Orders, false)
    }

    /// Gross revenue on days of which profit or net revenue is an event, where it left its own interval and is none: what
    /// shows in the one has to show in the other. It spans all days of that event on which it did, so that it stays the same
    /// when another of them departs most.
    fn takings_behind(&self, found: &[Event]) -> Vec<Event> {
        let Some(first) = self.days.first().map(|day| day.day) else { return Vec::new() };
        let (values, left_out) = (self.values(Metric::GrossRevenue), self.left_out(Metric::GrossRevenue));
        let told = |day: Date| {
            let is_told =
                |(metric, event): &Event| *metric == Metric::GrossRevenue && (event.first..=event.last).contains(&day);
            found.iter().any(is_told)
        };
        let outside = |day: Date| {
            let at = usize::try_from((day - first).whole_days()).ok()?;
            let observed = values.get(at).copied().flatten()?;
            let score = score(DailySeries { first, values: values.get(..at)? }, observed, &left_out).ok()?;
            let is_outside = observed < score.interval.low || observed > score.interval.high;
            is_outside.then_some((observed, score))
        };
        let follows = |metric: Metric| matches!(metric, Metric::NetRevenue | Metric::Profit);
        let mut behind: Vec<Anomaly> = Vec::new();
        for (_, event) in found.iter().filter(|(metric, event)| follows(*metric) && !told(event.peak)) {
            let Some((observed, score)) = outside(event.peak) else { continue };
            let is_alike = |day: &Date| outside(*day).is_some_and(|(_, other)| other.z_score * score.z_score > 0.0);
            let days = self.days.iter().map(|day| day.day);
            let before = days.clone().rev().filter(|day| (event.first..event.peak).contains(day));
            let after = days.filter(|day| *day > event.peak && *day <= event.last);
            // What does not stand out by itself is not told more loudly than as notable.
            let severity =
                if score.relative_change.abs() < 0.1 { Grade::Low } else { event.severity.min(Grade::Medium) };
            let taken = Anomaly {
                first: before.take_while(|day| !told(*day)).filter(is_alike).last().unwrap_or(event.peak),
                last: after.take_while(|day| !told(*day)).filter(is_alike).last().unwrap_or(event.peak),
                peak: event.peak,
                alarms: 1,
                observed,
                score,
                severity,
                shape: event.shape,
            };
            let is_same = |known: &&mut Anomaly| {
                known.is_up() == taken.is_up() && known.first <= taken.last && taken.first <= known.last
            };
            match behind.iter_mut().find(is_same) {
                Some(known) => *known = joined(*known, taken),
                None => behind.push(taken),
            }
        }
        behind.into_iter().map(|event| (Metric::GrossRevenue, event)).collect()
    }

    /// The events as they are told, each followed by its cause where one can be named.
    pub fn findings(&self, events: &[Event], parts: &[PartTotals]) -> Vec<Finding> {
        let told = events.iter().flat_map(|(metric, event)| {
            let finding = finding(*metric, event, &self.zone);
            if *metric == Metric::Orders && self.closed.contains(&event.peak) {
                return [Some(closed(finding)), None];
            }
            causes::explained(*metric, finding, self, parts)
        });
        told.flatten().collect()
    }
}

/// The closed ones of the days on which orders were missing.
fn closed_days(days: &[DayTotals], holidays: &BTreeSet<Date>) -> BTreeSet<Date> {
    let Some(first) = days.first().map(|day| day.day) else { return BTreeSet::new() };
    let orders: Vec<Option<f64>> = days.iter().map(|day| Metric::Orders.measured(day)).collect();
    let events = scan(DailySeries { first, values: &orders }, holidays, first);
    let missing = |day: Date| events.iter().any(|event| !event.is_up() && (event.first..=event.last).contains(&day));
    // Days on which none were counted, as all before a shop began to, tell nothing of a usual one.
    let mut visitors: Vec<i64> = days.iter().map(|day| day.visitors).filter(|visits| *visits > 0).collect();
    visitors.sort_unstable();
    let usual = visitors.get(visitors.len() / 2).copied().unwrap_or_default();
    // A shop that stays closed is closed, also when no orders are what is expected by now.
    let mut was_closed = false;
    let closed = days.iter().filter(|day| {
        was_closed = (was_closed || missing(day.day)) && is_closed_day(day, usual);
        was_closed
    });
    closed.map(|day| day.day).collect()
}

/// Two events of the same days as one, which the worse of them describes.
fn joined(a: Anomaly, b: Anomaly) -> Anomaly {
    let is_worse = (b.severity, b.score.z_score.abs()) > (a.severity, a.score.z_score.abs());
    let worse = if is_worse { b } else { a };
    Anomaly { first: a.first.min(b.first), last: a.last.max(b.last), ..worse }
}

/// A day that the shop was closed on, as what it is.
fn closed(finding: Finding) -> Finding {
    let words = wording::cause(Cause::ClosedDay, finding.expected_value, &[], &Texts::of(Locale::ENGLISH));
    Finding { cause: Some(Cause::ClosedDay), inferred_cause: Some(words), ..finding }
}

fn finding(metric: Metric, event: &Anomaly, zone: &Zone) -> Finding {
    let score = &event.score;
    Finding {
        kind: Kind::Univariate,
        metric: metric.as_str().to_owned(),
        span: DayRange { first: event.first, last: event.last.max(event.peak) },
        day: event.peak,
        observed_value: event.observed,
        expected_value: score.expected,
        expected_interval: Some((score.interval.low, score.interval.high)),
        z_score: score.z_score,
        direction: if event.is_up() { Direction::Up } else { Direction::Down },
        severity: severity(event.severity),
        detected_at: zone.start_of(event.peak.next_day().unwrap_or(Date::MAX)),
        inferred_cause: None,
        confidence: None,
        correlated_metrics: Vec::new(),
        drivers: Vec::new(),
        cause: None,
        is_shift: event.shape == Shape::Shift,
    }
}

/// The finding with the figures of its day as they are shown.
fn rounded(finding: Finding, currency: Currency) -> Finding {
    let Ok(metric) = finding.metric.parse::<Metric>() else { return finding };
    let round = |value| metric.rounded(value, currency);
    Finding {
        observed_value: round(finding.observed_value),
        expected_value: round(finding.expected_value),
        expected_interval: finding.expected_interval.map(|(low, high)| (round(low), round(high))),
        ..finding
    }
}

const fn severity(grade: Grade) -> Severity {
    match grade {
        Grade::Low => Severity::Low,
        Grade::Medium => Severity::Medium,
        Grade::High => Severity::High,
        Grade::Critical => Severity::Critical,
    }
}
