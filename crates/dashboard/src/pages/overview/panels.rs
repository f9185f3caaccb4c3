//! The lists of the overview.

use domain::{
    freshness::{Dated, Freshness, Newest},
    insights::Insight,
    integrations::Integration,
    inventory::{self, Item},
    page::Page,
    risks,
};
use rust_decimal::Decimal;
use url::Url;

use crate::{
    pages::{
        insights::{as_answered, at_stake, ranked, why},
        integrations::{badge, name},
        panel::foot,
        stock::{axis, stock_row},
    },
    text::Writer,
    views::{
        overview::Story,
        panel::{Panel, Way},
        rows::{Badge, Cell, Head, Row},
    },
};

/// Stories that are shown; the others are on a page of their own.
const STORIES: usize = 5;
/// Days that the axis of stock-outs spans.
const AXIS_DAYS: i64 = 14;

pub fn stories(writer: &Writer, found: &Dated<Page<Insight>>, api: &Url) -> Panel<Story> {
    let story = |insight: &Insight| {
        let (wording, _) = insight.wording(writer.texts(), writer.currency);
        let amount = at_stake(writer, insight);
        Story {
            title: wording.title,
            address: Some(format!("/insights#insight-{}", insight.id)),
            text: wording.body,
            act: Some(wording.suggested_action).filter(|act| !act.is_empty()),
            amount: amount.map(|amount| (writer.whole(amount), as_answered(amount), writer.say("at-stake"))),
            why: why(writer, insight),
        }
    };
    let how = vec![writer.say("how-stories")];
    let all = &found.found.items;
    let count = i64::try_from(all.len()).unwrap_or(i64::MAX);
    Panel {
        id: "h-stories",
        title: writer.say("happened"),
        items: ranked(all).into_iter().take(STORIES).map(story).collect(),
        nothing: writer.say("happened-none"),
        all: (count > 0).then(|| Way {
            text: writer.message("all-of").count("count", count).say(),
            address: "/insights".to_owned(),
        }),
        next: None,
        foot: foot(writer, &found.freshness, how, "/api/v1/insights?status=open", false, api),
    }
}

pub fn stock_head(writer: &Writer) -> Vec<Head> {
    vec![Head::Text(writer.say("product")), Head::Axis(axis(writer, AXIS_DAYS)), Head::Text(writer.say("likely-on"))]
}

/// Of the first of the list, which begins with what runs out soonest.
pub fn stockouts(writer: &Writer, listing: &inventory::Listing, api: &Url) -> Panel<Row> {
    let within = |item: &&Item| {
        item.current_stock <= 0 && item.velocity.is_some_and(|velocity| velocity > Decimal::ZERO)
            || item.days_of_stock.is_some_and(|days| days <= AXIS_DAYS.into())
    };
    let how = vec![writer.say("how-stockouts")];
    Panel {
        id: "h-stock",
        title: writer.say("stockouts"),
        items: listing
            .page
            .items
            .iter()
            .filter(within)
            .take(8)
            .map(|item| stock_row(writer, item, AXIS_DAYS))
            .collect(),
        nothing: writer.say(if listing.summary.total == 0 { "stock-unknown" } else { "stockouts-none" }),
        all: Some(Way { text: writer.say("all-products"), address: "/inventory".to_owned() }),
        next: None,
        foot: foot(writer, &listing.freshness, how, "/api/v1/inventory", false, api),
    }
}

pub fn risks(writer: &Writer, listing: &risks::Listing, api: &Url) -> Panel<Story> {
    let story = |risk: &risks::Risk| {
        let exposure = risk.found.exposure;
        let expected = exposure.and_then(|exposure| exposure.expected.or(exposure.high));
        let likely = risk
            .found
            .likelihood
            .map(|share| writer.message("risk-likely").text("share", writer.percent(share, 0)).say());
        let range = exposure.and_then(|exposure| exposure.low.zip(exposure.high)).map(|(low, high)| {
            let message = writer.message("risk-range").text("low", writer.whole(low)).text("high", writer.whole(high));
            message.text("currency", writer.currency).say()
        });
        Story {
            title: risk.found.title(writer.texts()),
            address: None,
            text: [likely, range].into_iter().flatten().collect::<Vec<_>>().join(" "),
            act: None,
            amount: expected
                .map(|amount| (writer.whole(-amount), amount.normalize().to_string(), writer.say("likely-loss"))),
            why: None,
        }
    };
    let how = vec![writer.say("how-risks")];
    Panel {
        id: "h-risks",
        title: writer.say("risks"),
        items: listing.page.items.iter().map(story).collect(),
        nothing: writer.say("risks-none"),
        all: None,
        next: None,
        foot: foot(writer, &listing.freshness, how, "/api/v1/risks", false, api),
    }
}

pub fn source_head(writer: &Writer) -> Vec<Head> {
    vec![Head::Text(writer.say("source")), Head::Text(writer.say("state")), Head::Number(writer.say("newest"))]
}

pub fn sources(writer: &Writer, connections: &[Integration], freshness: &Freshness, api: &Url) -> Panel<Row> {
    let row = |name: String, state: Option<Badge>, newest: Option<String>| Row {
        name,
        address: None,
        below: None,
        cells: vec![Cell::Badge(state), Cell::Number { text: newest.unwrap_or_else(|| "–".to_owned()), value: None }],
    };
    let connection = |integration: &Integration| {
        let last = integration.last_sync_at.map(|at| writer.moment(at));
        let mut row = row(name(writer, integration.provider), Some(badge(writer, integration)), last);
        row.address = Some(format!("/integrations/{}", integration.id));
        row
    };
    let source = |(source, newest): &(domain::freshness::Source, Option<Newest>)| {
        let newest = newest.map(|newest| match newest {
            Newest::At(at) => writer.moment(at),
            Newest::Day(day) => writer.day(day),
        });
        row(writer.say(&format!("source-{source}")), None, newest)
    };
    Panel {
        id: "h-sources",
        title: writer.say("sources"),
        items: connections.iter().map(connection).chain(freshness.sources.iter().map(source)).collect(),
        nothing: String::new(),
        all: None,
        next: None,
        foot: foot(writer, freshness, vec![], "/api/v1/integrations", false, api),
    }
}
