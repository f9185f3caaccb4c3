//! [`ExportStore`] on Postgres: rows of exports, and their bytes in pieces.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Bytea, Text, Timestamptz},
};
use domain::{
    AccountId, ExportId, StoreError,
    audit::Entry,
    exports::{Export, ExportLease, ExportStore, LISTED, State},
};
use time::OffsetDateTime;

use crate::{
    Store, accounts,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
        statement::Scalar,
    },
    people::audit,
    schema::{export_pieces, exports},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = exports, check_for_backend(diesel::pg::Pg))]
struct ExportRow {
    id: i64,
    state: String,
    row_count: i64,
    byte_count: i64,
    created_at: OffsetDateTime,
    finished_at: Option<OffsetDateTime>,
}

impl TryFrom<ExportRow> for Export {
    type Error = StoreError;
    fn try_from(row: ExportRow) -> Result<Self, StoreError> {
        let ExportRow { id, state, row_count, byte_count, created_at, finished_at } = row;
        let state = parse(&state, "state of an export")?;
        Ok(Self { id: ExportId(id), state, rows: row_count, bytes: byte_count, created_at, finished_at })
    }
}

row!(
    /// What an export is found by.
    struct KeyRow {
        account_id: i64 => BigInt,
        id: i64 => BigInt,
    }
);

statement!(
    /// Locks nothing: it looks at every account.
    Due(limit: i64 => BigInt) -> KeyRow = "
    SELECT account_id, id FROM exports
    WHERE state IN ('queued', 'running') AND (lease_until IS NULL OR lease_until <= now())
    ORDER BY created_at, account_id, id LIMIT $1"
);

statement!(
    /// Of all accounts. What is listed no longer is fetched no longer.
    Over(before: OffsetDateTime => Timestamptz, listed: i64 => BigInt, limit: i64 => BigInt) -> KeyRow = "
    SELECT account_id, id FROM (
        SELECT account_id, id, state, created_at, row_number() OVER (PARTITION BY account_id ORDER BY id DESC) AS place
        FROM exports) e
    WHERE created_at < $1 OR (place > $2 AND state IN ('done', 'failed')) LIMIT $3"
);

statement!(
    Lease(account: i64 => BigInt, id: i64 => BigInt, lease_seconds: i64 => BigInt) -> Scalar<BigInt> = "
    UPDATE exports SET state = 'running', row_count = 0, byte_count = 0, lease_number = lease_number + 1,
        lease_until = now() + $3 * interval '1 second'
    WHERE account_id = $1 AND id = $2 AND state IN ('queued', 'running')
        AND (lease_until IS NULL OR lease_until <= now())
    RETURNING lease_number"
);

statement!(
    Progress(
        account: i64 => BigInt,
        id: i64 => BigInt,
        number: i64 => BigInt,
        rows: i64 => BigInt,
        bytes: i64 => BigInt,
        lease_seconds: i64 => BigInt,
    ) -> () = "
    UPDATE exports SET row_count = $4, byte_count = $5, lease_until = now() + $6 * interval '1 second'
    WHERE account_id = $1 AND id = $2 AND lease_number = $3 AND state = 'running'"
);

statement!(
    /// While the lease is the newest. A piece that a worker before it sent late gives way.
    Append<'a>(
        account: i64 => BigInt,
        id: i64 => BigInt,
        lease: i64 => BigInt,
        number: i64 => BigInt,
        bytes: &'a [u8] => Bytea,
    ) -> () = "
    INSERT INTO export_pieces (account_id, export_id, number, bytes)
    SELECT $1, $2, $4, $5 FROM exports
    WHERE account_id = $1 AND id = $2 AND lease_number = $3 AND state = 'running'
    ON CONFLICT (account_id, export_id, number) DO UPDATE SET bytes = excluded.bytes"
);

statement!(
    /// Ends it while the lease is the newest.
    End(
        account: i64 => BigInt,
        id: i64 => BigInt,
        number: i64 => BigInt,
        state: &'static str => Text,
        rows: i64 => BigInt,
        bytes: i64 => BigInt,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    UPDATE exports SET state = $4, row_count = $5, byte_count = $6, finished_at = $7, lease_until = NULL
    WHERE account_id = $1 AND id = $2 AND lease_number = $3 AND state = 'running'"
);

#[async_trait]
impl ExportStore for Store {
    async fn request(&self, account: AccountId, note: Entry, now: OffsetDateTime) -> Result<ExportId, StoreError> {
        let id = self
            .transact::<_, Failure>(async |connection| {
                accounts::lock(connection, account).await?;
                let open = exports::table
                    .filter(exports::account_id.eq(account.0))
                    .filter(exports::state.eq_any([State::Queued.as_str(), State::Running.as_str()]))
                    .select(exports::id);
                if let Some(id) = open.first::<i64>(connection).await.optional()? {
                    return Ok(id);
                }
                audit::add(connection, &note, now).await?;
                Ok(diesel::insert_into(exports::table)
                    .values((
                        exports::account_id.eq(account.0),
                        exports::state.eq(State::Queued.as_str()),
                        exports::created_at.eq(now),
                    ))
                    .returning(exports::id)
                    .get_result(connection)
                    .await?)
            })
            .await?;
        Ok(ExportId(id))
    }

    async fn list(&self, account: AccountId) -> Result<Vec<Export>, StoreError> {
        let rows: Vec<ExportRow> = self
            .run::<_, Failure>(async |connection| {
                Ok(exports::table
                    .filter(exports::account_id.eq(account.0))
                    .order(exports::id.desc())
                    .limit(LISTED)
                    .select(ExportRow::as_select())
                    .load(connection)
                    .await?)
            })
            .await?;
        rows.into_iter().map(Export::try_from).collect()
    }

    async fn find(&self, account: AccountId, id: ExportId) -> Result<Option<Export>, StoreError> {
        let row: Option<ExportRow> = self
            .run::<_, Failure>(async |connection| {
                let found = exports::table.find((account.0, id.0)).select(ExportRow::as_select());
                Ok(found.first(connection).await.optional()?)
            })
            .await?;
        row.map(Export::try_from).transpose()
    }

    async fn piece(&self, account: AccountId, id: ExportId, number: i64) -> Result<Option<Vec<u8>>, StoreError> {
        let piece = self
            .run::<_, Failure>(async |connection| {
                let found = export_pieces::table.find((account.0, id.0, number));
                Ok(found.select(export_pieces::bytes).first(connection).await.optional()?)
            })
            .await?;
        Ok(piece)
    }

    async fn due(&self, limit: i64) -> Result<Vec<(AccountId, ExportId)>, StoreError> {
        let due = Due { limit };
        let rows: Vec<KeyRow> = self.run::<_, Failure>(async |connection| Ok(due.load(connection).await?)).await?;
        Ok(rows.into_iter().map(|KeyRow { account_id, id }| (AccountId(account_id), ExportId(id))).collect())
    }

    async fn lease(
        &self,
        account: AccountId,
        id: ExportId,
        lease_seconds: i64,
    ) -> Result<Option<ExportLease>, StoreError> {
        let lease = Lease { account: account.0, id: id.0, lease_seconds };
        let number: Option<i64> = self
            .transact::<_, Failure>(async |connection| {
                let number = lease.get_result(connection).await.optional()?;
                if number.is_some() {
                    let mine = export_pieces::account_id.eq(account.0).and(export_pieces::export_id.eq(id.0));
                    diesel::delete(export_pieces::table.filter(mine)).execute(connection).await?;
                }
                Ok(number)
            })
            .await?;
        Ok(number.map(|number| ExportLease { account, id, number }))
    }

    async fn progress(
        &self,
        lease: ExportLease,
        rows: i64,
        bytes: i64,
        lease_seconds: i64,
    ) -> Result<bool, StoreError> {
        let ExportLease { account, id, number } = lease;
        let progress = Progress { account: account.0, id: id.0, number, rows, bytes, lease_seconds };
        let held = self.run::<_, Failure>(async |connection| Ok(progress.execute(connection).await?)).await?;
        Ok(held > 0)
    }

    async fn append(&self, lease: ExportLease, number: i64, bytes: Vec<u8>) -> Result<bool, StoreError> {
        let ExportLease { account, id, number: of } = lease;
        let append = Append { account: account.0, id: id.0, lease: of, number, bytes: &bytes };
        let kept = self.run::<_, Failure>(async |connection| Ok(append.execute(connection).await?)).await?;
        Ok(kept > 0)
    }

    async fn end(
        &self,
        lease: ExportLease,
        state: State,
        (rows, bytes): (i64, i64),
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let ExportLease { account, id, number } = lease;
        let end = End { account: account.0, id: id.0, number, state: state.as_str(), rows, bytes, now };
        let ended = self.run::<_, Failure>(async |connection| Ok(end.execute(connection).await?)).await?;
        Ok(ended > 0)
    }

    async fn prune(&self, before: OffsetDateTime) -> Result<u64, StoreError> {
        let over = Over { before, listed: LISTED, limit: 1_000 };
        let rows: Vec<KeyRow> = self.run::<_, Failure>(async |connection| Ok(over.load(connection).await?)).await?;
        let mut removed = 0;
        for KeyRow { account_id: account, id } in rows {
            removed += self
                .transact::<_, Failure>(async |connection| {
                    let gone = diesel::delete(exports::table.find((account, id))).execute(connection).await?;
                    let pieces = export_pieces::account_id.eq(account).and(export_pieces::export_id.eq(id));
                    diesel::delete(export_pieces::table.filter(pieces)).execute(connection).await?;
                    Ok(gone as u64)
                })
                .await?;
        }
        Ok(removed)
    }
}
