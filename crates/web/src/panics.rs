//! A panic ends its own request and no other.

use std::panic::AssertUnwindSafe;

use actix_web::{
    Error, HttpResponse,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    middleware::Next,
};
use futures_util::FutureExt;

/// The answer of the handler, or that of `error` when it panics. Goes round a route or a resource: further out the path is not
/// matched yet, and the request must not be shared.
///
/// # Errors
/// What the handler fails with.
pub async fn survive<E: Into<Error>>(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
    error: impl FnOnce(&'static str) -> E,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let kept = request.request().clone();
    match AssertUnwindSafe(next.call(request)).catch_unwind().await {
        Ok(answered) => Ok(answered?.map_into_boxed_body()),
        Err(_) => Ok(ServiceResponse::new(kept, HttpResponse::from_error(error("a handler panicked")))),
    }
}

#[cfg(test)]
mod tests {
    use actix_web::{App, error::ErrorInternalServerError, http::StatusCode, middleware::from_fn, test, web};

    use super::*;

    async fn guard(
        request: ServiceRequest,
        next: Next<impl MessageBody + 'static>,
    ) -> Result<ServiceResponse<BoxBody>, Error> {
        survive(request, next, ErrorInternalServerError).await
    }

    async fn panics() -> HttpResponse {
        panic!("on purpose");
    }

    #[actix_web::test]
    async fn a_panic_is_answered_and_the_next_request_is_served() {
        let fine = || async { HttpResponse::NoContent().finish() };
        let app = App::new()
            .route("/panics", web::get().to(panics).wrap(from_fn(guard)))
            .route("/fine", web::get().to(fine).wrap(from_fn(guard)));
        let app = test::init_service(app).await;
        for (path, status) in [("/panics", StatusCode::INTERNAL_SERVER_ERROR), ("/fine", StatusCode::NO_CONTENT)] {
            let request = test::TestRequest::with_uri(path).to_request();
            assert_eq!(test::call_service(&app, request).await.status(), status, "{path}");
        }
    }
}
