//! `/api/v1/webhooks`: subscriptions to events.

use ::web::random;
use actix_web::web;
use app::webhooks::{self, CreateFailure, SubscriptionRequest};
use domain::{
    AccountId, SubscriptionId,
    events::{self, EVERY_EVENT, InvalidChoice},
    page::Page,
    webhooks::{
        CreateError, Subscription,
        address::AllowList,
        signature::Secret,
        url::{UrlRefused, WebhookUrl},
    },
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use crate::{
    auth::Caller,
    body::Json,
    error::{ApiError, Code},
    input::Input,
    names,
    query::{NoParams, Paging, Query},
    respond::{API_VERSION, List, Reply, Warnings, instant},
    state::State,
    warnings::Warning,
    write::{detached, written},
};

/// A subscription to events.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookSubscription)]
pub struct SubscriptionBody {
    #[schema(example = 3)]
    id: i64,
    #[schema(example = "https://hooks.example.com/analytics")]
    url: String,
    /// Names of events, or `*` for the whole catalogue.
    #[schema(example = json!(["*"]))]
    events: Vec<String>,
    /// False after it was switched off for failing too long.
    active: bool,
    /// Null before the first attempt.
    #[schema(format = DateTime, example = "2026-05-02T11:58:04Z")]
    last_fired_at: Option<String>,
    /// HTTP status of the last attempt; 0 when there was no HTTP answer, null before the first attempt.
    #[schema(example = 200)]
    last_status: Option<i32>,
    /// Failed attempts since the last success.
    #[schema(example = 0)]
    fail_count: i64,
    /// Attempts made.
    #[schema(example = 128)]
    total_fired: i64,
    /// Attempts that failed.
    #[schema(example = 2)]
    total_failed: i64,
    #[schema(format = DateTime, example = "2026-03-01T08:00:00Z")]
    created_at: String,
    /// Why it was switched off; null while it is active.
    disabled_reason: Option<String>,
}

impl From<Subscription> for SubscriptionBody {
    fn from(subscription: Subscription) -> Self {
        let Subscription {
            id,
            url,
            events,
            active,
            disabled_reason,
            last_fired_at,
            last_status,
            fail_count,
            trouble_count: _,
            total_fired,
            total_failed,
            created_at,
        } = subscription;
        Self {
            id: id.0,
            url,
            events,
            active,
            last_fired_at: last_fired_at.map(instant),
            last_status,
            fail_count,
            total_fired,
            total_failed,
            created_at: instant(created_at),
            disabled_reason,
        }
    }
}

/// Webhook subscriptions.
///
/// Lists the subscriptions that are not revoked, newest first. Secrets are never listed.
#[utoipa::path(
    get, path = "/api/v1/webhooks", tag = "webhooks", operation_id = "list_webhooks",
    params(Paging),
    responses((status = 200, description = "The subscriptions.", body = List<SubscriptionBody>)),
    security(("api_key" = ["read"]))
)]
pub async fn list(caller: Caller, query: Query<Paging>, state: web::Data<State>) -> Result<Reply, ApiError> {
    let (page, warnings) = (query.params.page(), query.warnings);
    let mut kept = state.webhooks.list(caller.account()).await?;
    kept.retain(|subscription| page.cursor.is_none_or(|cursor| subscription.id.0 < cursor));
    let found = Page::cut(kept, page.limit, |subscription: &Subscription| subscription.id.0);
    Reply::found(&List::new(page, found, SubscriptionBody::from, warnings))
}

/// What to subscribe to. Unknown fields are ignored and listed in `warnings`.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = NewWebhook)]
pub struct NewWebhook {
    /// HTTPS, on the public Internet, at most 2048 characters.
    #[schema(
        max_length = 2048,
        example = "https://hooks.example.com/analytics",
        pattern = "^https://([A-Za-z0-9]([A-Za-z0-9-]{0,48}[A-Za-z0-9])?\\.){1,4}[A-Za-z]{2,20}(:(443|[1-9][0-9]{3}|[1-5][0-9]{4}))?(/[!\"$-\\[\\]-~]{0,1800})?$"
    )]
    url: String,
    /// Names of events, or `*` for the whole catalogue. The names outside the catalogue must be given one by one.
    #[schema(value_type = Option<Vec<names::SubscribedEvent>>, min_items = 1, default = json!(["*"]),
        example = json!(["credits.low", "anomaly.detected"]))]
    events: Option<Vec<String>>,
}

impl Input for NewWebhook {
    fn fault(field: &str) -> ApiError {
        match field {
            "url" => ApiError::new(Code::InvalidWebhookUrl).reason("malformed"),
            _ => ApiError::new(Code::InvalidParameter),
        }
    }
}

/// A new subscription, with its secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CreatedWebhook)]
pub struct CreatedBody {
    #[schema(example = 3)]
    id: i64,
    #[schema(example = "https://hooks.example.com/analytics")]
    url: String,
    #[schema(example = json!(["credits.low", "anomaly.detected"]))]
    events: Vec<String>,
    active: bool,
    #[schema(format = DateTime, example = "2026-05-02T12:00:00Z")]
    created_at: String,
    /// The key of the signatures. Shown here and never again.
    #[schema(example = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")]
    secret: String,
    #[schema(value_type = String)]
    warning: &'static str,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

pub(super) const STORE_THE_SECRET: &str = "Store the secret now: it verifies deliveries and is not shown again.";

fn receiver(url: &str, allowed: &AllowList) -> Result<WebhookUrl, ApiError> {
    WebhookUrl::parse_allowing(url, allowed).map_err(|refused| {
        let UrlRefused { reason, message } = refused;
        ApiError::new(Code::InvalidWebhookUrl).message(sentence(&message)).param("url").reason(reason.code())
    })
}

/// A message of the domain as a sentence.
fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).chain(['.']).collect()).unwrap_or_default()
}

/// The events of a subscription ([`events::chosen`]).
pub(super) fn chosen(names: Vec<String>) -> Result<Vec<String>, ApiError> {
    events::chosen(names).map_err(|invalid| match invalid {
        InvalidChoice::Empty => ApiError::parameter("events", "must name at least one event; `*` is all"),
        InvalidChoice::Unknown(place) => ApiError::new(Code::UnknownEvent)
            .message(format!("`events` names at place {place} what is no event."))
            .param("events")
            .allowed(&names::SUBSCRIBED),
    })
}

/// Subscribe to events.
///
/// Creates a subscription. The URL is checked at once: HTTPS only, and nowhere inside a network.
#[utoipa::path(
    post, path = "/api/v1/webhooks", tag = "webhooks", operation_id = "create_webhook",
    responses((status = 200, description = "The subscription, with the secret that is shown only here.", body = CreatedBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([
        Code::IdempotencyKeySuperseded, Code::InvalidWebhookUrl, Code::UnknownEvent, Code::WebhookLimitReached
    ])))
)]
pub async fn create(
    caller: Caller,
    query: Query<NoParams>,
    body: Json<NewWebhook>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (NewWebhook { url, events }, idempotency, warnings) = body.into_parts(query.warnings);
    let url = receiver(&url, &state.settings.webhook_allow_loopback)?;
    let events = events.map_or_else(|| Ok(vec![EVERY_EVENT.to_owned()]), chosen)?;
    let request = SubscriptionRequest { url, events, secret: new_secret()?, note: None, now: (state.clock)() };
    let account = caller.account();
    let work = async move { webhooks::create(&*state.webhooks, &*state.sealer, account, request, idempotency).await };
    written(work, |(subscription, secret)| created_body(subscription, secret, warnings)).await
}

/// A signing secret by the system's random generator.
pub(super) fn new_secret() -> Result<Secret, ApiError> {
    random::bytes().map(Secret::generate).map_err(|error| ApiError::internal(&error))
}

fn created_body(subscription: Subscription, secret: String, warnings: Warnings) -> CreatedBody {
    let Subscription {
        id,
        url,
        events,
        active,
        disabled_reason: _,
        last_fired_at: _,
        last_status: _,
        fail_count: _,
        trouble_count: _,
        total_fired: _,
        total_failed: _,
        created_at,
    } = subscription;
    CreatedBody {
        id: id.0,
        url,
        events,
        active,
        created_at: instant(created_at),
        secret,
        warning: STORE_THE_SECRET,
        api_version: API_VERSION,
        warnings,
    }
}

impl From<CreateFailure> for ApiError {
    fn from(failure: CreateFailure) -> Self {
        match failure {
            CreateFailure::Refused(CreateError::LimitReached) => Self::new(Code::WebhookLimitReached),
            CreateFailure::Refused(CreateError::Idempotency(error)) => error.into(),
            CreateFailure::Seal(error) => Self::internal(&error),
        }
    }
}

/// Done, and nothing to say about it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Revoked)]
pub struct RevokedBody {
    #[schema(example = true)]
    ok: bool,
}

/// Which subscription to revoke.
#[derive(Deserialize, Validate, IntoParams)]
pub struct RevokeParams {
    /// The subscription.
    #[param(minimum = 1, example = 3)]
    id: i64,
}

impl Input for RevokeParams {}

/// Revoke a subscription.
///
/// Revokes a subscription for good. Nothing more is sent to it.
#[utoipa::path(
    delete, path = "/api/v1/webhooks", tag = "webhooks", operation_id = "revoke_webhook",
    params(RevokeParams),
    responses((status = 200, description = "The subscription is revoked.", body = RevokedBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::MissingParameter, Code::WebhookNotFound])))
)]
pub async fn revoke(caller: Caller, query: Query<RevokeParams>, state: web::Data<State>) -> Result<Reply, ApiError> {
    let RevokeParams { id } = query.params;
    let account = caller.account();
    let work = async move { state.webhooks.revoke(account, SubscriptionId(id), None, (state.clock)()).await };
    if detached(work).await? {
        Reply::done(&RevokedBody { ok: true })
    } else {
        Err(ApiError::new(Code::WebhookNotFound))
    }
}

/// Refuses a subscription that the account does not have.
pub(super) async fn known(state: &State, account: AccountId, id: SubscriptionId) -> Result<(), ApiError> {
    state.webhook_settings.find(account, id).await?.ok_or(ApiError::new(Code::WebhookNotFound))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[rstest]
    #[case(&["*"], &["*"])]
    #[case(&["credits.low", "credits.low"], &["credits.low"])]
    #[case(&["credits.low", "*"], &["*"])]
    #[case(&["*", "credit.consumed"], &["*", "credit.consumed"])]
    fn events_are_kept_once_and_not_beside_what_includes_them(#[case] asked: &[&str], #[case] kept: &[&str]) {
        assert_eq!(chosen(names(asked)).unwrap(), names(kept));
    }

    #[rstest]
    #[case(&[], Code::InvalidParameter)]
    #[case(&["credits.*"], Code::UnknownEvent)]
    #[case(&["Credits.Low"], Code::UnknownEvent)]
    #[case(&["credits.low", ""], Code::UnknownEvent)]
    fn other_names_are_refused(#[case] asked: &[&str], #[case] code: Code) {
        assert_eq!(chosen(names(asked)).unwrap_err().code, code);
    }
}
