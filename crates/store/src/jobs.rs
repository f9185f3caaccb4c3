//! [`JobStore`] on Postgres, and the transaction that every job ends with.

pub(crate) mod requests;
mod retention;

use async_trait::async_trait;
use diesel::{
    prelude::*,
    result::Error,
    sql_types::{BigInt, Date as SqlDate, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    jobs::{Again, Claim, JobName, JobStore, Run, WriteOutcome},
};
use time::{Date, OffsetDateTime};

use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
        statement::Scalar,
    },
    schema::{accounts, job_results, job_runs},
};

/// How long a statement of a job may take: a job works on a whole account at once, a request on a page. Each is planned for
/// its values: one that was planned for any list takes every list for a short one, and its plan for the cheaper.
const LIMITS: &str = "SET LOCAL statement_timeout = '5min'; SET LOCAL plan_cache_mode = force_custom_plan";

statement!(
    /// Leases are kept by the database's clock, which all processes share: `started_at` of the row that would be inserted is
    /// its `now()`.
    TakeClaim(
        account: i64 => BigInt,
        job: &'static str => Text,
        as_of: Date => SqlDate,
        lease_seconds: i64 => BigInt,
        again_before: Option<OffsetDateTime> => Nullable<Timestamptz>,
    ) -> Scalar<BigInt> = "
    INSERT INTO job_runs AS run (account_id, job, as_of, state, claim, lease_until, started_at)
    VALUES ($1, $2, $3, 'running', 1, now() + $4 * interval '1 second', now())
    ON CONFLICT (account_id, job, as_of) DO UPDATE
    SET state = 'running', claim = run.claim + 1, lease_until = excluded.lease_until, started_at = excluded.started_at,
        error = NULL
    WHERE run.state = 'failed' OR (run.state = 'running' AND run.lease_until < excluded.started_at) 
        OR (run.state = 'done' AND ($5 IS NULL OR run.finished_at < $5))
    RETURNING claim"
);

#[derive(Queryable, Selectable)]
#[diesel(table_name = job_runs, check_for_backend(diesel::pg::Pg))]
struct RunRow {
    account_id: i64,
    job: String,
    as_of: Date,
    state: String,
    claim: i64,
    started_at: OffsetDateTime,
    finished_at: Option<OffsetDateTime>,
    error: Option<String>,
}

impl TryFrom<RunRow> for Run {
    type Error = StoreError;
    fn try_from(row: RunRow) -> Result<Self, StoreError> {
        let RunRow { account_id, job, as_of, state, claim, started_at, finished_at, error } = row;
        Ok(Self {
            account: AccountId(account_id),
            job: parse(&job, "job name")?,
            as_of,
            state: parse(&state, "state of a run")?,
            attempts: claim,
            started_at,
            finished_at,
            error,
        })
    }
}

#[async_trait]
impl JobStore for Store {
    async fn claim(
        &self,
        account: AccountId,
        job: JobName,
        as_of: Date,
        lease_seconds: i64,
        again: Again,
    ) -> Result<Option<Claim>, StoreError> {
        let again_before = match again {
            Again::All => None,
            Again::EndedBefore(at) => Some(at),
        };
        let take = TakeClaim { account: account.0, job: job.as_str(), as_of, lease_seconds, again_before };
        let number: Option<i64> =
            self.run::<_, Failure>(async |connection| Ok(take.get_result(connection).await.optional()?)).await?;
        Ok(number.map(|number| Claim { account, job, as_of, number, input_fingerprint: None }))
    }

    async fn end_if_unchanged(&self, claim: &Claim, now: OffsetDateTime) -> Result<bool, StoreError> {
        let Some(input_fingerprint) = &claim.input_fingerprint else { return Ok(false) };
        let ended = self
            .run::<_, Failure>(async |connection| {
                let stands = job_results::table
                    .find((claim.account.0, claim.job.as_str()))
                    .filter(job_results::input_fingerprint.eq(input_fingerprint))
                    .select(job_results::job);
                Ok(diesel::update(job_runs::table.find((claim.account.0, claim.job.as_str(), claim.as_of)))
                    .filter(job_runs::claim.eq(claim.number))
                    .filter(job_runs::state.eq("running"))
                    .filter(diesel::dsl::exists(stands))
                    .set((job_runs::state.eq("done"), job_runs::finished_at.eq(now)))
                    .execute(connection)
                    .await?)
            })
            .await?;
        Ok(ended > 0)
    }

    async fn fail(&self, claim: &Claim, error: &str) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| {
            diesel::update(job_runs::table.find((claim.account.0, claim.job.as_str(), claim.as_of)))
                .filter(job_runs::claim.eq(claim.number))
                .filter(job_runs::state.eq("running"))
                .set((job_runs::state.eq("failed"), job_runs::error.eq(error)))
                .execute(connection)
                .await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn list(&self, account: Option<AccountId>, limit: i64) -> Result<Vec<Run>, StoreError> {
        let rows = self
            .run::<_, Failure>(async |connection| {
                // Not those on copies, as of a day: they end with the command that asked for them.
                let of_copies = accounts::table.filter(accounts::copy_of.is_not_null()).select(accounts::id);
                let mut runs = job_runs::table.filter(job_runs::account_id.ne_all(of_copies)).into_boxed();
                if let Some(account) = account {
                    runs = runs.filter(job_runs::account_id.eq(account.0));
                }
                Ok(runs
                    .order((job_runs::started_at.desc(), job_runs::account_id, job_runs::job))
                    .limit(limit)
                    .select(RunRow::as_select())
                    .load(connection)
                    .await?)
            })
            .await?;
        rows.into_iter().map(Run::try_from).collect()
    }
}

impl Store {
    /// Runs `work` in a transaction with a job's limits.
    pub(crate) async fn job_transaction<T>(
        &self,
        work: impl AsyncFnOnce(&mut AsyncPgConnection) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        let done =
            self.run_transaction_within::<_, Failure>(LIMITS, async |connection| Ok(work(connection).await?)).await?;
        Ok(done)
    }

    /// Writes a job's result and ends its run in one transaction: `write` runs only while the claim is the newest, and
    /// returns how many rows it changed.
    pub(crate) async fn finish(
        &self,
        claim: &Claim,
        now: OffsetDateTime,
        write: impl AsyncFnOnce(&mut AsyncPgConnection) -> Result<u64, Error>,
    ) -> Result<WriteOutcome, StoreError> {
        self.job_transaction(async |connection| {
            let ended = diesel::update(job_runs::table.find((claim.account.0, claim.job.as_str(), claim.as_of)))
                .filter(job_runs::claim.eq(claim.number))
                .filter(job_runs::state.eq("running"))
                .set((job_runs::state.eq("done"), job_runs::finished_at.eq(now)))
                .execute(connection)
                .await?;
            if ended == 0 {
                return Ok(WriteOutcome::Superseded);
            }
            if let Some(input_fingerprint) = &claim.input_fingerprint {
                diesel::insert_into(job_results::table)
                    .values((
                        job_results::account_id.eq(claim.account.0),
                        job_results::job.eq(claim.job.as_str()),
                        job_results::input_fingerprint.eq(input_fingerprint),
                    ))
                    .on_conflict((job_results::account_id, job_results::job))
                    .do_update()
                    .set(job_results::input_fingerprint.eq(input_fingerprint))
                    .execute(connection)
                    .await?;
            }
            write(connection).await.map(WriteOutcome::Rows)
        })
        .await
    }
}
