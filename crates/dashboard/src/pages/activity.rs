//! The audit log of the account, as a page and as a file.

use std::{fmt::Display, io, str::FromStr};

use ::web::csv;
use actix_web::{HttpRequest, HttpResponse, http::header, web::Data};
use domain::{
    accounts::{Mode, Platform},
    alerts::{Comparator, Watched},
    audit::{Actor, Area, Noted},
    insights,
    page::PageRequest,
    people::Role,
    reorder, social,
    uploads::Kind,
    webhooks::delivery::DeliveryState,
};
use serde::Serialize;
use serde_json::Value;

use super::{
    alert_words::watched,
    bot::pick,
    integrations, query,
    settings::{self, Tab},
    writer,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        form::Filters,
        panel::Way,
        rows::Beside,
        settings::{Part, Row},
    },
};

const PATH: &str = Tab::Activity.address();
/// Entries of a page.
const LIMIT: i64 = 50;
/// Entries of a file, the newest.
const MOST: i64 = 50_000;

/// The address of the page or of the file, with what is looked at.
fn address(path: &str, area: Option<Area>, cursor: Option<i64>) -> String {
    let (area, cursor) = (area.map(|area| format!("about={area}")), cursor.map(|cursor| format!("cursor={cursor}")));
    query::address(path, [area, cursor])
}

fn filters(writer: &Writer, chosen: Option<Area>) -> Filters {
    let values = Area::ALL.iter().map(|area| (*area, area.to_string(), writer.say(&format!("area-{area}"))));
    Filters {
        id: "h-filter",
        action: PATH.to_owned(),
        fields: vec![pick("about", writer.say("activity-about"), Some(writer.say("any")), values, chosen)],
        go: writer.say("filter"),
        clear: writer.say("filter-clear"),
    }
}

fn actor(writer: &Writer, by: &Actor) -> String {
    match by {
        Actor::Person { name, .. } => name.clone(),
        Actor::Operator => writer.say("actor-operator"),
        Actor::Nobody => writer.say("actor-nobody"),
    }
}

/// How a value of a field is called on the pages; `None` where it is no word of ours.
fn word(writer: &Writer, field: &str, value: &str) -> Option<String> {
    fn called<T: FromStr + Display>(writer: &Writer, prefix: &str, value: &str) -> Option<String> {
        let value: T = value.parse().ok()?;
        Some(writer.say(&format!("{prefix}-{value}")))
    }
    match field {
        "role" => called::<Role>(writer, "role", value),
        "kind" => called::<Kind>(writer, "kind", value),
        "platform" => value.parse::<Platform>().ok().map(|platform| integrations::name(writer, platform)),
        "channel" => called::<social::Channel>(writer, "channel", value),
        "handling" => called::<social::Handling>(writer, "handling", value),
        "mode" => called::<social::Mode>(writer, "bot-mode", value),
        "categories_auto" => called::<social::Category>(writer, "comment", value),
        "states" => called::<DeliveryState>(writer, "delivery", value),
        "metric" => value.parse::<Watched>().ok().map(|metric| watched(writer, &metric)),
        "comparator" => called::<Comparator>(writer, "comparator", value),
        "severity" => called::<insights::Severity>(writer, "severity", value),
        // Of insights, suggestions to order and conversations, whose common words mean the same.
        "status" => called::<insights::Status>(writer, "insights", value)
            .or_else(|| called::<reorder::Status>(writer, "reorder", value))
            .or_else(|| called::<social::Status>(writer, "status", value)),
        _ => None,
    }
}

/// What was noted of a field, without the signs of JSON. The file has it as it is.
fn plain(writer: &Writer, field: &str, value: &Value) -> String {
    let list = |parts: Vec<String>| if parts.is_empty() { "–".to_owned() } else { parts.join(", ") };
    match value {
        Value::Null => "–".to_owned(),
        Value::Bool(is_so) => writer.say(if *is_so { "answer-yes" } else { "answer-no" }),
        Value::Number(number) => number.to_string(),
        Value::String(text) => word(writer, field, text).unwrap_or_else(|| text.clone()),
        Value::Array(values) => list(values.iter().map(|value| plain(writer, field, value)).collect()),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                let called =
                    writer.message("noted-field").text("field", name).text("name", name.replace('_', " ")).say();
                format!("{called}: {}", plain(writer, name, value))
            };
            list(fields.iter().map(field).collect())
        }
    }
}

fn row(writer: &Writer, noted: &Noted) -> Row {
    let action = writer.say(&format!("action-{}", noted.action.as_str().replace('_', "-")));
    let target = noted.target.as_ref().map(|target| format!(": {target}")).unwrap_or_default();
    let change = [&noted.before, &noted.after].map(|value| value.as_ref().map(|value| plain(writer, "", value)));
    let change = change.into_iter().flatten().collect::<Vec<_>>().join(" → ");
    let sandbox = (noted.mode == Some(Mode::Test)).then(|| writer.say("activity-sandbox"));
    let by = actor(writer, &noted.by);
    let about = [Some(writer.moment(noted.at)), Some(by), noted.address.clone(), sandbox, Some(change)];
    Row {
        name: format!("{action}{target}"),
        about: Beside(about.into_iter().flatten().filter(|text| !text.is_empty()).collect()),
        forms: Vec::new(),
    }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = writer(Some(&viewer), request.headers(), (state.clock)());
    let page = PageRequest { limit: LIMIT, cursor: query::cursor(&request)? };
    let area = query::one(&request, "about")?;
    let found = state.audit.page(&viewer.session().account.user_id, area, page).await?;
    let mut part = Part::new("h-activity", writer.say("activity"), vec![writer.say("activity-what")]);
    part.filters = Some(filters(&writer, area));
    if found.items.is_empty() {
        part.paragraphs.push(writer.say("activity-none"));
    }
    part.rows = found.items.iter().map(|noted| row(&writer, noted)).collect();
    part.ways.push(Way { text: "CSV".to_owned(), address: address(&format!("{PATH}.csv"), area, None) });
    if let Some(cursor) = found.next_cursor {
        part.ways.push(Way { text: writer.say("earlier"), address: address(PATH, area, Some(cursor)) });
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
    mode: Option<&'static str>,
}

::web::row!(Line { at, by, action, target, address, before, after, mode });

fn line(noted: Noted) -> Line {
    let Noted { id: _, mode, at, by, action, target, address, before, after } = noted;
    let by = match by {
        Actor::Person { name, .. } => name,
        Actor::Operator => "operator".to_owned(),
        Actor::Nobody => "nobody".to_owned(),
    };
    let json = |value: Option<Value>| value.map(|value| value.to_string());
    let at = at.format(&time::format_description::well_known::Rfc3339).unwrap_or_default();
    Line {
        at,
        by,
        mode: mode.map(Mode::as_str),
        action: action.as_str(),
        target,
        address,
        before: json(before),
        after: json(after),
    }
}

fn file(noted: Vec<Noted>) -> io::Result<Vec<u8>> {
    let mut file = csv::header_row::<Line>()?.to_vec();
    file.extend_from_slice(&csv::rows(&noted.into_iter().map(line).collect::<Vec<_>>())?);
    Ok(file)
}

pub async fn csv(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let page = PageRequest { limit: MOST, cursor: None };
    let found = state.audit.page(&viewer.session().account.user_id, query::one(&request, "about")?, page).await?;
    let file = file(found.items).map_err(|error| PageError::Internal(error.to_string()))?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/csv; charset=utf-8"))
        .insert_header((header::CONTENT_DISPOSITION, "attachment; filename=\"activity.csv\""))
        .body(file))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn what_was_noted_is_read_without_json() {
        let of = |value: Value| plain(&writer("es-AR"), "", &value);
        assert_eq!(of(json!({"events": ["order.created", "order.paid"]})), "eventos: order.created, order.paid");
        let mut parts: Vec<_> = of(json!({"is_active": true, "link": null, "limit": 5, "hosts": []}))
            .split(", ")
            .map(str::to_owned)
            .collect();
        parts.sort();
        assert_eq!(parts, ["enlace: –", "hosts: –", "is active: Sí", "limit: 5"], "in any order");
    }

    #[test]
    fn a_field_is_called_as_people_call_it() {
        let of = |locale| plain(&writer(locale), "", &json!({"window_hours": 24}));
        assert_eq!(
            [of("en"), of("es-AR"), of("pt-BR")],
            ["over how many hours: 24", "en cuántas horas: 24", "em quantas horas: 24"]
        );
        assert_eq!(
            plain(&writer("es-AR"), "", &json!({"pause_until": null})),
            "pause until: –",
            "it is known to nobody"
        );
    }

    #[test]
    fn a_value_is_called_as_on_the_other_pages() {
        let of = |value: Value| plain(&writer("es-AR"), "", &value);
        assert_eq!(of(json!({"role": "viewer"})), "rol: Lector");
        assert_eq!(of(json!({"kind": "ad_spend"})), "tipo de archivo: Gasto en anuncios");
        assert_eq!(of(json!({"states": ["failed", "held"]})), "estados: Fallida, Retenida");
        let states =
            [of(json!({"status": "ordered"})), of(json!({"status": "snoozed"})), of(json!({"status": "open"}))];
        assert_eq!(states, ["estado: Pedidas", "estado: pospuesta", "estado: Abiertas"]);
        assert_eq!(of(json!({"metric": "ad_spend"})), "vigila: Gasto en anuncios");
        assert_eq!(of(json!({"text": "viewer"})), "texto: viewer", "a person's own words");
    }
}
