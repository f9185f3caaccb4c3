//! [`PersonStore`] on Postgres.

pub(crate) mod audit;
mod credentials;
mod links;
mod mail_links;
pub(crate) mod mails;
mod second_factors;
mod sessions;
mod throttles;

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    PersonId, StoreError, UserId,
    accounts::Mode,
    audit::Entry,
    language::Language,
    people::{EmailAddress, Invited, Member, MemberError, NewMember, Person, PersonStore, Role, Shop, Theme},
    sessions::Ended,
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
        transact::Rollback,
    },
    schema::{accounts, memberships, people, sessions as session_rows},
};

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

#[derive(Queryable, Selectable)]
#[diesel(table_name = memberships, check_for_backend(diesel::pg::Pg))]
struct MemberRow {
    #[diesel(embed)]
    person: PersonRow,
    role: String,
    created_at: OffsetDateTime,
}

impl TryFrom<MemberRow> for Member {
    type Error = StoreError;
    fn try_from(row: MemberRow) -> Result<Self, StoreError> {
        let MemberRow { person, role, created_at } = row;
        Ok(Self { person: person.try_into()?, role: parse(&role, "role")?, since: created_at })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = memberships, check_for_backend(diesel::pg::Pg))]
struct ShopRow {
    user_id: String,
    #[diesel(select_expression = accounts::name)]
    name: String,
    role: String,
}

impl TryFrom<ShopRow> for Shop {
    type Error = StoreError;
    fn try_from(row: ShopRow) -> Result<Self, StoreError> {
        let ShopRow { user_id, name, role } = row;
        Ok(Self { user: parse(&user_id, "user id")?, name, role: parse(&role, "role")? })
    }
}

statement!(
    /// Those that wait to be sent, and the links of the others. Of one whose sending failed there are both.
    Invitations<'a>(user: &'a str => Text, now: OffsetDateTime => Timestamptz) -> InvitationRow = "
    WITH waiting AS (
        SELECT recipient, facts ->> 'role' AS role, created_at FROM mails
        WHERE facts ->> 'kind' = 'invitation' AND facts ->> 'user' = $1)
    SELECT email, role, expires_at FROM (
        SELECT recipient AS email, role, created_at, NULL::timestamptz AS expires_at FROM waiting
        UNION ALL SELECT details ->> 'email', details ->> 'role', created_at, expires_at FROM links
        WHERE user_id = $1 AND purpose = 'invitation' AND expires_at > $2
            AND details ->> 'email' NOT IN (SELECT recipient FROM waiting)
    ) invitations ORDER BY created_at DESC"
);

row!(
    struct InvitationRow {
        email: String => Text,
        role: Option<String> => Nullable<Text>,
        expires_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
    }
);

impl TryFrom<InvitationRow> for Invited {
    type Error = StoreError;
    fn try_from(row: InvitationRow) -> Result<Self, StoreError> {
        let InvitationRow { email, role, expires_at } = row;
        let role = role.map(|role| parse(&role, "role")).transpose()?;
        Ok(Self { email: parse(&email, "e-mail address")?, role: role.unwrap_or(Role::Viewer), expires_at })
    }
}

/// Removes the sessions, links, mails, challenges and counters that are over.
pub(crate) async fn prune(connection: &mut AsyncPgConnection, now: OffsetDateTime) -> QueryResult<()> {
    sessions::prune(connection, now).await?;
    links::prune(connection, now).await?;
    mails::prune(connection, now).await?;
    second_factors::prune(connection, now).await?;
    throttles::prune(connection, now).await
}

/// A new person.
async fn insert(
    connection: &mut AsyncPgConnection,
    (email, name, password): (&str, &str, Option<&str>),
    language: Option<Language>,
    now: OffsetDateTime,
) -> QueryResult<i64> {
    diesel::insert_into(people::table)
        .values((
            people::email.eq(email),
            people::name.eq(name),
            people::password.eq(password),
            people::language.eq(language.map(Language::as_str)),
            people::theme.eq(Theme::System.as_str()),
            people::created_at.eq(now),
        ))
        .returning(people::id)
        .get_result(connection)
        .await
}

/// A membership, or the new role of one.
async fn enlist(
    connection: &mut AsyncPgConnection,
    user: &str,
    person: i64,
    role: Role,
    now: OffsetDateTime,
) -> QueryResult<usize> {
    diesel::insert_into(memberships::table)
        .values((
            memberships::user_id.eq(user),
            memberships::person_id.eq(person),
            memberships::role.eq(role.as_str()),
            memberships::created_at.eq(now),
        ))
        .on_conflict((memberships::user_id, memberships::person_id))
        .do_update()
        .set(memberships::role.eq(role.as_str()))
        .execute(connection)
        .await
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
                enlist(connection, user.as_str(), row.id, role, now).await?;
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
        let rows: Vec<MemberRow> = self
            .run::<_, Failure>(async |connection| {
                Ok(memberships::table
                    .inner_join(people::table)
                    .filter(memberships::user_id.eq(user.as_str()))
                    .order(memberships::person_id)
                    .select(MemberRow::as_select())
                    .load(connection)
                    .await?)
            })
            .await?;
        rows.into_iter().map(Member::try_from).collect()
    }

    async fn shops(&self, person: PersonId) -> Result<Vec<Shop>, StoreError> {
        let live = accounts::user_id.eq(memberships::user_id).and(accounts::mode.eq(Mode::Live.as_str()));
        let rows: Vec<ShopRow> = self
            .run::<_, Failure>(async |connection| {
                Ok(memberships::table
                    .inner_join(accounts::table.on(live))
                    .filter(memberships::person_id.eq(person.0).and(accounts::copy_of.is_null()))
                    .order((accounts::name, memberships::user_id))
                    .select(ShopRow::as_select())
                    .load(connection)
                    .await?)
            })
            .await?;
        rows.into_iter().map(Shop::try_from).collect()
    }

    async fn set_role(
        &self,
        user: &UserId,
        person: PersonId,
        role: Option<Role>,
        note: Entry,
        now: OffsetDateTime,
    ) -> Result<(), MemberError> {
        self.transact(async |connection| {
            // Every member, so that of two owners who leave at once one stays.
            let members: Vec<(i64, String)> = memberships::table
                .filter(memberships::user_id.eq(user.as_str()))
                .order(memberships::person_id)
                .select((memberships::person_id, memberships::role))
                .for_update()
                .load(connection)
                .await?;
            if !members.iter().any(|(id, _)| *id == person.0) {
                return Err(Rollback::Refused(MemberError::NotFound));
            }
            let stays_owner = |(id, of): &(i64, String)| *id != person.0 && of == Role::Owner.as_str();
            if role != Some(Role::Owner) && !members.iter().any(stays_owner) {
                return Err(Rollback::Refused(MemberError::LastOwner));
            }
            let membership = memberships::table.find((user.as_str(), person.0));
            match role {
                Some(role) => {
                    let changed = diesel::update(membership).set(memberships::role.eq(role.as_str()));
                    changed.execute(connection).await?;
                }
                None => {
                    diesel::delete(membership).execute(connection).await?;
                    let here = session_rows::person_id.eq(person.0).and(session_rows::user_id.eq(user.as_str()));
                    diesel::delete(session_rows::table.filter(here)).execute(connection).await?;
                }
            }
            audit::add(connection, &note, now).await?;
            Ok(())
        })
        .await
        .map_err(Rollback::into_error)
    }

    async fn invited(&self, user: &UserId, now: OffsetDateTime) -> Result<Vec<Invited>, StoreError> {
        let invitations = Invitations { user: user.as_str(), now };
        let rows: Vec<InvitationRow> =
            self.run::<_, Failure>(async |connection| Ok(invitations.load(connection).await?)).await?;
        rows.into_iter().map(Invited::try_from).collect()
    }

    async fn withdraw(
        &self,
        user: &UserId,
        email: &EmailAddress,
        note: Entry,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let is_withdrawn = self
            .transact::<_, Failure>(async |connection| {
                if links::end_invitations(connection, user.as_str(), email.as_str()).await? == 0 {
                    return Ok(false);
                }
                audit::add(connection, &note, now).await?;
                Ok(true)
            })
            .await?;
        Ok(is_withdrawn)
    }

    async fn set_disabled(&self, person: PersonId, disabled: bool, now: OffsetDateTime) -> Result<(), StoreError> {
        self.transact::<_, Failure>(async |connection| {
            diesel::update(people::table.find(person.0))
                .set(people::disabled_at.eq(disabled.then_some(now)))
                .execute(connection)
                .await?;
            if disabled {
                sessions::end(connection, person.0, Ended::All).await?;
                links::forget(connection, person.0).await?;
            }
            Ok(())
        })
        .await?;
        Ok(())
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
