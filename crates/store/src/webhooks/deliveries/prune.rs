//! Removing what has been kept long enough: deliveries that have ended or are held, then events that no delivery needs any
//! more.

use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Timestamptz},
};
use domain::{StoreError, error::Chain};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl, statement::Scalar},
    schema::webhook_replays as replays,
};

/// Events that are looked at in one go, so that what is removed at once holds up no other session.
const BATCH: i64 = 500;
/// Batches of an account at a time: none keeps the others waiting. What is left is removed at the next tick.
const BATCHES: usize = 500;

/// The look at the events of all accounts may take longer than a request does.
const LIMITS: &str = "SET LOCAL statement_timeout = '10min'";

row!(
    struct EventRow {
        id: i64 => BigInt,
        created_at: OffsetDateTime => Timestamptz,
    }
);

statement!(
    AccountsWithOld(before: OffsetDateTime => Timestamptz) -> Scalar<BigInt> = "
    SELECT DISTINCT account_id FROM events WHERE created_at < $1"
);

statement!(
    /// The first events of an account after one of them. They are numbered as they are written, so old ones come first; one
    /// that is behind a newer one stays until that is old.
    FirstEvents(account: i64 => BigInt, after: i64 => BigInt, limit: i64 => BigInt) -> EventRow = "
    SELECT id, created_at FROM events WHERE account_id = $1 AND id > $2 ORDER BY id LIMIT $3"
);

statement!(
    /// Those of some events that have ended, or that were not asked for since; one that was resent meanwhile stays. One look at
    /// each subscription, however many events there are: of those that were revoked nothing may be left.
    RemoveDeliveries<'a>(
        account: i64 => BigInt,
        events: &'a [i64] => Array<BigInt>,
        first: i64 => BigInt,
        last: i64 => BigInt,
    ) -> () = "
    DELETE FROM deliveries d USING webhook_subscriptions s
    WHERE s.account_id = $1 AND d.account_id = $1 AND d.subscription_id = s.id AND d.event_id BETWEEN $3 AND $4
        AND d.event_id = ANY ($2) AND d.state IN ('delivered', 'failed', 'canceled', 'held')"
);

statement!(
    /// Those of some events that have no delivery. None is made for an event later on.
    RemoveEvents<'a>(
        account: i64 => BigInt,
        events: &'a [i64] => Array<BigInt>,
        first: i64 => BigInt,
        last: i64 => BigInt,
    ) -> () = "
    DELETE FROM events WHERE account_id = $1 AND id = ANY ($2) AND id NOT IN (
        SELECT d.event_id FROM webhook_subscriptions s
            JOIN deliveries d ON d.account_id = $1 AND d.subscription_id = s.id AND d.event_id BETWEEN $3 AND $4
        WHERE s.account_id = $1)"
);

/// Rows that were removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    pub deliveries: usize,
    pub events: usize,
}

impl Store {
    /// Removes deliveries that have ended or are held, and events that none needs, of events from before an instant; of
    /// what is pending, nothing. A bounded number at a time: after a full go there may be more. Safe to be killed, and
    /// to be done by several processes. Where it fails for an account, that account waits and the others do not.
    ///
    /// # Errors
    /// [`StoreError`] when the database does not answer, or the first that an account failed with; what was removed stays
    /// removed.
    pub async fn prune_deliveries(&self, before: OffsetDateTime) -> Result<Pruned, StoreError> {
        let find = AccountsWithOld { before };
        let accounts: Vec<i64> = self
            .run_transaction_within::<_, Failure>(LIMITS, async |connection| Ok(find.load(connection).await?))
            .await?;
        let (mut pruned, mut failed) = (Pruned::default(), None);
        for account in accounts {
            match self.prune_account(account, before, &mut pruned).await {
                Ok(()) => {}
                // Nothing can be done for the others either.
                Err(error @ StoreError::Unavailable(_)) => return Err(error),
                Err(error) => {
                    tracing::warn!(account_id = account, error = %Chain(&error), "old deliveries of an account stay");
                    failed.get_or_insert(error);
                }
            }
        }
        let ended = replays::table.filter(replays::state.ne("running")).filter(replays::created_at.lt(before));
        self.run_unhurried::<_, Failure>(async |connection| Ok(diesel::delete(ended).execute(connection).await?))
            .await?;
        failed.map_or(Ok(pruned), Err)
    }

    async fn prune_account(&self, account: i64, before: OffsetDateTime, pruned: &mut Pruned) -> Result<(), StoreError> {
        let mut after = 0;
        for _ in 0..BATCHES {
            let find = FirstEvents { account, after, limit: BATCH };
            let found: Vec<EventRow> =
                self.run_unhurried::<_, Failure>(async |connection| Ok(find.load(connection).await?)).await?;
            let old: Vec<i64> =
                found.iter().take_while(|event| event.created_at < before).map(|event| event.id).collect();
            let (Some(&first), Some(&last)) = (old.as_slice().first(), old.last()) else { break };
            let deliveries = RemoveDeliveries { account, events: &old, first, last };
            pruned.deliveries +=
                self.run_unhurried::<_, Failure>(async |connection| Ok(deliveries.execute(connection).await?)).await?;
            let events = RemoveEvents { account, events: &old, first, last };
            pruned.events +=
                self.run_unhurried::<_, Failure>(async |connection| Ok(events.execute(connection).await?)).await?;
            after = last;
        }
        Ok(())
    }
}
