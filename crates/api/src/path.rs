//! The variable parts of paths.

use actix_web::HttpRequest;
use domain::SubscriptionId;
use uuid::Uuid;

use crate::error::{ApiError, Code};

/// The number of a subscription. What is no such number belongs to none.
pub fn subscription(request: &HttpRequest) -> Result<SubscriptionId, ApiError> {
    number(request, "id").ok_or(ApiError::new(Code::WebhookNotFound))
}

/// A positive number in plain digits.
pub fn number<T: From<i64>>(request: &HttpRequest, name: &str) -> Option<T> {
    let text = request.match_info().get(name)?;
    let number = text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok().filter(|number| *number > 0))?;
    number.map(T::from)
}

/// A UUID in its usual spelling.
pub fn uuid(request: &HttpRequest, name: &str) -> Option<Uuid> {
    let text = request.match_info().get(name)?;
    Uuid::try_parse(text).ok().filter(|_| text.len() == 36)
}
