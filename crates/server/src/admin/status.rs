//! What operators tell of the service, and probes from outside.

use actix_web::{HttpResponse, http::StatusCode, patch, post, web};
use domain::{
    IncidentId,
    incidents::{Change, ChangeError, Incident, IncidentStore, InvalidText, NewIncident, Severity, Status},
    instants,
    uptime::{Component, EXTERNAL, MAX_DELAY_HOURS, Outcome, Probe, ProbeStore, minute_of},
};
use serde::Deserialize;
use serde_json::json;
use time::{Duration, OffsetDateTime};

use super::{Admin, Body, Object, error, refused, unavailable};
use crate::commands::incidents::to_json;

/// How far the clock of a prober may be ahead.
const AHEAD: Duration = Duration::minutes(1);

/// An incident that is opened.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenRequest {
    title: String,
    severity: Severity,
    components: Vec<Component>,
    #[serde(default)]
    status: Option<Status>,
    body: String,
}

/// What is told of an incident.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UpdateRequest {
    #[serde(default)]
    status: Option<Status>,
    #[serde(default)]
    severity: Option<Severity>,
    body: String,
}

/// A look from outside.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProbeRequest {
    component: Component,
    outcome: Outcome,
    #[serde(default)]
    latency_ms: Option<u32>,
    /// RFC 3339; now unless said.
    #[serde(default)]
    at: Option<String>,
}

/// Opens an incident: `{"title": "…", "severity": "minor", "components": ["jobs"], "body": "…"}`.
#[post("/incidents")]
pub async fn open(admin: web::Data<Admin>, body: Body<OpenRequest>) -> HttpResponse {
    let Object(OpenRequest { title, severity, components, status, body }) = body.into_inner();
    let status = status.unwrap_or(Status::Investigating);
    match (NewIncident { title, severity, components, status, body }).checked() {
        Ok(incident) => told(admin.store.open(incident, OffsetDateTime::now_utc()).await.map_err(Into::into)),
        Err(invalid) => wrong(&invalid),
    }
}

/// Tells more of an incident: `{"status": "identified", "body": "…"}`.
#[patch("/incidents/{id}")]
pub async fn update(admin: web::Data<Admin>, id: web::Path<i64>, body: Body<UpdateRequest>) -> HttpResponse {
    let Object(UpdateRequest { status, severity, body }) = body.into_inner();
    match (Change { status, severity, body }).checked() {
        Ok(change) => told(
            IncidentStore::change(&admin.store, IncidentId(id.into_inner()), change, OffsetDateTime::now_utc()).await,
        ),
        Err(invalid) => wrong(&invalid),
    }
}

/// Stores a look from outside: `{"component": "api", "outcome": "up", "latency_ms": 41}`. The first of a minute counts.
#[post("/probes")]
pub async fn probe(admin: web::Data<Admin>, body: Body<ProbeRequest>) -> HttpResponse {
    let Object(ProbeRequest { component, outcome, latency_ms, at }) = body.into_inner();
    let now = OffsetDateTime::now_utc();
    let at = match at.map_or(Ok(now), |at| instants::parse(&at)) {
        Ok(at) if at > now + AHEAD || at < now - Duration::hours(MAX_DELAY_HOURS) => {
            return refused("at: must be of the last 24 hours");
        }
        Ok(at) => at,
        Err(invalid) => return refused(&format!("at: {invalid}")),
    };
    let probe = Probe {
        component,
        minute: minute_of(at),
        source: EXTERNAL.to_owned(),
        outcome,
        latency_ms: latency_ms.map(i64::from),
    };
    match admin.store.record(&[probe]).await {
        Ok(()) => HttpResponse::Ok().json(json!({ "stored": true })),
        Err(cause) => unavailable(&cause),
    }
}

fn told(incident: Result<Incident, ChangeError>) -> HttpResponse {
    match incident {
        Ok(incident) => HttpResponse::Ok().json(to_json(&incident)),
        Err(ChangeError::Store(cause)) => unavailable(&cause),
        Err(fault @ ChangeError::NotFound) => error(StatusCode::NOT_FOUND, "not_found", &fault.to_string()),
        Err(fault @ ChangeError::Transition(_)) => {
            error(StatusCode::CONFLICT, "invalid_transition", &fault.to_string())
        }
    }
}

fn wrong(invalid: &InvalidText) -> HttpResponse {
    refused(&invalid.to_string())
}
