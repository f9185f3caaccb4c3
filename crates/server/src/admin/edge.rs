//! What every request passes on its way in and out: it gets an id, and its line in the log.

use std::time::Instant;

use ::web::{
    access::{Exchange, Failure, Outcome},
    request_id::{self, RequestId},
};
use actix_web::{
    Error,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{StatusCode, header::HeaderValue},
    middleware::Next,
};
use tracing::Instrument;

/// The outermost layer. What is further in always answers `Ok`: an error would skip the line.
pub(super) async fn edge(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let started = Instant::now();
    let pattern = request.match_pattern();
    let exchange = Exchange {
        id: RequestId::of(request.headers()),
        method: request.method().clone(),
        route: pattern.as_deref().unwrap_or("unmatched"),
        started,
    };
    let mut response = next.call(request).instrument(exchange.span()).await?.map_into_boxed_body();
    if let Ok(value) = HeaderValue::from_str(&exchange.id.0) {
        response.headers_mut().insert(request_id::HEADER, value);
    }
    let failure = response.response().extensions().get::<Failure>().cloned();
    let outcome = Outcome {
        error: failure.as_ref().map(|failure| failure.code).or_else(|| code(response.status())),
        cause: failure.as_ref().and_then(|failure| failure.cause.as_deref()),
        account_id: response.request().match_info().get("account").and_then(|account| account.parse().ok()),
        key_id: None,
    };
    exchange.write(&response, outcome);
    Ok(response)
}

/// The code of an error that says no other: the answers of this listener are for people.
fn code(status: StatusCode) -> Option<&'static str> {
    match status {
        StatusCode::FORBIDDEN => Some("wrong_origin"),
        StatusCode::NOT_FOUND => Some("not_found"),
        StatusCode::CONFLICT => Some("invalid_transition"),
        StatusCode::MISDIRECTED_REQUEST => Some("wrong_host"),
        _ if status.is_client_error() => Some("invalid_body"),
        _ if status.is_server_error() => Some("internal_error"),
        _ => None,
    }
}
