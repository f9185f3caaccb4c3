//! Replays: jobs that send the deliveries of a time span again.

use async_trait::async_trait;
use time::OffsetDateTime;

use super::delivery::DeliveryState;
use crate::{
    AccountId, ReplayId, StoreError, SubscriptionId,
    audit::Entry,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
};

/// Replays that an account may have running at once, each of another subscription.
pub const MAX_RUNNING: usize = 3;

text_enum!(
    /// Where a replay stands.
    ReplayState { Running = "running", Done = "done", Canceled = "canceled" }
);

/// Which deliveries to send again: those created in `since..until` that are in one of the states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    pub subscription: SubscriptionId,
    pub since: OffsetDateTime,
    pub until: OffsetDateTime,
    /// Not empty.
    pub states: Vec<DeliveryState>,
}

/// A replay and how far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    pub id: ReplayId,
    pub selection: Selection,
    pub state: ReplayState,
    /// Deliveries that matched when it was asked for.
    pub total: i64,
    /// Deliveries put into the queue so far.
    pub queued: i64,
    pub created_at: OffsetDateTime,
    pub finished_at: Option<OffsetDateTime>,
}

/// Why a replay was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("a replay of this subscription is running")]
    Running,
    #[error("{MAX_RUNNING} replays of the account are running, which is the limit")]
    TooMany,
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
}

impl From<StoreError> for StartError {
    fn from(error: StoreError) -> Self {
        Self::Idempotency(error.into())
    }
}

/// Whether a replay of `subscription` may start beside those of the same account that are running, each named by its
/// subscription.
///
/// # Errors
/// [`StartError::Running`] and [`StartError::TooMany`].
pub fn may_start(subscription: SubscriptionId, running: &[SubscriptionId]) -> Result<(), StartError> {
    if running.contains(&subscription) {
        Err(StartError::Running)
    } else if running.len() >= MAX_RUNNING {
        Err(StartError::TooMany)
    } else {
        Ok(())
    }
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ReplayStore: Send + Sync {
    /// How many deliveries a replay would send.
    async fn count(&self, account: AccountId, selection: &Selection) -> Result<i64, StoreError>;
    /// Counts, and writes the job down; [`super::delivery::DeliveryQueue::advance_bulk`] does the work.
    async fn start(
        &self,
        account: AccountId,
        selection: Selection,
        idempotency: Option<IdempotencyKey>,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Replay>, StartError>;
    async fn find(
        &self,
        account: AccountId,
        subscription: SubscriptionId,
        id: ReplayId,
    ) -> Result<Option<Replay>, StoreError>;
    /// Stops it where it is; what is in the queue goes out. False when there is no such replay or it has ended.
    async fn cancel(
        &self,
        account: AccountId,
        subscription: SubscriptionId,
        id: ReplayId,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscription_has_one_running_replay_and_an_account_three() {
        let ids = [1, 2, 3, 4].map(SubscriptionId);
        let [first, second, third, _] = ids;
        assert!(may_start(first, &[]).is_ok());
        assert!(may_start(first, &[second, third]).is_ok());
        assert!(matches!(may_start(first, &ids[1..]), Err(StartError::TooMany)));
        assert!(matches!(may_start(third, &ids[1..]), Err(StartError::Running)));
    }
}
