//! How many notifications other systems may send. A sender that signs has a budget that no other client can use up: only what
//! proves nothing is counted with what an address sends unsigned, and only that is refused for it.

use std::net::IpAddr;

use actix_web::{HttpMessage, HttpRequest, body::BoxBody, dev::ServiceResponse, http::header::HeaderMap};
use domain::rate_limit::{Bucket, Quota, WINDOW};

use crate::{
    auth::ClientAddress,
    error::{ApiError, Code},
    state::{PUBLIC_FACTOR, State},
};

/// How many times the requests of a key an address may send signed notifications.
const SIGNED_FACTOR: u32 = 100;

/// Where the sender of a signed notification stands; kept with the request.
#[derive(Clone, Copy)]
struct Signed(Quota);

/// The value of a header that was sent exactly once.
pub fn single_header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name);
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Counts a notification whose signature is right.
///
/// # Errors
/// `rate_limit_exceeded`, beyond the budget of the address.
pub async fn admit_signed(request: &HttpRequest, address: ClientAddress, state: &State) -> Result<(), ApiError> {
    let limit = state.settings.rate_limit_per_minute.saturating_mul(SIGNED_FACTOR);
    let quota = state.limiter.hit(Bucket::signed(address.0), limit).await;
    request.extensions_mut().insert(Signed(quota));
    if quota.exceeded { Err(ApiError::new(Code::RateLimitExceeded)) } else { Ok(()) }
}

/// How many times the requests of a key an address may send hooks of a platform that signs none.
const UNSIGNED_HOOK_FACTOR: u32 = 1_000;

/// Notes that a hook is signed. It is not counted: platforms drop receivers that refuse what they send, however much that is.
pub fn mark_signed(request: &HttpRequest, state: &State) {
    let limit = state.settings.rate_limit_per_minute.saturating_mul(SIGNED_FACTOR);
    request.extensions_mut().insert(Signed(Quota::of(limit, 0, WINDOW, false)));
}

/// Counts a hook of a platform that signs none, apart from what anyone may send.
///
/// # Errors
/// `overloaded`, beyond the budget of the address: to be sent again.
pub async fn admit_unsigned_hook(request: &HttpRequest, address: ClientAddress, state: &State) -> Result<(), ApiError> {
    let limit = state.settings.rate_limit_per_minute.saturating_mul(UNSIGNED_HOOK_FACTOR);
    let quota = state.limiter.hit(Bucket::signed(address.0), limit).await;
    request.extensions_mut().insert(Signed(quota));
    if quota.exceeded { Err(ApiError::new(Code::Overloaded)) } else { Ok(()) }
}

/// The bucket that a notification counts in unless it turns out to be signed, before anything is counted.
pub fn unsigned(state: &State, address: IpAddr) -> (Bucket, Quota) {
    let limit = state.settings.rate_limit_per_minute.saturating_mul(PUBLIC_FACTOR);
    (Bucket::unsigned(address), Quota::of(limit, 0, WINDOW, false))
}

/// Counts what was answered without a signature; beyond the budget of the address the answer says only that.
pub async fn settle(
    state: &State,
    (bucket, quota): (Bucket, Quota),
    response: ServiceResponse<BoxBody>,
) -> (ServiceResponse<BoxBody>, Quota) {
    let signed = response.request().extensions().get::<Signed>().copied();
    if let Some(Signed(quota)) = signed {
        return (response, quota);
    }
    let quota = state.limiter.hit(bucket, quota.limit).await;
    if quota.exceeded {
        return (response.error_response(ApiError::new(Code::RateLimitExceeded)), quota);
    }
    (response, quota)
}
