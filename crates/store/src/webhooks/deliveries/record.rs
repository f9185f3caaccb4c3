//! Records the outcomes of attempts.

use std::time::Duration;

use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Bool, Bytea, Date as SqlDate, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid},
};
use diesel_async::AsyncPgConnection;
use domain::{
    StoreError,
    webhooks::{
        attempt::ANSWER_BYTES_PER_DAY,
        breaker::is_in_trouble,
        delivery::{DeliveryState, Failing, Next, Receiver, Report},
        log::MAX_ATTEMPTS_KEPT,
        schedule::{DisabledReason, FailureRun},
    },
};
use time::{Date, OffsetDateTime, UtcOffset};
use uuid::Uuid;

use super::receiver;
use crate::{
    Store,
    database::{
        citus::Part,
        error::{Failure, corrupt},
        query::RunQueryDsl,
    },
    schema::{delivery_attempts, webhook_subscriptions},
};

/// Declares a statement that writes deliveries and the figures of subscriptions, and what it does with the attempts.
macro_rules! record {
    ($(#[$meta:meta])* $name:ident, $logged:literal) => {
        statement!(
            $(#[$meta])*
            $name(
                now: OffsetDateTime => Timestamptz,
                today: Date => SqlDate,
                answer_budget: i64 => BigInt,
                accounts: Vec<i64> => Array<BigInt>,
                subscriptions: Vec<i64> => Array<BigInt>,
                events: Vec<i64> => Array<BigInt>,
                claims: Vec<i64> => Array<BigInt>,
                ids: Vec<Uuid> => Array<SqlUuid>,
                numbers: Vec<i32> => Array<Integer>,
                first_ones: Vec<bool> => Array<Bool>,
                starts: Vec<OffsetDateTime> => Array<Timestamptz>,
                states: Vec<&'static str> => Array<Text>,
                due: Vec<Option<OffsetDateTime>> => Array<Nullable<Timestamptz>>,
                statuses: Vec<Option<i32>> => Array<Nullable<Integer>>,
                failures: Vec<Option<&'static str>> => Array<Nullable<Text>>,
                messages: Vec<Option<String>> => Array<Nullable<Text>>,
                dns: Vec<Option<i64>> => Array<Nullable<BigInt>>,
                connect: Vec<Option<i64>> => Array<Nullable<BigInt>>,
                tls: Vec<Option<i64>> => Array<Nullable<BigInt>>,
                first_byte: Vec<Option<i64>> => Array<Nullable<BigInt>>,
                total: Vec<i64> => Array<BigInt>,
                answers: Vec<Vec<u8>> => Array<Bytea>,
                locations: Vec<Option<String>> => Array<Nullable<Text>>,
                of: Option<Vec<i64>> => Nullable<Array<BigInt>>,
                troubles: Vec<bool> => Array<Bool>,
            ) -> SumsRow = concat!("
            WITH made AS (
                UPDATE deliveries d
                SET state = g.state, due_at = coalesce(g.due_at, d.due_at), leased_until = NULL, attempts = g.number,
                    last_status = g.status, last_failure = g.failure,
                    finished_at = CASE WHEN g.state <> 'pending' THEN t.now END
                FROM (SELECT $1::timestamptz AS now, $2::date AS today, $3::bigint AS answer_budget) AS t, unnest(
                    $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::uuid[], $9::integer[], $10::boolean[],
                    $11::timestamptz[], $12::text[], $13::timestamptz[], $14::integer[], $15::text[], $16::text[],
                    $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[], $21::bigint[], $22::bytea[], $23::text[],
                    $25::boolean[]
                ) WITH ORDINALITY AS g (
                    account_id, subscription_id, event_id, claim, id, number, is_first,
                    started_at, state, due_at, status, failure, message,
                    dns_us, connect_us, tls_us, first_byte_us, total_us, answer, location, in_trouble, position
                )
                WHERE d.account_id = g.account_id AND d.subscription_id = g.subscription_id AND d.event_id = g.event_id
                    AND d.claim = g.claim AND d.leased_until IS NOT NULL
                    AND ($24::bigint[] IS NULL OR d.account_id = ANY ($24))
                RETURNING g.*, t.today, t.answer_budget
            )", $logged, ", sums AS (
                SELECT account_id, subscription_id, count(*) AS fired, count(*) FILTER (WHERE state <> 'delivered') AS failed,
                    max(position) FILTER (WHERE state = 'delivered') AS last_success,
                    max(position) FILTER (WHERE NOT in_trouble) AS last_working, max(position) AS last,
                    array_agg(position) AS positions, coalesce(bool_or(status = 410), false) AS gone, sum(length(answer)) AS answer_bytes,
                    min(today) AS today, min(answer_budget) AS answer_budget
                FROM made GROUP BY account_id, subscription_id
            ), runs AS (
                -- What failed after the last success.
                SELECT s.account_id, s.subscription_id, s.last_success IS NOT NULL AS had_success, count(m.id) AS attempts,
                    count(DISTINCT m.id) AS deliveries, count(m.id) FILTER (WHERE m.is_first) AS new_deliveries,
                    min(m.started_at) AS since, s.last_working IS NOT NULL AS had_working,
                    count(m.id) FILTER (WHERE m.position > coalesce(s.last_working, 0)) AS troubles
                FROM sums s LEFT JOIN made m ON m.account_id = s.account_id AND m.subscription_id = s.subscription_id
                    AND m.position > coalesce(s.last_success, 0)
                GROUP BY s.account_id, s.subscription_id, s.last_success, s.last_working
            ), locked AS MATERIALIZED (
                SELECT account_id, id FROM webhook_subscriptions
                WHERE (account_id, id) IN (SELECT account_id, subscription_id FROM sums)
                    AND ($24 IS NULL OR account_id = ANY ($24))
                ORDER BY account_id, id FOR NO KEY UPDATE
            )
            UPDATE webhook_subscriptions w
            SET last_fired_at = l.started_at, last_status = coalesce(l.status, 0), total_fired = w.total_fired + s.fired,
                total_failed = w.total_failed + s.failed,
                fail_count = r.attempts + CASE WHEN r.had_success THEN 0 ELSE w.fail_count END,
                failing_since = CASE
                    WHEN r.attempts = 0 THEN NULL
                    WHEN r.had_success OR w.failing_since IS NULL THEN r.since
                    ELSE w.failing_since END,
                failing_deliveries = CASE
                    WHEN r.attempts = 0 THEN 0
                    WHEN r.had_success OR w.failing_deliveries = 0 THEN r.deliveries
                    ELSE w.failing_deliveries + r.new_deliveries END,
                trouble_count = r.troubles + CASE WHEN r.had_working THEN 0 ELSE w.trouble_count END,
                answer_day = s.today,
                answer_bytes = s.answer_bytes + CASE WHEN w.answer_day = s.today THEN w.answer_bytes ELSE 0 END
            FROM locked k JOIN sums s ON s.account_id = k.account_id AND s.subscription_id = k.id
                JOIN runs r ON r.account_id = k.account_id AND r.subscription_id = k.id
                JOIN made l ON l.position = s.last
            WHERE w.account_id = k.account_id AND w.id = k.id AND ($24 IS NULL OR w.account_id = ANY ($24))
            RETURNING w.account_id, w.id AS subscription_id, w.fail_count, w.failing_since, w.failing_deliveries, l.status,
                s.gone, s.positions, w.answer_bytes - s.answer_bytes >= s.answer_budget AS is_spent")
        );

        impl $name {
            fn new(Part { items, accounts }: &Part<'_, Report>, now: OffsetDateTime) -> Self {
                Self {
                now,
                today: now.to_offset(UtcOffset::UTC).date(),
                answer_budget: ANSWER_BYTES_PER_DAY,
                accounts: column(items, |report| report.lease.receiver.account.0),
                subscriptions: column(items, |report| report.lease.receiver.subscription.0),
                events: column(items, |report| report.lease.event.0),
                claims: column(items, |report| report.lease.claim),
                ids: column(items, |report| report.delivery.0),
                numbers: column(items, number),
                // Over all resends: one delivery that is sent again is no second one that fails.
                first_ones: column(items, |report| report.attempt_number == 1),
                starts: column(items, |report| report.started_at),
                states: column(items, |report| state(report.next).as_str()),
                due: column(items, |report| due(report.next)),
                statuses: column(items, |report| report.attempt.status().map(i32::from)),
                failures: column(items, |report| report.failure().map(|failure| failure.code.as_str())),
                messages: column(items, message),
                dns: column(items, |report| report.attempt.timings.dns.map(micros)),
                connect: column(items, |report| report.attempt.timings.connect.map(micros)),
                tls: column(items, |report| report.attempt.timings.tls.map(micros)),
                first_byte: column(items, |report| report.attempt.timings.first_byte.map(micros)),
                total: column(items, |report| micros(report.attempt.timings.total)),
                answers: column(items, |report| report.attempt.answer.clone()),
                locations: column(items, |report| report.attempt.location.clone()),
                of: accounts.clone(),
                troubles: column(items, |report| is_in_trouble(report.attempt.status())),
                }
            }
        }
    };
}

record!(
    /// Deliveries, attempts and figures in one. Whatever was leased by someone else meanwhile is in none of them.
    /// Subscriptions are locked in order, so that two workers cannot wait for each other.
    Record, ", logged AS (
        INSERT INTO delivery_attempts (account_id, delivery_id, number, started_at, status, failure, message, dns_us,
            connect_us, tls_us, first_byte_us, total_us, answer, answer_bytes, location)
        SELECT m.account_id, m.id, m.number, m.started_at, m.status, m.failure, m.message, m.dns_us, m.connect_us, m.tls_us,
            m.first_byte_us, m.total_us, CASE WHEN b.is_spent THEN '' ELSE m.answer END,
            CASE WHEN b.is_spent THEN length(m.answer) END, m.location
        FROM made m JOIN webhook_subscriptions s ON s.account_id = m.account_id AND s.id = m.subscription_id
            CROSS JOIN LATERAL (
                SELECT (s.answer_day = m.today AND s.answer_bytes >= m.answer_budget) IS TRUE AS is_spent
            ) AS b
    )"
);

record!(
    /// The same without the attempts: a node of a cluster does not take an INSERT along with other changes.
    RecordWithoutAttempts, ""
);

statement!(
    /// Removes attempts up to a number.
    RemoveAttempts(
        accounts: Vec<i64> => Array<BigInt>,
        deliveries: Vec<Uuid> => Array<SqlUuid>,
        numbers: Vec<i32> => Array<Integer>,
        of: Option<Vec<i64>> => Nullable<Array<BigInt>>,
    ) -> () = "
    DELETE FROM delivery_attempts a
    USING unnest($1::bigint[], $2::uuid[], $3::integer[]) AS old (account_id, delivery_id, number)
    WHERE a.account_id = old.account_id AND a.delivery_id = old.delivery_id AND a.number <= old.number
        AND ($4::bigint[] IS NULL OR a.account_id = ANY ($4))"
);

row!(
    /// A subscription's figures as they are now.
    struct SumsRow {
        account_id: i64 => BigInt,
        subscription_id: i64 => BigInt,
        fail_count: i64 => BigInt,
        failing_since: Option<OffsetDateTime> => Nullable<Timestamptz>,
        failing_deliveries: i64 => BigInt,
        /// How its last attempt went.
        status: Option<i32> => Nullable<Integer>,
        gone: bool => Bool,
        /// Which of the reports, counted from 1, count.
        positions: Vec<i64> => Array<BigInt>,
        /// Whether the day's answers were too many before.
        is_spent: bool => Bool,
    }
);

pub(super) async fn record(
    store: &Store,
    part: &Part<'_, Report>,
    now: OffsetDateTime,
) -> Result<Vec<Failing>, StoreError> {
    let recorded = store
        .run_transaction::<_, Failure>(async |connection| {
            let rows = write(connection, part, now).await?;
            let mut failing: Vec<Failing> =
                rows.into_iter().filter_map(|row| failing(row).transpose()).collect::<Result<_, Failure>>()?;
            for failing in &mut failing {
                if let Some(reason) = failing.disabled(now) {
                    failing.switched_off = switch_off(connection, failing.receiver, reason, now).await?;
                }
            }
            remove_surplus(connection, part).await?;
            Ok(failing)
        })
        .await;
    Ok(recorded?)
}

/// Switches off a subscription, whose row is locked, unless it is already. What is due to it is put aside step by step.
async fn switch_off(
    connection: &mut AsyncPgConnection,
    Receiver { account, subscription }: Receiver,
    reason: DisabledReason,
    now: OffsetDateTime,
) -> QueryResult<bool> {
    let target = webhook_subscriptions::table
        .find((account.0, subscription.0))
        .filter(webhook_subscriptions::active)
        // What is held for one that is revoked has to be canceled still.
        .filter(webhook_subscriptions::revoked_at.is_null());
    let change = (
        webhook_subscriptions::active.eq(false),
        webhook_subscriptions::disabled_reason.eq(reason.as_str()),
        webhook_subscriptions::held_moved_at.eq(now),
    );
    Ok(diesel::update(target).set(change).execute(connection).await? == 1)
}

async fn write(
    connection: &mut AsyncPgConnection,
    part: &Part<'_, Report>,
    now: OffsetDateTime,
) -> Result<Vec<SumsRow>, Failure> {
    if part.accounts.is_none() {
        return Ok(Record::new(part, now).load(connection).await?);
    }
    let rows: Vec<SumsRow> = RecordWithoutAttempts::new(part, now).load(connection).await?;
    let mut made = Vec::new();
    for SumsRow { positions, is_spent, .. } in &rows {
        let positions = positions.iter().filter_map(|position| usize::try_from(*position).ok()?.checked_sub(1));
        let reports = positions.filter_map(|position| part.items.get(position));
        made.extend(reports.map(|report| attempt(report, *is_spent)));
    }
    diesel::insert_into(delivery_attempts::table).values(made).execute(connection).await?;
    Ok(rows)
}

/// Removes what is beyond the attempts that are kept of a delivery.
async fn remove_surplus(connection: &mut AsyncPgConnection, part: &Part<'_, Report>) -> Result<(), Failure> {
    let kept = i32::try_from(MAX_ATTEMPTS_KEPT).unwrap_or(i32::MAX);
    let long: Vec<&Report> = part.items.iter().copied().filter(|report| number(report) > kept).collect();
    if long.is_empty() {
        return Ok(());
    }
    let statement = RemoveAttempts {
        accounts: column(&long, |report| report.lease.receiver.account.0),
        deliveries: column(&long, |report| report.delivery.0),
        numbers: column(&long, |report| number(report) - kept),
        of: part.accounts.clone(),
    };
    statement.execute(connection).await?;
    Ok(())
}

/// An attempt, as it is logged.
#[derive(Insertable)]
#[diesel(table_name = delivery_attempts)]
struct AttemptRow<'a> {
    account_id: i64,
    delivery_id: Uuid,
    number: i32,
    started_at: OffsetDateTime,
    status: Option<i32>,
    failure: Option<&'static str>,
    message: Option<String>,
    dns_us: Option<i64>,
    connect_us: Option<i64>,
    tls_us: Option<i64>,
    first_byte_us: Option<i64>,
    total_us: i64,
    answer: &'a [u8],
    answer_bytes: Option<i64>,
    location: Option<&'a str>,
}

fn attempt(report: &Report, is_spent: bool) -> AttemptRow<'_> {
    let timings = &report.attempt.timings;
    let answer = report.attempt.answer.as_slice();
    AttemptRow {
        account_id: report.lease.receiver.account.0,
        delivery_id: report.delivery.0,
        number: number(report),
        started_at: report.started_at,
        status: report.attempt.status().map(i32::from),
        failure: report.failure().map(|failure| failure.code.as_str()),
        message: message(report),
        dns_us: timings.dns.map(micros),
        connect_us: timings.connect.map(micros),
        tls_us: timings.tls.map(micros),
        first_byte_us: timings.first_byte.map(micros),
        total_us: micros(timings.total),
        answer: if is_spent { &[] } else { answer },
        answer_bytes: is_spent.then(|| i64::try_from(answer.len()).unwrap_or(i64::MAX)),
        location: report.attempt.location.as_deref(),
    }
}

fn number(report: &Report) -> i32 {
    i32::try_from(report.attempt_number).unwrap_or(i32::MAX)
}

fn message(report: &Report) -> Option<String> {
    report.failure().map(|failure| failure.message.replace('\0', ""))
}

fn column<T>(reports: &[&Report], value: impl Fn(&Report) -> T) -> Vec<T> {
    reports.iter().map(|report| value(report)).collect()
}

fn failing(row: SumsRow) -> Result<Option<Failing>, Failure> {
    let SumsRow {
        account_id,
        subscription_id,
        fail_count,
        failing_since,
        failing_deliveries,
        status,
        gone,
        positions: _,
        is_spent: _,
    } = row;
    let Some(since) = failing_since else { return Ok(None) };
    let number = |count: i64| u32::try_from(count).map_err(|_| corrupt("count of failures"));
    let status = status.map(u16::try_from).transpose().map_err(|_| corrupt("status"))?;
    let run = FailureRun { since, attempts: number(fail_count)?, deliveries: number(failing_deliveries)? };
    let receiver = receiver(account_id, subscription_id);
    Ok(Some(Failing { receiver, run, last_status: status, gone, switched_off: false }))
}

const fn state(next: Next) -> DeliveryState {
    match next {
        Next::Delivered => DeliveryState::Delivered,
        Next::Retry(_) => DeliveryState::Pending,
        Next::Failed => DeliveryState::Failed,
    }
}

const fn due(next: Next) -> Option<OffsetDateTime> {
    match next {
        Next::Retry(at) => Some(at),
        Next::Delivered | Next::Failed => None,
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
