//! Alert rules: those there are, and one that is tried out on the last 90 days before it is made.

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Form, Query},
};
use domain::{
    alerts::{CreateError, Rule, Terms},
    audit::Action,
    page::{Page, PageRequest},
    people::Act,
};

use super::{
    alert_form::{Wanted, form, trial},
    alert_words::{condition, standing, value},
    html, html_with, panel, query, see,
    shell::shell,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        alerts::{self as view, Making, Model},
        layout::Here,
        panel::{Panel, Way},
        rows::{Cell, Head, Row},
    },
};

/// Rules of a page.
const LIMIT: i64 = 25;

/// Rules that many shops want: their texts, and what they say.
const READY: [(&str, &str); 3] = [
    ("ready-no-orders", "metric=orders&comparator=lt&threshold=1&window=24&severity=high&cooldown=24"),
    ("ready-loss", "metric=profit&comparator=lt&threshold=0&window=24&severity=high&cooldown=24"),
    ("ready-stockouts", "metric=stockouts&comparator=gt&threshold=0&window=24&severity=medium&cooldown=24"),
];

/// `wanted` is what is tried out; empty where nothing is.
pub async fn get(
    request: HttpRequest,
    viewer: Viewer,
    wanted: Query<Wanted>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let cursor = query::cursor(&request)?;
    let done = query::one::<bool>(&request, "deleted")?.unwrap_or(false).then(|| writer.say("alert-deleted"));
    let wanted = wanted.into_inner();
    let tried = if wanted.is_asked() { Some(wanted.terms(&writer)) } else { None };
    let is_refused = matches!(tried, Some(Err(_)));
    let page = view::page(&model(&viewer, &state, &writer, cursor, wanted, tried, done).await?);
    Ok(if is_refused { html_with(StatusCode::BAD_REQUEST, page) } else { html(page) })
}

pub async fn create(
    request: HttpRequest,
    viewer: Viewer,
    wanted: Form<Wanted>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let wanted = wanted.into_inner();
    let refusal = match wanted.terms(&writer) {
        Ok(terms) => {
            let note = Some(viewer.note(Action::AlertMade));
            match state.alerts.create(viewer.account(), terms, true, None, note, writer.now).await {
                Ok(made) => return Ok(see(&format!("/alerts/{}?done=made", made.value.id))),
                Err(CreateError::LimitReached) => ("name", writer.say("alert-limit")),
                Err(CreateError::Idempotency(error)) => return Err(error.into()),
            }
        }
        Err(refusal) => refusal,
    };
    Ok(html_with(
        StatusCode::BAD_REQUEST,
        view::page(&model(&viewer, &state, &writer, None, wanted, Some(Err(refusal)), None).await?),
    ))
}

async fn model(
    viewer: &Viewer,
    state: &State,
    writer: &Writer,
    cursor: Option<i64>,
    wanted: Wanted,
    tried: Option<Result<Terms, (&'static str, String)>>,
    done: Option<String>,
) -> Result<Model, PageError> {
    let found = state.alerts.page(viewer.account(), PageRequest { limit: LIMIT, cursor }).await?;
    let title = writer.say("alerts");
    let may_change = viewer.may(Act::Change);
    let (trial, fault) = match tried {
        Some(Ok(terms)) => (Some(trial(viewer, state, writer, &terms, may_change.then_some(&wanted)).await?), None),
        Some(Err(fault)) => (None, Some(fault)),
        None => (None, None),
    };
    let making = || Making {
        ready_title: writer.say("alerts-ready"),
        ready: READY.map(|(id, says)| ready(writer, id, says)).into(),
        form: form(writer, &wanted, fault),
    };
    Ok(Model {
        shell: shell(viewer, state, writer, Here::Alerts, title.clone()).await?,
        title,
        about: writer.say("alerts-about"),
        done,
        trial,
        head: head(writer),
        rules: rules(writer, state, cursor, &found),
        making: may_change.then(making),
    })
}

fn ready(writer: &Writer, id: &str, says: &str) -> Way {
    let text = writer.say(id);
    let name: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    Way { address: format!("{}?name={name}&{says}", Here::Alerts.address()), text }
}

fn head(writer: &Writer) -> Vec<Head> {
    vec![
        Head::Text(writer.say("alert-name")),
        Head::Text(writer.say("alert-state")),
        Head::Number(writer.say("alert-last-value")),
        Head::Text(writer.say("alert-last-fired")),
    ]
}

fn rules(writer: &Writer, state: &State, cursor: Option<i64>, found: &Page<Rule>) -> Panel<Row> {
    let next = found.next_cursor.map(|cursor| format!("{}?cursor={cursor}", Here::Alerts.address()));
    let path = query::call("/api/v1/alerts", LIMIT, cursor);
    Panel {
        id: "h-rules",
        title: writer.say("alerts-title"),
        items: found.items.iter().map(|rule| row(writer, rule)).collect(),
        nothing: writer.say("alerts-none"),
        all: None,
        next: panel::next(writer, next),
        foot: panel::current(writer, vec![writer.say("how-alerts")], &path, &state.settings.api_url),
    }
}

fn row(writer: &Writer, rule: &Rule) -> Row {
    Row {
        name: rule.terms.name().to_owned(),
        address: Some(format!("/alerts/{}", rule.id)),
        below: Some(condition(writer, &rule.terms).into()),
        cells: vec![
            Cell::Badge(Some(standing(writer, rule))),
            Cell::Number {
                text: rule
                    .state
                    .last_value
                    .map_or_else(|| "–".to_owned(), |seen| value(writer, rule.terms.metric(), seen)),
                value: rule.state.last_value.map(|seen| seen.normalize().to_string()),
            },
            Cell::Text(rule.state.last_fired_at.map_or_else(|| writer.say("never"), |at| writer.moment(at))),
        ],
    }
}
