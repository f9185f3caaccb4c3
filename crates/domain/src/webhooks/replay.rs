//! Replays: jobs that send the deliveries of a time span again.

use async_trait::async_trait;
use time::OffsetDateTime;

use super::delivery::DeliveryState;
use crate::{
    AccountId, StoreError,
    idempotency::{IdempotencyError, IdempotencyKey, Written},
};

text_enum!(
    /// Where a replay stands.
    ReplayState { Running = "running", Done = "done", Canceled = "canceled" }
);

/// Which deliveries to send again: those created in `since..until` that are in one of the states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    pub subscription: i64,
    pub since: OffsetDateTime,
    pub until: OffsetDateTime,
    /// Not empty.
    pub states: Vec<DeliveryState>,
}

/// A replay and how far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    pub id: i64,
    pub selection: Selection,
    pub state: ReplayState,
    /// Deliveries that matched when it was asked for.
    pub total: i64,
    /// Deliveries put into the queue so far.
    pub queued: i64,
    pub created_at: OffsetDateTime,
    pub finished_at: Option<OffsetDateTime>,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ReplayStore: Send + Sync {
    /// How many deliveries a replay would send.
    async fn count(&self, account: AccountId, selection: &Selection) -> Result<i64, StoreError>;
    /// Counts, and writes the job down; [`super::delivery::DeliveryQueue::continue_replay`] does the work.
    async fn start(
        &self,
        account: AccountId,
        selection: Selection,
        idempotency: Option<IdempotencyKey>,
        now: OffsetDateTime,
    ) -> Result<Written<Replay>, IdempotencyError>;
    async fn find(&self, account: AccountId, subscription: i64, id: i64) -> Result<Option<Replay>, StoreError>;
    /// Stops it where it is; what is in the queue goes out. False when there is no such replay or it has ended.
    async fn cancel(
        &self,
        account: AccountId,
        subscription: i64,
        id: i64,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError>;
}
