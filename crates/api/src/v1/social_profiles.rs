//! `/api/v1/social/profiles`: the profiles whose comments are read.

use actix_web::{HttpRequest, web};
use domain::social::{
    Channel,
    profiles::{EndReason, ProfileStatus, SocialProfile},
};
use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;

use super::integrations::DoneBody;
use crate::{
    auth::Caller,
    error::{ApiError, Code},
    names, path,
    query::{NoParams, Paging, Query},
    respond::{API_VERSION, List, Reply, Warnings, instant},
    state::State,
    warnings::Warning,
    write::detached,
};

/// A connected profile. Its token is never shown.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SocialProfile)]
pub(super) struct ProfileBody {
    #[schema(example = 3)]
    id: i64,
    #[schema(schema_with = names::channel)]
    channel: Channel,
    /// The network's number of the profile.
    #[schema(example = "17841400000000001")]
    external_id: String,
    /// The name that it comments under; null where it is not known.
    #[schema(example = "myshop")]
    handle: Option<String>,
    #[schema(schema_with = names::profile_status)]
    status: ProfileStatus,
    /// Permissions on the network's side; none where the operator gave the token.
    #[schema(example = json!(["instagram_basic", "instagram_manage_comments"]))]
    scopes: Vec<String>,
    /// Permissions that are needed and were not granted: what needs them is left out.
    missing_scopes: Vec<String>,
    #[schema(format = DateTime, example = "2026-11-20T10:00:00Z")]
    connected_at: String,
    /// Null while it is connected.
    #[schema(format = DateTime)]
    ended_at: Option<String>,
    #[schema(schema_with = names::profile_end_reason)]
    end_reason: Option<EndReason>,
    /// The network no longer takes the token: connect the profile again.
    #[schema(example = false)]
    reconnect_needed: bool,
    /// When the network last agreed to send hooks; null where it did not: comments are polled every five minutes then.
    #[schema(format = DateTime, example = "2026-11-20T10:00:00Z")]
    subscribed_at: Option<String>,
    /// When comments last came; null before.
    #[schema(format = DateTime, example = "2026-11-20T10:05:00Z")]
    last_event_at: Option<String>,
    /// When comments were last polled; null before.
    #[schema(format = DateTime, example = "2026-11-20T10:05:00Z")]
    last_poll_at: Option<String>,
}

impl ProfileBody {
    pub(super) fn new(profile: SocialProfile, now: OffsetDateTime) -> Self {
        let (status, reconnect_needed) = (profile.status(now), profile.reconnect_needed());
        let SocialProfile {
            id,
            channel,
            external_id,
            handle,
            scopes,
            missing_scopes,
            connected_at,
            ended_at,
            end_reason,
            last_event_at,
            last_poll_at,
            subscribed_at,
        } = profile;
        Self {
            id: id.0,
            channel,
            external_id,
            handle,
            status,
            scopes,
            missing_scopes,
            connected_at: instant(connected_at),
            ended_at: ended_at.map(instant),
            end_reason,
            reconnect_needed,
            subscribed_at: subscribed_at.map(instant),
            last_event_at: last_event_at.map(instant),
            last_poll_at: last_poll_at.map(instant),
        }
    }
}

/// One profile.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OneSocialProfile)]
pub struct OneBody {
    #[serde(flatten)]
    profile: ProfileBody,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl OneBody {
    pub(super) fn new(profile: SocialProfile, now: OffsetDateTime, warnings: Warnings) -> Self {
        Self { profile: ProfileBody::new(profile, now), api_version: API_VERSION, warnings }
    }
}

/// The connected profiles.
///
/// Lists the profiles whose comments are read, newest first, ended ones included. A profile is stale when its comments were
/// not read for more than 24 hours.
#[utoipa::path(
    get, path = "/api/v1/social/profiles", tag = "conversations", operation_id = "list_social_profiles",
    params(Paging),
    responses((status = 200, description = "A page of profiles.", body = List<ProfileBody>)),
    security(("api_key" = ["read"])),
    extensions(("x-since" = json!("2026-12")))
)]
pub async fn list(caller: Caller, query: Query<Paging>, state: web::Data<State>) -> Result<Reply, ApiError> {
    let (page, now) = (query.params.page(), (state.clock)());
    let found = state.profiles.connections.page(caller.account(), page).await?;
    Reply::found(&List::new(page, found, |profile| ProfileBody::new(profile, now), query.warnings))
}

/// A connected profile.
///
/// Gives a profile: its state, what was granted, and when its comments last came.
#[utoipa::path(
    get, path = "/api/v1/social/profiles/{id}", tag = "conversations", operation_id = "get_social_profile",
    params(("id" = i64, Path, description = "The profile.", minimum = 1, example = 3)),
    responses((status = 200, description = "The profile.", body = OneBody)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])), ("x-since" = json!("2026-12")))
)]
pub async fn get(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let found = state.profiles.connections.find(caller.account(), path::profile(&request)?).await?;
    let found = found.ok_or_else(path::no_profile)?;
    Reply::found(&OneBody::new(found, (state.clock)(), query.warnings))
}

/// Disconnect a profile.
///
/// Has the network send no more hooks, forgets the token and stops polling. Conversations stay; answers that were not sent
/// are held for a person. The profile stays listed as revoked, and another account may connect it.
#[utoipa::path(
    delete, path = "/api/v1/social/profiles/{id}", tag = "conversations", operation_id = "disconnect_social_profile",
    params(("id" = i64, Path, description = "The profile.", minimum = 1, example = 3)),
    responses((status = 200, description = "The profile is disconnected.", body = DoneBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::NotFound])), ("x-since" = json!("2026-12")))
)]
pub async fn disconnect(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (account, id) = (caller.account(), path::profile(&request)?);
    if detached(async move { state.profiles.disconnect(account, id, None).await }).await? {
        Reply::done(&DoneBody::new(query.warnings))
    } else {
        Err(path::no_profile())
    }
}
