//! What integrators see of their deliveries, and how they have them sent again.

use std::time::Duration;

use async_trait::async_trait;
use time::OffsetDateTime;
use uuid::Uuid;

use super::delivery::{DeliveryState, Leased};
use crate::{
    AccountId, StoreError,
    events::Event,
    idempotency::{IdempotencyError, IdempotencyKey, Written},
    page::{Page, PageRequest},
};

/// An attempt as it was recorded. Times in microseconds; none for phases that were not reached or not needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedAttempt {
    pub number: i32,
    pub started_at: OffsetDateTime,
    /// HTTP status, if there was an answer.
    pub status: Option<i32>,
    /// [`super::attempt::FailureCode`], if there was none.
    pub failure: Option<String>,
    /// The failure in words.
    pub message: Option<String>,
    pub dns_us: Option<i64>,
    pub connect_us: Option<i64>,
    pub tls_us: Option<i64>,
    pub first_byte_us: Option<i64>,
    pub total_us: i64,
    /// The beginning of the answer's body, as bytes.
    pub answer: Vec<u8>,
    /// Where a redirect pointed that was not followed.
    pub location: Option<String>,
}

/// A delivery with its attempts, the first one first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedDelivery {
    pub id: Uuid,
    /// The event's id; lists are ordered by it.
    pub event_id: i64,
    pub event: String,
    pub state: DeliveryState,
    /// When the next attempt is due; none when there is none or it is being made.
    pub next_attempt_at: Option<OffsetDateTime>,
    pub attempts_made: i32,
    pub created_at: OffsetDateTime,
    pub finished_at: Option<OffsetDateTime>,
    pub attempts: Vec<LoggedAttempt>,
}

/// What came of asking for a delivery to be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resent {
    /// It is due now, with all its attempts before it again.
    Queued,
    /// There is no such delivery.
    Unknown,
    /// A worker is attempting it at this moment.
    UnderWay,
    /// The subscription is switched off.
    Inactive,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait DeliveryLog: Send + Sync {
    /// Deliveries to a subscription, newest event first.
    async fn page(
        &self,
        account: AccountId,
        subscription: i64,
        state: Option<DeliveryState>,
        page: PageRequest,
    ) -> Result<Page<LoggedDelivery>, StoreError>;
    /// One delivery.
    async fn find(
        &self,
        account: AccountId,
        subscription: i64,
        delivery: Uuid,
    ) -> Result<Option<LoggedDelivery>, StoreError>;
    /// Makes a delivery due again, whatever became of it, under the same id.
    async fn resend(
        &self,
        account: AccountId,
        subscription: i64,
        delivery: Uuid,
        idempotency: Option<IdempotencyKey>,
        now: OffsetDateTime,
    ) -> Result<Written<Resent>, IdempotencyError>;
    /// Writes an event for this subscription alone and leases its delivery. None when there is no such subscription.
    async fn start_test(
        &self,
        account: AccountId,
        subscription: i64,
        event: &Event,
        lease: Duration,
        now: OffsetDateTime,
    ) -> Result<Option<Leased>, StoreError>;
}
