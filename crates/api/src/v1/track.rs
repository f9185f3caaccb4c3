//! `POST /api/v1/track`: custom events of shops and apps.

use std::net::IpAddr;

use actix_web::{HttpRequest, web};
use domain::{
    idempotency::Written,
    instants,
    rate_limit::Bucket,
    tracking::{EventName, Geolocator, InvalidProps, MAX_AGE, MAX_AHEAD, MAX_PROPS_BYTES, NewEvent, check_props},
};
use serde::Serialize;
use serde_json::{Map, Value};
use time::OffsetDateTime;
use utoipa::ToSchema;
use validator::{Validate, ValidationErrors};

use crate::{
    auth::{Caller, ClientAddress},
    body::{Accepts, Field, Fields, Upload},
    error::{ApiError, Code},
    query::Query,
    respond::{API_VERSION, Reply, Warnings},
    state::State,
    warnings::Warning,
    write::{detached, mark_replayed},
};

/// An event. Only `event` is required; unknown fields are ignored and listed in `warnings`.
#[derive(ToSchema)]
#[schema(as = TrackEvent)]
#[expect(dead_code, reason = "describes the body; the fields are taken one by one")]
pub struct TrackEvent {
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-zA-Z0-9._-]{1,64}$", example = "checkout.started")]
    event: String,
    /// Anything, in at most 8192 bytes as sent.
    #[schema(nullable = true, example = json!({"plan": "pro", "value": 49.9}))]
    props: Option<Map<String, Value>>,
    #[schema(max_length = 128, example = "v-81f3")]
    visitor_id: Option<String>,
    #[schema(max_length = 128, example = "s-2201")]
    session_id: Option<String>,
    /// The page on which it happened.
    #[schema(max_length = 2048, example = "https://shop.example.com/checkout")]
    url: Option<String>,
    /// When it happened, if not now: at most 72 hours ago.
    #[schema(format = DateTime, example = "2026-05-02T11:59:58Z")]
    timestamp: Option<String>,
    /// The visitor's address, when a server sends the event for one. Used for the location and not stored.
    #[schema(example = "203.0.113.9")]
    ip: Option<String>,
}

/// The texts of an event that are only limited in length.
#[derive(Debug, Validate)]
struct Texts {
    #[validate(length(max = 128), does_not_contain(pattern = "\0"))]
    visitor_id: Option<String>,
    #[validate(length(max = 128), does_not_contain(pattern = "\0"))]
    session_id: Option<String>,
    #[validate(length(max = 2048), does_not_contain(pattern = "\0"))]
    url: Option<String>,
}

impl Texts {
    fn take(fields: &mut Fields) -> Result<Self, ApiError> {
        let mut text =
            |name, code| -> Result<_, ApiError> { Ok(fields.text(name, code)?.filter(|text| !text.is_empty())) };
        let texts = Self {
            visitor_id: text("visitor_id", Code::InvalidVisitorId)?,
            session_id: text("session_id", Code::InvalidSessionId)?,
            url: text("url", Code::InvalidUrl)?,
        };
        texts.validate().map_err(|errors| first_fault(&errors))?;
        Ok(texts)
    }
}

fn first_fault(errors: &ValidationErrors) -> ApiError {
    let faulty = |name: &str| errors.errors().contains_key(name);
    let (name, code) = if faulty("visitor_id") {
        ("visitor_id", Code::InvalidVisitorId)
    } else if faulty("session_id") {
        ("session_id", Code::InvalidSessionId)
    } else {
        ("url", Code::InvalidUrl)
    };
    ApiError::new(code).param(name)
}

/// What an event says, checked.
pub(super) struct Tracked {
    name: EventName,
    props: Map<String, Value>,
    texts: Texts,
    occurred_at: Option<OffsetDateTime>,
    address: Option<IpAddr>,
}

impl Tracked {
    pub(super) fn take(fields: &mut Fields, now: OffsetDateTime) -> Result<Self, ApiError> {
        let missing = || ApiError::new(Code::MissingParameter).message("`event` is required.").param("event");
        let name = fields.text("event", Code::InvalidEvent)?.ok_or_else(missing)?;
        let name = EventName::parse(name).map_err(|_| ApiError::new(Code::InvalidEvent).param("event"))?;
        let props = fields.take("props").map(|field| read_props(&field)).transpose()?.unwrap_or_default();
        let texts = Texts::take(fields)?;
        let occurred_at = fields.text("timestamp", Code::InvalidTimestamp)?;
        let occurred_at = occurred_at.map(|text| read_timestamp(&text, now)).transpose()?;
        let address = fields.text("ip", Code::InvalidParameter)?;
        let address = address.map(|text| text.parse().map_err(|_| ApiError::parameter("ip", "must be an IP address")));
        Ok(Self { name, props, texts, occurred_at, address: address.transpose()? })
    }

    /// The event as it is stored: the address only serves to find out where the visitor is.
    pub(super) fn into_event(
        self,
        client: ClientAddress,
        geolocator: &dyn Geolocator,
        now: OffsetDateTime,
    ) -> NewEvent {
        let Self { name, props, texts, occurred_at, address } = self;
        let Texts { visitor_id, session_id, url } = texts;
        let location = geolocator.locate(address.unwrap_or(client.0));
        let occurred_at = occurred_at.unwrap_or(now);
        NewEvent { name, props, visitor_id, session_id, url, location, occurred_at, received_at: now }
    }
}

fn read_props(field: &Field) -> Result<Map<String, Value>, ApiError> {
    if field.len() > MAX_PROPS_BYTES {
        return Err(ApiError::new(Code::PropsTooLarge).param("props"));
    }
    let props = field.object(Code::InvalidProps)?;
    check_props(&props).map_err(|fault| {
        let message = match fault {
            InvalidProps::Nul => "`props` holds the character U+0000.",
            InvalidProps::NumberOutOfRange => {
                "`props` holds a number that is not 0 and not between 1e-15 and 1e21 in size."
            }
            InvalidProps::TooDeep => "`props` is nested more than 32 deep.",
        };
        ApiError::new(Code::InvalidProps).message(message).param("props")
    })?;
    Ok(props)
}

fn read_timestamp(text: &str, now: OffsetDateTime) -> Result<OffsetDateTime, ApiError> {
    let recent = |at: &OffsetDateTime| *at >= now - MAX_AGE && *at <= now + MAX_AHEAD;
    instants::parse(text).ok().filter(recent).ok_or(ApiError::new(Code::InvalidTimestamp).param("timestamp"))
}

/// Takes the body of events that are to be stored from the key's budget of bytes.
pub(super) async fn within_budget(state: &State, caller: &Caller, bytes: usize) -> Result<(), ApiError> {
    let kib = u32::try_from(bytes.div_ceil(1_024)).unwrap_or(u32::MAX);
    let most = state.settings.event_kib();
    let quota = state.limiter.take(Bucket::EventKib(caller.key().id), kib, most).await;
    if !quota.exceeded {
        return Ok(());
    }
    let message = format!("More than {most} KiB of events in a minute; the header Retry-After says when to come back.");
    Err(ApiError::new(Code::RateLimitExceeded).message(message).retry_after(quota.reset_seconds))
}

/// The event is stored.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Tracked)]
pub struct TrackedBody {
    #[schema(example = true)]
    ok: bool,
    /// Null for a dry run, which stores nothing.
    #[schema(example = 90210)]
    event_id: Option<i64>,
    /// Only for a dry run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    dry_run: bool,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Store a custom event.
///
/// Stores an event. The answer comes after it is stored; country, region and city are inferred from the address of the
/// client, which is not stored.
#[utoipa::path(
    post, path = "/api/v1/track", tag = "tracking", operation_id = "track_event",
    params(("dry_run" = Option<String>, Query, description = "`1` checks the event and stores nothing.")),
    request_body(content((TrackEvent = "application/json"), (TrackEvent = "text/plain"))),
    responses((status = 200, description = "The event is stored.", body = TrackedBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([
        Code::InvalidEvent, Code::InvalidProps, Code::PropsTooLarge, Code::InvalidVisitorId, Code::InvalidSessionId, Code::InvalidUrl, Code::InvalidTimestamp
    ])))
)]
pub async fn track(
    caller: Caller,
    mut query: Query,
    request: HttpRequest,
    client: ClientAddress,
    upload: Upload,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let idempotency = upload.idempotency(&request)?;
    let now = (state.clock)();
    let dry_run = query.flag("dry_run")?;
    let mut fields = upload.fields(Accepts::JsonOrText)?;
    let tracked = Tracked::take(&mut fields, now)?;
    let warnings = fields.finish(query.finish()?)?;
    let body = |event_id| TrackedBody { ok: true, event_id, dry_run, api_version: API_VERSION, warnings };
    if dry_run {
        return Reply::done(&body(None));
    }
    within_budget(&state, &caller, upload.bytes().len()).await?;
    let event = tracked.into_event(client, &*state.geolocator, now);
    let account = caller.account();
    let work = async move { state.events.insert(account, event, idempotency).await };
    let Written { value, replayed } = detached(work).await?;
    Ok(mark_replayed(Reply::done(&body(Some(value)))?, replayed))
}
