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
    let of_story = told(story, record.filter(|record| is_of(story, *record)));
    Draft {
        stake: story.money.map(|_| amount(story.stake())),
        earns_place: story.is_worth_telling(),
        is_over: story.phase != Phase::Open,
        story: Some(*id),
        ..Draft::new(format!("story:{id}"), story.severity, category(story), of_story)
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
    let Band { observed, expected, .. } = *band;
    let (low, high) = shown_range(&story.seen);
    let figure = |value: f64| {
        let shown = amount(value);
        if is_counted(*gauge) { Value::Count(shown) } else { Value::Money(shown) }
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
    // Where profit is told, no lever is named that a share could be of.
    let told = match &story.lever {
        Some(lever) if lever.share < CERTAIN && !is_told_by_profit(story) => told
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

const fn is_counted(gauge: Gauge) -> bool {
    matches!(gauge, Gauge::Orders | Gauge::Visitors)
}

/// What is expected at least and at most, as texts say it: of what is counted, the whole numbers within.
fn shown_range(seen: &Seen) -> (f64, f64) {
    let Band { low, high, .. } = seen.band;
    if is_counted(seen.gauge) { (low.ceil(), high.floor()) } else { (low, high) }
}

/// From this share on, a lever is all of it.
const CERTAIN: f64 = 0.995;

/// What ends it.
fn back(story: &Story) -> &'static str {
    let is_out_of_stock = story.lever.as_ref().is_some_and(|lever| lever.kind == LeverKind::StockOut);
    let observed = story.seen.band.observed;
    let (low, high) = shown_range(&story.seen);
    match story.subject {
        _ if is_out_of_stock => "stock",
        Subject::Tracking => "visits",
        // Nothing or more is every day, and nothing or less is no range. A figure within its range ends nothing.
        _ if observed < low && amount(low) > Decimal::ZERO => "low",
        _ if observed > high && (amount(high) > Decimal::ZERO || story.seen.gauge == Gauge::Profit) => "high",
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
        // Whatever the lever: what is told is the figure that shows the event.
        _ if is_told_by_profit(story) => "profit",
        (Subject::Ads, _) if !is_named => "ads",
        (Subject::Sales, Some(LeverKind::Campaign)) => {
            let is_named = story.lever.as_ref().is_some_and(|lever| lever.part.is_some());
            if is_named { "paid_campaign" } else { "paid_ads" }
        }
        (_, Some(LeverKind::Platform | LeverKind::Country | LeverKind::Product)) if !is_named => "sales",
        (Subject::Refunds, Some(LeverKind::Refund)) if is_named => "refunded_product",
        (_, Some(kind)) => kind.as_str(),
        (_, None) => "sales",
    }
}

/// Sales were as usual, and what they left was not.
fn is_told_by_profit(story: &Story) -> bool {
    story.subject == Subject::Sales && story.seen.gauge == Gauge::Profit
}

/// To what texts show of it: the minor unit below a hundred, none from there on.
fn amount(value: f64) -> Decimal {
    let decimals = if value.abs() < 100.0 { 2 } else { 0 };
    if value < 0.0 { -estimate(-value, decimals) } else { estimate(value, decimals) }
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;
    use crate::{
        StoryId,
        anomalies::Severity,
        insights::Wording,
        profit::DayRange,
        stories::Lever,
        texts::{Locale, Texts, tests::locale},
    };

    /// A day of sales within their range that left far more than usual.
    fn by_profit(lever: Option<(LeverKind, Option<&str>)>) -> StoryFact {
        let day = date!(2026 - 02 - 20);
        let story = Story {
            subject: Subject::Sales,
            span: DayRange { first: day, last: day },
            peak: day,
            direction: Direction::Up,
            seen: Seen {
                gauge: Gauge::Profit,
                part: None,
                band: Band { observed: 1_200.0, expected: 530.0, low: 400.0, high: 660.0 },
            },
            normal: None,
            severity: Severity::High,
            lever: lever.map(|(kind, part)| Lever { kind, part: part.map(str::to_owned), share: 0.7, confidence: 0.8 }),
            money: Some(Money { low: 500.0, expected: 670.0, high: 840.0, measure: Measure::Profit }),
            usual_day: 800.0,
            returned: 0.0,
            is_on_order: false,
            members: Vec::new(),
            phase: Phase::Open,
        };
        StoryFact { id: StoryId(12), story }
    }

    #[test]
    fn an_event_is_over_with_a_figure_that_is_within_the_range() {
        let body = |low, gauge| {
            let mut fact = by_profit((gauge == Gauge::Orders).then_some((LeverKind::ClosedDay, None)));
            let band = Band { observed: 0.0, expected: 4.2, low, high: 9.6 };
            (fact.story.seen, fact.story.direction) = (Seen { gauge, part: None, band }, Direction::Down);
            let texts = Texts::of(Locale::ENGLISH).as_of(date!(2026 - 03 - 01));
            draft(&fact, None).told.wording(&texts, "USD".parse().unwrap()).body
        };
        let ends = |text: String, end: &str| assert!(text.ends_with(end), "{text}");
        ends(body(0.3, Gauge::Orders), "It is over when the daily figure is 1 or more again.");
        ends(body(30.2, Gauge::Orders), "It is over when the daily figure is 31 or more again.");
        ends(body(0.0, Gauge::Orders), "It is over when days are normal again.");
        ends(body(0.004, Gauge::GrossRevenue), "It is over when days are normal again.");
        ends(body(0.3, Gauge::GrossRevenue), "It is over when the daily figure is 0.30 USD or more again.");
        // Of a product that is never given back.
        let mut refunded = by_profit(Some((LeverKind::Refund, Some("MUG"))));
        let band = Band { observed: 400.0, expected: 0.0, low: 0.0, high: 0.0 };
        refunded.story.subject = Subject::Refunds;
        refunded.story.seen = Seen { gauge: Gauge::Refunds, part: Some("MUG".to_owned()), band };
        assert_eq!(back(&refunded.story), "normal");
        refunded.story.seen.band.high = 12.0;
        assert_eq!(back(&refunded.story), "high");
        // Larger orders on a day that sold no more than others do: no figure of a day says that it is over.
        let mut bulky = by_profit(Some((LeverKind::BulkOrder, None)));
        let band = Band { observed: 416.0, expected: 288.0, low: 40.0, high: 874.0 };
        bulky.story.seen = Seen { gauge: Gauge::GrossRevenue, part: None, band };
        assert_eq!(back(&bulky.story), "normal");
    }

    #[test]
    fn one_order_is_singular() {
        let mut fact = by_profit(Some((LeverKind::ClosedDay, None)));
        let band = Band { observed: 0.0, expected: 1.3, low: 0.6, high: 3.1 };
        (fact.story.seen, fact.story.direction) = (Seen { gauge: Gauge::Orders, part: None, band }, Direction::Down);
        let told = draft(&fact, None).told;
        for (of, normal) in [
            (Locale::ENGLISH, "; about 1 order would be normal. "),
            (locale("es"), "; lo normal sería 1 pedido. "),
            (locale("pt-BR"), "; o normal seria cerca de 1 pedido. "),
        ] {
            let texts = Texts::of(of).as_of(date!(2026 - 03 - 01));
            let body = told.wording(&texts, "USD".parse().unwrap()).body;
            assert!(body.contains(normal), "{body}");
        }
    }

    #[test]
    fn what_shows_in_profit_is_told_as_profit_whatever_the_lever() {
        let levers = [
            None,
            Some((LeverKind::BulkOrder, None)),
            Some((LeverKind::BulkOrder, Some("MUG"))),
            Some((LeverKind::Campaign, None)),
            Some((LeverKind::Campaign, Some("meta/Summer"))),
        ];
        for lever in levers {
            let told = draft(&by_profit(lever), None).told;
            let said = |locale| told.wording(&Texts::of(locale).as_of(date!(2026 - 03 - 01)), "USD".parse().unwrap());
            let Wording { title, body, .. } = said(Locale::ENGLISH);
            assert_eq!(title, "Profit far above normal on Friday 20 February", "{lever:?}");
            let profit = "Profit was 1,200 USD on Friday 20 February; about 530 USD would be normal. Sales were about \
                          normal. That is about 670 USD more profit than normal";
            assert!(body.starts_with(profit), "{lever:?}: {body}");
            for other in [locale("es"), locale("pt-BR")] {
                let Wording { title, body, suggested_action, impact_estimate } = said(other);
                for text in [title, body, suggested_action, impact_estimate] {
                    assert!(!text.is_empty() && !text.contains('{'), "{lever:?}: {text}");
                }
            }
        }
    }
}
