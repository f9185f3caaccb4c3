//! [`EventStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    dsl::max,
    prelude::*,
    result::Error,
    sql_types::{Array, BigInt, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError, TrackingEventId,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    tracking::{EventStore, Location, NewEvent, Refusal},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;

use crate::{
    Store,
    database::{
        error::{Failure, corrupt},
        idempotency::{self, WriteError},
        query::RunQueryDsl,
        statement::Scalar,
    },
    schema::track_events,
};

#[async_trait]
impl EventStore for Store {
    async fn insert(
        &self,
        account: AccountId,
        event: NewEvent,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Idempotent<TrackingEventId>, IdempotencyError> {
        let now = event.received_at;
        let written = self.insert_batch(account, vec![Ok(event)], idempotency, now).await?;
        let Idempotent { value, replayed } = written;
        Ok(Idempotent { value: single(value)?, replayed })
    }

    async fn stored_under(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        now: OffsetDateTime,
    ) -> Result<Option<Vec<Result<TrackingEventId, Refusal>>>, IdempotencyError> {
        let found = self.transact(async |connection| recorded(connection, account, key, now).await).await;
        found.map_err(WriteError::into_refusal)
    }

    async fn insert_batch(
        &self,
        account: AccountId,
        events: Vec<Result<NewEvent, Refusal>>,
        idempotency: Option<IdempotencyKey>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Vec<Result<TrackingEventId, Refusal>>>, IdempotencyError> {
        let events = events.into_iter().map(|event| event.map(|event| EventRow::new(account, event))).collect();
        let written = match idempotency {
            None => {
                self.run::<_, WriteError<IdempotencyError>>(async |connection| {
                    Ok(Idempotent { value: store(connection, events).await?, replayed: false })
                })
                .await
            }
            Some(key) => self.transact(async |connection| once(connection, account, events, &key, now).await).await,
        };
        written.map_err(WriteError::into_refusal)
    }

    async fn insert_many(&self, account: AccountId, events: Vec<NewEvent>) -> Result<(), StoreError> {
        let rows = events.into_iter().map(|event| EventRow::new(account, event)).collect();
        self.run::<_, Failure>(async |connection| Ok(insert(connection, rows).await?)).await?;
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

/// An event as it is written, of any account.
#[derive(Debug, Clone)]
pub(crate) struct EventRow {
    account: AccountId,
    name: String,
    /// JSON.
    props: String,
    visitor_id: Option<String>,
    session_id: Option<String>,
    url: Option<String>,
    location: Location,
    occurred_at: OffsetDateTime,
    received_at: OffsetDateTime,
}

impl EventRow {
    pub(crate) const fn account(&self) -> AccountId {
        self.account
    }

    pub(crate) fn new(account: AccountId, event: NewEvent) -> Self {
        let NewEvent { name, props, visitor_id, session_id, url, location, occurred_at, received_at } = event;
        let (name, props) = (name.as_str().to_owned(), Value::Object(props).to_string());
        Self { account, name, props, visitor_id, session_id, url, location, occurred_at, received_at }
    }
}

statement!(
    /// Ids for that number of events.
    Ids(count: i64 => BigInt) -> Scalar<BigInt> = "SELECT nextval('track_events_id_seq') FROM generate_series(1, $1)"
);

statement!(
    /// Stores events of any accounts. They bring their ids, so that everyone can be told their own: the order of what
    /// comes back is nowhere promised.
    Insert(
        ids: Vec<i64> => Array<BigInt>,
        accounts: Vec<i64> => Array<BigInt>,
        names: Vec<String> => Array<Text>,
        props: Vec<String> => Array<Text>,
        visitors: Vec<Option<String>> => Array<Nullable<Text>>,
        sessions: Vec<Option<String>> => Array<Nullable<Text>>,
        urls: Vec<Option<String>> => Array<Nullable<Text>>,
        countries: Vec<Option<String>> => Array<Nullable<Text>>,
        regions: Vec<Option<String>> => Array<Nullable<Text>>,
        cities: Vec<Option<String>> => Array<Nullable<Text>>,
        occurred: Vec<OffsetDateTime> => Array<Timestamptz>,
        received: Vec<OffsetDateTime> => Array<Timestamptz>,
    ) -> () = "
    INSERT INTO track_events (id, account_id, name, props, visitor_id, session_id, url, country, region, city,
        occurred_at, received_at)
    SELECT id, account_id, name, props::jsonb, visitor_id, session_id, url, country, region, city, occurred_at,
        received_at
    FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS event (id, account_id, name, props, visitor_id, session_id, url,
        country, region, city, occurred_at, received_at)"
);

impl Insert {
    /// The rows column by column.
    fn new(ids: Vec<i64>, rows: Vec<EventRow>) -> Self {
        let (mut accounts, mut names, mut props) = (Vec::new(), Vec::new(), Vec::new());
        let (mut visitors, mut sessions, mut urls) = (Vec::new(), Vec::new(), Vec::new());
        let (mut countries, mut regions, mut cities) = (Vec::new(), Vec::new(), Vec::new());
        let (mut occurred, mut received) = (Vec::new(), Vec::new());
        for row in rows {
            let EventRow {
                account,
                name,
                props: text,
                visitor_id,
                session_id,
                url,
                location,
                occurred_at,
                received_at,
            } = row;
            let Location { country, region, city } = location;
            accounts.push(account.0);
            names.push(name);
            props.push(text);
            visitors.push(visitor_id);
            sessions.push(session_id);
            urls.push(url);
            countries.push(country);
            regions.push(region);
            cities.push(city);
            occurred.push(occurred_at);
            received.push(received_at);
        }
        Self { ids, accounts, names, props, visitors, sessions, urls, countries, regions, cities, occurred, received }
    }
}

/// Stores rows under ids that were taken for them, in one transaction: all of them or none.
pub(crate) async fn insert_rows_as(store: &Store, ids: Vec<i64>, rows: Vec<EventRow>) -> Result<(), StoreError> {
    let insert = Insert::new(ids, rows);
    store.run::<_, Failure>(async |connection| Ok(insert.execute(connection).await?)).await?;
    Ok(())
}

/// Ids that no event has, and that no one else is given.
pub(crate) async fn take_ids(store: &Store, count: usize) -> Result<Vec<i64>, StoreError> {
    Ok(store.run::<_, Failure>(async |connection| Ok(ids(connection, count).await?)).await?)
}

async fn ids(connection: &mut AsyncPgConnection, count: usize) -> Result<Vec<i64>, Error> {
    Ids { count: i64::try_from(count).unwrap_or(i64::MAX) }.load(connection).await
}

/// Stores the rows and gives their ids in the same order.
async fn insert(connection: &mut AsyncPgConnection, rows: Vec<EventRow>) -> Result<Vec<i64>, Error> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let ids = ids(connection, rows.len()).await?;
    Insert::new(ids.clone(), rows).execute(connection).await?;
    Ok(ids)
}

/// Stores what was not refused.
async fn store(
    connection: &mut AsyncPgConnection,
    events: Vec<Result<EventRow, Refusal>>,
) -> Result<Vec<Result<TrackingEventId, Refusal>>, Error> {
    let mut rows = Vec::new();
    let mut refusals = Vec::new();
    for event in events {
        refusals.push(event.map(|row| rows.push(row)));
    }
    let mut ids = insert(connection, rows).await?.into_iter();
    let mut stored = Vec::new();
    for event in refusals {
        stored.push(match event {
            Ok(()) => Ok(TrackingEventId(ids.next().ok_or(Error::NotFound)?)),
            Err(refusal) => Err(refusal),
        });
    }
    Ok(stored)
}

/// What is recorded under the key: for each event its id, or why it was refused.
#[derive(Serialize, Deserialize)]
struct Recorded {
    events: Vec<Result<TrackingEventId, Refusal>>,
}

/// What was recorded under the key, if anything was. If nothing was, the transaction holds the key.
async fn recorded(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    key: &IdempotencyKey,
    now: OffsetDateTime,
) -> Result<Option<Vec<Result<TrackingEventId, Refusal>>>, WriteError<IdempotencyError>> {
    let Some(result) = idempotency::begin(connection, account, key, now).await? else { return Ok(None) };
    let Recorded { events } = serde_json::from_value(result).map_err(|_| corrupt("idempotent result"))?;
    Ok(Some(events))
}

/// What became of the only event.
fn single(events: Vec<Result<TrackingEventId, Refusal>>) -> Result<TrackingEventId, StoreError> {
    match events.into_iter().next() {
        Some(Ok(id)) => Ok(id),
        _ => Err(corrupt("idempotent result")),
    }
}

async fn once(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    events: Vec<Result<EventRow, Refusal>>,
    key: &IdempotencyKey,
    now: OffsetDateTime,
) -> Result<Idempotent<Vec<Result<TrackingEventId, Refusal>>>, WriteError<IdempotencyError>> {
    if let Some(value) = recorded(connection, account, key, now).await? {
        return Ok(Idempotent { value, replayed: true });
    }
    let value = store(connection, events).await?;
    let result = serde_json::to_value(Recorded { events: value.clone() }).map_err(|_| corrupt("idempotent result"))?;
    idempotency::finish(connection, account, key, result, now).await?;
    Ok(Idempotent { value, replayed: false })
}
