//! What should have been seen to and was not, over all accounts, for the probes.

use diesel::sql_types::{BigInt, Double, Timestamptz};
use domain::StoreError;
use time::OffsetDateTime;

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
    /// By the database's clock, which leases of jobs are kept by.
    OldestAbandoned() -> Scalar<Double> = "
    SELECT coalesce(extract(epoch FROM now() - min(lease_until)), 0)::float8
    FROM job_runs WHERE state = 'running' AND lease_until < now()"
);

/// What nobody sees to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overdue {
    /// Subscriptions whose deliveries no worker takes.
    pub neglected_subscriptions: i64,
    /// For how long the first run of a job whose process died has waited to be claimed again, seconds; 0 when none has.
    pub oldest_abandoned_seconds: f64,
}

impl Store {
    /// Looks for what is neglected at `now`: deliveries that have been due since `since`, and abandoned runs of jobs.
    ///
    /// # Errors
    /// [`StoreError`] when the database does not answer.
    pub async fn overdue(&self, now: OffsetDateTime, since: OffsetDateTime) -> Result<Overdue, StoreError> {
        self.run::<_, Failure>(async |connection| {
            Ok(Overdue {
                neglected_subscriptions: CountNeglected { now, since }.get_result(connection).await?,
                oldest_abandoned_seconds: OldestAbandoned {}.get_result(connection).await?,
            })
        })
        .await
        .map_err(Into::into)
    }
}
