//! What should have been seen to and was not, over all accounts, for the probes.

use diesel::sql_types::{BigInt, Double, Timestamptz};
use domain::StoreError;
use time::OffsetDateTime;

use super::depths::{CountRuns, RunCounts};
use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl, statement::Scalar},
};

statement!(
    /// Subscriptions with deliveries that could be sent and have been due since an instant, without anything of their account
    /// being under way: no worker sees to them. Those of a receiver that fails, and of an account that has all the places
    /// that it may have, wait by right. One look at each subscription, however much waits for it; what is leased is due
    /// when its lease ends.
    CountNeglected(now: OffsetDateTime => Timestamptz, since: OffsetDateTime => Timestamptz) -> Scalar<BigInt> = "
    SELECT count(*) FROM webhook_subscriptions s
        CROSS JOIN LATERAL (
            SELECT d.due_at FROM deliveries d
            WHERE d.account_id = s.account_id AND d.subscription_id = s.id AND d.state = 'pending' AND d.due_at <= $2
            LIMIT 1
        ) AS overdue
    WHERE s.active AND s.revoked_at IS NULL AND s.failing_since IS NULL
        AND NOT EXISTS (
            SELECT FROM deliveries f
            WHERE f.account_id = s.account_id AND f.state = 'pending' AND f.due_at > $1 AND f.leased_until > $1)"
);

statement!(
    /// A look at the end of an index. Ends are told by the clocks of those who ran the jobs, which are right enough for days.
    Idle() -> Scalar<Double> = "
    SELECT coalesce(extract(epoch FROM now() - max(finished_at)), 0)::float8 FROM job_runs WHERE state = 'done'"
);

/// What nobody sees to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overdue {
    /// Subscriptions whose deliveries no worker takes.
    pub neglected_subscriptions: i64,
    /// For how long the first run of a job whose process died has waited to be claimed again, seconds; 0 when none has.
    pub oldest_abandoned_seconds: f64,
    /// For how long no run of a job has ended well, seconds; 0 when none ever has.
    pub idle_seconds: f64,
}

impl Store {
    /// Looks for what is neglected at `now`: deliveries that have been due since `since`, abandoned runs of jobs, and whether jobs
    /// are run at all.
    ///
    /// # Errors
    /// [`StoreError`] when the database does not answer.
    pub async fn overdue(&self, now: OffsetDateTime, since: OffsetDateTime) -> Result<Overdue, StoreError> {
        self.run::<_, Failure>(async |connection| {
            let runs: RunCounts = CountRuns {}.get_result(connection).await?;
            Ok(Overdue {
                neglected_subscriptions: CountNeglected { now, since }.get_result(connection).await?,
                oldest_abandoned_seconds: runs.oldest_abandoned_seconds.unwrap_or(0.0),
                idle_seconds: Idle {}.get_result(connection).await?,
            })
        })
        .await
        .map_err(Into::into)
    }
}
