//! The lists of the overview.

use domain::{
    freshness::{Dated, Freshness, Newest},
    insights::Insight,
    integrations::{Integration, Status},
    inventory::{self, Item},
    page::Page,
    periods::shifted,
    risks,
};
use rust_decimal::{Decimal, prelude::FromPrimitive, prelude::ToPrimitive};
use url::Url;

use crate::{
    parts::chart::RangeBar,
    text::Writer,
    views::{
        layout::{Foot, FootWords},
        overview::{Panel, Source, StockOut, Story},
    },
};

/// Days that the axis of stock-outs spans.
const AXIS_DAYS: i64 = 14;

/// What stands below a panel: how fresh its figures are, how they are made, and the calls that give the same.
pub fn foot(writer: &Writer, freshness: &Freshness, how: Vec<String>, path: &str, csv: bool, api: &Url) -> Foot {
    let as_of = match freshness.as_of {
        Some(at) => writer.message("as-of").text("time", writer.moment(at)).say(),
        None => writer.say("never-computed"),
    };
    let joined = if path.contains('?') { '&' } else { '?' };
    Foot {
        as_of,
        table: None,
        words: FootWords {
            table: writer.say("table"),
            as_table: writer.say("chart-as-table"),
            calculated: writer.say("calculated"),
        },
        how,
        csv: csv.then(|| format!("{path}{joined}format=csv")),
        json: path.to_owned(),
        curl: curl(path, api),
    }
}

/// The command that asks the API for a path.
pub fn curl(path: &str, api: &Url) -> String {
    format!("curl -H \"Authorization: Bearer $KEY\" '{}{path}'", api.as_str().trim_end_matches('/'))
}

pub fn stories(writer: &Writer, found: &Dated<Page<Insight>>, api: &Url) -> Panel<Story> {
    let story = |insight: &Insight| {
        let (wording, _) = insight.wording(writer.texts(), writer.currency);
        let amount = insight.at_stake.and_then(Decimal::from_f64);
        Story {
            title: wording.title,
            text: wording.body,
            act: Some(wording.suggested_action).filter(|act| !act.is_empty()),
            amount: amount.map(|amount| (writer.whole(amount), writer.say("at-stake"))),
        }
    };
    let how = vec![writer.say("how-stories")];
    let mut ranked: Vec<&Insight> = found.found.items.iter().collect();
    ranked.sort_by(|a, b| b.at_stake.unwrap_or(f64::MIN).total_cmp(&a.at_stake.unwrap_or(f64::MIN)));
    Panel {
        id: "h-stories",
        title: writer.say("happened"),
        items: ranked.into_iter().map(story).collect(),
        nothing: writer.say("happened-none"),
        foot: foot(writer, &found.freshness, how, "/api/v1/insights?status=open", false, api),
    }
}

pub fn axis(writer: &Writer) -> [String; 3] {
    let after = |days: i64| writer.message("axis-days").count("count", days).say();
    [writer.say("axis-today"), after(AXIS_DAYS / 2), after(AXIS_DAYS)]
}

pub fn stockouts(writer: &Writer, listing: &inventory::Listing, api: &Url) -> Panel<StockOut> {
    let within = |item: &&Item| {
        item.current_stock <= 0 && item.velocity.is_some_and(|velocity| velocity > Decimal::ZERO)
            || item.days_of_stock.is_some_and(|days| days <= AXIS_DAYS.into())
    };
    let how = vec![writer.say("how-stockouts")];
    Panel {
        id: "h-stock",
        title: writer.say("stockouts"),
        items: listing.page.items.iter().filter(within).take(8).map(|item| stock_out(writer, item)).collect(),
        nothing: writer.say("stockouts-none"),
        foot: foot(writer, &listing.freshness, how, "/api/v1/inventory?status=critical", false, api),
    }
}

fn stock_out(writer: &Writer, item: &Item) -> StockOut {
    let left = writer.message("units-left").count("count", item.current_stock).say();
    let is_out = item.current_stock <= 0;
    let part = |days: Decimal| days.to_f64().unwrap_or_default() / AXIS_DAYS as f64;
    let on_day = |days: Decimal| shifted(writer.today(), days.floor().to_i64().unwrap_or_default());
    let (bar, on, between) = match (is_out, item.days_of_stock) {
        (false, Some(likely)) => {
            let (early, late) = item.days_of_stock_range.unwrap_or((likely, likely));
            let span =
                writer.message("range").text("low", writer.day(on_day(early))).text("high", writer.day(on_day(late)));
            (
                RangeBar::Between { early: part(early), likely: part(likely), late: part(late) },
                writer.weekday(on_day(likely)),
                Some(span.say()),
            )
        }
        _ => (RangeBar::Now, writer.say("out-now"), None),
    };
    StockOut { name: item.product_name.clone(), left, bar, on, between, is_out }
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
            text: [likely, range].into_iter().flatten().collect::<Vec<_>>().join(" "),
            act: None,
            amount: expected.map(|amount| (writer.whole(-amount), writer.say("likely-loss"))),
        }
    };
    let how = vec![writer.say("how-risks")];
    Panel {
        id: "h-risks",
        title: writer.say("risks"),
        items: listing.page.items.iter().map(story).collect(),
        nothing: writer.say("risks-none"),
        foot: foot(writer, &listing.freshness, how, "/api/v1/risks", false, api),
    }
}

pub fn sources(writer: &Writer, connections: &[Integration], freshness: &Freshness, api: &Url) -> Panel<Source> {
    let connection = |integration: &Integration| {
        let status = integration.status(writer.now);
        let (class, sign) = match status {
            Status::Connected => ("good", "✓"),
            Status::Stale => ("warn", "!"),
            Status::Revoked => ("bad", "✕"),
            Status::NeverSynced => ("", "↻"),
        };
        let platform = writer.message("platform").text("platform", integration.provider).say();
        Source {
            name: platform,
            state: Some((class, sign, writer.say(&format!("state-{status}")))),
            newest: integration.last_sync_at.map_or_else(|| "–".to_owned(), |at| writer.moment(at)),
        }
    };
    let source = |(source, newest): &(domain::freshness::Source, Option<Newest>)| Source {
        name: writer.say(&format!("source-{source}")),
        state: None,
        newest: match newest {
            Some(Newest::At(at)) => writer.moment(*at),
            Some(Newest::Day(day)) => writer.day(*day),
            None => "–".to_owned(),
        },
    };
    Panel {
        id: "h-sources",
        title: writer.say("sources"),
        items: connections.iter().map(connection).chain(freshness.sources.iter().map(source)).collect(),
        nothing: String::new(),
        foot: foot(writer, freshness, vec![], "/api/v1/integrations", false, api),
    }
}
