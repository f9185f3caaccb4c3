//! `POST /api/v1/track/batch`: many events in one request, each with an answer of its own.

use actix_web::{HttpRequest, web};
use domain::{
    idempotency::Written,
    tracking::{MAX_BATCH, NewEvent, Refusal},
};
use serde::Serialize;
use serde_json::value::RawValue;
use time::OffsetDateTime;
use utoipa::ToSchema;

use crate::{
    auth::{Caller, ClientAddress},
    body::{Accepts, Fields, MAX_BATCH_BYTES, Upload},
    error::{ApiError, Code},
    query::Query,
    respond::{API_VERSION, Reply, Warnings},
    state::State,
    v1::track::{TrackEvent, Tracked, within_budget},
    warnings::Warning,
    write::{detached, mark_replayed},
};

/// Events of one request.
#[derive(ToSchema)]
#[schema(as = TrackBatch)]
#[expect(dead_code, reason = "describes the body; the fields are taken one by one")]
pub struct TrackBatch {
    #[schema(min_items = 1, max_items = 500)]
    events: Vec<TrackEvent>,
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
    params(("dry_run" = Option<String>, Query, description = "`1` checks the events and stores nothing.")),
    request_body(content((TrackBatch = "application/json"), (TrackBatch = "text/plain"))),
    responses((status = 200, description = "The events that were not refused are stored.", body = BatchBody)),
    security(("api_key" = ["write"]))
)]
pub async fn track_batch(
    caller: Caller,
    mut query: Query,
    request: HttpRequest,
    client: ClientAddress,
    upload: Upload<MAX_BATCH_BYTES>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let idempotency = upload.idempotency(&request)?;
    let now = (state.clock)();
    let dry_run = query.flag("dry_run")?;
    let mut fields = upload.fields(Accepts::JsonOrText)?;
    let elements = take_events(&mut fields)?;
    let noted = fields.finish(query.finish()?)?;
    let mut events = Vec::with_capacity(elements.len());
    let mut warnings = Vec::with_capacity(elements.len());
    for element in &elements {
        let (event, notes) = read_event(element, upload.is_strict(), client, &state, now);
        events.push(event);
        warnings.push(notes);
    }
    let (fates, replayed) = if dry_run {
        (events.into_iter().map(|event| event.map(|_| None)).collect(), false)
    } else {
        within_budget(&state, &caller, upload.bytes().len()).await?;
        let account = caller.account();
        let work = async move { state.events.insert_batch(account, events, idempotency, now).await };
        let Written { value, replayed } = detached(work).await?;
        (value.into_iter().map(|fate| fate.map(Some)).collect::<Vec<_>>(), replayed)
    };
    let results: Vec<ResultBody> = (0..)
        .zip(fates.into_iter().zip(warnings))
        .map(|(index, (fate, warnings))| ResultBody::new(index, fate, warnings))
        .collect();
    let accepted = results.iter().filter(|result| result.ok).count();
    let refused = results.len() - accepted;
    let body = BatchBody { ok: true, accepted, refused, results, dry_run, api_version: API_VERSION, warnings: noted };
    Ok(mark_replayed(Reply::done(&body)?, replayed))
}

fn take_events(fields: &mut Fields) -> Result<Vec<Box<RawValue>>, ApiError> {
    let missing = || ApiError::new(Code::MissingParameter).message("`events` is required.").param("events");
    let elements = fields.take("events").ok_or_else(missing)?.elements()?;
    if (1..=MAX_BATCH).contains(&elements.len()) {
        Ok(elements)
    } else {
        Err(ApiError::parameter("events", &format!("must be an array of 1 to {MAX_BATCH} events")))
    }
}

/// An event by the rules of a single one, and what there is to say about it all the same.
fn read_event(
    element: &RawValue,
    strict: bool,
    client: ClientAddress,
    state: &State,
    now: OffsetDateTime,
) -> (Result<NewEvent, Refusal>, Warnings) {
    let read = Fields::within(element, strict).and_then(|mut fields| {
        let tracked = Tracked::take(&mut fields, now)?;
        Ok((tracked, fields.finish(Warnings::new())?))
    });
    match read {
        Ok((tracked, warnings)) => (Ok(tracked.into_event(client, &*state.geolocator, now)), warnings),
        Err(error) => (Err(error.refusal()), Warnings::new()),
    }
}
