//! The beginning of a run, and its debit.

use diesel::{prelude::*, result::Error};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, RunId, StoreError,
    ai::{FEATURE, RequestError, RunState, Trigger},
    audit::Entry,
    credits::{CreditAmount, Debit, DebitError, FeatureName, OperationKey},
    idempotency::{IdempotencyKey, Idempotent},
};
use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use super::runs::RunRow;
use crate::{
    credits::{operations, posting},
    database::{
        error::corrupt,
        idempotency::{self, WriteError},
        query::RunQueryDsl,
        transact::Rollback,
    },
    people::audit,
    schema::{ai_access, ai_runs as runs, credit_balances},
};

/// Keeps two requests from starting two runs. The lock is the one that a debit takes: a session that held another one first could
/// wait for a payment that waits for that.
pub(super) async fn lock_account(connection: &mut AsyncPgConnection, account: AccountId) -> Result<(), Error> {
    posting::lock(connection, account).await?;
    Ok(())
}

pub(super) async fn is_paused(connection: &mut AsyncPgConnection, account: AccountId) -> Result<bool, Error> {
    let paused: Option<Option<OffsetDateTime>> =
        ai_access::table.find(account.0).select(ai_access::paused_at).first(connection).await.optional()?;
    Ok(paused.flatten().is_some())
}

pub(super) async fn refuse_paused(
    connection: &mut AsyncPgConnection,
    account: AccountId,
) -> Result<(), WriteError<RequestError>> {
    if is_paused(connection, account).await? { Err(WriteError::Refused(RequestError::Paused)) } else { Ok(()) }
}

/// Tells at once that the credits will not do. Not a reservation: the debit looks again.
async fn refuse_insufficient(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    price: CreditAmount,
) -> Result<(), WriteError<RequestError>> {
    let balance: Option<i64> =
        credit_balances::table.find(account.0).select(credit_balances::balance).first(connection).await.optional()?;
    let balance = balance.unwrap_or(0);
    let refused = || WriteError::Refused(RequestError::Insufficient { balance });
    if balance < price.get() { Err(refused()) } else { Ok(()) }
}

/// The run that is under way, if one is.
pub(super) async fn live(connection: &mut AsyncPgConnection, account: AccountId) -> Result<Option<RunRow>, Error> {
    runs::table
        .filter(runs::account_id.eq(account.0))
        .filter(runs::feature.eq(FEATURE))
        .filter(runs::state.eq_any([RunState::Queued.as_str(), RunState::Running.as_str()]))
        .select(RunRow::as_select())
        .first(connection)
        .await
        .optional()
}

/// [`AiRuns::request`](domain::ai::AiRuns::request), in the caller's transaction.
pub(super) async fn request(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    price: Option<CreditAmount>,
    (key, note): (Option<&IdempotencyKey>, Option<&Entry>),
    now: OffsetDateTime,
) -> Result<Idempotent<RunRow>, WriteError<RequestError>> {
    if let Some(key) = key
        && let Some(result) = idempotency::begin(connection, account, key, now).await?
    {
        let id = result.get("run_id").and_then(Value::as_i64).ok_or_else(|| corrupt("idempotent result"))?;
        let row: RunRow = runs::table.find((account.0, id)).select(RunRow::as_select()).first(connection).await?;
        let state = result.get("state").and_then(Value::as_str).unwrap_or(RunState::Queued.as_str());
        // What was recorded by a release before knows no credits.
        let credits = result.get("credits").and_then(Value::as_i64).unwrap_or(row.credits);
        return Ok(Idempotent { value: row.into_answered(state, credits), replayed: true });
    }
    lock_account(connection, account).await?;
    refuse_paused(connection, account).await?;
    let row = match live(connection, account).await? {
        Some(row) => row,
        None => {
            if let Some(price) = price {
                refuse_insufficient(connection, account, price).await?;
            }
            audit::add_any(connection, note, now).await?;
            insert(connection, account, FEATURE, Trigger::Request, now).await?
        }
    };
    if let Some(key) = key {
        let result = json!({ "run_id": row.id, "state": row.state, "credits": row.credits });
        idempotency::finish(connection, account, key, result, now).await?;
    }
    Ok(Idempotent { value: row, replayed: false })
}

/// Makes a run that is not paid for.
pub(super) async fn insert(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    feature: &str,
    trigger: Trigger,
    now: OffsetDateTime,
) -> Result<RunRow, Error> {
    diesel::insert_into(runs::table)
        .values((
            runs::account_id.eq(account.0),
            runs::feature.eq(feature),
            runs::trigger.eq(trigger.as_str()),
            runs::state.eq(RunState::Queued.as_str()),
            runs::credits.eq(0),
            runs::created_at.eq(now),
        ))
        .returning(RunRow::as_returning())
        .get_result(connection)
        .await
}

/// What a run is debited.
pub(crate) struct Charge<'a> {
    pub feature: &'a str,
    pub price: CreditAmount,
    /// What the ledger says of it, beside the run's number.
    pub about: Map<String, Value>,
}

impl Charge<'_> {
    /// For wording insights.
    pub fn of_insights(trigger: Trigger, price: CreditAmount) -> Self {
        Self { feature: FEATURE, price, about: Map::from_iter([("trigger".to_owned(), json!(trigger))]) }
    }
}

/// Debits what a run costs, and notes it with the run.
pub(super) async fn pay(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    run: RunId,
    charge: Charge<'_>,
    now: OffsetDateTime,
) -> Result<(), Rollback<DebitError>> {
    let Charge { feature, price, about } = charge;
    let debit = Debit {
        account,
        amount: price,
        feature: FeatureName::new(feature).map_err(|_| corrupt("feature"))?,
        key: debit_key(run)?,
        meta: [("run_id".to_owned(), json!(run))].into_iter().chain(about).collect(),
    };
    // First, so that the debit counts as one that may still be refunded.
    diesel::update(runs::table.find((account.0, run.0))).set(runs::credits.eq(price.get())).execute(connection).await?;
    operations::debit(connection, &debit, now).await?;
    Ok(())
}

/// What a refused debit means for who asked.
pub(super) fn refusal(rollback: Rollback<DebitError>) -> WriteError<RequestError> {
    match rollback.into_error() {
        DebitError::Paused => WriteError::Refused(RequestError::Paused),
        DebitError::Insufficient { balance } => WriteError::Refused(RequestError::Insufficient { balance }),
        DebitError::KeyReused => corrupt("key of a debit").into(),
        DebitError::Store(error) => error.into(),
    }
}

/// The key of the run's debit.
pub(super) fn debit_key(run: RunId) -> Result<OperationKey, StoreError> {
    OperationKey::new(format!("ai_run:{run}")).map_err(|_| corrupt("key of a debit"))
}
