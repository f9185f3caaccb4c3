//! The audit log of the account, as a page and as a file.

use std::io;

use ::web::csv;
use actix_web::{HttpRequest, HttpResponse, http::header, web::Data};
use domain::{
    audit::{Actor, Noted},
    page::PageRequest,
};
use serde::Serialize;

use super::{
    query,
    settings::{self, Tab},
    writer,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        panel::Way,
        settings::{Part, Row},
    },
};

const PATH: &str = Tab::Activity.address();
/// Entries of a page.
const LIMIT: i64 = 50;
/// Entries of a file, the newest.
const MOST: i64 = 50_000;

fn actor(writer: &Writer, by: &Actor) -> String {
    match by {
        Actor::Person { name, .. } => name.clone(),
        Actor::Operator => writer.say("actor-operator"),
        Actor::Nobody => writer.say("actor-nobody"),
    }
}

fn row(writer: &Writer, noted: &Noted) -> Row {
    let action = writer.say(&format!("action-{}", noted.action.as_str().replace('_', "-")));
    let target = noted.target.as_ref().map(|target| format!(": {target}")).unwrap_or_default();
    let change = [&noted.before, &noted.after].map(|value| value.as_ref().map(ToString::to_string));
    let change = change.into_iter().flatten().collect::<Vec<_>>().join(" → ");
    let about = [Some(writer.moment(noted.at)), Some(actor(writer, &noted.by)), noted.address.clone(), Some(change)];
    Row {
        name: format!("{action}{target}"),
        about: about.into_iter().flatten().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · "),
        forms: Vec::new(),
    }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = writer(Some(&viewer), request.headers(), (state.clock)());
    let page = PageRequest { limit: LIMIT, cursor: query::cursor(&request)? };
    let found = state.audit.page(&viewer.session().account.user_id, page).await?;
    let mut part = Part::new("h-activity", writer.say("activity"), vec![writer.say("activity-what")]);
    part.rows = found.items.iter().map(|noted| row(&writer, noted)).collect();
    part.ways.push(Way { text: "CSV".to_owned(), address: format!("{PATH}.csv") });
    if let Some(cursor) = found.next_cursor {
        part.ways.push(Way { text: writer.say("earlier"), address: format!("{PATH}?cursor={cursor}") });
    }
    settings::page(&viewer, &state, &writer, Tab::Activity, None, vec![part]).await
}

/// A line of the file.
#[derive(Serialize)]
struct Line {
    at: String,
    by: String,
    action: &'static str,
    target: Option<String>,
    address: Option<String>,
    before: Option<String>,
    after: Option<String>,
}

::web::row!(Line { at, by, action, target, address, before, after });

fn line(noted: Noted) -> Line {
    let Noted { id: _, at, by, action, target, address, before, after } = noted;
    let by = match by {
        Actor::Person { name, .. } => name,
        Actor::Operator => "operator".to_owned(),
        Actor::Nobody => "nobody".to_owned(),
    };
    let json = |value: Option<serde_json::Value>| value.map(|value| value.to_string());
    let at = at.format(&time::format_description::well_known::Rfc3339).unwrap_or_default();
    Line { at, by, action: action.as_str(), target, address, before: json(before), after: json(after) }
}

fn file(noted: Vec<Noted>) -> io::Result<Vec<u8>> {
    let mut file = csv::header_row::<Line>()?.to_vec();
    file.extend_from_slice(&csv::rows(&noted.into_iter().map(line).collect::<Vec<_>>())?);
    Ok(file)
}

pub async fn csv(viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let page = PageRequest { limit: MOST, cursor: None };
    let found = state.audit.page(&viewer.session().account.user_id, page).await?;
    let file = file(found.items).map_err(|error| PageError::Internal(error.to_string()))?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/csv; charset=utf-8"))
        .insert_header((header::CONTENT_DISPOSITION, "attachment; filename=\"activity.csv\""))
        .body(file))
}
