//! `/api/v1/webhooks/{id}/replay`: jobs that send the deliveries of a time span again.

use actix_web::{HttpRequest, web};
use domain::{
    instants::{self, InvalidInstant},
    webhooks::{
        delivery::DeliveryState,
        replay::{MAX_RUNNING, Replay, Selection, StartError},
    },
};
use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;

use crate::{
    auth::Caller,
    body::{Accepts, Fields, Upload},
    error::{ApiError, Code},
    names, path,
    query::Query,
    respond::{API_VERSION, Reply, Warnings, instant},
    state::State,
    write::{detached, mark_replayed},
};

/// Which deliveries to send again.
#[derive(ToSchema)]
#[schema(as = NewReplay)]
#[expect(dead_code, reason = "describes the body; the fields are taken one by one")]
pub struct ReplayRequest {
    /// RFC 3339; deliveries created from then on.
    #[schema(format = DateTime, example = "2026-05-01T00:00:00Z")]
    since: String,
    /// RFC 3339; deliveries created before. Now, unless said.
    #[schema(format = DateTime, example = "2026-05-02T00:00:00Z")]
    until: Option<String>,
    /// States that deliveries must be in.
    #[schema(value_type = Option<Vec<names::DeliveryStateName>>, default = json!(["failed"]), example = json!(["failed"]))]
    status: Option<Vec<String>>,
    /// Counts, and starts nothing.
    #[schema(default = false, example = false)]
    dry_run: Option<bool>,
}

/// A replay.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Replay)]
pub struct ReplayBody {
    /// Null after a dry run.
    #[schema(example = 12)]
    id: Option<i64>,
    /// Null after a dry run.
    #[schema(schema_with = names::replay_state)]
    state: Option<&'static str>,
    /// Deliveries that matched when it was asked for.
    #[schema(example = 1250)]
    total: i64,
    /// Deliveries put into the queue so far.
    #[schema(example = 500)]
    queued: i64,
    #[schema(format = DateTime, example = "2026-05-01T00:00:00Z")]
    since: String,
    #[schema(format = DateTime, example = "2026-05-02T00:00:00Z")]
    until: String,
    #[schema(value_type = Vec<String>, example = json!(["failed"]))]
    status: Vec<&'static str>,
    #[schema(format = DateTime)]
    finished_at: Option<String>,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Warnings,
}

impl ReplayBody {
    fn counted(selection: &Selection, total: i64, warnings: Warnings) -> Self {
        Self {
            id: None,
            state: None,
            total,
            queued: 0,
            since: instant(selection.since),
            until: instant(selection.until),
            status: selection.states.iter().map(|state| state.as_str()).collect(),
            finished_at: None,
            api_version: API_VERSION,
            warnings,
        }
    }

    fn of(replay: &Replay, warnings: Warnings) -> Self {
        Self {
            id: Some(replay.id),
            state: Some(replay.state.as_str()),
            queued: replay.queued,
            finished_at: replay.finished_at.map(instant),
            ..Self::counted(&replay.selection, replay.total, warnings)
        }
    }
}

fn selection(fields: &mut Fields, subscription: i64, now: OffsetDateTime) -> Result<Selection, ApiError> {
    let missing = || ApiError::new(Code::MissingParameter).message("`since` is required.").param("since");
    let since = moment(fields, "since")?.ok_or_else(missing)?;
    let until = moment(fields, "until")?.unwrap_or(now);
    if since >= until {
        return Err(ApiError::parameter("until", "must be after `since`"));
    }
    let states = match fields.take("status") {
        None => vec![DeliveryState::Failed],
        Some(field) => {
            let names = field.texts(Code::InvalidParameter)?;
            if names.is_empty() {
                return Err(ApiError::parameter("status", "must name at least one state"));
            }
            let parse = |name: &String| name.parse().map_err(|unknown| ApiError::unknown_value("status", &unknown));
            names.iter().map(parse).collect::<Result<_, _>>()?
        }
    };
    Ok(Selection { subscription, since, until, states })
}

fn moment(fields: &mut Fields, name: &'static str) -> Result<Option<OffsetDateTime>, ApiError> {
    let Some(text) = fields.text(name, Code::InvalidParameter)? else { return Ok(None) };
    instants::parse(&text).map(Some).map_err(|invalid| match invalid {
        InvalidInstant::Form => ApiError::parameter(name, "must be RFC 3339"),
        InvalidInstant::Range => ApiError::parameter(name, &invalid.to_string()),
    })
}

/// Replay deliveries.
///
/// Starts a job that sends deliveries again under their ids, oldest event first, or counts them. A subscription has one
/// running at a time, an account three.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/replay", tag = "webhooks", operation_id = "start_replay",
    params(("id" = i64, Path, description = "The subscription.", minimum = 1, example = 3)),
    request_body(content = ReplayRequest, content_type = "application/json"),
    responses((status = 200, description = "The job with its count, or the count alone.", body = ReplayBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::WebhookNotFound, Code::ReplayRunning])))
)]
pub async fn start(
    caller: Caller,
    query: Query,
    request: HttpRequest,
    upload: Upload,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let idempotency = upload.idempotency(&request)?;
    let mut fields = upload.fields(Accepts::Json)?;
    let (account, id) = (caller.account(), path::subscription(&request)?);
    let now = (state.clock)();
    let selection = selection(&mut fields, id, now)?;
    let dry_run = fields.take("dry_run").map(|field| field.flag()).transpose()?.unwrap_or(false);
    let warnings = fields.finish(query.finish()?)?;
    state.webhook_settings.find(account, id).await?.ok_or(ApiError::new(Code::WebhookNotFound))?;
    if dry_run {
        let total = state.replays.count(account, &selection).await?;
        return Reply::done(&ReplayBody::counted(&selection, total, warnings));
    }
    let work = async move { state.replays.start(account, selection, idempotency, now).await };
    let started = detached(work).await?;
    Ok(mark_replayed(Reply::done(&ReplayBody::of(&started.value, warnings))?, started.replayed))
}

impl From<StartError> for ApiError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Running => Self::new(Code::ReplayRunning),
            StartError::TooMany => Self::new(Code::ReplayRunning)
                .message(format!("The account has {MAX_RUNNING} replays running, which is the limit.")),
            StartError::Idempotency(error) => error.into(),
        }
    }
}

fn unknown() -> ApiError {
    ApiError::new(Code::NotFound).message("There is no such replay.")
}

/// Progress of a replay.
///
/// Says how far a replay is.
#[utoipa::path(
    get, path = "/api/v1/webhooks/{id}/replay/{replay}", tag = "webhooks", operation_id = "get_replay",
    params(
        ("id" = i64, Path, description = "The subscription.", minimum = 1, example = 3),
        ("replay" = i64, Path, description = "The replay.", minimum = 1, example = 12),
    ),
    responses((status = 200, description = "The replay.", body = ReplayBody)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])))
)]
pub async fn get(
    caller: Caller,
    query: Query,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let warnings = query.finish()?;
    let (account, id) = (caller.account(), path::subscription(&request)?);
    let replay = path::number(&request, "replay").ok_or_else(unknown)?;
    let found = state.replays.find(account, id, replay).await?.ok_or_else(unknown)?;
    Reply::found(&ReplayBody::of(&found, warnings))
}

/// Stop a replay.
///
/// Stops a replay where it is. What it has put into the queue goes out.
#[utoipa::path(
    delete, path = "/api/v1/webhooks/{id}/replay/{replay}", tag = "webhooks", operation_id = "cancel_replay",
    params(
        ("id" = i64, Path, description = "The subscription.", minimum = 1, example = 3),
        ("replay" = i64, Path, description = "The replay.", minimum = 1, example = 12),
    ),
    responses((status = 200, description = "The replay as it was left.", body = ReplayBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::NotFound, Code::InvalidTransition])))
)]
pub async fn cancel(
    caller: Caller,
    query: Query,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let warnings = query.finish()?;
    let (account, id) = (caller.account(), path::subscription(&request)?);
    let replay = path::number(&request, "replay").ok_or_else(unknown)?;
    let work = async move {
        let canceled = state.replays.cancel(account, id, replay, (state.clock)()).await?;
        let found = state.replays.find(account, id, replay).await?.ok_or_else(unknown)?;
        if canceled { Ok(found) } else { Err(ApiError::new(Code::InvalidTransition).message("The replay has ended.")) }
    };
    Reply::done(&ReplayBody::of(&detached(work).await?, warnings))
}
