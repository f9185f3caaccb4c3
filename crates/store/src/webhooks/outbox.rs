//! Events, written where the change that caused them is written, and fanned out to the subscriptions.

use async_trait::async_trait;
use diesel::{
    result::Error,
    sql_types::{Array, BigInt, Bytea, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    events::{Event, EventKind, Outbox},
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl, statement::Scalar},
};

/// The channel on which subscriptions with something due are named, as `account:subscription,subscription`.
pub const DELIVERIES_CHANNEL: &str = "deliveries";

statement!(
    /// One event row each, one delivery row for each subscription that asks for it, and a notification; the function is in
    /// the migrations, with its reasons.
    Emit(
        account: i64 => BigInt,
        at: OffsetDateTime => Timestamptz,
        kinds: Vec<&'static str> => Array<Text>,
        bodies: Vec<Vec<u8>> => Array<Bytea>,
        catalogue: Vec<&'static str> => Array<Text>,
    ) -> Scalar<Nullable<Text>> = "SELECT emit_events($1, $2, $3, $4, $5)::text"
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
