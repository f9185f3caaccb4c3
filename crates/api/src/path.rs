//! The variable parts of paths.

use actix_web::HttpRequest;
use domain::{DeliveryId, IntegrationId, SocialAccountId, SubscriptionId, accounts::Platform};
use uuid::Uuid;

use crate::error::{ApiError, Code};

/// The number of a subscription. Anything else is the number of none: 404.
pub fn subscription(request: &HttpRequest) -> Result<SubscriptionId, ApiError> {
    number(request, "id").ok_or(ApiError::new(Code::WebhookNotFound))
}

/// The number of a connection. Anything else is the number of none: 404.
pub fn integration(request: &HttpRequest) -> Result<IntegrationId, ApiError> {
    number(request, "id").ok_or_else(no_integration)
}

pub fn no_integration() -> ApiError {
    ApiError::new(Code::NotFound).message("There is no such connection.")
}

/// The number of a profile. Anything else is the number of none: 404.
pub fn profile(request: &HttpRequest) -> Result<SocialAccountId, ApiError> {
    number(request, "id").ok_or_else(no_profile)
}

pub fn no_profile() -> ApiError {
    ApiError::new(Code::NotFound).message("There is no such profile.")
}

/// The platform that the path names.
pub fn provider(request: &HttpRequest) -> Result<Platform, ApiError> {
    let named = request.match_info().get("provider").and_then(|name| name.parse().ok());
    named.ok_or(ApiError::new(Code::NotFound).message("There is no such provider.").allowed(Platform::NAMES))
}

/// The [`positive`] number that the part `name` is.
pub fn number<T: From<i64>>(request: &HttpRequest, name: &str) -> Option<T> {
    request.match_info().get(name).and_then(positive).map(T::from)
}

/// Completes "`name` …" for a text that is not [`positive`].
pub const MUST_BE_POSITIVE: &str = "must be a whole number from 1 to 9223372036854775807";

/// A whole number of at least 1, in plain decimal digits.
pub fn positive(text: &str) -> Option<i64> {
    let is_plain = text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && *number >= 1)
}

/// The UUID of a delivery in its usual spelling.
pub fn delivery(request: &HttpRequest) -> Option<DeliveryId> {
    let text = request.match_info().get("delivery")?;
    Uuid::try_parse(text).ok().filter(|_| text.len() == 36).map(DeliveryId)
}
