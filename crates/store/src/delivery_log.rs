//! [`DeliveryLog`] on Postgres.

use std::{collections::HashMap, time::Duration};

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Bytea, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid},
};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    events::Event,
    idempotency::{IdempotencyError, IdempotencyKey, Written},
    page::{Page, PageRequest},
    webhooks::{
        delivery::DeliveryState,
        log::{DeliveryLog, LoggedAttempt, LoggedDelivery, Resent, TestStart},
    },
};
use serde_json::{Value, json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    Store,
    deliveries::lease::{self, leased},
    error::{Failure, corrupt, parse},
    idempotency::{self, WriteError},
    schema::{deliveries, delivery_attempts as attempts, events, webhook_subscriptions},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = deliveries, check_for_backend(diesel::pg::Pg))]
struct DeliveryRow {
    id: Uuid,
    event_id: i64,
    state: String,
    due_at: OffsetDateTime,
    leased_until: Option<OffsetDateTime>,
    attempts: i32,
    created_at: OffsetDateTime,
    finished_at: Option<OffsetDateTime>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = attempts, check_for_backend(diesel::pg::Pg))]
struct AttemptRow {
    delivery_id: Uuid,
    number: i32,
    started_at: OffsetDateTime,
    status: Option<i32>,
    failure: Option<String>,
    message: Option<String>,
    dns_us: Option<i64>,
    connect_us: Option<i64>,
    tls_us: Option<i64>,
    first_byte_us: Option<i64>,
    total_us: i64,
    answer: Vec<u8>,
    location: Option<String>,
}

statement!(
    /// An event and a delivery of it to one subscription, leased at once.
    StartTest(
        account: i64 => BigInt,
        subscription: i64 => BigInt,
        kind: &'static str => Text,
        body: Vec<u8> => Bytea,
        now: OffsetDateTime => Timestamptz,
        until: OffsetDateTime => Timestamptz,
    ) -> (
        BigInt, BigInt, BigInt, BigInt, SqlUuid, Integer, Integer, Text, Bytea, Nullable<Bytea>, Bytea
    ) = "SELECT * FROM emit_test(?, ?, ?, ?, ?, ?)"
);

#[async_trait]
impl DeliveryLog for Store {
    async fn page(
        &self,
        account: AccountId,
        subscription: i64,
        state: Option<DeliveryState>,
        page: PageRequest,
    ) -> Result<Page<LoggedDelivery>, StoreError> {
        self.read(account, async |connection| {
            let mut query = deliveries::table
                .filter(deliveries::account_id.eq(account.0))
                .filter(deliveries::subscription_id.eq(subscription))
                .order(deliveries::event_id.desc())
                .limit(page.limit + 1)
                .select(DeliveryRow::as_select())
                .into_boxed();
            if let Some(state) = state {
                query = query.filter(deliveries::state.eq(state.as_str()));
            }
            if let Some(cursor) = page.cursor {
                query = query.filter(deliveries::event_id.lt(cursor));
            }
            let rows: Vec<DeliveryRow> = query.load(connection).await?;
            let Page { items, next_cursor } = Page::cut(rows, page.limit, |row| row.event_id);
            Ok(Page { items: with_attempts(connection, account, items).await?, next_cursor })
        })
        .await
        .map_err(StoreError::from)
    }

    async fn find(
        &self,
        account: AccountId,
        subscription: i64,
        delivery: Uuid,
    ) -> Result<Option<LoggedDelivery>, StoreError> {
        self.read(account, async |connection| {
            let row: Option<DeliveryRow> = deliveries::table
                .filter(deliveries::account_id.eq(account.0))
                .filter(deliveries::id.eq(delivery))
                .filter(deliveries::subscription_id.eq(subscription))
                .select(DeliveryRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(with_attempts(connection, account, row.into_iter().collect()).await?.pop())
        })
        .await
        .map_err(StoreError::from)
    }

    async fn resend(
        &self,
        account: AccountId,
        subscription: i64,
        delivery: Uuid,
        idempotency: Option<IdempotencyKey>,
        now: OffsetDateTime,
    ) -> Result<Written<Resent>, IdempotencyError> {
        let resent = self
            .run::<_, WriteError<IdempotencyError>>(async |connection| {
                connection
                    .transaction(async |connection| {
                        let key = idempotency.as_ref();
                        if let Some(key) = key
                            && idempotency::begin(connection, account, key, now).await?.is_some()
                        {
                            return Ok(Written { value: Resent::Queued, replayed: true });
                        }
                        let value = resend(connection, account, subscription, delivery, now).await?;
                        if let (Some(key), Resent::Queued) = (key, value) {
                            idempotency::finish(connection, account, key, json!({}), now).await?;
                        }
                        Ok::<_, WriteError<IdempotencyError>>(Written { value, replayed: false })
                    })
                    .await
            })
            .await;
        resent.map_err(WriteError::into_refusal)
    }

    async fn start_test(
        &self,
        account: AccountId,
        subscription: i64,
        event: &Event,
        lease: Duration,
        idempotency: Option<IdempotencyKey>,
        now: OffsetDateTime,
    ) -> Result<TestStart, IdempotencyError> {
        let body = event.body().map_err(|error| StoreError::Internal(error.to_string()))?;
        let kind = event.kind().as_str();
        let statement = StartTest { account: account.0, subscription, kind, body, now, until: now + lease };
        let started = self
            .run::<_, WriteError<IdempotencyError>>(async |connection| {
                connection
                    .transaction(async |connection| start_test(connection, statement, idempotency.as_ref(), now).await)
                    .await
            })
            .await;
        started.map_err(WriteError::into_refusal)
    }
}

async fn start_test(
    connection: &mut AsyncPgConnection,
    statement: StartTest,
    key: Option<&IdempotencyKey>,
    now: OffsetDateTime,
) -> Result<TestStart, WriteError<IdempotencyError>> {
    let account = AccountId(statement.account);
    if let Some(key) = key
        && let Some(result) = idempotency::begin(connection, account, key, now).await?
    {
        let delivery = result.get("delivery_id").and_then(Value::as_str).and_then(|id| id.parse().ok());
        return Ok(TestStart::Earlier(delivery.ok_or_else(|| corrupt("idempotent result"))?));
    }
    let row: Option<lease::Row> = statement.get_result(connection).await.optional()?;
    let Some(row) = row else { return Ok(TestStart::Unknown) };
    let leased = leased(row).map_err(StoreError::from)?;
    if let Some(key) = key {
        let result = json!({ "delivery_id": leased.id });
        idempotency::finish(connection, account, key, result, now).await?;
    }
    Ok(TestStart::Leased(Box::new(leased)))
}

async fn resend(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    subscription: i64,
    delivery: Uuid,
    now: OffsetDateTime,
) -> QueryResult<Resent> {
    let active: Option<bool> = deliveries::table
        .inner_join(
            webhook_subscriptions::table.on(webhook_subscriptions::account_id
                .eq(deliveries::account_id)
                .and(webhook_subscriptions::id.eq(deliveries::subscription_id))),
        )
        .filter(deliveries::account_id.eq(account.0))
        .filter(deliveries::id.eq(delivery))
        .filter(deliveries::subscription_id.eq(subscription))
        .filter(webhook_subscriptions::revoked_at.is_null())
        .select(webhook_subscriptions::active)
        .first(connection)
        .await
        .optional()?;
    match active {
        None => Ok(Resent::Unknown),
        Some(false) => Ok(Resent::Inactive),
        Some(true) => queue_again(connection, account, delivery, now).await,
    }
}

async fn queue_again(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    delivery: Uuid,
    now: OffsetDateTime,
) -> QueryResult<Resent> {
    let free = deliveries::table
        .filter(deliveries::account_id.eq(account.0))
        .filter(deliveries::id.eq(delivery))
        .filter(deliveries::leased_until.is_null().or(deliveries::leased_until.lt(now)));
    let change = (
        deliveries::state.eq(DeliveryState::Pending.as_str()),
        deliveries::due_at.eq(now),
        deliveries::earlier_attempts.eq(deliveries::attempts),
        deliveries::finished_at.eq(None::<OffsetDateTime>),
    );
    let queued = diesel::update(free).set(change).execute(connection).await?;
    Ok(if queued == 1 { Resent::Queued } else { Resent::UnderWay })
}

/// Adds the names of the events and the attempts to deliveries of an account, in two statements.
async fn with_attempts(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    rows: Vec<DeliveryRow>,
) -> Result<Vec<LoggedDelivery>, Failure> {
    let Some(oldest) = rows.iter().map(|row| row.created_at).min() else { return Ok(Vec::new()) };
    let event_ids: Vec<i64> = rows.iter().map(|row| row.event_id).collect();
    let kinds: Vec<(i64, String)> = events::table
        .filter(events::account_id.eq(account.0))
        .filter(events::id.eq_any(event_ids))
        .select((events::id, events::kind))
        .load(connection)
        .await?;
    let kinds: HashMap<i64, String> = kinds.into_iter().collect();
    let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
    let made: Vec<AttemptRow> = attempts::table
        .filter(attempts::account_id.eq(account.0))
        .filter(attempts::delivery_id.eq_any(ids))
        // Leaves out the months before the deliveries were made.
        .filter(attempts::started_at.ge(oldest))
        .order((attempts::delivery_id, attempts::number, attempts::started_at))
        .select(AttemptRow::as_select())
        .load(connection)
        .await?;
    let mut by_delivery: HashMap<Uuid, Vec<LoggedAttempt>> = HashMap::new();
    for row in made {
        let (delivery, attempt) = logged_attempt(row);
        by_delivery.entry(delivery).or_default().push(attempt);
    }
    rows.into_iter()
        .map(|row| {
            let event = kinds.get(&row.event_id).cloned().unwrap_or_default();
            let attempts = by_delivery.remove(&row.id).unwrap_or_default();
            Ok(logged_delivery(row, event, attempts)?)
        })
        .collect()
}

fn logged_delivery(row: DeliveryRow, event: String, made: Vec<LoggedAttempt>) -> Result<LoggedDelivery, StoreError> {
    let DeliveryRow { id, event_id, state, due_at, leased_until, attempts, created_at, finished_at } = row;
    let state = parse(&state, "delivery state")?;
    let waits = state == DeliveryState::Pending && leased_until.is_none();
    Ok(LoggedDelivery {
        id,
        event_id,
        event,
        state,
        next_attempt_at: waits.then_some(due_at),
        attempts_made: attempts,
        created_at,
        finished_at,
        attempts: made,
    })
}

fn logged_attempt(row: AttemptRow) -> (Uuid, LoggedAttempt) {
    let AttemptRow {
        delivery_id,
        number,
        started_at,
        status,
        failure,
        message,
        dns_us,
        connect_us,
        tls_us,
        first_byte_us,
        total_us,
        answer,
        location,
    } = row;
    let attempt = LoggedAttempt {
        number,
        started_at,
        status,
        failure,
        message,
        dns_us,
        connect_us,
        tls_us,
        first_byte_us,
        total_us,
        answer,
        location,
    };
    (delivery_id, attempt)
}
