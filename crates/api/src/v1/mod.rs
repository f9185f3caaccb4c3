//! The endpoints of version 1, and which path leads to which.

pub mod alerts;
pub mod anomalies;
pub mod auto_topup;
pub mod credits;
pub mod customers;
pub mod insight_runs;
pub mod insights;
pub mod integrations;
pub mod inventory;
pub mod me;
pub mod openapi;
pub mod payment_hooks;
pub mod profit;
pub mod reorder;
pub mod segments;
pub mod status;
pub mod track;
pub mod track_batch;
pub mod transactions;
pub mod usage;
pub mod webhook_deliveries;
pub mod webhook_replays;
pub mod webhook_settings;
pub mod webhook_verify;
pub mod webhooks;

use std::panic::AssertUnwindSafe;

use actix_web::{
    Error, HttpResponse, Resource, Route,
    body::{BoxBody, MessageBody},
    dev::{HttpServiceFactory, ServiceRequest, ServiceResponse},
    guard,
    http::{Method, header},
    middleware::{Next, from_fn},
    web::{self, ServiceConfig},
};
use futures_util::FutureExt;

use crate::{
    error::{ApiError, Code},
    openapi::page,
};

pub const STATUS_PATH: &str = "/api/v1/status";
pub const OPENAPI_PATH: &str = "/api/v1/openapi.json";

pub const DOCS_PATH: &str = "/docs";
const DOCS_FILES: &str = "/docs/{file:.*}";

const GENERATE_PATH: &str = "/api/v1/insights/generate";
const INSIGHT_PATH: &str = "/api/v1/insights/{id}";
const INSIGHT_JOB_PATH: &str = "/api/v1/insights/jobs/{id}";
const ALERTS_PATH: &str = "/api/v1/alerts";
const ALERT_PATH: &str = "/api/v1/alerts/{id}";
pub const TRACK_BATCH_PATH: &str = "/api/v1/track/batch";
const SUGGESTION_PATH: &str = "/api/v1/reorder/{id}";

const READ: &str = "GET, HEAD, OPTIONS";

/// Every path with the methods it supports, as `Allow` lists them.
const PATHS: &[(&str, &str)] = &[
    (STATUS_PATH, READ),
    (OPENAPI_PATH, READ),
    (DOCS_PATH, READ),
    (DOCS_FILES, READ),
    ("/api/v1/me", READ),
    ("/api/v1/credits", READ),
    ("/api/v1/credits/transactions", READ),
    ("/api/v1/credits/auto-topup", "PUT, OPTIONS"),
    ("/api/v1/usage", READ),
    ("/hooks/payments/{gateway}", "POST, OPTIONS"),
    ("/api/v1/customers", READ),
    ("/api/v1/customers/segments", READ),
    ("/api/v1/integrations", READ),
    ("/api/v1/webhooks", "GET, HEAD, POST, DELETE, OPTIONS"),
    ("/api/v1/webhooks/verify", "POST, OPTIONS"),
    ("/api/v1/webhooks/{id}", "PATCH, OPTIONS"),
    ("/api/v1/webhooks/{id}/rotate", "POST, OPTIONS"),
    ("/api/v1/webhooks/{id}/test", "POST, OPTIONS"),
    ("/api/v1/webhooks/{id}/deliveries", READ),
    ("/api/v1/webhooks/{id}/deliveries/{delivery}", READ),
    ("/api/v1/webhooks/{id}/deliveries/{delivery}/resend", "POST, OPTIONS"),
    ("/api/v1/webhooks/{id}/replay", "POST, OPTIONS"),
    ("/api/v1/webhooks/{id}/replay/{replay}", "GET, HEAD, DELETE, OPTIONS"),
    ("/api/v1/insights", READ),
    (GENERATE_PATH, "POST, OPTIONS"),
    (INSIGHT_PATH, "PATCH, OPTIONS"),
    (INSIGHT_JOB_PATH, READ),
    ("/api/v1/track", "POST, OPTIONS"),
    (TRACK_BATCH_PATH, "POST, OPTIONS"),
    ("/api/v1/anomalies", READ),
    ("/api/v1/profit", READ),
    ("/api/v1/inventory", READ),
    ("/api/v1/reorder", READ),
    (SUGGESTION_PATH, "PATCH, OPTIONS"),
    (ALERTS_PATH, "GET, HEAD, POST, OPTIONS"),
    (ALERT_PATH, "GET, HEAD, PATCH, DELETE, OPTIONS"),
];

/// The path as it goes into logs and metrics: one of the known ones, so that strangers cannot make up labels.
pub fn pattern(path: &str) -> &'static str {
    let known = || PATHS.iter().map(|(known, _)| *known);
    // Most paths are known ones to the letter, and that is found out much sooner.
    let found = known().find(|known| *known == path).or_else(|| known().find(|known| fits(known, path)));
    found.unwrap_or(if path.starts_with("/docs/") { DOCS_FILES } else { "unmatched" })
}

/// Whether a path is one of a pattern, in which parts in braces stand for any part.
fn fits(pattern: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    pattern.split('/').all(|known| parts.next().is_some_and(|part| known == part || known.starts_with('{')))
        && parts.next().is_none()
}

/// The routes. A request is held against one after the other: those asked for most come first.
pub fn configure(config: &mut ServiceConfig) {
    config
        .service(resource("/api/v1/track", [web::post().to(track::track)]))
        .service(resource("/api/v1/customers", [read().to(customers::get)]))
        .service(resource("/api/v1/profit", [read().to(profit::get)]))
        .service(resource(STATUS_PATH, [read().to(status::get)]))
        .service(resource(OPENAPI_PATH, [read().to(openapi::get)]))
        .service(resource(DOCS_PATH, [read().to(page::redirect)]))
        .service(resource(DOCS_FILES, [read().to(page::file)]))
        .service(resource("/api/v1/me", [read().to(me::get)]))
        .service(resource("/api/v1/credits", [read().to(credits::get)]))
        .service(resource("/api/v1/credits/transactions", [read().to(transactions::list)]))
        .service(resource("/api/v1/credits/auto-topup", [web::put().to(auto_topup::set)]))
        .service(resource("/api/v1/usage", [read().to(usage::get)]))
        .service(resource("/hooks/payments/{gateway}", [web::post().to(payment_hooks::receive)]))
        .service(resource("/api/v1/customers/segments", [read().to(segments::get)]))
        .service(resource("/api/v1/integrations", [read().to(integrations::get)]))
        .service(resource(
            "/api/v1/webhooks",
            [read().to(webhooks::list), web::post().to(webhooks::create), web::delete().to(webhooks::revoke)],
        ))
        .service(resource("/api/v1/webhooks/verify", [web::post().to(webhook_verify::verify)]))
        .service(resource("/api/v1/webhooks/{id}", [web::patch().to(webhook_settings::change)]))
        .service(resource("/api/v1/webhooks/{id}/rotate", [web::post().to(webhook_settings::rotate)]))
        .service(resource("/api/v1/webhooks/{id}/test", [web::post().to(webhook_deliveries::test)]))
        .service(resource("/api/v1/webhooks/{id}/deliveries", [read().to(webhook_deliveries::list)]))
        .service(resource("/api/v1/webhooks/{id}/deliveries/{delivery}", [read().to(webhook_deliveries::get)]))
        .service(resource(
            "/api/v1/webhooks/{id}/deliveries/{delivery}/resend",
            [web::post().to(webhook_deliveries::resend)],
        ))
        .service(resource("/api/v1/webhooks/{id}/replay", [web::post().to(webhook_replays::start)]))
        .service(resource(
            "/api/v1/webhooks/{id}/replay/{replay}",
            [read().to(webhook_replays::get), web::delete().to(webhook_replays::cancel)],
        ))
        .service(resource("/api/v1/insights", [read().to(insights::get)]))
        .service(resource(TRACK_BATCH_PATH, [web::post().to(track_batch::track_batch)]))
        .service(resource("/api/v1/anomalies", [read().to(anomalies::get)]))
        .service(resource("/api/v1/inventory", [read().to(inventory::get)]))
        .service(resource("/api/v1/reorder", [read().to(reorder::get)]))
        .service(resource(SUGGESTION_PATH, [web::patch().to(reorder::change)]))
        .service(resource(GENERATE_PATH, [web::post().to(insight_runs::start)]))
        .service(resource(INSIGHT_PATH, [web::patch().to(insights::change)]))
        .service(resource(INSIGHT_JOB_PATH, [read().to(insight_runs::get)]))
        .service(resource(ALERTS_PATH, [read().to(alerts::list), web::post().to(alerts::create)]))
        .service(resource(
            ALERT_PATH,
            [read().to(alerts::get), web::patch().to(alerts::change), web::delete().to(alerts::delete)],
        ))
        .default_service(web::to(not_found));
}

/// GET, and HEAD, whose answer is the same without the body.
fn read() -> Route {
    web::route().guard(guard::Any(guard::Get()).or(guard::Head()))
}

/// A resource that says what it allows and survives panics.
fn resource<const N: usize>(path: &'static str, routes: [Route; N]) -> impl HttpServiceFactory + 'static {
    let allow = PATHS.iter().find(|(known, _)| *known == path).map_or("OPTIONS", |(_, methods)| *methods);
    let options = move || async move { HttpResponse::NoContent().insert_header((header::ALLOW, allow)).finish() };
    let refuse = move || async move {
        let mut response = HttpResponse::from_error(ApiError::new(Code::MethodNotAllowed));
        response.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static(allow));
        response
    };
    routes
        .into_iter()
        .fold(web::resource(path), Resource::route)
        .route(web::method(Method::OPTIONS).to(options))
        .default_service(web::to(refuse))
        .wrap(from_fn(survive))
}

async fn not_found() -> Result<HttpResponse, ApiError> {
    Err(ApiError::new(Code::NotFound))
}

/// A panic ends its own request and no other.
async fn survive(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    // The path is matched by now, so the request may be shared.
    let kept = request.request().clone();
    match AssertUnwindSafe(next.call(request)).catch_unwind().await {
        Ok(answered) => Ok(answered?.map_into_boxed_body()),
        Err(_) => {
            let error = ApiError::internal(&"a handler panicked");
            Ok(ServiceResponse::new(kept, HttpResponse::from_error(error)))
        }
    }
}
