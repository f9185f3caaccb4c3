//! From the URL over the ports to a model: one file per page.

pub mod account;
pub mod activity;
pub mod address;
pub mod ads;
pub mod alert;
mod alert_form;
mod alert_words;
pub mod alerts;
pub mod anomalies;
pub mod anomaly;
mod bot;
pub mod code;
pub mod confirm;
pub mod connect;
pub mod conversation;
pub mod conversation_acts;
pub mod conversations;
pub mod creatives;
pub mod credits;
pub mod customer;
pub mod customers;
pub mod data;
mod days;
pub mod delivery;
pub mod enter;
mod entry;
pub mod erase;
pub mod export;
pub mod fault;
mod fields;
mod figures;
mod firings;
pub mod insights;
pub mod integration;
pub mod integrations;
pub mod inventory;
pub mod invitation;
pub mod key;
pub mod keys;
pub mod login;
pub mod logout;
pub mod mode;
pub mod notes;
pub mod outbox;
pub mod overview;
mod panel;
pub mod people;
pub mod product;
pub mod profit;
pub mod profit_day;
mod query;
pub mod reorder;
pub mod replay;
pub mod reply_template;
pub mod reply_templates;
pub mod reset;
pub mod second_factor;
pub mod security;
mod sent;
pub mod sessions;
pub mod settings;
mod shell;
pub mod shop;
pub mod sign_up;
mod social_form;
pub mod social_profile;
pub mod social_profile_connect;
mod social_profiles;
pub mod social_settings;
pub mod status;
mod stock;
pub mod system;
mod template_form;
pub mod upload;
pub mod webhook;
pub mod webhook_acts;
mod webhook_form;
pub mod webhooks;
mod window;

use actix_web::{
    HttpRequest, HttpResponse,
    http::{
        StatusCode,
        header::{self, HeaderMap},
    },
};
use domain::{insights::grounding::turns, language::Language, texts::Locale};
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
        .body(without_turns(page.into_string()))
}

/// Has the browser look again in a moment, without a script.
fn look_again(response: &mut HttpResponse) {
    response.headers_mut().insert(header::REFRESH, header::HeaderValue::from_static("3"));
}

/// Takes out what would turn the order of the text that follows: no text of ours has any of it, and in the name of a product or
/// a customer it would draw something else than it says (Unicode UAX 9: embeddings, overrides and isolates).
fn without_turns(text: String) -> String {
    if text.contains(turns) { text.replace(turns, "") } else { text }
}

/// Leads on to another page after a change.
fn see(address: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((header::LOCATION, address)).finish()
}

/// How a page is written for the person who is logged in, else for the language that the browser asks for.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_turns_the_order_of_a_text() {
        assert_eq!(without_turns("Mug \u{202e}\u{2066}gum\u{2069}".to_owned()), "Mug gum");
        assert_eq!(without_turns("שלום ñ".to_owned()), "שלום ñ");
    }
}
