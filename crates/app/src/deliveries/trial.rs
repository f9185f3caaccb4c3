//! Trying a receiver out: one delivery of a made-up event, sent while the caller waits.

use domain::{
    AccountId, DeliveryId, StoreError, SubscriptionId,
    events::Event,
    idempotency::{HANDLED_WITHIN, IdempotencyError, IdempotencyKey, Idempotent},
    webhooks::{
        delivery::Next,
        log::{DeliveryLog, LoggedAttempt, TestStart},
    },
};
use time::OffsetDateTime;

use super::{Options, Ports, Unsent, attempt, engine::record};

/// Why nothing was tried.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
    #[error(transparent)]
    Unsent(#[from] Unsent),
}

impl From<StoreError> for TrialError {
    fn from(error: StoreError) -> Self {
        Self::Idempotency(error.into())
    }
}

/// The one attempt of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    pub delivery: DeliveryId,
    pub attempt: LoggedAttempt,
}

/// Sends this event to one subscription, once, and records the attempt; under an idempotency key that was used before,
/// gives the attempt that was made then. `None` when there is no such subscription.
///
/// # Errors
/// [`TrialError`] when it could not be tried, or not be recorded.
pub async fn try_out(
    ports: &Ports,
    log: &dyn DeliveryLog,
    account: AccountId,
    subscription: SubscriptionId,
    event: &Event,
    idempotency: Option<IdempotencyKey>,
) -> Result<Option<Idempotent<Trial>>, TrialError> {
    let lease = Options::default().lease;
    let leased = match log.start_test(account, subscription, event, lease, idempotency, (ports.clock)()).await? {
        TestStart::Leased(leased) => leased,
        TestStart::Earlier(delivery) => {
            return earlier(log, account, subscription, delivery, (ports.clock)()).await.map(Some);
        }
        TestStart::Unknown => return Ok(None),
    };
    let mut report = attempt(ports, &leased).await?;
    if let Next::Retry(_) = report.next {
        report.next = Next::Failed;
    }
    record(ports, std::slice::from_ref(&report)).await?;
    Ok(Some(Idempotent { value: Trial { delivery: report.delivery, attempt: report.into() }, replayed: false }))
}

/// The first attempt of a delivery. One that has none is being attempted, or never was, because the process that was to make it
/// has ended; of one that was sent again many times it is not kept.
async fn earlier(
    log: &dyn DeliveryLog,
    account: AccountId,
    subscription: SubscriptionId,
    delivery: DeliveryId,
    now: OffsetDateTime,
) -> Result<Idempotent<Trial>, TrialError> {
    let Some(logged) = log.find(account, subscription, delivery).await? else {
        return Err(IdempotencyError::InProgress.into());
    };
    let is_over = now - logged.created_at >= HANDLED_WITHIN;
    let attempt = match logged.attempts.into_iter().next() {
        Some(attempt) if attempt.number == 1 => attempt,
        None if !is_over => return Err(IdempotencyError::InProgress.into()),
        _ => return Err(IdempotencyError::Superseded.into()),
    };
    Ok(Idempotent { value: Trial { delivery, attempt }, replayed: true })
}
