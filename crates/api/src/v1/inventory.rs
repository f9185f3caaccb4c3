//! `GET /api/v1/inventory`: what is in stock and how long it lasts.

use actix_web::web;
use domain::inventory::{Item, Listing, Status, Summary, Trend, VelocityClass};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use crate::{
    as_of::{AsOf, Results},
    auth::Caller,
    error::{ApiError, Code},
    freshness::FreshnessBody,
    input::Input,
    names,
    query::{Limit, Query},
    respond::{API_VERSION, JsonDecimal, Pagination, Reply, Warnings, date, instant},
    state::State,
    warnings::Warning,
};

/// An item of the catalogue.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InventoryItem)]
struct ItemBody {
    #[schema(example = 55)]
    id: i64,
    #[schema(example = "MUG-BLUE")]
    sku: String,
    #[schema(example = "Blue mug")]
    product_name: String,
    #[schema(example = 42)]
    current_stock: i64,
    #[schema(example = 180)]
    units_sold_30d: i64,
    #[schema(example = 63)]
    units_sold_7d: i64,
    #[schema(value_type = f64, example = 6.0)]
    avg_daily_units_30d: JsonDecimal,
    #[schema(value_type = f64, example = 9.0)]
    avg_daily_units_7d: JsonDecimal,
    /// Null when nothing sells, and when the stock lasts for more than two years.
    #[schema(value_type = Option<f64>, example = 4.6667)]
    days_of_stock: Option<JsonDecimal>,
    /// 730 when the stock sells but lasts for more than two years; else null.
    days_of_stock_over: Option<u32>,
    /// Days by which the stock is used up with a probability of 20 % and of 80 %, at most 730; null as `days_of_stock` is.
    #[schema(value_type = Option<[f64; 2]>, example = json!([3.9, 5.6]))]
    days_of_stock_range: Option<[JsonDecimal; 2]>,
    /// Units a day expected over the next 28 days, which `days_of_stock` follows from; 0 when nothing sells.
    #[schema(value_type = Option<f64>, example = 8.9)]
    velocity: Option<JsonDecimal>,
    /// How regularly the item sells; null when nothing sells.
    #[schema(schema_with = names::velocity_class)]
    velocity_class: Option<VelocityClass>,
    #[schema(schema_with = names::trend)]
    trend: Trend,
    #[schema(schema_with = names::inventory_status)]
    status: Status,
    /// Null as `days_of_stock` is.
    #[schema(format = Date, example = "2026-05-06")]
    estimated_stockout_at: Option<String>,
    #[schema(format = DateTime, example = "2026-05-02T04:00:00Z")]
    computed_at: String,
}

impl From<Item> for ItemBody {
    fn from(item: Item) -> Self {
        let days_of_stock_over = item.days_of_stock_over();
        let Item {
            id,
            sku,
            product_name,
            current_stock,
            units_sold_30d,
            units_sold_7d,
            avg_daily_units_30d,
            avg_daily_units_7d,
            days_of_stock,
            days_of_stock_range,
            velocity,
            velocity_class,
            trend,
            status,
            estimated_stockout_at,
            computed_at,
        } = item;
        Self {
            id: id.0,
            sku,
            product_name,
            current_stock,
            units_sold_30d,
            units_sold_7d,
            avg_daily_units_30d: JsonDecimal::ratio(avg_daily_units_30d),
            avg_daily_units_7d: JsonDecimal::ratio(avg_daily_units_7d),
            days_of_stock: days_of_stock.map(JsonDecimal::ratio),
            days_of_stock_over,
            days_of_stock_range: days_of_stock_range
                .map(|(low, high)| [JsonDecimal::ratio(low), JsonDecimal::ratio(high)]),
            velocity: velocity.map(JsonDecimal::ratio),
            velocity_class,
            trend,
            status,
            estimated_stockout_at: estimated_stockout_at.map(date),
            computed_at: instant(computed_at),
        }
    }
}

/// How many items are in each state, over the whole catalogue.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InventorySummary)]
struct SummaryBody {
    total: i64,
    critical: i64,
    low: i64,
    ok: i64,
    overstocked: i64,
}

impl From<Summary> for SummaryBody {
    fn from(summary: Summary) -> Self {
        let Summary { total, critical, low, ok, overstocked } = summary;
        Self { total, critical, low, ok, overstocked }
    }
}

/// A page of the catalogue.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Inventory)]
pub struct Body {
    items: Vec<ItemBody>,
    summary: SummaryBody,
    /// When the velocities were last computed; null before that.
    #[schema(format = DateTime, example = "2026-05-02T04:00:05Z")]
    generated_at: Option<String>,
    freshness: FreshnessBody,
    pagination: Pagination,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Which items to list.
#[derive(Deserialize, Validate, IntoParams)]
pub struct ListParams {
    /// `critical`, `low`, `ok` or `overstocked`.
    #[param(value_type = names::InventoryStatusName, inline, required = false)]
    status: Option<Status>,
    #[validate(nested)]
    #[param(inline, required = false)]
    limit: Limit<100, 500>,
    /// `next_cursor` of the page before.
    #[param(minimum = 1)]
    cursor: Option<i64>,
    #[param(inline, required = false)]
    as_of: Option<AsOf>,
}

impl Input for ListParams {}

/// Stock and how long it lasts.
///
/// Lists the catalogue, most urgent first: by status, then by days of stock, then by sku.
#[utoipa::path(
    get, path = "/api/v1/inventory", tag = "inventory", operation_id = "list_inventory",
    params(ListParams),
    responses((status = 200, description = "A page of the catalogue.", body = Body)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])))
)]
pub async fn get(caller: Caller, query: Query<ListParams>, state: web::Data<State>) -> Result<Reply, ApiError> {
    let Query { params: ListParams { status, limit, cursor, as_of }, warnings } = query;
    let page = limit.page(cursor);
    let Results { account, now } = Results::of(&caller, as_of, &state).await?;
    let Listing { page: found, summary, freshness } = state.inventory.list(account, status, page).await?;
    Reply::found(&Body {
        pagination: Pagination::new(page, &found),
        items: found.items.into_iter().map(Into::into).collect(),
        summary: summary.into(),
        generated_at: freshness.as_of.map(instant),
        freshness: FreshnessBody::new(freshness, caller.zone(), now),
        api_version: API_VERSION,
        warnings,
    })
}
