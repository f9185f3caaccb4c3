//! `GET /api/v1/integrations`: the connected shops.

use actix_web::web;
use domain::{
    accounts::Platform,
    integrations::{Integration, Status, Totals},
};
use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;

use crate::{
    auth::Caller,
    error::ApiError,
    names,
    query::{Paging, Query},
    respond::{API_VERSION, Pagination, Reply, Warnings, instant},
    state::State,
    warnings::Warning,
};

/// A connection to a shop. Tokens are never shown.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Integration)]
struct IntegrationBody {
    #[schema(example = 12)]
    id: i64,
    #[schema(schema_with = names::platform)]
    provider: Platform,
    /// Host name of the store.
    #[schema(example = "demo.myshopify.com")]
    shop: String,
    /// Permissions on the provider's side.
    #[schema(example = json!(["read_orders", "read_products"]))]
    scopes: Vec<String>,
    #[schema(schema_with = names::integration_status)]
    status: Status,
    #[schema(format = DateTime, example = "2026-01-15T09:31:12Z")]
    connected_at: String,
    #[schema(format = DateTime)]
    revoked_at: Option<String>,
    /// Null before the first synchronisation.
    #[schema(format = DateTime, example = "2026-05-02T11:40:00Z")]
    last_sync_at: Option<String>,
    /// Null before the first synchronisation.
    #[schema(example = 20)]
    last_sync_minutes_ago: Option<i64>,
}

impl IntegrationBody {
    fn new(integration: Integration, now: OffsetDateTime) -> Self {
        let status = integration.status(now);
        let Integration { id, provider, shop, scopes, connected_at, revoked_at, last_sync_at } = integration;
        Self {
            id: id.0,
            provider,
            shop,
            scopes,
            status,
            connected_at: instant(connected_at),
            revoked_at: revoked_at.map(instant),
            last_sync_at: last_sync_at.map(instant),
            // A clock that is ahead elsewhere does not make the past negative.
            last_sync_minutes_ago: last_sync_at.map(|at| (now - at).whole_minutes().max(0)),
        }
    }
}

/// How many connections are in each state.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IntegrationTotals)]
struct TotalsBody {
    total: i64,
    connected: i64,
    stale: i64,
    revoked: i64,
    never_synced: i64,
}

impl From<Totals> for TotalsBody {
    fn from(totals: Totals) -> Self {
        let Totals { total, connected, stale, revoked, never_synced } = totals;
        Self { total, connected, stale, revoked, never_synced }
    }
}

/// Connections, and how many there are of each kind.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Integrations)]
pub struct Body {
    data: Vec<IntegrationBody>,
    totals: TotalsBody,
    pagination: Pagination,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Connected shops and their state.
///
/// Lists the connections to shops, newest first, revoked ones included. A connection is stale when its last
/// synchronisation is more than 24 hours ago.
#[utoipa::path(
    get, path = "/api/v1/integrations", tag = "integrations", operation_id = "list_integrations",
    params(Paging),
    responses((status = 200, description = "The connections.", body = Body)),
    security(("api_key" = ["read"]))
)]
pub async fn get(caller: Caller, query: Query<Paging>, state: web::Data<State>) -> Result<Reply, ApiError> {
    let (page, warnings) = (query.params.page(), query.warnings);
    let now = (state.clock)();
    let (found, totals) = state.integrations.page(caller.account(), page, now).await?;
    Reply::found(&Body {
        pagination: Pagination::new(page, &found),
        data: found.items.into_iter().map(|integration| IntegrationBody::new(integration, now)).collect(),
        totals: totals.into(),
        api_version: API_VERSION,
        warnings,
    })
}
