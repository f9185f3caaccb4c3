//! From the URL over the ports to a model: one file per page.

pub mod alert;
mod alert_form;
mod alert_words;
pub mod alerts;
pub mod anomalies;
pub mod anomaly;
pub mod customers;
mod days;
pub mod delivery;
pub mod enter;
pub mod fault;
mod fields;
mod figures;
pub mod insights;
pub mod inventory;
pub mod key;
pub mod keys;
pub mod login;
pub mod logout;
pub mod mode;
pub mod overview;
mod panel;
pub mod profit;
pub mod profit_day;
mod query;
pub mod reorder;
pub mod replay;
mod shell;
mod stock;
pub mod webhook;
pub mod webhook_acts;
mod webhook_form;
pub mod webhooks;
mod window;

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{self, HeaderMap},
};
use domain::{language::Language, texts::Locale};
use maud::Markup;
use time::OffsetDateTime;

use crate::{session::Viewer, text::Writer};

/// A page.
fn html(page: Markup) -> HttpResponse {
    HttpResponse::Ok().insert_header((header::CONTENT_TYPE, "text/html; charset=utf-8")).body(page.into_string())
}

/// A page with a form of which something is wrong.
fn refused(page: Markup) -> HttpResponse {
    HttpResponse::BadRequest()
        .insert_header((header::CONTENT_TYPE, "text/html; charset=utf-8"))
        .body(page.into_string())
}

/// Leads on to another page after a change.
fn see(address: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((header::LOCATION, address)).finish()
}

/// How a page is written for whoever is logged in, else for the language that the browser asks for.
fn writer(viewer: Option<&Viewer>, headers: &HeaderMap, now: OffsetDateTime) -> Writer {
    match viewer {
        Some(viewer) => {
            let account = &viewer.session().account;
            Writer::new(viewer.locale(), account.timezone.clone(), account.currency, now)
        }
        None => Writer::anonymous(Locale { language: preferred(headers), region: None }, now),
    }
}

/// The first language of `Accept-Language` that the pages are written in.
fn preferred(headers: &HeaderMap) -> Language {
    let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let known = |tag: &str| match tag.split(['-', ';']).next().unwrap_or_default().trim().to_ascii_lowercase().as_str()
    {
        "en" => Some(Language::English),
        "es" => Some(Language::Spanish),
        "pt" => Some(Language::BrazilianPortuguese),
        _ => None,
    };
    accepted.split(',').find_map(known).unwrap_or(Language::English)
}

/// The parameters of a GET form, each with its last value.
fn parameter<'a>(request: &'a HttpRequest, name: &str) -> Option<std::borrow::Cow<'a, str>> {
    url::form_urlencoded::parse(request.query_string().as_bytes())
        .filter(|(key, _)| key == name)
        .map(|(_, value)| value)
        .last()
}
