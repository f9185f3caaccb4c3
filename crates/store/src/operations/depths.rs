//! How much is waiting to be done, over all accounts, for the metrics.

use diesel::sql_types::{BigInt, Double, Nullable, Timestamptz};
use domain::StoreError;
use time::OffsetDateTime;

use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl},
};

row!(
    struct DeliveryCounts {
        due: i64 => BigInt,
        in_flight: i64 => BigInt,
        waiting: i64 => BigInt,
        held: i64 => BigInt,
        oldest_due_seconds: Option<f64> => Nullable<Double>,
    }
);

row!(
    pub(super) struct RunCounts {
        running_jobs: i64 => BigInt,
        abandoned_jobs: i64 => BigInt,
        failed_jobs: i64 => BigInt,
        oldest_abandoned_seconds: Option<f64> => Nullable<Double>,
    }
);

/// Deliveries of a state that are counted: with millions of them the count would not be there in time, just when it matters.
const MOST_COUNTED: i64 = 100_000;

statement!(
    /// The earliest of what is due and of what will be. A lease ends soon, so what is leased is among the earliest.
    CountDeliveries(now: OffsetDateTime => Timestamptz, most: i64 => BigInt) -> DeliveryCounts = "
    SELECT count(*) FILTER (WHERE state = 'pending' AND due_at <= $1) AS due,
        count(*) FILTER (WHERE state = 'pending' AND leased_until > $1) AS in_flight,
        count(*) FILTER (WHERE state = 'pending' AND due_at > $1 AND leased_until IS NULL) AS waiting,
        count(*) FILTER (WHERE state = 'held') AS held,
        extract(epoch FROM $1 - min(due_at) FILTER (WHERE state = 'pending' AND due_at <= $1))::float8 AS oldest_due_seconds
    FROM (
        (SELECT 'pending' AS state, due_at, NULL::timestamptz AS leased_until FROM deliveries
            WHERE state = 'pending' AND due_at <= $1 ORDER BY due_at LIMIT $2)
        UNION ALL
        (SELECT 'pending', due_at, leased_until FROM deliveries
            WHERE state = 'pending' AND due_at > $1 ORDER BY due_at LIMIT $2)
        UNION ALL
        (SELECT 'held', NULL, NULL FROM deliveries WHERE state = 'held' LIMIT $2)
    ) AS counted"
);

statement!(
    /// By the database's clock, which leases of jobs are kept by. What has a run of a later day, or is on a copy as of a day, is
    /// not run again, and nobody has to see to it.
    pub(super) CountRuns() -> RunCounts = "
    SELECT count(*) FILTER (WHERE state = 'running' AND lease_until >= now()) AS running_jobs,
        count(*) FILTER (WHERE state = 'running' AND lease_until < now()) AS abandoned_jobs,
        count(*) FILTER (WHERE state = 'failed') AS failed_jobs,
        extract(epoch FROM now() - min(lease_until) FILTER (WHERE state = 'running' AND lease_until < now()))::float8
            AS oldest_abandoned_seconds
    FROM job_runs r JOIN accounts ON accounts.id = r.account_id AND accounts.copy_of IS NULL
    WHERE state <> 'done' AND NOT EXISTS (
        SELECT FROM job_runs later
        WHERE later.account_id = r.account_id AND later.job = r.job AND later.as_of > r.as_of)"
);

/// Deliveries that have not ended, at most 100,000 of each kind, and runs of jobs that have not ended well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Depths {
    /// Due and not leased, also because its worker died.
    pub due: i64,
    /// Leased by a worker.
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
    /// Failed last time, until they, or those of a later day, are run again.
    pub failed_jobs: i64,
    /// For how long the first abandoned run has waited to be claimed again, seconds; 0 when none is.
    pub oldest_abandoned_seconds: f64,
}

impl Store {
    /// Counts what is waiting at `now`.
    ///
    /// # Errors
    /// [`StoreError`] when the database does not answer.
    pub async fn depths(&self, now: OffsetDateTime) -> Result<Depths, StoreError> {
        let (deliveries, runs) = self
            .run::<_, Failure>(async |connection| {
                let count = CountDeliveries { now, most: MOST_COUNTED };
                let deliveries: DeliveryCounts = count.get_result(connection).await?;
                let runs: RunCounts = CountRuns {}.get_result(connection).await?;
                Ok((deliveries, runs))
            })
            .await?;
        let DeliveryCounts { due, in_flight, waiting, held, oldest_due_seconds } = deliveries;
        let RunCounts { running_jobs, abandoned_jobs, failed_jobs, oldest_abandoned_seconds } = runs;
        Ok(Depths {
            due,
            in_flight,
            waiting,
            held,
            oldest_due_seconds: oldest_due_seconds.unwrap_or(0.0),
            running_jobs,
            abandoned_jobs,
            failed_jobs,
            oldest_abandoned_seconds: oldest_abandoned_seconds.unwrap_or(0.0),
        })
    }
}
