//! `GET /api/v1/me`: whom the key belongs to.

use domain::{accounts::Profile, imports::CountryCode, keys::KeyRecord};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::Caller,
    error::ApiError,
    query::{NoParams, Query},
    respond::{API_VERSION, Reply, Warnings, instant},
    warnings::Warning,
};

/// The owner of the calling key.
#[derive(Debug, Serialize, ToSchema)]
pub struct Me<'a> {
    #[schema(value_type = String, example = "user_3kTq9ZxW1mB7LfR0uYcVa2Hd")]
    user_id: &'a str,
    /// What the calling key may do.
    #[schema(value_type = Vec<String>, example = json!(["read", "write"]))]
    scopes: Vec<&'static str>,
    profile: ProfileBody<'a>,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// The account's settings.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Profile)]
struct ProfileBody<'a> {
    #[schema(value_type = String, schema_with = crate::names::plan)]
    plan: &'static str,
    /// ISO 4217; the currency of every amount.
    #[schema(value_type = String, example = "USD")]
    currency: &'a str,
    /// IANA name; days begin and end in it.
    #[schema(value_type = String, example = "America/Sao_Paulo")]
    timezone: &'a str,
    /// In which texts are written where a request does not ask for another language.
    #[schema(value_type = String, schema_with = crate::names::language)]
    language: &'static str,
    /// ISO 3166-1; texts write numbers, amounts and dates as it does. Null for the way that is usual in the language.
    #[schema(value_type = Option<String>, example = "BR")]
    country: Option<&'a str>,
    #[schema(format = DateTime, example = "2026-01-15T09:30:00Z")]
    created_at: String,
}

/// Who the key belongs to.
///
/// Shows the owner, the scopes and the account of the calling key.
#[utoipa::path(
    get, path = "/api/v1/me", tag = "account", operation_id = "get_me",
    responses((status = 200, description = "The owner of the key.", body = Me)),
    security(("api_key" = ["read"]))
)]
pub async fn get(caller: Caller, query: Query<NoParams>) -> Result<Reply, ApiError> {
    let KeyRecord {
        id: _,
        hash: _,
        account_id: _,
        user_id,
        mode: _,
        profile,
        name: _,
        prefix: _,
        scopes,
        created_at: _,
        expires_at: _,
        revoked_at: _,
        last_used_at: _,
        made_by: _,
    } = caller.key()?;
    let Profile { plan, currency, timezone, locale, created_at } = profile;
    Reply::found(&Me {
        user_id: user_id.as_str(),
        scopes: scopes.iter().map(|scope| scope.as_str()).collect(),
        profile: ProfileBody {
            plan: plan.as_str(),
            currency: currency.as_str(),
            timezone: timezone.name(),
            language: locale.language.as_str(),
            country: locale.region.as_ref().map(CountryCode::as_str),
            created_at: instant(*created_at),
        },
        api_version: API_VERSION,
        warnings: query.warnings,
    })
}
