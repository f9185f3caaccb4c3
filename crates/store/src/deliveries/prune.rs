//! Removing what has been kept long enough: deliveries that have ended, then events that no delivery needs any more.

use diesel::sql_types::{BigInt, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::StoreError;
use time::OffsetDateTime;

use crate::{
    Store,
    error::{Failure, store_error},
    pool,
};

/// Rows removed in one transaction: few enough to hold nobody up.
const BATCH: i64 = 2_000;
/// Transactions in one go. What is left is removed at the next tick.
const BATCHES: usize = 500;

statement!(
    /// Deliveries of old events that have ended. One that was sent anew meanwhile stays.
    RemoveDeliveries(before: OffsetDateTime => Timestamptz, limit: i64 => BigInt) -> BigInt = "
    DELETE FROM deliveries d
    USING (
        SELECT d.account_id, d.subscription_id, d.event_id
        FROM events e JOIN webhook_subscriptions s ON s.account_id = e.account_id
            JOIN deliveries d
                ON d.account_id = e.account_id AND d.subscription_id = s.id AND d.event_id = e.id
        WHERE e.created_at < ? AND d.state IN ('delivered', 'failed', 'canceled')
        LIMIT ?
    ) AS old
    WHERE d.account_id = old.account_id AND d.subscription_id = old.subscription_id AND d.event_id = old.event_id
        AND d.state IN ('delivered', 'failed', 'canceled')"
);

statement!(
    /// Old events without a delivery. None is made for an event later on.
    RemoveEvents(before: OffsetDateTime => Timestamptz, limit: i64 => BigInt) -> BigInt = "
    DELETE FROM events e
    USING (
        SELECT e.account_id, e.id FROM events e
        WHERE e.created_at < ? AND NOT EXISTS (
            SELECT FROM webhook_subscriptions s JOIN deliveries d
                ON d.account_id = s.account_id AND d.subscription_id = s.id AND d.event_id = e.id
            WHERE s.account_id = e.account_id)
        LIMIT ?
    ) AS old
    WHERE e.account_id = old.account_id AND e.id = old.id"
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
    /// Removes deliveries that have ended, and events that none needs, of events from before an instant; of what is
    /// pending or held, nothing. A bounded number at a time: after a full go there may be more. Safe to be killed, and
    /// to be done by several processes.
    ///
    /// # Errors
    /// [`StoreError`] when the database does not answer; what was removed stays removed.
    pub async fn prune_deliveries(&self, before: OffsetDateTime) -> Result<Pruned, StoreError> {
        let mut lent = self.connection().await?;
        let connection: &mut AsyncPgConnection = &mut lent;
        let failed = |error| StoreError::from(Failure::from(store_error(error)));
        let mut pruned = Pruned::default();
        for _ in 0..BATCHES {
            let deliveries = RemoveDeliveries { before, limit: BATCH }.execute(connection).await.map_err(failed)?;
            let events = RemoveEvents { before, limit: BATCH }.execute(connection).await.map_err(failed)?;
            pruned.deliveries += deliveries;
            pruned.events += events;
            if deliveries == 0 && events == 0 {
                break;
            }
        }
        RemoveReplays { before }.execute(connection).await.map_err(failed)?;
        pool::give_back(lent);
        Ok(pruned)
    }
}
