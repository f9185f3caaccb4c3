//! Stories that are a part of another one.

use std::ops::RangeInclusive;

use time::Date;

use super::{
    Gauge, Lever, LeverKind, Story, Subject,
    grouping::{Evidence, Known, LONGEST_DAYS, later, tell},
};
use crate::{anomalies::Direction, profit::DayRange};

/// Which products are sold decides what a unit costs: costs that moved on the days of a larger event of sales are a part of
/// that event.
pub(super) fn costs(stories: &mut Vec<Story>) {
    let (costs, mut told): (Vec<Story>, Vec<Story>) =
        std::mem::take(stories).into_iter().partition(|story| story.subject == Subject::Costs);
    for cost in costs {
        let is_larger = |story: &&mut Story| {
            story.subject == Subject::Sales
                && story.span.first <= cost.span.first
                && cost.span.last <= story.span.last
                && story.stake() > cost.stake()
        };
        match told.iter_mut().find(is_larger) {
            Some(story) => take_in(story, cost),
            None => told.push(cost),
        }
    }
    *stories = told;
}

/// How much of what was sold above what is usual on a day its refunds take where they take it back: about all of it.
const CANCELLED: RangeInclusive<f64> = 0.5..=1.5;

/// A large order that was cancelled on its day: one event, which is worth what is left of it. It is told as the larger of the
/// two that it was found by.
pub(super) fn cancelled(stories: &mut Vec<Story>, evidence: &impl Evidence) {
    let is_refunds = |story: &Story| (story.subject, story.direction) == (Subject::Refunds, Direction::Up);
    let (refunds, mut others): (Vec<Story>, Vec<Story>) = std::mem::take(stories).into_iter().partition(is_refunds);
    for mut refund in refunds {
        let is_taken_back = |story: &&mut Story| {
            (story.subject, story.direction) == (Subject::Sales, Direction::Up)
                && is_cancelled(story, &refund, evidence)
        };
        let Some(story) = others.iter_mut().find(is_taken_back) else {
            others.push(refund);
            continue;
        };
        let money = story.money.zip(refund.money).map(|(sold, refunded)| sold.and(refunded));
        if refund.stake() > CANCELLED.end() * story.stake() {
            std::mem::swap(story, &mut refund);
        }
        take_in(story, refund);
        story.money = money;
    }
    *stories = others;
}

/// Whether refunds took back what was sold on the day that departed most.
fn is_cancelled(sold: &Story, refunded: &Story, evidence: &impl Evidence) -> bool {
    let day = sold.peak;
    if !(refunded.span.first..=refunded.span.last).contains(&day) {
        return false;
    }
    let known = evidence.of(DayRange { first: sold.span.first.min(refunded.span.first), last: day });
    let Some(known) = known.last().filter(|known| known.day == day) else { return false };
    let (refunds, sales) = (known.deviation(Gauge::Refunds), known.deviation(Gauge::GrossRevenue));
    sales > 0.0 && CANCELLED.contains(&(refunds / sales))
}

/// Makes the members of a story those of another, by day and metric.
fn take_in(story: &mut Story, part: Story) {
    story.members.extend(part.members);
    story.members.sort_by(|a, b| (a.day, &a.metric).cmp(&(b.day, &b.metric)));
    story.severity = story.severity.max(part.severity);
}

/// More spent on ads while more was sold, of which nothing else is the reason: one event, which is worth what the ads brought
/// less what they took.
pub(super) fn ads(stories: &mut Vec<Story>, until: Date, evidence: &impl Evidence) {
    let is_more_ads = |story: &Story| (story.subject, story.direction) == (Subject::Ads, Direction::Up);
    let (ads, mut told): (Vec<Story>, Vec<Story>) = std::mem::take(stories).into_iter().partition(is_more_ads);
    for ad in ads {
        let is_by_it = |story: &&mut Story| {
            (story.subject, story.direction) == (Subject::Sales, Direction::Up)
                && story.lever.as_ref().is_none_or(|lever| lever.kind == LeverKind::Traffic)
                && ad.span.first <= story.span.last
                && story.span.first <= ad.span.last
        };
        let Some(story) = told.iter_mut().find(is_by_it) else {
            told.push(ad);
            continue;
        };
        let span = DayRange { first: story.span.first.min(ad.span.first), last: story.span.last.max(ad.span.last) };
        let last = span.last.max(later(span.first, LONGEST_DAYS)).min(until);
        let known = evidence.of(DayRange { first: span.first, last });
        let Some(peak) = known.iter().find(|day| day.day == story.peak) else {
            told.push(ad);
            continue;
        };
        let lever: Option<Lever> = ad.lever.clone();
        take_in(story, ad);
        let event = Known { subject: Subject::Sales, is_up: true, severity: story.severity, lever, peak, until };
        *story = tell(event, span, std::mem::take(&mut story.members), &known);
    }
    *stories = told;
}
