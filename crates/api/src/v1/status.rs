//! `GET /api/v1/status`: whether the service works. Open to everyone and never refused.

use std::time::{Duration, Instant};

use ::web::request_id::RequestId;
use actix_web::{
    HttpMessage, HttpRequest,
    http::{StatusCode, header::HeaderValue},
    web,
};
use domain::{
    StoreError,
    health::{Health, Schema},
};
use serde::Serialize;
use tokio::sync::Mutex;
use utoipa::ToSchema;

use crate::{
    error::{ApiError, Code},
    query::{NoParams, Query},
    respond::{API_VERSION, Cache, Reply, Warnings, instant},
    state::State,
    warnings::Warning,
};

/// How long clients and proxies may keep the report, seconds.
const MAX_AGE: u32 = 15;
/// How long one look at the database serves everyone who asks, so that asking costs it nothing.
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// How long the database may take to answer before it counts as down.
const CHECK_TIMEOUT: Duration = Duration::from_millis(1_500);

/// What a look at the database found.
#[derive(Debug, Clone, Copy)]
struct Look {
    at: Instant,
    /// `None` when it is down.
    latency: Option<Duration>,
    schema: SchemaStatus,
    took: Duration,
}

/// Whether the database's schema is one that this service works with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchemaStatus {
    Ok,
    Outdated,
    TooNew,
    Unknown,
}

impl SchemaStatus {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Outdated => "outdated",
            Self::TooNew => "too_new",
            Self::Unknown => "unknown",
        }
    }
}

impl From<Schema> for SchemaStatus {
    fn from(schema: Schema) -> Self {
        match schema {
            Schema::Current | Schema::Newer { .. } => Self::Ok,
            Schema::Outdated { .. } => Self::Outdated,
            Schema::TooNew { .. } => Self::TooNew,
        }
    }
}

/// The last look at the database.
#[derive(Debug, Default)]
pub struct LastCheck(Mutex<Option<Look>>);

impl LastCheck {
    async fn look(&self, health: &dyn Health) -> Look {
        let mut last = self.0.lock().await;
        match *last {
            Some(look) if look.at.elapsed() < CHECK_EVERY => look,
            _ => *last.insert(Look::now(health).await),
        }
    }
}

impl Look {
    async fn now(health: &dyn Health) -> Self {
        let started = Instant::now();
        let found = tokio::time::timeout(CHECK_TIMEOUT, async { Ok((health.ping().await?, health.schema().await?)) });
        let found = match found.await {
            Ok(Ok((latency, schema))) => Some((latency, schema.into())),
            Ok(Err(error)) => {
                let error: StoreError = error;
                app::outage::warn(&error, "the database is down");
                None
            }
            Err(_) => None,
        };
        let (latency, schema) =
            found.map_or((None, SchemaStatus::Unknown), |(latency, schema)| (Some(latency), schema));
        Self { at: Instant::now(), latency, schema, took: started.elapsed() }
    }
}

/// Whether the service works.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StatusReport)]
pub struct Report<'a> {
    #[schema(value_type = String, schema_with = crate::names::overall_status)]
    status: &'static str,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    checks: Checks,
    meta: Meta<'a>,
    #[schema(format = DateTime, example = "2026-05-02T12:00:00Z")]
    ts: String,
    /// Only in an outage: `no_db`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    error: Option<&'static str>,
    /// Only in an outage.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    message: Option<&'static str>,
    /// Only in an outage.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    request_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// One entry for everything that the service depends on.
#[derive(Debug, Serialize, ToSchema)]
struct Checks {
    database: DatabaseCheck,
    schema: SchemaCheck,
}

/// The database.
#[derive(Debug, Serialize, ToSchema)]
struct DatabaseCheck {
    #[schema(value_type = String, schema_with = crate::names::database_status)]
    status: &'static str,
    /// Milliseconds of one round trip; null when the database is down.
    #[schema(example = 0.4)]
    latency_ms: Option<f64>,
}

/// The tables of the database. A service whose migrations have not run, or that is too old for those that have, answers no
/// other request reliably.
#[derive(Debug, Serialize, ToSchema)]
struct SchemaCheck {
    /// `unknown` when the database is down.
    #[schema(value_type = String, schema_with = crate::names::schema_status)]
    status: &'static str,
}

/// What answers.
#[derive(Debug, Serialize, ToSchema)]
struct Meta<'a> {
    #[schema(value_type = String, example = "eu-west")]
    region: &'a str,
    #[schema(value_type = String, example = "production")]
    env: &'a str,
    /// The build.
    #[schema(value_type = String, example = "1784173")]
    commit: &'a str,
    /// Milliseconds that all checks took.
    #[schema(example = 0.5)]
    check_total_ms: f64,
}

/// Whether the service works.
///
/// Reports the state of the service and of what it depends on. Needs no key.
#[utoipa::path(
    get, path = "/api/v1/status", tag = "service", operation_id = "get_status",
    responses(
        (status = 200, description = "The service works.", body = Report),
        (status = 503, description = "The database is down, or its schema does not fit: the same report with `error`.", body = Report)
    ),
    security(()),
    extensions(
        ("x-errors" = json!([Code::InvalidParameter])),
        ("x-unlimited" = json!(true)), ("x-max-age" = json!(MAX_AGE))
    )
)]
pub async fn get(
    request: HttpRequest,
    query: Query<NoParams>,
    state: web::Data<State>,
    last: web::Data<LastCheck>,
) -> Result<Reply, ApiError> {
    let Look { latency, schema, took, .. } = last.look(&*state.health).await;
    let (status, database) = match latency {
        None => ("outage", "down"),
        Some(latency) if latency > state.settings.slow_after => ("degraded", "slow"),
        Some(_) => ("operational", "ok"),
    };
    let outage = schema != SchemaStatus::Ok;
    let status = if outage { "outage" } else { status };
    let id = request.extensions().get::<RequestId>().map(|id| id.0.to_string());
    let report = Report {
        status,
        api_version: API_VERSION,
        checks: Checks {
            database: DatabaseCheck { status: database, latency_ms: latency.map(milliseconds) },
            schema: SchemaCheck { status: schema.as_str() },
        },
        meta: Meta {
            region: &state.settings.region,
            env: &state.settings.env,
            commit: &state.settings.commit,
            check_total_ms: milliseconds(took),
        },
        ts: instant((state.clock)()),
        error: outage.then_some(Code::NoDb.as_str()),
        message: outage.then_some(Code::NoDb.message()),
        request_id: id.filter(|_| outage),
        warnings: query.warnings,
    };
    if outage {
        let reply = Reply::json(&report, Cache::No)?.status(StatusCode::SERVICE_UNAVAILABLE);
        return Ok(reply.header("retry-after", HeaderValue::from_static("5")));
    }
    Reply::json(&report, Cache::Public(MAX_AGE))
}

/// To the microsecond.
fn milliseconds(took: Duration) -> f64 {
    took.as_micros() as f64 / 1_000.0
}
