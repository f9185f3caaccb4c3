//! Maintenance of the tables, for all accounts at once: partitions are made ahead and dropped, expired rows removed.

use diesel::{
    prelude::*,
    sql_types::{BigInt, Bool, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use domain::{StoreError, idempotency::RETENTION_HOURS};
use time::{Date, Duration, Month, OffsetDateTime, macros::date};

use crate::{
    Pruned, Store, alerts,
    database::{error::Failure, query::RunQueryDsl, statement::Scalar},
    people,
    schema::idempotency_keys,
    social,
    status::uptime,
};

/// A statement that would wait for a lock holds up every insert behind it: rather try again next time.
const LIMITS: &str = "SET LOCAL lock_timeout = '2s'; SET LOCAL statement_timeout = '10min'";

/// Months for which a partition is there before its first row arrives.
const MONTHS_AHEAD: i32 = 2;
/// Advisory lock: several processes may try, one does it.
const MAINTENANCE_LOCK: i64 = 7_203_441_928;

const EARLIEST: Date = date!(1970 - 01 - 01);
/// How far the clock of this process and the database's may be apart.
const CLOCK_TOLERANCE: Duration = Duration::hours(1);

/// How long streams are kept, in months.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    pub track_months: u32,
    /// Deliveries that have ended, with their attempts and events.
    pub delivery_months: u32,
}

/// A table that is cut into months, and the column that says which month a row belongs to.
#[derive(Clone, Copy)]
struct Stream {
    table: &'static str,
    column: &'static str,
}

const TRACK_EVENTS: Stream = Stream { table: "track_events", column: "received_at" };
const DELIVERY_ATTEMPTS: Stream = Stream { table: "delivery_attempts", column: "started_at" };

impl Store {
    /// Makes the months of tracking events and of attempts to deliver from this one to two ahead, drops those that ended
    /// longer ago than they are kept, and removes deliveries and events of such months, as well as idempotency keys that
    /// are forgotten anyway, probes that no figure is made from any more, sessions, links and mails of the dashboard that are
    /// over, and runs of jobs that nobody asks about any more. Nothing when another process is at it.
    ///
    /// What is over is decided by the database's clock, and only while that of the process, `now`, agrees with it: what a
    /// wrong clock removes does not come back.
    ///
    /// # Errors
    /// [`StoreError`] when the database does not answer, or the clocks are more than an hour apart; then nothing is done.
    pub async fn maintain(&self, now: OffsetDateTime, retention: Retention) -> Result<(), StoreError> {
        let database = self.database_time().await?;
        let apart = now - database;
        if apart.abs() > CLOCK_TOLERANCE {
            let seconds = apart.whole_seconds();
            return Err(StoreError::Internal(
                format!("nothing is removed: the clock of this process is {seconds} seconds ahead of the database's")
                    .into(),
            ));
        }
        self.maintain_at(database, retention).await
    }

    /// The time by the database's clock.
    ///
    /// # Errors
    /// [`StoreError`] when the database does not answer.
    pub async fn database_time(&self) -> Result<OffsetDateTime, StoreError> {
        Ok(self.run::<_, Failure>(async |connection| Ok(DatabaseTime {}.get_result(connection).await?)).await?)
    }

    /// [`Self::maintain`] as of `now`, whatever the clocks say.
    ///
    /// # Errors
    /// [`StoreError`] when the database does not answer.
    pub async fn maintain_at(&self, now: OffsetDateTime, retention: Retention) -> Result<(), StoreError> {
        let this_month = month_of(now.date());
        let is_ours = self
            .run_transaction_within::<_, Failure>(LIMITS, async |connection| {
                prepare_months(connection, this_month, retention).await
            })
            .await?;
        if !is_ours {
            return Ok(());
        }
        // The months are locked until their transaction ends, and nothing may be written to them: what takes its time is done
        // after it, and what fails of it keeps nothing else.
        let expired = self
            .run_transaction_within::<_, Failure>(LIMITS, async |connection| expire(connection, now).await)
            .await
            .map_err(StoreError::from);
        let before = months_ago(this_month, retention.delivery_months).midnight().assume_utc();
        let pruned = self.prune_deliveries(before).await;
        let runs = self.prune_runs(now).await;
        expired?;
        let Pruned { deliveries, events } = pruned?;
        let runs = runs?;
        if deliveries + events + runs > 0 {
            tracing::info!(deliveries, events, runs, %before, "removed what was kept long enough");
        }
        Ok(())
    }
}

/// Whether it was done: another process may be at it.
async fn prepare_months(
    connection: &mut AsyncPgConnection,
    this_month: Date,
    retention: Retention,
) -> Result<bool, Failure> {
    if !(TryLock { lock: MAINTENANCE_LOCK }).get_result::<bool>(connection).await? {
        return Ok(false);
    }
    let Retention { track_months, delivery_months } = retention;
    for (stream, months) in [(TRACK_EVENTS, track_months), (DELIVERY_ATTEMPTS, delivery_months)] {
        for ahead in 0..=MONTHS_AHEAD {
            make_month(connection, stream, plus_months(this_month, ahead)).await?;
        }
        drop_before(connection, stream, months_ago(this_month, months)).await?;
    }
    Ok(true)
}

/// Removes and wipes what is over at `now`, unless another process is at it.
async fn expire(connection: &mut AsyncPgConnection, now: OffsetDateTime) -> Result<(), Failure> {
    if !(TryLock { lock: MAINTENANCE_LOCK }).get_result::<bool>(connection).await? {
        return Ok(());
    }
    diesel::delete(idempotency_keys::table)
        .filter(idempotency_keys::created_at.lt(now - Duration::hours(RETENTION_HOURS)))
        .execute(connection)
        .await?;
    uptime::prune(connection, now).await?;
    people::prune(connection, now).await?;
    alerts::prune_firings(connection, now).await?;
    social::retention::prune(connection, now).await?;
    Ok(())
}

statement!(
    DatabaseTime() -> Scalar<Timestamptz> = "SELECT now()"
);

statement!(
    /// Until the transaction ends.
    TryLock(lock: i64 => BigInt) -> Scalar<Bool> = "SELECT pg_try_advisory_xact_lock($1)"
);

/// Makes the partition of the month that begins on `first`. Rows of that month which the default partition took in
/// are moved, so that the partition can be attached.
async fn make_month(connection: &mut AsyncPgConnection, stream: Stream, first: Date) -> QueryResult<()> {
    let Stream { table, column } = stream;
    let name = partition(stream, first);
    if (IsThere { table: &name }).get_result::<bool>(connection).await? {
        return Ok(());
    }
    let (from, to) = (first, plus_months(first, 1));
    // A session that inserts meanwhile waits before its row is given to a partition: one that was on its way into the default
    // partition would be refused there once its month is attached.
    // One statement at a time: a distributed database passes the text of what changes a table on as it came.
    for statement in [
        format!("LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE"),
        format!("CREATE TABLE {name} (LIKE {table} INCLUDING DEFAULTS)"),
        format!(
            "WITH moved AS (
                 DELETE FROM {table}_default
                 WHERE {column} >= '{from} 00:00Z' AND {column} < '{to} 00:00Z' RETURNING *)
             INSERT INTO {name} SELECT * FROM moved"
        ),
        format!("ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ('{from} 00:00Z') TO ('{to} 00:00Z')"),
    ] {
        connection.batch_execute(&statement).await?;
    }
    Ok(())
}

statement!(
    IsThere<'a>(table: &'a str => Text) -> Scalar<Bool> = "
    SELECT EXISTS (SELECT FROM pg_class WHERE relname = $1 AND relnamespace = 'public'::regnamespace)"
);

statement!(
    /// The partitions of a table that come before one of the names that they have.
    PartitionsBefore<'a>(table: &'a str => Text, name: &'a str => Text) -> Scalar<Text> = "
    SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = $1::regclass AND c.relname ~ ('^' || $1 || '_[0-9]{6}$') AND c.relname::text < $2"
);

/// Drops the partitions of the months before `oldest`.
async fn drop_before(connection: &mut AsyncPgConnection, stream: Stream, oldest: Date) -> QueryResult<()> {
    let before = partition(stream, oldest);
    let partitions: Vec<String> = PartitionsBefore { table: stream.table, name: &before }.load(connection).await?;
    for name in partitions {
        connection.batch_execute(&format!("DROP TABLE {name}")).await?;
    }
    Ok(())
}

/// The name of a month's partition; names sort as their months do.
fn partition(stream: Stream, first: Date) -> String {
    format!("{}_{:04}{:02}", stream.table, first.year(), u8::from(first.month()))
}

fn month_of(day: Date) -> Date {
    day.replace_day(1).unwrap_or(day)
}

/// The first day of the month that many months back, 1970 at the earliest: no row is older, and the database knows no such
/// dates as the calendar's beginning.
fn months_ago(first: Date, months: u32) -> Date {
    plus_months(first, i32::try_from(months).unwrap_or(i32::MAX).saturating_neg()).max(EARLIEST)
}

/// The first day of the month that many months on; the calendar's ends hold it.
fn plus_months(first: Date, months: i32) -> Date {
    let index = first.year().saturating_mul(12).saturating_add(i32::from(u8::from(first.month())) - 1);
    let index = index.saturating_add(months);
    let month = u8::try_from(index.rem_euclid(12) + 1).ok().and_then(|month| Month::try_from(month).ok());
    month.and_then(|month| Date::from_calendar_date(index.div_euclid(12), month, 1).ok()).unwrap_or(if months < 0 {
        Date::MIN
    } else {
        Date::MAX
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(date!(2026-11-01), 2, date!(2027-01-01))]
    #[case(date!(2026-01-01), -1, date!(2025-12-01))]
    #[case(date!(2026-11-01), -25, date!(2024-10-01))]
    #[case(date!(2026-11-01), i32::MIN, Date::MIN)]
    fn months_are_counted_across_years(#[case] first: Date, #[case] months: i32, #[case] expected: Date) {
        assert_eq!(plus_months(first, months), expected);
    }

    #[rstest]
    #[case(25, date!(2024-10-01))]
    #[case(683, date!(1970-01-01))]
    #[case(u32::MAX, date!(1970-01-01))]
    fn nothing_is_older_than_1970(#[case] months: u32, #[case] oldest: Date) {
        assert_eq!(months_ago(date!(2026 - 11 - 01), months), oldest);
    }
}
