//! [`PersonStore`] on Postgres.

mod links;
mod sessions;

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    PersonId, StoreError, UserId,
    language::Language,
    people::{EmailAddress, Member, NewMember, Person, PersonStore, Theme},
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::error::{Failure, parse},
    schema::{memberships, people},
};

diesel::joinable!(memberships -> people (person_id));

#[derive(Queryable, Selectable)]
#[diesel(table_name = people, check_for_backend(diesel::pg::Pg))]
struct PersonRow {
    id: i64,
    email: String,
    name: String,
    language: Option<String>,
    theme: String,
    created_at: OffsetDateTime,
    disabled_at: Option<OffsetDateTime>,
}

impl TryFrom<PersonRow> for Person {
    type Error = StoreError;
    fn try_from(row: PersonRow) -> Result<Self, StoreError> {
        let PersonRow { id, email, name, language, theme, created_at, disabled_at } = row;
        Ok(Self {
            id: PersonId(id),
            email: parse(&email, "e-mail address")?,
            name,
            language: language.map(|language| parse(&language, "language")).transpose()?,
            theme: parse(&theme, "theme")?,
            created_at,
            disabled_at,
        })
    }
}

/// Removes the sessions and the links that are over.
pub(crate) async fn prune(connection: &mut AsyncPgConnection, now: OffsetDateTime) -> QueryResult<()> {
    sessions::prune(connection, now).await?;
    links::prune(connection, now).await
}

#[async_trait]
impl PersonStore for Store {
    async fn enroll(&self, member: NewMember, now: OffsetDateTime) -> Result<Person, StoreError> {
        let NewMember { user, role, email, name, language } = member;
        let row = self
            .transact::<_, Failure>(async |connection| {
                let row: PersonRow = diesel::insert_into(people::table)
                    .values((
                        people::email.eq(email.as_str()),
                        people::name.eq(&name),
                        people::language.eq(language.map(Language::as_str)),
                        people::theme.eq(Theme::System.as_str()),
                        people::created_at.eq(now),
                    ))
                    .on_conflict(people::email)
                    // Nothing changes, but the row is locked and comes back.
                    .do_update()
                    .set(people::email.eq(email.as_str()))
                    .returning(PersonRow::as_returning())
                    .get_result(connection)
                    .await?;
                diesel::insert_into(memberships::table)
                    .values((
                        memberships::user_id.eq(user.as_str()),
                        memberships::person_id.eq(row.id),
                        memberships::role.eq(role.as_str()),
                        memberships::created_at.eq(now),
                    ))
                    .on_conflict((memberships::user_id, memberships::person_id))
                    .do_update()
                    .set(memberships::role.eq(role.as_str()))
                    .execute(connection)
                    .await?;
                Ok(row)
            })
            .await?;
        row.try_into()
    }

    async fn find(&self, email: &EmailAddress) -> Result<Option<Person>, StoreError> {
        let row = self
            .run::<_, Failure>(async |connection| {
                Ok(people::table
                    .filter(people::email.eq(email.as_str()))
                    .select(PersonRow::as_select())
                    .first(connection)
                    .await
                    .optional()?)
            })
            .await?;
        row.map(Person::try_from).transpose()
    }

    async fn members(&self, user: &UserId) -> Result<Vec<Member>, StoreError> {
        let rows: Vec<(PersonRow, String, OffsetDateTime)> = self
            .run::<_, Failure>(async |connection| {
                Ok(memberships::table
                    .inner_join(people::table)
                    .filter(memberships::user_id.eq(user.as_str()))
                    .order(memberships::person_id)
                    .select((PersonRow::as_select(), memberships::role, memberships::created_at))
                    .load(connection)
                    .await?)
            })
            .await?;
        let member = |(person, role, since): (PersonRow, String, OffsetDateTime)| {
            Ok(Member { person: person.try_into()?, role: parse(&role, "role")?, since })
        };
        rows.into_iter().map(member).collect()
    }

    async fn set_view(
        &self,
        person: PersonId,
        name: &str,
        language: Option<Language>,
        theme: Theme,
    ) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| {
            diesel::update(people::table.find(person.0))
                .set((
                    people::name.eq(name),
                    people::language.eq(language.map(Language::as_str)),
                    people::theme.eq(theme.as_str()),
                ))
                .execute(connection)
                .await?;
            Ok(())
        })
        .await?;
        Ok(())
    }
}
