//! `GET /api/v1/insights`: what a person should know or do.

use actix_web::web;
use domain::{
    freshness::Dated,
    insights::{Category, Filter, Insight, Severity, Status},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::Caller,
    error::ApiError,
    freshness::{DatedList, FreshnessBody},
    openapi::names,
    query::Query,
    respond::{List, Reply, instant},
    state::State,
};

/// Something to know or to do, in words.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Insight)]
pub struct InsightBody {
    #[schema(example = 318)]
    id: i64,
    #[schema(schema_with = names::severity)]
    severity: Severity,
    #[schema(schema_with = names::category)]
    category: Category,
    #[schema(example = "Ad spend rose faster than revenue")]
    title: String,
    #[schema(example = "Ad spend was 41 % above the week before while gross revenue rose by 3 %.")]
    body: String,
    #[schema(example = "Lower the budget of the two campaigns that cost more than they bring.")]
    suggested_action: String,
    #[schema(example = "About 120.00 a day")]
    impact_estimate: String,
    #[schema(schema_with = names::insight_status)]
    status: Status,
    #[schema(format = DateTime, example = "2026-05-02T05:00:00Z")]
    computed_at: String,
    #[schema(format = DateTime)]
    resolved_at: Option<String>,
    /// Who worded it: `rules`, or the language model that did.
    #[schema(example = "rules")]
    source: String,
}

impl From<Insight> for InsightBody {
    fn from(insight: Insight) -> Self {
        let Insight {
            id,
            severity,
            category,
            title,
            body,
            suggested_action,
            impact_estimate,
            status,
            source,
            computed_at,
            resolved_at,
        } = insight;
        Self {
            id,
            severity,
            category,
            title,
            body,
            suggested_action,
            impact_estimate,
            status,
            computed_at: instant(computed_at),
            resolved_at: resolved_at.map(instant),
            source,
        }
    }
}

/// What to know and what to do.
///
/// Lists the insights, newest first.
#[utoipa::path(
    get, path = "/api/v1/insights", tag = "analytics", operation_id = "list_insights",
    params(
        ("status" = Option<String>, Query, description = "`open`, `resolved` or `dismissed`."),
        ("severity" = Option<String>, Query, description = "`low`, `medium`, `high` or `critical`."),
        ("category" = Option<String>, Query, description = "`ads`, `churn_risk`, `inventory`, `profit`, `revenue`, `customers`, `pricing` or `integrations`."),
        ("limit" = Option<i64>, Query, description = "Rows per page, 25 unless said; more than 100 is read as 100.", minimum = 1, example = 25),
        ("cursor" = Option<i64>, Query, description = "`next_cursor` of the page before.", minimum = 1),
    ),
    responses((status = 200, description = "A page of insights.", body = DatedList<InsightBody>)),
    security(("api_key" = ["read"]))
)]
pub async fn get(caller: Caller, mut query: Query, state: web::Data<State>) -> Result<Reply, ApiError> {
    let filter = Filter {
        status: query.one_of("status")?,
        severity: query.one_of("severity")?,
        category: query.one_of("category")?,
    };
    let page = query.page(25, 100)?;
    let warnings = query.finish()?;
    let Dated { found, freshness } = state.insights.page(caller.account(), filter, page).await?;
    let freshness = FreshnessBody::new(freshness, caller.zone());
    Reply::found(&DatedList::new(List::new(page, found, InsightBody::from, warnings), freshness))
}
