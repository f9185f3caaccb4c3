//! The days of the window, newest first.

use domain::{
    metrics::Metric,
    money::round,
    page::PageRequest,
    profit::{Snapshot, page_of_days},
};
use rust_decimal::Decimal;

use super::{Query, Source};
use crate::{
    pages::{
        figures::{column, name},
        panel::{foot, next},
    },
    text::Writer,
    views::{
        panel::Panel,
        rows::{Badge, Cell, Head, Row},
    },
};

/// Days of a page.
const LIMIT: i64 = 31;

pub fn head(writer: &Writer) -> Vec<Head> {
    let metric = |metric: Metric| Head::Number(column(writer, metric));
    vec![
        Head::Text(writer.say("column-day")),
        metric(Metric::NetRevenue),
        metric(Metric::AdSpend),
        metric(Metric::Profit),
        Head::Number(name(writer, Metric::Margin)),
        Head::Number(writer.say("cost-known")),
        Head::Text(writer.say("column-basis")),
    ]
}

pub fn panel(source: &Source<'_>) -> Panel<Row> {
    let Source { writer, query, .. } = *source;
    let asked = PageRequest { limit: LIMIT, cursor: query.cursor };
    let listed = source.found.found.iter().filter(|day| day.date >= source.listed.first);
    let page = page_of_days(listed, asked, |day| day.date);
    let path = match query.cursor {
        Some(cursor) => format!("{}&limit={LIMIT}&cursor={cursor}", source.path),
        None => format!("{}&limit={LIMIT}", source.path),
    };
    Panel {
        id: "h-days",
        title: writer.say("days-title"),
        items: page.items.into_iter().map(|day| row(writer, day)).collect(),
        nothing: writer.say("no-snapshot"),
        all: None,
        next: next(writer, page.next_cursor.map(|cursor| Query { cursor: Some(cursor), ..query }.address())),
        foot: foot(writer, &source.found.freshness, vec![writer.say("how-profit")], &path, true, source.api),
    }
}

fn row(writer: &Writer, day: &Snapshot) -> Row {
    let Snapshot { date, components, basis, .. } = day;
    let money = |amount: Decimal| Cell::Number {
        text: writer.exact(amount),
        value: Some(writer.currency.round(amount).normalize().to_string()),
    };
    let percent = |percent: Option<Decimal>| Cell::Number {
        text: percent.map_or_else(|| "–".to_owned(), |percent| writer.in_percent(percent, 1)),
        value: percent.map(|percent| round(percent, 2).normalize().to_string()),
    };
    let basis_badge = if basis.is_estimated() {
        Badge { class: "", text: format!("≈ {}", writer.say("estimated")) }
    } else {
        Badge { class: "good", text: format!("✓ {}", writer.say("stated")) }
    };
    let name = writer.weekday(*date);
    Row {
        name: if *date == writer.today() { writer.message("today-so-far").text("day", name).say() } else { name },
        address: Some(format!("/profit/{date}")),
        below: None,
        cells: vec![
            money(components.net_revenue()),
            money(components.ad_spend),
            money(components.final_profit()),
            percent(components.margin_pct()),
            percent(basis.cogs_coverage_pct()),
            Cell::Badge(Some(basis_badge)),
        ],
    }
}
