//! `/api/v1/incidents`: what went wrong with the service. Open to everyone, and answered from memory.

use actix_web::{HttpRequest, web};
use domain::{
    incidents::{Filter, Incident, Severity, Shown, Update, wording::summary},
    language::Language,
    page::Page,
    texts::{Locale, Texts},
};
use serde::{Deserialize, Serialize};
use time::Duration;
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use crate::{
    error::{ApiError, Code},
    input::Input,
    language::{Accepted, LanguageParam},
    names, path,
    query::{Days, Limit, Query},
    respond::{API_VERSION, Cache, Pagination, Reply, Warnings, instant},
    state::State,
    warnings::Warning,
};

/// How long clients and proxies may keep the incidents, seconds.
const MAX_AGE: u32 = 60;

/// Something that went wrong with the service.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Incident)]
struct IncidentBody {
    #[schema(example = 7)]
    id: i64,
    #[schema(example = "Computed figures are late")]
    title: String,
    #[schema(value_type = String, schema_with = names::incident_severity)]
    severity: &'static str,
    #[schema(value_type = String, schema_with = names::incident_status)]
    status: &'static str,
    /// The parts of the service that it is about.
    #[schema(value_type = Vec<String>, example = json!(["jobs"]))]
    components: Vec<&'static str>,
    /// Probes opened it and see to it; false from the moment that a person does.
    automatic: bool,
    #[schema(format = DateTime, example = "2026-11-20T10:00:00Z")]
    started_at: String,
    #[schema(format = DateTime, example = json!(null))]
    identified_at: Option<String>,
    #[schema(format = DateTime, example = "2026-11-20T10:40:00Z")]
    monitoring_at: Option<String>,
    #[schema(format = DateTime, example = json!(null))]
    resolved_at: Option<String>,
    /// Null while it goes on.
    #[schema(minimum = 0, example = json!(null))]
    duration_seconds: Option<i64>,
    /// What was told, newest first.
    updates: Vec<UpdateBody>,
}

/// What was told of an incident at a time.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IncidentUpdate)]
struct UpdateBody {
    #[schema(example = 12)]
    id: i64,
    #[schema(value_type = String, schema_with = names::incident_status)]
    status: &'static str,
    /// Plain text.
    #[schema(example = "The queue is draining.")]
    body: String,
    #[schema(format = DateTime, example = "2026-11-20T10:40:00Z")]
    created_at: String,
}

/// How the service is.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IncidentsSummary)]
struct Summary {
    /// The worst severity of the incidents that go on, whatever is listed; `none` without any.
    #[schema(value_type = String, schema_with = names::indicator)]
    indicator: &'static str,
    #[schema(example = "Minor issues")]
    description: String,
}

/// The incidents.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Incidents)]
struct Body {
    data: Vec<IncidentBody>,
    status: Summary,
    pagination: Pagination,
    /// When they were read; `Age` says how long ago.
    #[schema(format = DateTime, example = "2026-11-20T10:41:00Z")]
    generated_at: String,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// One incident.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OneIncident)]
struct OneBody {
    #[serde(flatten)]
    incident: IncidentBody,
    /// When it was read; `Age` says how long ago.
    #[schema(format = DateTime, example = "2026-11-20T10:41:00Z")]
    generated_at: String,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl IncidentBody {
    fn new(incident: &Incident, texts: &Texts) -> Self {
        let Incident {
            id,
            title: _,
            severity,
            status,
            components,
            automatic,
            started_at,
            identified_at,
            monitoring_at,
            resolved_at,
            updates,
        } = incident;
        Self {
            id: id.0,
            title: incident.title_in(texts),
            severity: severity.as_str(),
            status: status.as_str(),
            components: components.iter().map(|component| component.as_str()).collect(),
            automatic: *automatic,
            started_at: instant(*started_at),
            identified_at: identified_at.map(instant),
            monitoring_at: monitoring_at.map(instant),
            resolved_at: resolved_at.map(instant),
            duration_seconds: incident.duration().map(Duration::whole_seconds),
            updates: updates.iter().map(|update| UpdateBody::new(update, texts)).collect(),
        }
    }
}

impl UpdateBody {
    fn new(update: &Update, texts: &Texts) -> Self {
        let Update { id, status, body: _, created_at } = update;
        Self { id: id.0, status: status.as_str(), body: update.body_in(texts), created_at: instant(*created_at) }
    }
}

impl Summary {
    fn new(worst: Option<Severity>, texts: &Texts) -> Self {
        let description = summary(worst, texts);
        Self { indicator: worst.map_or(names::NO_INCIDENT, Severity::as_str), description }
    }
}

/// Which incidents to list.
#[derive(Debug, Deserialize, Validate, IntoParams)]
pub struct ListParams {
    /// `open`, `resolved` or `all`.
    #[param(value_type = names::ShownName, inline, required = false)]
    status: Option<Shown>,
    /// `minor`, `major` or `critical`.
    #[param(value_type = names::IncidentSeverityName, inline, required = false)]
    severity: Option<Severity>,
    #[param(value_type = names::LanguageName, inline, required = false)]
    lang: Option<Language>,
    #[validate(nested)]
    #[param(inline, required = false)]
    days: Days<90, 365>,
    #[validate(nested)]
    #[param(inline, required = false)]
    limit: Limit<25, 100>,
    /// `next_cursor` of the page before.
    #[param(minimum = 1)]
    cursor: Option<i64>,
}

impl Input for ListParams {}

/// Incidents of the service.
///
/// Lists the incidents that began in the last days and all that go on, newest first, with what was told of them. Needs no key. While
/// the database is away the last that is known is given, and `Age` says how old it is.
#[utoipa::path(
    get, path = "/api/v1/incidents", tag = "service", operation_id = "list_incidents",
    params(ListParams),
    responses((status = 200, description = "A page of incidents.", body = Body)),
    security(()),
    extensions(
        ("x-errors" = json!([Code::InvalidParameter, Code::NoDb, Code::Overloaded])),
        ("x-max-age" = json!(MAX_AGE)), ("x-since" = json!("2026-12"))
    )
)]
pub async fn list(accepted: Accepted, query: Query<ListParams>, state: web::Data<State>) -> Result<Reply, ApiError> {
    let Query { params: ListParams { status, severity, lang, days, limit, cursor }, warnings } = query;
    let texts = Texts::of(accepted.locale(lang, Locale::ENGLISH));
    let book = state.status.incidents((state.clock)()).await?;
    let (filter, page) =
        (Filter { shown: status.unwrap_or(Shown::All), severity, days: days.get() }, limit.page(cursor));
    let found: Page<&Incident> = book.value.page(filter, page);
    let body = Body {
        pagination: Pagination::new(page, &found),
        data: found.items.into_iter().map(|incident| IncidentBody::new(incident, &texts)).collect(),
        status: Summary::new(book.value.worst_open(), &texts),
        generated_at: instant(book.value.read_at),
        api_version: API_VERSION,
        warnings,
    };
    Ok(Reply::json(&body, Cache::PublicStale(MAX_AGE))?.age(book.age).in_language(&texts))
}

fn unknown() -> ApiError {
    ApiError::new(Code::NotFound).message("There is no such incident.")
}

/// One incident of the service.
///
/// Shows an incident with what was told of it. Needs no key.
#[utoipa::path(
    get, path = "/api/v1/incidents/{id}", tag = "service", operation_id = "get_incident",
    params(("id" = i64, Path, description = "The incident.", minimum = 1, example = 7), LanguageParam),
    responses((status = 200, description = "The incident.", body = OneBody)),
    security(()),
    extensions(
        ("x-errors" = json!([Code::InvalidParameter, Code::NotFound, Code::NoDb, Code::Overloaded])),
        ("x-max-age" = json!(MAX_AGE)), ("x-since" = json!("2026-12"))
    )
)]
pub async fn get(
    accepted: Accepted,
    query: Query<LanguageParam>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let texts = Texts::of(accepted.locale(query.params.lang, Locale::ENGLISH));
    let id = path::number(&request, "id").ok_or_else(unknown)?;
    let book = state.status.incidents((state.clock)()).await?;
    let incident = book.value.find(id).ok_or_else(unknown)?;
    let body = OneBody {
        incident: IncidentBody::new(incident, &texts),
        generated_at: instant(book.value.read_at),
        api_version: API_VERSION,
        warnings: query.warnings,
    };
    Ok(Reply::json(&body, Cache::PublicStale(MAX_AGE))?.age(book.age).in_language(&texts))
}
