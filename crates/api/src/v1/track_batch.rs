//! `POST /api/v1/track/batch`: many events in one request, each with an answer of its own.

use std::future::ready;

use actix_web::web;
use domain::{
    TrackingEventId,
    tracking::{MAX_BATCH, NewEvent, Refusal},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use time::OffsetDateTime;
use utoipa::{
    ToSchema,
    openapi::schema::{AnyOfBuilder, Array, ArrayBuilder, Object, Ref, SchemaType},
};
use validator::Validate;

use crate::{
    auth::{Caller, ClientAddress},
    body::{Json, MAX_BATCH_BYTES, parse},
    error::ApiError,
    input::Input,
    query::Query,
    respond::{API_VERSION, Reply, Warnings},
    state::State,
    v1::track::{TrackParams, Tracked, stored_or, within_budget},
    warnings::Warning,
    write::written,
};

/// Events of a batch.
const MOST: u64 = MAX_BATCH as u64;

/// Events of one request.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = TrackBatch)]
pub struct TrackBatch {
    #[validate(length(min = 1, max = MOST, message = "must be an array of 1 to 500 events"))]
    #[schema(schema_with = batch)]
    events: Vec<Box<RawValue>>,
}

/// One event that is not as it should be is refused alone, so an array of anything is a batch.
fn batch() -> Array {
    let anything =
        AnyOfBuilder::new().item(Ref::from_schema_name("TrackEvent")).item(Object::with_type(SchemaType::AnyValue));
    ArrayBuilder::new().items(anything).min_items(Some(1)).max_items(Some(MAX_BATCH)).build()
}

impl Input for TrackBatch {
    const IS_BEACON: bool = true;
}

/// What became of the events. One that is refused does not keep the others from being stored.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TrackedBatch)]
pub struct BatchBody {
    #[schema(example = true)]
    ok: bool,
    /// Events that are stored; those that would be, for a dry run.
    #[schema(example = 2)]
    accepted: usize,
    #[schema(example = 0)]
    refused: usize,
    /// One for each event, in the same order.
    results: Vec<ResultBody>,
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

/// What became of an event.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TrackedResult)]
struct ResultBody {
    /// Its place in the request, from 0.
    #[schema(example = 0)]
    index: usize,
    #[schema(example = true)]
    ok: bool,
    /// Null for an event that was refused, and for a dry run.
    #[schema(example = 90210)]
    event_id: Option<i64>,
    /// Why it was refused, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error: Option<String>,
    /// Why it was refused, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    message: Option<String>,
    /// The field at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    param: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl ResultBody {
    fn new(index: usize, fate: Result<Option<i64>, Refusal>, warnings: Warnings) -> Self {
        match fate {
            Ok(event_id) => Self { index, ok: true, event_id, error: None, message: None, param: None, warnings },
            Err(Refusal { code, message, param }) => {
                let (error, message) = (Some(code), Some(message));
                Self { index, ok: false, event_id: None, error, message, param, warnings }
            }
        }
    }
}

/// Store a batch of custom events.
///
/// Stores up to 500 events in one transaction and says of each what became of it: one that is refused does not keep the
/// others from being stored. The body may have 1 MiB, and the batch counts as one request.
#[utoipa::path(
    post, path = "/api/v1/track/batch", tag = "tracking", operation_id = "track_events",
    params(TrackParams),
    request_body(content((TrackBatch = "application/json"), (TrackBatch = "text/plain"))),
    responses((status = 200, description = "The events that were not refused are stored.", body = BatchBody)),
    security(("api_key" = ["write"]))
)]
pub async fn track_batch(
    caller: Caller,
    query: Query<TrackParams>,
    client: ClientAddress,
    body: Json<TrackBatch, MAX_BATCH_BYTES>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let now = (state.clock)();
    let dry_run = query.params.dry_run == Some(true);
    let (strict, bytes) = (body.upload.is_strict(), body.upload.bytes().len());
    let (TrackBatch { events: elements }, idempotency, noted) = body.into_parts(query.warnings);
    let mut events = Vec::with_capacity(elements.len());
    let mut warnings = Vec::with_capacity(elements.len());
    for element in &elements {
        let (event, notes) = read_event(element, strict, client, &state, now);
        events.push(event);
        warnings.push(notes);
    }
    let body = |fates: Vec<Result<Option<i64>, Refusal>>| {
        let results: Vec<ResultBody> = (0..)
            .zip(fates.into_iter().zip(warnings))
            .map(|(index, (fate, warnings))| ResultBody::new(index, fate, warnings))
            .collect();
        let accepted = results.iter().filter(|result| result.ok).count();
        let refused = results.len() - accepted;
        BatchBody { ok: true, accepted, refused, results, dry_run, api_version: API_VERSION, warnings: noted }
    };
    if dry_run {
        let fates = events.into_iter().map(|event| event.map(|_| None));
        return Reply::done(&body(fates.collect()));
    }
    let told = |fates: Vec<Result<TrackingEventId, Refusal>>| {
        body(fates.into_iter().map(|fate| fate.map(|id| Some(id.0))).collect())
    };
    if let Err(refusal) = within_budget(&state, &caller, bytes).await {
        let first = stored_or(refusal, &state, &caller, idempotency.as_ref()).await;
        return written(ready(first), told).await;
    }
    let account = caller.account();
    let work = async move { state.events.insert_batch(account, events, idempotency, now).await };
    written(work, told).await
}

/// An event by the rules of a single one, and what there is to say about it all the same.
fn read_event(
    element: &RawValue,
    strict: bool,
    client: ClientAddress,
    state: &State,
    now: OffsetDateTime,
) -> (Result<NewEvent, Refusal>, Warnings) {
    let read =
        parse(element.get().as_bytes(), strict).and_then(|(event, warnings)| Ok((Tracked::new(event, now)?, warnings)));
    match read {
        Ok((tracked, warnings)) => (Ok(tracked.into_event(client, &*state.geolocator, now)), warnings),
        Err(error) => (Err(error.refusal()), Warnings::new()),
    }
}
