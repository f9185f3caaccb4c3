//! [`UploadStore`] on Postgres: rows of uploads, and their bytes in pieces.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError, UploadId,
    audit::Entry,
    page::{Page, PageRequest},
    uploads::{
        ARRIVES_WITHIN, Ended, KEPT, Kind, MOST_PIECES, MOST_WAITING, Part, Reading, State, Upload, UploadLease,
        UploadStore,
    },
};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::{
    Store, accounts,
    database::{
        error::{Failure, corrupt, parse},
        query::RunQueryDsl,
        statement::Scalar,
    },
    jobs::requests,
    people::audit,
    schema::{upload_pieces, uploads},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = uploads, check_for_backend(diesel::pg::Pg))]
struct UploadRow {
    id: i64,
    kind: String,
    name: String,
    bytes: i64,
    state: String,
    reading: Value,
    read_bytes: i64,
    outcome: Option<Value>,
    error: Option<String>,
    is_unreadable: bool,
    lost_leases: i64,
    created_at: OffsetDateTime,
    finished_at: Option<OffsetDateTime>,
}

impl TryFrom<UploadRow> for Upload {
    type Error = StoreError;
    fn try_from(row: UploadRow) -> Result<Self, StoreError> {
        let UploadRow {
            id,
            kind,
            name,
            bytes,
            state,
            reading,
            read_bytes,
            outcome,
            error,
            is_unreadable,
            lost_leases,
            created_at,
            finished_at,
        } = row;
        Ok(Self {
            id: UploadId(id),
            kind: parse(&kind, "kind of an upload")?,
            name,
            bytes,
            state: parse(&state, "state of an upload")?,
            reading: serde_json::from_value(reading).map_err(|_| corrupt("way to read an upload"))?,
            read_bytes,
            outcome: outcome.map(serde_json::from_value).transpose().map_err(|_| corrupt("outcome of an upload"))?,
            error,
            is_unreadable,
            lost_leases,
            created_at,
            finished_at,
        })
    }
}

/// What an upload is found by.
#[derive(Queryable, Selectable)]
#[diesel(table_name = uploads, check_for_backend(diesel::pg::Pg))]
struct Key {
    account_id: i64,
    id: i64,
}

row!(
    struct DueRow {
        account_id: i64 => BigInt,
        id: i64 => BigInt,
    }
);

statement!(
    /// Locks nothing: it looks at every account.
    Due(limit: i64 => BigInt) -> DueRow = "
    SELECT account_id, (array_agg(id ORDER BY coalesce(queued_at, created_at), id))[1] AS id FROM uploads
    WHERE state IN ('queued', 'running')
    GROUP BY account_id HAVING count(*) FILTER (WHERE lease_until > now()) = 0
    ORDER BY min(coalesce(queued_at, created_at)), account_id LIMIT $1"
);

statement!(
    /// Where there is a lease already, it ran out: its worker died.
    Lease(account: i64 => BigInt, id: i64 => BigInt, lease_seconds: i64 => BigInt) -> Scalar<BigInt> = "
    UPDATE uploads SET state = 'running', read_bytes = 0, lease_number = lease_number + 1,
        lost_leases = lost_leases + (state = 'running')::int,
        lease_until = now() + $3 * interval '1 second', queued_at = now()
    WHERE account_id = $1 AND id = $2 AND state IN ('queued', 'running')
        AND (lease_until IS NULL OR lease_until <= now())
    RETURNING lease_number"
);

statement!(
    /// When one of an account is taken, and when it ends, its others wait anew.
    WaitAnew(account: i64 => BigInt) -> () = "
    UPDATE uploads SET queued_at = now() WHERE account_id = $1 AND state = 'queued'"
);

statement!(
    Progress(
        account: i64 => BigInt,
        id: i64 => BigInt,
        number: i64 => BigInt,
        read_bytes: i64 => BigInt,
        lease_seconds: i64 => BigInt,
    ) -> () = "
    UPDATE uploads SET read_bytes = $4, lease_until = now() + $5 * interval '1 second'
    WHERE account_id = $1 AND id = $2 AND lease_number = $3 AND state = 'running'"
);

statement!(
    /// Ends it while the lease is the newest.
    End<'a>(
        account: i64 => BigInt,
        id: i64 => BigInt,
        number: i64 => BigInt,
        state: &'static str => Text,
        outcome: Option<Value> => Nullable<diesel::sql_types::Jsonb>,
        error: Option<&'a str> => Nullable<Text>,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    UPDATE uploads SET state = $4, outcome = $5, error = $6, finished_at = $7, lease_until = NULL
    WHERE account_id = $1 AND id = $2 AND lease_number = $3 AND state = 'running'"
);

/// Removes the pieces of a part of an upload, or of all of it.
async fn remove_pieces(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: UploadId,
    part: Option<Part>,
) -> Result<(), Failure> {
    let mut pieces = diesel::delete(upload_pieces::table)
        .filter(upload_pieces::account_id.eq(account.0))
        .filter(upload_pieces::upload_id.eq(id.0))
        .into_boxed();
    if let Some(part) = part {
        pieces = pieces.filter(upload_pieces::part.eq(part.as_str()));
    }
    pieces.execute(connection).await?;
    Ok(())
}

/// A piece that is there already gives way.
async fn insert_piece(
    connection: &mut AsyncPgConnection,
    (account, id): (AccountId, UploadId),
    part: Part,
    number: i64,
    bytes: &[u8],
) -> Result<(), Failure> {
    diesel::insert_into(upload_pieces::table)
        .values((
            upload_pieces::account_id.eq(account.0),
            upload_pieces::upload_id.eq(id.0),
            upload_pieces::part.eq(part.as_str()),
            upload_pieces::number.eq(number),
            upload_pieces::bytes.eq(bytes),
        ))
        .on_conflict((upload_pieces::account_id, upload_pieces::upload_id, upload_pieces::part, upload_pieces::number))
        .do_update()
        .set(upload_pieces::bytes.eq(bytes))
        .execute(connection)
        .await?;
    Ok(())
}

#[async_trait]
impl UploadStore for Store {
    async fn begin(
        &self,
        account: AccountId,
        kind: Kind,
        name: &str,
        now: OffsetDateTime,
    ) -> Result<Option<UploadId>, StoreError> {
        let id: Option<i64> = self
            .transact::<_, Failure>(async |connection| {
                // So that what is counted stays so until the row is there.
                accounts::lock(connection, account).await?;
                // What should have arrived long ago only waits to be removed.
                let arrives = uploads::created_at.gt(now - ARRIVES_WITHIN);
                let waiting = uploads::table
                    .filter(uploads::account_id.eq(account.0))
                    .filter(uploads::state.ne(State::Done.as_str()))
                    .filter(uploads::state.ne(State::Arriving.as_str()).or(arrives));
                let waiting: i64 = waiting.count().get_result(connection).await?;
                let pieces = upload_pieces::table.filter(upload_pieces::account_id.eq(account.0));
                let pieces: i64 = pieces.count().get_result(connection).await?;
                if waiting >= MOST_WAITING || pieces >= MOST_PIECES {
                    return Ok(None);
                }
                let row = (
                    uploads::account_id.eq(account.0),
                    uploads::kind.eq(kind.as_str()),
                    uploads::name.eq(name),
                    uploads::state.eq(State::Arriving.as_str()),
                    uploads::created_at.eq(now),
                );
                let insert = diesel::insert_into(uploads::table).values(row).returning(uploads::id);
                Ok(Some(insert.get_result(connection).await?))
            })
            .await?;
        Ok(id.map(UploadId))
    }

    async fn append(&self, account: AccountId, id: UploadId, number: i64, bytes: Vec<u8>) -> Result<bool, StoreError> {
        let is_kept = self
            .transact::<_, Failure>(async |connection| {
                // A transaction that removes the upload waits for the piece, and removes it as well.
                let arriving = uploads::table
                    .find((account.0, id.0))
                    .filter(uploads::state.eq(State::Arriving.as_str()))
                    .select(uploads::id)
                    .for_key_share();
                let arriving: Option<i64> = arriving.first(connection).await.optional()?;
                if arriving.is_none() {
                    return Ok(false);
                }
                insert_piece(connection, (account, id), Part::File, number, &bytes).await?;
                Ok(true)
            })
            .await?;
        Ok(is_kept)
    }

    async fn arrived(
        &self,
        account: AccountId,
        id: UploadId,
        bytes: i64,
        is_unreadable: bool,
    ) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| {
            diesel::update(uploads::table.find((account.0, id.0)))
                .filter(uploads::state.eq(State::Arriving.as_str()))
                .set((
                    uploads::state.eq(State::Ready.as_str()),
                    uploads::bytes.eq(bytes),
                    uploads::is_unreadable.eq(is_unreadable),
                ))
                .execute(connection)
                .await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn find(&self, account: AccountId, id: UploadId) -> Result<Option<Upload>, StoreError> {
        let row: Option<UploadRow> = self
            .run::<_, Failure>(async |connection| {
                let found = uploads::table.find((account.0, id.0)).select(UploadRow::as_select());
                Ok(found.first(connection).await.optional()?)
            })
            .await?;
        row.map(Upload::try_from).transpose()
    }

    async fn page(&self, account: AccountId, page: PageRequest) -> Result<Page<Upload>, StoreError> {
        let PageRequest { limit, cursor } = page;
        let rows: Vec<UploadRow> = self
            .run::<_, Failure>(async |connection| {
                Ok(uploads::table
                    .filter(uploads::account_id.eq(account.0))
                    .filter(uploads::id.lt(cursor.unwrap_or(i64::MAX)))
                    .filter(uploads::state.ne(State::Arriving.as_str()))
                    .order(uploads::id.desc())
                    .limit(limit.saturating_add(1))
                    .select(UploadRow::as_select())
                    .load(connection)
                    .await?)
            })
            .await?;
        let found = rows.into_iter().map(Upload::try_from).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::cut(found, limit, |upload| upload.id.0))
    }

    async fn piece(
        &self,
        account: AccountId,
        id: UploadId,
        part: Part,
        number: i64,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let piece = self
            .run::<_, Failure>(async |connection| {
                let found = upload_pieces::table.find((account.0, id.0, part.as_str(), number));
                Ok(found.select(upload_pieces::bytes).first(connection).await.optional()?)
            })
            .await?;
        Ok(piece)
    }

    async fn queue(
        &self,
        account: AccountId,
        id: UploadId,
        reading: &Reading,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let reading = serde_json::to_value(reading).map_err(|_| corrupt("way to read an upload"))?;
        let queued = self
            .transact::<_, Failure>(async |connection| {
                let queued: Option<(String, String)> = diesel::update(uploads::table.find((account.0, id.0)))
                    .filter(uploads::state.eq_any([State::Ready.as_str(), State::Failed.as_str()]))
                    .set((
                        uploads::state.eq(State::Queued.as_str()),
                        uploads::reading.eq(reading),
                        uploads::error.eq(None::<String>),
                        uploads::lost_leases.eq(0_i64),
                        uploads::queued_at.eq(diesel::dsl::now),
                        uploads::finished_at.eq(None::<OffsetDateTime>),
                    ))
                    .returning((uploads::name, uploads::kind))
                    .get_result(connection)
                    .await
                    .optional()?;
                let Some((name, kind)) = queued else { return Ok(false) };
                audit::changed(connection, note, &name, (None, Some(json!({ "kind": kind }))), now).await?;
                Ok(true)
            })
            .await?;
        Ok(queued)
    }

    async fn discard(
        &self,
        account: AccountId,
        id: UploadId,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let done = self
            .transact::<_, Failure>(async |connection| {
                let removed: Option<String> = diesel::delete(uploads::table.find((account.0, id.0)))
                    .filter(uploads::state.ne(State::Running.as_str()))
                    .returning(uploads::name)
                    .get_result(connection)
                    .await
                    .optional()?;
                let Some(name) = removed else { return Ok(false) };
                remove_pieces(connection, account, id, None).await?;
                audit::changed(connection, note, &name, (None, None), now).await?;
                Ok(true)
            })
            .await?;
        Ok(done)
    }

    async fn due(&self, limit: i64) -> Result<Vec<(AccountId, UploadId)>, StoreError> {
        let due = Due { limit };
        let rows: Vec<DueRow> = self.run::<_, Failure>(async |connection| Ok(due.load(connection).await?)).await?;
        Ok(rows.into_iter().map(|DueRow { account_id, id }| (AccountId(account_id), UploadId(id))).collect())
    }

    async fn lease(
        &self,
        account: AccountId,
        id: UploadId,
        lease_seconds: i64,
    ) -> Result<Option<(UploadLease, Upload)>, StoreError> {
        let lease = Lease { account: account.0, id: id.0, lease_seconds };
        let number: Option<i64> = self
            .transact::<_, Failure>(async |connection| {
                let number = lease.get_result(connection).await.optional()?;
                if number.is_some() {
                    WaitAnew { account: account.0 }.execute(connection).await?;
                    remove_pieces(connection, account, id, Some(Part::Rejects)).await?;
                }
                Ok(number)
            })
            .await?;
        let Some(number) = number else { return Ok(None) };
        let upload = UploadStore::find(self, account, id).await?;
        Ok(upload.map(|upload| (UploadLease { account, id, number }, upload)))
    }

    async fn progress(&self, lease: UploadLease, read_bytes: i64, lease_seconds: i64) -> Result<bool, StoreError> {
        let UploadLease { account, id, number } = lease;
        let progress = Progress { account: account.0, id: id.0, number, read_bytes, lease_seconds };
        let held = self.run::<_, Failure>(async |connection| Ok(progress.execute(connection).await?)).await?;
        Ok(held > 0)
    }

    async fn release(&self, lease: UploadLease) -> Result<(), StoreError> {
        self.transact::<_, Failure>(async |connection| {
            diesel::update(uploads::table.find((lease.account.0, lease.id.0)))
                .filter(uploads::lease_number.eq(lease.number))
                .filter(uploads::state.eq(State::Running.as_str()))
                .set((uploads::state.eq(State::Queued.as_str()), uploads::lease_until.eq(None::<OffsetDateTime>)))
                .execute(connection)
                .await?;
            WaitAnew { account: lease.account.0 }.execute(connection).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn add_rejects(&self, lease: UploadLease, number: i64, bytes: Vec<u8>) -> Result<(), StoreError> {
        let UploadLease { account, id, number: lease_number } = lease;
        self.transact::<_, Failure>(async |connection| {
            // A transaction that takes the lease, or removes the upload, waits for the piece, and removes it as well.
            let held = uploads::table
                .find((account.0, id.0))
                .filter(uploads::lease_number.eq(lease_number))
                .filter(uploads::state.eq(State::Running.as_str()))
                .select(uploads::id)
                .for_share();
            let held: Option<i64> = held.first(connection).await.optional()?;
            if held.is_some() {
                insert_piece(connection, (account, id), Part::Rejects, number, &bytes).await?;
            }
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn end(&self, lease: UploadLease, ended: Ended, now: OffsetDateTime) -> Result<bool, StoreError> {
        let UploadLease { account, id, number } = lease;
        let (state, outcome, error) = match &ended {
            Ended::Done(outcome) => (State::Done, Some(outcome), None),
            Ended::Failed(error) => (State::Failed, None, Some(error.as_str())),
        };
        let outcome = outcome.map(serde_json::to_value).transpose().map_err(|_| corrupt("outcome of an upload"))?;
        let done = self
            .transact::<_, Failure>(async |connection| {
                let (state, outcome) = (state.as_str(), outcome.clone());
                let end = End { account: account.0, id: id.0, number, state, outcome, error, now };
                if end.execute(connection).await? == 0 {
                    return Ok(false);
                }
                WaitAnew { account: account.0 }.execute(connection).await?;
                if matches!(ended, Ended::Done(_)) {
                    remove_pieces(connection, account, id, Some(Part::File)).await?;
                    requests::insert(connection, account, now).await?;
                }
                Ok(true)
            })
            .await?;
        Ok(done)
    }

    async fn prune(&self, now: OffsetDateTime) -> Result<u64, StoreError> {
        let is_old = uploads::created_at.lt(now - KEPT);
        let is_late = uploads::state.eq(State::Arriving.as_str()).and(uploads::created_at.lt(now - ARRIVES_WITHIN));
        let rows: Vec<(Key, String)> = self
            .run::<_, Failure>(async |connection| {
                Ok(uploads::table
                    .filter(is_old.or(is_late))
                    .filter(uploads::state.ne_all([State::Queued.as_str(), State::Running.as_str()]))
                    .select((Key::as_select(), uploads::state))
                    .limit(1_000)
                    .load(connection)
                    .await?)
            })
            .await?;
        let mut removed = 0;
        for (Key { account_id, id }, state) in rows {
            let is_gone = self.transact::<_, Failure>(async |connection| {
                // What has arrived, or is to be imported, since it was looked at stays.
                let same = uploads::table.find((account_id, id)).filter(uploads::state.eq(&state));
                if diesel::delete(same).execute(connection).await? == 0 {
                    return Ok(false);
                }
                remove_pieces(connection, AccountId(account_id), UploadId(id), None).await?;
                Ok(true)
            });
            removed += u64::from(is_gone.await?);
        }
        Ok(removed)
    }
}
