//! Removing runs of jobs that nobody asks about any more.

use diesel::sql_types::{Array, BigInt, Date as SqlDate, Nullable, Text, Timestamptz};
use domain::{AccountId, StoreError};
use time::{Date, Duration, OffsetDateTime};

use crate::{
    Store,
    database::{citus::Part, error::Failure, query::RunQueryDsl},
};

/// How long runs that ended well are kept.
const KEEP: Duration = Duration::days(90);
/// Rows removed in one transaction: few enough to hold up no other session.
const BATCH: i64 = 2_000;
/// Transactions in one go. What is left is removed at the next tick.
const BATCHES: usize = 500;

row!(
    struct RunKey {
        account_id: i64 => BigInt,
        job: String => Text,
        as_of: Date => SqlDate,
    }
);

statement!(
    /// Old runs with a later one, for a later day, that has ended: how fresh figures are and how late a job is are told by the
    /// last one, however long ago it was.
    OldRuns(before: OffsetDateTime => Timestamptz, limit: i64 => BigInt) -> RunKey = "
    SELECT r.account_id, r.job, r.as_of FROM job_runs r
    WHERE r.state = 'done' AND r.finished_at < $1 AND EXISTS (
        SELECT FROM job_runs l
        WHERE l.account_id = r.account_id AND l.job = r.job AND l.as_of > r.as_of AND l.finished_at >= r.finished_at)
    LIMIT $2"
);

statement!(
    /// One that was claimed again meanwhile stays.
    RemoveRuns<'a>(
        accounts: Vec<i64> => Array<BigInt>,
        jobs: Vec<&'a str> => Array<Text>,
        days: Vec<Date> => Array<SqlDate>,
        before: OffsetDateTime => Timestamptz,
        of: Option<Vec<i64>> => Nullable<Array<BigInt>>,
    ) -> () = "
    DELETE FROM job_runs r USING unnest($1::bigint[], $2::text[], $3::date[]) AS old (account_id, job, as_of)
    WHERE r.account_id = old.account_id AND r.job = old.job AND r.as_of = old.as_of
        AND r.state = 'done' AND r.finished_at < $4 AND ($5::bigint[] IS NULL OR r.account_id = ANY ($5))"
);

impl Store {
    /// Removes runs that ended well longer ago than they are kept, but for the last of each account and job, a bounded number at
    /// a time. How many were removed.
    pub(crate) async fn prune_runs(&self, now: OffsetDateTime) -> Result<usize, StoreError> {
        let before = now - KEEP;
        let mut removed = 0;
        for _ in 0..BATCHES {
            let of_batch = self.remove_runs(before).await?;
            if of_batch == 0 {
                break;
            }
            removed += of_batch;
        }
        Ok(removed)
    }

    async fn remove_runs(&self, before: OffsetDateTime) -> Result<usize, StoreError> {
        let find = OldRuns { before, limit: BATCH };
        let old: Vec<RunKey> =
            self.run_unhurried::<_, Failure>(async |connection| Ok(find.load(connection).await?)).await?;
        let mut removed = 0;
        for Part { items, accounts: of } in self.parts(&old, |run| AccountId(run.account_id)).await? {
            let statement = RemoveRuns {
                accounts: items.iter().map(|run| run.account_id).collect(),
                jobs: items.iter().map(|run| run.job.as_str()).collect(),
                days: items.iter().map(|run| run.as_of).collect(),
                before,
                of,
            };
            removed +=
                self.run_unhurried::<_, Failure>(async |connection| Ok(statement.execute(connection).await?)).await?;
        }
        Ok(removed)
    }
}
