//! A story as an insight.

use rust_decimal::Decimal;

use super::{
    Category, Draft,
    facts::StoryFact,
    news::Record,
    rules::code,
    told::{Kind, Told, Value},
};
use crate::{
    anomalies::Direction,
    money::estimate,
    stories::{Band, Gauge, LeverKind, Measure, Money, Phase, Seen, Story, Subject},
};

/// The story as it is told, in facts.
pub(super) fn draft(fact: &StoryFact, record: Option<Record>) -> Draft {
    let StoryFact { id, story } = fact;
    Draft {
        fingerprint: format!("story:{id}"),
        severity: story.severity,
        category: category(story),
        told: told(story, record.filter(|record| is_of(story, *record))),
        stake: story.money.map(|_| amount(story.stake())),
        earns_place: story.is_worth_telling(),
        comes_first: false,
        is_over: story.phase != Phase::Open,
        story: Some(*id),
    }
}

/// Whether a record day is that of a story of more sales.
pub(super) fn is_of(story: &Story, record: Record) -> bool {
    (story.subject, story.direction, story.peak) == (Subject::Sales, Direction::Up, record.day)
}

fn category(story: &Story) -> Category {
    let lever = story.lever.as_ref().map(|lever| lever.kind);
    match (story.subject, lever) {
        (Subject::Sales, Some(LeverKind::Price)) => Category::Pricing,
        (Subject::Sales, Some(LeverKind::StockOut)) => Category::Inventory,
        (Subject::Sales, Some(LeverKind::Campaign)) => Category::Ads,
        (Subject::Sales | Subject::Refunds, _) => Category::Revenue,
        (Subject::Ads, _) => Category::Ads,
        (Subject::Costs, _) => Category::Profit,
        (Subject::Tracking, _) => Category::Customers,
    }
}

fn told(story: &Story, record: Option<Record>) -> Told {
    let Seen { gauge, part, band } = &story.seen;
    let Band { observed, expected, low, high } = *band;
    let figure = |value: f64| match gauge {
        Gauge::Orders | Gauge::Visitors => Value::Count(amount(value)),
        _ => Value::Money(amount(value)),
    };
    // Only profit can be expected below zero.
    let possible = |value: f64| if *gauge == Gauge::Profit { value } else { value.max(0.0) };
    let direction = if observed < expected { Direction::Down } else { Direction::Up };
    let told = Told::new(Kind::Story)
        .with("what", code(what(story)))
        .with("direction", Value::Moved(direction))
        .with("day", Value::Date(story.peak))
        .with("observed", figure(observed))
        .with("expected", figure(possible(expected)))
        .with("low", figure(possible(low)))
        .with("high", figure(high))
        .with("back", code(back(story)))
        .with("record", code(record.map_or("none", Record::reach)))
        .with("normal", code(story.normal.map_or("unknown", |normal| normal.as_str())))
        .with("action", code(story.action()));
    let lever = story.lever.as_ref().map(|lever| lever.kind);
    // Of ads that brought sales the sales are shown, and the campaign is named.
    let named = part.as_ref().or_else(|| story.lever.as_ref().filter(|_| is_more_ads(story))?.part.as_ref());
    let told = match (lever, named) {
        // Platforms have names of their own in a text.
        (Some(LeverKind::Platform), Some(part)) => told.with("platform", code(part)),
        // What stands before the campaign's own name is the platform that is paid.
        (Some(LeverKind::Campaign), Some(part)) => {
            let name = part.split_once('/').map_or(part.as_str(), |(_, name)| name);
            told.with("part", Value::Names(vec![name.to_owned()]))
        }
        (_, Some(part)) => told.with("part", Value::Names(vec![part.clone()])),
        (_, None) => told,
    };
    let told = match &story.lever {
        Some(lever) if lever.share < CERTAIN => told
            .with("has_share", code("yes"))
            .with("share", Value::Share(estimate(lever.share, 2)))
            .with("confidence", Value::Share(estimate(lever.confidence, 2))),
        _ => told.with("has_share", code("no")),
    };
    let told = match story.returned {
        returned if returned > 0.0 => {
            told.with("has_returned", code("yes")).with("returned", Value::Money(amount(returned)))
        }
        _ => told.with("has_returned", code("no")),
    };
    lasting(with_money(told, story.money), story)
}

/// From this share on, a lever is all of it.
const CERTAIN: f64 = 0.995;

/// What ends it.
fn back(story: &Story) -> &'static str {
    let is_out_of_stock = story.lever.as_ref().is_some_and(|lever| lever.kind == LeverKind::StockOut);
    match story.seen.band {
        _ if is_out_of_stock => "stock",
        _ if story.subject == Subject::Tracking => "visits",
        Band { observed, expected, low, .. } if observed < expected && low > 0.0 => "low",
        Band { observed, expected, .. } if observed > expected => "high",
        _ => "normal",
    }
}

/// More was spent on ads, and more was sold.
fn is_more_ads(story: &Story) -> bool {
    let is_campaign = story.lever.as_ref().is_some_and(|lever| lever.kind == LeverKind::Campaign);
    story.subject == Subject::Sales && is_campaign
}

/// When it began and ended, where it was not one day.
fn lasting(told: Told, story: &Story) -> Told {
    let span = story.span;
    let days = (span.last - span.first).whole_days() + 1;
    let told = match story.phase {
        Phase::Open if days == 1 => told.with("state", code("open")),
        Phase::Open => told.with("state", code("goes_on")).with("first", Value::Date(span.first)),
        Phase::Usual => told.with("state", code("usual")).with("first", Value::Date(span.first)),
        Phase::Over { since } => told.with("state", code("over")).with("since", Value::Date(since)),
    };
    told.with("days", Value::Days(days))
}

fn with_money(told: Told, money: Option<Money>) -> Told {
    let Some(Money { low, expected, high, measure }) = money else { return told.with("money", code("none")) };
    let name = match (measure, expected < 0.0) {
        (Measure::Profit, true) => "less_profit",
        (Measure::Profit, false) => "more_profit",
        (Measure::Revenue, true) => "less_sales",
        (Measure::Revenue, false) => "more_sales",
    };
    // Said as an amount above zero in the direction of the whole.
    let (least, most) = if expected < 0.0 { (-high, -low) } else { (low, high) };
    // Another way than the figure that shows the event, where more of that costs: refunds, say.
    let direction = if expected < 0.0 { Direction::Down } else { Direction::Up };
    told.with("money", code(name))
        .with("money_moved", Value::Moved(direction))
        .with("amount", Value::Money(amount(expected.abs())))
        .with("least", Value::Money(amount(least.max(0.0))))
        .with("most", Value::Money(amount(most)))
}

/// Which sentence tells the event.
fn what(story: &Story) -> &'static str {
    let is_named = story.seen.part.is_some();
    match (story.subject, story.lever.as_ref().map(|lever| lever.kind)) {
        (Subject::Ads, _) if !is_named => "ads",
        (Subject::Sales, Some(LeverKind::Campaign)) => {
            let is_named = story.lever.as_ref().is_some_and(|lever| lever.part.is_some());
            if is_named { "paid_campaign" } else { "paid_ads" }
        }
        (_, Some(LeverKind::Platform | LeverKind::Country | LeverKind::Product)) if !is_named => "sales",
        (Subject::Refunds, Some(LeverKind::Refund)) if is_named => "refunded_product",
        (_, Some(kind)) => kind.as_str(),
        (Subject::Sales, None) if story.seen.gauge == Gauge::Profit => "profit",
        (_, None) => "sales",
    }
}

/// To what texts show of it: the minor unit below a hundred, none from there on.
fn amount(value: f64) -> Decimal {
    let decimals = if value.abs() < 100.0 { 2 } else { 0 };
    if value < 0.0 { -estimate(-value, decimals) } else { estimate(value, decimals) }
}
