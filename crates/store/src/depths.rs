//! How much is waiting to be done, over all accounts, for the metrics.

use diesel::sql_types::{BigInt, Double, Nullable, Timestamptz};
use diesel_async::RunQueryDsl;
use domain::StoreError;
use time::OffsetDateTime;

use crate::{Store, error::Failure};

statement!(
    CountDeliveries(now: OffsetDateTime => Timestamptz)
        -> (BigInt, BigInt, BigInt, BigInt, Nullable<Double>) = "
    SELECT count(*) FILTER (WHERE state = 'pending' AND due_at <= t.now),
        count(*) FILTER (WHERE state = 'pending' AND leased_until > t.now),
        count(*) FILTER (WHERE state = 'pending' AND due_at > t.now AND leased_until IS NULL),
        count(*) FILTER (WHERE state = 'held'),
        extract(epoch FROM t.now - min(due_at) FILTER (WHERE state = 'pending' AND due_at <= t.now))::float8
    FROM (SELECT ?::timestamptz AS now) AS t LEFT JOIN deliveries ON state IN ('pending', 'held')
    GROUP BY t.now"
);

statement!(
    /// By the database's clock, which leases of jobs are kept by.
    CountRuns() -> (BigInt, BigInt, BigInt) = "
    SELECT count(*) FILTER (WHERE state = 'running' AND lease_until >= now()),
        count(*) FILTER (WHERE state = 'running' AND lease_until < now()),
        count(*) FILTER (WHERE state = 'failed')
    FROM job_runs WHERE state <> 'done'"
);

/// Deliveries that have not ended, and runs of jobs that have not ended well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Depths {
    /// Due and in nobody's hands, also because its worker died.
    pub due: i64,
    /// In the hands of a worker.
    pub in_flight: i64,
    /// Waiting for their next attempt.
    pub waiting: i64,
    /// Of subscriptions that are switched off.
    pub held: i64,
    /// How long the first one that is due has been due, seconds; 0 when none is.
    pub oldest_due_seconds: f64,
    pub running_jobs: i64,
    /// Claimed by a process that died; claimed again at the next tick.
    pub abandoned_jobs: i64,
    /// Failed last time, until they are run again.
    pub failed_jobs: i64,
}

impl Store {
    /// Counts what is waiting at `now`.
    ///
    /// # Errors
    /// [`StoreError`] when the database does not answer.
    pub async fn depths(&self, now: OffsetDateTime) -> Result<Depths, StoreError> {
        let ((due, in_flight, waiting, held, oldest), (running_jobs, abandoned_jobs, failed_jobs)) = self
            .run::<_, Failure>(async |connection| {
                let deliveries: (i64, i64, i64, i64, Option<f64>) =
                    CountDeliveries { now }.get_result(connection).await?;
                let runs: (i64, i64, i64) = CountRuns {}.get_result(connection).await?;
                Ok((deliveries, runs))
            })
            .await?;
        let oldest_due_seconds = oldest.unwrap_or(0.0);
        Ok(Depths { due, in_flight, waiting, held, oldest_due_seconds, running_jobs, abandoned_jobs, failed_jobs })
    }
}
