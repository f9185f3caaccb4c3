//! The span and the access line of a request, and its metrics.

use std::time::{Duration, Instant};

use actix_web::{
    body::{BodySize, MessageBody},
    dev::ServiceResponse,
    http::Method,
};
use tracing::{Span, field::Empty};

use crate::{meter, request_id::RequestId};

/// What names a request in the log.
#[derive(Debug)]
pub struct Exchange<'r> {
    pub id: RequestId,
    pub method: Method,
    /// The pattern of its path: one of few, so that clients cannot make up labels.
    pub route: &'r str,
    pub started: Instant,
}

/// What the access line says of an answer beside its status.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outcome<'a> {
    /// The code of an error, and the chain of its causes.
    pub error: Option<&'a str>,
    pub cause: Option<&'a str>,
    pub account_id: Option<i64>,
    pub key_id: Option<i64>,
}

/// Why an answer is an error, among its extensions: for who writes the log but did not make the answer.
#[derive(Debug, Clone)]
pub struct Failure {
    pub code: &'static str,
    pub cause: Option<String>,
}

impl Exchange<'_> {
    /// Around all that is done for the request, in spawned tasks too: so every line that is logged meanwhile carries its id.
    /// Of the level of errors, so that it is there for them however little else is logged. `account_id` is to be recorded when it
    /// is known.
    pub fn span(&self) -> Span {
        let (id, method) = (&*self.id.0, self.method.as_str());
        tracing::error_span!("request", request_id = id, method, route = self.route, account_id = Empty)
    }

    /// The access line alone, for requests that are not counted as traffic.
    pub fn write(&self, response: &ServiceResponse<impl MessageBody>, outcome: Outcome<'_>) {
        self.write_line(response, outcome, self.started.elapsed());
    }

    /// The access line, one per request. Neither the query nor a header is in it: they may hold what no log should.
    fn write_line(&self, response: &ServiceResponse<impl MessageBody>, outcome: Outcome<'_>, elapsed: Duration) {
        let Outcome { error, cause, account_id, key_id } = outcome;
        let status = response.status().as_u16();
        let bytes = match response.response().body().size() {
            BodySize::Sized(bytes) => Some(bytes),
            BodySize::None => Some(0),
            BodySize::Stream => None,
        };
        tracing::info!(
            request_id = &*self.id.0,
            method = self.method.as_str(),
            route = self.route,
            status,
            error,
            cause,
            ms = elapsed.as_micros() as f64 / 1_000.0,
            bytes,
            account_id,
            key_id,
            "request"
        );
    }
}

impl Exchange<'static> {
    /// The access line, and the metrics.
    pub fn record(&self, response: &ServiceResponse<impl MessageBody>, outcome: Outcome<'_>) {
        let elapsed = self.started.elapsed();
        meter::count(self.route, response.status().as_u16(), elapsed);
        self.write_line(response, outcome, elapsed);
    }
}
