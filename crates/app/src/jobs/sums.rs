//! Bringing the daily sums up to date before the first job of an account reads them.

use std::time::Duration;

use domain::{StoreError, accounts::Account, daily::DailyStore};
use time::OffsetDateTime;
use tokio::time::{Instant, sleep};

/// The pause before the second attempt; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// How long a run keeps trying. Well below its lease ([`LEASE_SECONDS`](super::LEASE_SECONDS)), so that it still has time to
/// compute.
const GIVE_UP_AFTER: Duration = Duration::from_secs(5 * 60);

/// Gives the version of the account's sums once they are up to date. While an alert rule or another process rolls the account
/// up, this tries again at growing intervals, and holds no connection in between.
///
/// # Errors
/// [`StoreError`] of the database, and `Overloaded` when others were still at it after five minutes.
pub(super) async fn bring_up_to_date(
    daily: &dyn DailyStore,
    account: &Account,
    now: OffsetDateTime,
) -> Result<i64, StoreError> {
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        if let Some(rolled) = daily.roll_up(account.id, &account.timezone, now).await? {
            return Ok(rolled.version);
        }
        if started.elapsed() + pause > GIVE_UP_AFTER {
            return Err(StoreError::Overloaded("the account is being rolled up elsewhere".into()));
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Brings the sums up to date in steps of about `days` days, until `at_most` has passed. False: another process is at it, or there
/// is more to do.
///
/// # Errors
/// [`StoreError`] of the database.
pub(crate) async fn roll_up_for(
    daily: &dyn DailyStore,
    account: &Account,
    clock: &(dyn Fn() -> OffsetDateTime + Send + Sync),
    days: usize,
    at_most: time::Duration,
) -> Result<bool, StoreError> {
    let began = clock();
    let mut is_first = true;
    loop {
        match daily.roll_up_step(account.id, &account.timezone, clock(), days, is_first).await? {
            Some(true) => return Ok(true),
            Some(false) if clock() - began < at_most => is_first = false,
            _ => return Ok(false),
        }
    }
}
