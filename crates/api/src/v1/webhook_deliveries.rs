//! `/api/v1/webhooks/{id}/deliveries` and `/test`: what was sent, and sending again.

use actix_web::{HttpRequest, web};
use app::deliveries::{Trial, TrialError, try_out};
use domain::{
    events::{Event, EventKind},
    webhooks::{
        delivery::DeliveryState,
        log::{Filter, LoggedAttempt, LoggedDelivery, Resent},
    },
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use crate::{
    auth::Caller,
    body::{Json, Nothing, Upload},
    error::{ApiError, Code},
    input::{Input, Timestamp},
    names, path,
    query::{Limit, NoParams, Query},
    respond::{API_VERSION, List, Reply, Warnings, instant},
    state::State,
    v1::webhooks,
    warnings::Warning,
    write::{answered, written},
};

/// An attempt to deliver.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeliveryAttempt)]
pub struct AttemptBody {
    /// As in the header `x-svc-attempt`.
    #[schema(example = 1)]
    number: i32,
    #[schema(format = DateTime, example = "2026-05-02T12:00:00Z")]
    started_at: String,
    /// HTTP status; null when there was no answer.
    #[schema(example = 200)]
    status: Option<i32>,
    /// Why there was no answer, as a code; null when there was one.
    error: Option<String>,
    /// The same in words.
    message: Option<String>,
    /// Milliseconds that the name service took; null for a kept connection or a literal address.
    #[schema(example = 1.2)]
    dns_ms: Option<f64>,
    /// Milliseconds to connect; null for a kept connection.
    #[schema(example = 14.7)]
    connect_ms: Option<f64>,
    /// Milliseconds of the TLS handshake; null for a kept connection.
    #[schema(example = 21.9)]
    tls_ms: Option<f64>,
    /// Milliseconds from the request to the status line.
    #[schema(example = 38.1)]
    first_byte_ms: Option<f64>,
    /// Milliseconds in all.
    #[schema(example = 76.4)]
    total_ms: f64,
    /// The beginning of the answer, at most 16 KiB, in a list 1 KiB; bytes that are no text are shown as U+FFFD.
    #[schema(example = "ok")]
    answer: String,
    /// Whether more of the answer was read: the delivery's own path shows it, unless the day's answers were too many to be
    /// kept.
    #[schema(example = false)]
    answer_truncated: bool,
    /// Where a redirect pointed, which is never followed.
    location: Option<String>,
}

fn milliseconds(micros: i64) -> f64 {
    micros as f64 / 1_000.0
}

impl From<LoggedAttempt> for AttemptBody {
    fn from(attempt: LoggedAttempt) -> Self {
        let (answer, answer_truncated) = (attempt.answer_text(), attempt.is_answer_truncated());
        let LoggedAttempt {
            number,
            started_at,
            status,
            failure,
            message,
            dns_us,
            connect_us,
            tls_us,
            first_byte_us,
            total_us,
            answer: _,
            answer_bytes: _,
            location,
        } = attempt;
        Self {
            number,
            started_at: instant(started_at),
            status,
            error: failure,
            message,
            dns_ms: dns_us.map(milliseconds),
            connect_ms: connect_us.map(milliseconds),
            tls_ms: tls_us.map(milliseconds),
            first_byte_ms: first_byte_us.map(milliseconds),
            total_ms: milliseconds(total_us),
            answer,
            answer_truncated,
            location,
        }
    }
}

/// A delivery and attempts of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Delivery)]
pub struct DeliveryBody {
    /// As in the header `x-svc-delivery-id`.
    #[schema(example = "0198d0c0-a7e1-7c3f-9a5f-3f8b1d2c4e6a")]
    id: String,
    /// As in the header `x-svc-event-id`; the list's cursor.
    #[schema(example = 4711)]
    event_id: i64,
    #[schema(example = "credits.low")]
    event: String,
    #[schema(schema_with = names::delivery_state)]
    state: &'static str,
    /// Null when none is to come, or one is being made.
    #[schema(format = DateTime)]
    next_attempt_at: Option<String>,
    #[schema(example = 1)]
    attempts_made: i32,
    /// Attempts that can still be looked at: the newest 50.
    #[schema(maximum = 50, example = 1)]
    attempts_kept: i64,
    #[schema(format = DateTime, example = "2026-05-02T12:00:00Z")]
    created_at: String,
    #[schema(format = DateTime, example = "2026-05-02T12:00:00Z")]
    finished_at: Option<String>,
    /// Oldest first: in a list the newest five, else all that are kept.
    attempts: Vec<AttemptBody>,
}

impl From<LoggedDelivery> for DeliveryBody {
    fn from(delivery: LoggedDelivery) -> Self {
        let LoggedDelivery {
            id,
            event_id,
            event,
            state,
            next_attempt_at,
            attempts_made,
            attempts_kept,
            created_at,
            finished_at,
            attempts,
        } = delivery;
        Self {
            id: id.to_string(),
            event_id: event_id.0,
            event,
            state: state.as_str(),
            next_attempt_at: next_attempt_at.map(instant),
            attempts_made,
            attempts_kept,
            created_at: instant(created_at),
            finished_at: finished_at.map(instant),
            attempts: attempts.into_iter().map(AttemptBody::from).collect(),
        }
    }
}

/// Which deliveries to list.
#[derive(Deserialize, Validate, IntoParams)]
pub struct ListParams {
    /// Only deliveries in this state.
    #[param(value_type = names::DeliveryStateName, inline, required = false)]
    state: Option<DeliveryState>,
    /// Only deliveries of this event.
    #[param(value_type = names::EventName, inline, required = false)]
    event: Option<EventKind>,
    /// RFC 3339; deliveries created from then on.
    #[param(value_type = String, format = DateTime, pattern = "^(19[7-9]|2[0-9]{2})[0-9]-", required = false, example = "2026-05-01T00:00:00Z")]
    since: Option<Timestamp>,
    /// RFC 3339; deliveries created before.
    #[param(value_type = String, format = DateTime, pattern = "^(19[7-9]|2[0-9]{2})[0-9]-", required = false, example = "2026-05-02T00:00:00Z")]
    until: Option<Timestamp>,
    #[validate(nested)]
    #[param(inline, required = false)]
    limit: Limit<25, 100>,
    /// `next_cursor` of the page before.
    #[param(minimum = 1)]
    cursor: Option<i64>,
}

impl Input for ListParams {}

/// Deliveries of a subscription.
///
/// Lists the deliveries to a subscription, newest event first, each with its newest five attempts and at most 1 KiB of each
/// answer. With `state`, `event`, `since` or `until` a page looks at 20,000 deliveries: it may have few or none, and a next page.
#[utoipa::path(
    get, path = "/api/v1/webhooks/{id}/deliveries", tag = "webhooks", operation_id = "list_deliveries",
    params(
        ListParams,
        ("id" = i64, Path, description = "The subscription.", minimum = 1, example = 3),
    ),
    responses((status = 200, description = "The deliveries.", body = List<DeliveryBody>)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::WebhookNotFound])))
)]
pub async fn list(
    caller: Caller,
    query: Query<ListParams>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let Query { params: ListParams { state: wanted, event, since, until, limit, cursor }, warnings } = query;
    let filter = Filter { state: wanted, event, since: since.map(|at| at.0), until: until.map(|at| at.0) };
    if filter.since.zip(filter.until).is_some_and(|(since, until)| since >= until) {
        return Err(ApiError::parameter("until", "must be after `since`"));
    }
    let page = limit.page(cursor);
    let (account, id) = (caller.account(), path::subscription(&request)?);
    webhooks::known(&state, account, id).await?;
    let found = state.delivery_log.page(account, id, filter, page).await?;
    found_at_length(move || List::new(page, found, DeliveryBody::from, warnings)).await
}

/// The answer that holds what `body` makes. A page may be some megabytes, which take a while to write: other requests of
/// the thread do not wait for it.
async fn found_at_length<T: Serialize>(body: impl FnOnce() -> T + Send + 'static) -> Result<Reply, ApiError> {
    let written = tokio::task::spawn_blocking(move || Reply::found(&body())).await;
    written.map_err(|error| ApiError::internal(&error))?
}

/// A delivery.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OneDelivery)]
pub struct OneBody {
    #[serde(flatten)]
    delivery: DeliveryBody,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

fn unknown() -> ApiError {
    ApiError::new(Code::NotFound).message("There is no such delivery.")
}

/// One delivery.
///
/// Shows a delivery with all attempts that are kept, the newest 50, and all that is kept of their answers.
#[utoipa::path(
    get, path = "/api/v1/webhooks/{id}/deliveries/{delivery}", tag = "webhooks", operation_id = "get_delivery",
    params(
        ("id" = i64, Path, description = "The subscription.", minimum = 1, example = 3),
        ("delivery" = String, Path, description = "The delivery.", format = Uuid, example = "0198d0c0-a7e1-7c3f-9a5f-3f8b1d2c4e6a"),
    ),
    responses((status = 200, description = "The delivery.", body = OneBody)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::WebhookNotFound, Code::NotFound])))
)]
pub async fn get(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let warnings = query.warnings;
    let (account, id) = (caller.account(), path::subscription(&request)?);
    let delivery = path::delivery(&request).ok_or_else(unknown)?;
    webhooks::known(&state, account, id).await?;
    let found = state.delivery_log.find(account, id, delivery).await?.ok_or_else(unknown)?;
    found_at_length(move || OneBody { delivery: found.into(), api_version: API_VERSION, warnings }).await
}

/// The delivery is in the queue again.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Resent)]
pub struct ResentBody {
    #[schema(example = true)]
    ok: bool,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Send a delivery again.
///
/// Sends a delivery again under its id, whatever became of it, with all its attempts before it.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/deliveries/{delivery}/resend", tag = "webhooks",
    operation_id = "resend_delivery",
    params(
        ("id" = i64, Path, description = "The subscription.", minimum = 1, example = 3),
        ("delivery" = String, Path, description = "The delivery.", format = Uuid, example = "0198d0c0-a7e1-7c3f-9a5f-3f8b1d2c4e6a"),
    ),
    responses((status = 200, description = "The delivery is due now.", body = ResentBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([
        Code::NotFound, Code::WebhookNotFound, Code::InvalidTransition, Code::InvalidJson, Code::InvalidBody,
        Code::PayloadTooLarge, Code::UnsupportedMediaType
    ])))
)]
pub async fn resend(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    upload: Upload,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let idempotency = upload.idempotency(&request)?;
    let (Nothing {}, ignored) = upload.read()?;
    let mut warnings = query.warnings;
    warnings.extend(ignored);
    let (account, id) = (caller.account(), path::subscription(&request)?);
    let delivery = path::delivery(&request).ok_or_else(unknown)?;
    webhooks::known(&state, account, id).await?;
    let work =
        async move { state.delivery_log.resend(account, id, delivery, idempotency, None, (state.clock)()).await };
    let conflict = |message: &'static str| Err(ApiError::new(Code::InvalidTransition).message(message));
    let answer = |resent| match resent {
        Resent::Queued => Reply::done(&ResentBody { ok: true, api_version: API_VERSION, warnings }),
        Resent::Unknown => Err(unknown()),
        Resent::UnderWay => conflict("The delivery is being attempted at this moment."),
        Resent::Inactive => conflict("The subscription is switched off."),
    };
    answered(work, answer).await
}

/// What to try.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = TestWebhook)]
pub struct TestRequest {
    /// The event to send a sample of, whether the subscription asks for it or not.
    #[schema(value_type = names::EventName, example = "credits.low")]
    event: EventKind,
}

impl Input for TestRequest {
    fn fault(_: &str) -> ApiError {
        ApiError::new(Code::UnknownEvent).allowed(EventKind::NAMES)
    }
}

/// What came of the test.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TestedWebhook)]
pub struct TestedBody {
    /// As in the header `x-svc-delivery-id`.
    #[schema(example = "0198d0c0-a7e1-7c3f-9a5f-3f8b1d2c4e6a")]
    delivery_id: String,
    /// Whether the answer was a 2xx.
    #[schema(example = true)]
    delivered: bool,
    attempt: AttemptBody,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Send a sample.
///
/// Sends a sample of an event to a subscription at once, waits for the answer, and does not try again. Under the same
/// idempotency key nothing is sent a second time; the first attempt is shown again.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/test", tag = "webhooks", operation_id = "test_webhook",
    params(("id" = i64, Path, description = "The subscription.", minimum = 1, example = 3)),
    responses((status = 200, description = "The attempt, successful or not.", body = TestedBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::WebhookNotFound, Code::UnknownEvent, Code::IdempotencyKeySuperseded])))
)]
pub async fn test(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    body: Json<TestRequest>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (TestRequest { event }, idempotency, warnings) = body.into_parts(query.warnings);
    let (account, id) = (caller.account(), path::subscription(&request)?);
    let event = Event::sample(event);
    let work = async move {
        let tried = try_out(&state.deliveries, &*state.delivery_log, account, id, &event, idempotency).await?;
        tried.ok_or(ApiError::new(Code::WebhookNotFound))
    };
    let body = |Trial { delivery, attempt }: Trial| TestedBody {
        delivery_id: delivery.to_string(),
        delivered: attempt.is_success(),
        attempt: attempt.into(),
        api_version: API_VERSION,
        warnings,
    };
    written(work, body).await
}

impl From<TrialError> for ApiError {
    fn from(error: TrialError) -> Self {
        match error {
            TrialError::Idempotency(error) => error.into(),
            TrialError::Busy => Self::new(Code::Overloaded),
            TrialError::Unsent(error) => Self::internal(&error),
        }
    }
}
