//! `GET /api/v1/customers`: the customers of all connected shops.

use ::web::row;
use actix_web::{Either, HttpResponse, http::Method, web};
use domain::{
    accounts::Platform,
    customers::{Customer, Filter, OrderBy, Segment},
    error::UnknownValue,
    freshness::Dated,
    money::Currency,
};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use crate::{
    as_of::{AsOf, Results},
    auth::Caller,
    csv::{self, Csv, CsvMetadata, Format, Listing},
    error::{ApiError, Code},
    freshness::{DatedList, FreshnessBody},
    input::Input,
    names,
    query::Limit,
    respond::{Instant, JsonDecimal, List, Reply},
    state::State,
    streams::Streams,
};

/// A customer. What is computed about one follows the orders and cannot be set.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Customer)]
pub struct CustomerBody {
    #[schema(example = 4711)]
    id: i64,
    #[schema(format = Email, example = "ana@example.com")]
    email: Option<String>,
    #[schema(example = "Ana Souza")]
    name: Option<String>,
    #[schema(schema_with = names::platform)]
    source: Platform,
    /// The customer's identifier on the platform.
    #[schema(example = "6012345678")]
    external_id: String,
    #[schema(example = "Santos")]
    city: Option<String>,
    /// ISO 3166-1 alpha-2.
    #[schema(example = "BR")]
    country: Option<String>,
    #[schema(example = 7)]
    orders_count: i64,
    /// Sum of all orders less refunds, in the account's currency.
    #[schema(value_type = f64, example = 1234.50)]
    revenue_total: JsonDecimal,
    /// Expected net revenue of the next 52 weeks, discounted to today, in the account's currency.
    #[schema(value_type = f64, example = 2100.00)]
    ltv_estimate: JsonDecimal,
    /// Average order value: `revenue_total` per order; 0 without orders.
    #[schema(value_type = f64, example = 176.36)]
    aov: JsonDecimal,
    #[schema(schema_with = names::segment)]
    segment: Segment,
    /// Probability that no purchase follows; null before the first one.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1, example = 0.12)]
    churn_score: Option<JsonDecimal>,
    /// Null before the first purchase.
    #[schema(value_type = Option<String>, format = DateTime, example = "2026-04-28T14:03:11Z")]
    last_purchase_at: Option<Instant>,
    /// Null before the first purchase.
    #[schema(value_type = Option<String>, format = DateTime, example = "2024-11-02T10:00:00Z")]
    first_purchase_at: Option<Instant>,
    #[schema(value_type = String, format = DateTime, example = "2024-11-02T09:58:40Z")]
    created_at: Instant,
}

impl CustomerBody {
    fn new(customer: Customer, currency: Currency) -> Self {
        let Customer {
            id,
            email,
            name,
            source,
            external_id,
            city,
            country,
            orders_count,
            revenue_total,
            ltv_estimate,
            aov,
            segment,
            churn_score,
            last_purchase_at,
            first_purchase_at,
            created_at,
        } = customer;
        Self {
            id: id.0,
            email,
            name,
            source,
            external_id,
            city,
            country,
            orders_count,
            revenue_total: JsonDecimal::money(revenue_total, currency),
            ltv_estimate: JsonDecimal::money(ltv_estimate, currency),
            aov: JsonDecimal::money(aov, currency),
            segment,
            churn_score: churn_score.map(JsonDecimal::ratio),
            last_purchase_at: last_purchase_at.map(Instant),
            first_purchase_at: first_purchase_at.map(Instant),
            created_at: Instant(created_at),
        }
    }
}

row!(CustomerBody {
    id,
    email,
    name,
    source,
    external_id,
    city,
    country,
    orders_count,
    revenue_total,
    ltv_estimate,
    aov,
    segment,
    churn_score,
    last_purchase_at,
    first_purchase_at,
    created_at,
});

type File = Csv<CustomerBody>;

/// A platform that customers come from.
fn shop_platform<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Platform>, D::Error> {
    let name = String::deserialize(deserializer)?;
    Platform::shop(&name).map(Some).map_err(|UnknownValue { allowed }| D::Error::unknown_variant(&name, allowed))
}

/// Which customers to list, and how.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListParams {
    /// Only customers of this platform: `shopify`, `tiendanube` or `mercadolibre`.
    #[param(value_type = names::PlatformName, inline, required = false)]
    #[serde(default, deserialize_with = "shop_platform")]
    source: Option<Platform>,
    /// Only customers of this segment: `vip`, `loyal`, `promising`, `new`, `needs_attention`, `at_risk`, `dormant`, `lost` or
    /// `prospect`.
    #[param(value_type = names::SegmentName, inline, required = false)]
    segment: Option<Segment>,
    /// `churn_score` or `ltv_estimate`: the highest first, of equals the newest first; without it the newest first. Customers
    /// without a `churn_score` come last.
    #[param(value_type = names::CustomerOrderName, inline, required = false)]
    order_by: Option<OrderBy>,
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

/// Customers, newest first or by a figure.
///
/// Lists the customers, newest first, or by what `order_by` names. A list goes on behind the place where the customer of the
/// cursor stands by then: the figures change every night. As CSV without `limit` all of them are streamed.
#[utoipa::path(
    get, path = "/api/v1/customers", tag = "customers", operation_id = "list_customers",
    params(ListParams),
    responses((status = 200, description = "A page of customers.", content(
        (DatedList<CustomerBody> = "application/json"),
        (inline(File) = "text/csv")
    ))),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])))
)]
pub async fn get(
    caller: Caller,
    query: Listing<ListParams>,
    state: web::Data<State>,
    streams: web::Data<Streams>,
    method: Method,
) -> Result<Either<Reply, HttpResponse>, ApiError> {
    let Listing { params: ListParams { source, segment, order_by, limit, cursor, as_of }, format, warnings } = query;
    let Results { account, now } = Results::of(&caller, as_of, &state).await?;
    let (currency, filter) = (caller.currency(), Filter { source, segment, order_by });
    let body = move |customer| CustomerBody::new(customer, currency);
    let today = caller.zone().day_of(now);
    if format == Format::Csv && limit.requested().is_none() {
        let streaming = streams.into_inner().begin(caller.account(), &method)?;
        let Dated { found: rows, freshness } = state.customers.stream(account, filter, cursor).await?;
        let freshness = FreshnessBody::new(freshness, caller.zone(), now);
        let about = CsvMetadata { name: "customers", day: today, freshness: Some(freshness), warnings: &warnings };
        return Ok(Either::Right(csv::stream(&about, rows, body, streaming)));
    }
    let page = limit.page(cursor);
    let Dated { found, freshness } = state.customers.page(account, filter, page).await?;
    let list = List::new(page, found, body, warnings);
    let freshness = FreshnessBody::new(freshness, caller.zone(), now);
    match format {
        Format::Json => Reply::listed(&DatedList::new(list, freshness)).map(Either::Left),
        Format::Csv => {
            let about =
                CsvMetadata { name: "customers", day: today, freshness: Some(freshness), warnings: &list.warnings };
            csv::page(&about, &list.data, list.pagination.next_cursor).map(Either::Left)
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::CustomerId;
    use time::macros::datetime;

    use super::*;
    use ::web::csv::Row as _;

    #[test]
    fn the_columns_are_the_fields_in_their_order() {
        let at = datetime!(2026-05-01 0:00 UTC);
        let customer = Customer {
            id: CustomerId(1),
            email: None,
            name: None,
            source: Platform::Shopify,
            external_id: String::new(),
            city: None,
            country: None,
            orders_count: 0,
            revenue_total: 0.into(),
            ltv_estimate: 0.into(),
            aov: 0.into(),
            segment: Segment::Prospect,
            churn_score: None,
            last_purchase_at: None,
            first_purchase_at: None,
            created_at: at,
        };
        let body = CustomerBody::new(customer, "USD".parse().unwrap());
        let json = serde_json::to_string(&body).unwrap();
        let places: Vec<_> = CustomerBody::COLUMNS.iter().map(|name| json.find(&format!("\"{name}\":"))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted());
        assert_eq!(json.matches("\":").count(), CustomerBody::COLUMNS.len());
    }
}
