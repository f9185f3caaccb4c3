//! Calls of a provider: written down before they are made, and again when it is known what they used.

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId,
    ai::{CallId, ModelError, RunClaim, RunState, Usage},
};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use super::guard;
use crate::{
    error::Failure,
    schema::{ai_calls as calls, ai_runs as runs},
};

/// [`AiRuns::open_call`](domain::ai::AiRuns::open_call), in the caller's transaction.
pub(super) async fn open(
    connection: &mut AsyncPgConnection,
    claim: &RunClaim,
    model: &str,
    bound: &Usage,
    now: OffsetDateTime,
) -> Result<Option<CallId>, Failure> {
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
            usage(bound),
            calls::started_at.eq(now),
        ))
        .returning(calls::id)
        .get_result::<i64>(connection)
        .await?;
    Ok(Some(CallId(id)))
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
