//! How the service fares, for everybody: uptime and incidents, and nothing of any account.

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    incidents::{Filter, Incident, Shown, Update, wording::summary},
    page::PageRequest,
    uptime::{ComponentUptime, Report, Status},
};
use rust_decimal::Decimal;
use tokio::try_join;

use super::html;
use crate::{
    error::PageError,
    state::State,
    text::Writer,
    views::{
        plain::Plain,
        rows::{Badge, Cell, Head, Row},
        status::{self as view, Model, Story},
    },
};

/// Hours that the figures are of.
const HOURS: i64 = 168;
/// Days back to which ended incidents are told.
const INCIDENT_DAYS: i64 = 90;
/// Incidents that are told, newest first.
const INCIDENTS: i64 = 10;

pub async fn get(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(None, request.headers(), (state.clock)());
    let (record, book) = try_join!(state.status.record(writer.now), state.status.incidents(writer.now))?;
    let (report, page) = (record.value.report(HOURS), PageRequest { limit: INCIDENTS, cursor: None });
    let told = book.value.page(Filter { shown: Shown::All, severity: None, days: INCIDENT_DAYS }, page);
    let read_at = writer.now - record.age;
    let model = Model {
        plain: Plain::new(&writer, writer.say("status-title")),
        said: summary(book.value.worst_open(), writer.texts()),
        is_bad: book.value.worst_open().is_some(),
        as_of: writer.message("status-as-of").text("time", writer.time(read_at)).say(),
        uptime_title: writer.say("status-uptime"),
        uptime: uptime(&writer, &report),
        head: vec![
            Head::Text(writer.say("status-part")),
            Head::Text(writer.say("state")),
            Head::Number(writer.say("status-was-there")),
            Head::Number(writer.say("status-looked-at")),
        ],
        parts: report.components.iter().map(|part| row(&writer, part)).collect(),
        how: writer.say("how-status"),
        incidents_title: writer.say("status-incidents"),
        incidents: told.items.iter().map(|incident| story(&writer, incident)).collect(),
        none: writer.say("status-no-incidents"),
    };
    Ok(html(view::page(&model)))
}

/// The share of minutes; two decimals, as the API gives it.
fn percent(writer: &Writer, share: Option<Decimal>) -> String {
    share.map_or_else(|| writer.say("unknown"), |share| writer.percent(share / Decimal::ONE_HUNDRED, 2))
}

fn uptime(writer: &Writer, report: &Report) -> String {
    match report.share.uptime {
        Some(_) => writer.message("status-sum").text("share", percent(writer, report.share.uptime)).say(),
        None => writer.say("status-unseen"),
    }
}

fn row(writer: &Writer, part: &ComponentUptime) -> Row {
    let (class, sign) = match part.status {
        Status::Operational => ("good", "✓"),
        Status::Degraded => ("warn", "!"),
        Status::Outage => ("bad", "✕"),
        Status::Unknown => ("", "?"),
    };
    let badge = Badge { class, text: format!("{sign} {}", writer.say(&format!("status-{}", part.status))) };
    let share = |share: Option<Decimal>| Cell::Number {
        text: percent(writer, share),
        value: share.map(|share| share.normalize().to_string()),
    };
    Row {
        name: writer.say(&format!("status-of-{}", part.component)),
        address: None,
        below: None,
        cells: vec![Cell::Badge(Some(badge)), share(part.share.uptime), share(Some(part.share.coverage))],
    }
}

fn story(writer: &Writer, incident: &Incident) -> Story {
    let at = |at| format!("{}, {} UTC", writer.day_of_year(writer.zone.day_of(at)), writer.time(at));
    let told = |update: &Update| (at(update.created_at), update.body_in(writer.texts()));
    Story {
        title: incident.title_in(writer.texts()),
        state: writer.say(&format!("incident-is-{}", incident.status)),
        is_over: incident.resolved_at.is_some(),
        began: at(incident.started_at),
        told: incident.updates.iter().map(told).collect(),
    }
}
