//! `/api/v1/webhooks/{id}`: what an integrator changes about a subscription.

use actix_web::{HttpRequest, web};
use domain::{
    sealing::Binding,
    webhooks::{
        SECRET_PURPOSE,
        settings::{Change, Changed, DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS, Rotated, Rotation},
    },
};
use serde::Serialize;
use utoipa::ToSchema;

use super::webhooks::{SubscriptionBody, chosen, new_secret};
use crate::{
    auth::Caller,
    body::{Accepts, Upload},
    error::{ApiError, Code},
    names, path,
    query::Query,
    respond::{API_VERSION, Reply, Warnings, instant},
    state::State,
    write::{detached, mark_replayed},
};

/// What to change. Fields that are left out stay as they are.
#[derive(ToSchema)]
#[schema(as = WebhookChange)]
#[expect(dead_code, reason = "describes the body; the fields are taken one by one")]
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
    #[schema(required = false)]
    warnings: Warnings,
}

/// Change a subscription.
///
/// Changes which events a subscription gets, and switches it off and on.
#[utoipa::path(
    patch, path = "/api/v1/webhooks/{id}", tag = "webhooks", operation_id = "change_webhook",
    params(("id" = i64, Path, description = "The subscription.", minimum = 1, example = 3)),
    request_body(content = ChangeRequest, content_type = "application/json"),
    responses((status = 200, description = "The subscription as it is now.", body = ChangedBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::WebhookNotFound, Code::UnknownEvent])))
)]
pub async fn change(
    caller: Caller,
    query: Query,
    request: HttpRequest,
    upload: Upload,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let mut fields = upload.fields(Accepts::Json)?;
    let events = fields.take("events").map(|field| chosen(field.texts(Code::InvalidParameter)?)).transpose()?;
    let active = fields.take("active").map(|field| field.flag()).transpose()?;
    let resume = fields.take("resume").map(|field| field.flag()).transpose()?.unwrap_or(false);
    let warnings = fields.finish(query.finish()?)?;
    let (account, id) = (caller.account(), path::subscription(&request)?);
    let change = Change { events, active, resume };
    let work = async move { state.webhook_settings.change(account, id, change, (state.clock)()).await };
    let changed = detached(work).await?.ok_or(ApiError::new(Code::WebhookNotFound))?;
    let Changed { subscription, resumed, resuming } = changed;
    let subscription = subscription.into();
    Reply::done(&ChangedBody { subscription, resumed, resuming, api_version: API_VERSION, warnings })
}

/// How to rotate.
#[derive(ToSchema)]
#[schema(as = Rotation)]
#[expect(dead_code, reason = "describes the body; the fields are taken one by one")]
pub struct RotationRequest {
    /// For how many hours deliveries are signed with the old secret as well, 0 to 168.
    #[schema(minimum = 0, maximum = 168, default = 24, example = 24)]
    overlap_hours: Option<i64>,
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
    #[schema(required = false)]
    warnings: Warnings,
}

/// Rotate a signing secret.
///
/// Puts a new secret in place. During the overlap, deliveries carry `x-svc-signature-previous` and a second `v1,` value.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/rotate", tag = "webhooks", operation_id = "rotate_webhook",
    params(("id" = i64, Path, description = "The subscription.", minimum = 1, example = 3)),
    request_body(content = RotationRequest, content_type = "application/json"),
    responses((status = 200, description = "The new secret, shown only here.", body = RotatedBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::WebhookNotFound, Code::IdempotencyKeySuperseded])))
)]
pub async fn rotate(
    caller: Caller,
    query: Query,
    request: HttpRequest,
    upload: Upload,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let idempotency = upload.idempotency(&request)?;
    let mut fields = upload.fields_or_none(Accepts::Json)?;
    let hours = fields.take("overlap_hours").map(|field| field.integer(0, MAX_OVERLAP_HOURS)).transpose()?;
    let warnings = fields.finish(query.finish()?)?;
    let (account, id) = (caller.account(), path::subscription(&request)?);
    let now = (state.clock)();
    let overlap_until = now + time::Duration::hours(hours.unwrap_or(DEFAULT_OVERLAP_HOURS));
    let work = async move {
        let binding = Binding { purpose: SECRET_PURPOSE, account, row: id };
        let sealed_secret =
            state.sealer.seal(binding, new_secret()?.expose().as_bytes()).map_err(|e| ApiError::internal(&e))?;
        let rotation = Rotation { sealed_secret, overlap_until, now };
        let rotated = state.webhook_settings.rotate(account, id, rotation, idempotency).await?;
        let rotated = rotated.ok_or(ApiError::new(Code::WebhookNotFound))?;
        // Both as they are stored, so that a replay gives the answer that came first.
        let Rotated { sealed_secret, overlap_until } = rotated.value;
        let secret = state.sealer.open(binding, &sealed_secret).map_err(|e| ApiError::internal(&e))?;
        Ok::<_, ApiError>((secret, overlap_until, rotated.replayed))
    };
    let (secret, overlap_until, replayed) = detached(work).await?;
    let body = RotatedBody {
        id,
        secret: String::from_utf8(secret).map_err(|_| ApiError::internal(&"a sealed secret is not a text"))?,
        previous_expires_at: instant(overlap_until),
        warning: super::webhooks::STORE_THE_SECRET,
        api_version: API_VERSION,
        warnings,
    };
    Ok(mark_replayed(Reply::done(&body)?, replayed))
}
