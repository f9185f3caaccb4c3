//! `GET /api/v1/integrations/{id}/runs`: what was read of a connected shop.

use actix_web::{HttpRequest, web};
use domain::{
    integrations::ErrorCode,
    shops::{
        Window,
        sync::{Counts, Refusal, RunError, RunState, Stream, SyncRun},
    },
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::Caller,
    error::{ApiError, Code},
    names, path,
    query::{Paging, Query},
    respond::{List, Reply, instant},
    state::State,
};

/// Which part of the history or of the changes was read.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SyncWindow)]
struct WindowBody {
    /// Inclusive.
    #[schema(format = DateTime, example = "2026-05-02T11:30:00Z")]
    from: String,
    /// Exclusive.
    #[schema(format = DateTime, example = "2026-05-02T11:38:00Z")]
    until: String,
}

/// A record that was left out.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SyncRefusal)]
struct RefusalBody {
    /// `order`, `refund` or `product`.
    #[schema(example = "order")]
    kind: String,
    /// The platform's number of it.
    #[schema(example = "820982911946154508")]
    external_id: String,
    #[schema(example = "its currency is BRL")]
    reason: String,
}

/// Why a run failed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SyncError)]
struct ErrorBody {
    #[schema(schema_with = names::integration_error)]
    code: ErrorCode,
    message: String,
}

/// One window of a stream, or one pass over it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SyncRun)]
pub struct RunBody {
    #[schema(example = 4711)]
    id: i64,
    #[schema(schema_with = names::sync_stream)]
    stream: Stream,
    /// Null for a stream that is read as a whole.
    window: Option<WindowBody>,
    #[schema(schema_with = names::sync_run_state)]
    state: RunState,
    /// Records that the platform gave.
    #[schema(example = 250)]
    read: i64,
    /// Those that were new or changed.
    #[schema(example = 12)]
    stored: i64,
    /// Records that were left out.
    #[schema(example = 1)]
    refused: i64,
    /// Orders that no longer count.
    #[schema(example = 0)]
    voided: i64,
    /// Calls of the platform.
    #[schema(example = 6)]
    calls: i64,
    /// Milliseconds that the platform's limits made the run wait.
    #[schema(example = 0)]
    waited_ms: i64,
    /// The newest hundred of the records that were left out.
    refusals: Vec<RefusalBody>,
    /// Null for a run that is done.
    error: Option<ErrorBody>,
    #[schema(format = DateTime, example = "2026-05-02T11:40:00Z")]
    started_at: String,
    #[schema(format = DateTime, example = "2026-05-02T11:40:02Z")]
    finished_at: String,
}

impl From<SyncRun> for RunBody {
    fn from(run: SyncRun) -> Self {
        let SyncRun { id, stream, window, state, counts, refusals, error, started_at, finished_at } = run;
        let Counts { read, stored, refused, voided, calls, waited_ms } = counts;
        let refusal = |Refusal { kind, external_id, reason }| RefusalBody { kind, external_id, reason };
        Self {
            id: id.0,
            stream,
            window: window.map(|Window { from, until }| WindowBody { from: instant(from), until: instant(until) }),
            state,
            read,
            stored,
            refused,
            voided,
            calls,
            waited_ms,
            refusals: refusals.into_iter().map(refusal).collect(),
            error: error.map(|RunError { code, message }| ErrorBody { code, message }),
            started_at: instant(started_at),
            finished_at: instant(finished_at),
        }
    }
}

/// Runs of a connection.
///
/// Lists what was read of a connected shop, newest first: window by window, with what was left out and why. Runs are kept for
/// 30 days.
#[utoipa::path(
    get, path = "/api/v1/integrations/{id}/runs", tag = "integrations", operation_id = "list_integration_runs",
    params(("id" = i64, Path, description = "The connection.", minimum = 1, example = 12), Paging),
    responses((status = 200, description = "The runs.", body = List<RunBody>)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])), ("x-since" = json!("2026-12")))
)]
pub async fn list(
    caller: Caller,
    query: Query<Paging>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (page, warnings) = (query.params.page(), query.warnings);
    let found = state.sync_runs.page(caller.account(), path::integration(&request)?, page).await?;
    let found = found.ok_or_else(path::no_integration)?;
    Reply::found(&List::new(page, found, RunBody::from, warnings))
}
