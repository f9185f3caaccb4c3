//! `/api/v1/reorder`: what to buy again, and what was decided on it.

use actix_web::{HttpRequest, web};
use domain::{
    language::Language,
    metrics::Unit,
    money::Currency,
    reorder::{Basis, ChangeError, Listing, SeasonOf, Status, Suggestion},
    texts::Texts,
    zone::Zone,
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use crate::{
    as_of::{AsOf, Results},
    auth::Caller,
    body::Json,
    error::{ApiError, Code},
    freshness::FreshnessBody,
    input::Input,
    language::{Accepted, LanguageParam},
    names, path,
    query::{Limit, Query},
    respond::{API_VERSION, JsonDecimal, Pagination, Reply, Warnings, date, instant, round4},
    state::State,
    warnings::Warning,
    write::detached,
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
    /// As it was when the suggestion was made; null for one from before it was kept.
    #[schema(example = "Blue mug")]
    product_name: Option<String>,
    #[schema(example = 120)]
    qty_suggested: i64,
    #[schema(
        example = "Sells about 6.1 a day; 42 in stock. About 128 are expected to sell before an order placed in 7 days could \
        arrive (14 days of delivery), and 162 cover it with a probability of 90%. Order 120 (packs of 12)."
    )]
    reason: String,
    #[schema(value_type = f64, minimum = 0, maximum = 1, example = 0.9)]
    confidence: JsonDecimal,
    /// Days of demand that the quantity covers.
    #[schema(example = 21)]
    forecast_days: i64,
    /// The last day on which an order arrives before what is on hand and on order runs out, at the expected demand; before the
    /// day of `computed_at` where it is too late for that. Null more than two years away, and without a basis.
    #[schema(format = Date, example = "2026-04-25")]
    order_by: Option<String>,
    #[schema(format = DateTime, example = "2026-05-02T04:10:00Z")]
    computed_at: String,
    #[schema(schema_with = names::reorder_status)]
    status: Status,
    /// Whether to follow it; false where each sale costs more than it brings.
    recommended: bool,
    /// The numbers that the suggestion came from; null for one from before they were kept.
    basis: Option<BasisBody>,
}

/// What a suggestion came from, in units of the item and whole days.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReorderBasis)]
struct BasisBody {
    #[schema(example = 42)]
    on_hand: i64,
    #[schema(example = 0)]
    on_order: i64,
    #[schema(example = 14)]
    lead_time_days: i64,
    /// Days until the next occasion to order.
    #[schema(example = 7)]
    review_days: i64,
    /// Units expected to sell a day over lead time and review period.
    #[schema(example = 6.1)]
    daily_demand: f64,
    /// Units expected to sell over lead time and review period.
    #[schema(example = 128.1)]
    expected_demand: f64,
    /// What `order_up_to` holds beyond the expected demand.
    #[schema(example = 33.9)]
    safety_stock: f64,
    /// Order when what is on hand and on order falls to this.
    #[schema(example = 124)]
    reorder_point: i64,
    /// Units to have on hand and on order after ordering.
    #[schema(example = 162)]
    order_up_to: i64,
    /// Probability by the forecast that `order_up_to` lasts until the next order arrives; `confidence` is what was measured of it.
    #[schema(minimum = 0, maximum = 1, example = 0.95)]
    service_level: f64,
    #[schema(example = 12)]
    pack_size: i64,
    #[schema(example = 1)]
    min_order_qty: i64,
    /// Days since the first sale, at most 365; null for a suggestion from before it was kept.
    #[schema(example = 365)]
    history_days: Option<i64>,
    /// What selling a unit brings after its cost, fees and shipping; below 0 where each sale loses money. Null without a
    /// price or a unit cost.
    #[schema(example = 4.2)]
    unit_contribution: Option<f64>,
    /// Units expected from this day until 120 days after an order arrives, by what was sold on these days a year ago; null
    /// without 13 months of sales.
    #[schema(example = 512.0)]
    sold_last_year: Option<f64>,
    /// Those of them that are expected from the day of its arrival on; null for a suggestion from before it was kept, too.
    #[schema(example = 310.0)]
    sold_after_arrival: Option<f64>,
    /// Whose sales of a year ago: the item's, as many more or fewer as the shop sells since, or in its first 13 months those of
    /// its category or the shop, in parts of what the item sells now.
    #[schema(schema_with = names::season_of_or_null)]
    season_of: Option<SeasonOf>,
    /// Fewer are to be ordered than the demand of the last weeks would take, and the season was ending then.
    season_ends: bool,
}

impl BasisBody {
    fn new(basis: Basis, currency: Currency) -> Self {
        let Basis {
            on_hand,
            on_order,
            lead_time_days,
            review_days,
            daily_demand,
            expected_demand,
            safety_stock,
            reorder_point,
            order_up_to,
            service_level,
            pack_size,
            min_order_qty,
            history_days,
            unit_contribution,
            sold_last_year,
            sold_after_arrival,
            season_of,
            season_ends,
        } = basis;
        Self {
            on_hand,
            on_order,
            lead_time_days,
            review_days,
            daily_demand: round4(daily_demand),
            expected_demand: round4(expected_demand),
            safety_stock: round4(safety_stock),
            reorder_point,
            order_up_to,
            service_level: round4(service_level),
            pack_size,
            min_order_qty,
            history_days,
            unit_contribution: unit_contribution.map(|amount| Unit::Money.rounded(amount, currency)),
            sold_last_year: sold_last_year.map(round4),
            sold_after_arrival: sold_after_arrival.map(round4),
            season_of: season_of.or(sold_last_year.map(|_| SeasonOf::Item)),
            season_ends,
        }
    }
}

impl SuggestionBody {
    fn new(suggestion: Suggestion, texts: &Texts, currency: Currency, zone: &Zone, now: OffsetDateTime) -> Self {
        let order_by = suggestion.order_by(zone, now).map(date);
        let reason = suggestion.reason_in(texts, currency);
        let recommended = suggestion.is_recommended();
        let Suggestion {
            id,
            inventory_item_id,
            sku,
            product_name,
            qty_suggested,
            reason: _,
            confidence,
            forecast_days,
            basis,
            computed_at,
            status,
        } = suggestion;
        Self {
            id: id.0,
            inventory_item_id: inventory_item_id.0,
            sku,
            product_name,
            qty_suggested,
            reason,
            confidence: JsonDecimal::ratio(confidence),
            forecast_days,
            order_by,
            computed_at: instant(computed_at),
            status,
            recommended,
            basis: basis.map(|basis| BasisBody::new(basis, currency)),
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
    freshness: FreshnessBody,
    pagination: Pagination,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Which suggestions to list.
#[derive(Deserialize, Validate, IntoParams)]
pub struct ListParams {
    /// `pending`, `ordered` or `dismissed`.
    #[param(value_type = names::ReorderStatusName, inline, required = false)]
    status: Option<Status>,
    #[param(value_type = names::LanguageName, inline, required = false)]
    lang: Option<Language>,
    #[validate(nested)]
    #[param(inline, required = false)]
    limit: Limit<50, 200>,
    /// `next_cursor` of the page before.
    #[param(minimum = 1)]
    cursor: Option<i64>,
    #[param(inline, required = false)]
    as_of: Option<AsOf>,
}

impl Input for ListParams {}

/// What to buy again, and how much.
///
/// Lists the suggestions, newest first.
#[utoipa::path(
    get, path = "/api/v1/reorder", tag = "inventory", operation_id = "list_reorder",
    params(ListParams),
    responses((status = 200, description = "A page of suggestions.", body = Body)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])))
)]
pub async fn get(
    caller: Caller,
    accepted: Accepted,
    query: Query<ListParams>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let Query { params: ListParams { status, lang, limit, cursor, as_of }, warnings } = query;
    let texts = accepted.texts(lang, &caller, (state.clock)());
    let page = limit.page(cursor);
    let Results { account, now } = Results::of(&caller, as_of, &state).await?;
    let Listing { page: found, freshness } = state.reorder.list(account, status, page).await?;
    let body = Body {
        pagination: Pagination::new(page, &found),
        items: found
            .items
            .into_iter()
            .map(|suggestion| SuggestionBody::new(suggestion, &texts, caller.currency(), caller.zone(), now))
            .collect(),
        generated_at: freshness.as_of.map(instant),
        freshness: FreshnessBody::new(freshness, caller.zone(), now),
        api_version: API_VERSION,
        warnings,
    };
    Ok(Reply::found(&body)?.in_language(&texts))
}

/// What was decided on a suggestion. Unknown fields are ignored and listed in `warnings`.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = ReorderChange)]
pub struct Change {
    #[schema(schema_with = names::reorder_status)]
    status: Status,
}

impl Input for Change {}

/// A suggestion as it is after a change.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangedReorderSuggestion)]
pub struct ChangedBody {
    #[serde(flatten)]
    suggestion: SuggestionBody,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Decide on a suggestion.
///
/// Marks a pending suggestion as ordered or dismissed, or takes such a decision back to pending. One decision does not turn
/// into the other directly, and nothing goes back to pending while another suggestion for the item is pending: both are
/// 409. The status that it has already is accepted and changes nothing, so a change can be sent again safely.
#[utoipa::path(
    patch, path = "/api/v1/reorder/{id}", tag = "inventory", operation_id = "change_reorder",
    params(("id" = i64, Path, description = "The suggestion.", minimum = 1, example = 9), LanguageParam),
    responses((status = 200, description = "The suggestion as it is now.", body = ChangedBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::NotFound, Code::InvalidTransition])))
)]
pub async fn change(
    caller: Caller,
    accepted: Accepted,
    query: Query<LanguageParam>,
    request: HttpRequest,
    body: Json<Change>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let id = path::number(&request, "id").ok_or(ChangeError::NotFound)?;
    let texts = accepted.texts(query.params.lang, &caller, (state.clock)());
    let (Change { status }, _, warnings) = body.into_parts(query.warnings);
    let (account, now) = (caller.account(), (state.clock)());
    let work = async move { state.reorder.change(account, id, status, None, now).await };
    let suggestion = SuggestionBody::new(detached(work).await?, &texts, caller.currency(), caller.zone(), now);
    Ok(Reply::done(&ChangedBody { suggestion, api_version: API_VERSION, warnings })?.in_language(&texts))
}

impl From<ChangeError> for ApiError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::NotFound => Self::new(Code::NotFound).message("There is no such suggestion."),
            ChangeError::Refused(from) => Self::new(Code::InvalidTransition)
                .message(format!("The suggestion is {from}; put it back to pending first."))
                .param("status"),
            ChangeError::OtherPending => Self::new(Code::InvalidTransition)
                .message("Another suggestion for the item is pending.")
                .param("status"),
            ChangeError::Store(error) => error.into(),
        }
    }
}
