//! [`DeliveryQueue`] on Postgres.
//!
//! A lease moves `due_at` to its end, so that a delivery whose worker has died becomes due again, and raises the
//! claim, so that the dead worker's write-back, should it live after all, finds nothing. A delivery costs one statement
//! to lease and one to record, shared by all that are leased or recorded at the same time.

pub(crate) mod bulk;
pub(crate) mod lease;
mod listen;
mod prune;
mod record;

use std::time::Duration;

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Nullable, Timestamptz};
use domain::{
    AccountId, StoreError, SubscriptionId,
    webhooks::delivery::{Capacity, DeliveryQueue, Due, Failing, Lease, Leased, Receiver, Report},
};
use futures_util::future::join_all;
use time::OffsetDateTime;

pub use listen::forward_due;
pub use prune::Pruned;

use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl},
};

/// Deliveries that one look for due ones reads: some millions, not yet vacuumed, take longer than a statement may.
const LOOK: i64 = 50_000;

row!(
    struct DueRow {
        account_id: i64 => BigInt,
        subscription_id: i64 => BigInt,
        deliveries: i64 => BigInt,
        last_due_at: OffsetDateTime => Timestamptz,
    }
);

row!(
    struct ReceiverRow {
        account_id: i64 => BigInt,
        subscription_id: i64 => BigInt,
    }
);

statement!(
    /// Receivers with something that became due in a span of time, the earliest first, with how many deliveries and until
    /// when.
    DueSince(
        since: Option<OffsetDateTime> => Nullable<Timestamptz>,
        now: OffsetDateTime => Timestamptz,
        of: Option<Vec<i64>> => Nullable<Array<BigInt>>,
        limit: i64 => BigInt,
    ) -> DueRow = "
    SELECT account_id, subscription_id, count(*) AS deliveries, max(due_at) AS last_due_at FROM (
        SELECT account_id, subscription_id, due_at FROM deliveries
        WHERE state = 'pending' AND due_at > coalesce($1, '-infinity') AND due_at <= $2
            AND ($3::bigint[] IS NULL OR account_id = ANY ($3))
        ORDER BY due_at LIMIT $4
    ) AS earliest
    GROUP BY account_id, subscription_id"
);

statement!(
    /// Receivers with something that became due in a short span of time.
    JustDue(
        since: OffsetDateTime => Timestamptz,
        now: OffsetDateTime => Timestamptz,
        of: Option<Vec<i64>> => Nullable<Array<BigInt>>,
    ) -> ReceiverRow = "
    SELECT account_id, subscription_id FROM deliveries
    WHERE state = 'pending' AND due_at > $1 AND due_at <= $2 AND ($3::bigint[] IS NULL OR account_id = ANY ($3))
    GROUP BY account_id, subscription_id"
);

statement!(
    /// Makes leased deliveries due again.
    Release(
        now: OffsetDateTime => Timestamptz,
        accounts: Vec<i64> => Array<BigInt>,
        subscriptions: Vec<i64> => Array<BigInt>,
        events: Vec<i64> => Array<BigInt>,
        claims: Vec<i64> => Array<BigInt>,
        of: Option<Vec<i64>> => Nullable<Array<BigInt>>,
    ) -> () = "
    UPDATE deliveries d SET due_at = $1, leased_until = NULL
    FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
        AS g (account_id, subscription_id, event_id, claim)
    WHERE d.account_id = g.account_id AND d.subscription_id = g.subscription_id AND d.event_id = g.event_id
        AND d.claim = g.claim AND d.leased_until IS NOT NULL
        AND ($6::bigint[] IS NULL OR d.account_id = ANY ($6))"
);

#[async_trait]
impl DeliveryQueue for Store {
    async fn due(&self, since: Option<OffsetDateTime>, now: OffsetDateTime) -> Result<Due, StoreError> {
        let rows: Vec<DueRow> = self.look(|of| DueSince { since, now, of, limit: LOOK }).await?;
        let seen: i64 = rows.iter().map(|row| row.deliveries).sum();
        let last = rows.iter().map(|row| row.last_due_at).max().filter(|_| seen >= LOOK);
        // At the last instant there may be more. (As many as a look takes in of one instant are of one receiver: they were
        // written by one statement.)
        let before = |last: OffsetDateTime| last - time::Duration::MICROSECOND;
        let cut_at =
            last.map(|last| if since.is_some_and(|since| before(last) <= since) { last } else { before(last) });
        let receivers = rows.into_iter().map(|row| receiver(row.account_id, row.subscription_id)).collect();
        Ok(Due { receivers, cut_at })
    }

    async fn just_due(&self, since: OffsetDateTime, now: OffsetDateTime) -> Result<Vec<Receiver>, StoreError> {
        let rows: Vec<ReceiverRow> = self.look(|of| JustDue { since, now, of }).await?;
        let of_row = |ReceiverRow { account_id, subscription_id }| receiver(account_id, subscription_id);
        Ok(rows.into_iter().map(of_row).collect())
    }

    async fn lease(&self, rooms: &[Capacity], lease: Duration, now: OffsetDateTime) -> Result<Vec<Leased>, StoreError> {
        let parts = self.parts(rooms, |room| room.receiver.account).await?;
        let parts = join_all(parts.iter().map(|part| lease::lease(self, part, lease, now))).await;
        // What other shards gave has to be sent, or it would be due again only when its lease ends.
        Ok(self.of_nodes_there(parts).await?.into_iter().flatten().collect())
    }

    async fn record(&self, reports: &[Report], now: OffsetDateTime) -> Result<Vec<Failing>, StoreError> {
        let parts = self.parts(reports, |report| report.lease.receiver.account).await?;
        let failing = join_all(parts.iter().map(|part| record::record(self, part, now))).await;
        // What is written already is not written again when all of it is recorded again. What cannot be, as its node is away,
        // is due again when its lease ends, as if this worker had died.
        Ok(self.of_nodes_there(failing).await?.into_iter().flatten().collect())
    }

    async fn release(&self, leases: &[Lease], now: OffsetDateTime) -> Result<(), StoreError> {
        let mut released = Vec::new();
        for part in self.parts(leases, |lease| lease.receiver.account).await? {
            let leases = &part.items;
            let statement = Release {
                now,
                accounts: leases.iter().map(|lease| lease.receiver.account.0).collect(),
                subscriptions: leases.iter().map(|lease| lease.receiver.subscription.0).collect(),
                events: leases.iter().map(|lease| lease.event.0).collect(),
                claims: leases.iter().map(|lease| lease.claim).collect(),
                of: part.accounts,
            };
            let done = self.run::<_, Failure>(async |connection| Ok(statement.execute(connection).await?)).await;
            released.push(done.map_err(StoreError::from));
        }
        self.of_nodes_there(released).await?;
        Ok(())
    }

    async fn advance_bulk(&self, now: OffsetDateTime) -> Result<Option<Receiver>, StoreError> {
        bulk::advance(self, now).await
    }
}

pub(crate) fn receiver(account: i64, subscription: i64) -> Receiver {
    Receiver { account: AccountId(account), subscription: SubscriptionId(subscription) }
}
