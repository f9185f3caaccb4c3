//! `/api/v1/webhooks/{id}/replay`: jobs that send the deliveries of a time span again.

use actix_web::{HttpRequest, web};
use app::replays::{self, Cancellation};
use domain::webhooks::{
    delivery::DeliveryState,
    replay::{MAX_RUNNING, Replay, Selection, StartError},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use validator::Validate;

use crate::{
    auth::Caller,
    body::Json,
    error::{ApiError, Code},
    input::{Input, Timestamp},
    names, path,
    query::{NoParams, Query},
    respond::{API_VERSION, Reply, Warnings, instant},
    state::State,
    v1::webhooks,
    warnings::Warning,
    write::{FirstAnswer, detached, written_once},
};

/// Which deliveries to send again.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = NewReplay)]
pub struct ReplayRequest {
    /// RFC 3339; deliveries created from then on.
    #[schema(value_type = String, format = DateTime, pattern = "^(19[7-9]|2[0-9]{2})[0-9]-", example = "2026-05-01T00:00:00Z")]
    since: Timestamp,
    /// RFC 3339; deliveries created before. Now, unless said.
    #[schema(value_type = Option<String>, format = DateTime, pattern = "^(19[7-9]|2[0-9]{2})[0-9]-", example = "2026-05-02T00:00:00Z")]
    until: Option<Timestamp>,
    /// States that deliveries must be in.
    #[validate(length(min = 1, message = "must name at least one state"))]
    #[schema(value_type = Option<Vec<names::DeliveryStateName>>, min_items = 1, default = json!(["failed"]), example = json!(["failed"]))]
    status: Option<Vec<DeliveryState>>,
    /// Counts, and starts nothing.
    #[schema(default = false, example = false)]
    dry_run: Option<bool>,
}

impl Input for ReplayRequest {}

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
    #[schema(value_type = Vec<Warning>, required = false)]
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
            id: Some(replay.id.0),
            state: Some(replay.state.as_str()),
            queued: replay.queued,
            finished_at: replay.finished_at.map(instant),
            ..Self::counted(&replay.selection, replay.total, warnings)
        }
    }
}

/// Replay deliveries.
///
/// Starts a job that sends deliveries again under their ids, oldest event first, or counts them. A subscription has one
/// running at a time, an account three.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/replay", tag = "webhooks", operation_id = "start_replay",
    params(("id" = i64, Path, description = "The subscription.", minimum = 1, example = 3)),
    responses((status = 200, description = "The job with its count, or the count alone.", body = ReplayBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::WebhookNotFound, Code::ReplayRunning])))
)]
pub async fn start(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    body: Json<ReplayRequest>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (ReplayRequest { since, until, status, dry_run }, idempotency, warnings) = body.into_parts(query.warnings);
    let (account, id) = (caller.account(), path::subscription(&request)?);
    let now = (state.clock)();
    let (since, until) = (since.0, until.map_or(now, |until| until.0));
    if since >= until {
        return Err(ApiError::parameter("until", "must be after `since`"));
    }
    let states = status.unwrap_or_else(|| vec![DeliveryState::Failed]);
    let selection = Selection { subscription: id, since, until, states };
    if dry_run == Some(true) {
        let total = replays::count(&*state.webhook_settings, &*state.replays, account, &selection).await?;
        let total = total.ok_or(ApiError::new(Code::WebhookNotFound))?;
        return Reply::done(&ReplayBody::counted(&selection, total, warnings));
    }
    let first = FirstAnswer { answers: state.answers.clone(), account, key: idempotency.clone() };
    let work = async move {
        let State { webhook_settings, replays, .. } = &**state;
        let started =
            replays::start(&**webhook_settings, &**replays, account, selection, idempotency, None, now).await?;
        started.ok_or(ApiError::new(Code::WebhookNotFound))
    };
    written_once(first, work, move |replay| ReplayBody::of(&replay, warnings)).await
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
    let replay = path::number(&request, "replay").ok_or_else(unknown)?;
    webhooks::known(&state, account, id).await?;
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
    extensions(("x-errors" = json!([Code::WebhookNotFound, Code::NotFound, Code::InvalidTransition])))
)]
pub async fn cancel(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let warnings = query.warnings;
    let (account, id) = (caller.account(), path::subscription(&request)?);
    let replay = path::number(&request, "replay").ok_or_else(unknown)?;
    webhooks::known(&state, account, id).await?;
    let work = async move { replays::cancel(&*state.replays, account, id, replay, (state.clock)()).await };
    match detached(work).await? {
        Cancellation::Canceled(replay) => Reply::done(&ReplayBody::of(&replay, warnings)),
        Cancellation::Ended => Err(ApiError::new(Code::InvalidTransition).message("The replay has ended.")),
        Cancellation::NotFound => Err(unknown()),
    }
}
