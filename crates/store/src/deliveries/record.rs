//! Writing back what became of attempts.

use std::time::Duration;

use diesel::sql_types::{Array, BigInt, Bool, Bytea, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::webhooks::{
    delivery::{DeliveryState, Failing, Next, Report},
    schedule::FailureRun,
};
use time::OffsetDateTime;
use uuid::Uuid;

use super::receiver;
use crate::error::{Failure, corrupt};

statement!(
    /// Deliveries, attempts and figures in one. Whatever was leased by someone else meanwhile is in none of them.
    /// Subscriptions are locked in order, so that two workers cannot wait for each other.
    Record(
        now: OffsetDateTime => Timestamptz,
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
    ) -> (BigInt, BigInt, BigInt, Nullable<Timestamptz>, BigInt, Nullable<Integer>, Bool) = "
    WITH made AS (
        UPDATE deliveries d
        SET state = g.state, due_at = coalesce(g.due_at, d.due_at), leased_until = NULL, attempts = g.number,
            last_status = g.status, last_failure = g.failure,
            finished_at = CASE WHEN g.state <> 'pending' THEN t.now END
        FROM (SELECT ?::timestamptz AS now) AS t, unnest(
            ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::uuid[], ?::integer[], ?::boolean[],
            ?::timestamptz[], ?::text[], ?::timestamptz[], ?::integer[], ?::text[], ?::text[],
            ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bytea[], ?::text[]
        ) WITH ORDINALITY AS g (
            account_id, subscription_id, event_id, claim, id, number, is_first,
            started_at, state, due_at, status, failure, message,
            dns_us, connect_us, tls_us, first_byte_us, total_us, answer, location, position
        )
        WHERE d.account_id = g.account_id AND d.subscription_id = g.subscription_id AND d.event_id = g.event_id
            AND d.claim = g.claim AND d.leased_until IS NOT NULL
        RETURNING g.*
    ), logged AS (
        INSERT INTO delivery_attempts (account_id, delivery_id, number, started_at, status, failure, message, dns_us,
            connect_us, tls_us, first_byte_us, total_us, answer, location)
        SELECT account_id, id, number, started_at, status, failure, message, dns_us, connect_us, tls_us, first_byte_us,
            total_us, answer, location
        FROM made
    ), sums AS (
        SELECT account_id, subscription_id, count(*) AS fired, count(*) FILTER (WHERE state <> 'delivered') AS failed,
            max(position) FILTER (WHERE state = 'delivered') AS last_success, max(position) AS last,
            coalesce(bool_or(status = 410), false) AS gone
        FROM made GROUP BY account_id, subscription_id
    ), runs AS (
        -- What failed after the last success.
        SELECT s.account_id, s.subscription_id, s.last_success IS NOT NULL AS had_success, count(m.id) AS attempts,
            count(DISTINCT m.id) AS deliveries, count(m.id) FILTER (WHERE m.is_first) AS new_deliveries,
            min(m.started_at) AS since
        FROM sums s LEFT JOIN made m ON m.account_id = s.account_id AND m.subscription_id = s.subscription_id
            AND m.position > coalesce(s.last_success, 0)
        GROUP BY s.account_id, s.subscription_id, s.last_success
    ), locked AS MATERIALIZED (
        SELECT account_id, id FROM webhook_subscriptions
        WHERE (account_id, id) IN (SELECT account_id, subscription_id FROM sums)
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
            ELSE w.failing_deliveries + r.new_deliveries END
    FROM locked k JOIN sums s ON s.account_id = k.account_id AND s.subscription_id = k.id
        JOIN runs r ON r.account_id = k.account_id AND r.subscription_id = k.id
        JOIN made l ON l.position = s.last
    WHERE w.account_id = k.account_id AND w.id = k.id
    RETURNING w.account_id, w.id, w.fail_count, w.failing_since, w.failing_deliveries, l.status, s.gone"
);

type Row = (i64, i64, i64, Option<OffsetDateTime>, i64, Option<i32>, bool);

pub(super) async fn record(
    connection: &mut AsyncPgConnection,
    reports: &[Report],
    now: OffsetDateTime,
) -> Result<Vec<Failing>, Failure> {
    let rows: Vec<Row> = statement(reports, now).load(connection).await?;
    rows.into_iter().filter_map(|row| failing(row).transpose()).collect()
}

fn failing(row: Row) -> Result<Option<Failing>, Failure> {
    let (account, subscription, attempts, since, deliveries, status, gone) = row;
    let Some(since) = since else { return Ok(None) };
    let number = |count: i64| u32::try_from(count).map_err(|_| corrupt("count of failures"));
    let status = status.map(u16::try_from).transpose().map_err(|_| corrupt("status"))?;
    let run = FailureRun { since, attempts: number(attempts)?, deliveries: number(deliveries)? };
    Ok(Some(Failing { receiver: receiver(account, subscription), run, last_status: status, gone }))
}

fn statement(reports: &[Report], now: OffsetDateTime) -> Record {
    fn column<T>(reports: &[Report], value: impl Fn(&Report) -> T) -> Vec<T> {
        reports.iter().map(value).collect()
    }
    Record {
        now,
        accounts: column(reports, |report| report.lease.receiver.account.0),
        subscriptions: column(reports, |report| report.lease.receiver.subscription),
        events: column(reports, |report| report.lease.event),
        claims: column(reports, |report| report.lease.claim),
        ids: column(reports, |report| report.delivery),
        numbers: column(reports, |report| i32::try_from(report.attempt_number).unwrap_or(i32::MAX)),
        first_ones: column(reports, |report| report.attempt_of_round == 1),
        starts: column(reports, |report| report.started_at),
        states: column(reports, |report| state(report.next).as_str()),
        due: column(reports, |report| due(report.next)),
        statuses: column(reports, |report| report.attempt.status().map(i32::from)),
        failures: column(reports, |report| report.failure().map(|failure| failure.code.as_str())),
        messages: column(reports, |report| report.failure().map(|failure| failure.message.replace('\0', ""))),
        dns: column(reports, |report| report.attempt.timings.dns.map(micros)),
        connect: column(reports, |report| report.attempt.timings.connect.map(micros)),
        tls: column(reports, |report| report.attempt.timings.tls.map(micros)),
        first_byte: column(reports, |report| report.attempt.timings.first_byte.map(micros)),
        total: column(reports, |report| micros(report.attempt.timings.total)),
        answers: column(reports, |report| report.attempt.answer.clone()),
        locations: column(reports, |report| report.attempt.location.clone()),
    }
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
