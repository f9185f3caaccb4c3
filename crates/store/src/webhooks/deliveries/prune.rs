//! Removing what has been kept long enough: deliveries that have ended or are held, then events that no delivery needs any
//! more.

use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Nullable, Timestamptz},
};
use domain::{AccountId, StoreError};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{citus::Part, error::Failure, query::RunQueryDsl},
    schema::webhook_replays as replays,
};

/// Rows removed in one transaction: few enough to hold up no other session.
const BATCH: i64 = 2_000;
/// Transactions in one go. What is left is removed at the next tick.
const BATCHES: usize = 500;

row!(
    struct DeliveryRow {
        account_id: i64 => BigInt,
        subscription_id: i64 => BigInt,
        event_id: i64 => BigInt,
    }
);

row!(
    struct EventRow {
        account_id: i64 => BigInt,
        id: i64 => BigInt,
    }
);

statement!(
    /// Deliveries of old events that have ended, or that were not asked for since.
    OldDeliveries(before: OffsetDateTime => Timestamptz, limit: i64 => BigInt) -> DeliveryRow = "
    SELECT d.account_id, d.subscription_id, d.event_id
    FROM events e JOIN webhook_subscriptions s ON s.account_id = e.account_id
        JOIN deliveries d ON d.account_id = e.account_id AND d.subscription_id = s.id AND d.event_id = e.id
    WHERE e.created_at < $1 AND d.state IN ('delivered', 'failed', 'canceled', 'held')
    LIMIT $2"
);

statement!(
    /// One that was resent meanwhile stays.
    RemoveDeliveries(
        accounts: Vec<i64> => Array<BigInt>,
        subscriptions: Vec<i64> => Array<BigInt>,
        events: Vec<i64> => Array<BigInt>,
        of: Option<Vec<i64>> => Nullable<Array<BigInt>>,
    ) -> () = "
    DELETE FROM deliveries d
    USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS old (account_id, subscription_id, event_id)
    WHERE d.account_id = old.account_id AND d.subscription_id = old.subscription_id AND d.event_id = old.event_id
        AND d.state IN ('delivered', 'failed', 'canceled', 'held') AND ($4::bigint[] IS NULL OR d.account_id = ANY ($4))"
);

statement!(
    /// Old events without a delivery. None is made for an event later on.
    OldEvents(before: OffsetDateTime => Timestamptz, limit: i64 => BigInt) -> EventRow = "
    SELECT e.account_id, e.id FROM events e
    WHERE e.created_at < $1 AND NOT EXISTS (
        SELECT FROM webhook_subscriptions s JOIN deliveries d
            ON d.account_id = s.account_id AND d.subscription_id = s.id AND d.event_id = e.id
        WHERE s.account_id = e.account_id)
    LIMIT $2"
);

statement!(
    RemoveEvents(
        accounts: Vec<i64> => Array<BigInt>,
        ids: Vec<i64> => Array<BigInt>,
        of: Option<Vec<i64>> => Nullable<Array<BigInt>>,
    ) -> () = "
    DELETE FROM events e USING unnest($1::bigint[], $2::bigint[]) AS old (account_id, id)
    WHERE e.account_id = old.account_id AND e.id = old.id AND ($3::bigint[] IS NULL OR e.account_id = ANY ($3))"
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
    /// to be done by several processes.
    ///
    /// # Errors
    /// [`StoreError`] when the database does not answer; what was removed stays removed.
    pub async fn prune_deliveries(&self, before: OffsetDateTime) -> Result<Pruned, StoreError> {
        let mut pruned = Pruned::default();
        for _ in 0..BATCHES {
            let deliveries = self.remove_deliveries(before).await?;
            let events = self.remove_events(before).await?;
            pruned.deliveries += deliveries;
            pruned.events += events;
            if deliveries == 0 && events == 0 {
                break;
            }
        }
        let ended = replays::table.filter(replays::state.ne("running")).filter(replays::created_at.lt(before));
        self.run_unhurried::<_, Failure>(async |connection| Ok(diesel::delete(ended).execute(connection).await?))
            .await?;
        Ok(pruned)
    }

    async fn remove_deliveries(&self, before: OffsetDateTime) -> Result<usize, StoreError> {
        let find = OldDeliveries { before, limit: BATCH };
        let old: Vec<DeliveryRow> =
            self.run_unhurried::<_, Failure>(async |connection| Ok(find.load(connection).await?)).await?;
        let mut removed = 0;
        for Part { items, accounts: of } in self.parts(&old, |row| AccountId(row.account_id)).await? {
            let statement = RemoveDeliveries {
                accounts: items.iter().map(|row| row.account_id).collect(),
                subscriptions: items.iter().map(|row| row.subscription_id).collect(),
                events: items.iter().map(|row| row.event_id).collect(),
                of,
            };
            removed +=
                self.run_unhurried::<_, Failure>(async |connection| Ok(statement.execute(connection).await?)).await?;
        }
        Ok(removed)
    }

    async fn remove_events(&self, before: OffsetDateTime) -> Result<usize, StoreError> {
        let find = OldEvents { before, limit: BATCH };
        let old: Vec<EventRow> =
            self.run_unhurried::<_, Failure>(async |connection| Ok(find.load(connection).await?)).await?;
        let mut removed = 0;
        for Part { items, accounts: of } in self.parts(&old, |row| AccountId(row.account_id)).await? {
            let statement = RemoveEvents {
                accounts: items.iter().map(|row| row.account_id).collect(),
                ids: items.iter().map(|row| row.id).collect(),
                of,
            };
            removed +=
                self.run_unhurried::<_, Failure>(async |connection| Ok(statement.execute(connection).await?)).await?;
        }
        Ok(removed)
    }
}
