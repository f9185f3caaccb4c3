//! The times that rules fired.

use diesel::{
    prelude::*,
    result::Error,
    sql_types::{BigInt, Bytea, Numeric, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, FiringId,
    alerts::{Firing, KEEP_FIRINGS},
    events::{Event, EventKind},
    webhooks::log::Tally,
};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use crate::database::query::RunQueryDsl;

statement!(
    /// The event was written just before: of those with its bytes it is the newest.
    Add<'a>(
        account: i64 => BigInt,
        rule: i64 => BigInt,
        at: OffsetDateTime => Timestamptz,
        observed: Decimal => Numeric,
        threshold: Decimal => Numeric,
        kind: &'a str => Text,
        body: &'a [u8] => Bytea,
    ) -> () = "
    INSERT INTO alert_firings (account_id, rule_id, fired_at, observed, threshold, event_id)
    VALUES ($1, $2, $3, $4, $5, (
        SELECT id FROM events WHERE account_id = $1 AND kind = $6 AND created_at = $3 AND body = $7
        ORDER BY id DESC LIMIT 1))"
);

statement!(
    Forget(before: OffsetDateTime => Timestamptz) -> () = "
    DELETE FROM alert_firings WHERE fired_at < $1"
);

statement!(
    Firings(account: i64 => BigInt, rule: i64 => BigInt, before: i64 => BigInt, limit: i64 => BigInt)
        -> FiringRow = "
    SELECT f.id, f.fired_at, f.observed, f.threshold, t.delivered, t.failed, t.waiting
    FROM (
        SELECT id, fired_at, observed, threshold, event_id FROM alert_firings
        WHERE account_id = $1 AND rule_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4
    ) AS f CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE d.state = 'delivered') AS delivered,
            count(*) FILTER (WHERE d.state = 'failed') AS failed,
            count(*) FILTER (WHERE d.state IN ('pending', 'held')) AS waiting
        FROM webhook_subscriptions s
        JOIN deliveries d ON d.account_id = $1 AND d.subscription_id = s.id AND d.event_id = f.event_id
        WHERE s.account_id = $1
    ) AS t
    ORDER BY f.id DESC"
);

row!(
    struct FiringRow {
        id: i64 => BigInt,
        fired_at: OffsetDateTime => Timestamptz,
        observed: Decimal => Numeric,
        threshold: Decimal => Numeric,
        delivered: i64 => BigInt,
        failed: i64 => BigInt,
        waiting: i64 => BigInt,
    }
);

impl From<FiringRow> for Firing {
    fn from(row: FiringRow) -> Self {
        let FiringRow { id, fired_at, observed, threshold, delivered, failed, waiting } = row;
        let deliveries = Tally { delivered, failed, waiting };
        Self { id: FiringId(id), fired_at, observed, threshold, deliveries }
    }
}

/// Keeps a time that a rule fired, after its event was written in the same transaction.
pub(super) async fn add(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    rule: i64,
    (event, observed, threshold): (&Event, Decimal, Decimal),
    now: OffsetDateTime,
) -> QueryResult<()> {
    let body = event.body().map_err(|error| Error::SerializationError(error.into()))?;
    let kind = EventKind::AlertFired.as_str();
    Add { account: account.0, rule, at: now, observed, threshold, kind, body: &body }.execute(connection).await?;
    Ok(())
}

/// Forgets firings that were kept long enough. Of all accounts.
pub(crate) async fn prune(connection: &mut AsyncPgConnection, now: OffsetDateTime) -> QueryResult<()> {
    Forget { before: now - KEEP_FIRINGS }.execute(connection).await?;
    Ok(())
}

/// The times that a rule fired before one of them, newest first, at most `limit`.
pub(super) async fn before(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    rule: i64,
    before: i64,
    limit: i64,
) -> QueryResult<Vec<Firing>> {
    let rows: Vec<FiringRow> = Firings { account: account.0, rule, before, limit }.load(connection).await?;
    Ok(rows.into_iter().map(Firing::from).collect())
}
