//! [`DeliveryLog`] on Postgres.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Bytea, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, DeliveryId, EventId, StoreError, SubscriptionId,
    audit::Entry,
    events::Event,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    page::{Page, PageRequest},
    webhooks::{
        attempt::{MAX_ANSWER_BYTES, MAX_MESSAGE_CHARS},
        delivery::DeliveryState,
        log::{
            ANSWER_BYTES_IN_LIST, ATTEMPTS_IN_LIST, DeliveryLog, Filter, LoggedAttempt, LoggedDelivery,
            MAX_ATTEMPTS_KEPT, MOST_TALLIED, Resent, Tally, TestStart,
        },
    },
};
use serde_json::{Value, json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    Store,
    database::{
        error::{Failure, corrupt, parse},
        idempotency::{self, WriteError},
        query::RunQueryDsl,
    },
    people::audit,
    schema::{deliveries, events, webhook_subscriptions},
    webhooks::deliveries::lease::{LeasedRow, leased},
};

/// How far the clocks of two hosts may be apart: that of the attempts, and that of who made the delivery. Also how long after
/// the instant that an event is dated with it may be written.
const CLOCK_SLACK: time::Duration = time::Duration::DAY;

/// Deliveries that are read at a time for a page with a filter, and how often: an index for each filter would cost every
/// delivery that is made, and without one those that fit may be millions apart.
const READ_AT_A_TIME: i64 = 1_000;
const READS: usize = 20;

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

columns!(DeliveryRow {
    id: SqlUuid,
    event_id: BigInt,
    state: Text,
    due_at: Timestamptz,
    leased_until: Nullable<Timestamptz>,
    attempts: Integer,
    created_at: Timestamptz,
    finished_at: Nullable<Timestamptz>,
});

statement!(
    /// Deliveries of a subscription between two events, newest first. The planner is not told the limit: where it expects fewer
    /// rows than that, it would read all there are and sort them.
    NextDeliveries(
        account: i64 => BigInt,
        subscription: i64 => BigInt,
        after: i64 => BigInt,
        before: i64 => BigInt,
        limit: i64 => BigInt,
    ) -> DeliveryRow = "
    SELECT id, event_id, state, due_at, leased_until, attempts, created_at, finished_at FROM deliveries
    WHERE account_id = $1 AND subscription_id = $2 AND event_id > $3 AND event_id < $4
    ORDER BY event_id DESC LIMIT (SELECT $5::bigint)"
);

row!(
    struct AttemptRow {
        delivery_id: Uuid => SqlUuid,
        kept: i64 => BigInt,
        number: i32 => Integer,
        started_at: OffsetDateTime => Timestamptz,
        status: Option<i32> => Nullable<Integer>,
        failure: Option<String> => Nullable<Text>,
        message: Option<String> => Nullable<Text>,
        dns_us: Option<i64> => Nullable<BigInt>,
        connect_us: Option<i64> => Nullable<BigInt>,
        tls_us: Option<i64> => Nullable<BigInt>,
        first_byte_us: Option<i64> => Nullable<BigInt>,
        total_us: i64 => BigInt,
        answer: Vec<u8> => Bytea,
        answer_bytes: i64 => BigInt,
        location: Option<String> => Nullable<Text>,
    }
);

statement!(
    /// The newest attempts of deliveries of one account, and how many are kept of each. Nothing is read of an answer
    /// beyond what is shown, nor of the months before the deliveries were made.
    NewestAttempts(
        ids: Vec<Uuid> => Array<SqlUuid>,
        account: i64 => BigInt,
        since: OffsetDateTime => Timestamptz,
        most_kept: i64 => BigInt,
        message_chars: i32 => Integer,
        answer_bytes: i32 => Integer,
        most: i64 => BigInt,
    ) -> AttemptRow = "
    SELECT d.id AS delivery_id, k.kept, a.number, a.started_at, a.status, a.failure, a.message, a.dns_us, a.connect_us, a.tls_us,
        a.first_byte_us, a.total_us, a.answer, a.answer_bytes, a.location
    FROM unnest($1::uuid[]) AS d (id)
        CROSS JOIN LATERAL (
            SELECT count(*) AS kept FROM (
                SELECT FROM delivery_attempts
                WHERE account_id = $2::bigint AND delivery_id = d.id AND started_at >= $3::timestamptz LIMIT $4::bigint
            ) AS counted
        ) AS k
        CROSS JOIN LATERAL (
            SELECT number, started_at, status, failure, left(message, $5::integer) AS message, dns_us, connect_us,
                tls_us, first_byte_us, total_us, substring(answer, 1, $6::integer) AS answer,
                coalesce(answer_bytes, length(answer)) AS answer_bytes, location
            FROM delivery_attempts
            WHERE account_id = $2 AND delivery_id = d.id AND started_at >= $3
            ORDER BY number DESC, started_at DESC LIMIT $7::bigint
        ) AS a
    ORDER BY d.id, a.number, a.started_at"
);

row!(
    struct TallyRow {
        subscription_id: i64 => BigInt,
        delivered: i64 => BigInt,
        failed: i64 => BigInt,
        waiting: i64 => BigInt,
    }
);

statement!(
    /// Where the newest deliveries stand, of those that were created lately. Their ids begin with the time (UUIDv7), and there is an
    /// index on them.
    Tallies(
        account: i64 => BigInt,
        first_id: Uuid => SqlUuid,
        since: OffsetDateTime => Timestamptz,
        most: i64 => BigInt,
    ) -> TallyRow = "
    SELECT subscription_id, count(*) FILTER (WHERE state = 'delivered') AS delivered,
        count(*) FILTER (WHERE state = 'failed') AS failed, count(*) FILTER (WHERE state IN ('pending', 'held')) AS waiting
    FROM (
        SELECT subscription_id, state, created_at FROM deliveries
        WHERE account_id = $1::bigint AND id >= $2::uuid ORDER BY id DESC LIMIT $4
    ) AS newest
    WHERE created_at >= $3::timestamptz
    GROUP BY subscription_id"
);

statement!(
    /// An event and a delivery of it to one subscription, leased at once.
    StartTest(
        account: i64 => BigInt,
        subscription: i64 => BigInt,
        kind: &'static str => Text,
        body: Vec<u8> => Bytea,
        now: OffsetDateTime => Timestamptz,
        until: OffsetDateTime => Timestamptz,
    ) -> LeasedRow = "
    SELECT of_account AS account_id, of_subscription AS subscription_id, event AS event_id, claim, delivery AS id,
        attempts, earlier_attempts, url, secret AS sealed_secret, previous_secret AS sealed_previous, sent AS body
    FROM emit_test($1, $2, $3, $4, $5, $6)"
);

#[async_trait]
impl DeliveryLog for Store {
    async fn page(
        &self,
        account: AccountId,
        SubscriptionId(subscription): SubscriptionId,
        filter: Filter,
        page: PageRequest,
    ) -> Result<Page<LoggedDelivery>, StoreError> {
        self.read(account, async |connection| {
            let Page { items, next_cursor } = look(connection, account, subscription, filter, page).await?;
            Ok(Page { items: with_attempts(connection, account, items, Shown::InList).await?, next_cursor })
        })
        .await
        .map_err(StoreError::from)
    }

    async fn tallies(
        &self,
        account: AccountId,
        since: OffsetDateTime,
    ) -> Result<HashMap<SubscriptionId, Tally>, StoreError> {
        let tallies = Tallies { account: account.0, first_id: first_id(since), since, most: MOST_TALLIED };
        let rows: Vec<TallyRow> = self
            .read(account, async |connection| Ok(tallies.clone().load(connection).await?))
            .await
            .map_err(StoreError::from)?;
        let tally = |TallyRow { subscription_id, delivered, failed, waiting }| {
            (SubscriptionId(subscription_id), Tally { delivered, failed, waiting })
        };
        Ok(rows.into_iter().map(tally).collect())
    }

    async fn body(&self, account: AccountId, EventId(event): EventId) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(account, async |connection| {
            let body = events::table.find((account.0, event)).select(events::body).first(connection);
            Ok(body.await.optional()?)
        })
        .await
        .map_err(StoreError::from)
    }

    async fn find(
        &self,
        account: AccountId,
        SubscriptionId(subscription): SubscriptionId,
        DeliveryId(delivery): DeliveryId,
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
            Ok(with_attempts(connection, account, row.into_iter().collect(), Shown::Alone).await?.pop())
        })
        .await
        .map_err(StoreError::from)
    }

    async fn resend(
        &self,
        account: AccountId,
        SubscriptionId(subscription): SubscriptionId,
        DeliveryId(delivery): DeliveryId,
        idempotency: Option<IdempotencyKey>,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Resent>, IdempotencyError> {
        let resent = self
            .transact::<_, WriteError<IdempotencyError>>(async |connection| {
                let key = idempotency.as_ref();
                if let Some(key) = key
                    && idempotency::begin(connection, account, key, now).await?.is_some()
                {
                    return Ok(Idempotent { value: Resent::Queued, replayed: true });
                }
                let value = resend(connection, account, subscription, delivery, now).await?;
                if value == Resent::Queued {
                    audit::changed(connection, note, &delivery.to_string(), (None, None), now).await?;
                }
                if let (Some(key), Resent::Queued) = (key, value) {
                    idempotency::finish(connection, account, key, json!({}), now).await?;
                }
                Ok::<_, WriteError<IdempotencyError>>(Idempotent { value, replayed: false })
            })
            .await;
        resent.map_err(WriteError::into_refusal)
    }

    async fn start_test(
        &self,
        account: AccountId,
        SubscriptionId(subscription): SubscriptionId,
        event: &Event,
        lease: Duration,
        idempotency: Option<IdempotencyKey>,
        now: OffsetDateTime,
    ) -> Result<TestStart, IdempotencyError> {
        let body = event.body().map_err(|error| StoreError::Internal(error.into()))?;
        let kind = event.kind().as_str();
        let statement = StartTest { account: account.0, subscription, kind, body, now, until: now + lease };
        let started = self
            .transact::<_, WriteError<IdempotencyError>>(async |connection| {
                start_test(connection, statement, idempotency.as_ref(), now).await
            })
            .await;
        started.map_err(WriteError::into_refusal)
    }
}

/// The first id that a delivery made then may have: a UUIDv7 (RFC 9562, section 5.7) begins with the Unix time in milliseconds.
fn first_id(at: OffsetDateTime) -> Uuid {
    let millis = u128::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or_default();
    Uuid::from_u128(millis << 80)
}

/// The last event with a delivery that was surely written before those of deliveries that were made from an instant on; 0 without
/// one. Events are numbered as they are written.
pub(super) async fn event_before(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    at: OffsetDateTime,
) -> QueryResult<i64> {
    let event: Option<i64> = deliveries::table
        .filter(deliveries::account_id.eq(account.0))
        .filter(deliveries::id.lt(first_id(at.saturating_sub(CLOCK_SLACK))))
        .order(deliveries::id.desc())
        .select(deliveries::event_id)
        .first(connection)
        .await
        .optional()?;
    Ok(event.unwrap_or(0))
}

/// The first event with a delivery that was surely written after those of deliveries that were made before an instant; the largest
/// number without one.
pub(super) async fn event_after(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    at: OffsetDateTime,
) -> QueryResult<i64> {
    let event: Option<i64> = deliveries::table
        .filter(deliveries::account_id.eq(account.0))
        .filter(deliveries::id.ge(first_id(at.saturating_add(CLOCK_SLACK))))
        .order(deliveries::id.asc())
        .select(deliveries::event_id)
        .first(connection)
        .await
        .optional()?;
    Ok(event.unwrap_or(i64::MAX))
}

/// The next deliveries that fit a filter: as many as a page holds, or fewer, where that many are not among those that are read.
async fn look(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    subscription: i64,
    filter: Filter,
    page: PageRequest,
) -> Result<Page<DeliveryRow>, Failure> {
    let after = match filter.since {
        Some(since) => event_before(connection, account, since).await?,
        None => 0,
    };
    let end = match filter.until {
        Some(until) => event_after(connection, account, until).await?,
        None => i64::MAX,
    };
    let mut before = page.cursor.map_or(end, |cursor| cursor.min(end));
    let limit = if filter == Filter::default() { page.limit + 1 } else { READ_AT_A_TIME };
    let [wanted, at_a_time] = [page.limit, limit].map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    let mut found = Vec::new();
    for _ in 0..READS {
        let next = NextDeliveries { account: account.0, subscription, after, before, limit };
        let rows: Vec<DeliveryRow> = next.load(connection).await?;
        let last = rows.last().map(|row| row.event_id).filter(|_| rows.len() >= at_a_time);
        found.extend(fitting(connection, account, filter, rows).await?);
        match last {
            Some(last) if found.len() <= wanted => before = last,
            _ => return Ok(Page::cut(found, page.limit, |row| row.event_id)),
        }
    }
    Ok(Page { items: found, next_cursor: Some(before) })
}

/// Those of an account's deliveries that fit a filter.
async fn fitting(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    Filter { state, event, since, until }: Filter,
    mut rows: Vec<DeliveryRow>,
) -> QueryResult<Vec<DeliveryRow>> {
    rows.retain(|row| {
        state.is_none_or(|state| row.state == state.as_str())
            && since.is_none_or(|since| row.created_at >= since)
            && until.is_none_or(|until| row.created_at < until)
    });
    let Some(kind) = event else { return Ok(rows) };
    let ids: Vec<i64> = rows.iter().map(|row| row.event_id).collect();
    let of_kind: Vec<i64> = events::table
        .filter(events::account_id.eq(account.0))
        .filter(events::id.eq_any(ids))
        .filter(events::kind.eq(kind.as_str()))
        .select(events::id)
        .load(connection)
        .await?;
    let of_kind: HashSet<i64> = of_kind.into_iter().collect();
    rows.retain(|row| of_kind.contains(&row.event_id));
    Ok(rows)
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
        return Ok(TestStart::Earlier(delivery.map(DeliveryId).ok_or_else(|| corrupt("idempotent result"))?));
    }
    let row: Option<LeasedRow> = statement.get_result(connection).await.optional()?;
    let Some(row) = row else { return Ok(TestStart::Unknown) };
    let leased = leased(row).map_err(StoreError::from)?;
    if let Some(key) = key {
        let result = json!({ "delivery_id": leased.id.0 });
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

/// How much of the attempts is shown.
#[derive(Clone, Copy)]
enum Shown {
    InList,
    Alone,
}

impl Shown {
    /// Attempts of a delivery, and bytes of an answer.
    fn limits(self) -> (i64, i32) {
        let bytes = |bytes: i64| i32::try_from(bytes).unwrap_or(i32::MAX);
        match self {
            Self::InList => (ATTEMPTS_IN_LIST, bytes(ANSWER_BYTES_IN_LIST)),
            Self::Alone => (MAX_ATTEMPTS_KEPT.into(), i32::try_from(MAX_ANSWER_BYTES).unwrap_or(i32::MAX)),
        }
    }
}

/// Adds the names of the events and the attempts to deliveries of an account, in two statements.
async fn with_attempts(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    rows: Vec<DeliveryRow>,
    shown: Shown,
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
    let (most, answer_bytes) = shown.limits();
    let newest = NewestAttempts {
        ids: rows.iter().map(|row| row.id).collect(),
        account: account.0,
        since: oldest - CLOCK_SLACK,
        most_kept: MAX_ATTEMPTS_KEPT.into(),
        message_chars: i32::try_from(MAX_MESSAGE_CHARS).unwrap_or(i32::MAX),
        answer_bytes,
        most,
    };
    let made: Vec<AttemptRow> = newest.load(connection).await?;
    let mut by_delivery: HashMap<Uuid, (i64, Vec<LoggedAttempt>)> = HashMap::new();
    for row in made {
        let (delivery, kept, attempt) = logged_attempt(row);
        let (all, attempts) = by_delivery.entry(delivery).or_default();
        *all = kept;
        attempts.push(attempt);
    }
    rows.into_iter()
        .map(|row| {
            let event = kinds.get(&row.event_id).cloned().unwrap_or_default();
            let (kept, attempts) = by_delivery.remove(&row.id).unwrap_or_default();
            Ok(logged_delivery(row, event, kept, attempts)?)
        })
        .collect()
}

fn logged_delivery(
    row: DeliveryRow,
    event: String,
    attempts_kept: i64,
    shown: Vec<LoggedAttempt>,
) -> Result<LoggedDelivery, StoreError> {
    let DeliveryRow { id, event_id, state, due_at, leased_until, attempts, created_at, finished_at } = row;
    let state = parse(&state, "delivery state")?;
    let waits = state == DeliveryState::Pending && leased_until.is_none();
    Ok(LoggedDelivery {
        id: DeliveryId(id),
        event_id: EventId(event_id),
        event,
        state,
        next_attempt_at: waits.then_some(due_at),
        attempts_made: attempts,
        attempts_kept,
        created_at,
        finished_at,
        attempts: shown,
    })
}

fn logged_attempt(row: AttemptRow) -> (Uuid, i64, LoggedAttempt) {
    let AttemptRow {
        delivery_id,
        kept,
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
        answer_bytes,
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
        answer_bytes,
        location,
    };
    (delivery_id, kept, attempt)
}
