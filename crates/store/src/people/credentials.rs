//! [`CredentialStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use diesel_async::AsyncPgConnection;
use domain::{
    PersonId, SessionId, StoreError,
    audit::Entry,
    log_in::{CredentialStore, Credentials},
    mail::Outgoing,
    people::EmailAddress,
    sessions::{Ended, TokenHash},
};
use time::OffsetDateTime;

use super::{PersonRow, audit, links, mails, sessions};
use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
        statement::Scalar,
    },
    schema::{devices, people, second_factors},
};

statement!(
    /// The user whose shop the person looked at last, else the one that the person has been a member of longest.
    Home(person: i64 => BigInt) -> Scalar<Nullable<Text>> = "
    SELECT user_id FROM memberships m WHERE person_id = $1
    ORDER BY (SELECT max(seen_at) FROM sessions s WHERE s.person_id = m.person_id AND s.user_id = m.user_id)
        DESC NULLS LAST, created_at, user_id
    LIMIT 1"
);

type Found = (PersonRow, Option<String>, Option<OffsetDateTime>);

async fn credentials(connection: &mut AsyncPgConnection, found: Found) -> Result<Credentials, Failure> {
    let (row, password, turned_on_at) = found;
    let home: Option<Option<String>> = Home { person: row.id }.get_result(connection).await.optional()?;
    let user = home.flatten().map(|id| parse(&id, "user id")).transpose()?;
    Ok(Credentials { person: row.try_into()?, password, has_second_factor: turned_on_at.is_some(), user })
}

/// People with what they prove who they are by.
#[diesel::dsl::auto_type]
fn known() -> _ {
    people::table.left_join(second_factors::table.on(second_factors::person_id.eq(people::id)))
}

macro_rules! found {
    ($store:expr, $filter:expr) => {
        $store
            .run::<_, Failure>(async |connection| {
                let found = known()
                    .filter($filter)
                    .select((PersonRow::as_select(), people::password, second_factors::turned_on_at.nullable()))
                    .first::<Found>(connection)
                    .await
                    .optional()?;
                match found {
                    Some(found) => Ok(Some(credentials(connection, found).await?)),
                    None => Ok(None),
                }
            })
            .await
    };
}

#[async_trait]
impl CredentialStore for Store {
    async fn by_email(&self, email: &EmailAddress) -> Result<Option<Credentials>, StoreError> {
        Ok(found!(self, people::email.eq(email.as_str()))?)
    }

    async fn of_person(&self, person: PersonId) -> Result<Option<Credentials>, StoreError> {
        Ok(found!(self, people::id.eq(person.0))?)
    }

    async fn rehash(&self, person: PersonId, old: &str, new: &str) -> Result<bool, StoreError> {
        let changed = self
            .run::<_, Failure>(async |connection| {
                Ok(diesel::update(people::table.find(person.0).filter(people::password.eq(old)))
                    .set(people::password.eq(new))
                    .execute(connection)
                    .await?)
            })
            .await?;
        Ok(changed > 0)
    }

    async fn set_password(
        &self,
        person: PersonId,
        password: &str,
        keep: SessionId,
        note: Entry,
        notice: Option<Outgoing>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        self.transact::<_, Failure>(async |connection| {
            let changed = diesel::update(people::table.find(person.0)).set(people::password.eq(password));
            changed.execute(connection).await?;
            sessions::end(connection, person.0, Ended::AllBut(keep)).await?;
            links::forget(connection, person.0).await?;
            if let Some(notice) = &notice {
                mails::put(connection, notice, now).await?;
            }
            audit::add(connection, &note, now).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn knows_device(&self, person: PersonId, device: TokenHash) -> Result<bool, StoreError> {
        let found = self
            .run::<_, Failure>(async |connection| {
                Ok(devices::table
                    .filter(devices::hash.eq(device.0.to_vec()).and(devices::person_id.eq(person.0)))
                    .select(devices::person_id)
                    .first::<i64>(connection)
                    .await
                    .optional()?)
            })
            .await?;
        Ok(found.is_some())
    }
}
