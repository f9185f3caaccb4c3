//! `GET /api/v1/health`: whether the process answers. Open to everyone and never refused.

use actix_web::{HttpRequest, http::header::HeaderValue, web};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    error::ApiError,
    query::{NoParams, pairs, read},
    respond::{API_VERSION, Cache, Reply, Warnings, prefers},
    state::State,
    warnings::Warning,
};

/// The format of draft-inadarei-api-health-check.
const HEALTH_JSON: &str = "application/health+json";

/// Whether the process answers.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Health)]
struct Plain {
    /// Always `ok`: a process that cannot say so does not answer.
    #[schema(value_type = String, example = "ok")]
    status: &'static str,
    /// Of the program.
    #[schema(value_type = String, example = "0.9.0")]
    version: &'static str,
    /// Since the process was started.
    #[schema(minimum = 0, example = 86_400)]
    uptime_seconds: u64,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// The same as `application/health+json`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HealthReport)]
#[serde(rename_all = "camelCase")]
struct Drafted {
    #[schema(value_type = String, example = "pass")]
    status: &'static str,
    /// Of the API.
    #[schema(value_type = String, example = "1")]
    version: &'static str,
    /// Version of the program.
    #[schema(value_type = String, example = "0.9.0")]
    release_id: &'static str,
    #[serde(rename = "api_version")]
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Whether the process answers.
///
/// Says that this process is there and answers, also while it is about to stop, and asks nothing else: whether what it depends on
/// works is what `/api/v1/status` says. Needs no key and is never refused. `Accept: application/health+json` gets it in that
/// format.
#[utoipa::path(
    get, path = "/api/v1/health", tag = "service", operation_id = "get_health",
    responses((status = 200, description = "The process answers.", content(
        (Plain = "application/json"),
        (Drafted = "application/health+json")
    ))),
    security(()),
    extensions(("x-unlimited" = json!(true)), ("x-since" = json!("2026-12")))
)]
pub async fn get(request: HttpRequest, state: web::Data<State>) -> Result<Reply, ApiError> {
    let version = env!("CARGO_PKG_VERSION");
    // Never refused, so not for its parameters either, however they are to be handled.
    let unknown = pairs(request.query_string()).and_then(|pairs| read::<NoParams>(pairs.iter(), false));
    let warnings = unknown.map(|(_, warnings)| warnings).unwrap_or_default();
    let reply = if prefers(request.headers(), HEALTH_JSON) {
        let report = Drafted { status: "pass", version: "1", release_id: version, api_version: API_VERSION, warnings };
        let body = serde_json::to_vec(&report).map_err(|error| ApiError::internal(&error))?;
        Reply::bytes(HEALTH_JSON, body, Cache::No)
    } else {
        let uptime_seconds = state.settings.started.elapsed().as_secs();
        Reply::json(&Plain { status: "ok", version, uptime_seconds, api_version: API_VERSION, warnings }, Cache::No)?
    };
    Ok(reply.header("vary", HeaderValue::from_static("Accept")))
}
