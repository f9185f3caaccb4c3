//! [`AiRuns`] on Postgres.

use async_trait::async_trait;
use diesel::{
    QueryableByName,
    prelude::*,
    result::Error,
    sql_query,
    sql_types::{BigInt, Timestamptz},
};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    ai::{
        AiRuns, CallId, FEATURE, LEASE_SECONDS, ModelError, Outcome, RequestError, Run, RunClaim, RunState, Trigger,
        Usage,
    },
    credits::{CreditAmount, Debit, DebitError, FeatureName, OperationKey, Refund},
    idempotency::{IdempotencyKey, Written},
};
use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use super::guard;
use crate::{
    Store,
    credits::{operations, posting::Halt},
    error::{Failure, corrupt, parse},
    idempotency::{self, WriteError},
    schema::{accounts, ai_access, ai_calls as calls, ai_runs as runs},
};

/// Leases are kept by the database's clock, which all processes share.
const CLAIM_NEXT: &str = "
    UPDATE ai_runs SET state = 'running', claim = claim + 1, started_at = $1, lease_until = now() + $2 * interval '1 second'
    WHERE (account_id, id) = (
        SELECT account_id, id FROM ai_runs WHERE state = 'queued' ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING account_id, id, claim";

const START: &str = "
    UPDATE ai_runs SET state = 'running', claim = claim + 1, started_at = $3, lease_until = now() + $4 * interval '1 second'
    WHERE account_id = $1 AND id = $2 RETURNING account_id, id, claim";

const DEAD: &str = "
    SELECT account_id, id, claim FROM ai_runs WHERE state = 'running' AND lease_until < now()
    ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED";

#[derive(QueryableByName)]
struct ClaimRow {
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    claim: i64,
}

impl From<ClaimRow> for RunClaim {
    fn from(ClaimRow { account_id, id, claim }: ClaimRow) -> Self {
        Self { account: AccountId(account_id), run: id, number: claim }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = runs, check_for_backend(diesel::pg::Pg))]
struct RunRow {
    id: i64,
    trigger: String,
    state: String,
    outcome: Option<String>,
    reason: Option<String>,
    credits: i64,
    refunded: bool,
    created_at: OffsetDateTime,
    finished_at: Option<OffsetDateTime>,
}

impl TryFrom<RunRow> for Run {
    type Error = StoreError;
    fn try_from(row: RunRow) -> Result<Self, StoreError> {
        let RunRow { id, trigger, state, outcome, reason, credits, refunded, created_at, finished_at } = row;
        Ok(Self {
            id,
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
        now: OffsetDateTime,
    ) -> Result<Written<Run>, RequestError> {
        let written = self
            .run::<_, WriteError<RequestError>>(async |connection| {
                connection
                    .transaction(async |connection| request_once(connection, account, price, key.as_ref(), now).await)
                    .await
            })
            .await;
        let Written { value, replayed } = written.map_err(WriteError::into_refusal)?;
        Ok(Written { value: value.try_into()?, replayed })
    }

    async fn start(
        &self,
        account: AccountId,
        price: CreditAmount,
        now: OffsetDateTime,
    ) -> Result<Option<RunClaim>, RequestError> {
        let started = self
            .run::<_, WriteError<RequestError>>(async |connection| {
                connection
                    .transaction(async |connection| {
                        lock_account(connection, account).await?;
                        refuse_paused(connection, account).await?;
                        if live(connection, account).await?.is_some() {
                            return Ok(None);
                        }
                        let run = insert(connection, account, Trigger::Schedule, Some(price), now).await?;
                        let claim = sql_query(START)
                            .bind::<BigInt, _>(account.0)
                            .bind::<BigInt, _>(run.id)
                            .bind::<Timestamptz, _>(now)
                            .bind::<BigInt, _>(LEASE_SECONDS)
                            .get_result::<ClaimRow>(connection)
                            .await?;
                        Ok(Some(claim.into()))
                    })
                    .await
            })
            .await;
        started.map_err(WriteError::into_refusal)
    }

    async fn claim_next(&self, now: OffsetDateTime) -> Result<Option<RunClaim>, StoreError> {
        let row = self
            .run::<_, Failure>(async |connection| {
                let claim = sql_query(CLAIM_NEXT).bind::<Timestamptz, _>(now).bind::<BigInt, _>(LEASE_SECONDS);
                Ok(claim.get_result::<ClaimRow>(connection).await.optional()?)
            })
            .await?;
        Ok(row.map(RunClaim::from))
    }

    async fn find(&self, account: AccountId, run: i64) -> Result<Option<Run>, StoreError> {
        let row: Option<RunRow> = self
            .run::<_, Failure>(async |connection| {
                let row = runs::table.find((account.0, run)).select(RunRow::as_select()).first(connection).await;
                Ok(row.optional()?)
            })
            .await?;
        row.map(Run::try_from).transpose()
    }

    async fn open_call(
        &self,
        claim: &RunClaim,
        model: &str,
        bound: Usage,
        now: OffsetDateTime,
    ) -> Result<Option<CallId>, StoreError> {
        let id = self
            .run::<_, Failure>(async |connection| {
                connection
                    .transaction(async |connection| {
                        let held: Option<i64> = runs::table
                            .find((claim.account.0, claim.run))
                            .filter(runs::claim.eq(claim.number))
                            .filter(runs::state.eq(RunState::Running.as_str()))
                            .select(runs::id)
                            .for_update()
                            .first(connection)
                            .await
                            .optional()?;
                        let Some(run) = held else { return Ok(None) };
                        let id = diesel::insert_into(calls::table)
                            .values((
                                calls::account_id.eq(claim.account.0),
                                calls::run_id.eq(run),
                                calls::model.eq(model),
                                usage(&bound),
                                calls::started_at.eq(now),
                            ))
                            .returning(calls::id)
                            .get_result::<i64>(connection)
                            .await?;
                        Ok::<_, Failure>(Some(id))
                    })
                    .await
            })
            .await?;
        Ok(id.map(CallId))
    }

    async fn close_call(
        &self,
        account: AccountId,
        call: CallId,
        used: Usage,
        error: Option<ModelError>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| {
            connection
                .transaction(async |connection| {
                    diesel::update(calls::table.find((account.0, call.0)))
                        .filter(calls::finished_at.is_null())
                        .set((usage(&used), calls::finished_at.eq(now), calls::error.eq(error.map(ModelError::as_str))))
                        .execute(connection)
                        .await?;
                    guard::check(connection, account, now).await?;
                    Ok::<_, Failure>(())
                })
                .await
        })
        .await?;
        Ok(())
    }

    async fn fail(&self, claim: &RunClaim, reason: &str, now: OffsetDateTime) -> Result<bool, StoreError> {
        let ended = self
            .run::<_, Failure>(async |connection| {
                connection
                    .transaction(async |connection| {
                        end_run(connection, claim, Outcome::Failed, Some(reason), now).await.map_err(Failure::from)
                    })
                    .await
            })
            .await?;
        Ok(ended)
    }

    async fn reap(&self, now: OffsetDateTime) -> Result<u64, StoreError> {
        let mut reaped = 0;
        loop {
            let one = self
                .run::<_, Failure>(async |connection| {
                    connection.transaction(async |connection| reap_one(connection, now).await).await
                })
                .await?;
            if !one {
                return Ok(reaped);
            }
            reaped += 1;
        }
    }
}

type UsageColumns = (
    diesel::dsl::Eq<calls::prompt_tokens, i64>,
    diesel::dsl::Eq<calls::completion_tokens, i64>,
    diesel::dsl::Eq<calls::cost_usd, rust_decimal::Decimal>,
    diesel::dsl::Eq<calls::estimated, bool>,
);

fn usage(usage: &Usage) -> UsageColumns {
    let Usage { prompt_tokens, completion_tokens, cost_usd, estimated } = *usage;
    (
        calls::prompt_tokens.eq(prompt_tokens),
        calls::completion_tokens.eq(completion_tokens),
        calls::cost_usd.eq(cost_usd),
        calls::estimated.eq(estimated),
    )
}

async fn reap_one(connection: &mut AsyncPgConnection, now: OffsetDateTime) -> Result<bool, Failure> {
    let dead: Option<ClaimRow> = sql_query(DEAD).get_result(connection).await.optional()?;
    let Some(dead) = dead else { return Ok(false) };
    let claim = RunClaim::from(dead);
    tracing::warn!(account = %claim.account, run = claim.run, "an AI run's process died; it is refunded");
    end_run(connection, &claim, Outcome::Interrupted, Some("the process ended"), now).await?;
    Ok(true)
}

/// The account's row is the lock that keeps two requests from starting two runs.
async fn lock_account(connection: &mut AsyncPgConnection, account: AccountId) -> Result<(), Error> {
    accounts::table.find(account.0).select(accounts::id).for_no_key_update().first::<i64>(connection).await?;
    Ok(())
}

async fn refuse_paused(connection: &mut AsyncPgConnection, account: AccountId) -> Result<(), WriteError<RequestError>> {
    let paused: Option<Option<OffsetDateTime>> =
        ai_access::table.find(account.0).select(ai_access::paused_at).first(connection).await.optional()?;
    if paused.flatten().is_some() { Err(WriteError::Refused(RequestError::Paused)) } else { Ok(()) }
}

async fn live(connection: &mut AsyncPgConnection, account: AccountId) -> Result<Option<RunRow>, Error> {
    runs::table
        .filter(runs::account_id.eq(account.0))
        .filter(runs::feature.eq(FEATURE))
        .filter(runs::state.eq_any([RunState::Queued.as_str(), RunState::Running.as_str()]))
        .select(RunRow::as_select())
        .first(connection)
        .await
        .optional()
}

async fn request_once(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    price: Option<CreditAmount>,
    key: Option<&IdempotencyKey>,
    now: OffsetDateTime,
) -> Result<Written<RunRow>, WriteError<RequestError>> {
    if let Some(key) = key
        && let Some(result) = idempotency::begin(connection, account, key, now).await?
    {
        let id = result.get("run_id").and_then(Value::as_i64).ok_or_else(|| corrupt("idempotent result"))?;
        let row = runs::table.find((account.0, id)).select(RunRow::as_select()).first(connection).await?;
        return Ok(Written { value: row, replayed: true });
    }
    lock_account(connection, account).await?;
    refuse_paused(connection, account).await?;
    let row = match live(connection, account).await? {
        Some(row) => row,
        None => insert(connection, account, Trigger::Request, price, now).await?,
    };
    if let Some(key) = key {
        idempotency::finish(connection, account, key, json!({ "run_id": row.id }), now).await?;
    }
    Ok(Written { value: row, replayed: false })
}

/// Makes a run, and debits what it costs.
async fn insert(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    trigger: Trigger,
    price: Option<CreditAmount>,
    now: OffsetDateTime,
) -> Result<RunRow, WriteError<RequestError>> {
    let row: RunRow = diesel::insert_into(runs::table)
        .values((
            runs::account_id.eq(account.0),
            runs::feature.eq(FEATURE),
            runs::trigger.eq(trigger.as_str()),
            runs::state.eq(RunState::Queued.as_str()),
            runs::credits.eq(price.map_or(0, CreditAmount::get)),
            runs::created_at.eq(now),
        ))
        .returning(RunRow::as_returning())
        .get_result(connection)
        .await?;
    let Some(amount) = price else { return Ok(row) };
    let debit = Debit {
        account,
        amount,
        feature: FeatureName::new(FEATURE).map_err(|_| corrupt("feature"))?,
        key: debit_key(row.id)?,
        meta: Map::from_iter([("run_id".to_owned(), json!(row.id)), ("trigger".to_owned(), json!(trigger))]),
    };
    operations::debit(connection, &debit, now).await.map_err(|halt: Halt<DebitError>| match halt.into_error() {
        DebitError::Paused => WriteError::Refused(RequestError::Paused),
        DebitError::Insufficient { balance } => WriteError::Refused(RequestError::Insufficient { balance }),
        DebitError::KeyReused => corrupt("key of a debit").into(),
        DebitError::Store(error) => error.into(),
    })?;
    Ok(row)
}

fn debit_key(run: i64) -> Result<OperationKey, StoreError> {
    OperationKey::new(format!("ai_run:{run}")).map_err(|_| corrupt("key of a debit"))
}

/// Ends a run, and refunds it unless it was worded. Only the holder of the newest claim can: whether it was.
pub(crate) async fn end_run(
    connection: &mut AsyncPgConnection,
    claim: &RunClaim,
    outcome: Outcome,
    reason: Option<&str>,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let refunds = runs::credits.gt(0).and(diesel::dsl::sql::<diesel::sql_types::Bool>(if outcome == Outcome::Worded {
        "false"
    } else {
        "true"
    }));
    let refunded: Option<bool> = diesel::update(runs::table.find((claim.account.0, claim.run)))
        .filter(runs::claim.eq(claim.number))
        .filter(runs::state.eq(RunState::Running.as_str()))
        .set((
            runs::state.eq(outcome.state().as_str()),
            runs::outcome.eq(outcome.as_str()),
            runs::reason.eq(reason),
            runs::refunded.eq(refunds),
            runs::lease_until.eq(None::<OffsetDateTime>),
            runs::finished_at.eq(now),
        ))
        .returning(runs::refunded)
        .get_result(connection)
        .await
        .optional()
        .map_err(crate::error::store_error)?;
    if refunded == Some(true) {
        let refund = Refund {
            account: claim.account,
            debit_key: debit_key(claim.run)?,
            key: OperationKey::new(format!("ai_run:{}:refund", claim.run)).map_err(|_| corrupt("key of a refund"))?,
            reason: format!("the run ended as {outcome}"),
        };
        operations::refund(connection, &refund, now)
            .await
            .map_err(|halt| StoreError::Internal(halt.into_error().to_string()))?;
    }
    Ok(refunded.is_some())
}
