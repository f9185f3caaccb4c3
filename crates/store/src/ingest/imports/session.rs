//! One import: a connection of its own, rows copied into tables of the session, one transaction that merges them.
//!
//! Temporary tables are not logged and end with the session, so an import that is killed leaves nothing.

use std::collections::BTreeSet;

use bytes::Bytes;
use domain::{
    AccountId, StoreError,
    imports::{ImportError, Target},
    zone::Zone,
};
use futures_util::SinkExt;
use time::{Date, OffsetDateTime};
use tokio_postgres::{Client, Error, Row, types::ToSql};

use super::{Importer, copy::CopyBuffer, pace::Pace};
use crate::database::error::driver_error;

/// What the merging session may use, and that it is not hurried: the limits of requests do not apply to it. Rows of
/// the tables that it joins are cheap to get, so compiling its statements would cost more than it saves, and rough
/// statistics of its own tables are enough.
const SETTINGS: &str = "SET TIME ZONE 'UTC'; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; \
    SET work_mem = '64MB'; SET temp_buffers = '64MB'; SET jit = off; \
    SET default_statistics_target = 10";

/// Days whose figures an import changes, and instants of which the day has still to be found: by the time zones that the days
/// are summed up by, which may be newer than those of the database.
pub(super) const DAYS_TABLE: &str =
    "CREATE TEMPORARY TABLE import_days (day date); CREATE TEMPORARY TABLE import_moments (at timestamptz);";

session_statement!(
    after [DAYS_TABLE] =>
    /// Notes a change that belongs to no day: how a product is called, or supplied.
    pub(super) MARK_TIMELESS() -> () = "INSERT INTO import_days VALUES (NULL)"
);

session_statement!(
    after [DAYS_TABLE] =>
    /// Days that wait to be summed up, those that a roll-up is at included: it may not see what this import changes, and which
    /// products it finds on them cannot be seen before it ends. To be run before the days of products are looked up, so that none
    /// is missed when it ends in between. Where it is not over by then, marking the days waits for it.
    pub(super) MARK_WAITING(account: BigInt) -> () = "INSERT INTO import_days SELECT day FROM touched_days WHERE account_id = $1"
);

pub(super) struct Session {
    client: Client,
    pace: Pace,
}

/// What statements of a merge need to know.
pub(super) struct Scope {
    pub account: i64,
    /// Cuts instants into days.
    pub timezone: String,
}

impl Session {
    /// Connects and makes the session's tables.
    pub async fn open(importer: &Importer, tables: &str) -> Result<Self, ImportError> {
        let client = importer.connect.client().await.map_err(driver_error)?;
        client.batch_execute(SETTINGS).await.map_err(driver_error)?;
        client.batch_execute(tables).await.map_err(driver_error)?;
        client.batch_execute(DAYS_TABLE).await.map_err(driver_error)?;
        Ok(Self { client, pace: importer.pace })
    }

    /// Refuses an account that is not there before anything is read.
    pub async fn require(&self, account: AccountId) -> Result<(), ImportError> {
        let row = self.client.query_opt(TIMEZONE, &[&account.0]).await.map_err(driver_error)?;
        row.map(|_| ()).ok_or(ImportError::UnknownAccount)
    }

    /// Sends what was gathered.
    pub async fn send(&self, buffer: &mut CopyBuffer) -> Result<(), StoreError> {
        let Some((statement, data)) = buffer.take() else { return Ok(()) };
        let copied = self.pace.of(async {
            let sink = self.client.copy_in::<_, Bytes>(&statement).await?;
            let mut sink = std::pin::pin!(sink);
            sink.as_mut().send(data).await?;
            sink.as_mut().finish().await
        });
        copied.await.map_err(driver_error)?;
        Ok(())
    }

    /// Sends what was gathered if it is worth it.
    pub async fn send_full(&self, buffer: &mut CopyBuffer) -> Result<(), StoreError> {
        if buffer.is_full() { self.send(buffer).await } else { Ok(()) }
    }

    /// Runs `work` in one transaction while no other import of the account runs, and marks the days that it put into
    /// the table `import_days`. Returns the work's result and how many days these were.
    ///
    /// The runner of the store's other transactions, [`Store::transact`](crate::Store), is for connections of the pool. This
    /// one needs the session that the rows were copied into, has no time limit, and is rolled back after a dry run that went
    /// well. After a conflict it is not run again: the import fails with nothing written, and is started again as a whole.
    pub async fn merge<T>(
        &mut self,
        target: Target,
        work: impl AsyncFnOnce(&Transaction<'_>, &Scope) -> Result<T, Error>,
    ) -> Result<(T, i64), ImportError> {
        let inner = self.client.transaction().await.map_err(driver_error)?;
        let transaction = Transaction { inner, pace: self.pace };
        let account = target.account.0;
        let merged: Result<_, Error> = async {
            // What waits for others, or has others wait, is followed by no pause: a wait is no work to pause for.
            transaction.inner.execute(LOCK, &[&account]).await?;
            let zone = transaction.query(TIMEZONE, &[&account]).await?;
            let Some(row) = zone.first() else { return Ok(None) };
            let scope = Scope { account, timezone: row.try_get("timezone")? };
            let result = work(&transaction, &scope).await?;
            let zone = scope.timezone.parse().unwrap_or_else(|_| Zone::utc());
            let days = mark_days(&transaction, &scope, &zone).await?;
            // After the days, as a roll-up has it, so that the two never wait for each other.
            transaction.inner.execute(RAISE_VERSION, &[&account]).await?;
            Ok(Some((result, days)))
        }
        .await;
        let Some(merged) = merged.map_err(driver_error)? else {
            return Err(ImportError::UnknownAccount);
        };
        transaction.end(target).await.map_err(driver_error)?;
        if target.dry_run {
            return Ok(merged);
        }
        if let Err(error) = self.analyze_grown().await {
            tracing::warn!(%error, "the statistics of tables that an import made larger could not be renewed");
        }
        Ok(merged)
    }

    /// Renews the statistics of tables that are more than twice as large as when they were made. Autovacuum looks once a
    /// minute; until then the plans of a history's next parts would be those for an empty table. Tables of a database that
    /// has grown up are left to autovacuum.
    async fn analyze_grown(&self) -> Result<(), Error> {
        let grown = self.client.query(GROWN, &[]).await?;
        let tables = grown.iter().map(|row| row.try_get("grown")).collect::<Result<Vec<&str>, _>>()?;
        if tables.is_empty() {
            return Ok(());
        }
        // The tables are everybody's, so the session's rough statistics are not enough.
        self.client.batch_execute(&format!("RESET default_statistics_target; ANALYZE {}", tables.join(", "))).await
    }
}

/// A transaction that pauses after each statement of the work in it.
pub(super) struct Transaction<'a> {
    inner: tokio_postgres::Transaction<'a>,
    pace: Pace,
}

impl Transaction<'_> {
    async fn end(self, target: Target) -> Result<(), Error> {
        if target.dry_run { self.inner.rollback().await } else { self.inner.commit().await }
    }

    pub async fn execute(&self, statement: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<u64, Error> {
        self.pace.of(self.inner.execute(statement, parameters)).await
    }

    pub async fn batch_execute(&self, statements: &str) -> Result<(), Error> {
        self.pace.of(self.inner.batch_execute(statements)).await
    }

    pub async fn query(&self, statement: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Error> {
        self.pace.of(self.inner.query(statement, parameters)).await
    }

    pub async fn query_one(&self, statement: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Row, Error> {
        self.pace.of(self.inner.query_one(statement, parameters)).await
    }
}

session_statement!(
    after [DAYS_TABLE] =>
    /// What belongs to no day is read by the next jobs all the same. An account that was never summed up has no results yet.
    RAISE_VERSION(account: BigInt) -> () = "UPDATE roll_ups SET version = version + 1
    WHERE account_id = $1 AND EXISTS (SELECT 1 FROM import_days WHERE day IS NULL)"
);

session_statement!(
    after [DAYS_TABLE] =>
    LOCK(account: BigInt) -> (lock: Text) = "SELECT pg_advisory_xact_lock(hashtextextended('import of account', $1))::text AS lock"
);

session_statement!(
    after [DAYS_TABLE] =>
    /// Below 16 pages a table is read in no time whatever the plan.
    GROWN() -> (grown: Text) = "SELECT oid::regclass::text AS grown FROM pg_class
    WHERE oid IN ('customers'::regclass, 'products'::regclass, 'orders'::regclass, 'order_lines'::regclass,
            'refunds'::regclass, 'refund_lines'::regclass, 'ad_entities'::regclass, 'ad_days'::regclass, 'ad_spend'::regclass)
        AND pg_relation_size(oid) > 2 * greatest(relpages, 8) * current_setting('block_size')::bigint"
);

session_statement!(
    after [DAYS_TABLE] =>
    TIMEZONE(account: BigInt) -> (timezone: Text) = "SELECT timezone FROM accounts WHERE id = $1"
);

session_statement!(
    after [DAYS_TABLE] =>
    /// The update of a day that is marked already is no waste: it makes a job that is about to sum that day up wait for this
    /// transaction, and so see its rows.
    MARK_DAYS(account: BigInt) -> () = "INSERT INTO touched_days (account_id, day) SELECT DISTINCT $1::bigint, day FROM import_days
    WHERE day IS NOT NULL ORDER BY day
    ON CONFLICT (account_id, day) DO UPDATE SET day = EXCLUDED.day"
);

session_statement!(
    after [DAYS_TABLE] =>
    /// By quarters of an hour: no zone has its midnight between two.
    MOMENTS() -> (at: Timestamptz) = "SELECT DISTINCT date_bin('15 minutes', at, 'epoch'::timestamptz) AS at FROM import_moments"
);

session_statement!(
    after [DAYS_TABLE] =>
    /// Given as one text, with commas.
    ADD_DAYS(days: Text) -> () = "INSERT INTO import_days SELECT unnest(string_to_array($1, ','))::date"
);

async fn mark_days(transaction: &Transaction<'_>, scope: &Scope, zone: &Zone) -> Result<i64, Error> {
    let moments = transaction.inner.query(MOMENTS, &[]).await?;
    let days: Result<BTreeSet<Date>, Error> =
        moments.iter().map(|row| row.try_get("at").map(|at: OffsetDateTime| zone.day_of(at))).collect();
    let days: Vec<String> = days?.iter().map(Date::to_string).collect();
    if !days.is_empty() {
        transaction.inner.execute(ADD_DAYS, &[&days.join(",")]).await?;
    }
    let days = transaction.inner.execute(MARK_DAYS, &[&scope.account]).await?;
    Ok(i64::try_from(days).unwrap_or(i64::MAX))
}
