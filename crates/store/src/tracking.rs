//! [`EventStore`] on Postgres.

use async_trait::async_trait;
use diesel::{prelude::*, result::Error};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId,
    idempotency::{IdempotencyError, IdempotencyKey, Written},
    tracking::{EventStore, Location, NewEvent},
};
use serde_json::{Value, json};

use crate::{
    Store,
    error::corrupt,
    idempotency::{self, WriteError},
    schema::track_events,
};

#[async_trait]
impl EventStore for Store {
    async fn insert(
        &self,
        account: AccountId,
        event: NewEvent,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Written<i64>, IdempotencyError> {
        let written = self
            .run::<_, WriteError<IdempotencyError>>(async |connection| match idempotency {
                None => Ok(Written { value: insert(connection, account, event).await?, replayed: false }),
                Some(key) => {
                    connection.transaction(async |connection| once(connection, account, event, &key).await).await
                }
            })
            .await;
        written.map_err(WriteError::into_refusal)
    }
}

async fn once(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    event: NewEvent,
    key: &IdempotencyKey,
) -> Result<Written<i64>, WriteError<IdempotencyError>> {
    let now = event.received_at;
    if let Some(result) = idempotency::begin(connection, account, key, now).await? {
        let value = result.get("event_id").and_then(Value::as_i64).ok_or_else(|| corrupt("idempotent result"))?;
        return Ok(Written { value, replayed: true });
    }
    let value = insert(connection, account, event).await?;
    idempotency::finish(connection, account, key, json!({ "event_id": value }), now).await?;
    Ok(Written { value, replayed: false })
}

async fn insert(connection: &mut AsyncPgConnection, account: AccountId, event: NewEvent) -> Result<i64, Error> {
    let NewEvent { name, props, visitor_id, session_id, url, location, occurred_at, received_at } = event;
    let Location { country, region, city } = location;
    diesel::insert_into(track_events::table)
        .values((
            track_events::account_id.eq(account.0),
            track_events::name.eq(name.as_str()),
            track_events::props.eq(Value::Object(props)),
            track_events::visitor_id.eq(visitor_id),
            track_events::session_id.eq(session_id),
            track_events::url.eq(url),
            track_events::country.eq(country),
            track_events::region.eq(region),
            track_events::city.eq(city),
            track_events::occurred_at.eq(occurred_at),
            track_events::received_at.eq(received_at),
        ))
        .returning(track_events::id)
        .get_result(connection)
        .await
}
