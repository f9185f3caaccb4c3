//! [`SyncStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Bool, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, IntegrationId, StoreError,
    audit::Entry,
    events::{Instant, IntegrationBroken},
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    shops::{
        known_orders::Position,
        sync::{
            Cursor, DueSync, EndedRun, Failing, Failures, LeasedSync, Outcome, Progress, RunError, Stream, SyncLease,
            SyncStore,
        },
    },
};
use serde_json::json;
use time::OffsetDateTime;

use super::runs;
use crate::{
    Store,
    database::{
        error::{Failure, parse},
        idempotency::{self, WriteError},
        query::RunQueryDsl,
        statement::Scalar,
    },
    integrations,
    jobs::requests,
    people::audit,
    schema::{integrations as connections, sync_streams},
    webhooks::outbox,
};

statement!(
    /// Locks nothing: it looks at every account.
    Due(now: OffsetDateTime => Timestamptz, limit: i64 => BigInt) -> DueRow = "
    SELECT account_id, integration_id FROM integration_syncs
    WHERE due_at <= $1 AND (lease_until IS NULL OR lease_until <= now()) ORDER BY due_at, account_id LIMIT $2"
);

row!(
    struct DueRow {
        account_id: i64 => BigInt,
        integration_id: i64 => BigInt,
    }
);

row!(
    struct LeaseRow {
        lease_number: i64 => BigInt,
        due_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        paused_until: Option<OffsetDateTime> => Nullable<Timestamptz>,
    }
);

statement!(
    Lease(account: i64 => BigInt, id: i64 => BigInt, lease_seconds: i64 => BigInt) -> LeaseRow = "
    UPDATE integration_syncs
    SET lease_number = lease_number + 1, lease_until = now() + $3 * interval '1 second', is_hinted = false,
        told_due_at = NULL
    WHERE account_id = $1 AND integration_id = $2 AND due_at IS NOT NULL
        AND (lease_until IS NULL OR lease_until <= now())
    RETURNING lease_number, due_at, paused_until"
);

statement!(
    Heartbeat(
        account: i64 => BigInt,
        id: i64 => BigInt,
        number: i64 => BigInt,
        lease_seconds: i64 => BigInt,
    ) -> () = "
    UPDATE integration_syncs SET lease_until = now() + $4 * interval '1 second'
    WHERE account_id = $1 AND integration_id = $2 AND lease_number = $3 AND lease_until IS NOT NULL"
);

statement!(
    Release(
        account: i64 => BigInt,
        id: i64 => BigInt,
        number: i64 => BigInt,
        next_due: OffsetDateTime => Timestamptz,
        paused_until: Option<OffsetDateTime> => Nullable<Timestamptz>,
    ) -> () = "
    UPDATE integration_syncs SET lease_until = NULL, paused_until = $5,
        due_at = least($4, CASE WHEN is_hinted THEN due_at WHEN $5 IS NULL THEN told_due_at END)
    WHERE account_id = $1 AND integration_id = $2 AND lease_number = $3 AND lease_until IS NOT NULL"
);

statement!(
    Hint(account: i64 => BigInt, id: i64 => BigInt, now: OffsetDateTime => Timestamptz) -> () = "
    UPDATE integration_syncs SET is_hinted = true, due_at = least(due_at, $3)
    WHERE account_id = $1 AND integration_id = $2 AND due_at IS NOT NULL"
);

statement!(
    /// Whoever reads the connection may have passed what changed: it is due again, a minute later.
    HintOfChange(account: i64 => BigInt, id: i64 => BigInt, now: OffsetDateTime => Timestamptz) -> () = "
    UPDATE integration_syncs SET told_due_at = least(told_due_at, $3 + interval '1 minute'),
        due_at = least(due_at, greatest($3, paused_until, (SELECT i.last_sync_at + interval '1 minute'
            FROM integrations i WHERE i.account_id = $1 AND i.id = $2)))
    WHERE account_id = $1 AND integration_id = $2 AND due_at IS NOT NULL"
);

statement!(
    /// Locks the lease for the rest of the transaction, if it is still held.
    HoldLease(account: i64 => BigInt, id: i64 => BigInt, number: i64 => BigInt) -> Scalar<Bool> = "
    SELECT true FROM integration_syncs
    WHERE account_id = $1 AND integration_id = $2 AND lease_number = $3 AND lease_until IS NOT NULL FOR NO KEY UPDATE"
);

statement!(
    /// The back-fill goes backwards, everything else forwards: a cursor returns only when its stream is restarted. What was read
    /// in parts is at its end.
    MoveCursor(
        account: i64 => BigInt,
        id: i64 => BigInt,
        stream: &'static str => Text,
        at: OffsetDateTime => Timestamptz,
    ) -> () = "
    INSERT INTO sync_streams AS known (account_id, integration_id, stream, cursor_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (account_id, integration_id, stream) DO UPDATE SET
        cursor_at = CASE WHEN $3 = 'back_fill' THEN least(known.cursor_at, excluded.cursor_at)
            ELSE greatest(known.cursor_at, excluded.cursor_at) END,
        failures = 0, failing_since = NULL, failed_at = NULL, error_code = NULL, error_message = NULL,
        begun_at = NULL, reached_at = NULL, reached_number = NULL"
);

statement!(
    /// Notes up to which order a stream was read.
    KeepPlace(
        account: i64 => BigInt,
        id: i64 => BigInt,
        stream: &'static str => Text,
        begun_at: OffsetDateTime => Timestamptz,
        placed_at: OffsetDateTime => Timestamptz,
        number: i64 => BigInt,
    ) -> () = "
    INSERT INTO sync_streams (account_id, integration_id, stream, begun_at, reached_at, reached_number)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (account_id, integration_id, stream) DO UPDATE SET begun_at = excluded.begun_at,
        reached_at = excluded.reached_at, reached_number = excluded.reached_number,
        failures = 0, failing_since = NULL, failed_at = NULL, error_code = NULL, error_message = NULL"
);

statement!(
    /// Failures stay: nothing was read.
    Restart(
        account: i64 => BigInt,
        id: i64 => BigInt,
        stream: &'static str => Text,
        at: OffsetDateTime => Timestamptz,
    ) -> () = "
    UPDATE sync_streams SET cursor_at = $4 WHERE account_id = $1 AND integration_id = $2 AND stream = $3"
);

statement!(
    NoteFailure<'a>(
        account: i64 => BigInt,
        id: i64 => BigInt,
        stream: &'static str => Text,
        failures: i64 => BigInt,
        since: OffsetDateTime => Timestamptz,
        at: OffsetDateTime => Timestamptz,
        code: &'static str => Text,
        message: &'a str => Text,
    ) -> () = "
    INSERT INTO sync_streams (account_id, integration_id, stream, failures, failing_since, failed_at, error_code,
        error_message)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (account_id, integration_id, stream) DO UPDATE SET failures = excluded.failures,
        failing_since = excluded.failing_since, failed_at = excluded.failed_at, error_code = excluded.error_code,
        error_message = excluded.error_message"
);

statement!(
    /// The connection is as new as the platform's present that it has reached.
    Reach(account: i64 => BigInt, id: i64 => BigInt, at: OffsetDateTime => Timestamptz) -> () = "
    UPDATE integrations SET last_sync_at = greatest(last_sync_at, $3) WHERE account_id = $1 AND id = $2"
);

statement!(
    /// Mended once no stream fails any more.
    Mend(account: i64 => BigInt, id: i64 => BigInt) -> () = "
    UPDATE integrations SET broken_at = NULL WHERE account_id = $1 AND id = $2 AND broken_at IS NOT NULL
        AND NOT EXISTS (SELECT FROM sync_streams s
            WHERE s.account_id = $1 AND s.integration_id = $2 AND s.failures > 0)"
);

statement!(
    /// Gives a row when it was not broken before.
    Break(account: i64 => BigInt, id: i64 => BigInt, now: OffsetDateTime => Timestamptz) -> BrokenRow = "
    UPDATE integrations SET broken_at = $3 WHERE account_id = $1 AND id = $2 AND broken_at IS NULL
    RETURNING provider, shop, last_sync_at"
);

row!(
    struct BrokenRow {
        provider: String => Text,
        shop: String => Text,
        last_sync_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
    }
);

#[async_trait]
impl SyncStore for Store {
    async fn due(&self, now: OffsetDateTime, limit: i64) -> Result<Vec<DueSync>, StoreError> {
        let due = Due { now, limit };
        let rows: Vec<DueRow> = self.run::<_, Failure>(async |connection| Ok(due.load(connection).await?)).await?;
        let due = |DueRow { account_id, integration_id }| DueSync {
            account: AccountId(account_id),
            integration: IntegrationId(integration_id),
        };
        Ok(rows.into_iter().map(due).collect())
    }

    async fn lease(&self, due: DueSync, lease_seconds: i64) -> Result<Option<LeasedSync>, StoreError> {
        let leased = self.transact::<_, Failure>(async |connection| take(connection, due, lease_seconds).await).await?;
        Ok(leased)
    }

    async fn heartbeat(&self, lease: SyncLease, lease_seconds: i64) -> Result<bool, StoreError> {
        let SyncLease { account, integration, number } = lease;
        let beat = Heartbeat { account: account.0, id: integration.0, number, lease_seconds };
        let held = self.run::<_, Failure>(async |connection| Ok(beat.execute(connection).await?)).await?;
        Ok(held > 0)
    }

    async fn record(&self, lease: SyncLease, run: EndedRun) -> Result<Option<Failing>, StoreError> {
        Ok(self.transact::<_, Failure>(async |connection| record(connection, lease, &run).await).await?)
    }

    async fn release(&self, lease: SyncLease, next_due: OffsetDateTime) -> Result<(), StoreError> {
        let SyncLease { account, integration, number } = lease;
        let release = Release { account: account.0, id: integration.0, number, next_due, paused_until: None };
        self.run::<_, Failure>(async |connection| Ok(release.execute(connection).await?)).await?;
        Ok(())
    }

    async fn pause(&self, lease: SyncLease, until: OffsetDateTime) -> Result<(), StoreError> {
        let SyncLease { account, integration, number } = lease;
        let (account, id) = (account.0, integration.0);
        let release = Release { account, id, number, next_due: until, paused_until: Some(until) };
        self.run::<_, Failure>(async |connection| Ok(release.execute(connection).await?)).await?;
        Ok(())
    }

    async fn hint(&self, account: AccountId, id: IntegrationId, now: OffsetDateTime) -> Result<bool, StoreError> {
        let hint = Hint { account: account.0, id: id.0, now };
        Ok(self.run::<_, Failure>(async |connection| Ok(hint.execute(connection).await? > 0)).await?)
    }

    async fn hint_of_change(
        &self,
        account: AccountId,
        id: IntegrationId,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let hint = HintOfChange { account: account.0, id: id.0, now };
        self.run::<_, Failure>(async |connection| Ok(hint.execute(connection).await?)).await?;
        Ok(())
    }

    async fn ask(
        &self,
        account: AccountId,
        id: IntegrationId,
        key: Option<IdempotencyKey>,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<bool>, IdempotencyError> {
        let asked = self
            .transact::<_, WriteError<IdempotencyError>>(async |connection| {
                let key = key.as_ref();
                if let Some(key) = key
                    && idempotency::begin(connection, account, key, now).await?.is_some()
                {
                    return Ok(Idempotent { value: true, replayed: true });
                }
                let is_due = Hint { account: account.0, id: id.0, now }.execute(connection).await? > 0;
                if is_due && note.is_some() {
                    let shop = connections::table.find((account.0, id.0)).select(connections::shop);
                    let shop: String = shop.first(connection).await?;
                    audit::changed(connection, note, &shop, (None, None), now).await?;
                }
                if let (Some(key), true) = (key, is_due) {
                    idempotency::finish(connection, account, key, json!({}), now).await?;
                }
                Ok::<_, WriteError<IdempotencyError>>(Idempotent { value: is_due, replayed: false })
            })
            .await;
        asked.map_err(WriteError::into_refusal)
    }
}

/// How far a stream was read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = sync_streams, check_for_backend(diesel::pg::Pg))]
struct StreamRow {
    stream: String,
    cursor_at: Option<OffsetDateTime>,
    failed_at: Option<OffsetDateTime>,
    begun_at: Option<OffsetDateTime>,
    reached_at: Option<OffsetDateTime>,
    reached_number: Option<i64>,
}

async fn take(
    connection: &mut AsyncPgConnection,
    due: DueSync,
    lease_seconds: i64,
) -> Result<Option<LeasedSync>, Failure> {
    let DueSync { account, integration } = due;
    let lease = Lease { account: account.0, id: integration.0, lease_seconds };
    let Some(leased) = lease.get_result(connection).await.optional()? else { return Ok(None) };
    let LeaseRow { lease_number: number, due_at, paused_until } = leased;
    let Some(due_at) = due_at else { return Ok(None) };
    let Some(row) = integrations::one(connection, account, integration).await? else { return Ok(None) };
    let rows: Vec<StreamRow> = sync_streams::table
        .filter(sync_streams::account_id.eq(account.0))
        .filter(sync_streams::integration_id.eq(integration.0))
        .select(StreamRow::as_select())
        .load(connection)
        .await?;
    let (mut cursors, mut failed, mut rereading) = (Vec::new(), Vec::new(), None);
    for StreamRow { stream, cursor_at, failed_at, begun_at, reached_at, reached_number } in rows {
        let stream: Stream = parse(&stream, "stream")?;
        cursors.extend(cursor_at.map(|at| Cursor { stream, at }));
        failed.extend(failed_at.map(|at| Cursor { stream, at }));
        if let (Stream::Reread, Some(begun_at), Some(placed_at), Some(number)) =
            (stream, begun_at, reached_at, reached_number)
        {
            rereading = Some(Progress { begun_at, after: Position { placed_at, number } });
        }
    }
    let lease = SyncLease { account, integration, number };
    Ok(Some(LeasedSync { lease, due_at, paused_until, integration: row.try_into()?, cursors, failed, rereading }))
}

async fn record(
    connection: &mut AsyncPgConnection,
    lease: SyncLease,
    run: &EndedRun,
) -> Result<Option<Failing>, Failure> {
    let SyncLease { account: AccountId(account), integration: IntegrationId(id), number } = lease;
    let held: Option<bool> = HoldLease { account, id, number }.get_result(connection).await.optional()?;
    if held.is_none() {
        return Ok(None);
    }
    runs::insert(connection, lease, run).await?;
    let failing = match &run.outcome {
        Outcome::Done { cursor, reached, run_jobs } => {
            MoveCursor { account, id, stream: run.stream.as_str(), at: *cursor }.execute(connection).await?;
            if let Some(at) = *reached {
                Reach { account, id, at }.execute(connection).await?;
            }
            if *run_jobs {
                requests::insert(connection, lease.account, run.finished_at).await?;
            }
            Mend { account, id }.execute(connection).await?;
            Failing::default()
        }
        Outcome::InPart(progress) => {
            let Progress { begun_at, after: Position { placed_at, number } } = *progress;
            let keep = KeepPlace { account, id, stream: run.stream.as_str(), begun_at, placed_at, number };
            keep.execute(connection).await?;
            Mend { account, id }.execute(connection).await?;
            Failing::default()
        }
        Outcome::Restarted { cursor } => {
            Restart { account, id, stream: run.stream.as_str(), at: *cursor }.execute(connection).await?;
            Failing::default()
        }
        Outcome::Failed(error) => fail(connection, lease, run.stream, error, run.finished_at).await?,
    };
    Ok(Some(failing))
}

/// Notes the failure of a stream. When the connection became broken by it, that is said in the same transaction.
async fn fail(
    connection: &mut AsyncPgConnection,
    lease: SyncLease,
    stream: Stream,
    error: &RunError,
    now: OffsetDateTime,
) -> Result<Failing, Failure> {
    let (account, id) = (lease.account.0, lease.integration.0);
    let known: Option<(i64, Option<OffsetDateTime>)> = sync_streams::table
        .find((account, id, stream.as_str()))
        .select((sync_streams::failures, sync_streams::failing_since))
        .first(connection)
        .await
        .optional()?;
    let known = known.and_then(|(count, since)| Some(Failures { count, since: since? }));
    let failures = Failures::with_another(known, now);
    let RunError { code, message } = error;
    let note = NoteFailure {
        account,
        id,
        stream: stream.as_str(),
        failures: failures.count,
        since: failures.since,
        at: now,
        code: code.as_str(),
        message,
    };
    note.execute(connection).await?;
    let failing = Failing { failures: failures.count, became_broken: false };
    if !failures.are_broken(now) {
        return Ok(failing);
    }
    let broken: Option<BrokenRow> = Break { account, id, now }.get_result(connection).await.optional()?;
    let Some(BrokenRow { provider, shop, last_sync_at }) = broken else { return Ok(failing) };
    let event = IntegrationBroken {
        provider,
        shop,
        reason: message.clone(),
        last_sync_at: last_sync_at.map(Instant),
        code: *code,
        since: Instant(failures.since),
    };
    outbox::emit(connection, lease.account, &[event.into()], now).await?;
    Ok(Failing { became_broken: true, ..failing })
}
