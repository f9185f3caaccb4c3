//! From the URL over the ports to a model: one file per page.

pub mod anomalies;
pub mod anomaly;
pub mod connect;
pub mod customer;
pub mod customers;
pub mod data;
mod days;
pub mod enter;
pub mod fault;
mod figures;
pub mod insights;
pub mod integration;
pub mod integrations;
pub mod inventory;
pub mod login;
pub mod logout;
pub mod mode;
pub mod overview;
mod panel;
pub mod product;
pub mod profit;
pub mod profit_day;
mod query;
pub mod reorder;
mod shell;
pub mod status;
mod stock;
pub mod upload;
mod window;

use actix_web::{
    HttpRequest, HttpResponse,
    http::{
        StatusCode,
        header::{self, HeaderMap},
    },
};
use domain::{language::Language, texts::Locale};
use maud::Markup;
use time::OffsetDateTime;

use crate::{session::Viewer, text::Writer};

/// A page.
fn html(page: Markup) -> HttpResponse {
    html_with(StatusCode::OK, page)
}

/// A page that says why something was not done.
fn html_with(status: StatusCode, page: Markup) -> HttpResponse {
    HttpResponse::build(status)
        .insert_header((header::CONTENT_TYPE, "text/html; charset=utf-8"))
        .body(page.into_string())
}

/// Has the browser look again in a moment, without a script.
fn look_again(response: &mut HttpResponse) {
    response.headers_mut().insert(header::REFRESH, header::HeaderValue::from_static("3"));
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
