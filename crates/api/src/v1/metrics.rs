//! `GET /api/v1/metrics`: what a metric was each day, beside what had been expected of it.

use ::web::row;
use actix_web::web;
use domain::{
    freshness::Dated,
    metric_days::{Expected, JudgedDay},
    metrics::Metric,
    money::Currency,
    page::PageRequest,
    profit::page_of_days,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use crate::{
    as_of::{AsOf, Results},
    auth::Caller,
    csv::{self, Csv, CsvMetadata, Format, Listing},
    error::{ApiError, Code},
    freshness::FreshnessBody,
    input::Input,
    names,
    query::{FullDays, Limit},
    respond::{API_VERSION, Pagination, Reply, Warnings, date},
    state::State,
    warnings::Warning,
    window::{self, Until},
};

/// A metric on one day. Money is in the account's currency, a share is a part of 1.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MetricDay)]
struct DayBody {
    /// In the account's time zone.
    #[schema(format = Date, example = "2026-05-01")]
    day: String,
    /// Null where the day does not tell it: a ratio without a denominator.
    #[schema(example = 812.4)]
    observed: Option<f64>,
    /// What the days before led to expect; null on a holiday and where too little was known before.
    #[schema(example = 1530.0)]
    expected: Option<f64>,
    /// Lower bound of the range that about 95 % of ordinary days fall into; null with `expected`.
    #[schema(example = 1180.0)]
    low: Option<f64>,
    /// Upper bound of that range.
    #[schema(example = 1910.0)]
    high: Option<f64>,
    /// The anomaly of this metric that the day is a part of; null when it is none.
    #[schema(example = 77)]
    anomaly_id: Option<i64>,
}

impl DayBody {
    fn new(judged: JudgedDay, metric: Metric, currency: Currency) -> Self {
        let JudgedDay { day, observed, expected, anomaly } = judged;
        let shown = |value| metric.rounded(value, currency);
        let interval = |Expected { value, low, high }| [value, low, high].map(|figure| Some(shown(figure)));
        let [expected, low, high] = expected.map(interval).unwrap_or_default();
        Self { day: date(day), observed: observed.map(shown), expected, low, high, anomaly_id: anomaly.map(|id| id.0) }
    }
}

row!(DayBody { day, observed, expected, low, high, anomaly_id });

type File = Csv<DayBody>;

/// The days of a metric.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MetricDays)]
pub struct Body {
    #[schema(schema_with = names::metric)]
    metric: Metric,
    data: Vec<DayBody>,
    /// Full days looked back, as applied.
    #[schema(example = 30)]
    window_days: i64,
    freshness: FreshnessBody,
    pagination: Pagination,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Which metric to list, and of which days.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListParams {
    /// What to list.
    #[param(value_type = names::MetricName, inline)]
    metric: Metric,
    #[validate(nested)]
    #[param(inline, required = false)]
    days: FullDays<30, 365>,
    #[validate(nested)]
    #[param(inline, required = false)]
    limit: Limit<365, 365>,
    /// `next_cursor` of the page before: the digits of a date.
    #[param(minimum = 1, example = 20260501)]
    cursor: Option<i64>,
    #[param(inline, required = false)]
    until: Option<Until>,
    #[param(inline, required = false)]
    as_of: Option<AsOf>,
}

impl Input for ListParams {}

/// A metric per day, with its expected interval.
///
/// Lists the full days of the window, newest first: what the metric was, what the days before it had led to expect, and the
/// anomaly that it was, if it was one. As CSV the days come with the same fields, and `freshness` in the header
/// `X-Freshness`.
#[utoipa::path(
    get, path = "/api/v1/metrics", tag = "analytics", operation_id = "list_metric_days",
    params(ListParams),
    responses((status = 200, description = "The days of the window.", content(
        (Body = "application/json"),
        (inline(File) = "text/csv")
    ))),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::MissingParameter, Code::NotFound])), ("x-since" = json!("2026-12")))
)]
pub async fn get(caller: Caller, query: Listing<ListParams>, state: web::Data<State>) -> Result<Reply, ApiError> {
    let Listing { params: ListParams { metric, days, limit, cursor, until, as_of }, format, warnings } = query;
    let window_days = days.get();
    let Results { account, now } = Results::of(&caller, as_of, &state).await?;
    let range = Until::window(until, window::before_today(caller.zone(), now, window_days), window_days)?;
    let Dated { found, freshness } = state.metric_days.range(account, metric, range).await?;
    let page = PageRequest { limit: limit.requested().unwrap_or(window_days), cursor };
    let found = page_of_days(found, page, |judged| judged.day);
    let pagination = Pagination::new(page, &found);
    let currency = caller.currency();
    let data: Vec<DayBody> = found.items.into_iter().map(|judged| DayBody::new(judged, metric, currency)).collect();
    let freshness = FreshnessBody::new(freshness, caller.zone(), now);
    if format == Format::Csv {
        let about = CsvMetadata { name: "metrics", day: range.last, freshness: Some(freshness), warnings: &warnings };
        return csv::page(&about, &data, pagination.next_cursor);
    }
    Reply::listed(&Body { metric, data, window_days, freshness, pagination, api_version: API_VERSION, warnings })
}
