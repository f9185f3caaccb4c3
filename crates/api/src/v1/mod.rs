//! The endpoints of version 1, and which path leads to which.

pub mod me;
pub mod status;

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

use crate::error::{ApiError, Code};

pub const STATUS_PATH: &str = "/api/v1/status";
pub const OPENAPI_PATH: &str = "/api/v1/openapi.json";

/// Every path with the methods it supports, as `Allow` lists them.
const PATHS: [(&str, &str); 2] = [(STATUS_PATH, READ), ("/api/v1/me", READ)];

const READ: &str = "GET, HEAD, OPTIONS";

/// The path as it goes into logs and metrics: one of the known ones, so that strangers cannot make up labels.
pub fn pattern(path: &str) -> &'static str {
    PATHS.iter().map(|(known, _)| *known).find(|known| *known == path).unwrap_or("unmatched")
}

/// The routes.
pub fn configure(config: &mut ServiceConfig) {
    config
        .service(resource(STATUS_PATH, [read().to(status::get)]))
        .service(resource("/api/v1/me", [read().to(me::get)]))
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
