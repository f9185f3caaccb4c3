//! `GET /api/v1/anomalies`: days on which a metric was not what was expected.

use actix_web::web;
use domain::{
    anomalies::{Anomaly, Cause, CorrelatedMetric, Direction, Driver, Kind, Severity, drivers},
    daily::Dimension,
    freshness::Dated,
    language::Language,
    metrics::Unit,
    money::Currency,
    texts::Texts,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use crate::{
    as_of::{AsOf, Results},
    auth::Caller,
    error::{ApiError, Code},
    freshness::FreshnessBody,
    input::Input,
    language::Accepted,
    names,
    query::{Days, Limit, Query},
    respond::{API_VERSION, Pagination, Reply, Warnings, date, instant, round4},
    state::State,
    warnings::Warning,
    window,
};

/// A deviation of one metric, or the inferred cause of one across metrics.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Anomaly)]
struct AnomalyBody {
    #[schema(example = 77)]
    id: i64,
    #[schema(schema_with = names::anomaly_kind)]
    kind: Kind,
    #[schema(example = "gross_revenue")]
    metric: String,
    #[schema(example = 812.4)]
    observed_value: f64,
    #[schema(example = 1530.0)]
    expected_value: f64,
    /// Lower and upper bound of what was expected; null when not known.
    #[schema(example = json!([1180.0, 1910.0]))]
    expected_interval: Option<[f64; 2]>,
    #[schema(example = -4.1)]
    z_score: f64,
    #[schema(schema_with = names::direction)]
    direction: Direction,
    #[schema(schema_with = names::severity)]
    severity: Severity,
    /// The day that departed most, which the numbers describe, in the account's time zone.
    #[schema(format = Date, example = "2026-05-01")]
    day: String,
    /// The first day of the event.
    #[schema(format = Date, example = "2026-04-30")]
    first_day: String,
    /// The last day of the event so far.
    #[schema(format = Date, example = "2026-05-02")]
    last_day: String,
    #[schema(format = DateTime, example = "2026-05-02T03:00:00Z")]
    detected_at: String,
    /// Null when unknown.
    #[schema(
        example = "Visits were 50% below normal, because clicks on ads were 75% below normal (80% of the difference)."
    )]
    inferred_cause: Option<String>,
    /// Probability that the cause is the right one; null when there is none.
    #[schema(minimum = 0, maximum = 1, example = 0.8)]
    confidence: Option<f64>,
    /// Metrics that moved with it; empty for a univariate one.
    correlated_metrics: Vec<CorrelatedBody>,
    /// What the deviation is made of: by level, then the largest share first. Empty where the metric cannot be split.
    drivers: Vec<DriverBody>,
    /// What kind of lever the cause is; null when unknown.
    #[schema(schema_with = names::cause)]
    cause: Option<Cause>,
    /// A lasting change of level, reported once.
    is_shift: bool,
    /// The story that it is a part of, as `GET /insights` shows it; null where it is not notable.
    #[schema(example = 12)]
    story_id: Option<i64>,
}

/// A metric that moved with the anomaly.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CorrelatedMetric)]
struct CorrelatedBody {
    #[schema(example = "ad_spend")]
    metric: String,
    /// Modified z-score of the day.
    #[schema(example = -3.7)]
    modz: f64,
    #[schema(schema_with = names::direction)]
    direction: Direction,
}

impl From<CorrelatedMetric> for CorrelatedBody {
    fn from(correlated: CorrelatedMetric) -> Self {
        let CorrelatedMetric { metric, modz, direction } = correlated;
        Self { metric, modz: round4(modz), direction }
    }
}

/// One driver's part in a deviation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Driver)]
struct DriverBody {
    /// 1: what the deviation itself is made of. Each further level splits the first driver of the one before.
    #[schema(minimum = 1, example = 1)]
    level: u8,
    #[schema(example = "conversion")]
    metric: String,
    /// What it is a part of the business by; null for all of the business.
    #[schema(schema_with = names::part_dimension)]
    dimension: Option<Dimension>,
    /// The value of the dimension, such as `BR/shopify`; `(other)` for all that are not named.
    #[schema(example = "shopify")]
    part: Option<String>,
    /// In the unit of the metric that deviated. Those of level 1 sum to observed − expected, those of a further level to the
    /// effect of the driver that it splits, but for what is rounded.
    #[schema(example = -612.4)]
    effect: f64,
    /// The part of all effects in the direction of the deviation that is this one's; 0 for what went against it. Those of a
    /// level sum to 1.
    #[schema(minimum = 0, maximum = 1, example = 0.85)]
    share: f64,
    /// In the driver's own unit.
    #[schema(example = 0.011)]
    observed: f64,
    #[schema(example = 0.029)]
    expected: f64,
    #[schema(schema_with = names::direction)]
    direction: Direction,
}

impl DriverBody {
    /// `unit` is that of the metric that deviated.
    fn new(driver: Driver, unit: Unit, currency: Currency) -> Self {
        let Driver { level, metric, dimension, part, effect, share, observed, expected, direction } = driver;
        let own = drivers::unit(&metric);
        Self {
            level,
            metric,
            dimension,
            part,
            effect: unit.rounded(effect, currency),
            share: round4(share),
            observed: own.rounded(observed, currency),
            expected: own.rounded(expected, currency),
            direction,
        }
    }
}

impl AnomalyBody {
    fn new(anomaly: Anomaly, currency: Currency, texts: &Texts) -> Self {
        let inferred_cause = anomaly.cause_in(texts);
        let unit = drivers::unit(&anomaly.metric);
        let Anomaly {
            id,
            kind,
            metric,
            span,
            day,
            observed_value,
            expected_value,
            expected_interval,
            z_score,
            direction,
            severity,
            detected_at,
            inferred_cause: _,
            confidence,
            correlated_metrics,
            drivers,
            cause,
            is_shift,
            story_id,
        } = anomaly;
        Self {
            id: id.0,
            kind,
            metric,
            observed_value: round4(observed_value),
            expected_value: round4(expected_value),
            expected_interval: expected_interval.map(|(low, high)| [round4(low), round4(high)]),
            z_score: round4(z_score),
            direction,
            severity,
            day: date(day),
            first_day: date(span.first),
            last_day: date(span.last),
            detected_at: instant(detected_at),
            inferred_cause,
            confidence: confidence.map(round4),
            correlated_metrics: correlated_metrics.into_iter().map(Into::into).collect(),
            drivers: drivers.into_iter().map(|driver| DriverBody::new(driver, unit, currency)).collect(),
            cause,
            is_shift,
            story_id: story_id.map(|id| id.0),
        }
    }
}

/// Anomalies of a window.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Anomalies)]
pub struct Body {
    data: Vec<AnomalyBody>,
    /// Days looked back, as applied.
    #[schema(example = 7)]
    window_days: i64,
    freshness: FreshnessBody,
    pagination: Pagination,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Which anomalies to list.
#[derive(Deserialize, Validate, IntoParams)]
pub struct ListParams {
    /// `low`, `medium`, `high` or `critical`.
    #[param(value_type = names::SeverityName, inline, required = false)]
    severity: Option<Severity>,
    #[param(value_type = names::LanguageName, inline, required = false)]
    lang: Option<Language>,
    #[validate(nested)]
    #[param(inline, required = false)]
    days: Days<7, 90>,
    #[validate(nested)]
    #[param(inline, required = false)]
    limit: Limit<100, 500>,
    /// `next_cursor` of the page before.
    #[param(minimum = 1)]
    cursor: Option<i64>,
    #[param(inline, required = false)]
    as_of: Option<AsOf>,
}

impl Input for ListParams {}

/// Unexpected deviations of metrics.
///
/// Lists the anomalies detected in the last days, newest first. A day ends in the account's time zone.
#[utoipa::path(
    get, path = "/api/v1/anomalies", tag = "analytics", operation_id = "list_anomalies",
    params(ListParams),
    responses((status = 200, description = "The anomalies of the window.", body = Body)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])))
)]
pub async fn get(
    caller: Caller,
    accepted: Accepted,
    query: Query<ListParams>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let Query { params: ListParams { severity, lang, days, limit, cursor, as_of }, warnings } = query;
    let texts = accepted.texts(lang, &caller, (state.clock)());
    let Results { account, now } = Results::of(&caller, as_of, &state).await?;
    let (window_days, page) = (days.get(), limit.page(cursor));
    let since = caller.zone().start_of(window::ending_today(caller.zone(), now, window_days).first);
    let Dated { found, freshness } = state.anomalies.page(account, severity, since, page).await?;
    let shown = |anomaly| AnomalyBody::new(anomaly, caller.currency(), &texts);
    let body = Body {
        pagination: Pagination::new(page, &found),
        data: found.items.into_iter().map(shown).collect(),
        window_days,
        freshness: FreshnessBody::new(freshness, caller.zone(), now),
        api_version: API_VERSION,
        warnings,
    };
    Ok(Reply::found(&body)?.in_language(&texts))
}
