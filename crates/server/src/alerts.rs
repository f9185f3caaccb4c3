//! Evaluates alert rules as they become due.

use std::{sync::Arc, time::Duration};

use app::alerts::{Deps, Round, evaluate_due};
use store::Store;
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

/// New and changed rules wait no longer than this for their first evaluation.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The ports of the evaluation.
pub fn deps(store: &Arc<Store>) -> Deps {
    Deps {
        accounts: store.clone(),
        daily: store.clone(),
        rules: store.clone(),
        clock: Arc::new(OffsetDateTime::now_utc),
    }
}

/// Evaluates what is due, of at most `at_once` accounts side by side, until cancelled; the round under way ends first.
/// Any number of processes may do this.
pub async fn run(store: Arc<Store>, interval_seconds: u32, at_once: usize, cancelled: CancellationToken) {
    let (deps, interval) = (deps(&store), time::Duration::seconds(interval_seconds.into()));
    let pause = LOOK_EVERY.min(Duration::from_secs(interval_seconds.into()));
    loop {
        match evaluate_due(&deps, interval, at_once).await {
            Ok(Round { evaluated, fired, failed_accounts: _ }) => {
                metrics::counter!("alert_evaluations_total").increment(evaluated);
                metrics::counter!("alerts_fired_total").increment(fired);
            }
            Err(error) => app::outage::warn(&error, "alert rules could not be looked up"),
        }
        tokio::select! {
            () = cancelled.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}
