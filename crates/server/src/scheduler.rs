//! Runs the jobs when they are due.

use std::{str::FromStr, sync::Arc, time::Duration};

use anyhow::Context;
use app::{
    jobs::{Deps, Outcome, Selection, Shutdown, Stop, run_all_until},
    outage,
};
use croner::Cron;
use jiff::{Timestamp, tz::TimeZone};
use store::{Retention, Store};
use time::OffsetDateTime;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

/// Accounts whose jobs run side by side, where there are connections for them: the work is the database's, which has other
/// things to do as well.
pub const ACCOUNTS_AT_ONCE: usize = 2;

/// Reads a cron expression (five fields, UTC). One without a tick, such as of 30 February, is refused.
pub fn parse_cron(expression: &str) -> anyhow::Result<Cron> {
    let cron =
        Cron::from_str(expression).with_context(|| format!("jobs_cron: `{expression}` is not a cron expression"))?;
    anyhow::ensure!(until_next_after(&cron, Timestamp::now()).is_some(), "jobs_cron: `{expression}` is never due");
    Ok(cron)
}

/// Time that a run has after a stop was requested; then it is cancelled and its claim released. Below what the
/// process waits for its parts.
const GRACE: Duration = Duration::from_secs(20);

/// Runs what is due at every tick of the expression until cancelled; what is running then has [`GRACE`] to end. Any
/// number of processes may do this: a run is claimed by one of them. `at_once` is how many accounts have their turn side by
/// side.
pub async fn run(
    store: Arc<Store>,
    deps: Deps,
    at_once: usize,
    cron: Cron,
    retention: Retention,
    cancelled: CancellationToken,
) {
    let (stop, _following) = follow(cancelled.clone());
    loop {
        if let Err(error) = store.maintain(OffsetDateTime::now_utc(), retention).await {
            outage::warn(&error, "maintenance failed");
        }
        match run_all_until(&deps, Selection::default(), at_once, OffsetDateTime::now_utc, &stop).await {
            Ok(reports) => count(&reports),
            Err(error) => outage::warn(&error, "the jobs could not be looked up"),
        }
        tokio::select! {
            () = cancelled.cancelled() => return,
            () = tokio::time::sleep(until_next(&cron)) => {}
        }
    }
}

/// Tells runs of the stop, in its two steps, for as long as the handle is kept.
#[expect(clippy::disallowed_methods, reason = "it ends with the scheduler, by its handle")]
fn follow(cancelled: CancellationToken) -> (Stop, AbortOnDropHandle<()>) {
    let (tell, stage) = tokio::sync::watch::channel(Shutdown::Running);
    let following = tokio::spawn(async move {
        cancelled.cancelled().await;
        tell.send_replace(Shutdown::Draining);
        tokio::time::sleep(GRACE).await;
        tell.send_replace(Shutdown::Aborting);
    });
    (Stop::following(stage), AbortOnDropHandle::new(following))
}

fn count(reports: &[app::jobs::Report]) {
    for report in reports {
        let outcome = match report.outcome {
            Outcome::Done { .. } => "done",
            Outcome::Skipped => continue,
            Outcome::Superseded => "superseded",
            Outcome::Interrupted => "interrupted",
            Outcome::Failed { .. } => "failed",
        };
        metrics::counter!("job_runs_total", "job" => report.job.as_str(), "outcome" => outcome).increment(1);
    }
}

/// An expression without a further tick is looked at again in a day.
fn until_next(cron: &Cron) -> Duration {
    until_next_after(cron, Timestamp::now()).unwrap_or(A_DAY)
}

/// Between the next tick and the one after it; a day where there are no two.
pub fn interval(cron: &Cron) -> Duration {
    let now = Timestamp::now();
    let next = until_next_after(cron, now).and_then(|wait| now.checked_add(wait).ok());
    next.and_then(|next| until_next_after(cron, next)).unwrap_or(A_DAY)
}

const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn until_next_after(cron: &Cron, after: Timestamp) -> Option<Duration> {
    let next = cron.find_next_occurrence(&after.to_zoned(TimeZone::UTC), false).ok()?;
    Duration::try_from(next.timestamp().duration_since(after)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_tick_is_within_the_period_of_the_expression() {
        let wait = until_next(&parse_cron("*/5 * * * *").unwrap());
        assert!(wait > Duration::ZERO && wait <= Duration::from_secs(300), "{wait:?}");
        assert_eq!(interval(&parse_cron("*/5 * * * *").unwrap()), Duration::from_secs(300));
    }

    #[test]
    fn a_wrong_expression_is_refused_by_name() {
        assert!(parse_cron("every day").unwrap_err().to_string().contains("every day"));
    }

    #[test]
    fn an_expression_that_is_never_due_is_refused() {
        for never in ["0 0 30 2 *", "0 0 31 4,6,9,11 *"] {
            let said = parse_cron(never).unwrap_err().to_string();
            assert!(said.contains(never) && said.contains("never due"), "{said}");
        }
        // The next may be in eight years: 2100 has no such day.
        parse_cron("0 0 29 2 *").unwrap();
        parse_cron("0 0 1 1 *").unwrap();
    }
}
