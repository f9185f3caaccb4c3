//! The variable parts of paths.

use actix_web::HttpRequest;
use uuid::Uuid;

use crate::error::{ApiError, Code};

/// The number of a subscription. What is no such number belongs to none.
pub fn subscription(request: &HttpRequest) -> Result<i64, ApiError> {
    number(request, "id").ok_or(ApiError::new(Code::WebhookNotFound))
}

/// A positive number in plain digits.
pub fn number(request: &HttpRequest, name: &str) -> Option<i64> {
    let text = request.match_info().get(name)?;
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok().filter(|number| *number > 0))?
}

/// A UUID in its usual spelling.
pub fn uuid(request: &HttpRequest, name: &str) -> Option<Uuid> {
    let text = request.match_info().get(name)?;
    Uuid::try_parse(text).ok().filter(|_| text.len() == 36)
}
