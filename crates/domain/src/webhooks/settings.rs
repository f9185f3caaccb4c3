//! What an integrator changes about a subscription.

use async_trait::async_trait;
use time::OffsetDateTime;

use super::Subscription;
use crate::{
    AccountId, StoreError, SubscriptionId,
    audit::Entry,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
};

/// The longest time for which the secret before a rotation goes on signing, hours.
pub const MAX_OVERLAP_HOURS: i64 = 7 * 24;
/// That time unless it is said, hours.
pub const DEFAULT_OVERLAP_HOURS: i64 = 24;

/// Why a subscription was switched off by its owner, as `disabled_reason` says it.
pub const DISABLED_BY_OWNER: &str = "owner";

/// Changes of a subscription; what is none stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Change {
    pub events: Option<Vec<String>>,
    /// Switching on forgets the failures so far.
    pub active: Option<bool>,
    /// Whether what was held becomes due; only with a subscription that is, or becomes, active.
    pub resume: bool,
}

/// A subscription after a change, and what became of the deliveries that were held for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub subscription: Subscription,
    /// Held deliveries that became due with the change.
    pub resumed: u64,
    /// Whether there are more, which workers make due from now on.
    pub resuming: bool,
}

/// A subscription with its secrets, as they are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSubscription {
    pub subscription: Subscription,
    pub sealed_secret: Vec<u8>,
    /// The secret before the last rotation and until when it signs as well.
    pub previous: Option<(Vec<u8>, OffsetDateTime)>,
}

/// A new secret in place of the present one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    pub sealed_secret: Vec<u8>,
    /// Until when the replaced secret signs as well.
    pub overlap_until: OffsetDateTime,
    /// For the audit log, where a person asks for it.
    pub note: Option<Entry>,
    pub now: OffsetDateTime,
}

/// What a rotation put in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotated {
    pub sealed_secret: Vec<u8>,
    /// Until when the replaced secret signs as well.
    pub overlap_until: OffsetDateTime,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait WebhookSettings: Send + Sync {
    /// `None` when the account has no such subscription or it is revoked.
    async fn find(&self, account: AccountId, id: SubscriptionId) -> Result<Option<StoredSubscription>, StoreError>;
    /// Of the deliveries that are held, a first bounded number becomes due with the change, and
    /// [`super::delivery::DeliveryQueue::advance_bulk`] sees to the others. `None` as in `find`.
    async fn change(
        &self,
        account: AccountId,
        id: SubscriptionId,
        change: Change,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Option<Changed>, StoreError>;
    /// Puts a new secret in place, and gives it as it is stored: an idempotent replay gives the one put in place first, and
    /// is [`IdempotencyError::Superseded`] once another took its place. `None` as in `find`.
    async fn rotate(
        &self,
        account: AccountId,
        id: SubscriptionId,
        rotation: Rotation,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Option<Idempotent<Rotated>>, IdempotencyError>;
}
