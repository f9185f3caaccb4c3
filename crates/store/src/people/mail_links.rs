//! [`MailLinkStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    result::{DatabaseErrorKind, Error},
};
use diesel_async::AsyncPgConnection;
use domain::{
    PersonId, StoreError, UserId,
    accounts::NewUser,
    audit::{Action, Actor, Entry},
    log_in::{Chosen, LinkError, MailLinkStore},
    mail::Notice,
    people::Role,
    sessions::{Ended, LinkPurpose, TokenHash},
    throttle::{Counted, Counter},
};
use serde_json::json;
use time::OffsetDateTime;

use super::{
    audit, enlist, insert,
    links::{self, LinkRow},
    mails, sessions, throttles,
};
use crate::{
    Store, accounts,
    database::{error::parse, query::RunQueryDsl, transact::Rollback},
    schema::{memberships, people},
};

type Refusable<T> = Result<T, Rollback<LinkError>>;

async fn take(
    connection: &mut AsyncPgConnection,
    hash: TokenHash,
    purpose: LinkPurpose,
    now: OffsetDateTime,
) -> Refusable<LinkRow> {
    links::take(connection, hash, purpose, now).await?.ok_or(Rollback::Refused(LinkError::Gone))
}

/// The address that the link's mail went to.
fn email(link: &LinkRow) -> Result<String, StoreError> {
    links::details(link.details.clone()).map(|details| details.email)
}

/// What an insert or update of an address that somebody has means.
fn taken(error: Error) -> Rollback<LinkError> {
    match error {
        Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => Rollback::Refused(LinkError::Taken),
        other => other.into(),
    }
}

/// Notes it for every user that the person is a member of.
async fn note(
    connection: &mut AsyncPgConnection,
    (person, name): (i64, &str),
    action: Action,
    address: &str,
    now: OffsetDateTime,
) -> Refusable<()> {
    let of: Vec<String> = memberships::table
        .filter(memberships::person_id.eq(person))
        .select(memberships::user_id)
        .load(connection)
        .await?;
    for user in of {
        let by = Actor::Person { id: PersonId(person), name: name.to_owned() };
        let entry = Entry::new(parse(&user, "user id")?, by, action, Some(address.to_owned()));
        audit::add(connection, &entry, now).await?;
    }
    Ok(())
}

/// The name, the address and the language of a person, locked.
async fn person(connection: &mut AsyncPgConnection, id: i64) -> Refusable<(String, String, Option<String>)> {
    let columns = (people::name, people::email, people::language);
    let found = people::table.find(id).filter(people::disabled_at.is_null()).select(columns).for_update();
    found.first(connection).await.optional()?.ok_or(Rollback::Refused(LinkError::Gone))
}

#[async_trait]
impl MailLinkStore for Store {
    async fn sign_up(
        &self,
        link: TokenHash,
        user: NewUser,
        owner: Chosen,
        address: String,
    ) -> Result<PersonId, LinkError> {
        let Chosen { name, password, language } = owner;
        let now = user.now;
        self.transact::<_, Rollback<LinkError>>(async |connection| {
            let link = take(connection, link, LinkPurpose::SignUp, now).await?;
            let who = (&*email(&link)?, &*name, Some(&*password));
            let person = insert(connection, who, Some(language), now).await.map_err(taken)?;
            accounts::create(connection, &user).await?;
            enlist(connection, user.id.as_str(), person, Role::Owner, now).await?;
            note(connection, (person, &name), Action::SignedUp, &address, now).await?;
            Ok(PersonId(person))
        })
        .await
        .map_err(Rollback::into_error)
    }

    async fn reset_password(
        &self,
        link: TokenHash,
        password: &str,
        address: String,
        now: OffsetDateTime,
    ) -> Result<PersonId, LinkError> {
        self.transact::<_, Rollback<LinkError>>(async |connection| {
            let link = take(connection, link, LinkPurpose::ResetPassword, now).await?;
            let id = link.person_id.ok_or(Rollback::Refused(LinkError::Gone))?;
            let (name, email, language) = person(connection, id).await?;
            diesel::update(people::table.find(id)).set(people::password.eq(password)).execute(connection).await?;
            sessions::end(connection, id, Ended::All).await?;
            throttles::clear(connection, &[Counter::new(Counted::Login, &email)]).await?;
            links::forget(connection, id).await?;
            mails::tell(connection, (&email, language.as_deref()), Notice::PasswordChanged, now).await?;
            note(connection, (id, &name), Action::PasswordReset, &address, now).await?;
            Ok(PersonId(id))
        })
        .await
        .map_err(Rollback::into_error)
    }

    async fn join(
        &self,
        link: TokenHash,
        chosen: Option<Chosen>,
        address: String,
        now: OffsetDateTime,
    ) -> Result<(PersonId, UserId), LinkError> {
        self.transact::<_, Rollback<LinkError>>(async |connection| {
            let link = take(connection, link, LinkPurpose::Invitation, now).await?;
            let details = links::details(link.details)?;
            let user = link.user_id.ok_or(Rollback::Refused(LinkError::Gone))?;
            let known: Option<(i64, String)> = people::table
                .filter(people::email.eq(&details.email))
                .select((people::id, people::name))
                .first(connection)
                .await
                .optional()?;
            let (id, name) = match (known, &chosen) {
                (Some(known), _) => known,
                (None, Some(Chosen { name, password, language })) => {
                    let who = (&*details.email, &**name, Some(&**password));
                    (insert(connection, who, Some(*language), now).await.map_err(taken)?, name.clone())
                }
                (None, None) => return Err(Rollback::Refused(LinkError::Gone)),
            };
            let invited = details.role.unwrap_or(Role::Viewer);
            let held = memberships::table.find((&user, id)).select(memberships::role).for_update();
            let held: Option<String> = held.first(connection).await.optional()?;
            let held: Option<Role> = held.map(|role| parse(&role, "role")).transpose()?;
            // Roles are in the order of what they may, the most first. A member loses nothing by an invitation,
            // the last owner least of all.
            let role = held.map_or(invited, |held| held.min(invited));
            enlist(connection, &user, id, role, now).await?;
            // Others to the same address would give another role later.
            links::end_invitations(connection, &user, &details.email).await?;
            let user: UserId = parse(&user, "user id")?;
            let by = Actor::Person { id: PersonId(id), name };
            let mut entry = Entry::new(user.clone(), by, Action::MemberJoined, Some(address.clone()));
            entry.after = Some(json!({ "role": role }));
            audit::add(connection, &entry, now).await?;
            Ok((PersonId(id), user))
        })
        .await
        .map_err(Rollback::into_error)
    }

    async fn change_address(
        &self,
        link: TokenHash,
        address: String,
        now: OffsetDateTime,
    ) -> Result<PersonId, LinkError> {
        self.transact::<_, Rollback<LinkError>>(async |connection| {
            let link = take(connection, link, LinkPurpose::NewAddress, now).await?;
            let new = email(&link)?;
            let id = link.person_id.ok_or(Rollback::Refused(LinkError::Gone))?;
            let (name, old, language) = person(connection, id).await?;
            // While it is the old address that mails wait for.
            links::forget(connection, id).await?;
            let changed = diesel::update(people::table.find(id)).set(people::email.eq(&new));
            changed.execute(connection).await.map_err(taken)?;
            sessions::end(connection, id, Ended::All).await?;
            mails::tell(connection, (&old, language.as_deref()), Notice::AddressChanged, now).await?;
            note(connection, (id, &name), Action::AddressChanged, &address, now).await?;
            Ok(PersonId(id))
        })
        .await
        .map_err(Rollback::into_error)
    }
}
