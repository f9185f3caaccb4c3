//! The page of an error.

use ::web::request_id::RequestId;
use actix_web::HttpRequest;
use time::OffsetDateTime;

use super::writer;
use crate::{
    error::PageError,
    session::Viewer,
    views::{fault, plain::Plain},
};

/// The page, in the language of the caller.
pub fn page(
    fault: &PageError,
    request: &HttpRequest,
    viewer: Option<&Viewer>,
    id: &RequestId,
    now: OffsetDateTime,
) -> String {
    let writer = writer(viewer, request.headers(), now);
    let code = fault.code();
    let title = writer.say(&format!("error-{code}"));
    let what = match fault {
        PageError::Invalid("file") => writer.say("invalid-file"),
        PageError::Invalid("until" | "from" | "to") => writer.say("invalid-days"),
        PageError::Invalid("note") => writer.say("invalid-note"),
        PageError::Invalid("customer") => writer.say("invalid-customer"),
        PageError::Invalid(field) => writer.message("error-invalid-what").text("field", *field).say(),
        _ => writer.message(format!("error-{code}-what")).text("request", &id.0).say(),
    };
    let model = fault::Model {
        plain: Plain::new(&writer, title),
        what,
        back: writer.say("to-overview"),
        // A link can repeat only what was read.
        again: (matches!(fault, PageError::Unavailable(_)) && request.method().is_safe())
            .then(|| writer.say("try-again")),
    };
    fault::page(&model).into_string()
}
