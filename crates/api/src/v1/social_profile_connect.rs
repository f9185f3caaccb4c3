//! `POST /api/v1/social/profiles/authorize` and `/complete`: connecting a profile.

use actix_web::web;
use app::{
    shops::{
        NotConfigured,
        connect::{AuthorizeFailure, Begun},
    },
    social::profiles::{Candidate, ConnectFailure},
};
use domain::{
    shops::AuthorizeError,
    social::{Channel, profiles::ProfileChannel},
};
use serde::Deserialize;
use utoipa::ToSchema;
use validator::Validate;

use super::{
    integration_connect::{AuthorizationAnswer, BegunBody, owner, randomness, refused},
    social_profiles::OneBody,
};
use crate::{
    auth::Caller,
    body::Json,
    error::{ApiError, Code},
    input::Input,
    names,
    query::{NoParams, Query},
    respond::Reply,
    state::State,
    write::written,
};

/// Which profile is to be connected.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = NewProfileAuthorization)]
pub struct NewAuthorization {
    #[schema(value_type = names::ProfileChannelName)]
    channel: ProfileChannel,
    /// The network's number of the profile, which is needed of people only who reach several; at most 32 digits.
    #[validate(length(max = 32, message = "must have at most 32 characters"))]
    #[schema(max_length = 32, pattern = "^[0-9]{1,32}$", example = "17841400000000001")]
    profile: Option<String>,
}

impl Input for NewAuthorization {}

/// Begin connecting a profile.
///
/// Gives the address at which a person grants access to the comments of a profile. The network then redirects to the address
/// that is registered for this service's app; the query of that redirect goes to `complete`. Repeating it begins another
/// authorization.
#[utoipa::path(
    post, path = "/api/v1/social/profiles/authorize", tag = "conversations", operation_id = "authorize_social_profile",
    responses((status = 200, description = "Where to send the person.", body = BegunBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::ProviderNotConfigured])), ("x-since" = json!("2026-12")))
)]
pub async fn authorize(
    caller: Caller,
    query: Query<NoParams>,
    body: Json<NewAuthorization>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (NewAuthorization { channel, profile }, key, warnings) = body.into_parts(query.warnings);
    let (channel, owner, random) = (Channel::from(channel), owner(&caller), randomness()?);
    let work = async move {
        let begun = state.profiles.authorize(&owner, channel, profile, random, key).await;
        begun.map_err(|failure| not_begun(channel, failure))
    };
    written(work, |begun: Begun| BegunBody::new(begun, warnings)).await
}

/// Complete the connection of a profile.
///
/// Takes what the network sent the person back with, and connects the profile; its comments of the last 24 hours come in
/// within minutes. Only a key of the user who began the authorization can complete it, once, within ten minutes.
#[utoipa::path(
    post, path = "/api/v1/social/profiles/complete", tag = "conversations", operation_id = "complete_social_profile",
    responses((status = 200, description = "The profile.", body = OneBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([
        Code::InvalidState, Code::AuthorizationRefused, Code::ProviderNotConfigured, Code::ProfileRequired,
        Code::ProfileAlreadyConnected, Code::ProviderUnavailable
    ])), ("x-since" = json!("2026-12")))
)]
pub async fn complete(
    caller: Caller,
    query: Query<NoParams>,
    body: Json<AuthorizationAnswer>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let owner = owner(&caller);
    let (AuthorizationAnswer { query }, key, warnings) = body.into_parts(query.warnings);
    // Boxed, because it is large.
    let work = Box::pin(async move { state.profiles.complete(&owner, &query, key, None).await });
    // As of when it was made, so that it is told the same again.
    written(work, |made| {
        let at = made.connected_at;
        OneBody::new(made, at, warnings)
    })
    .await
}

fn not_configured(channel: Channel, error: NotConfigured) -> ApiError {
    match error {
        NotConfigured::NoApp => ApiError::new(Code::ProviderNotConfigured)
            .message(format!("No profile of {channel} can be connected to this service.")),
        NotConfigured::Sandbox => error.into(),
    }
}

fn not_begun(channel: Channel, failure: AuthorizeFailure) -> ApiError {
    match failure {
        AuthorizeFailure::NotConfigured(error) => not_configured(channel, error),
        AuthorizeFailure::Refused(AuthorizeError::InvalidShop) => {
            ApiError::parameter("profile", "must be the network's number of a profile, 1 to 32 digits")
        }
        other => other.into(),
    }
}

impl From<ConnectFailure> for ApiError {
    fn from(failure: ConnectFailure) -> Self {
        match failure {
            ConnectFailure::NotConfigured(error) => error.into(),
            ConnectFailure::InvalidState => Self::new(Code::InvalidState),
            ConnectFailure::Network(error) => refused(&error),
            ConnectFailure::NoProfile(channel) => Self::new(Code::AuthorizationRefused)
                .message(format!("Who agreed may moderate no profile of {channel}.")),
            ConnectFailure::OtherProfile(_) => Self::new(Code::AuthorizationRefused)
                .message("Who agreed does not reach that profile, or may not moderate it."),
            ConnectFailure::Several(_, candidates) => {
                let named: Vec<_> = candidates.iter().map(named).collect();
                let said = format!("Who agreed reaches several profiles; name one as `profile`: {}.", named.join(", "));
                Self::new(Code::ProfileRequired).message(said).param("profile")
            }
            ConnectFailure::ConnectedElsewhere => Self::new(Code::ProfileAlreadyConnected),
            ConnectFailure::Idempotency(error) => error.into(),
            ConnectFailure::Seal(error) => Self::internal(&error),
            ConnectFailure::Store(error) => error.into(),
        }
    }
}

fn named(Candidate { external_id, handle }: &Candidate) -> String {
    match handle {
        Some(handle) => format!("{external_id} ({handle})"),
        None => external_id.clone(),
    }
}
