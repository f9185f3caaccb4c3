//! Deliveries on their way: what a worker leases, what it reports, and the queue between.

use std::time::Duration;

use async_trait::async_trait;
use time::OffsetDateTime;

use super::{
    attempt::{Attempt, Failure, Outcome},
    schedule::{self, DisabledReason, FailureRun},
};
use crate::{AccountId, DeliveryId, EventId, StoreError, SubscriptionId};

text_enum!(
    /// Where a delivery stands.
    DeliveryState {
        /// Waits for its next attempt, or is being attempted.
        Pending = "pending",
        /// Due, but the subscription is switched off.
        Held = "held",
        /// A receiver answered 2xx.
        Delivered = "delivered",
        /// The last attempt failed.
        Failed = "failed",
        /// The subscription was revoked first.
        Canceled = "canceled",
    }
);

/// A subscription of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Receiver {
    pub account: AccountId,
    pub subscription: SubscriptionId,
}

/// How many deliveries a worker will take for a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    pub receiver: Receiver,
    /// At least 1.
    pub deliveries: usize,
}

/// The right to attempt a delivery until the lease ends. Nothing can be written with one that has been taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lease {
    pub receiver: Receiver,
    pub event: EventId,
    /// Rises with every lease of the delivery.
    pub claim: i64,
}

/// A delivery in the hands of a worker, with all that an attempt needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leased {
    pub lease: Lease,
    pub id: DeliveryId,
    /// The number of the attempt to be made, from 1, over all resends.
    pub attempt: u32,
    /// The same since it was last resent: the place in the schedule.
    pub attempt_of_round: u32,
    pub url: String,
    pub sealed_secret: Vec<u8>,
    /// The secret before a rotation, while its overlap lasts.
    pub sealed_previous: Option<Vec<u8>>,
    pub body: Vec<u8>,
}

/// What comes after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Delivered,
    /// Another attempt, not before this instant.
    Retry(OffsetDateTime),
    /// No other attempt.
    Failed,
}

/// An attempt that was made under a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub lease: Lease,
    pub delivery: DeliveryId,
    pub attempt_number: u32,
    pub started_at: OffsetDateTime,
    pub attempt: Attempt,
    pub next: Next,
}

impl Report {
    /// Judges an attempt that has ended at `now`. `jitter` is a random number in `[0, 1)`.
    pub fn new(
        leased: &Leased,
        started_at: OffsetDateTime,
        attempt: Attempt,
        now: OffsetDateTime,
        jitter: f64,
    ) -> Self {
        let next = if attempt.is_success() {
            Next::Delivered
        } else {
            let asked = attempt.retry_after.as_deref().and_then(|value| schedule::parse_retry_after(value, now));
            match schedule::wait_after_failure(leased.attempt_of_round, jitter, asked) {
                Some(wait) => Next::Retry(now + wait),
                None => Next::Failed,
            }
        };
        Self { lease: leased.lease, delivery: leased.id, attempt_number: leased.attempt, started_at, attempt, next }
    }
}

impl Report {
    /// Why there was no HTTP status, if there was none.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.attempt.outcome {
            Outcome::Status(_) => None,
            Outcome::Failed(failure) => Some(failure),
        }
    }
}

/// The failures of a receiver since its last success, after reports were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failing {
    pub receiver: Receiver,
    pub run: FailureRun,
    /// HTTP status of the last attempt; `None` without an answer.
    pub last_status: Option<u16>,
    /// Whether one of the reported attempts was answered 410.
    pub gone: bool,
    /// Whether the subscription was switched off with the recording; it may have been before.
    pub switched_off: bool,
}

impl Failing {
    /// Why the subscription is switched off now, if it is.
    pub fn disabled(&self, now: OffsetDateTime) -> Option<DisabledReason> {
        let status = if self.gone { Some(410) } else { self.last_status };
        schedule::disabled_by(status, self.run, now)
    }
}

/// What a look for due deliveries found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Due {
    /// Each once.
    pub receivers: Vec<Receiver>,
    /// Set when there was more than one look takes in: go on after this instant.
    pub cut_at: Option<OffsetDateTime>,
}

/// The queue of deliveries. Every process may work on it; a lease keeps others away from a delivery while it lasts.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait DeliveryQueue: Send + Sync {
    /// Receivers with a delivery that is due at `now` and, unless `since` is none, was not yet at `since`; the earliest
    /// ones, where there are very many deliveries.
    async fn due(&self, since: Option<OffsetDateTime>, now: OffsetDateTime) -> Result<Due, StoreError>;
    /// The same for a short while before `now`, and always all of them.
    async fn just_due(&self, since: OffsetDateTime, now: OffsetDateTime) -> Result<Vec<Receiver>, StoreError>;
    /// Leases what is due for these receivers, the earliest first. What is due to a subscription that is switched off
    /// becomes held, what is due to a revoked one is canceled.
    async fn lease(&self, rooms: &[Capacity], lease: Duration, now: OffsetDateTime) -> Result<Vec<Leased>, StoreError>;
    /// Records attempts, their deliveries' next steps and the subscriptions' figures, but for leases that were taken
    /// over: they leave no trace. Gives the receivers that are failing now, and with the recording switches off those that
    /// are [to be](Failing::disabled).
    async fn record(&self, reports: &[Report], now: OffsetDateTime) -> Result<Vec<Failing>, StoreError>;
    /// Gives leases back unused: the deliveries are due at once.
    async fn release(&self, leases: &[Lease], now: OffsetDateTime) -> Result<(), StoreError>;
    /// Makes one step, of a bounded number of deliveries, of what has to be moved in bulk: a running replay, what was held
    /// for a subscription that was resumed or revoked, or what is due to one that was switched off. Accounts take turns.
    /// `None` when there is nothing to move.
    async fn advance_bulk(&self, now: OffsetDateTime) -> Result<Option<Receiver>, StoreError>;
}
