//! `/api/v1/webhooks`: subscriptions to events.

use actix_web::{HttpRequest, web};
use domain::{
    events::{EVERY_EVENT, EventKind},
    idempotency::Written,
    page::Page,
    sealing::Binding,
    webhooks::{
        CreateError, Created, NewSubscription, SECRET_PURPOSE, Subscription,
        address::AllowList,
        signature::Secret,
        url::{UrlRefused, WebhookUrl},
    },
};
use ring::rand::{SecureRandom, SystemRandom};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::Caller,
    body::{Accepts, Fields, Upload},
    error::{ApiError, Code},
    names,
    query::Query,
    respond::{API_VERSION, List, Reply, Warnings, instant},
    state::State,
    warnings::Warning,
    write::{detached, mark_replayed},
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
            total_fired,
            total_failed,
            created_at,
        } = subscription;
        Self {
            id,
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
    params(
        ("limit" = Option<i64>, Query, description = "Rows per page, 25 unless said; more than 100 is read as 100.", minimum = 1, example = 25),
        ("cursor" = Option<i64>, Query, description = "`next_cursor` of the page before.", minimum = 1),
    ),
    responses((status = 200, description = "The subscriptions.", body = List<SubscriptionBody>)),
    security(("api_key" = ["read"]))
)]
pub async fn list(caller: Caller, mut query: Query, state: web::Data<State>) -> Result<Reply, ApiError> {
    let page = query.page(25, 100)?;
    let warnings = query.finish()?;
    let mut kept = state.webhooks.list(caller.account()).await?;
    kept.retain(|subscription| page.cursor.is_none_or(|cursor| subscription.id < cursor));
    let found = Page::cut(kept, page.limit, |subscription: &Subscription| subscription.id);
    Reply::found(&List::new(page, found, SubscriptionBody::from, warnings))
}

/// What to subscribe to. Unknown fields are ignored and listed in `warnings`.
#[derive(ToSchema)]
#[schema(as = NewWebhook)]
#[expect(dead_code, reason = "describes the body; the fields are taken one by one")]
pub struct NewWebhook {
    /// HTTPS, on the public Internet, at most 2048 characters.
    #[schema(max_length = 2048, example = "https://hooks.example.com/analytics")]
    url: String,
    /// Names of events, or `*` for the whole catalogue. The names outside the catalogue must be given one by one.
    #[schema(value_type = Option<Vec<names::SubscribedEvent>>, min_items = 1, default = json!(["*"]),
        example = json!(["credits.low", "anomaly.detected"]))]
    events: Option<Vec<String>>,
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

/// What the body asks for, checked.
struct Wanted {
    url: WebhookUrl,
    events: Vec<String>,
    warnings: Warnings,
}

impl Wanted {
    fn read(mut fields: Fields, query: Query, allowed: &AllowList) -> Result<Self, ApiError> {
        let missing = || ApiError::new(Code::MissingParameter).message("`url` is required.").param("url");
        let url = fields.text("url", Code::InvalidWebhookUrl).map_err(|error| match error.code {
            Code::InvalidWebhookUrl => error.reason("malformed"),
            _ => error,
        })?;
        let url = WebhookUrl::parse_allowing(&url.ok_or_else(missing)?, allowed).map_err(|refused| {
            let UrlRefused { reason, message } = refused;
            ApiError::new(Code::InvalidWebhookUrl).message(sentence(&message)).param("url").reason(reason.code())
        })?;
        let events = match fields.take("events") {
            None => vec![EVERY_EVENT.to_owned()],
            Some(field) => chosen(field.texts(Code::InvalidParameter)?)?,
        };
        Ok(Self { url, events, warnings: fields.finish(query.finish()?)? })
    }
}

/// A message of the domain as a sentence.
fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).chain(['.']).collect()).unwrap_or_default()
}

/// The events of a subscription, each once and as far as `*` does not already mean them.
pub(super) fn chosen(names: Vec<String>) -> Result<Vec<String>, ApiError> {
    if names.is_empty() {
        return Err(ApiError::parameter("events", "must name at least one event, or be left out for all"));
    }
    let every = names.iter().any(|name| name == EVERY_EVENT);
    let mut kept: Vec<String> = Vec::new();
    for name in names {
        let known = name == EVERY_EVENT || name.parse::<EventKind>().is_ok();
        if !known {
            return Err(ApiError::new(Code::UnknownEvent).param("events").allowed(EventKind::NAMES));
        }
        let implied = every && name.parse::<EventKind>().is_ok_and(EventKind::is_catalogued);
        if !implied && !kept.contains(&name) {
            kept.push(name);
        }
    }
    Ok(kept)
}

/// Subscribe to events.
///
/// Creates a subscription. The URL is checked at once: HTTPS only, and nowhere inside a network.
#[utoipa::path(
    post, path = "/api/v1/webhooks", tag = "webhooks", operation_id = "create_webhook",
    request_body(content = NewWebhook, content_type = "application/json"),
    responses((status = 200, description = "The subscription, with the secret that is shown only here.", body = CreatedBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([
        Code::IdempotencyKeySuperseded, Code::InvalidWebhookUrl, Code::UnknownEvent, Code::WebhookLimitReached
    ])))
)]
pub async fn create(
    caller: Caller,
    query: Query,
    request: HttpRequest,
    upload: Upload,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let idempotency = upload.idempotency(&request)?;
    let Wanted { url, events, warnings } =
        Wanted::read(upload.fields(Accepts::Json)?, query, &state.settings.webhook_allow_loopback)?;
    let account = caller.account();
    let work = async move {
        let id = state.webhooks.reserve_id().await?;
        let binding = Binding { purpose: SECRET_PURPOSE, account, row: id };
        let sealed_secret =
            state.sealer.seal(binding, new_secret()?.expose().as_bytes()).map_err(|e| ApiError::internal(&e))?;
        let subscription =
            NewSubscription { id, url: url.as_str().to_owned(), events, sealed_secret, now: (state.clock)() };
        let Written { value, replayed } = state.webhooks.create(account, subscription, idempotency).await?;
        // The stored secret is opened again, so that a replay gives the answer that came first.
        let binding = Binding { row: value.subscription.id, ..binding };
        let secret = state.sealer.open(binding, &value.sealed_secret).map_err(|e| ApiError::internal(&e))?;
        Ok::<_, ApiError>((value, secret, replayed))
    };
    let (created, secret, replayed) = detached(work).await?;
    Ok(mark_replayed(Reply::done(&created_body(created, secret, warnings)?)?, replayed))
}

pub(super) fn new_secret() -> Result<Secret, ApiError> {
    let mut random = [0; 32];
    SystemRandom::new().fill(&mut random).map_err(|error| ApiError::internal(&error))?;
    Ok(Secret::generate(random))
}

fn created_body(created: Created, secret: Vec<u8>, warnings: Warnings) -> Result<CreatedBody, ApiError> {
    let Subscription { id, url, events, active, created_at, .. } = created.subscription;
    Ok(CreatedBody {
        id,
        url,
        events,
        active,
        created_at: instant(created_at),
        secret: String::from_utf8(secret).map_err(|_| ApiError::internal(&"a sealed secret is not a text"))?,
        warning: STORE_THE_SECRET,
        api_version: API_VERSION,
        warnings,
    })
}

impl From<CreateError> for ApiError {
    fn from(error: CreateError) -> Self {
        match error {
            CreateError::LimitReached => Self::new(Code::WebhookLimitReached),
            CreateError::Idempotency(error) => error.into(),
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

/// Revoke a subscription.
///
/// Revokes a subscription for good. Nothing more is sent to it.
#[utoipa::path(
    delete, path = "/api/v1/webhooks", tag = "webhooks", operation_id = "revoke_webhook",
    params(("id" = i64, Query, description = "The subscription.", minimum = 1, example = 3)),
    responses((status = 200, description = "The subscription is revoked.", body = RevokedBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::MissingParameter, Code::WebhookNotFound])))
)]
pub async fn revoke(caller: Caller, mut query: Query, state: web::Data<State>) -> Result<Reply, ApiError> {
    let missing = || ApiError::new(Code::MissingParameter).message("`id` is required.").param("id");
    let id = query.positive("id")?.ok_or_else(missing)?;
    query.finish()?;
    let account = caller.account();
    let work = async move { state.webhooks.revoke(account, id, (state.clock)()).await };
    if detached(work).await? {
        Reply::done(&RevokedBody { ok: true })
    } else {
        Err(ApiError::new(Code::WebhookNotFound))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
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
