//! `/api/v1/insights/generate` and `/api/v1/insights/jobs/{id}`: insights on demand.

use actix_web::{
    HttpRequest,
    http::{StatusCode, header::HeaderValue},
    web,
};
use domain::ai::{Outcome, RequestError, Run, RunState};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::Caller,
    body::{Nothing, Upload},
    error::{ApiError, Code},
    names, path,
    query::{NoParams, Query},
    respond::{API_VERSION, Reply, Warnings, instant},
    state::State,
    warnings::Warning,
    write::answered,
};

/// A job that generates insights.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InsightJob)]
pub struct JobBody {
    #[schema(example = 52)]
    id: i64,
    #[schema(schema_with = names::run_state)]
    state: RunState,
    /// How it ended; null before that. Only `worded` keeps its credits.
    #[schema(schema_with = names::run_outcome)]
    outcome: Option<Outcome>,
    /// Why no model worded the insights; null where one did.
    #[schema(example = "timeout")]
    reason: Option<String>,
    /// Credits that were debited; 0 until it is known that there is something to word, and where the rules write the texts.
    #[schema(example = 5)]
    credits: i64,
    /// Whether they were given back.
    #[schema(example = false)]
    refunded: bool,
    #[schema(format = DateTime, example = "2026-05-02T11:58:03Z")]
    created_at: String,
    #[schema(format = DateTime, example = "2026-05-02T11:58:07Z")]
    finished_at: Option<String>,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl JobBody {
    fn of(run: Run, warnings: Warnings) -> Self {
        let Run { id, trigger: _, state, outcome, reason, credits, refunded, created_at, finished_at } = run;
        Self {
            id: id.0,
            state,
            outcome,
            reason,
            credits,
            refunded,
            created_at: instant(created_at),
            finished_at: finished_at.map(instant),
            api_version: API_VERSION,
            warnings,
        }
    }
}

/// Generate insights.
///
/// Starts a job that looks at the newest results and lets a language model word what there is to tell; its credits are
/// debited when it is known that there is something to word, and given back unless every text passes the check. While a job
/// is under way, it is given instead of a second one, free of charge. `Location` leads to the job.
#[utoipa::path(
    post, path = "/api/v1/insights/generate", tag = "analytics", operation_id = "generate_insights",
    responses((status = 202, description = "The job.", body = JobBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([
        Code::PaymentRequired, Code::InsufficientCredits, Code::InvalidJson, Code::InvalidBody, Code::PayloadTooLarge,
        Code::UnsupportedMediaType
    ])))
)]
pub async fn start(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    upload: Upload,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let idempotency = upload.idempotency(&request)?;
    let (Nothing {}, unknown) = upload.read()?;
    let mut warnings = query.warnings;
    warnings.extend(unknown);
    let (account, mode) = (caller.account(), caller.mode());
    let work = async move { state.text_generator.request(account, mode, idempotency, None, (state.clock)()).await };
    let answer = |run: Run| {
        let location = HeaderValue::from_str(&format!("/api/v1/insights/jobs/{}", run.id));
        let reply = Reply::done(&JobBody::of(run, warnings))?.status(StatusCode::ACCEPTED);
        Ok(match location {
            Ok(location) => reply.header("location", location),
            Err(_) => reply,
        })
    };
    answered(work, answer).await
}

fn unknown() -> ApiError {
    ApiError::new(Code::NotFound).message("There is no such job.")
}

/// A job that generates insights.
///
/// Says how far the job is and how it ended.
#[utoipa::path(
    get, path = "/api/v1/insights/jobs/{id}", tag = "analytics", operation_id = "get_insight_job",
    params(("id" = i64, Path, description = "The job.", minimum = 1, example = 52)),
    responses((status = 200, description = "The job.", body = JobBody)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])))
)]
pub async fn get(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let warnings = query.warnings;
    let id = path::number(&request, "id").ok_or_else(unknown)?;
    let found = state.text_generator.runs.find(caller.account(), id).await?.ok_or_else(unknown)?;
    Reply::found(&JobBody::of(found, warnings))
}

impl From<RequestError> for ApiError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Paused => Self::new(Code::PaymentRequired),
            RequestError::Insufficient { balance } => {
                Self::new(Code::InsufficientCredits).message(format!("The balance of {balance} credits is too small."))
            }
            RequestError::Idempotency(error) => error.into(),
        }
    }
}
