//! `/api/v1/insights`: what a person should know or do, and what was decided on it.

use actix_web::{HttpRequest, web};
use domain::{
    freshness::Dated,
    insights::{Category, DecideError, Filter, Insight, Severity, Source, Status},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::Caller,
    body::{Accepts, Upload},
    error::{ApiError, Code},
    freshness::{DatedList, FreshnessBody},
    names, path,
    query::Query,
    respond::{API_VERSION, List, Reply, Warnings, instant},
    state::State,
    write::detached,
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
    /// Who wrote the texts: the rules, or a language model whose every number was checked.
    #[schema(schema_with = names::insight_source)]
    source: Source,
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

/// What was decided on an insight. Unknown fields are ignored and listed in `warnings`.
#[derive(ToSchema)]
#[schema(as = InsightChange)]
#[expect(dead_code, reason = "describes the body; the field is taken by name")]
pub struct Change {
    #[schema(schema_with = names::insight_status)]
    status: Status,
}

/// An insight as it is after a change.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangedInsight)]
pub struct ChangedBody {
    #[serde(flatten)]
    insight: InsightBody,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Warnings,
}

/// Decide on an insight.
///
/// Marks an open insight as resolved or dismissed, or opens it again. One end does not turn into the other directly, and
/// nothing is opened while another insight about the same situation is open: both are 409. The status that it has already
/// is accepted and changes nothing. What was dismissed is not brought up again for 14 days, what was resolved for 7.
#[utoipa::path(
    patch, path = "/api/v1/insights/{id}", tag = "analytics", operation_id = "change_insight",
    params(("id" = i64, Path, description = "The insight.", minimum = 1, example = 318)),
    request_body(content = Change, content_type = "application/json"),
    responses((status = 200, description = "The insight as it is now.", body = ChangedBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::NotFound, Code::InvalidTransition])))
)]
pub async fn change(
    caller: Caller,
    query: Query,
    request: HttpRequest,
    upload: Upload,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let mut fields = upload.fields(Accepts::Json)?;
    let missing = || ApiError::new(Code::MissingParameter).message("`status` is required.").param("status");
    let status = fields.text("status", Code::InvalidParameter)?.ok_or_else(missing)?;
    let status: Status = status.parse().map_err(|unknown| ApiError::unknown_value("status", &unknown))?;
    let warnings = fields.finish(query.finish()?)?;
    let id = path::number(&request, "id").ok_or_else(unknown)?;
    let account = caller.account();
    let work = async move { state.insights.decide(account, id, status, (state.clock)()).await };
    let insight = detached(work).await?.into();
    Reply::done(&ChangedBody { insight, api_version: API_VERSION, warnings })
}

fn unknown() -> ApiError {
    ApiError::new(Code::NotFound).message("There is no such insight.")
}

impl From<DecideError> for ApiError {
    fn from(error: DecideError) -> Self {
        let refused = |message: String| Self::new(Code::InvalidTransition).message(message).param("status");
        match error {
            DecideError::NotFound => unknown(),
            DecideError::Refused(from) => refused(format!("The insight is {from}; open it again first.")),
            DecideError::OtherOpen => refused("Another insight about the same situation is open.".to_owned()),
            DecideError::Store(error) => error.into(),
        }
    }
}
