//! One day: each figure of its profit, with its formula and what went into it.

use std::cmp::Reverse;

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    anomalies::Anomaly,
    freshness::{Dated, Freshness},
    instants::{EARLIEST, parse_day},
    money::round,
    periods::shifted,
    profit::{
        Assumptions, DayRange, Explained, Snapshot,
        explain::{self, Explanation, Value},
    },
};
use time::Date;
use url::Url;

use super::{anomalies, figures::estimates, html, notes, panel::foot, shell::shell, window};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        layout::Here,
        panel::{Panel, Way},
        profit_day::{self as view, Item, Model},
        rows::{Badge, Row},
    },
};

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let day = day_of(&request).filter(|day| *day <= writer.today()).ok_or(PageError::NotFound)?;
    let found = state.profit.range(viewer.account(), DayRange { first: day, last: day }).await?;
    let assumed = state.profit.assumptions(viewer.account()).await?;
    let unusual = state.anomalies.of_day(viewer.account(), day).await?;
    let title = writer.message("profit-of").day("day", day).say();
    let to = |day: Date| Way { text: writer.weekday(day), address: format!("/profit/{day}") };
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Profit, title.clone()).await?,
        title,
        crumb: Way { text: writer.say("profit"), address: Here::Profit.address().to_owned() },
        day: writer.full_day(day),
        place: window::place(&writer),
        earlier: (day > EARLIEST.date()).then(|| to(shifted(day, -1))),
        later: (day < writer.today()).then(|| to(shifted(day, 1))),
        neighbours: writer.say("neighbours"),
        notes: notes::of_day(&viewer, &state, &writer, day).await?,
        unusual_head: anomalies::head(&writer),
        unusual: unusual_on(&writer, day, unusual, &state.settings.api_url),
        figures: figures(&writer, day, found.found.first(), &assumed, (&found.freshness, &state.settings.api_url)),
    };
    Ok(html(view::page(&model)))
}

/// The day that the path names, if it is one that the API takes.
pub fn day_of(request: &HttpRequest) -> Option<Date> {
    parse_day(request.match_info().get("day")?).ok()
}

/// What was not as expected on the day, the worst first; each leads to what happened.
fn unusual_on(writer: &Writer, day: Date, found: Dated<Vec<Anomaly>>, api: &Url) -> Panel<Row> {
    let Dated { mut found, freshness } = found;
    found.sort_by_key(|anomaly| Reverse(anomaly.severity));
    let first = found.iter().map(|anomaly| anomaly.day).fold(day, Date::min);
    let how = vec![writer.say("how-band"), writer.say("how-anomalies")];
    let foot = anomalies::foot_since(writer, &freshness, how, first, api);
    let is_looked_at = freshness.as_of.is_some_and(|at| day < writer.zone.day_of(at));
    Panel {
        id: "h-unusual",
        title: writer.say("day-unusual"),
        items: anomalies::rows(writer, &found),
        nothing: writer.say(if is_looked_at { "day-unusual-none" } else { "day-unusual-not-yet" }),
        all: None,
        next: None,
        foot,
    }
}

fn figures(
    writer: &Writer,
    day: Date,
    snapshot: Option<&Snapshot>,
    assumed: &Assumptions,
    (freshness, api): (&Freshness, &Url),
) -> Panel<Item> {
    let path = format!("/api/v1/profit?days=1&until={day}&explain=1");
    let explained = snapshot.map(|snapshot| explain::day(snapshot, assumed)).unwrap_or_default();
    let mut how = vec![writer.say("how-profit")];
    how.extend(snapshot.map(|snapshot| estimates(writer, &snapshot.basis)).unwrap_or_default());
    if snapshot.is_some_and(|snapshot| snapshot.lacks_rates) {
        how.push(writer.message("profit-lacks-rates").count("days", 1).say());
    }
    Panel {
        id: "h-figures",
        title: writer.say("each-figure"),
        items: explained.iter().map(|one| item(writer, one)).collect(),
        nothing: writer.say("no-snapshot"),
        all: None,
        next: None,
        foot: foot(writer, freshness, how, &path, false, api),
    }
}

fn item(writer: &Writer, one: &Explanation) -> Item {
    let inputs =
        one.inputs.iter().map(|(name, value)| (word(writer, name), written(writer, *value), exact(writer, *value)));
    Item {
        name: word(writer, one.figure.as_str()),
        estimated: one.is_estimated.then(|| Badge { class: "", text: format!("≈ {}", writer.say("estimated")) }),
        formula: formula(writer, one),
        inputs: inputs.collect(),
        amount: one.value.map_or_else(|| "–".to_owned(), |value| written(writer, value)),
        value: one.value.map(|value| exact(writer, value)),
        is_result: one.figure == Explained::FinalProfit,
    }
}

/// How a figure or an input is called.
fn word(writer: &Writer, name: &str) -> String {
    let kind = if name.parse::<Explained>().is_ok() { "explained" } else { "input" };
    writer.say(&format!("{kind}-{name}"))
}

/// The formula with words in the place of the names of fields, small within the sentence.
fn formula(writer: &Writer, one: &Explanation) -> String {
    let formula = one.figure.formula(writer.texts());
    let names: Vec<&str> =
        Explained::ALL.iter().map(|figure| figure.as_str()).chain(one.inputs.iter().map(|(name, _)| *name)).collect();
    let small = |name: &str| {
        let word = word(writer, name);
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
    };
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let mut said = format!("{} = ", word(writer, one.figure.as_str()));
    let mut rest = formula.as_str();
    while let Some(first) = rest.chars().next() {
        let (part, others) = rest.split_at(rest.find(|c| is_name(c) != is_name(first)).unwrap_or(rest.len()));
        said += &if names.contains(&part) { small(part) } else { part.replace(" * ", " × ").replace(" - ", " − ") };
        rest = others;
    }
    said
}

fn written(writer: &Writer, value: Value) -> String {
    match value {
        Value::Money(amount) => writer.exact(amount),
        Value::Count(count) => writer.number(count.into(), 0),
        Value::Rate(share) => writer.number(share.normalize(), share.normalize().scale()),
        Value::Percent(percent) => writer.in_percent(percent, 2),
    }
}

/// The number as the API gives it.
fn exact(writer: &Writer, value: Value) -> String {
    let number = match value {
        Value::Money(amount) => writer.currency.round(amount),
        Value::Count(count) => count.into(),
        Value::Rate(share) => share,
        Value::Percent(percent) => round(percent, 2),
    };
    number.normalize().to_string()
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;
    use domain::{
        anomalies::{Kind, Severity},
        jobs::JobName,
        profit::{Basis, Components},
    };
    use rust_decimal::dec;
    use time::{
        OffsetDateTime,
        macros::{date, datetime},
    };

    use super::*;
    use crate::{pages::anomalies::tests::anomaly, text::tests::writer};

    fn unusual(day: Date, found: Vec<Anomaly>, as_of: Option<OffsetDateTime>) -> Panel<Row> {
        let freshness = Freshness { job: JobName::AnomalyDetection, as_of, sources: vec![] };
        unusual_on(&writer("en"), day, Dated { found, freshness }, &Url::parse("http://localhost").unwrap())
    }

    #[test]
    fn what_was_unusual_leads_to_what_happened_the_worst_first() {
        let of = |id, severity| Anomaly { severity, ..anomaly(id, Kind::Univariate, "orders") };
        let cause = anomaly(3, Kind::Correlated, "orders");
        let found = vec![of(1, Severity::Low), of(2, Severity::Critical), cause];
        let panel = unusual(date!(2026 - 11 - 21), found, Some(datetime!(2026-11-22 5:00 UTC)));
        let ways: Vec<_> = panel.items.iter().map(|row| row.address.as_deref()).collect();
        assert_eq!(ways, [Some("/anomalies/2"), Some("/anomalies/1")]);
        // The one that spans the day had its worst day before.
        assert_eq!(panel.foot.call.map(|call| call.json).as_deref(), Some("/api/v1/anomalies?days=3&limit=500"));
    }

    #[test]
    fn a_day_that_was_not_looked_at_is_not_said_to_be_as_usual() {
        let as_of = Some(datetime!(2026-11-22 5:00 UTC));
        let nothing = |day, as_of| unusual(day, vec![], as_of).nothing;
        assert!(nothing(date!(2026 - 11 - 21), as_of).starts_with("Nothing unusual was found"));
        for (day, as_of) in [(date!(2026 - 11 - 22), as_of), (date!(2026 - 11 - 21), None)] {
            assert!(nothing(day, as_of).starts_with("The day has not been looked at"), "{day}");
        }
        // The API does not look back so far.
        assert!(unusual(date!(2026 - 08 - 24), vec![], as_of).foot.call.is_none());
        assert!(unusual(date!(2026 - 08 - 25), vec![], as_of).foot.call.is_some());
    }

    #[test]
    fn a_day_that_the_database_cannot_hold_does_not_exist() {
        let day = |text| day_of(&TestRequest::default().param("day", text).to_http_request());
        assert_eq!(day("2026-11-20"), Some(date!(2026 - 11 - 20)));
        for wrong in ["-4800-01-01", "1969-12-31", "2026-02-30", "today"] {
            assert_eq!(day(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_figure_stands_beside_what_went_into_it() {
        let snapshot = Snapshot {
            date: date!(2026 - 11 - 20),
            components: Components { gross_revenue: dec!(1530), refunds: dec!(45.9), ..Components::default() },
            basis: Basis { shipping_estimated_orders: 2, ..Basis::default() },
            lacks_rates: false,
        };
        let assumed = Assumptions {
            fee_rate: dec!(0.0290),
            fee_fixed: dec!(0.3),
            shipping_per_order: dec!(6),
            cogs_ratio: dec!(0.4),
        };
        let freshness = Freshness { job: JobName::ProfitSnapshots, as_of: None, sources: vec![] };
        let api = Url::parse("http://localhost").unwrap();
        let panel = figures(&writer("es-AR"), snapshot.date, Some(&snapshot), &assumed, (&freshness, &api));
        let net = panel.items.iter().find(|item| item.name == "Ingresos netos").unwrap();
        assert_eq!(net.formula, "Ingresos netos = ingresos brutos − reembolsos");
        assert_eq!((net.amount.as_str(), net.value.as_deref()), ("1.484,10", Some("1484.1")));
        assert_eq!(net.inputs[1], ("Reembolsos".to_owned(), "45,90".to_owned(), "45.9".to_owned()));
        let fees = panel.items.iter().find(|item| item.name == "Comisiones de pago").unwrap();
        assert_eq!(fees.inputs[2], ("Tasa de comisión".to_owned(), "0,029".to_owned(), "0.029".to_owned()));
        assert!(fees.formula.contains("ingresos × tasa de comisión + comisión por pedido"), "{}", fees.formula);
        assert!(panel.items.iter().all(|item| !item.formula.contains('_')));
        let curl = panel.foot.call.unwrap().curl;
        assert!(curl.ends_with("/api/v1/profit?days=1&until=2026-11-20&explain=1'"), "{curl}");
    }
}
