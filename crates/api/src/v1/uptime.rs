//! `GET /api/v1/uptime`: how the service has fared. Open to everyone, and answered from memory.

use actix_web::web;
use domain::uptime::{Checks, ComponentUptime, Gap, Hour, Latency, Report};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use crate::{
    error::{ApiError, Code},
    input::Input,
    names,
    query::{Hours, Query},
    respond::{API_VERSION, Cache, JsonDecimal, Reply, Warnings, instant},
    state::State,
    warnings::Warning,
};

/// How long clients and proxies may keep the figures, seconds.
const MAX_AGE: u32 = 60;

/// How the service has fared.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Uptime)]
struct Body {
    /// As applied.
    #[schema(example = 24)]
    window_hours: i64,
    #[schema(format = DateTime, example = "2026-11-19T11:00:00Z")]
    since: String,
    /// The end of the last whole minute.
    #[schema(format = DateTime, example = "2026-11-20T11:00:00Z")]
    until: String,
    /// The part of the minutes with a look in which the API was there, in percent, rounded down; null when nobody looked.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 100, example = 99.93)]
    uptime_pct: Option<JsonDecimal>,
    /// The part of all minutes in which somebody looked, in percent, rounded down.
    #[schema(value_type = f64, minimum = 0, maximum = 100, example = 99.51)]
    coverage_pct: JsonDecimal,
    checks: ChecksBody,
    latency_ms: LatencyBody,
    components: Vec<ComponentBody>,
    /// The hours of the window, oldest first.
    series: Vec<HourBody>,
    /// When nobody looked.
    gaps: Vec<GapBody>,
    method: Method,
    /// When the figures were made; `Age` says how long ago.
    #[schema(format = DateTime, example = "2026-11-20T11:00:12Z")]
    generated_at: String,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Minutes of the window.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UptimeChecks)]
struct ChecksBody {
    /// In which somebody looked.
    #[schema(minimum = 0, example = 1_433)]
    total: i64,
    #[schema(minimum = 0, example = 1_430)]
    up: i64,
    #[schema(minimum = 0, example = 2)]
    degraded: i64,
    #[schema(minimum = 0, example = 1)]
    down: i64,
    /// In which nobody looked, since somebody first did.
    #[schema(minimum = 0, example = 7)]
    missing: i64,
}

/// How long answers took; null when none was measured.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UptimeLatency)]
struct LatencyBody {
    #[schema(minimum = 0, example = 41)]
    avg: Option<i64>,
    #[schema(minimum = 0, example = 38)]
    p50: Option<i64>,
    #[schema(minimum = 0, example = 92)]
    p95: Option<i64>,
}

/// A part of the service.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UptimeComponent)]
struct ComponentBody {
    #[schema(value_type = String, schema_with = names::component)]
    name: &'static str,
    /// By the last look of the last five minutes; `unknown` without one.
    #[schema(value_type = String, schema_with = names::component_status)]
    status: &'static str,
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 100, example = 99.93)]
    uptime_pct: Option<JsonDecimal>,
    #[schema(value_type = f64, minimum = 0, maximum = 100, example = 99.51)]
    coverage_pct: JsonDecimal,
}

/// An hour.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UptimeHour)]
struct HourBody {
    /// Its beginning.
    #[schema(format = DateTime, example = "2026-11-19T11:00:00Z")]
    ts: String,
    /// Null when nobody looked.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 100, example = 100)]
    uptime_pct: Option<JsonDecimal>,
    /// Minutes in which somebody looked.
    #[schema(minimum = 0, maximum = 60, example = 60)]
    checks: i64,
    #[schema(minimum = 0, maximum = 60, example = 0)]
    down: i64,
    #[schema(minimum = 0, example = 40)]
    avg_latency_ms: Option<i64>,
}

/// Minutes on end in which nobody looked.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UptimeGap)]
struct GapBody {
    #[schema(format = DateTime, example = "2026-11-20T03:12:00Z")]
    from: String,
    #[schema(format = DateTime, example = "2026-11-20T03:19:00Z")]
    to: String,
    #[schema(minimum = 1, example = 7)]
    minutes: i64,
}

/// How the figures are made.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UptimeMethod)]
struct Method {
    #[schema(example = 60)]
    interval_seconds: u32,
    #[schema(value_type = String, example = "floor")]
    rounding: &'static str,
    #[schema(value_type = String, example = "up")]
    degraded_counts_as: &'static str,
    #[schema(value_type = String, example = "excluded")]
    missing_counts_as: &'static str,
}

const METHOD: Method =
    Method { interval_seconds: 60, rounding: "floor", degraded_counts_as: "up", missing_counts_as: "excluded" };

fn shown(percent: Option<Decimal>) -> Option<JsonDecimal> {
    percent.map(JsonDecimal)
}

impl From<Checks> for ChecksBody {
    fn from(checks: Checks) -> Self {
        let Checks { up, degraded, down, missing } = checks;
        Self { total: checks.total(), up, degraded, down, missing }
    }
}

impl From<Latency> for LatencyBody {
    fn from(Latency { avg, p50, p95 }: Latency) -> Self {
        Self { avg, p50, p95 }
    }
}

impl From<ComponentUptime> for ComponentBody {
    fn from(ComponentUptime { component, status, share }: ComponentUptime) -> Self {
        Self {
            name: component.as_str(),
            status: status.as_str(),
            uptime_pct: shown(share.uptime),
            coverage_pct: JsonDecimal(share.coverage),
        }
    }
}

impl From<Hour> for HourBody {
    fn from(Hour { begins, uptime, checks, down, avg_latency_ms }: Hour) -> Self {
        Self { ts: instant(begins), uptime_pct: shown(uptime), checks, down, avg_latency_ms }
    }
}

impl From<Gap> for GapBody {
    fn from(gap: Gap) -> Self {
        Self { from: instant(gap.from), to: instant(gap.to), minutes: gap.minutes() }
    }
}

/// Of which time.
#[derive(Debug, Deserialize, Validate, IntoParams)]
pub struct WindowParams {
    #[validate(nested)]
    #[param(inline, required = false)]
    hours: Hours<24, 168>,
}

impl Input for WindowParams {}

/// How the service has fared.
///
/// Gives the share of minutes in which the API was there, how each part of the service stands, and when nobody looked. Needs no key.
/// While the database is away the last figures are given, and `Age` says how old they are.
#[utoipa::path(
    get, path = "/api/v1/uptime", tag = "service", operation_id = "get_uptime",
    params(WindowParams),
    responses((status = 200, description = "The figures.", body = Body)),
    security(()),
    extensions(
        ("x-errors" = json!([Code::InvalidParameter, Code::NoDb, Code::Overloaded])),
        ("x-max-age" = json!(MAX_AGE)), ("x-since" = json!("2026-12"))
    )
)]
pub async fn get(query: Query<WindowParams>, state: web::Data<State>) -> Result<Reply, ApiError> {
    let record = state.status.record((state.clock)()).await?;
    let Report { hours, since, until, checks, share, latency, components, series, gaps } =
        record.value.report(query.params.hours.get());
    let body = Body {
        window_hours: hours,
        since: instant(since),
        until: instant(until),
        uptime_pct: shown(share.uptime),
        coverage_pct: JsonDecimal(share.coverage),
        checks: checks.into(),
        latency_ms: latency.into(),
        components: components.into_iter().map(Into::into).collect(),
        series: series.into_iter().map(Into::into).collect(),
        gaps: gaps.into_iter().map(Into::into).collect(),
        method: METHOD,
        generated_at: instant(record.value.read_at),
        api_version: API_VERSION,
        warnings: query.warnings,
    };
    Ok(Reply::json(&body, Cache::PublicStale(MAX_AGE))?.age(record.age))
}
