//! Trying a receiver out: one delivery of a made-up event, sent while the caller waits.

use domain::{
    AccountId, StoreError,
    events::Event,
    webhooks::{
        delivery::{Next, Report},
        log::DeliveryLog,
    },
};

use super::{Options, Ports, Unsent, attempt};

/// Why nothing was tried.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Unsent(#[from] Unsent),
}

/// Sends this event to one subscription, once, and records the attempt. None when there is no such subscription.
///
/// # Errors
/// [`TrialError`] when it could not be tried, or not be recorded.
pub async fn try_out(
    ports: &Ports,
    log: &dyn DeliveryLog,
    account: AccountId,
    subscription: i64,
    event: &Event,
) -> Result<Option<Report>, TrialError> {
    let lease = Options::default().lease;
    let Some(leased) = log.start_test(account, subscription, event, lease, (ports.clock)()).await? else {
        return Ok(None);
    };
    let mut report = attempt(ports, &leased).await?;
    if let Next::Retry(_) = report.next {
        report.next = Next::Failed;
    }
    ports.queue.record(std::slice::from_ref(&report), (ports.clock)()).await?;
    Ok(Some(report))
}
