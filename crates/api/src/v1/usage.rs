//! `GET /api/v1/usage`: what the credits went for.

use actix_web::web;
use domain::{
    ai::{AccessStatus, Limits, MonthlyCost, Pause},
    credits::{LOW_BALANCE, runway::days_left},
    events::ActorKind,
    usage::{FeatureUse, Figures, Period, PeriodUse, Usage, UsageRead, sum_up},
};
use serde::Serialize;
use time::Date;
use utoipa::ToSchema;

use crate::{
    auth::Caller,
    error::ApiError,
    names,
    query::{NoParams, Query},
    respond::{API_VERSION, JsonDecimal, Reply, Warnings, date, instant},
    state::State,
    warnings::Warning,
};

/// What the credits went for.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Usage)]
pub struct Body {
    #[schema(example = "user_3kTq9ZxW1mB7LfR0uYcVa2Hd")]
    user_id: String,
    /// Credits now.
    #[schema(example = 420)]
    balance: i64,
    runway: RunwayBody,
    /// Three periods that end today, days of the account's time zone.
    periods: Vec<PeriodBody>,
    /// The last 90 days, the oldest first.
    daily: Vec<DayBody>,
    limits: LimitsBody,
    ai_access: AccessBody,
    ai_cost: CostBody,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Sums over debits and refunds. A refund counts on its own day.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UsageFigures)]
struct FiguresBody {
    /// Credits taken.
    #[schema(example = 120)]
    consumed: i64,
    /// Credits given back.
    #[schema(example = 20)]
    refunded: i64,
    /// Credits taken less credits given back.
    #[schema(example = 100)]
    spent: i64,
    #[schema(example = 12)]
    debits: i64,
    #[schema(example = 2)]
    refunds: i64,
}

impl From<Figures> for FiguresBody {
    fn from(figures: Figures) -> Self {
        let spent = figures.spent();
        let Figures { consumed, refunded, debits, refunds } = figures;
        Self { consumed, refunded, spent, debits, refunds }
    }
}

/// A period beside the one before it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UsagePeriod)]
struct PeriodBody {
    #[schema(schema_with = names::usage_period)]
    period: Period,
    #[schema(format = Date, example = "2026-04-26")]
    from: String,
    #[schema(format = Date, example = "2026-05-02")]
    to: String,
    #[serde(flatten)]
    figures: FiguresBody,
    /// What was spent in as many days before `from`.
    #[schema(example = 80)]
    previous_spent: i64,
    /// Percent by which spending changed; null when nothing was spent before.
    #[schema(value_type = Option<f64>, example = 25.0)]
    change_pct: Option<JsonDecimal>,
    /// The dearest first.
    by_feature: Vec<FeatureBody>,
}

/// A feature's part.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FeatureUsage)]
struct FeatureBody {
    #[schema(example = "insight_generation")]
    feature: String,
    #[serde(flatten)]
    figures: FiguresBody,
}

/// A day of the account's time zone.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UsageDay)]
struct DayBody {
    #[schema(format = Date, example = "2026-05-02")]
    date: String,
    #[serde(flatten)]
    figures: FiguresBody,
}

/// How long the credits last at the pace of the last 14 days.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Runway)]
struct RunwayBody {
    /// Credits taken less credits given back in the last 14 days of 24 hours.
    #[schema(example = 98)]
    used_14d: i64,
    /// Days, with one decimal; null when nothing was used.
    #[schema(value_type = Option<f64>, example = 60.0)]
    days_left: Option<JsonDecimal>,
}

/// What the account is held to.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UsageLimits)]
struct LimitsBody {
    /// A debit that leaves less sends `credits.low`.
    #[schema(example = 100)]
    low_balance: i64,
    #[schema(example = 60)]
    requests_per_minute: u32,
    /// `ai_cost.cost_usd` from which on `usage.threshold_crossed` is sent with the severity `warning`.
    #[schema(value_type = f64, example = 20)]
    ai_warning_usd: JsonDecimal,
    /// The same for `critical`.
    #[schema(value_type = f64, example = 50)]
    ai_critical_usd: JsonDecimal,
    /// Whether AI features are paused at the critical cost.
    #[schema(example = true)]
    ai_auto_pause: bool,
}

impl LimitsBody {
    fn new(requests_per_minute: u32, limits: Limits) -> Self {
        let Limits { warning_usd, critical_usd, auto_pause } = limits;
        Self {
            low_balance: LOW_BALANCE,
            requests_per_minute,
            ai_warning_usd: JsonDecimal(warning_usd),
            ai_critical_usd: JsonDecimal(critical_usd),
            ai_auto_pause: auto_pause,
        }
    }
}

/// Whether AI features may be used. The other fields are null unless they are paused.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = AiAccess)]
struct AccessBody {
    paused: bool,
    #[schema(format = DateTime)]
    paused_at: Option<String>,
    reason: Option<String>,
    #[schema(schema_with = names::pauser)]
    by_kind: Option<ActorKind>,
}

impl From<Option<Pause>> for AccessBody {
    fn from(pause: Option<Pause>) -> Self {
        let Some(Pause { at, reason, by: _, by_kind }) = pause else { return Self::default() };
        Self { paused: true, paused_at: Some(instant(at)), reason: Some(reason), by_kind: Some(by_kind) }
    }
}

/// What AI providers were paid for the user this month, over the live and the sandbox account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AiCost)]
struct CostBody {
    /// Calendar month in UTC.
    #[schema(example = "2026-05")]
    month: String,
    #[schema(value_type = f64, example = 3.0215)]
    cost_usd: JsonDecimal,
    #[schema(example = 81200)]
    tokens: i64,
    /// Calls of a provider.
    #[schema(example = 31)]
    requests: i64,
}

impl From<PeriodUse> for PeriodBody {
    fn from(used: PeriodUse) -> Self {
        let PeriodUse { period, first, last, figures, previous, change_pct, by_feature } = used;
        let feature = |used| {
            let FeatureUse { feature, figures } = used;
            FeatureBody { feature, figures: figures.into() }
        };
        Self {
            period,
            from: date(first),
            to: date(last),
            figures: figures.into(),
            previous_spent: previous.spent(),
            change_pct: change_pct.map(JsonDecimal::percent),
            by_feature: by_feature.into_iter().map(feature).collect(),
        }
    }
}

/// Usage.
///
/// Breaks down what the credits went for: by period, feature and day. The sums are those of the ledger. Says as well what
/// AI has cost this month, from which cost on it is paused, and whether it is.
#[utoipa::path(
    get, path = "/api/v1/usage", tag = "account", operation_id = "get_usage",
    responses((status = 200, description = "What the credits went for.", body = Body)),
    security(("api_key" = ["read"]))
)]
pub async fn get(caller: Caller, query: Query<NoParams>, state: web::Data<State>) -> Result<Reply, ApiError> {
    let warnings = query.warnings;
    let now = (state.clock)();
    let today = caller.zone().day_of(now);
    let UsageRead { balance, used_lately, days } = state.usage.read(caller.account(), caller.zone(), now).await?;
    let status = state.ai_access.status(caller.account(), now).await?;
    let AccessStatus { pause, limits, month, cost: MonthlyCost { cost_usd, tokens, requests } } =
        status.ok_or_else(|| ApiError::internal(&"the account of a key is gone"))?;
    let Usage { periods, daily } = sum_up(&days, today);
    let day = |(day, figures): (Date, Figures)| DayBody { date: date(day), figures: figures.into() };
    Reply::found(&Body {
        user_id: caller.user().to_string(),
        balance,
        runway: RunwayBody {
            used_14d: used_lately,
            days_left: days_left(balance, used_lately).map(|days| JsonDecimal::rounded(days, 1)),
        },
        periods: periods.into_iter().map(Into::into).collect(),
        daily: daily.into_iter().map(day).collect(),
        limits: LimitsBody::new(state.settings.rate_limit_per_minute, limits),
        ai_access: pause.into(),
        ai_cost: CostBody { month: month.to_string(), cost_usd: JsonDecimal(cost_usd), tokens, requests },
        api_version: API_VERSION,
        warnings,
    })
}
