//! `GET /api/v1/risks`: what may go wrong within a month, and what it would cost.

use actix_web::web;
use domain::{
    insights::Severity,
    language::Language,
    money::Currency,
    risks::{Action, Evidence, Exposure, Filter, Finding, HORIZON_DAYS, Kind, Links, Listing, Measure, Risk, Summary},
    texts::Texts,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema, openapi::schema::Object};
use validator::Validate;

use crate::{
    as_of::{AsOf, Results},
    auth::Caller,
    error::{ApiError, Code},
    freshness::FreshnessBody,
    input::Input,
    language::Accepted,
    names,
    query::{Limit, Query},
    respond::{API_VERSION, JsonDecimal, Pagination, Reply, Warnings, instant, round4},
    state::State,
    warnings::Warning,
};

fn kind() -> Object {
    names::one_of(Kind::NAMES)
}

fn metric() -> Object {
    names::one_of(Measure::NAMES)
}

fn action() -> Object {
    names::one_of_or_null(Action::NAMES)
}

/// Something that may go wrong within 30 days.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Risk)]
struct RiskBody {
    /// Type and subject; the same as long as the risk lasts.
    #[schema(example = "stockout:SKU-9")]
    id: String,
    #[schema(schema_with = kind)]
    r#type: Kind,
    #[schema(schema_with = names::severity)]
    severity: Severity,
    #[schema(example = "SKU-9 runs out in about 4 days")]
    title: String,
    /// Null where it is not known.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1, example = 0.82)]
    likelihood: Option<JsonDecimal>,
    /// Null where there is no amount: because there is none to lose, or because unit costs are unknown.
    exposure: Option<ExposureBody>,
    /// The account's currency; null without an amount.
    #[schema(example = "USD")]
    currency: Option<String>,
    #[schema(example = 30)]
    horizon_days: i64,
    evidence: Vec<EvidenceBody>,
    #[schema(example = json!(["half of the lost demand may move to another product in the low case"]))]
    assumptions: Vec<String>,
    links: LinksBody,
    #[schema(schema_with = action)]
    recommended_action: Option<Action>,
    /// When it was first found.
    #[schema(format = DateTime, example = "2026-11-17T03:00:00Z")]
    detected_at: String,
    /// When it was last found; one that is found no more is listed for two days.
    #[schema(format = DateTime, example = "2026-11-20T03:00:00Z")]
    last_seen_at: String,
}

impl RiskBody {
    fn new(risk: Risk, in_currency: Currency, texts: &Texts) -> Self {
        let Risk { number: _, found, detected_at, last_seen_at } = risk;
        let (id, title, assumptions) = (found.id(), found.title(texts), found.assumed(texts));
        let Finding {
            kind,
            subject: _,
            label: _,
            severity,
            likelihood,
            exposure,
            lacks_costs: _,
            evidence,
            assumptions: _,
            action,
            links,
        } = found;
        Self {
            id,
            r#type: kind,
            severity,
            title,
            likelihood: likelihood.map(JsonDecimal::ratio),
            exposure: exposure.map(|exposure| ExposureBody::new(exposure, in_currency)),
            currency: exposure.map(|_| in_currency.to_string()),
            horizon_days: HORIZON_DAYS,
            evidence: evidence.into_iter().map(Into::into).collect(),
            assumptions,
            links: links.into(),
            recommended_action: action,
            detected_at: instant(detected_at),
            last_seen_at: instant(last_seen_at),
        }
    }
}

/// Contribution (price less unit cost, fees and shipping) that may be lost. Risks overlap: amounts are not to be added up.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RiskExposure)]
struct ExposureBody {
    /// Lost less than this with a probability of 20 %.
    #[schema(value_type = Option<f64>, example = 410.00)]
    low: Option<JsonDecimal>,
    /// The mean.
    #[schema(value_type = Option<f64>, example = 1240.50)]
    expected: Option<JsonDecimal>,
    /// Lost more than this with a probability of 20 %.
    #[schema(value_type = Option<f64>, example = 1890.00)]
    high: Option<JsonDecimal>,
}

impl ExposureBody {
    fn new(exposure: Exposure, currency: Currency) -> Self {
        let Exposure { low, expected, high } = exposure;
        let money = |amount| JsonDecimal::money(amount, currency);
        Self { low: low.map(money), expected: expected.map(money), high: high.map(money) }
    }
}

/// A figure that a risk was found by.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RiskEvidence)]
struct EvidenceBody {
    #[schema(schema_with = metric)]
    metric: Measure,
    #[schema(example = 4.1)]
    value: Option<f64>,
    /// What the value is held against; null for a figure that only explains.
    #[schema(example = 7.0)]
    threshold: Option<f64>,
    #[schema(example = "days")]
    unit: String,
}

impl From<Evidence> for EvidenceBody {
    fn from(evidence: Evidence) -> Self {
        let Evidence { metric, value, threshold } = evidence;
        Self { metric, value: value.map(round4), threshold: threshold.map(round4), unit: metric.unit().to_string() }
    }
}

/// What a risk is about; null what it is not.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RiskLinks)]
struct LinksBody {
    #[schema(example = "SKU-9")]
    sku: Option<String>,
    /// The insight on the same situation that was open when the risk was last found.
    #[schema(example = 31)]
    insight_id: Option<i64>,
    customer_id: Option<i64>,
    integration_id: Option<i64>,
    webhook_id: Option<i64>,
}

impl From<Links> for LinksBody {
    fn from(links: Links) -> Self {
        let Links { sku, insight_id, customer_id, integration_id, webhook_id } = links;
        Self {
            sku,
            insight_id: insight_id.map(|id| id.0),
            customer_id: customer_id.map(|id| id.0),
            integration_id: integration_id.map(|id| id.0),
            webhook_id: webhook_id.map(|id| id.0),
        }
    }
}

/// Over all risks, whatever the filter.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RiskSummary)]
struct SummaryBody {
    total: i64,
    by_severity: BySeverity,
    /// Null without an amount.
    #[schema(value_type = Option<f64>, example = 1240.50)]
    largest_expected: Option<JsonDecimal>,
    /// Always: one loss may be seen by several risks, so that their sum is no loss of anything.
    overlapping: bool,
}

/// How many risks there are of each severity.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RisksBySeverity)]
struct BySeverity {
    low: i64,
    medium: i64,
    high: i64,
    critical: i64,
}

impl SummaryBody {
    fn new(summary: Summary, currency: Currency) -> Self {
        let Summary { low, medium, high, critical, largest_expected, lack_costs: _ } = summary;
        Self {
            total: summary.total(),
            by_severity: BySeverity { low, medium, high, critical },
            largest_expected: largest_expected.map(|amount| JsonDecimal::money(amount, currency)),
            overlapping: true,
        }
    }
}

/// A page of risks.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Risks)]
pub struct Body {
    data: Vec<RiskBody>,
    summary: SummaryBody,
    freshness: FreshnessBody,
    pagination: Pagination,
    /// When the risks were last assessed; null before that.
    #[schema(format = DateTime, example = "2026-11-20T03:00:00Z")]
    generated_at: Option<String>,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Which risks to list.
#[derive(Deserialize, Validate, IntoParams)]
pub struct ListParams {
    /// What may go wrong.
    #[param(schema_with = kind, inline, required = false)]
    r#type: Option<Kind>,
    /// `low`, `medium`, `high` or `critical`.
    #[param(value_type = names::SeverityName, inline, required = false)]
    severity: Option<Severity>,
    #[param(value_type = names::LanguageName, inline, required = false)]
    lang: Option<Language>,
    #[validate(nested)]
    #[param(inline, required = false)]
    limit: Limit<25, 100>,
    /// `next_cursor` of the page before.
    #[param(minimum = 1)]
    cursor: Option<i64>,
    #[param(inline, required = false)]
    as_of: Option<AsOf>,
}

impl Input for ListParams {}

/// What may go wrong within 30 days, and what it would cost.
///
/// Lists the risks, the most severe first, then by what is expected to be lost, unknown amounts last.
#[utoipa::path(
    get, path = "/api/v1/risks", tag = "insights", operation_id = "list_risks",
    params(ListParams),
    responses((status = 200, description = "A page of risks.", body = Body)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])), ("x-since" = json!("2026-12")))
)]
pub async fn get(
    caller: Caller,
    accepted: Accepted,
    query: Query<ListParams>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let Query { params: ListParams { r#type: kind, severity, lang, limit, cursor, as_of }, mut warnings } = query;
    let Results { account, now } = Results::of(&caller, as_of, &state).await?;
    let (page, currency) = (limit.page(cursor), caller.currency());
    let texts = accepted.texts(lang, &caller, (state.clock)());
    let Listing { page: found, summary, freshness } =
        state.risks.list(account, Filter { kind, severity }, page).await?;
    if summary.lack_costs > 0 {
        warnings.push(Warning::about("costs_missing", "exposure"));
    }
    let body = Body {
        pagination: Pagination::new(page, &found),
        data: found.items.into_iter().map(|risk| RiskBody::new(risk, currency, &texts)).collect(),
        summary: SummaryBody::new(summary, currency),
        generated_at: freshness.as_of.map(instant),
        freshness: FreshnessBody::new(freshness, caller.zone(), now),
        api_version: API_VERSION,
        warnings,
    };
    Ok(Reply::found(&body)?.in_language(&texts))
}
