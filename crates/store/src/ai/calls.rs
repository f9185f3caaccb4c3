//! Calls of a provider: recorded before they are made, and updated with what they used.

use diesel::{prelude::*, result::Error, sql_types::BigInt};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId,
    ai::{CallId, CallPermit, LEASE_SECONDS, ModelError, RequestError, RunClaim, RunState, Usage},
    credits::CreditAmount,
};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use super::{
    beginning::{self, Charge},
    guard,
    runs::RunRow,
};
use crate::{
    credits::posting,
    database::{
        error::{Failure, parse},
        idempotency::WriteError,
        query::RunQueryDsl,
    },
    schema::{ai_calls as calls, ai_runs as runs},
};

statement!(
    /// The whole lease for the call: what was done before it, such as a roll-up, has used up some of the first, and a
    /// run that is alive must not be taken for dead. Leases are kept by the database's clock, which all processes share.
    Renew(account: i64 => BigInt, id: i64 => BigInt, lease_seconds: i64 => BigInt) -> () = "
    UPDATE ai_runs SET lease_until = now() + $3 * interval '1 second' WHERE account_id = $1 AND id = $2"
);

/// [`AiRuns::open_call`](domain::ai::AiRuns::open_call), in the caller's transaction. What is refused ends it.
pub(super) async fn open(
    connection: &mut AsyncPgConnection,
    claim: &RunClaim,
    price: CreditAmount,
    model: &str,
    bound: &Usage,
    now: OffsetDateTime,
) -> Result<CallPermit, WriteError<RequestError>> {
    // The balance first: a pause and the end of the run take it before what they change.
    posting::lock(connection, claim.account).await?;
    let held: Option<RunRow> = runs::table
        .find((claim.account.0, claim.run.0))
        .filter(runs::claim.eq(claim.number))
        .filter(runs::state.eq(RunState::Running.as_str()))
        .select(RunRow::as_select())
        .for_update()
        .first(connection)
        .await
        .optional()?;
    let Some(RunRow { trigger, credits, .. }) = held else { return Ok(CallPermit::Superseded) };
    if credits == 0 {
        let trigger = parse(&trigger, "trigger")?;
        let charge = Charge::of_insights(trigger, price);
        let paid = beginning::pay(connection, claim.account, claim.run, charge, now).await;
        paid.map_err(beginning::refusal)?;
    } else {
        // Paid for when it was started; access may have been paused since.
        beginning::refuse_paused(connection, claim.account).await?;
    }
    // The row is held since it was read above: nobody has ended the run meanwhile.
    let renew = Renew { account: claim.account.0, id: claim.run.0, lease_seconds: LEASE_SECONDS };
    renew.execute(connection).await?;
    Ok(CallPermit::Granted(note(connection, claim, model, bound, now).await?))
}

/// Notes a call that is about to be made, with the most that it can cost.
pub(super) async fn note(
    connection: &mut AsyncPgConnection,
    claim: &RunClaim,
    model: &str,
    bound: &Usage,
    now: OffsetDateTime,
) -> Result<CallId, Error> {
    let id = diesel::insert_into(calls::table)
        .values((
            calls::account_id.eq(claim.account.0),
            calls::run_id.eq(claim.run.0),
            calls::model.eq(model),
            usage(bound),
            calls::started_at.eq(now),
        ))
        .returning(calls::id)
        .get_result::<i64>(connection)
        .await?;
    Ok(CallId(id))
}

/// [`AiRuns::close_call`](domain::ai::AiRuns::close_call), in the caller's transaction.
pub(super) async fn close(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    call: CallId,
    used: &Usage,
    error: Option<ModelError>,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    diesel::update(calls::table.find((account.0, call.0)))
        .filter(calls::finished_at.is_null())
        .set((usage(used), calls::finished_at.eq(now), calls::error.eq(error.map(ModelError::as_str))))
        .execute(connection)
        .await?;
    guard::check(connection, account, now).await?;
    Ok(())
}

type UsageColumns = (
    diesel::dsl::Eq<calls::prompt_tokens, i64>,
    diesel::dsl::Eq<calls::completion_tokens, i64>,
    diesel::dsl::Eq<calls::cost_usd, Decimal>,
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
