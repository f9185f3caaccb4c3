//! Events, written where the change that caused them is written, and fanned out to the subscriptions.

use async_trait::async_trait;
use diesel::{
    result::Error,
    sql_types::{Array, BigInt, Bytea, Nullable, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    events::{Event, EventKind, Outbox},
};
use time::OffsetDateTime;

use crate::{Store, error::Failure};

/// The channel on which subscriptions with something due are named, as `account:subscription,subscription`.
pub const DELIVERIES_CHANNEL: &str = "deliveries";

statement!(
    /// One event row each, one delivery row for each subscription that asks for it, and a notification.
    ///
    /// Transactions that notify commit one after the other, each with its write to disk: Postgres orders them by a lock
    /// of the whole cluster. So only one transaction at a time notifies, whichever gets the advisory lock. What the
    /// others have made due is found by the look that workers take all the time once they have been woken.
    Emit(
        account: i64 => BigInt,
        at: OffsetDateTime => Timestamptz,
        kinds: Vec<&'static str> => Array<Text>,
        bodies: Vec<Vec<u8>> => Array<Bytea>,
        of: i64 => BigInt,
        catalogue: Vec<&'static str> => Array<Text>,
    ) -> Nullable<Text> = "
    WITH written AS (
        INSERT INTO events (account_id, kind, body, created_at)
        SELECT given.account_id, e.kind, e.body, given.at
        FROM (SELECT ?::bigint AS account_id, ?::timestamptz AS at) AS given,
            unnest(?::text[], ?::bytea[]) WITH ORDINALITY AS e (kind, body, position)
        ORDER BY e.position
        RETURNING account_id, id, kind, created_at
    ), fanned_out AS (
        INSERT INTO deliveries (account_id, subscription_id, event_id, id, state, due_at, created_at)
        SELECT w.account_id, s.id, w.id, uuid_v7(w.created_at), CASE WHEN s.active THEN 'pending' ELSE 'held' END,
            w.created_at, w.created_at
        FROM written w CROSS JOIN webhook_subscriptions s
        WHERE s.account_id = ? AND s.revoked_at IS NULL
            AND (w.kind = ANY (s.events) OR ('*' = ANY (s.events) AND w.kind = ANY (?::text[])))
        RETURNING account_id, subscription_id, state
    )
    SELECT CASE WHEN pg_try_advisory_xact_lock(7203441930)
        THEN pg_notify('deliveries', account_id || ':' || string_agg(DISTINCT subscription_id::text, ','))::text END
    FROM fanned_out WHERE state = 'pending' GROUP BY account_id"
);

/// Writes events of a change, in the transaction of the change. They exist, and will be delivered, if it commits.
///
/// # Errors
/// Those of the database, after which the transaction cannot commit.
pub async fn emit(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    events: &[Event],
    now: OffsetDateTime,
) -> Result<(), Error> {
    if events.is_empty() {
        return Ok(());
    }
    let bodies = events.iter().map(Event::body).collect::<Result<_, _>>();
    let statement = Emit {
        account: account.0,
        at: now,
        kinds: events.iter().map(|event| event.kind().as_str()).collect(),
        bodies: bodies.map_err(|error| Error::SerializationError(error.into()))?,
        of: account.0,
        catalogue: EventKind::catalogue().iter().map(|kind| kind.as_str()).collect(),
    };
    statement.execute(connection).await?;
    Ok(())
}

#[async_trait]
impl Outbox for Store {
    async fn emit(&self, account: AccountId, events: &[Event], now: OffsetDateTime) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| Ok(emit(connection, account, events, now).await?)).await?;
        Ok(())
    }
}
