//! Removing what has been kept long enough: deliveries that have ended or are held, then events that no delivery needs any
//! more.

use diesel::sql_types::{Array, BigInt, Nullable, Timestamptz};
use diesel_async::RunQueryDsl;
use domain::{AccountId, StoreError};
use time::OffsetDateTime;

use crate::{Store, citus::Part, error::Failure};

/// Rows removed in one transaction: few enough to hold nobody up.
const BATCH: i64 = 2_000;
/// Transactions in one go. What is left is removed at the next tick.
const BATCHES: usize = 500;

statement!(
    /// Deliveries of old events that have ended, or that nobody has asked for since.
    OldDeliveries(before: OffsetDateTime => Timestamptz, limit: i64 => BigInt) -> (BigInt, BigInt, BigInt) = "
    SELECT d.account_id, d.subscription_id, d.event_id
    FROM events e JOIN webhook_subscriptions s ON s.account_id = e.account_id
        JOIN deliveries d ON d.account_id = e.account_id AND d.subscription_id = s.id AND d.event_id = e.id
    WHERE e.created_at < ? AND d.state IN ('delivered', 'failed', 'canceled', 'held')
    LIMIT ?"
);

statement!(
    /// One that was sent anew meanwhile stays.
    RemoveDeliveries(
        accounts: Vec<i64> => Array<BigInt>,
        subscriptions: Vec<i64> => Array<BigInt>,
        events: Vec<i64> => Array<BigInt>,
        of: Option<Vec<i64>> => Nullable<Array<BigInt>>,
    ) -> BigInt = "
    DELETE FROM deliveries d
    USING unnest(?::bigint[], ?::bigint[], ?::bigint[]) AS old (account_id, subscription_id, event_id)
    WHERE d.account_id = old.account_id AND d.subscription_id = old.subscription_id AND d.event_id = old.event_id
        AND d.state IN ('delivered', 'failed', 'canceled', 'held') AND (?::bigint[] IS NULL OR d.account_id = ANY ($4))"
);

statement!(
    /// Old events without a delivery. None is made for an event later on.
    OldEvents(before: OffsetDateTime => Timestamptz, limit: i64 => BigInt) -> (BigInt, BigInt) = "
    SELECT e.account_id, e.id FROM events e
    WHERE e.created_at < ? AND NOT EXISTS (
        SELECT FROM webhook_subscriptions s JOIN deliveries d
            ON d.account_id = s.account_id AND d.subscription_id = s.id AND d.event_id = e.id
        WHERE s.account_id = e.account_id)
    LIMIT ?"
);

statement!(
    RemoveEvents(
        accounts: Vec<i64> => Array<BigInt>,
        ids: Vec<i64> => Array<BigInt>,
        of: Option<Vec<i64>> => Nullable<Array<BigInt>>,
    ) -> BigInt = "
    DELETE FROM events e USING unnest(?::bigint[], ?::bigint[]) AS old (account_id, id)
    WHERE e.account_id = old.account_id AND e.id = old.id AND (?::bigint[] IS NULL OR e.account_id = ANY ($3))"
);

statement!(
    /// Old replays that have ended.
    RemoveReplays(before: OffsetDateTime => Timestamptz) -> BigInt = "
    DELETE FROM webhook_replays WHERE state <> 'running' AND created_at < ?"
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
        self.run_unhurried::<_, Failure>(async |connection| Ok(RemoveReplays { before }.execute(connection).await?))
            .await?;
        Ok(pruned)
    }

    async fn remove_deliveries(&self, before: OffsetDateTime) -> Result<usize, StoreError> {
        let find = OldDeliveries { before, limit: BATCH };
        let old: Vec<(i64, i64, i64)> =
            self.run_unhurried::<_, Failure>(async |connection| Ok(find.load(connection).await?)).await?;
        let mut removed = 0;
        for Part { items, accounts: of } in self.parts(&old, |row| AccountId(row.0)).await? {
            let statement = RemoveDeliveries {
                accounts: items.iter().map(|row| row.0).collect(),
                subscriptions: items.iter().map(|row| row.1).collect(),
                events: items.iter().map(|row| row.2).collect(),
                of,
            };
            removed +=
                self.run_unhurried::<_, Failure>(async |connection| Ok(statement.execute(connection).await?)).await?;
        }
        Ok(removed)
    }

    async fn remove_events(&self, before: OffsetDateTime) -> Result<usize, StoreError> {
        let find = OldEvents { before, limit: BATCH };
        let old: Vec<(i64, i64)> =
            self.run_unhurried::<_, Failure>(async |connection| Ok(find.load(connection).await?)).await?;
        let mut removed = 0;
        for Part { items, accounts: of } in self.parts(&old, |row| AccountId(row.0)).await? {
            let statement = RemoveEvents {
                accounts: items.iter().map(|row| row.0).collect(),
                ids: items.iter().map(|row| row.1).collect(),
                of,
            };
            removed +=
                self.run_unhurried::<_, Failure>(async |connection| Ok(statement.execute(connection).await?)).await?;
        }
        Ok(removed)
    }
}
