//! [`MailQueue`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Integer, Jsonb, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    MailId, StoreError, UserId,
    audit::Entry,
    language::Language,
    mail::{KEPT, LEASE, Leased, Mail, MailQueue, Notice, Outgoing},
    people::Role,
};
use serde_json::Value;
use time::OffsetDateTime;

use super::{audit, links};
use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
    },
    schema::{mails, memberships, people},
};

row!(
    struct MailRow {
        id: i64 => BigInt,
        recipient: String => Text,
        language: String => Text,
        facts: Value => Jsonb,
        attempts: i32 => Integer,
    }
);

statement!(
    /// What others are at is passed over.
    Lease(now: OffsetDateTime => Timestamptz, until: OffsetDateTime => Timestamptz, limit: i64 => BigInt) -> MailRow = "
    UPDATE mails SET due_at = $2, attempts = attempts + 1
    WHERE id IN (SELECT id FROM mails WHERE due_at <= $1 ORDER BY due_at, id LIMIT $3 FOR UPDATE SKIP LOCKED)
    RETURNING id, recipient, language, facts, attempts"
);

statement!(
    /// A mail that is being sent is deleted as well: it is not tried again.
    ForgetLinks(person: i64 => BigInt) -> () = "
    DELETE FROM mails
    WHERE (facts ->> 'kind' = 'new_address' AND facts -> 'person' = to_jsonb($1::bigint))
        OR (facts ->> 'kind' IN ('reset_password', 'sign_up') AND recipient = (SELECT email FROM people WHERE id = $1))"
);

statement!(
    ForgetInvitations<'a>(user: &'a str => Text, recipient: &'a str => Text) -> () = "
    DELETE FROM mails WHERE facts ->> 'kind' = 'invitation' AND facts ->> 'user' = $1 AND recipient = $2"
);

impl TryFrom<MailRow> for Leased {
    type Error = StoreError;
    fn try_from(row: MailRow) -> Result<Self, StoreError> {
        let MailRow { id, recipient, language, facts, attempts } = row;
        let outgoing = Outgoing {
            to: parse(&recipient, "e-mail address")?,
            language: parse(&language, "language")?,
            mail: serde_json::from_value(facts).map_err(|error| StoreError::Internal(error.into()))?,
        };
        Ok(Self { id: MailId(id), outgoing, attempts })
    }
}

/// Queues a mail within the transaction of what causes it.
pub(crate) async fn put(connection: &mut AsyncPgConnection, mail: &Outgoing, now: OffsetDateTime) -> QueryResult<()> {
    let Outgoing { to, language, mail } = mail;
    let facts = serde_json::to_value(mail).map_err(|error| diesel::result::Error::SerializationError(error.into()))?;
    diesel::insert_into(mails::table)
        .values((
            mails::recipient.eq(to.as_str()),
            mails::language.eq(Language::as_str(*language)),
            mails::facts.eq(facts),
            mails::created_at.eq(now),
            mails::due_at.eq(now),
        ))
        .execute(connection)
        .await?;
    Ok(())
}

/// Mails that wait do not get a link to the person's account any more. One that was asked for by signing up is among
/// them: to who has an account it is sent with a link to a new password.
pub(super) async fn forget_links(connection: &mut AsyncPgConnection, person: i64) -> QueryResult<usize> {
    ForgetLinks { person }.execute(connection).await
}

/// Invitations of an address to a shop that wait are not sent any more.
pub(super) async fn forget_invitations(
    connection: &mut AsyncPgConnection,
    user: &str,
    recipient: &str,
) -> QueryResult<usize> {
    ForgetInvitations { user, recipient }.execute(connection).await
}

/// Whether a mail is queued still. It stays so until the transaction ends: who deletes it waits.
pub(super) async fn lock(connection: &mut AsyncPgConnection, MailId(id): MailId) -> QueryResult<bool> {
    let mail = mails::table.find(id).select(mails::id).for_update();
    Ok(mail.first::<i64>(connection).await.optional()?.is_some())
}

/// Removes what nobody sent in time.
pub(super) async fn prune(connection: &mut AsyncPgConnection, now: OffsetDateTime) -> QueryResult<()> {
    let removed = diesel::delete(mails::table.filter(mails::created_at.le(now - KEPT))).execute(connection).await?;
    if removed > 0 {
        tracing::info!(mails = removed, "mails that were not sent for too long were removed");
    }
    Ok(())
}

/// Tells an address of a person of something.
pub(super) async fn tell(
    connection: &mut AsyncPgConnection,
    (to, language): (&str, Option<&str>),
    what: Notice,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    let language = language.map(|language| parse(language, "language")).transpose()?;
    let to = parse(to, "e-mail address")?;
    let mail = Outgoing { to, language: language.unwrap_or(Language::English), mail: Mail::Notice { what } };
    put(connection, &mail, now).await?;
    Ok(())
}

/// Tells every owner of a shop of something.
pub(crate) async fn tell_owners(
    connection: &mut AsyncPgConnection,
    user: &UserId,
    what: Notice,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    let owners = memberships::table
        .inner_join(people::table.on(people::id.eq(memberships::person_id)))
        .filter(memberships::user_id.eq(user.as_str()).and(memberships::role.eq(Role::Owner.as_str())))
        .select((people::email, people::language));
    let owners: Vec<(String, Option<String>)> = owners.load(connection).await?;
    for (email, language) in owners {
        tell(connection, (&email, language.as_deref()), what, now).await?;
    }
    Ok(())
}

#[async_trait]
impl MailQueue for Store {
    async fn put(&self, mail: Outgoing, note: Option<Entry>, now: OffsetDateTime) -> Result<(), StoreError> {
        self.transact::<_, Failure>(async |connection| {
            if let Mail::Invitation { user, .. } = &mail.mail {
                links::end_invitations(connection, user.as_str(), mail.to.as_str()).await?;
            }
            put(connection, &mail, now).await?;
            if let Some(note) = &note {
                audit::add(connection, note, now).await?;
            }
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn lease(&self, limit: i64, now: OffsetDateTime) -> Result<Vec<Leased>, StoreError> {
        let lease = Lease { now, until: now + LEASE, limit };
        let rows: Vec<MailRow> = self.run::<_, Failure>(async |connection| Ok(lease.load(connection).await?)).await?;
        rows.into_iter().map(Leased::try_from).collect()
    }

    async fn done(&self, MailId(id): MailId) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| {
            diesel::delete(mails::table.find(id)).execute(connection).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn put_off(&self, MailId(id): MailId, due_at: OffsetDateTime) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| {
            diesel::update(mails::table.find(id)).set(mails::due_at.eq(due_at)).execute(connection).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }
}
