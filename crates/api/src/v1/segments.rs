//! `GET /api/v1/customers/segments`: the customers by recency, frequency and spend.

use actix_web::web;
use domain::{
    customers::{ACTIVE_DAYS, Segment, SegmentFigures, SegmentTotals},
    freshness::Dated,
    money::Currency,
};
use rust_decimal::Decimal;
use serde::Serialize;
use time::Duration;
use utoipa::ToSchema;

use crate::{
    as_of::{AsOfParams, Results},
    auth::Caller,
    error::{ApiError, Code},
    freshness::FreshnessBody,
    names,
    query::Query,
    respond::{API_VERSION, JsonDecimal, Reply, Warnings},
    state::State,
    warnings::Warning,
};

/// The customers of a segment together.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CustomerSegment)]
struct SegmentBody {
    #[schema(schema_with = names::segment)]
    segment: Segment,
    #[schema(example = 120)]
    customers: i64,
    /// Part of all customers; null without any.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1, example = 0.24)]
    share: Option<JsonDecimal>,
    /// Customers who bought in the last 90 days.
    #[schema(example = 96)]
    active: i64,
    #[schema(example = 840)]
    orders_count: i64,
    /// Sum of all orders less refunds, in the account's currency.
    #[schema(value_type = f64, example = 148140.00)]
    revenue_total: JsonDecimal,
    /// Part of the revenue of all customers; null without any.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1, example = 0.61)]
    revenue_share: Option<JsonDecimal>,
    /// Mean of the customers' `ltv_estimate`: net revenue expected of the next 52 weeks; null without customers.
    #[schema(value_type = Option<f64>, example = 2100.00)]
    avg_ltv_estimate: Option<JsonDecimal>,
    /// Mean probability that no purchase follows in the next 90 days; null where nobody has bought yet.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1, example = 0.12)]
    avg_churn_score: Option<JsonDecimal>,
}

/// Sums over all segments.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CustomerSegmentTotals)]
struct TotalsBody {
    #[schema(example = 500)]
    customers: i64,
    #[schema(example = 210)]
    active: i64,
    #[schema(example = 1730)]
    orders_count: i64,
    #[schema(value_type = f64, example = 242852.46)]
    revenue_total: JsonDecimal,
}

/// The customers whose `churn_score` is in a part of its scale.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChurnPart)]
struct ChurnPartBody {
    #[schema(value_type = f64, minimum = 0, maximum = 1, example = 0.9)]
    from: JsonDecimal,
    /// Not in the part itself, but for 1.
    #[schema(value_type = f64, minimum = 0, maximum = 1, example = 1)]
    to: JsonDecimal,
    #[schema(example = 74)]
    customers: i64,
}

/// Every segment, those without customers as well.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CustomerSegments)]
pub struct Body {
    data: Vec<SegmentBody>,
    totals: TotalsBody,
    /// The customers of all segments who have a `churn_score`, by its ten parts of the same width.
    churn_histogram: Vec<ChurnPartBody>,
    freshness: FreshnessBody,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl SegmentBody {
    fn new(figures: &SegmentFigures, totals: &SegmentTotals, currency: Currency) -> Self {
        let SegmentFigures {
            segment,
            customers,
            active,
            orders_count,
            revenue_total,
            ltv_estimate: _,
            scored: _,
            churn_score: _,
            churn_parts: _,
        } = *figures;
        Self {
            segment,
            customers,
            share: totals.share_of_customers(figures).map(JsonDecimal::ratio),
            active,
            orders_count,
            revenue_total: JsonDecimal::money(revenue_total, currency),
            revenue_share: totals.share_of_revenue(figures).map(JsonDecimal::ratio),
            avg_ltv_estimate: figures.avg_ltv_estimate().map(|amount| JsonDecimal::money(amount, currency)),
            avg_churn_score: figures.avg_churn_score().map(JsonDecimal::ratio),
        }
    }
}

impl TotalsBody {
    fn new(totals: SegmentTotals, currency: Currency) -> Self {
        let SegmentTotals { customers, active, orders_count, revenue_total, churn_parts: _ } = totals;
        Self { customers, active, orders_count, revenue_total: JsonDecimal::money(revenue_total, currency) }
    }
}

impl ChurnPartBody {
    fn new((from, to, customers): (Decimal, Decimal, i64)) -> Self {
        Self { from: JsonDecimal::ratio(from), to: JsonDecimal::ratio(to), customers }
    }
}

/// Customers by segment.
///
/// Sums up the customers of each of the nine segments by recency, frequency and spend. Every customer is in exactly one of
/// them, and a segment without customers is listed with zeros. Without any customers, or any revenue, the shares are null.
#[utoipa::path(
    get, path = "/api/v1/customers/segments", tag = "customers", operation_id = "list_segments",
    params(AsOfParams),
    responses((status = 200, description = "The nine segments.", body = Body)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])))
)]
pub async fn get(caller: Caller, query: Query<AsOfParams>, state: web::Data<State>) -> Result<Reply, ApiError> {
    let Query { params: AsOfParams { as_of }, warnings } = query;
    let Results { account, now } = Results::of(&caller, as_of, &state).await?;
    let active_since = now - Duration::days(ACTIVE_DAYS);
    let Dated { found, freshness } = state.customers.segments(account, active_since).await?;
    let (totals, currency) = (SegmentTotals::of(&found), caller.currency());
    let churn_histogram = totals.churn_histogram().map(ChurnPartBody::new).collect();
    Reply::found(&Body {
        data: found.iter().map(|figures| SegmentBody::new(figures, &totals, currency)).collect(),
        totals: TotalsBody::new(totals, currency),
        churn_histogram,
        freshness: FreshnessBody::new(freshness, caller.zone(), now),
        api_version: API_VERSION,
        warnings,
    })
}
