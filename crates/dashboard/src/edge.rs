//! What every request passes on its way in and out: whether it comes from a page of ours, who is logged in, what they may do,
//! and whether they ask for too much; then the headers that every answer has, the page of an error, one log line and the metrics.

use std::{net::IpAddr, time::Instant};

use ::web::{
    access::{Exchange, Failure, Outcome},
    client, panics,
    request_id::{self, RequestId},
};
use actix_web::{
    Error, HttpMessage, HttpResponse,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        Method,
        header::{self, HeaderMap, HeaderValue},
    },
    middleware::Next,
    web::Data,
};
use domain::{AccountId, rate_limit::Bucket, sessions::SEEN_EVERY};
use time::OffsetDateTime;
use tracing::{Instrument, Span};
use url::{Position, Url, form_urlencoded};

use crate::{
    body, csrf,
    error::PageError,
    headers, pages,
    routes::{self, Access, Matched},
    session::{self, Viewer},
    state::State,
};

/// Where the request came from.
#[derive(Debug, Clone, Copy)]
pub struct ClientAddress(pub IpAddr);

/// The outermost layer but compression. Always answers `Ok`: an error would skip what follows it.
pub async fn edge(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let Some(state) = request.app_data::<Data<State>>().cloned() else {
        return Ok(request.into_response(HttpResponse::InternalServerError().finish()));
    };
    let matched = routes::find(request.method(), request.match_info().unprocessed());
    let exchange = Exchange {
        id: RequestId::of(request.headers()),
        method: request.method().clone(),
        route: matched.label,
        started: Instant::now(),
    };
    let mut account = None;
    let answering = answer(&state, &exchange.id, &matched, request, next, &mut account);
    let response = answering.instrument(exchange.span()).await?;
    let fault = response.response().extensions().get::<PageError>().cloned();
    let failure = response.response().extensions().get::<Failure>().cloned();
    let outcome = Outcome {
        error: fault.as_ref().map(PageError::code).or(failure.as_ref().map(|failure| failure.code)),
        cause: fault.as_ref().and_then(PageError::cause).or(failure.as_ref().and_then(|it| it.cause.as_deref())),
        account_id: account,
        key_id: None,
    };
    exchange.record(&response, outcome);
    Ok(response)
}

async fn answer(
    state: &State,
    id: &RequestId,
    matched: &Matched,
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
    account: &mut Option<i64>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let peer = request.peer_addr().map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.ip());
    let address = client::address(peer, request.headers(), &state.settings.trusted_proxies);
    request.extensions_mut().insert(ClientAddress(address));
    request.extensions_mut().insert(id.clone());
    let now = (state.clock)();
    let found = identify(state, &request, matched, address, now).await;
    // Who is refused sees that as they set the pages.
    let known = found.as_ref().ok().cloned().flatten();
    let verdict = match found {
        Ok(Some(viewer)) => admit(state, &request, matched, &viewer, now).await.map(|()| Some(viewer)),
        other => other,
    };
    if let Ok(Some(viewer)) = &verdict {
        *account = Some(viewer.account().0);
        Span::current().record("account_id", viewer.account().0);
    }
    let mut response = match verdict {
        Ok(None) if matches!(matched.access, Access::Member(_) | Access::Nowhere) => {
            let wanted = if request.method().is_safe() {
                request.uri().path_and_query().map(ToString::to_string)
            } else {
                page_of(request.headers(), &state.settings.public_url)
            };
            let login = pages::login::address(wanted.as_deref());
            request.into_response(HttpResponse::SeeOther().insert_header((header::LOCATION, login)).finish())
        }
        Ok(None) if matched.access == Access::Read => request.error_response(PageError::LoggedOut),
        Ok(Some(_)) if matched.access == Access::Nowhere => request.error_response(PageError::NotFound),
        Ok(viewer) => {
            if let Some(viewer) = viewer {
                request.extensions_mut().insert(viewer.shared());
                request.extensions_mut().insert(viewer);
            }
            if !request.method().is_safe() {
                let payload = request.take_payload();
                request.set_payload(body::in_time(payload, matched.label == routes::FILES));
            }
            next.call(request).await?.map_into_boxed_body()
        }
        Err(refused) => request.error_response(refused),
    };
    let fault = response.response().extensions().get::<PageError>().cloned();
    if let Some(fault) = fault {
        let page = pages::fault::page(&fault, response.request(), known.as_ref(), id, now);
        response = response.map_body(|_, _| BoxBody::new(page));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    }
    if let Ok(value) = HeaderValue::from_str(&id.0) {
        response.headers_mut().insert(request_id::HEADER, value);
    }
    headers::complete(response.headers_mut(), state.settings.is_secure());
    Ok(response)
}

/// A panic ends its own request and no other.
pub async fn survive(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    panics::survive(request, next, |cause| PageError::Internal(cause.to_owned())).await
}

/// Who is logged in, if anybody is. What comes from elsewhere is refused before that.
async fn identify(
    state: &State,
    request: &ServiceRequest,
    matched: &Matched,
    from: IpAddr,
    now: OffsetDateTime,
) -> Result<Option<Viewer>, PageError> {
    if !csrf::is_allowed(request.method(), request.headers(), &state.settings.public_url) {
        return Err(PageError::CrossSite);
    }
    if matched.access == Access::Asset {
        return Ok(None);
    }
    let Some(token) = session::token(request.headers(), &state.settings) else { return Ok(None) };
    let found = state.sessions.find(token.hash()).await?.filter(|session| session.is_alive(now));
    Ok(found.map(|session| Viewer::new(session, from)))
}

/// The page of ours that a form was sent from.
fn page_of(headers: &HeaderMap, public_url: &Url) -> Option<String> {
    let page = Url::parse(headers.get(header::REFERER)?.to_str().ok()?).ok()?;
    let is_ours = page.origin() == public_url.origin();
    // What answers to a form alone cannot be gone back to.
    let is_page = routes::find(&Method::GET, page.path()).access != Access::Nowhere;
    (is_ours && is_page).then(|| page[Position::BeforePath..Position::AfterQuery].to_owned())
}

/// Whether a form is of the account, where it says of which it is: the account is that of the session, which another tab may have
/// led to another one since the page of the form was drawn.
fn is_of(account: AccountId, query: &str) -> bool {
    let mut told = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "account");
    told.all(|(_, value)| value == account.to_string())
}

/// Whether they may do it; a refusal comes before any work.
async fn admit(
    state: &State,
    request: &ServiceRequest,
    matched: &Matched,
    viewer: &Viewer,
    now: OffsetDateTime,
) -> Result<(), PageError> {
    let (found, method) = (viewer.session(), request.method());
    // What the API answers is counted there, for a refusal that programs can read.
    if matched.access != Access::Read {
        let of_key = state.settings.rate_limit_per_minute;
        let (bucket, limit) = Bucket::of_person(found.person.id, method.is_safe(), of_key);
        let quota = state.limiter.hit(bucket, limit).await;
        if quota.exceeded {
            return Err(PageError::TooManyRequests(quota.reset_seconds));
        }
    }
    if now - found.seen_at >= SEEN_EVERY {
        state.sessions.seen(found.id, now).await?;
        state.visits.visit(found.account.id, found.person.id, now).await?;
    }
    match matched.access {
        Access::Member(act) if !found.role.may(act) => Err(PageError::Forbidden),
        _ if matched.needs_second_factor() && found.needs_second_factor && !found.has_second_factor => {
            Err(PageError::NoSecondFactor)
        }
        _ if !method.is_safe() && matched.is_of_account() && !is_of(viewer.account(), request.query_string()) => {
            Err(PageError::OtherShop)
        }
        _ => Ok(()),
    }
}
