//! `POST /api/v1/integrations/{provider}/authorize` and `/complete`: connecting a shop.

use ::web::random;
use actix_web::{HttpRequest, web};
use app::shops::{
    NotConfigured,
    connect::{AuthorizeFailure, Begun, CompleteFailure, Owner, Randomness},
};
use domain::shops::{AuthorizeError, CompleteError, authorizations::Initiator, connections::ConnectError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use validator::Validate;

use super::integrations::OneBody;
use crate::{
    auth::Caller,
    body::Json,
    error::{ApiError, Code},
    input::Input,
    names, path,
    query::{NoParams, Query},
    respond::{API_VERSION, Reply, Warnings, instant},
    state::State,
    warnings::Warning,
    write::written,
};

/// Which shop, or ad account, is to be connected.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = NewAuthorization)]
pub struct NewAuthorization {
    /// The shop's host name, which Shopify has to know, or the number of the ad account on Meta or Google, where who agrees has
    /// several.
    #[validate(length(max = 255, message = "must have at most 255 characters"))]
    #[schema(
        max_length = 255,
        pattern = "^([a-z0-9][a-z0-9-]{0,60}\\.myshopify\\.com|(act_)?[0-9]{1,20}|[0-9]{3}-[0-9]{3}-[0-9]{4})$",
        example = "example.myshopify.com"
    )]
    shop: Option<String>,
}

impl Input for NewAuthorization {
    const IS_OPTIONAL: bool = true;
}

/// An authorization that was begun.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Authorization)]
pub struct BegunBody {
    /// Where the owner of the shop grants access.
    #[schema(example = "https://example.myshopify.com/admin/oauth/authorize?client_id=…&state=…")]
    url: String,
    /// Until when the answer to it can be completed.
    #[schema(format = DateTime, example = "2026-05-02T12:10:00Z")]
    state_expires_at: String,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl BegunBody {
    pub(super) fn new(Begun { url, state_expires_at }: Begun, warnings: Warnings) -> Self {
        Self { url, state_expires_at: instant(state_expires_at), api_version: API_VERSION, warnings }
    }
}

/// Begin connecting a shop.
///
/// Gives the address at which the shop's owner grants access. The platform then redirects to the address that is registered
/// for this service's app; the query of that redirect goes to `complete`. Repeating it begins another authorization.
#[utoipa::path(
    post, path = "/api/v1/integrations/{provider}/authorize", tag = "integrations", operation_id = "authorize_integration",
    params(("provider" = inline(names::ProviderName), Path, description = "The platform.", example = "shopify")),
    responses((status = 200, description = "Where to send the owner.", body = BegunBody)),
    security(("api_key" = ["write"])),
    extensions(
        ("x-errors" = json!([Code::NotFound, Code::ProviderNotConfigured, Code::ShopAlreadyConnected])),
        ("x-since" = json!("2026-12"))
    )
)]
pub async fn authorize(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    body: Json<NewAuthorization>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let provider = path::provider(&request)?;
    let (NewAuthorization { shop }, key, warnings) = body.into_parts(query.warnings);
    let (owner, random) = (owner(&caller), randomness()?);
    let work = async move { state.shops.authorize(&owner, provider, shop.as_deref(), random, key).await };
    written(work, |begun| BegunBody::new(begun, warnings)).await
}

/// What the platform sent the owner back with.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = AuthorizationAnswer)]
pub struct AuthorizationAnswer {
    /// The query of the redirect, as it came, at most 8192 bytes.
    #[validate(length(min = 1, max = 8192, message = "must have 1 to 8192 characters"))]
    #[schema(min_length = 1, max_length = 8192, example = "code=0907a61c0c8d55e9&state=Xk3…")]
    pub(super) query: String,
}

impl Input for AuthorizationAnswer {}

/// Complete the connection of a shop.
///
/// Takes what the platform sent the owner back with, and makes the connection. Only a key of the user who began the
/// authorization can complete it, once, within ten minutes.
#[utoipa::path(
    post, path = "/api/v1/integrations/{provider}/complete", tag = "integrations", operation_id = "complete_integration",
    params(("provider" = inline(names::ProviderName), Path, description = "The platform.", example = "shopify")),
    responses((status = 200, description = "The connection.", body = OneBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([
        Code::NotFound, Code::InvalidState, Code::AuthorizationRefused, Code::ProviderNotConfigured,
        Code::CurrencyMismatch, Code::ShopAlreadyConnected, Code::ProviderUnavailable
    ])), ("x-since" = json!("2026-12")))
)]
pub async fn complete(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    body: Json<AuthorizationAnswer>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (provider, owner) = (path::provider(&request)?, owner(&caller));
    let (AuthorizationAnswer { query }, key, warnings) = body.into_parts(query.warnings);
    let work = async move { state.shops.complete(&owner, provider, &query, key, None).await };
    // As of when it was made, so that it is told the same again.
    written(work, |made| {
        let at = made.connected_at;
        OneBody::new(made, at, warnings)
    })
    .await
}

pub(super) fn owner(caller: &Caller) -> Owner {
    Owner { account: caller.account(), by: Initiator { user: caller.user().clone(), session: None } }
}

pub(super) fn randomness() -> Result<Randomness, ApiError> {
    let bytes = || random::bytes().map_err(|error| ApiError::internal(&error));
    Ok(Randomness { state: bytes()?, verifier: bytes()? })
}

impl From<NotConfigured> for ApiError {
    fn from(error: NotConfigured) -> Self {
        let code = Self::new(Code::ProviderNotConfigured);
        match error {
            NotConfigured::NoApp => code,
            NotConfigured::Sandbox => code.message(
                "A sandbox account connects to a stand-in of the platform only, and this service uses the real one.",
            ),
        }
    }
}

fn already_connected() -> ApiError {
    ApiError::new(Code::ShopAlreadyConnected)
        .message("The account is connected to another shop of this platform. Disconnect that one first.")
}

impl From<AuthorizeFailure> for ApiError {
    fn from(failure: AuthorizeFailure) -> Self {
        match failure {
            AuthorizeFailure::NotConfigured(error) => error.into(),
            AuthorizeFailure::Refused(AuthorizeError::ShopRequired) => Self::new(Code::MissingParameter)
                .message("`shop` is required: the shop's host name, such as example.myshopify.com.")
                .param("shop"),
            AuthorizeFailure::Refused(AuthorizeError::InvalidShop) => Self::parameter(
                "shop",
                "must be the host name of a shop, such as example.myshopify.com, or the number of an ad account, such as act_1234567890 or 123-456-7890",
            ),
            AuthorizeFailure::Refused(AuthorizeError::UnsupportedCountry) => Self::new(Code::ProviderNotConfigured)
                .message("The platform has no site in the account's country, or the account says no country."),
            AuthorizeFailure::AlreadyConnected => already_connected(),
            AuthorizeFailure::Idempotency(error) => error.into(),
            AuthorizeFailure::Seal(error) => Self::internal(&error),
            AuthorizeFailure::Store(error) => error.into(),
        }
    }
}

impl From<CompleteFailure> for ApiError {
    fn from(failure: CompleteFailure) -> Self {
        match failure {
            CompleteFailure::NotConfigured(error) => error.into(),
            CompleteFailure::InvalidState => Self::new(Code::InvalidState),
            CompleteFailure::Platform(error) => refused(&error),
            CompleteFailure::CurrencyMismatch { shop, account } => Self::new(Code::CurrencyMismatch)
                .message(format!("The shop's currency is {shop}, the account's is {account}.")),
            CompleteFailure::Idempotency(error) => error.into(),
            CompleteFailure::Connect(ConnectError::AlreadyConnected) => already_connected(),
            CompleteFailure::Connect(ConnectError::ConnectedElsewhere) => {
                Self::new(Code::ShopAlreadyConnected).message("The shop is connected to another account.")
            }
            CompleteFailure::Connect(ConnectError::Store(error)) => error.into(),
            CompleteFailure::Seal(error) => Self::internal(&error),
        }
    }
}

/// What the platform made of it.
pub(super) fn refused(error: &CompleteError) -> ApiError {
    let code = if error.is_trouble_there() { Code::ProviderUnavailable } else { Code::AuthorizationRefused };
    // A platform's own words may be long.
    let said: String = error.to_string().chars().take(300).collect();
    let sentence: String = said.chars().take(1).flat_map(char::to_uppercase).chain(said.chars().skip(1)).collect();
    ApiError::new(code).message(format!("{sentence}."))
}
