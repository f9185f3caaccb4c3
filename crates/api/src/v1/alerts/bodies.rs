//! What a rule looks like on the wire, in both directions.

use domain::{
    alerts::{Change, Comparator, Rule, Standing},
    insights::Severity,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    body::{Field, Fields},
    error::{ApiError, Code},
    names,
    respond::{API_VERSION, Exact, Warnings, instant},
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
    pub fn new(rule: Rule, warnings: Warnings) -> Self {
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
    #[schema(schema_with = names::changed_comparator)]
    comparator: Option<Comparator>,
    #[schema(example = 3)]
    threshold: Option<f64>,
    #[schema(minimum = 1, maximum = 2160, example = 24)]
    window_hours: Option<i64>,
    #[schema(schema_with = names::changed_severity)]
    severity: Option<Severity>,
    #[schema(minimum = 0, maximum = 720, example = 1)]
    cooldown_hours: Option<i64>,
    #[schema(example = true)]
    active: Option<bool>,
}

/// What a deletion answers.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeletedAlertRule)]
pub struct DeletedBody {
    #[schema(example = true)]
    pub ok: bool,
}

/// The fields of a rule that are there.
pub(super) fn given(fields: &mut Fields) -> Result<Change, ApiError> {
    let bad = Code::InvalidParameter;
    let unknown = |name: &'static str| move |unknown| ApiError::unknown_value(name, &unknown);
    let metric = fields.text("metric", bad)?.map(|text| text.parse().map_err(unknown("metric")));
    let comparator = fields.text("comparator", bad)?.map(|text| text.parse().map_err(unknown("comparator")));
    let severity = fields.text("severity", bad)?.map(|text| text.parse().map_err(unknown("severity")));
    let hours = |field: Field| field.integer(i64::MIN, i64::MAX);
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

/// The value of a field that has to be there.
pub(super) fn required<T>(value: Option<T>, name: &'static str) -> Result<T, ApiError> {
    let missing = || ApiError::new(Code::MissingParameter).message(format!("`{name}` is required.")).param(name);
    value.ok_or_else(missing)
}
