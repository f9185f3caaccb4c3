//! When an alert rule fired, and what became of it.

use domain::{
    alerts::{Firing, Rule, Watched},
    page::{Page, PageRequest},
    webhooks::log::Tally,
};
use url::Url;

use super::{alert_words::value, panel, query};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        panel::{Foot, Panel},
        rows::{Badge, Cell, Head, Row},
    },
};

/// Firings of a page.
const LIMIT: i64 = 25;

pub fn head(writer: &Writer) -> Vec<Head> {
    vec![
        Head::Text(writer.say("firing-time")),
        Head::Number(writer.say("firing-observed")),
        Head::Number(writer.say("alert-threshold")),
        Head::Text(writer.say("firing-sent")),
    ]
}

/// The firings of a rule that come before `cursor`.
pub async fn list(
    viewer: &Viewer,
    state: &State,
    writer: &Writer,
    rule: &Rule,
    cursor: Option<i64>,
) -> Result<Panel<Row>, PageError> {
    let page = PageRequest { limit: LIMIT, cursor };
    let found = state.alerts.firings(viewer.account(), rule.id, page).await?.ok_or(PageError::NotFound)?;
    Ok(shown(writer, rule, cursor, &found, &state.settings.api_url))
}

fn shown(writer: &Writer, rule: &Rule, cursor: Option<i64>, found: &Page<Firing>, api: &Url) -> Panel<Row> {
    let next = found.next_cursor.map(|cursor| format!("/alerts/{}?cursor={cursor}#h-firings", rule.id));
    let path = format!("/api/v1/alerts/{}/firings", rule.id);
    let call = query::call(&path, LIMIT, cursor);
    Panel {
        id: "h-firings",
        title: writer.say("firings-title"),
        items: found.items.iter().map(|firing| row(writer, rule.terms.metric(), firing)).collect(),
        nothing: writer.say("firings-none"),
        all: None,
        next: panel::next(writer, next),
        foot: Foot {
            csv: Some(format!("{path}?format=csv")),
            ..panel::current(writer, vec![writer.say("how-firings")], &call, api)
        },
    }
}

fn row(writer: &Writer, metric: &Watched, firing: &Firing) -> Row {
    let number = |amount: rust_decimal::Decimal| Cell::Number {
        text: value(writer, metric, amount),
        value: Some(amount.normalize().to_string()),
    };
    Row {
        name: writer.moment(firing.fired_at),
        address: None,
        below: None,
        cells: vec![
            number(firing.observed),
            number(firing.threshold),
            Cell::Badge(Some(sent(writer, firing.deliveries))),
        ],
    }
}

/// Whether it was delivered: to all, to some, not yet, or to nobody.
fn sent(writer: &Writer, of: Tally) -> Badge {
    let Tally { delivered, failed, waiting } = of;
    let all = delivered + failed + waiting;
    let (class, sign, id) = match (delivered, failed, waiting) {
        (_, _, 0) if all == 0 => return Badge { class: "", text: writer.say("firing-nobody") },
        (_, 0, 0) => ("good", "✓", "firing-delivered"),
        (_, 0, _) => ("", "↻", "firing-delivered"),
        _ => ("bad", "✕", "firing-delivered"),
    };
    let told = writer.message(id).count("delivered", delivered).count("all", all).say();
    Badge { class, text: format!("{sign} {told}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn a_firing_says_to_how_many_it_was_delivered() {
        let sent = |delivered, failed, waiting| {
            let badge = sent(&writer("en"), Tally { delivered, failed, waiting });
            format!("{} {}", badge.class, badge.text)
        };
        assert_eq!(sent(2, 0, 0), "good ✓ Delivered: 2 of 2");
        assert_eq!(sent(1, 0, 1), " ↻ Delivered: 1 of 2");
        assert_eq!(sent(1, 1, 1), "bad ✕ Delivered: 1 of 3");
        assert_eq!(sent(0, 0, 0), " No webhook");
    }
}
