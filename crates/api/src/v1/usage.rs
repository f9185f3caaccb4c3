//! `GET /api/v1/usage`: what the credits went for.

use actix_web::web;
use domain::{
    credits::LOW_BALANCE,
    usage::{AiAccess, FeatureUse, Figures, Period, PeriodUse, Usage, UsageRead, first_day, sum_up},
};
use serde::Serialize;
use time::Date;
use utoipa::ToSchema;

use crate::{
    auth::Caller,
    error::ApiError,
    openapi::names,
    query::{Query, Warning},
    respond::{API_VERSION, Exact, Reply, Warnings, date, instant},
    state::State,
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
    /// Three periods that end today, days of the account's time zone.
    periods: Vec<PeriodBody>,
    /// The last 90 days, the oldest first.
    daily: Vec<DayBody>,
    limits: LimitsBody,
    ai_access: AccessBody,
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
    change_pct: Option<Exact>,
    /// The dearest first.
    by_feature: Vec<FeatureBody>,
}

/// A feature's part.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FeatureUsage)]
struct FeatureBody {
    #[schema(example = "insight_wording")]
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

/// What the account is held to.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UsageLimits)]
struct LimitsBody {
    /// A debit that leaves less sends `credits.low`.
    #[schema(example = 100)]
    low_balance: i64,
    #[schema(example = 60)]
    requests_per_minute: u32,
}

/// Whether AI features may be used.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AiAccess)]
struct AccessBody {
    paused: bool,
    #[schema(format = DateTime)]
    paused_at: Option<String>,
    reason: Option<String>,
}

impl From<AiAccess> for AccessBody {
    fn from(access: AiAccess) -> Self {
        let AiAccess { paused_at, reason } = access;
        Self { paused: paused_at.is_some(), paused_at: paused_at.map(instant), reason }
    }
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
            change_pct: change_pct.map(Exact::percent),
            by_feature: by_feature.into_iter().map(feature).collect(),
        }
    }
}

/// Usage.
///
/// Breaks down what the credits went for: by period, feature and day. The sums are those of the ledger.
#[utoipa::path(
    get, path = "/api/v1/usage", tag = "account", operation_id = "get_usage",
    responses((status = 200, description = "What the credits went for.", body = Body)),
    security(("api_key" = ["read"]))
)]
pub async fn get(caller: Caller, query: Query, state: web::Data<State>) -> Result<Reply, ApiError> {
    let warnings = query.finish()?;
    let today = caller.zone().day_of((state.clock)());
    let read = state.usage.read(caller.account(), caller.zone(), first_day(today)).await?;
    let UsageRead { balance, access, days } = read;
    let Usage { periods, daily } = sum_up(&days, today);
    let day = |(day, figures): (Date, Figures)| DayBody { date: date(day), figures: figures.into() };
    Reply::found(&Body {
        user_id: caller.key().user_id.to_string(),
        balance,
        periods: periods.into_iter().map(Into::into).collect(),
        daily: daily.into_iter().map(day).collect(),
        limits: LimitsBody { low_balance: LOW_BALANCE, requests_per_minute: state.settings.rate_limit_per_minute },
        ai_access: access.into(),
        api_version: API_VERSION,
        warnings,
    })
}
