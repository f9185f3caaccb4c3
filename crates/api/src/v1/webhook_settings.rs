//! `/api/v1/webhooks/{id}`: what an integrator changes about a subscription.

use actix_web::{HttpRequest, web};
use app::webhooks::{self, NewSecret, RotateFailure};
use domain::webhooks::settings::{Change, Changed, DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use validator::Validate;

use super::webhooks::{STORE_THE_SECRET, SubscriptionBody, chosen, new_secret};
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
    write::{detached, written},
};

/// What to change. Fields that are left out stay as they are.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = WebhookChange)]
pub struct ChangeRequest {
    /// Names of events, or `*` for the whole catalogue.
    #[schema(value_type = Option<Vec<names::SubscribedEvent>>, min_items = 1, example = json!(["credits.low"]))]
    events: Option<Vec<String>>,
    /// Switching off holds what becomes due; switching on forgets the failures so far.
    #[schema(example = true)]
    active: Option<bool>,
    /// Sends what was held. Only for a subscription that is, or becomes, active.
    #[schema(default = false, example = true)]
    resume: Option<bool>,
}

impl Input for ChangeRequest {}

/// The changed subscription.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangedWebhook)]
pub struct ChangedBody {
    #[serde(flatten)]
    subscription: SubscriptionBody,
    /// Held deliveries that became due at once.
    #[schema(example = 0)]
    resumed: u64,
    /// Whether there are more of them, which become due from now on.
    #[schema(example = false)]
    resuming: bool,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Change a subscription.
///
/// Changes which events a subscription gets, and switches it off and on.
#[utoipa::path(
    patch, path = "/api/v1/webhooks/{id}", tag = "webhooks", operation_id = "change_webhook",
    params(("id" = i64, Path, description = "The subscription.", minimum = 1, example = 3)),
    responses((status = 200, description = "The subscription as it is now.", body = ChangedBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::WebhookNotFound, Code::UnknownEvent])))
)]
pub async fn change(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    body: Json<ChangeRequest>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (ChangeRequest { events, active, resume }, _, warnings) = body.into_parts(query.warnings);
    let change = Change { events: events.map(chosen).transpose()?, active, resume: resume.unwrap_or(false) };
    let (account, id) = (caller.account(), path::subscription(&request)?);
    let work = async move { state.webhook_settings.change(account, id, change, None, (state.clock)()).await };
    let changed = detached(work).await?.ok_or(ApiError::new(Code::WebhookNotFound))?;
    let Changed { subscription, resumed, resuming } = changed;
    let subscription = subscription.into();
    Reply::done(&ChangedBody { subscription, resumed, resuming, api_version: API_VERSION, warnings })
}

/// How to rotate.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = Rotation)]
pub struct RotationRequest {
    /// For how many hours deliveries are signed with the old secret as well, 0 to 168.
    #[validate(range(min = 0, max = MAX_OVERLAP_HOURS))]
    #[schema(minimum = 0, maximum = 168, default = 24, example = 24)]
    overlap_hours: Option<i64>,
}

impl Input for RotationRequest {
    const IS_OPTIONAL: bool = true;
}

/// The new secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RotatedSecret)]
pub struct RotatedBody {
    #[schema(example = 3)]
    id: i64,
    /// The key of the signatures from now on. Shown here and never again.
    #[schema(example = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")]
    secret: String,
    /// Until when deliveries carry a signature by the old secret too.
    #[schema(format = DateTime, example = "2026-05-03T12:00:00Z")]
    previous_expires_at: String,
    #[schema(value_type = String)]
    warning: &'static str,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Rotate a signing secret.
///
/// Puts a new secret in place. During the overlap, deliveries carry `x-svc-signature-previous` and a second `v1,` value. One old
/// secret is kept: another rotation ends the one before it at once, whatever was left of its overlap.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/rotate", tag = "webhooks", operation_id = "rotate_webhook",
    params(("id" = i64, Path, description = "The subscription.", minimum = 1, example = 3)),
    responses((status = 200, description = "The new secret, shown only here.", body = RotatedBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::WebhookNotFound, Code::IdempotencyKeySuperseded])))
)]
pub async fn rotate(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    body: Json<RotationRequest>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (RotationRequest { overlap_hours: hours }, idempotency, warnings) = body.into_parts(query.warnings);
    let (account, id) = (caller.account(), path::subscription(&request)?);
    let now = (state.clock)();
    let overlap_until = now + time::Duration::hours(hours.unwrap_or(DEFAULT_OVERLAP_HOURS));
    let new = NewSecret { secret: new_secret()?, overlap_until, note: None, now };
    let work =
        async move { webhooks::rotate(&*state.webhook_settings, &*state.sealer, account, id, new, idempotency).await };
    let body = |(secret, overlap_until)| RotatedBody {
        id: id.0,
        secret,
        previous_expires_at: instant(overlap_until),
        warning: STORE_THE_SECRET,
        api_version: API_VERSION,
        warnings,
    };
    written(work, body).await
}

impl From<RotateFailure> for ApiError {
    fn from(failure: RotateFailure) -> Self {
        match failure {
            RotateFailure::NotFound => Self::new(Code::WebhookNotFound),
            RotateFailure::Refused(error) => error.into(),
            RotateFailure::Seal(error) => Self::internal(&error),
        }
    }
}
