//! [`AiRuns`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Nullable, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, RunId, StoreError,
    ai::{
        AiRuns, CallId, CallPermit, FEATURE, LEASE_SECONDS, ModelError, Outcome, RequestError, Run, RunClaim, Trigger,
        Usage,
    },
    audit::Entry,
    credits::CreditAmount,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
};
use time::OffsetDateTime;

use super::{
    beginning::{self, Charge},
    calls, ending,
};
use crate::{
    Store,
    database::{
        error::{Failure, parse},
        idempotency::WriteError,
        query::RunQueryDsl,
    },
    schema::ai_runs as runs,
};

statement!(
    /// The run that has waited longest, of any account. Not locked: rows of several accounts cannot be where they are on
    /// several nodes. The first process that takes it, by [`Take`], has it.
    Queued(of: Option<Vec<i64>> => Nullable<Array<BigInt>>) -> RunAndClaim = "
    SELECT account_id, id, claim FROM ai_runs
    WHERE state = 'queued' AND ($1::bigint[] IS NULL OR account_id = ANY ($1)) ORDER BY created_at LIMIT 1"
);

statement!(
    /// Leases are kept by the database's clock, which all processes share.
    Take(
        account: i64 => BigInt,
        id: i64 => BigInt,
        claim: i64 => BigInt,
        now: OffsetDateTime => Timestamptz,
        lease_seconds: i64 => BigInt,
    ) -> RunAndClaim = "
    UPDATE ai_runs SET state = 'running', claim = claim + 1, started_at = $4, lease_until = now() + $5 * interval '1 second'
    WHERE account_id = $1 AND id = $2 AND claim = $3 AND state = 'queued' RETURNING account_id, id, claim"
);

statement!(
    Start(account: i64 => BigInt, id: i64 => BigInt, now: OffsetDateTime => Timestamptz, lease_seconds: i64 => BigInt)
        -> RunAndClaim = "
    UPDATE ai_runs SET state = 'running', claim = claim + 1, started_at = $3, lease_until = now() + $4 * interval '1 second'
    WHERE account_id = $1 AND id = $2 RETURNING account_id, id, claim"
);

row!(
    pub(super) struct RunAndClaim {
        account_id: i64 => BigInt,
        id: i64 => BigInt,
        claim: i64 => BigInt,
    }
);

impl From<RunAndClaim> for RunClaim {
    fn from(RunAndClaim { account_id, id, claim }: RunAndClaim) -> Self {
        Self { account: AccountId(account_id), run: RunId(id), number: claim }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = runs, check_for_backend(diesel::pg::Pg))]
pub(super) struct RunRow {
    pub id: i64,
    pub trigger: String,
    pub state: String,
    outcome: Option<String>,
    reason: Option<String>,
    pub credits: i64,
    pub refunded: bool,
    created_at: OffsetDateTime,
    finished_at: Option<OffsetDateTime>,
}

impl RunRow {
    /// As it was while it was under way, in this state, with what it had been debited.
    pub fn into_answered(self, state: &str, credits: i64) -> Self {
        let state = state.to_owned();
        Self { state, outcome: None, reason: None, credits, refunded: false, finished_at: None, ..self }
    }
}

impl TryFrom<RunRow> for Run {
    type Error = StoreError;
    fn try_from(row: RunRow) -> Result<Self, StoreError> {
        let RunRow { id, trigger, state, outcome, reason, credits, refunded, created_at, finished_at } = row;
        Ok(Self {
            id: RunId(id),
            trigger: parse(&trigger, "trigger")?,
            state: parse(&state, "state of an AI run")?,
            outcome: outcome.map(|outcome| parse(&outcome, "outcome")).transpose()?,
            reason,
            credits,
            refunded,
            created_at,
            finished_at,
        })
    }
}

#[async_trait]
impl AiRuns for Store {
    async fn request(
        &self,
        account: AccountId,
        price: Option<CreditAmount>,
        key: Option<IdempotencyKey>,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Run>, RequestError> {
        let written = self
            .transact::<_, WriteError<RequestError>>(async |connection| {
                beginning::request(connection, account, price, (key.as_ref(), note.as_ref()), now).await
            })
            .await;
        let Idempotent { value, replayed } = self.refused(account, written, now).await?;
        Ok(Idempotent { value: value.try_into()?, replayed })
    }

    async fn start(
        &self,
        account: AccountId,
        price: CreditAmount,
        now: OffsetDateTime,
    ) -> Result<Option<RunClaim>, RequestError> {
        let started = self
            .transact::<_, WriteError<RequestError>>(async |connection| {
                beginning::lock_account(connection, account).await?;
                beginning::refuse_paused(connection, account).await?;
                if beginning::live(connection, account).await?.is_some() {
                    return Ok(None);
                }
                let run = beginning::insert(connection, account, FEATURE, Trigger::Schedule, now).await?;
                let charge = Charge::of_insights(Trigger::Schedule, price);
                let paid = beginning::pay(connection, account, RunId(run.id), charge, now).await;
                paid.map_err(beginning::refusal)?;
                let claim = Start { account: account.0, id: run.id, now, lease_seconds: LEASE_SECONDS };
                let claim: RunAndClaim = claim.get_result(connection).await?;
                Ok(Some(claim.into()))
            })
            .await;
        self.refused(account, started, now).await
    }

    async fn claim_next(&self, now: OffsetDateTime) -> Result<Option<RunClaim>, StoreError> {
        loop {
            let queued: Vec<RunAndClaim> = self.look(|of| Queued { of }).await?;
            let Some(RunAndClaim { account_id, id, claim }) = queued.into_iter().next() else { return Ok(None) };
            let take = Take { account: account_id, id, claim, now, lease_seconds: LEASE_SECONDS };
            let taken: Option<RunAndClaim> =
                self.run::<_, Failure>(async |connection| Ok(take.get_result(connection).await.optional()?)).await?;
            // Where another process was faster there may be a further run.
            if taken.is_some() {
                return Ok(taken.map(RunClaim::from));
            }
        }
    }

    async fn find(&self, account: AccountId, RunId(run): RunId) -> Result<Option<Run>, StoreError> {
        let row: Option<RunRow> = self
            .run::<_, Failure>(async |connection| {
                let row = runs::table.find((account.0, run)).filter(runs::feature.eq(FEATURE));
                Ok(row.select(RunRow::as_select()).first(connection).await.optional()?)
            })
            .await?;
        row.map(Run::try_from).transpose()
    }

    async fn open_call(
        &self,
        claim: &RunClaim,
        price: CreditAmount,
        model: &str,
        bound: Usage,
        now: OffsetDateTime,
    ) -> Result<CallPermit, StoreError> {
        let permit = self
            .transact::<_, WriteError<RequestError>>(async |connection| {
                calls::open(connection, claim, price, model, &bound, now).await
            })
            .await;
        match self.refused(claim.account, permit, now).await {
            Ok(permit) => Ok(permit),
            Err(RequestError::Paused) => Ok(CallPermit::Paused),
            Err(RequestError::Insufficient { .. }) => Ok(CallPermit::Insufficient),
            Err(RequestError::Idempotency(IdempotencyError::Store(error))) => Err(error),
            Err(RequestError::Idempotency(error)) => Err(StoreError::Internal(error.into())),
        }
    }

    async fn close_call(
        &self,
        account: AccountId,
        call: CallId,
        used: Usage,
        error: Option<ModelError>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        self.transact::<_, Failure>(async |connection| {
            calls::close(connection, account, call, &used, error, now).await
        })
        .await?;
        Ok(())
    }

    async fn fail(&self, claim: &RunClaim, reason: &str, now: OffsetDateTime) -> Result<bool, StoreError> {
        let ended = self
            .transact::<_, Failure>(async |connection| {
                ending::end_run(connection, claim, Outcome::Failed, Some(reason), now).await.map_err(Failure::from)
            })
            .await?;
        Ok(ended)
    }

    async fn reap(&self, now: OffsetDateTime) -> Result<u64, StoreError> {
        let (mut reaped, mut first_failure) = (0, None);
        for claim in ending::dead(self).await? {
            let ended = self
                .transact::<_, Failure>(async |connection| {
                    let why = Some("the process ended");
                    Ok(ending::end_run(connection, &claim, Outcome::Interrupted, why, now).await?)
                })
                .await;
            match ended.map_err(StoreError::from) {
                Ok(true) => {
                    tracing::warn!(
                        account_id = claim.account.0,
                        run = claim.run.0,
                        "an AI run's process died; it is refunded"
                    );
                    reaped += 1;
                }
                // Another process ended it in between.
                Ok(false) => {}
                // It is no reason to keep the others waiting.
                Err(error) => {
                    first_failure.get_or_insert(error);
                }
            }
        }
        first_failure.map_or(Ok(reaped), Err)
    }
}

/// A run that is never queued: it is made, paid for and claimed, and its call is noted. In the caller's transaction, which
/// holds the account's balance.
pub(crate) async fn begin_paid(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    charge: Charge<'_>,
    (model, bound): (&str, &Usage),
    now: OffsetDateTime,
) -> Result<(RunClaim, CallId), WriteError<RequestError>> {
    let run = beginning::insert(connection, account, charge.feature, Trigger::Schedule, now).await?;
    let paid = beginning::pay(connection, account, RunId(run.id), charge, now).await;
    paid.map_err(beginning::refusal)?;
    let claim = Start { account: account.0, id: run.id, now, lease_seconds: LEASE_SECONDS };
    let claim = RunClaim::from(claim.get_result::<RunAndClaim>(connection).await?);
    let call = calls::note(connection, &claim, model, bound, now).await?;
    Ok((claim, call))
}

impl Store {
    /// What a run that was asked for came to. For one that could not be paid a top-up is queued.
    pub(crate) async fn refused<T>(
        &self,
        account: AccountId,
        asked: Result<T, WriteError<RequestError>>,
        now: OffsetDateTime,
    ) -> Result<T, RequestError> {
        let asked = asked.map_err(WriteError::into_refusal);
        if matches!(asked, Err(RequestError::Insufficient { .. })) {
            self.queue_after_refusal(account, now).await;
        }
        asked
    }
}
