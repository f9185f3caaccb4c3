//! What a rule looks like on the wire, in both directions.

use domain::{
    alerts::{
        Change, Comparator, DEFAULT_COOLDOWN_HOURS, InvalidTerms, Rule, RuleState, Terms, UncheckedTerms, Watched,
    },
    error::UnknownValue,
    insights::Severity,
};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use utoipa::ToSchema;
use validator::Validate;

use crate::{
    input::{Input, Number},
    names,
    respond::{API_VERSION, JsonDecimal, Warnings, instant},
    warnings::Warning,
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
    threshold: JsonDecimal,
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
    last_value: Option<JsonDecimal>,
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
        let Rule { id, terms, active, state, last_evaluated_at, created_at, updated_at } = rule;
        let RuleState { armed, last_value, last_fired_at } = state;
        Self {
            id: id.0,
            name: terms.name().to_owned(),
            metric: terms.metric().to_string(),
            comparator: terms.comparator(),
            threshold: JsonDecimal(terms.threshold()),
            window_hours: terms.window_hours(),
            severity: terms.severity(),
            cooldown_hours: terms.cooldown_hours(),
            active,
            armed,
            last_value: last_value.map(|value| JsonDecimal(value.normalize())),
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
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl OneBody {
    pub fn new(rule: Rule, warnings: Warnings) -> Self {
        Self { rule: rule.into(), api_version: API_VERSION, warnings }
    }
}

/// A rule to be created.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = NewAlertRule)]
pub struct CreateRequest {
    /// 1 to 120 characters.
    #[schema(
        min_length = 1,
        max_length = 120,
        pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$",
        example = "Fewer than 5 orders a day"
    )]
    name: String,
    /// `revenue`, `orders`, `refunds`, `aov`, `ad_spend`, `roas`, `profit`, `margin`, `stockouts` or `event:` and the name of
    /// a tracked event.
    #[schema(value_type = String, pattern = "^(revenue|orders|refunds|aov|ad_spend|roas|profit|margin|stockouts|event:[a-zA-Z0-9._-]{1,64})$", example = "orders")]
    metric: MetricName,
    #[schema(schema_with = names::comparator)]
    comparator: Comparator,
    /// Smaller than 10^12 in size, with at most 6 decimals.
    #[schema(value_type = f64, exclusive_minimum = -1e12, exclusive_maximum = 1e12, multiple_of = 0.000001, example = 5)]
    threshold: Number,
    /// Any number of hours up to 2160 for what has an instant (168 for events); a multiple of 24 for `ad_spend`, `roas`,
    /// `profit` and `margin`, which are known per day; 24 for `stockouts`.
    #[schema(minimum = 1, maximum = 2160, example = 24)]
    window_hours: i64,
    #[schema(schema_with = names::changed_severity)]
    severity: Option<Severity>,
    #[schema(minimum = 0, maximum = 720, default = 1, example = 1)]
    cooldown_hours: Option<i64>,
    #[schema(default = true, example = true)]
    active: Option<bool>,
}

impl Input for CreateRequest {}

/// What to change about a rule. Fields that are left out stay as they are.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = AlertRuleChange)]
pub struct ChangeRequest {
    #[schema(
        min_length = 1,
        max_length = 120,
        pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$",
        example = "Fewer than 3 orders a day"
    )]
    name: Option<String>,
    #[schema(value_type = Option<String>, pattern = "^(revenue|orders|refunds|aov|ad_spend|roas|profit|margin|stockouts|event:[a-zA-Z0-9._-]{1,64})$", example = "orders")]
    metric: Option<MetricName>,
    #[schema(schema_with = names::changed_comparator)]
    comparator: Option<Comparator>,
    #[schema(value_type = Option<f64>, exclusive_minimum = -1e12, exclusive_maximum = 1e12, multiple_of = 0.000001, example = 3)]
    threshold: Option<Number>,
    #[schema(minimum = 1, maximum = 2160, example = 24)]
    window_hours: Option<i64>,
    #[schema(schema_with = names::changed_severity)]
    severity: Option<Severity>,
    #[schema(minimum = 0, maximum = 720, example = 1)]
    cooldown_hours: Option<i64>,
    #[schema(example = true)]
    active: Option<bool>,
}

impl Input for ChangeRequest {}

/// What a rule watches.
#[derive(Debug)]
pub struct MetricName(pub Watched);

impl<'de> Deserialize<'de> for MetricName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(|unknown: UnknownValue| D::Error::unknown_variant(&text, unknown.allowed))
    }
}

impl From<ChangeRequest> for Change {
    fn from(request: ChangeRequest) -> Self {
        let ChangeRequest { name, metric, comparator, threshold, window_hours, severity, cooldown_hours, active } =
            request;
        Self {
            name,
            metric: metric.map(|metric| metric.0),
            comparator,
            threshold: threshold.map(|number| number.0),
            window_hours,
            severity,
            cooldown_hours,
            active,
        }
    }
}

impl CreateRequest {
    /// The terms of the rule, and whether it is to be evaluated.
    pub fn terms(self) -> Result<(Terms, bool), InvalidTerms> {
        let Self { name, metric, comparator, threshold, window_hours, severity, cooldown_hours, active } = self;
        let terms = Terms::new(UncheckedTerms {
            name,
            metric: metric.0,
            comparator,
            threshold: threshold.0,
            window_hours,
            severity: severity.unwrap_or(Severity::Medium),
            cooldown_hours: cooldown_hours.unwrap_or(DEFAULT_COOLDOWN_HOURS),
        })?;
        Ok((terms, active.unwrap_or(true)))
    }
}
