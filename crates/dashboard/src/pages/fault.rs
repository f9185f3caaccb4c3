//! The page of an error.

use ::web::request_id::RequestId;
use actix_web::HttpRequest;
use time::OffsetDateTime;

use super::{shell::theme, writer};
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
        _ => writer.message(format!("error-{code}-what")).text("request", &id.0).say(),
    };
    let mut plain = Plain::new(&writer, title);
    plain.theme = viewer.and_then(theme);
    let model = fault::Model {
        plain,
        what,
        back: writer.say("to-overview"),
        // A link can repeat only what was read.
        again: (matches!(fault, PageError::Unavailable(_)) && request.method().is_safe())
            .then(|| writer.say("try-again")),
    };
    fault::page(&model).into_string()
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_field_is_not_called_as_in_the_address() {
        let request = TestRequest::default().insert_header(("accept-language", "es")).to_http_request();
        let id = RequestId("7".into());
        let drawn = page(&PageError::Invalid("cursor"), &request, None, &id, datetime!(2026-11-22 22:36 UTC));
        assert!(drawn.contains("Falta un valor o no es uno posible. Vuelve y corrígelo."), "{drawn}");
        assert!(!drawn.contains("cursor"), "{drawn}");
    }
}
