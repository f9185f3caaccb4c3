//! `GET /api/v1/reorder`: what to buy again.

use actix_web::web;
use domain::reorder::{Listing, Status, Suggestion};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::Caller,
    error::ApiError,
    openapi::names,
    query::{Query, Warning},
    respond::{API_VERSION, Exact, Pagination, Reply, Warnings, instant},
    state::State,
};

/// How much of an item to order.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReorderSuggestion)]
struct SuggestionBody {
    #[schema(example = 9)]
    id: i64,
    #[schema(example = 55)]
    inventory_item_id: i64,
    #[schema(example = "MUG-BLUE")]
    sku: String,
    #[schema(example = 240)]
    qty_suggested: i64,
    #[schema(example = "Sells 6.0 a day; 42 in stock last 7 days, delivery takes 14.")]
    reason: String,
    #[schema(value_type = f64, minimum = 0, maximum = 1, example = 0.9)]
    confidence: Exact,
    /// Days of demand that the quantity covers.
    #[schema(example = 44)]
    forecast_days: i64,
    #[schema(format = DateTime, example = "2026-05-02T04:10:00Z")]
    computed_at: String,
    #[schema(schema_with = names::reorder_status)]
    status: Status,
}

impl From<Suggestion> for SuggestionBody {
    fn from(suggestion: Suggestion) -> Self {
        let Suggestion {
            id,
            inventory_item_id,
            sku,
            qty_suggested,
            reason,
            confidence,
            forecast_days,
            computed_at,
            status,
        } = suggestion;
        Self {
            id,
            inventory_item_id,
            sku,
            qty_suggested,
            reason,
            confidence: Exact::ratio(confidence),
            forecast_days,
            computed_at: instant(computed_at),
            status,
        }
    }
}

/// A page of suggestions.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Reorder)]
pub struct Body {
    items: Vec<SuggestionBody>,
    /// When suggestions were last computed; null before that.
    #[schema(format = DateTime, example = "2026-05-02T04:10:02Z")]
    generated_at: Option<String>,
    pagination: Pagination,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// What to buy again, and how much.
///
/// Lists the suggestions, newest first.
#[utoipa::path(
    get, path = "/api/v1/reorder", tag = "inventory", operation_id = "list_reorder",
    params(
        ("status" = Option<String>, Query, description = "`pending`, `ordered` or `dismissed`."),
        ("limit" = Option<i64>, Query, description = "Rows per page, 50 unless said; more than 200 is read as 200.", minimum = 1, example = 50),
        ("cursor" = Option<i64>, Query, description = "`next_cursor` of the page before.", minimum = 1),
    ),
    responses((status = 200, description = "A page of suggestions.", body = Body)),
    security(("api_key" = ["read"]))
)]
pub async fn get(caller: Caller, mut query: Query, state: web::Data<State>) -> Result<Reply, ApiError> {
    let status = query.one_of("status")?;
    let page = query.page(50, 200)?;
    let warnings = query.finish()?;
    let Listing { page: found, generated_at } = state.reorder.list(caller.account(), status, page).await?;
    Reply::found(&Body {
        pagination: Pagination::new(page, &found),
        items: found.items.into_iter().map(Into::into).collect(),
        generated_at: generated_at.map(instant),
        api_version: API_VERSION,
        warnings,
    })
}
