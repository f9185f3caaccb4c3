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
    credits::auto_topup::SwitchedOff,
    erasure::{Erasure, ErasureStore},
    mail::Notice,
};
use time::OffsetDateTime;

use crate::{
    Store,
    accounts::keys,
    credits::top_ups,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
    },
    people::{audit, mails},
    schema::{accounts, api_keys, auto_topups, erasures, sessions},
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

/// Ends the automatic charges of the user's accounts. Copies of them as of a day have no balance.
async fn stop_charges(connection: &mut AsyncPgConnection, user: &UserId, now: OffsetDateTime) -> QueryResult<()> {
    let all: Vec<i64> = accounts::table
        .filter(accounts::user_id.eq(user.as_str()))
        .filter(accounts::copy_of.is_null())
        .order(accounts::id)
        .select(accounts::id)
        .load(connection)
        .await?;
    for account in all {
        top_ups::switch_off(connection, AccountId(account), &SwitchedOff::DeletionAsked, now).await?;
    }
    Ok(())
}

/// Those of the users who have no charge that was sent and not answered: it may be paid, and the payment would be nobody's.
async fn without_charges(connection: &mut AsyncPgConnection, mut users: Vec<String>) -> QueryResult<Vec<String>> {
    let of: Vec<(i64, String)> = accounts::table
        .filter(accounts::user_id.eq_any(&users))
        .select((accounts::id, accounts::user_id))
        .load(connection)
        .await?;
    let ids: Vec<i64> = of.iter().map(|(id, _)| *id).collect();
    let unanswered: Vec<i64> = auto_topups::table
        .filter(auto_topups::account_id.eq_any(ids))
        .filter(auto_topups::state.eq("pending"))
        .filter(auto_topups::attempts.gt(0))
        .select(auto_topups::account_id)
        .load(connection)
        .await?;
    let waiting: Vec<String> = of.into_iter().filter(|(id, _)| unanswered.contains(id)).map(|(_, user)| user).collect();
    users.retain(|user| !waiting.contains(user));
    Ok(users)
}

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
            // The balances before the accounts' other rows, as everywhere.
            stop_charges(connection, user, now).await?;
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
                let due = due.select(erasures::user_id).load(connection).await?;
                Ok(without_charges(connection, due).await?)
            })
            .await?;
        users.iter().map(|user| parse(user, "user id")).collect()
    }
}
