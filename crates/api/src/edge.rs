//! What every request passes on its way in and out: who calls, how often, with what right; then the headers that every
//! answer carries, the body of errors, one log line and the metrics.
//!
//! Authentication, quota and scope are settled here, before routing counts: so a path that does not exist tells an
//! unauthenticated client nothing, and a caller over the limit costs no look-up; nor does an address that tries keys, once it is over
//! its own.

use std::{
    net::{IpAddr, Ipv4Addr},
    rc::Rc,
    sync::atomic::Ordering,
    time::Instant,
};

use ::web::{
    access::{Exchange, Outcome},
    client,
    request_id::{self, RequestId},
};
use actix_web::{
    Error, HttpMessage, HttpResponse,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        ConnectionType, Method, StatusCode,
        header::{self, HeaderMap, HeaderName, HeaderValue},
    },
    middleware::Next,
    web,
};
use domain::rate_limit::{Bucket, NOT_MODIFIED_FACTOR, Quota, WINDOW};

use tracing::{Instrument, Span};

use crate::{
    auth::{Caller, ClientAddress, authenticate, token},
    endpoint::{Access, Table},
    error::{ApiError, Code},
    lookups::LimitedAddresses,
    notifications,
    respond::{self, Cache, JSON},
    state::{PUBLIC_FACTOR, State},
};

const RATE_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const RATE_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RATE_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
/// Seconds after which a client may find the database, or the gateway behind us, back.
const DATABASE_RETRY_SECONDS: u64 = 5;
/// Seconds after which there may be capacity again: queues empty in a moment, a stream takes a few seconds.
const OVERLOADED_RETRY_SECONDS: u64 = 2;
/// Requests take less, as a rule.
const IN_PROGRESS_RETRY_SECONDS: u64 = 1;

/// What was decided about a request before it is routed.
struct Admission {
    bucket: Bucket,
    quota: Quota,
    verdict: Result<Option<Caller>, ApiError>,
}

/// The outermost layer but compression. Always answers `Ok`: an error would skip what follows it.
pub async fn edge(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let started = Instant::now();
    let app_data = (
        request.app_data::<web::Data<State>>().cloned(),
        request.app_data::<web::Data<LimitedAddresses>>().cloned(),
        request.app_data::<&'static Table>().copied(),
    );
    let (Some(state), Some(limited), Some(table)) = app_data else {
        return Ok(request.into_response(HttpResponse::InternalServerError().finish()));
    };
    let matched = table.find(request.match_info().unprocessed());
    let exchange = Exchange {
        id: RequestId::of(request.headers()),
        method: request.method().clone(),
        route: matched.label,
        started,
    };
    let access = matched.access(request.method());
    let answer = answer(&state, &limited, &exchange, access, request, next);
    let (response, caller) = answer.instrument(exchange.span()).await?;
    exchange.record(&response, outcome(&response, caller.as_ref()));
    Ok(response)
}

/// Admits the request, has it handled, and completes the answer.
async fn answer(
    state: &State,
    limited: &LimitedAddresses,
    exchange: &Exchange<'_>,
    access: Access,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<(ServiceResponse<BoxBody>, Option<Caller>), Error> {
    let Exchange { id, method, .. } = exchange;
    let address = client_address(&request, state);
    let unmodified_is_free = !respond::matches_anything(request.headers());
    request.extensions_mut().insert(id.clone());
    request.extensions_mut().insert(ClientAddress(address));

    let elsewhere = dashboard(state, &request);
    let access = if elsewhere.is_some() { Access::Public { unlimited: false } } else { access };
    let Admission { bucket, mut quota, verdict } = admit(state, limited, &request, address, access).await;
    let caller = verdict.as_ref().ok().cloned().flatten();
    if let Some(caller) = &caller {
        Span::current().record("account_id", caller.account().0);
    }
    let mut response = match (verdict, elsewhere) {
        (Ok(_), Some(dashboard)) => {
            request.into_response(HttpResponse::Found().insert_header((header::LOCATION, dashboard)).finish())
        }
        (Ok(caller), None) => {
            if let Some(caller) = caller {
                request.extensions_mut().insert(caller);
            }
            next.call(request).await?.map_into_boxed_body()
        }
        (Err(refused), _) => request.error_response(refused),
    };

    if let Some(caller) = &caller
        && writes(method)
        && !response.status().is_client_error()
    {
        state.writes.note(caller.account()).await;
    }
    if access == Access::Signed {
        (response, quota) = notifications::settle(state, (bucket, quota), response).await;
    } else if response.status() == StatusCode::NOT_MODIFIED && unmodified_is_free {
        match not_modified(state, bucket, quota).await {
            Ok(settled) => quota = settled,
            // The status is never refused; beyond what is free its answers are counted like any other.
            Err(_) if access == (Access::Public { unlimited: true }) => {}
            Err(refused) => response = response.error_response(refused),
        }
    }
    fill_error(&mut response, id, &mut quota);
    finish_headers(response.headers_mut(), id, quota, matches!(access, Access::Public { .. }));
    if state.settings.draining.load(Ordering::Relaxed) {
        response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
    Ok((response, caller))
}

/// The address of the dashboard, for a browser that opens the API's.
fn dashboard(state: &State, request: &ServiceRequest) -> Option<String> {
    let opens = request.path() == "/" && !writes(request.method()) && request.method() != Method::OPTIONS;
    let dashboard = state.settings.dashboard.as_ref()?;
    (opens && respond::prefers(request.headers(), "text/html")).then(|| dashboard.clone())
}

fn client_address(request: &ServiceRequest, state: &State) -> IpAddr {
    let peer = request.peer_addr().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.ip());
    client::address(peer, request.headers(), &state.settings.trusted_proxies)
}

async fn admit(
    state: &State,
    limited: &LimitedAddresses,
    request: &ServiceRequest,
    address: IpAddr,
    access: Access,
) -> Admission {
    let limit = state.settings.rate_limit_per_minute;
    let (open, free) = match access {
        Access::Signed => {
            // Counted when it is known whether it is signed.
            let (bucket, quota) = notifications::unsigned(state, address);
            return Admission { bucket, quota, verdict: Ok(None) };
        }
        Access::Public { unlimited } => (true, unlimited),
        Access::Key(_) => (request.method() == Method::OPTIONS, false),
    };
    if open {
        let bucket = Bucket::public(address);
        let quota = state.limiter.hit(bucket, limit.saturating_mul(PUBLIC_FACTOR)).await;
        return Admission { bucket, quota, verdict: within(quota, free).map(|()| None) };
    }
    let unauthenticated = Bucket::refused(address);
    let presented = token(request.headers()).map(|key| key.hash());
    let hash = presented.as_ref().ok().copied();
    if let Some(quota) = limited.quota(unauthenticated, limit)
        && !hash.is_some_and(|hash| state.keys.known_id(hash).is_some() || limited.try_acquire_lookup())
    {
        let verdict = Err(ApiError::new(Code::RateLimitExceeded));
        return Admission { bucket: unauthenticated, quota, verdict };
    }
    let authenticated = match presented {
        Ok(hash) => authenticate(hash, &*state.keys, (state.clock)()).await,
        Err(malformed) => Err(malformed),
    };
    match authenticated {
        Ok(key) => {
            let bucket = Bucket::Key(key.id);
            let quota = state.limiter.hit(bucket, limit).await;
            let caller = Caller::Key(Rc::new(key));
            let verdict = within(quota, false).and_then(|()| in_scope(caller, access)).map(Some);
            Admission { bucket, quota, verdict }
        }
        Err(refused) if refused.code.status() == StatusCode::UNAUTHORIZED => {
            let quota = state.limiter.hit(unauthenticated, limit).await;
            if quota.exceeded {
                limited.insert(unauthenticated, quota);
            }
            Admission { bucket: unauthenticated, quota, verdict: within(quota, false).and(Err(refused)) }
        }
        Err(failed) => {
            // The fault is ours. The count of a known key is shown but refuses no one; without a known key nothing is
            // counted.
            let known = hash.and_then(|hash| state.keys.known_id(hash)).map(Bucket::Key);
            let quota = match known {
                Some(bucket) => state.limiter.hit(bucket, limit).await,
                None => Quota::of(limit, 0, WINDOW, false),
            };
            Admission { bucket: known.unwrap_or(unauthenticated), quota, verdict: Err(failed) }
        }
    }
}

fn within(quota: Quota, free: bool) -> Result<(), ApiError> {
    if quota.exceeded && !free { Err(ApiError::new(Code::RateLimitExceeded)) } else { Ok(()) }
}

fn writes(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD)
}

fn in_scope(caller: Caller, access: Access) -> Result<Caller, ApiError> {
    match access {
        Access::Key(needed) if !caller.key()?.allows(needed) => Err(ApiError::scope(needed)),
        _ => Ok(caller),
    }
}

/// A 304 is free up to [`NOT_MODIFIED_FACTOR`] times the limit in a window: finding out that nothing has changed costs about
/// as much as the whole answer. Beyond that it is refused and the request counts, so soon nothing is read for it.
async fn not_modified(state: &State, bucket: Bucket, quota: Quota) -> Result<Quota, ApiError> {
    let Some(free) = bucket.not_modified() else { return Ok(quota) };
    let most = quota.limit.saturating_mul(NOT_MODIFIED_FACTOR);
    let free = state.limiter.hit(free, most).await;
    if free.exceeded {
        let message =
            format!("More than {most} answers 304 in a minute; the header Retry-After says when to come back.");
        return Err(ApiError::new(Code::RateLimitExceeded).message(message).retry_after(free.reset_seconds));
    }
    state.limiter.refund(bucket).await;
    Ok(Quota { remaining: quota.remaining.saturating_add(1).min(quota.limit), ..quota })
}

/// Writes the body of an error, and the headers that belong to its status. Where another budget than that of requests
/// refused, `quota` becomes what a client has to know: nothing is left until that budget is free again.
pub fn fill_error(response: &mut ServiceResponse<BoxBody>, id: &RequestId, quota: &mut Quota) {
    let Some(error) = response.response().error().and_then(|error| error.as_error::<ApiError>()) else { return };
    let (code, retry_after) = (error.code, error.retry_after);
    if let (Code::RateLimitExceeded, Some(reset_seconds)) = (code, retry_after) {
        *quota = Quota { remaining: 0, reset_seconds, ..*quota };
    }
    let body = serde_json::to_vec(&error.body(&id.0)).unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    headers.insert(header::CACHE_CONTROL, Cache::No.header());
    match code {
        Code::RateLimitExceeded => headers.insert(header::RETRY_AFTER, HeaderValue::from(quota.reset_seconds)),
        Code::NoDb => headers.insert(header::RETRY_AFTER, HeaderValue::from(DATABASE_RETRY_SECONDS)),
        Code::Overloaded => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(retry_after.unwrap_or(OVERLOADED_RETRY_SECONDS)))
        }
        Code::IdempotencyInProgress => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(IN_PROGRESS_RETRY_SECONDS))
        }
        Code::RequestTimeout => headers.insert(header::CONNECTION, HeaderValue::from_static("close")),
        Code::GatewayUnavailable | Code::ProviderUnavailable => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(DATABASE_RETRY_SECONDS))
        }
        _ if code.status() == StatusCode::UNAUTHORIZED && code != Code::InvalidSignature => {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
        }
        _ => return set_body(response, body),
    };
    set_body(response, body);
}

fn set_body(response: &mut ServiceResponse<BoxBody>, body: Vec<u8>) {
    let empty = HttpResponse::new(response.status());
    let answered = std::mem::replace(response.response_mut(), empty);
    *response.response_mut() = answered.set_body(BoxBody::new(body));
}

/// The headers of every answer.
fn finish_headers(headers: &mut HeaderMap, id: &RequestId, quota: Quota, public: bool) {
    headers.insert(request_id::HEADER, HeaderValue::from_str(&id.0).unwrap_or(HeaderValue::from_static("invalid")));
    headers.insert(RATE_LIMIT, HeaderValue::from(quota.limit));
    headers.insert(RATE_REMAINING, HeaderValue::from(quota.remaining));
    headers.insert(RATE_RESET, HeaderValue::from(quota.reset_seconds));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, Cache::No.header());
    }
    if public {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
}

/// What the access line says of the answer.
fn outcome<'a>(response: &'a ServiceResponse<BoxBody>, caller: Option<&Caller>) -> Outcome<'a> {
    let error = response.response().error().and_then(|error| error.as_error::<ApiError>());
    Outcome {
        error: error.map(|error| error.code.as_str()),
        cause: error.and_then(|error| error.cause.as_deref()),
        account_id: caller.map(|caller| caller.account().0),
        key_id: caller.and_then(|caller| caller.key().ok()).map(|key| key.id.0),
    }
}
