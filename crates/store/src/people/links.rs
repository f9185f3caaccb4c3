//! [`LinkStore`] on Postgres.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::AsyncPgConnection;
use domain::{
    MailId, PersonId, StoreError, UserId,
    mail::LinkDetails,
    sessions::{Link, LinkPurpose, LinkStore, TokenHash},
};
use time::OffsetDateTime;

use super::mails;
use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
    },
    schema::links,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = links, check_for_backend(diesel::pg::Pg))]
pub(super) struct LinkRow {
    purpose: String,
    pub(super) person_id: Option<i64>,
    pub(super) user_id: Option<String>,
    pub(super) details: serde_json::Value,
}

impl TryFrom<LinkRow> for Link {
    type Error = StoreError;
    fn try_from(row: LinkRow) -> Result<Self, StoreError> {
        let LinkRow { purpose, person_id, user_id, details } = row;
        Ok(Self {
            purpose: parse(&purpose, "purpose of a link")?,
            person: person_id.map(PersonId),
            user: user_id.map(|id| parse(&id, "user id")).transpose()?,
            details,
        })
    }
}

/// What a link from a mail carries.
pub(super) fn details(stored: serde_json::Value) -> Result<LinkDetails, StoreError> {
    serde_json::from_value(stored).map_err(|error| StoreError::Internal(error.into()))
}

/// Takes a link within a transaction: the first who does gets it, nobody after.
pub(super) async fn take(
    connection: &mut AsyncPgConnection,
    hash: TokenHash,
    purpose: LinkPurpose,
    now: OffsetDateTime,
) -> QueryResult<Option<LinkRow>> {
    let open = links::hash.eq(hash.0.to_vec());
    let open = open.and(links::purpose.eq(purpose.as_str())).and(links::expires_at.gt(now));
    diesel::delete(links::table.filter(open)).returning(LinkRow::as_returning()).get_result(connection).await.optional()
}

/// Deletes all links of a person, and the queued mails that would get one: they may have been asked for by somebody who knew
/// the credentials that have just been changed.
pub(super) async fn forget(connection: &mut AsyncPgConnection, person: i64) -> QueryResult<()> {
    // Who makes the link of a mail locks the mail: this waits for that, and then sees the link.
    mails::forget_links(connection, person).await?;
    diesel::delete(links::table.filter(links::person_id.eq(person))).execute(connection).await?;
    Ok(())
}

/// Deletes links of invitations of an address to a user.
async fn forget_invitations(connection: &mut AsyncPgConnection, user: &str, email: &str) -> QueryResult<usize> {
    let of_user = links::user_id.eq(user).and(links::purpose.eq(LinkPurpose::Invitation.as_str()));
    let of_address = links::details.retrieve_as_text("email").eq(email);
    diesel::delete(links::table.filter(of_user.and(of_address))).execute(connection).await
}

/// Ends invitations of an address to a user: those that wait, and those that were sent. Gives how many there were.
pub(super) async fn end_invitations(connection: &mut AsyncPgConnection, user: &str, email: &str) -> QueryResult<usize> {
    // Mails first, as above.
    let waiting = mails::forget_invitations(connection, user, email).await?;
    Ok(waiting + forget_invitations(connection, user, email).await?)
}

/// To whom a link invites, and whom.
fn invitation(link: &Link) -> Result<Option<(UserId, String)>, StoreError> {
    match (link.purpose, &link.user) {
        (LinkPurpose::Invitation, Some(user)) => Ok(Some((user.clone(), details(link.details.clone())?.email))),
        _ => Ok(None),
    }
}

async fn insert(
    connection: &mut AsyncPgConnection,
    hash: TokenHash,
    link: &Link,
    now: OffsetDateTime,
    expires_at: OffsetDateTime,
) -> QueryResult<()> {
    let Link { purpose, person, user, details } = link;
    diesel::insert_into(links::table)
        .values((
            links::hash.eq(hash.0.to_vec()),
            links::purpose.eq(purpose.as_str()),
            links::person_id.eq(person.map(|person| person.0)),
            links::user_id.eq(user.as_ref().map(|user| user.as_str())),
            links::details.eq(details),
            links::created_at.eq(now),
            links::expires_at.eq(expires_at),
        ))
        .execute(connection)
        .await?;
    Ok(())
}

pub(super) async fn prune(connection: &mut AsyncPgConnection, now: OffsetDateTime) -> QueryResult<()> {
    diesel::delete(links::table.filter(links::expires_at.le(now))).execute(connection).await?;
    Ok(())
}

#[async_trait]
impl LinkStore for Store {
    async fn make(
        &self,
        hash: TokenHash,
        link: Link,
        now: OffsetDateTime,
        expires_at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let invitation = invitation(&link)?;
        self.transact::<_, Failure>(async |connection| {
            if let Some((user, email)) = &invitation {
                end_invitations(connection, user.as_str(), email).await?;
            }
            insert(connection, hash, &link, now, expires_at).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn make_for(
        &self,
        mail: MailId,
        hash: TokenHash,
        link: Link,
        now: OffsetDateTime,
        expires_at: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let invitation = invitation(&link)?;
        let is_made = self
            .transact::<_, Failure>(async |connection| {
                if !mails::lock(connection, mail).await? {
                    return Ok(false);
                }
                if let Some((user, email)) = &invitation {
                    forget_invitations(connection, user.as_str(), email).await?;
                }
                insert(connection, hash, &link, now, expires_at).await?;
                Ok(true)
            })
            .await?;
        Ok(is_made)
    }

    async fn look(
        &self,
        hash: TokenHash,
        purpose: LinkPurpose,
        now: OffsetDateTime,
    ) -> Result<Option<Link>, StoreError> {
        let row: Option<LinkRow> = self
            .run::<_, Failure>(async |connection| {
                Ok(links::table
                    .filter(links::hash.eq(hash.0.to_vec()))
                    .filter(links::purpose.eq(purpose.as_str()).and(links::expires_at.gt(now)))
                    .select(LinkRow::as_select())
                    .first(connection)
                    .await
                    .optional()?)
            })
            .await?;
        row.map(Link::try_from).transpose()
    }

    async fn take(
        &self,
        hash: TokenHash,
        purpose: LinkPurpose,
        now: OffsetDateTime,
    ) -> Result<Option<Link>, StoreError> {
        let row: Option<LinkRow> =
            self.run::<_, Failure>(async |connection| Ok(take(connection, hash, purpose, now).await?)).await?;
        row.map(Link::try_from).transpose()
    }
}
