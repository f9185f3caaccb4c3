//! From anomalies to stories: which of them are one event.

use std::collections::BTreeMap;

use time::{Date, Duration};

use super::{
    Gauge, Lever, LeverKind, Member, Phase, Story, Subject,
    evidence::DayEvidence,
    folding,
    lever::{DEPARTED, lever},
    money::money,
    shown::{normal, seen},
};
use crate::{
    anomalies::{Direction, Finding, Kind, Severity, is_notable},
    daily::{DayTotals, Dimension},
    metrics::Metric,
    profit::DayRange,
};

/// Days between two anomalies up to which they can be one event.
const NEIGHBOUR_DAYS: i64 = 3;
/// Days of a lasting change that its anomalies are looked for on: after these every metric has told it.
const ONSET_DAYS: i64 = 7;
/// Days of an event that are looked at: after these a new level is what is expected.
pub(super) const LONGEST_DAYS: i64 = 35;
/// Days in a row that are as expected when an event is over: after as many an alarm is another anomaly.
const BACK_DAYS: usize = 3;

/// Part of what is usual that is sold at most of a product that has no stock.
const STILL_SOLD: f64 = 0.2;

/// A product that sells and has no stock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockOut {
    pub sku: String,
    /// The days on whose evenings it had none.
    pub span: DayRange,
    /// Whether units are on their way.
    pub is_on_order: bool,
}

/// What is known without any statistics.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Certainties {
    pub stock_outs: Vec<StockOut>,
    /// Days on which orders came and no visit was counted, in a shop that [counts them](untracked).
    pub untracked: Vec<DayRange>,
}

/// Days before a gap of which the shop must have counted visits on nearly all to be one that counts them.
const TRACKED_DAYS: usize = 14;
const TRACKED_LEAST: usize = 12;

/// The runs of days with orders and without visits in a shop that counted visits before each. `days` are one after the other.
pub fn untracked(days: &[DayTotals]) -> Vec<DayRange> {
    let is_gap = |day: &&DayTotals| day.visitors == 0 && day.orders > 0;
    let mut runs: Vec<DayRange> = Vec::new();
    for (at, day) in days.iter().enumerate().filter(|(_, day)| is_gap(day)) {
        let before = days.get(at.saturating_sub(TRACKED_DAYS)..at).unwrap_or_default();
        let counted = before.iter().filter(|day| day.visitors > 0).count();
        match runs.last_mut().filter(|run| run.last.next_day() == Some(day.day)) {
            Some(run) => run.last = day.day,
            None if counted >= TRACKED_LEAST => runs.push(DayRange { first: day.day, last: day.day }),
            None => {}
        }
    }
    runs
}

/// What was expected of the days of a range, as of the day before it.
pub trait Evidence {
    fn of(&self, days: DayRange) -> Vec<DayEvidence>;
}

impl<F: Fn(DayRange) -> Vec<DayEvidence>> Evidence for F {
    fn of(&self, days: DayRange) -> Vec<DayEvidence> {
        self(days)
    }
}

/// The stories that the notable anomalies of single metrics make up, and those of what is certain, by their first day.
/// `until` is the last day that is known.
pub fn group(findings: &[Finding], certain: &Certainties, until: Date, evidence: &impl Evidence) -> Vec<Story> {
    let mut stories: Vec<Story> =
        episodes(findings).iter().flat_map(|episode| of_episode(episode, until, evidence)).collect();
    for stock_out in &certain.stock_outs {
        tell_stock_out(&mut stories, stock_out, until, evidence);
    }
    for gap in &certain.untracked {
        tell_untracked(&mut stories, *gap, until, evidence);
    }
    folding::costs(&mut stories);
    folding::cancelled(&mut stories, evidence);
    folding::ads(&mut stories, until, evidence);
    stories.sort_by_key(|story| (story.span.first, story.key()));
    stories
}

/// Anomalies that are near enough in time to have one cause, in the order of their days.
fn episodes(findings: &[Finding]) -> Vec<Vec<&Finding>> {
    let mut notable: Vec<&Finding> =
        findings.iter().filter(|f| f.kind == Kind::Univariate && is_notable(f.severity)).collect();
    notable.sort_by_key(|finding| (finding.span.first, finding.day, finding.metric.as_str()));
    let mut episodes: Vec<(Date, Vec<&Finding>)> = Vec::new();
    for finding in notable {
        let onset = later(finding.span.first, ONSET_DAYS - 1);
        let end = if finding.is_shift { onset.min(finding.span.last) } else { finding.span.last }.max(finding.day);
        match episodes.last_mut() {
            Some((last, members)) if is_near(finding, members, *last) => {
                *last = end.max(*last);
                members.push(finding);
            }
            _ => episodes.push((end, vec![finding])),
        }
    }
    episodes.into_iter().map(|(_, members)| members).collect()
}

fn is_near(finding: &Finding, episode: &[&Finding], last: Date) -> bool {
    let began = episode.first().map_or(last, |first| first.span.first);
    finding.span.first <= later(last, 1) && finding.span.first <= later(began, LONGEST_DAYS)
}

pub(super) fn later(day: Date, days: i64) -> Date {
    day.saturating_add(Duration::days(days))
}

/// The stories of anomalies near each other: one for each subject and direction.
fn of_episode(episode: &[&Finding], until: Date, evidence: &impl Evidence) -> Vec<Story> {
    let Some(first) = episode.iter().map(|finding| finding.span.first).min() else { return Vec::new() };
    // Each is looked at until it is what is expected, also one that began late.
    let until_usual = |finding: &&Finding| finding.span.last.max(later(finding.span.first, LONGEST_DAYS));
    let last = episode.iter().map(until_usual).max().unwrap_or(first);
    let known = evidence.of(DayRange { first, last: until.min(last) });
    let mut groups: BTreeMap<(Subject, bool), Vec<&Finding>> = BTreeMap::new();
    for finding in episode {
        let Some(day) = known.iter().find(|known| known.day == finding.day) else { continue };
        let Ok(metric) = finding.metric.parse::<Metric>() else { continue };
        let subject = Subject::of(metric, finding.direction == Direction::Up, day);
        let is_up = day.band(subject.gauge()).is_some_and(|band| band.deviation() > 0.0);
        groups.entry((subject, is_up)).or_default().push(finding);
    }
    groups
        .into_iter()
        .flat_map(|((subject, is_up), members)| {
            let runs = runs(subject, is_up, &members, &known);
            runs.into_iter().filter_map(|run| story(subject, is_up, &run, &known, until)).collect::<Vec<_>>()
        })
        .collect()
}

/// How far the gauge of a subject went the way of an event on a day.
fn departed(subject: Subject, is_up: bool, day: &DayEvidence) -> f64 {
    let departure = day.departure(subject.gauge());
    if is_up { departure } else { -departure }
}

/// Anomalies with nothing but usual days between them are two events.
fn runs<'a>(subject: Subject, is_up: bool, findings: &[&'a Finding], known: &[DayEvidence]) -> Vec<Vec<&'a Finding>> {
    let mut runs: Vec<(Date, Vec<&Finding>)> = Vec::new();
    for finding in findings {
        let end = finding.span.last.max(finding.day);
        let goes_on = |last: Date| {
            let between = known.iter().filter(|day| day.day > last && day.day < finding.span.first);
            let mut between = between.peekable();
            between.peek().is_none() || between.any(|day| departed(subject, is_up, day) >= DEPARTED)
        };
        match runs.last_mut().filter(|(last, _)| goes_on(*last)) {
            Some((last, run)) => {
                *last = end.max(*last);
                run.push(finding);
            }
            None => runs.push((end, vec![finding])),
        }
    }
    runs.into_iter().map(|(_, run)| run).collect()
}

fn story(subject: Subject, is_up: bool, findings: &[&Finding], known: &[DayEvidence], until: Date) -> Option<Story> {
    let first = findings.iter().map(|finding| finding.span.first).min()?;
    let last = findings.iter().map(|finding| finding.span.last.max(finding.day)).max()?;
    let onset = DayRange { first, last: last.min(later(first, ONSET_DAYS)) };
    let departed = |day: &DayEvidence| departed(subject, is_up, day);
    let peak = within(known, onset).max_by(|a, b| departed(a).total_cmp(&departed(b)))?;
    // The days after the last alarm that are still out of the ordinary belong to the event.
    let goes_on = known.iter().filter(|day| day.day > last).take_while(|day| departed(day) >= DEPARTED);
    let last = goes_on.last().map_or(last, |day| day.day);
    // Of a metric that wandered off for longer than the subject, only the day that describes it counts.
    let is_of_it = |day: &&DayEvidence| departed(day) >= DEPARTED || findings.iter().any(|of| of.day == day.day);
    let shown: Vec<Date> = within(known, DayRange { first, last }).filter(is_of_it).map(|day| day.day).collect();
    let (first, last) = match (shown.first(), shown.last()) {
        (Some(shown_first), Some(shown_last)) if shown.contains(&peak.day) => (*shown_first, *shown_last),
        _ => (first, last),
    };
    let lever = lever(subject, peak);
    let mut members: Vec<Member> = findings.iter().map(|finding| member(finding)).collect();
    members.sort_by(|a, b| (a.day, &a.metric).cmp(&(b.day, &b.metric)));
    let severity = findings.iter().map(|finding| finding.severity).max()?;
    Some(tell(Known { subject, is_up, severity, lever, peak, until }, DayRange { first, last }, members, known))
}

fn member(finding: &Finding) -> Member {
    let Finding { kind, metric, day, direction, .. } = finding;
    Member { kind: *kind, metric: metric.clone(), day: *day, direction: *direction }
}

fn within(known: &[DayEvidence], range: DayRange) -> impl Iterator<Item = &DayEvidence> {
    known.iter().filter(move |day| (range.first..=range.last).contains(&day.day))
}

/// What is known of an event before its money and its end.
pub(super) struct Known<'a> {
    pub subject: Subject,
    pub is_up: bool,
    pub severity: Severity,
    pub lever: Option<Lever>,
    pub peak: &'a DayEvidence,
    /// The last day that is known.
    pub until: Date,
}

pub(super) fn tell(event: Known<'_>, span: DayRange, members: Vec<Member>, known: &[DayEvidence]) -> Story {
    let Known { subject, is_up, severity, lever, peak, until } = event;
    let days: Vec<DayEvidence> = within(known, span).cloned().collect();
    let money = money(subject, lever.as_ref(), &days);
    let returned = |day: &DayEvidence| {
        let (refunds, costs) = (day.band(Gauge::Refunds)?.observed, day.band(Gauge::RefundCost)?.observed);
        Some(refunds - costs)
    };
    let returned = if subject == Subject::Refunds { days.iter().filter_map(returned).sum() } else { 0.0 };
    let usual = peak.band(Gauge::GrossRevenue).map_or(0.0, |band| band.expected);
    Story {
        subject,
        span,
        peak: peak.day,
        direction: if is_up { Direction::Up } else { Direction::Down },
        seen: seen(subject, lever.as_ref(), peak),
        normal: normal(subject, lever.as_ref(), peak),
        severity,
        phase: phase(subject, lever.as_ref(), span, known, until),
        usual_day: usual * peak.contribution.unwrap_or(1.0),
        lever,
        money,
        returned,
        is_on_order: false,
        members,
    }
}

/// An event is over when the days after its last one were as expected, what its text shows as well as its subject, and no event
/// any more when it has lasted for long.
fn phase(subject: Subject, lever: Option<&Lever>, span: DayRange, known: &[DayEvidence], until: Date) -> Phase {
    let after: Vec<&DayEvidence> = known.iter().filter(|day| day.day > span.last).collect();
    let is_of_ads = lever.is_some_and(|lever| lever.kind == LeverKind::Campaign);
    let is_back = |day: &&DayEvidence| {
        let holds = |gauge| day.band(gauge).is_none_or(super::Band::holds);
        holds(subject.gauge()) && seen(subject, lever, day).band.holds() && (!is_of_ads || holds(Gauge::AdSpend))
    };
    let back = after.windows(BACK_DAYS).find(|days| days.iter().all(is_back));
    match back.and_then(|days| days.first()).map(|day| day.day) {
        Some(since) => Phase::Over { since },
        _ if until >= later(span.first, LONGEST_DAYS) => Phase::Usual,
        _ => Phase::Open,
    }
}

/// A gap in the counting of visits goes into the story of the metrics that it threw off, or is one.
fn tell_untracked(stories: &mut Vec<Story>, gap: DayRange, until: Date, evidence: &impl Evidence) {
    let is_known = |story: &&mut Story| {
        story.subject == Subject::Tracking
            && story.span.first <= later(gap.last, NEIGHBOUR_DAYS)
            && gap.first <= later(story.span.last, NEIGHBOUR_DAYS)
    };
    let (span, severity) = match stories.iter_mut().find(is_known) {
        Some(story) => {
            let span = DayRange { first: story.span.first.min(gap.first), last: story.span.last.max(gap.last) };
            (span, story.severity)
        }
        None => (gap, Severity::Medium),
    };
    // As long as it may be open: visits may be back later than on the first days after it.
    let last = span.last.max(later(span.first, LONGEST_DAYS)).min(until);
    let known = evidence.of(DayRange { first: span.first, last });
    // Of a holiday nothing is expected.
    let Some(peak) = within(&known, gap).next() else { return };
    let members = stories.iter_mut().find(is_known).map(|story| std::mem::take(&mut story.members));
    let (subject, lever) = (Subject::Tracking, lever(Subject::Tracking, peak));
    let event = Known { subject, is_up: false, severity, lever, peak, until };
    let told = tell(event, span, members.unwrap_or_default(), &known);
    match stories.iter_mut().find(is_known) {
        Some(story) => *story = told,
        None => stories.push(told),
    }
}

/// Whether hardly any was sold of a product that would have been: stock that is not kept up to date runs out on paper.
fn is_missed(sku: &str, span: DayRange, known: &[DayEvidence]) -> bool {
    let sold = within(known, span).filter_map(|day| day.part(Dimension::Product, sku, Gauge::GrossRevenue));
    let (observed, expected) =
        sold.fold((0.0, 0.0), |(observed, expected), band| (observed + band.observed, expected + band.expected));
    observed <= STILL_SOLD * expected
}

/// Share of what is missing on a day from which a product without stock is the event of that day.
const MOST_OF_IT: f64 = 0.5;

/// Whether what was not sold of a product is most of what the shop missed on a day.
fn accounts_for(sku: &str, day: Date, known: &[DayEvidence]) -> bool {
    let Some(day) = known.iter().find(|known| known.day == day) else { return false };
    let missing = day.deviation(Gauge::GrossRevenue);
    let of_it = day.part(Dimension::Product, sku, Gauge::GrossRevenue).map_or(0.0, super::Band::deviation);
    missing < 0.0 && of_it <= MOST_OF_IT * missing
}

/// A product without stock is a story of its own, unless the takings tell of it already.
fn tell_stock_out(stories: &mut Vec<Story>, stock_out: &StockOut, until: Date, evidence: &impl Evidence) {
    let StockOut { sku, span, is_on_order } = stock_out;
    let near = DayRange { first: span.first, last: later(span.last, NEIGHBOUR_DAYS) };
    let known = evidence.of(DayRange { first: span.first, last: until.min(later(span.last, NEIGHBOUR_DAYS)) });
    let is_known = |story: &&mut Story| {
        let is_of_it = story.lever.as_ref().is_none_or(|lever| match &lever.part {
            Some(part) => part == sku,
            // Fewer bought, nothing more is said of it.
            None => lever.kind != LeverKind::ClosedDay && accounts_for(sku, story.peak, &known),
        });
        is_of_it
            && story.subject == Subject::Sales
            && story.direction == Direction::Down
            && story.span.first >= near.first
            && story.span.first <= near.last
    };
    // On the day on which it ran out of stock it may have sold well.
    let is_first_missed = is_missed(sku, DayRange { first: span.first, last: span.first }, &known);
    let first = if is_first_missed { span.first } else { later(span.first, 1) };
    let span = DayRange { first, last: span.last };
    if first > span.last || !is_missed(sku, span, &known) {
        return;
    }
    let loss = |day: &DayEvidence| day.part(Dimension::Product, sku, Gauge::GrossRevenue).map(super::Band::deviation);
    let Some(peak) = within(&known, span).filter(|day| loss(day).is_some_and(|loss| loss < 0.0)).min_by(|a, b| {
        let of = |day| loss(day).unwrap_or(0.0);
        of(a).total_cmp(&of(b))
    }) else {
        return;
    };
    let lever = Lever { kind: LeverKind::StockOut, part: Some(sku.clone()), share: 1.0, confidence: 0.95 };
    let event =
        Known { subject: Subject::Sales, is_up: false, severity: Severity::High, lever: Some(lever), peak, until };
    let mut told = Story { is_on_order: *is_on_order, ..tell(event, span, Vec::new(), &known) };
    // What the stock tells is over when there is stock again.
    let back = later(span.last, 1);
    told.phase = if back <= until { Phase::Over { since: back } } else { Phase::Open };
    match stories.iter_mut().find(is_known) {
        Some(story) => {
            told.members = std::mem::take(&mut story.members);
            told.severity = told.severity.max(story.severity);
            *story = told;
        }
        None => stories.push(told),
    }
}
