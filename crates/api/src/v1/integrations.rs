//! `/api/v1/integrations`: the connected shops.

use actix_web::{HttpRequest, web};
use app::shops::connect::Asked;
use domain::{
    accounts::Platform,
    integrations::{BuyerData, ErrorCode, Fact, Integration, LastError, RevokeReason, Status, Totals},
};
use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;

use crate::{
    auth::Caller,
    body::{Nothing, Upload},
    error::{ApiError, Code},
    names, path,
    query::{NoParams, Paging, Query},
    respond::{API_VERSION, Pagination, Reply, Warnings, instant},
    state::State,
    warnings::Warning,
    write::{answered, detached},
};

/// Why the last run of a connection failed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IntegrationError)]
struct LastErrorBody {
    #[schema(schema_with = names::integration_error)]
    code: ErrorCode,
    #[schema(example = "the platform cannot be reached: no answer in time")]
    message: String,
    #[schema(format = DateTime, example = "2026-05-02T11:40:00Z")]
    at: String,
}

/// A connection to a shop or an ad account. Tokens are never shown.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Integration)]
pub(super) struct IntegrationBody {
    #[schema(example = 12)]
    id: i64,
    #[schema(schema_with = names::provider)]
    provider: Platform,
    /// Host name of the store, or the ad account, such as `act_1234567890` or `1234567890`.
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
    /// The end of the last run that reached the present; null before the first synchronisation.
    #[schema(format = DateTime, example = "2026-05-02T11:40:00Z")]
    last_sync_at: Option<String>,
    /// Null before the first synchronisation.
    #[schema(example = 20)]
    last_sync_minutes_ago: Option<i64>,
    /// Permissions that are needed and were not granted: what needs them is left out.
    missing_scopes: Vec<String>,
    /// Orders before this cannot be read; null where the platform keeps all.
    #[schema(format = DateTime)]
    history_from: Option<String>,
    /// Orders from this on have been read; null before the first window of the history.
    #[schema(format = DateTime, example = "2025-03-01T00:00:00Z")]
    backfilled_from: Option<String>,
    /// Whether the platform shows who the buyers are.
    #[schema(schema_with = names::buyer_data)]
    buyer_data: BuyerData,
    /// Null once everything was read again.
    last_error: Option<LastErrorBody>,
    /// The platform has suspended the shop or the app there.
    suspended: bool,
    /// What this connection alone says for the account: a product has it once, over all shops.
    #[schema(value_type = Vec<names::FactName>)]
    owner_of: Vec<Fact>,
    /// Why it was revoked; null while it is not.
    #[schema(schema_with = names::revoke_reason)]
    revoke_reason: Option<RevokeReason>,
    /// The platform no longer takes the token: connect the shop again.
    #[schema(example = false)]
    reconnect_needed: bool,
}

impl IntegrationBody {
    pub(super) fn new(integration: Integration, now: OffsetDateTime) -> Self {
        let (status, reconnect_needed) = (integration.status(now), integration.reconnect_needed());
        let Integration {
            id,
            provider,
            shop,
            scopes,
            connected_at,
            revoked_at,
            last_sync_at,
            missing_scopes,
            history_from,
            backfilled_from,
            buyer_data,
            last_error,
            suspended,
            owner_of,
            revoke_reason,
        } = integration;
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
            missing_scopes,
            history_from: history_from.map(instant),
            backfilled_from: backfilled_from.map(instant),
            buyer_data,
            last_error: last_error.map(|LastError { code, message, at }| LastErrorBody {
                code,
                message,
                at: instant(at),
            }),
            suspended,
            owner_of,
            revoke_reason,
            reconnect_needed,
        }
    }
}

/// One connection.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OneIntegration)]
pub struct OneBody {
    #[serde(flatten)]
    integration: IntegrationBody,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl OneBody {
    pub(super) fn new(integration: Integration, now: OffsetDateTime, warnings: Warnings) -> Self {
        Self { integration: IntegrationBody::new(integration, now), api_version: API_VERSION, warnings }
    }
}

/// Done, and nothing to say about it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Done)]
pub struct DoneBody {
    #[schema(example = true)]
    ok: bool,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl DoneBody {
    pub(super) const fn new(warnings: Warnings) -> Self {
        Self { ok: true, api_version: API_VERSION, warnings }
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
pub async fn list(caller: Caller, query: Query<Paging>, state: web::Data<State>) -> Result<Reply, ApiError> {
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

/// A connected shop.
///
/// Gives a connection: its state, what was granted, and how far its history has been read.
#[utoipa::path(
    get, path = "/api/v1/integrations/{id}", tag = "integrations", operation_id = "get_integration",
    params(("id" = i64, Path, description = "The connection.", minimum = 1, example = 12)),
    responses((status = 200, description = "The connection.", body = OneBody)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])), ("x-since" = json!("2026-12")))
)]
pub async fn get(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let found = state.integrations.find(caller.account(), path::integration(&request)?).await?;
    let found = found.ok_or_else(path::no_integration)?;
    Reply::found(&OneBody::new(found, (state.clock)(), query.warnings))
}

/// Synchronise a shop now.
///
/// Asks for a connection to be read at once instead of within ten minutes. Repeating it changes nothing.
#[utoipa::path(
    post, path = "/api/v1/integrations/{id}/sync", tag = "integrations", operation_id = "sync_integration",
    params(("id" = i64, Path, description = "The connection.", minimum = 1, example = 12)),
    responses((status = 200, description = "The connection is due.", body = DoneBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([
        Code::NotFound, Code::InvalidTransition, Code::InvalidJson, Code::InvalidBody, Code::PayloadTooLarge,
        Code::UnsupportedMediaType
    ])), ("x-since" = json!("2026-12")))
)]
pub async fn sync(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    upload: Upload,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let idempotency = upload.idempotency(&request)?;
    let (Nothing {}, ignored) = upload.read()?;
    let mut warnings = query.warnings;
    warnings.extend(ignored);
    let (account, id) = (caller.account(), path::integration(&request)?);
    let work = async move { state.shops.sync(account, id, idempotency, None).await };
    let answer = |asked| match asked {
        Asked::Due => Reply::done(&DoneBody::new(warnings)),
        Asked::Ended => Err(ApiError::new(Code::InvalidTransition).message("The connection has ended.")),
        Asked::Demo => Err(ApiError::new(Code::InvalidTransition)
            .message("The connection is one of the demo shop: no platform is behind it that could be read.")),
        Asked::Unknown => Err(path::no_integration()),
    };
    answered(work, answer).await
}

/// Disconnect a shop.
///
/// Gives the permission back to the platform and forgets its tokens. What was imported stays, and the connection stays
/// listed as revoked.
#[utoipa::path(
    delete, path = "/api/v1/integrations/{id}", tag = "integrations", operation_id = "disconnect_integration",
    params(("id" = i64, Path, description = "The connection.", minimum = 1, example = 12)),
    responses((status = 200, description = "The shop is disconnected.", body = DoneBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::NotFound])), ("x-since" = json!("2026-12")))
)]
pub async fn disconnect(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (account, id) = (caller.account(), path::integration(&request)?);
    if detached(async move { state.shops.disconnect(account, id, None).await }).await? {
        Reply::done(&DoneBody::new(query.warnings))
    } else {
        Err(path::no_integration())
    }
}
