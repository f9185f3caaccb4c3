//! [`ErasureStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError, UserId,
    audit::Entry,
    erasure::{Erasure, ErasureStore},
    mail::Notice,
};
use time::OffsetDateTime;

use crate::{
    Store,
    accounts::keys,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
    },
    people::{audit, mails},
    schema::{accounts, api_keys, erasures, sessions},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = erasures, check_for_backend(diesel::pg::Pg))]
struct ErasureRow {
    requested_at: OffsetDateTime,
    due_at: OffsetDateTime,
}

statement!(
    /// One that is coming stays as it is.
    Ask<'a>(user: &'a str => Text, at: OffsetDateTime => Timestamptz, due: OffsetDateTime => Timestamptz) -> () = "
    INSERT INTO erasures (user_id, requested_at, due_at) VALUES ($1, $2, $3) ON CONFLICT (user_id) DO NOTHING"
);

/// Revokes every key of the user's accounts, and has all processes forget them.
async fn revoke_keys(connection: &mut AsyncPgConnection, user: &UserId, now: OffsetDateTime) -> QueryResult<()> {
    let all: Vec<i64> =
        accounts::table.filter(accounts::user_id.eq(user.as_str())).select(accounts::id).load(connection).await?;
    for account in all {
        keys::announce_account(connection, AccountId(account)).await?;
        diesel::update(api_keys::table.filter(api_keys::account_id.eq(account)))
            .filter(api_keys::revoked_at.is_null())
            .set(api_keys::revoked_at.eq(now))
            .execute(connection)
            .await?;
    }
    Ok(())
}

#[async_trait]
impl ErasureStore for Store {
    async fn request(&self, user: &UserId, erasure: Erasure, note: Entry) -> Result<(), StoreError> {
        let Erasure { requested_at: now, due_at } = erasure;
        self.transact::<_, Failure>(async |connection| {
            let ask = Ask { user: user.as_str(), at: now, due: due_at };
            if ask.execute(connection).await? == 0 {
                return Ok(());
            }
            audit::add(connection, &note, now).await?;
            mails::tell_owners(connection, user, Notice::ErasureRequested, now).await?;
            revoke_keys(connection, user, now).await?;
            diesel::delete(sessions::table.filter(sessions::user_id.eq(user.as_str()))).execute(connection).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn standing(&self, user: &UserId) -> Result<Option<Erasure>, StoreError> {
        let row: Option<ErasureRow> = self
            .run::<_, Failure>(async |connection| {
                let found = erasures::table.find(user.as_str()).select(ErasureRow::as_select());
                Ok(found.first(connection).await.optional()?)
            })
            .await?;
        Ok(row.map(|ErasureRow { requested_at, due_at }| Erasure { requested_at, due_at }))
    }

    async fn undo(&self, user: &UserId, note: Entry, now: OffsetDateTime) -> Result<bool, StoreError> {
        let undone = self
            .transact::<_, Failure>(async |connection| {
                // What is due may have begun.
                let coming =
                    erasures::table.filter(erasures::user_id.eq(user.as_str())).filter(erasures::due_at.gt(now));
                if diesel::delete(coming).execute(connection).await? == 0 {
                    return Ok(false);
                }
                audit::add(connection, &note, now).await?;
                Ok(true)
            })
            .await?;
        Ok(undone)
    }

    async fn due(&self, now: OffsetDateTime, limit: i64) -> Result<Vec<UserId>, StoreError> {
        let users: Vec<String> = self
            .run::<_, Failure>(async |connection| {
                let due = erasures::table.filter(erasures::due_at.le(now)).order(erasures::due_at).limit(limit);
                Ok(due.select(erasures::user_id).load(connection).await?)
            })
            .await?;
        users.iter().map(|user| parse(user, "user id")).collect()
    }
}
