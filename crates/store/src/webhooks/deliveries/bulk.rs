//! What is moved in bulk, step by step: replays, what was held for a subscription that was resumed or revoked, and what is
//! due to one that was switched off. The progress is stored in the transaction of each step, so any process continues after
//! a crash.

use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Bool, Nullable, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{StoreError, webhooks::delivery::Receiver};
use time::{Duration, OffsetDateTime};

use super::receiver;
use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl},
    webhooks::replays,
};

/// Deliveries of a subscription that one step moves.
const STEP: i64 = 1_000;
/// When a subscription is looked at again whose deliveries could not be moved.
const PUT_BACK_FOR: Duration = Duration::seconds(30);
/// When a subscription that was resumed is looked at once more: a lease that began before may have put a delivery aside since.
const LOOK_AGAIN_AFTER: Duration = Duration::seconds(10);

row!(
    struct WaitingRow {
        account_id: i64 => BigInt,
        id: i64 => BigInt,
        is_replay: bool => Bool,
    }
);

row!(
    struct MovedRow {
        count: i64 => BigInt,
        goes_on: bool => Bool,
    }
);

statement!(
    /// What there is to move, of any account: those first whose account has waited longest for a step. Not locked: rows of
    /// several accounts cannot be where they are on several nodes.
    Waiting(of: Option<Vec<i64>> => Nullable<Array<BigInt>>, now: OffsetDateTime => Timestamptz) -> WaitingRow = "
    SELECT account_id, id, is_replay FROM (
        SELECT account_id, id, is_replay, moved_at, max(moved_at) OVER (PARTITION BY account_id) AS account_moved_at
        FROM (
            SELECT account_id, id, true AS is_replay, coalesce(advanced_at, created_at) AS moved_at
            FROM webhook_replays WHERE state = 'running' AND ($1::bigint[] IS NULL OR account_id = ANY ($1))
            UNION ALL
            SELECT account_id, id, false, held_moved_at FROM webhook_subscriptions
            WHERE held_moved_at <= $2 AND ($1 IS NULL OR account_id = ANY ($1))
        ) AS waiting
    ) AS ranked
    ORDER BY account_moved_at, moved_at, account_id, id LIMIT 10"
);

statement!(
    /// Moves the next deliveries of a subscription: makes what is held due, or cancels it if it is revoked; if it is switched
    /// off, holds what is due. An active one is looked at again after the first step, and after each that found any; else that
    /// ends where a step finds less than it may move. No row when there is nothing to do or another process is at it.
    MoveHeld(
        now: OffsetDateTime => Timestamptz,
        step: i64 => BigInt,
        account: i64 => BigInt,
        subscription: i64 => BigInt,
        is_first: bool => Bool,
        again: OffsetDateTime => Timestamptz,
    ) -> MovedRow = "
    WITH subscription AS MATERIALIZED (
        SELECT s.id, t.now, t.step,
            CASE WHEN s.active OR s.revoked_at IS NOT NULL THEN 'held' ELSE 'pending' END AS before,
            CASE WHEN s.revoked_at IS NOT NULL THEN 'canceled' WHEN s.active THEN 'pending' ELSE 'held' END AS after
        FROM (SELECT $1::timestamptz AS now, $2::bigint AS step) AS t, webhook_subscriptions s
        WHERE s.account_id = $3 AND s.id = $4 AND s.held_moved_at IS NOT NULL FOR NO KEY UPDATE OF s SKIP LOCKED
    ), next AS MATERIALIZED (
        SELECT d.event_id, s.id, s.now, s.after
        FROM subscription s CROSS JOIN LATERAL (
            SELECT event_id FROM deliveries
            WHERE account_id = $3 AND subscription_id = s.id AND state IN ('pending', 'held') AND state = s.before
                AND due_at <= CASE s.before WHEN 'held' THEN 'infinity' ELSE s.now END
            ORDER BY due_at LIMIT s.step FOR UPDATE SKIP LOCKED
        ) AS d
    ), moved AS (
        UPDATE deliveries d
        SET state = n.after, leased_until = NULL,
            due_at = CASE WHEN n.after = 'pending' THEN n.now ELSE d.due_at END,
            finished_at = CASE WHEN n.after = 'canceled' THEN n.now END
        FROM next n
        WHERE d.account_id = $3 AND d.subscription_id = n.id AND d.event_id = n.event_id
        RETURNING d.event_id
    ), step AS (SELECT count(*) AS moved FROM moved)
    UPDATE webhook_subscriptions w SET held_moved_at = CASE WHEN p.moved >= s.step THEN s.now
        WHEN s.after = 'pending' AND ($5 OR p.moved > 0) THEN $6 END
    FROM subscription s, step p
    WHERE w.account_id = $3 AND w.id = s.id
    RETURNING p.moved AS count, p.moved >= s.step AS goes_on"
);

statement!(
    /// Lets others be first.
    PutBackReplay(account: i64 => BigInt, id: i64 => BigInt, now: OffsetDateTime => Timestamptz) -> () = "
    UPDATE webhook_replays SET advanced_at = $3 WHERE account_id = $1 AND id = $2 AND state = 'running'"
);

statement!(
    /// Has a subscription looked at again then.
    PutBackHeld(account: i64 => BigInt, id: i64 => BigInt, at: OffsetDateTime => Timestamptz) -> () = "
    UPDATE webhook_subscriptions SET held_moved_at = $3 WHERE account_id = $1 AND id = $2 AND held_moved_at IS NOT NULL"
);

/// How far a step got.
pub(crate) struct Moved {
    pub count: i64,
    /// Whether there is more.
    pub goes_on: bool,
}

/// Moves the first of what there is to move for a subscription that is marked for it; `is_first` of the steps since it was
/// marked.
pub(crate) async fn move_held(
    connection: &mut AsyncPgConnection,
    Receiver { account, subscription }: Receiver,
    is_first: bool,
    now: OffsetDateTime,
) -> QueryResult<Option<Moved>> {
    let again = now + LOOK_AGAIN_AFTER;
    let statement = MoveHeld { now, step: STEP, account: account.0, subscription: subscription.0, is_first, again };
    let row: Option<MovedRow> = statement.get_result(connection).await.optional()?;
    Ok(row.map(|MovedRow { count, goes_on }| Moved { count, goes_on }))
}

/// Makes one step of what has waited longest. Gives its receiver, none when there is nothing to move. What cannot be moved is put
/// back behind everything else.
pub(super) async fn advance(store: &Store, now: OffsetDateTime) -> Result<Option<Receiver>, StoreError> {
    let waiting: Vec<WaitingRow> = store.look(|of| Waiting { of, now }).await?;
    for WaitingRow { account_id: account, id, is_replay } in waiting {
        let step = async |connection: &mut AsyncPgConnection| {
            if is_replay {
                return replays::advance(connection, account, id, now).await;
            }
            let held_for = receiver(account, id);
            Ok(move_held(connection, held_for, false, now).await?.map(|_| held_for))
        };
        match store.run::<_, Failure>(step).await {
            Ok(None) => {}
            Ok(moved) => return Ok(moved),
            Err(error) => {
                let error = StoreError::from(error);
                if let StoreError::Unavailable(_) = error {
                    return Err(error);
                }
                tracing::warn!(account_id = account, id, is_replay, %error, "deliveries could not be moved in bulk");
                put_back(store, account, id, is_replay, now).await?;
                // What took too long is not followed by what may as well.
                if let StoreError::Overloaded(_) = error {
                    return Err(error);
                }
            }
        }
    }
    Ok(None)
}

async fn put_back(
    store: &Store,
    account: i64,
    id: i64,
    is_replay: bool,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    store
        .run::<_, Failure>(async |connection| {
            Ok(match is_replay {
                true => PutBackReplay { account, id, now }.execute(connection).await?,
                false => PutBackHeld { account, id, at: now + PUT_BACK_FOR }.execute(connection).await?,
            })
        })
        .await?;
    Ok(())
}
