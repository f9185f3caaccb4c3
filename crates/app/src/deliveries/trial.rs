//! Trying a receiver out: one delivery of a made-up event, sent while the caller waits.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

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

/// Tests under way at once, of all accounts.
const AT_ONCE: usize = 64;
/// Those of one account, so that none holds all the places by receivers that hang.
const PER_ACCOUNT: usize = 4;

/// How many tests of each account are under way in the process.
#[derive(Debug, Default)]
pub struct Trials(Mutex<HashMap<AccountId, usize>>);

impl Trials {
    /// A place for one more, if there is one.
    fn begin(self: &Arc<Self>, account: AccountId) -> Option<Place> {
        // Nothing here panics between two changes that belong together, so a poisoned lock is as good as any.
        let mut under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_account = under_way.get(&account).copied().unwrap_or_default();
        if of_account >= PER_ACCOUNT || under_way.values().sum::<usize>() >= AT_ONCE {
            return None;
        }
        under_way.insert(account, of_account + 1);
        Some(Place { trials: self.clone(), account })
    }
}

/// A place that is given back when it is dropped.
#[derive(Debug)]
struct Place {
    trials: Arc<Trials>,
    account: AccountId,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut under_way = self.trials.0.lock().unwrap_or_else(PoisonError::into_inner);
        match under_way.get_mut(&self.account) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                under_way.remove(&self.account);
            }
        }
    }
}

/// Why nothing was tried.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    #[error("as many tests are under way as may be")]
    Busy,
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
    let _place = ports.trials.begin(account).ok_or(TrialError::Busy)?;
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

#[cfg(test)]
mod tests {
    use domain::{
        events::EventKind,
        sealing::MockSealer,
        webhooks::{attempt::MockSender, delivery::MockDeliveryQueue, log::MockDeliveryLog},
    };

    use super::*;

    #[test]
    fn a_place_is_taken_by_one_test_at_a_time() {
        let trials = Arc::<Trials>::default();
        let begin = |account| trials.begin(AccountId(account));
        let mut of_one: Vec<_> = (0..PER_ACCOUNT).map(|_| begin(1).unwrap()).collect();
        assert!(begin(1).is_none());
        let others: Vec<_> = (2..100).map_while(begin).collect();
        assert_eq!(of_one.len() + others.len(), AT_ONCE);
        of_one.pop();
        let next = begin(1).unwrap();
        assert!(begin(100).is_none());
        drop((of_one, others, next));
        assert!(trials.0.lock().unwrap().is_empty());
    }

    /// Nothing is asked of the ports.
    #[tokio::test]
    async fn one_test_too_many_is_refused_before_anything_is_done() {
        let ports = Ports {
            queue: Arc::new(MockDeliveryQueue::new()),
            sender: Arc::new(MockSender::new()),
            sealer: Arc::new(MockSealer::new()),
            clock: Arc::new(|| OffsetDateTime::UNIX_EPOCH),
            jitter: Arc::new(|| 0.0),
            trials: Arc::default(),
        };
        let _places: Vec<_> = (0..PER_ACCOUNT).map(|_| ports.trials.begin(AccountId(1)).unwrap()).collect();
        let (log, event) = (MockDeliveryLog::new(), Event::sample(EventKind::CreditsLow));
        let tried = try_out(&ports, &log, AccountId(1), SubscriptionId(3), &event, None).await;
        assert!(matches!(tried, Err(TrialError::Busy)), "{tried:?}");
    }
}
