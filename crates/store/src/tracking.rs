//! [`EventStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    dsl::max,
    prelude::*,
    result::Error,
    sql_query,
    sql_types::{Array, BigInt, Jsonb, Nullable, Text, Timestamptz},
};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    idempotency::{IdempotencyError, IdempotencyKey, Written},
    tracking::{EventStore, Location, NewEvent},
};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::{
    Store,
    error::{Failure, corrupt},
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

    async fn insert_many(&self, account: AccountId, events: Vec<NewEvent>) -> Result<(), StoreError> {
        let Columns { names, props, visitors, sessions, urls, countries, regions, cities, occurred, received } =
            events.into_iter().collect();
        self.run::<_, Failure>(async |connection| {
            sql_query(INSERT_MANY)
                .bind::<BigInt, _>(account.0)
                .bind::<Array<Text>, _>(names)
                .bind::<Array<Jsonb>, _>(props)
                .bind::<Array<Nullable<Text>>, _>(visitors)
                .bind::<Array<Nullable<Text>>, _>(sessions)
                .bind::<Array<Nullable<Text>>, _>(urls)
                .bind::<Array<Nullable<Text>>, _>(countries)
                .bind::<Array<Nullable<Text>>, _>(regions)
                .bind::<Array<Nullable<Text>>, _>(cities)
                .bind::<Array<Timestamptz>, _>(occurred)
                .bind::<Array<Timestamptz>, _>(received)
                .execute(connection)
                .await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn latest(&self, account: AccountId) -> Result<Option<OffsetDateTime>, StoreError> {
        let latest = self
            .run::<_, Failure>(async |connection| {
                Ok(track_events::table
                    .filter(track_events::account_id.eq(account.0))
                    .select(max(track_events::occurred_at))
                    .first(connection)
                    .await?)
            })
            .await?;
        Ok(latest)
    }
}

const INSERT_MANY: &str = "INSERT INTO track_events
        (account_id, name, props, visitor_id, session_id, url, country, region, city, occurred_at, received_at)
    SELECT $1, event.* FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11) AS event";

/// Events column by column, for `unnest`.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    props: Vec<Value>,
    visitors: Vec<Option<String>>,
    sessions: Vec<Option<String>>,
    urls: Vec<Option<String>>,
    countries: Vec<Option<String>>,
    regions: Vec<Option<String>>,
    cities: Vec<Option<String>>,
    occurred: Vec<OffsetDateTime>,
    received: Vec<OffsetDateTime>,
}

impl FromIterator<NewEvent> for Columns {
    fn from_iter<I: IntoIterator<Item = NewEvent>>(events: I) -> Self {
        let mut columns = Self::default();
        for event in events {
            let NewEvent { name, props, visitor_id, session_id, url, location, occurred_at, received_at } = event;
            let Location { country, region, city } = location;
            columns.names.push(name.as_str().to_owned());
            columns.props.push(Value::Object(props));
            columns.visitors.push(visitor_id);
            columns.sessions.push(session_id);
            columns.urls.push(url);
            columns.countries.push(country);
            columns.regions.push(region);
            columns.cities.push(city);
            columns.occurred.push(occurred_at);
            columns.received.push(received_at);
        }
        columns
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
