//! Webhook subscriptions.

pub mod address;
pub mod attempt;
pub mod breaker;
pub mod delivery;
pub mod log;
mod names;
pub mod replay;
pub mod schedule;
pub mod settings;
pub mod signature;
pub mod url;
pub mod verify;

use async_trait::async_trait;
use time::OffsetDateTime;

use crate::{
    AccountId, StoreError, SubscriptionId,
    audit::Entry,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    sealing::Binding,
};

/// Subscriptions that an account may have at once.
pub const MAX_SUBSCRIPTIONS: i64 = 16;

/// What the sealed signing secret of a subscription is bound to: it opens in no other row.
#[must_use]
pub const fn secret_binding(account: AccountId, subscription: SubscriptionId) -> Binding {
    Binding { purpose: "webhook_secret", account, row: subscription.0 }
}

/// A webhook subscription that is not revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    pub id: SubscriptionId,
    pub url: String,
    /// Event names; `*` stands for the catalogue, and then only names outside the catalogue stand beside it.
    pub events: Vec<String>,
    pub active: bool,
    /// Why it was switched off; `None` while it is active.
    pub disabled_reason: Option<String>,
    pub last_fired_at: Option<OffsetDateTime>,
    /// HTTP status of the last attempt; 0 when there was no HTTP answer.
    pub last_status: Option<i32>,
    /// Failed attempts since the last success.
    pub fail_count: i64,
    /// Attempts in a row that show the receiver [in trouble](breaker::is_in_trouble).
    pub trouble_count: i64,
    /// Attempts made.
    pub total_fired: i64,
    /// Attempts that failed.
    pub total_failed: i64,
    pub created_at: OffsetDateTime,
}

/// A subscription to be created. The secret is sealed before it reaches the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSubscription {
    /// From [`WebhookStore::reserve_id`]: the sealed secret is bound to it.
    pub id: SubscriptionId,
    pub url: String,
    pub events: Vec<String>,
    pub sealed_secret: Vec<u8>,
    /// For the audit log, where a person makes it.
    pub note: Option<Entry>,
    pub now: OffsetDateTime,
}

/// A subscription as it was created, and its sealed secret, which an idempotent replay needs to give the first answer
/// again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    pub subscription: Subscription,
    pub sealed_secret: Vec<u8>,
}

/// Why a subscription was not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    #[error("the account has {MAX_SUBSCRIPTIONS} webhook subscriptions, which is the limit")]
    LimitReached,
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait WebhookStore: Send + Sync {
    /// Every subscription that is not revoked, newest first.
    async fn list(&self, account: AccountId) -> Result<Vec<Subscription>, StoreError>;
    /// An id that no other subscription has or will get.
    async fn reserve_id(&self) -> Result<SubscriptionId, StoreError>;
    /// Under an idempotency key that was used before, gives what was created then, unless that is
    /// [`IdempotencyError::Superseded`]: revoked, or with another secret.
    async fn create(
        &self,
        account: AccountId,
        subscription: NewSubscription,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Idempotent<Created>, CreateError>;
    /// Revokes for good; workers cancel what is pending and held. False when the account has no such subscription or it is revoked already.
    async fn revoke(
        &self,
        account: AccountId,
        id: SubscriptionId,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError>;
}
