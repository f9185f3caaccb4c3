//! The end of a run, with its refund unless it keeps its credits.

use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Bool, Nullable},
};
use diesel_async::AsyncPgConnection;
use domain::{
    StoreError,
    ai::{Outcome, RunClaim, RunState},
    credits::{OperationKey, Refund},
};
use time::OffsetDateTime;

use super::{
    beginning::debit_key,
    runs::{RunAndClaim, RunRow},
};
use crate::{
    Store,
    credits::{operations, posting, top_ups},
    database::{
        error::{corrupt, store_error},
        query::RunQueryDsl,
    },
    schema::ai_runs as runs,
};

statement!(
    /// Leases are kept by the database's clock, which all processes share. Not locked, for rows of several accounts cannot
    /// be where they are on several nodes: [`end_run`] ends it for the holder of this claim, and so once.
    Dead(of: Option<Vec<i64>> => Nullable<Array<BigInt>>) -> RunAndClaim = "
    SELECT account_id, id, claim FROM ai_runs
    WHERE state = 'running' AND lease_until < now() AND ($1::bigint[] IS NULL OR account_id = ANY ($1))
    ORDER BY created_at"
);

/// The runs whose holders died.
pub(super) async fn dead(store: &Store) -> Result<Vec<RunClaim>, StoreError> {
    let dead: Vec<RunAndClaim> = store.look(|of| Dead { of }).await?;
    Ok(dead.into_iter().map(RunClaim::from).collect())
}

/// Ends a run, and refunds it unless its outcome keeps the credits. Only the holder of the newest claim can: whether it was.
pub(crate) async fn end_run(
    connection: &mut AsyncPgConnection,
    claim: &RunClaim,
    outcome: Outcome,
    reason: Option<&str>,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    // The balance first, as everywhere.
    posting::lock(connection, claim.account).await.map_err(store_error)?;
    let refunds = runs::credits.gt(0).and((!outcome.is_paid()).into_sql::<Bool>());
    let ended: Option<RunRow> = diesel::update(runs::table.find((claim.account.0, claim.run.0)))
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
        .returning(RunRow::as_returning())
        .get_result(connection)
        .await
        .optional()
        .map_err(store_error)?;
    let Some(RunRow { refunded, credits, .. }) = ended else { return Ok(false) };
    if refunded {
        let refund = Refund {
            account: claim.account,
            debit_key: debit_key(claim.run)?,
            key: OperationKey::new(format!("ai_run:{}:refund", claim.run)).map_err(|_| corrupt("key of a refund"))?,
            reason: format!("the run ended as {outcome}"),
        };
        operations::refund(connection, &refund, now)
            .await
            .map_err(|rollback| StoreError::Internal(rollback.into_error().into()))?;
    }
    if credits > 0 {
        // Only now it is certain what the run cost.
        top_ups::queue_if_low(connection, claim.account, now).await.map_err(store_error)?;
    }
    Ok(true)
}
