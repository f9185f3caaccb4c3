//! `/api/v1/alerts`: rules that watch a metric and fire an event.

use actix_web::{HttpRequest, web};
use domain::{
    alerts::{
        Change, ChangeError, Comparator, CreateError, DEFAULT_COOLDOWN_HOURS, InvalidTerms, Rule, Standing, Terms,
        Wanted,
    },
    insights::Severity,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::Caller,
    body::{Accepts, Fields, Upload},
    error::{ApiError, Code},
    openapi::names,
    path,
    query::Query,
    respond::{API_VERSION, Exact, List, Reply, Warnings, instant},
    state::State,
    write::{detached, mark_replayed},
};

/// A rule and where it stands.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AlertRule)]
pub struct RuleBody {
    #[schema(example = 7)]
    id: i64,
    #[schema(example = "Fewer than 5 orders a day")]
    name: String,
    /// `revenue`, `orders`, `refunds`, `aov`, `ad_spend`, `roas`, `profit`, `margin`, `stockouts` or `event:` and the name of
    /// a tracked event.
    #[schema(example = "orders")]
    metric: String,
    #[schema(schema_with = names::comparator)]
    comparator: Comparator,
    /// Money in the account's currency, percent for `margin`.
    #[schema(value_type = f64, example = 5)]
    threshold: Exact,
    #[schema(example = 24)]
    window_hours: i64,
    #[schema(schema_with = names::severity)]
    severity: Severity,
    /// Hours for which it keeps quiet after it fired.
    #[schema(example = 1)]
    cooldown_hours: i64,
    /// Whether it is evaluated.
    #[schema(example = true)]
    active: bool,
    /// Whether the next value beyond the threshold fires; a value on the other side arms it again.
    #[schema(example = true)]
    armed: bool,
    /// What was last seen; null when there was nothing to tell it from.
    #[schema(value_type = Option<f64>, example = 12)]
    last_value: Option<Exact>,
    #[schema(format = DateTime, example = "2026-05-02T11:55:00Z")]
    last_evaluated_at: Option<String>,
    #[schema(format = DateTime)]
    last_fired_at: Option<String>,
    #[schema(format = DateTime, example = "2026-05-01T09:00:00Z")]
    created_at: String,
    #[schema(format = DateTime, example = "2026-05-01T09:00:00Z")]
    updated_at: String,
}

impl From<Rule> for RuleBody {
    fn from(rule: Rule) -> Self {
        let Rule { id, terms, active, standing, last_evaluated_at, created_at, updated_at } = rule;
        let Standing { armed, last_value, last_fired_at } = standing;
        Self {
            id,
            name: terms.name().to_owned(),
            metric: terms.metric().to_string(),
            comparator: terms.comparator(),
            threshold: Exact(terms.threshold()),
            window_hours: terms.window_hours(),
            severity: terms.severity(),
            cooldown_hours: terms.cooldown_hours(),
            active,
            armed,
            last_value: last_value.map(|value| Exact(value.normalize())),
            last_evaluated_at: last_evaluated_at.map(instant),
            last_fired_at: last_fired_at.map(instant),
            created_at: instant(created_at),
            updated_at: instant(updated_at),
        }
    }
}

/// One rule.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OneAlertRule)]
pub struct OneBody {
    #[serde(flatten)]
    rule: RuleBody,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Warnings,
}

impl OneBody {
    fn new(rule: Rule, warnings: Warnings) -> Self {
        Self { rule: rule.into(), api_version: API_VERSION, warnings }
    }
}

/// A rule to be created.
#[derive(ToSchema)]
#[schema(as = NewAlertRule)]
#[expect(dead_code, reason = "describes the body; the fields are taken one by one")]
pub struct CreateRequest {
    /// 1 to 120 characters.
    #[schema(example = "Fewer than 5 orders a day")]
    name: String,
    /// `revenue`, `orders`, `refunds`, `aov`, `ad_spend`, `roas`, `profit`, `margin`, `stockouts` or `event:` and the name of
    /// a tracked event.
    #[schema(example = "orders")]
    metric: String,
    #[schema(schema_with = names::comparator)]
    comparator: Comparator,
    /// Smaller than 10^12 in size, with at most 6 decimals.
    #[schema(example = 5)]
    threshold: f64,
    /// Any number of hours up to 2160 for what has an instant (168 for events); a multiple of 24 for `ad_spend`, `roas`,
    /// `profit` and `margin`, which are known per day; 24 for `stockouts`.
    #[schema(minimum = 1, maximum = 2160, example = 24)]
    window_hours: i64,
    #[schema(schema_with = names::severity, default = "medium")]
    severity: Option<Severity>,
    #[schema(minimum = 0, maximum = 720, default = 1, example = 1)]
    cooldown_hours: Option<i64>,
    #[schema(default = true, example = true)]
    active: Option<bool>,
}

/// What to change about a rule. Fields that are left out stay as they are.
#[derive(ToSchema)]
#[schema(as = AlertRuleChange)]
#[expect(dead_code, reason = "describes the body; the fields are taken one by one")]
pub struct ChangeRequest {
    #[schema(example = "Fewer than 3 orders a day")]
    name: Option<String>,
    #[schema(example = "orders")]
    metric: Option<String>,
    #[schema(schema_with = names::comparator)]
    comparator: Option<Comparator>,
    #[schema(example = 3)]
    threshold: Option<f64>,
    #[schema(minimum = 1, maximum = 2160, example = 24)]
    window_hours: Option<i64>,
    #[schema(schema_with = names::severity)]
    severity: Option<Severity>,
    #[schema(minimum = 0, maximum = 720, example = 1)]
    cooldown_hours: Option<i64>,
    #[schema(example = true)]
    active: Option<bool>,
}

/// The fields of a rule that are there.
fn given(fields: &mut Fields) -> Result<Change, ApiError> {
    let bad = Code::InvalidParameter;
    let unknown = |name: &'static str| move |unknown| ApiError::unknown_value(name, &unknown);
    let metric = fields.text("metric", bad)?.map(|text| text.parse().map_err(unknown("metric")));
    let comparator = fields.text("comparator", bad)?.map(|text| text.parse().map_err(unknown("comparator")));
    let severity = fields.text("severity", bad)?.map(|text| text.parse().map_err(unknown("severity")));
    let hours = |field: crate::body::Field| field.integer(i64::MIN, i64::MAX);
    Ok(Change {
        name: fields.text("name", bad)?,
        metric: metric.transpose()?,
        comparator: comparator.transpose()?,
        threshold: fields.take("threshold").map(|field| field.decimal()).transpose()?,
        window_hours: fields.take("window_hours").map(hours).transpose()?,
        severity: severity.transpose()?,
        cooldown_hours: fields.take("cooldown_hours").map(hours).transpose()?,
        active: fields.take("active").map(|field| field.flag()).transpose()?,
    })
}

fn required<T>(value: Option<T>, name: &'static str) -> Result<T, ApiError> {
    let missing = || ApiError::new(Code::MissingParameter).message(format!("`{name}` is required.")).param(name);
    value.ok_or_else(missing)
}

/// The alert rules.
///
/// Lists the rules with where each of them stands, newest first.
#[utoipa::path(
    get, path = "/api/v1/alerts", tag = "alerts", operation_id = "list_alerts",
    params(
        ("limit" = Option<i64>, Query, description = "Rows per page, 25 unless said; more than 100 is read as 100.", minimum = 1, example = 25),
        ("cursor" = Option<i64>, Query, description = "`next_cursor` of the page before.", minimum = 1),
    ),
    responses((status = 200, description = "A page of rules.", body = List<RuleBody>)),
    security(("api_key" = ["read"]))
)]
pub async fn list(caller: Caller, mut query: Query, state: web::Data<State>) -> Result<Reply, ApiError> {
    let page = query.page(25, 100)?;
    let warnings = query.finish()?;
    let found = state.alerts.page(caller.account(), page).await?;
    Reply::found(&List::new(page, found, RuleBody::from, warnings))
}

/// Create an alert rule.
///
/// Creates a rule that is evaluated within minutes and fires `alert.fired` when its metric crosses the threshold.
#[utoipa::path(
    post, path = "/api/v1/alerts", tag = "alerts", operation_id = "create_alert",
    request_body(content = CreateRequest, content_type = "application/json"),
    responses((status = 200, description = "The rule.", body = OneBody)),
    security(("api_key" = ["write"]))
)]
pub async fn create(
    caller: Caller,
    query: Query,
    request: HttpRequest,
    upload: Upload,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let idempotency = upload.idempotency(&request)?;
    let mut fields = upload.fields(Accepts::Json)?;
    let Change { name, metric, comparator, threshold, window_hours, severity, cooldown_hours, active } =
        given(&mut fields)?;
    let warnings = fields.finish(query.finish()?)?;
    let wanted = Wanted {
        name: required(name, "name")?,
        metric: required(metric, "metric")?,
        comparator: required(comparator, "comparator")?,
        threshold: required(threshold, "threshold")?,
        window_hours: required(window_hours, "window_hours")?,
        severity: severity.unwrap_or(Severity::Medium),
        cooldown_hours: cooldown_hours.unwrap_or(DEFAULT_COOLDOWN_HOURS),
    };
    let terms = Terms::new(wanted)?;
    let (account, active) = (caller.account(), active.unwrap_or(true));
    let work = async move { state.alerts.create(account, terms, active, idempotency, (state.clock)()).await };
    let created = detached(work).await?;
    Ok(mark_replayed(Reply::done(&OneBody::new(created.value, warnings))?, created.replayed))
}

fn unknown() -> ApiError {
    ApiError::new(Code::NotFound).message("There is no such alert rule.")
}

/// One alert rule.
///
/// Shows a rule and where it stands.
#[utoipa::path(
    get, path = "/api/v1/alerts/{id}", tag = "alerts", operation_id = "get_alert",
    params(("id" = i64, Path, description = "The rule.", minimum = 1, example = 7)),
    responses((status = 200, description = "The rule.", body = OneBody)),
    security(("api_key" = ["read"]))
)]
pub async fn get(
    caller: Caller,
    query: Query,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let warnings = query.finish()?;
    let id = path::number(&request, "id").ok_or_else(unknown)?;
    let found = state.alerts.find(caller.account(), id).await?.ok_or_else(unknown)?;
    Reply::found(&OneBody::new(found, warnings))
}

/// Change an alert rule.
///
/// Changes what is sent and leaves the rest. A rule that watches something else from then on, or is switched on, is armed
/// again and forgets what it saw.
#[utoipa::path(
    patch, path = "/api/v1/alerts/{id}", tag = "alerts", operation_id = "change_alert",
    params(("id" = i64, Path, description = "The rule.", minimum = 1, example = 7)),
    request_body(content = ChangeRequest, content_type = "application/json"),
    responses((status = 200, description = "The rule as it is now.", body = OneBody)),
    security(("api_key" = ["write"]))
)]
pub async fn change(
    caller: Caller,
    query: Query,
    request: HttpRequest,
    upload: Upload,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let mut fields = upload.fields(Accepts::Json)?;
    let change = given(&mut fields)?;
    let warnings = fields.finish(query.finish()?)?;
    let id = path::number(&request, "id").ok_or_else(unknown)?;
    let account = caller.account();
    let work = async move { state.alerts.change(account, id, change, (state.clock)()).await };
    Reply::done(&OneBody::new(detached(work).await?, warnings))
}

/// What a deletion answers.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeletedAlertRule)]
pub struct DeletedBody {
    #[schema(example = true)]
    ok: bool,
}

/// Delete an alert rule.
///
/// Removes a rule for good.
#[utoipa::path(
    delete, path = "/api/v1/alerts/{id}", tag = "alerts", operation_id = "delete_alert",
    params(("id" = i64, Path, description = "The rule.", minimum = 1, example = 7)),
    responses((status = 200, description = "The rule is gone.", body = DeletedBody)),
    security(("api_key" = ["write"]))
)]
pub async fn delete(
    caller: Caller,
    query: Query,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    query.finish()?;
    let id = path::number(&request, "id").ok_or_else(unknown)?;
    let account = caller.account();
    let work = async move { state.alerts.delete(account, id).await };
    if detached(work).await? { Reply::done(&DeletedBody { ok: true }) } else { Err(unknown()) }
}

impl From<InvalidTerms> for ApiError {
    fn from(invalid: InvalidTerms) -> Self {
        Self::parameter(invalid.field(), &invalid.to_string())
    }
}

impl From<CreateError> for ApiError {
    fn from(error: CreateError) -> Self {
        match error {
            CreateError::LimitReached => Self::new(Code::AlertLimitReached),
            CreateError::Idempotency(error) => error.into(),
        }
    }
}

impl From<ChangeError> for ApiError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::NotFound => unknown(),
            ChangeError::Invalid(invalid) => invalid.into(),
            ChangeError::Store(error) => error.into(),
        }
    }
}
