//! `POST /api/v1/track`: custom events of shops and apps.

use std::{borrow::Cow, future::ready, net::IpAddr};

use actix_web::web;
use domain::{
    TrackingEventId,
    idempotency::{IdempotencyKey, Idempotent},
    rate_limit::Bucket,
    tracking::{
        EventName, Geolocator, InvalidProps, MAX_AGE, MAX_AHEAD, MAX_PROPS_BYTES, MAX_PROPS_DEPTH, NewEvent, Refusal,
        check_props,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json, value::RawValue};
use time::OffsetDateTime;
use utoipa::{
    IntoParams, PartialSchema, ToSchema,
    openapi::{RefOr, Schema},
};
use validator::Validate;

use crate::{
    auth::{Caller, ClientAddress},
    body::Json,
    error::{ApiError, Code},
    input::{Input, Timestamp, object},
    names,
    query::Query,
    respond::{API_VERSION, Reply, Warnings},
    state::State,
    warnings::Warning,
    write::written,
};

/// An event. Only `event` is required; unknown fields are ignored and listed in `warnings`.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = TrackEvent)]
pub struct TrackEvent {
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-zA-Z0-9._-]{1,64}$", example = "checkout.started")]
    event: String,
    /// Anything without U+0000, in at most 8192 bytes as sent and 100 levels. Numbers are kept as 64-bit integers or
    /// doubles.
    #[schema(value_type = Option<Props>, example = json!({"plan": "pro", "value": 49.9}))]
    props: Option<Box<RawValue>>,
    #[validate(length(max = 128), does_not_contain(pattern = "\0"))]
    #[schema(max_length = 128, pattern = "^[^\\u0000]*$", example = "v-81f3")]
    visitor_id: Option<String>,
    #[validate(length(max = 128), does_not_contain(pattern = "\0"))]
    #[schema(max_length = 128, pattern = "^[^\\u0000]*$", example = "s-2201")]
    session_id: Option<String>,
    /// The page on which it happened.
    #[validate(length(max = 2048), does_not_contain(pattern = "\0"))]
    #[schema(max_length = 2048, pattern = "^[^\\u0000]*$", example = "https://shop.example.com/checkout")]
    url: Option<String>,
    /// When it happened, if not now: at most 72 hours ago.
    #[schema(value_type = Option<String>, format = DateTime, pattern = "^(19[7-9]|2[0-9]{2})[0-9]-", example = "2026-05-02T11:59:58Z")]
    timestamp: Option<Timestamp>,
    #[schema(schema_with = address)]
    ip: Option<String>,
}

fn address() -> RefOr<Schema> {
    let of = |format: &str| json!({"type": "string", "format": format});
    described(json!({
        "anyOf": [of("ipv4"), of("ipv6"), {"type": "null"}],
        "description": "The visitor's address, when a server sends the event for one. Used for the location and not stored.",
        "example": "203.0.113.9",
    }))
}

/// The properties of an event, as they are described.
struct Props;

impl PartialSchema for Props {
    fn schema() -> RefOr<Schema> {
        described(map())
    }
}

impl ToSchema for Props {
    fn name() -> Cow<'static, str> {
        "EventProps".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        let any = [
            json!({"type": "null"}),
            json!({"type": "boolean"}),
            json!({"type": "number"}),
            text(),
            json!({"type": "array", "items": {"$ref": VALUE}}),
            map(),
        ];
        schemas.push(("EventValue".to_owned(), described(json!({"anyOf": any}))));
    }
}

const VALUE: &str = "#/components/schemas/EventValue";

fn text() -> Value {
    json!({"type": "string", "pattern": "^[^\\u0000]*$"})
}

fn map() -> Value {
    json!({"type": "object", "propertyNames": text(), "additionalProperties": {"$ref": VALUE}})
}

fn described(schema: Value) -> RefOr<Schema> {
    serde_json::from_value(schema).unwrap_or_default()
}

impl Input for TrackEvent {
    const IS_BEACON: bool = true;

    fn fault(field: &str) -> ApiError {
        ApiError::new(match field {
            "event" => Code::InvalidEvent,
            "props" => Code::InvalidProps,
            "visitor_id" => Code::InvalidVisitorId,
            "session_id" => Code::InvalidSessionId,
            "url" => Code::InvalidUrl,
            "timestamp" => Code::InvalidTimestamp,
            _ => Code::InvalidParameter,
        })
    }
}

/// What an event says, checked.
pub(super) struct Tracked {
    name: EventName,
    props: Map<String, Value>,
    visitor_id: Option<String>,
    session_id: Option<String>,
    url: Option<String>,
    occurred_at: Option<OffsetDateTime>,
    address: Option<IpAddr>,
}

impl Tracked {
    pub(super) fn new(event: TrackEvent, now: OffsetDateTime) -> Result<Self, ApiError> {
        let tracked = Self::read(event)?;
        tracked.check_time(now)?;
        Ok(tracked)
    }

    /// What an event says, whenever it happened.
    fn read(event: TrackEvent) -> Result<Self, ApiError> {
        let TrackEvent { event, props, visitor_id, session_id, url, timestamp, ip } = event;
        let name = EventName::parse(event).map_err(|_| ApiError::new(Code::InvalidEvent).param("event"))?;
        let props = props.map(|raw| read_props(&raw)).transpose()?.unwrap_or_default();
        let occurred_at = timestamp.map(|Timestamp(at)| at);
        let address = ip.map(|text| text.parse().map_err(|_| ApiError::parameter("ip", "must be an IP address")));
        let address: Option<IpAddr> = address.transpose()?;
        // Servers that listen to both families know `203.0.113.9` as `::ffff:203.0.113.9`.
        let address = address.map(|address| address.to_canonical());
        let [visitor_id, session_id, url] =
            [visitor_id, session_id, url].map(|text| text.filter(|text| !text.is_empty()));
        Ok(Self { name, props, visitor_id, session_id, url, occurred_at, address })
    }

    fn check_time(&self, now: OffsetDateTime) -> Result<(), ApiError> {
        if self.occurred_at.is_some_and(|at| at < now - MAX_AGE || at > now + MAX_AHEAD) {
            return Err(ApiError::new(Code::InvalidTimestamp).param("timestamp"));
        }
        Ok(())
    }

    /// The event as it is stored: the address only serves to find out where the visitor is.
    pub(super) fn into_event(
        self,
        client: ClientAddress,
        geolocator: &dyn Geolocator,
        now: OffsetDateTime,
    ) -> NewEvent {
        let Self { name, props, visitor_id, session_id, url, occurred_at, address } = self;
        let location = geolocator.locate(address.unwrap_or(client.0));
        let occurred_at = occurred_at.unwrap_or(now);
        NewEvent { name, props, visitor_id, session_id, url, location, occurred_at, received_at: now }
    }
}

fn read_props(raw: &RawValue) -> Result<Map<String, Value>, ApiError> {
    if raw.get().len() > MAX_PROPS_BYTES {
        return Err(ApiError::new(Code::PropsTooLarge).param("props"));
    }
    let props = object::<TrackEvent>("props", raw)?;
    check_props(&props).map_err(|fault| {
        let message = match fault {
            InvalidProps::Nul => "`props` holds the character U+0000.".to_owned(),
            InvalidProps::TooDeep => format!("`props` is nested more than {MAX_PROPS_DEPTH} deep."),
        };
        ApiError::new(Code::InvalidProps).message(message).param("props")
    })?;
    Ok(props)
}

/// Takes the body of events that are to be stored from the key's budget of bytes.
pub(super) async fn within_budget(state: &State, caller: &Caller, bytes: usize) -> Result<(), ApiError> {
    let kib = u32::try_from(bytes.div_ceil(1_024)).unwrap_or(u32::MAX);
    let most = state.settings.event_kib();
    let quota = state.limiter.take(Bucket::EventKib(caller.key()?.id), kib, most).await;
    if !quota.exceeded {
        return Ok(());
    }
    let message = format!("More than {most} KiB of events in a minute; the header Retry-After says when to come back.");
    Err(ApiError::new(Code::RateLimitExceeded).message(message).retry_after(quota.reset_seconds))
}

/// What became of the events that are stored under the key already, however late they are sent again and however much came
/// since. Others get the refusal.
pub(super) async fn stored_or(
    refusal: ApiError,
    state: &State,
    caller: &Caller,
    key: Option<&IdempotencyKey>,
) -> Result<Idempotent<Vec<Result<TrackingEventId, Refusal>>>, ApiError> {
    let Some(key) = key else { return Err(refusal) };
    let value = state.events.stored_under(caller.account(), key, (state.clock)()).await?.ok_or(refusal)?;
    Ok(Idempotent { value, replayed: true })
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

/// How to take events.
#[derive(Deserialize, Validate, IntoParams)]
pub struct TrackParams {
    /// `1` checks what is sent and stores nothing.
    #[param(value_type = names::Flag, inline, required = false)]
    pub dry_run: Option<bool>,
}

impl Input for TrackParams {}

/// Store a custom event.
///
/// Stores an event. The answer comes after it is stored; country, region and city are inferred from the address of the
/// client, which is not stored.
#[utoipa::path(
    post, path = "/api/v1/track", tag = "tracking", operation_id = "track_event",
    params(TrackParams),
    request_body(content((TrackEvent = "application/json"), (TrackEvent = "text/plain"))),
    responses((status = 200, description = "The event is stored.", body = TrackedBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([
        Code::InvalidEvent, Code::InvalidProps, Code::PropsTooLarge, Code::InvalidVisitorId, Code::InvalidSessionId, Code::InvalidUrl, Code::InvalidTimestamp
    ])))
)]
pub async fn track(
    caller: Caller,
    query: Query<TrackParams>,
    client: ClientAddress,
    body: Json<TrackEvent>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let now = (state.clock)();
    let dry_run = query.params.dry_run == Some(true);
    let bytes = body.upload.bytes().len();
    let (event, idempotency, warnings) = body.into_parts(query.warnings);
    let tracked = Tracked::read(event)?;
    let timely = tracked.check_time(now);
    let body = |event_id| TrackedBody { ok: true, event_id, dry_run, api_version: API_VERSION, warnings };
    if dry_run {
        timely?;
        return Reply::done(&body(None));
    }
    let account = caller.account();
    let taken = match timely {
        Ok(()) => within_budget(&state, &caller, bytes).await,
        late => late,
    };
    if let Err(refusal) = taken {
        let first = stored_or(refusal, &state, &caller, idempotency.as_ref()).await;
        return written(ready(first), |fates| body(fates.first().and_then(|fate| fate.as_ref().ok()).map(|id| id.0)))
            .await;
    }
    let event = tracked.into_event(client, &*state.geolocator, now);
    let work = async move { state.events.insert(account, event, idempotency).await };
    written(work, |id| body(Some(id.0))).await
}
