//! Leases due deliveries.

use std::time::Duration;

use diesel::sql_types::{Array, BigInt, Bytea, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use domain::{
    DeliveryId, EventId, StoreError,
    webhooks::delivery::{Capacity, Lease, Leased},
};
use time::OffsetDateTime;
use uuid::Uuid;

use super::receiver;
use crate::{
    Store,
    database::{
        citus::Part,
        error::{Failure, corrupt},
        query::RunQueryDsl,
    },
};

statement!(
    /// Leases what is due, receiver by receiver. Of what cannot be sent, a thousand at a time are put aside.
    ///
    /// It does not wait for the disk: a lease that a crash of the server undoes leaves the delivery due, as if its
    /// worker had died.
    LeaseDue(
        now: OffsetDateTime => Timestamptz,
        until: OffsetDateTime => Timestamptz,
        accounts: Vec<i64> => Array<BigInt>,
        subscriptions: Vec<i64> => Array<BigInt>,
        rooms: Vec<i64> => Array<BigInt>,
        of: Option<Vec<i64>> => Nullable<Array<BigInt>>,
    ) -> LeasedRow = "
    WITH wanted AS MATERIALIZED (
        SELECT s.account_id, s.id, g.now, g.until, s.url, s.sealed_secret,
            CASE WHEN s.previous_expires_at > g.now THEN s.previous_sealed_secret END AS sealed_previous,
            CASE WHEN s.revoked_at IS NOT NULL THEN 'canceled' WHEN s.active THEN 'pending' ELSE 'held' END AS state,
            CASE WHEN s.revoked_at IS NULL AND s.active THEN w.room ELSE 1000 END AS room
        FROM (SELECT $1::timestamptz AS now, $2::timestamptz AS until,
                set_config('synchronous_commit', 'off', true) AS unsynced) AS g,
            unnest($3::bigint[], $4::bigint[], $5::bigint[]) AS w (account_id, id, room)
            JOIN webhook_subscriptions s USING (account_id, id)
        WHERE ($6::bigint[] IS NULL OR s.account_id = ANY ($6))
    ), picked AS MATERIALIZED (
        SELECT w.*, d.event_id
        FROM wanted w CROSS JOIN LATERAL (
            SELECT event_id FROM deliveries
            WHERE account_id = w.account_id AND subscription_id = w.id AND state = 'pending' AND due_at <= w.now
                AND ($6 IS NULL OR account_id = ANY ($6))
            ORDER BY due_at LIMIT w.room FOR UPDATE SKIP LOCKED
        ) AS d
    ), leased AS (
        UPDATE deliveries d
        SET state = p.state, claim = d.claim + 1,
            due_at = CASE WHEN p.state = 'pending' THEN p.until ELSE d.due_at END,
            leased_until = CASE WHEN p.state = 'pending' THEN p.until END,
            finished_at = CASE WHEN p.state = 'canceled' THEN p.now END
        FROM picked p
        WHERE d.account_id = p.account_id AND d.subscription_id = p.id AND d.event_id = p.event_id
            AND ($6 IS NULL OR d.account_id = ANY ($6))
        RETURNING d.account_id, d.subscription_id, d.event_id, d.claim, d.id, d.attempts, d.earlier_attempts, p.url,
            p.sealed_secret, p.sealed_previous, d.state
    )
    SELECT l.account_id, l.subscription_id, l.event_id, l.claim, l.id, l.attempts, l.earlier_attempts, l.url,
        l.sealed_secret, l.sealed_previous, e.body
    FROM leased l JOIN events e ON e.account_id = l.account_id AND e.id = l.event_id
    WHERE l.state = 'pending' AND ($6 IS NULL OR e.account_id = ANY ($6))"
);

row!(
    pub(crate) struct LeasedRow {
        account_id: i64 => BigInt,
        subscription_id: i64 => BigInt,
        event_id: i64 => BigInt,
        claim: i64 => BigInt,
        id: Uuid => SqlUuid,
        attempts: i32 => Integer,
        earlier_attempts: i32 => Integer,
        url: String => Text,
        sealed_secret: Vec<u8> => Bytea,
        sealed_previous: Option<Vec<u8>> => Nullable<Bytea>,
        body: Vec<u8> => Bytea,
    }
);

pub(super) async fn lease(
    store: &Store,
    part: &Part<'_, Capacity>,
    lease: Duration,
    now: OffsetDateTime,
) -> Result<Vec<Leased>, StoreError> {
    let Part { items: rooms, accounts } = part;
    let statement = LeaseDue {
        now,
        until: now + lease,
        accounts: rooms.iter().map(|room| room.receiver.account.0).collect(),
        subscriptions: rooms.iter().map(|room| room.receiver.subscription.0).collect(),
        rooms: rooms.iter().map(|room| i64::try_from(room.deliveries).unwrap_or(i64::MAX)).collect(),
        of: accounts.clone(),
    };
    let rows: Vec<LeasedRow> =
        store.run::<_, Failure>(async |connection| Ok(statement.load(connection).await?)).await?;
    Ok(rows.into_iter().map(leased).collect::<Result<_, Failure>>()?)
}

pub(crate) fn leased(row: LeasedRow) -> Result<Leased, Failure> {
    let LeasedRow {
        account_id,
        subscription_id,
        event_id,
        claim,
        id,
        attempts,
        earlier_attempts,
        url,
        sealed_secret,
        sealed_previous,
        body,
    } = row;
    let number = |made: i32| u32::try_from(made).map_err(|_| corrupt("number of attempts"));
    Ok(Leased {
        lease: Lease { receiver: receiver(account_id, subscription_id), event: EventId(event_id), claim },
        id: DeliveryId(id),
        attempt: number(attempts)? + 1,
        attempt_of_round: number(attempts - earlier_attempts)? + 1,
        url,
        sealed_secret,
        sealed_previous,
        body,
    })
}
