//! Stories that are a part of another one.

use std::ops::RangeInclusive;

use time::Date;

use super::{
    Lever, LeverKind, Story, Subject,
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

/// How much of what an event of sales brought refunds of its peak take where they take it back: about all of it.
const CANCELLED: RangeInclusive<f64> = 0.5..=1.5;

/// A large order that was cancelled on its days: one event, which is worth what is left of it.
pub(super) fn cancelled(stories: &mut Vec<Story>) {
    let is_refunds = |story: &Story| (story.subject, story.direction) == (Subject::Refunds, Direction::Up);
    let (refunds, mut others): (Vec<Story>, Vec<Story>) = std::mem::take(stories).into_iter().partition(is_refunds);
    for refund in refunds {
        let is_taken_back = |story: &&mut Story| {
            (story.subject, story.direction) == (Subject::Sales, Direction::Up)
                && story.peak == refund.peak
                && CANCELLED.contains(&(refund.stake() / story.stake()))
        };
        match others.iter_mut().find(is_taken_back) {
            Some(story) => {
                story.money = story.money.zip(refund.money).map(|(sold, refunded)| sold.and(refunded));
                take_in(story, refund);
            }
            None => others.push(refund),
        }
    }
    *stories = others;
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
