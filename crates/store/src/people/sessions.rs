//! [`SessionStore`] on Postgres.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::AsyncPgConnection;
use domain::{
    PersonId, SessionId, StoreError, UserId,
    accounts::Mode,
    audit::Entry,
    sessions::{
        Beginning, Device, Ended, IDLE, LONGEST, Listed, NewSession, Proven, SEEN_EVERY, Session, SessionStore,
        TokenHash, UNREMEMBERED,
    },
};
use time::OffsetDateTime;

use super::{PersonRow, audit, mails};
use crate::{
    Store,
    accounts::AccountRow,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
    },
    schema::{accounts, challenges, devices, memberships, people, second_factors, sessions, users},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = sessions, check_for_backend(diesel::pg::Pg))]
struct SessionRow {
    id: i64,
    user_agent: String,
    address: String,
    created_at: OffsetDateTime,
    seen_at: OffsetDateTime,
    expires_at: OffsetDateTime,
    confirmed_at: OffsetDateTime,
}

impl SessionRow {
    fn listed(self) -> Listed {
        let Self { id, user_agent, address, created_at, seen_at, expires_at, confirmed_at: _ } = self;
        Listed { id: SessionId(id), device: Device { user_agent, address }, created_at, seen_at, expires_at }
    }
}

type Found = (SessionRow, PersonRow, String, AccountRow, bool, Option<OffsetDateTime>);

fn session((row, person, role, account, needs_second_factor, second_factor): Found) -> Result<Session, StoreError> {
    let SessionRow { id, user_agent: _, address: _, created_at, seen_at, expires_at, confirmed_at } = row;
    Ok(Session {
        id: SessionId(id),
        person: person.try_into()?,
        role: parse(&role, "role")?,
        account: account.try_into()?,
        created_at,
        seen_at,
        expires_at,
        confirmed_at,
        has_second_factor: second_factor.is_some(),
        needs_second_factor,
    })
}

pub(super) async fn prune(connection: &mut AsyncPgConnection, now: OffsetDateTime) -> QueryResult<()> {
    let over = sessions::expires_at.le(now).or(sessions::seen_at.le(now - IDLE));
    diesel::delete(sessions::table.filter(over)).execute(connection).await?;
    Ok(())
}

/// Whether a log-in still holds that was decided by this. The row is locked: who changes it, or [`end`]s sessions,
/// waits until what begins with it is there to be ended.
pub(super) async fn holds(connection: &mut AsyncPgConnection, person: i64, proven: &Proven) -> QueryResult<bool> {
    let row = people::table.find(person).filter(people::disabled_at.is_null()).select(people::password).for_share();
    let password: Option<Option<String>> = row.first(connection).await.optional()?;
    let factor = second_factors::table.find(person).filter(second_factors::turned_on_at.is_not_null());
    let factor: Option<i64> = factor.select(second_factors::person_id).first(connection).await.optional()?;
    Ok(password.as_ref() == Some(&proven.password) && factor.is_some() == proven.has_second_factor)
}

/// Ends the log-ins of a person that are under way: who has shown the password has to show it again. Those that have
/// locked the row by [`holds`] are waited for.
async fn end_log_ins(connection: &mut AsyncPgConnection, person: i64) -> QueryResult<()> {
    let row = people::table.find(person).select(people::id).for_no_key_update();
    let _: Option<i64> = row.first(connection).await.optional()?;
    diesel::delete(challenges::table.filter(challenges::person_id.eq(person))).execute(connection).await?;
    Ok(())
}

/// Ends sessions of a person within a transaction.
pub(super) async fn end(connection: &mut AsyncPgConnection, person: i64, which: Ended) -> QueryResult<usize> {
    if !matches!(which, Ended::One(_)) {
        end_log_ins(connection, person).await?;
    }
    let of_person = diesel::delete(sessions::table.filter(sessions::person_id.eq(person)));
    match which {
        Ended::One(id) => of_person.filter(sessions::id.eq(id.0)).execute(connection).await,
        Ended::AllBut(id) => of_person.filter(sessions::id.ne(id.0)).execute(connection).await,
        Ended::All => of_person.execute(connection).await,
    }
}

#[async_trait]
impl SessionStore for Store {
    async fn begin(&self, session: NewSession, with: Beginning, now: OffsetDateTime) -> Result<bool, StoreError> {
        let NewSession { hash, person, user, mode, device: Device { user_agent, address }, remember } = session;
        let lasts = if remember { LONGEST } else { UNREMEMBERED };
        let Beginning { proven, note, device, notice } = with;
        let has_begun = self
            .transact::<_, Failure>(async |connection| {
                if !holds(connection, person.0, &proven).await? {
                    return Ok(false);
                }
                diesel::insert_into(sessions::table)
                    .values((
                        sessions::hash.eq(hash.0.to_vec()),
                        sessions::person_id.eq(person.0),
                        sessions::user_id.eq(user.as_str()),
                        sessions::mode.eq(mode.as_str()),
                        sessions::user_agent.eq(&user_agent),
                        sessions::address.eq(&address),
                        sessions::created_at.eq(now),
                        sessions::seen_at.eq(now),
                        sessions::expires_at.eq(now + lasts),
                        sessions::confirmed_at.eq(now),
                    ))
                    .execute(connection)
                    .await?;
                if let Some(hash) = device {
                    let others = devices::table.filter(devices::person_id.eq(person.0)).select(devices::hash);
                    let is_first = others.first::<Vec<u8>>(connection).await.optional()?.is_none();
                    diesel::insert_into(devices::table)
                        .values((
                            devices::hash.eq(hash.0.to_vec()),
                            devices::person_id.eq(person.0),
                            devices::created_at.eq(now),
                        ))
                        .execute(connection)
                        .await?;
                    if let Some(notice) = notice.filter(|_| !is_first) {
                        mails::put(connection, &notice, now).await?;
                    }
                }
                if let Some(note) = &note {
                    audit::add(connection, note, now).await?;
                }
                Ok(true)
            })
            .await?;
        Ok(has_begun)
    }

    async fn find(&self, hash: TokenHash) -> Result<Option<Session>, StoreError> {
        let member = memberships::user_id.eq(sessions::user_id).and(memberships::person_id.eq(sessions::person_id));
        // A copy as of a day has its original's user and mode.
        let shown = accounts::user_id
            .eq(sessions::user_id)
            .and(accounts::mode.eq(sessions::mode))
            .and(accounts::copy_of.is_null());
        let found = self
            .run::<_, Failure>(async |connection| {
                Ok(sessions::table
                    .inner_join(people::table.on(people::id.eq(sessions::person_id)))
                    .inner_join(memberships::table.on(member))
                    .inner_join(accounts::table.on(shown))
                    .inner_join(users::table.on(users::id.eq(sessions::user_id)))
                    .left_join(second_factors::table.on(second_factors::person_id.eq(sessions::person_id)))
                    .filter(sessions::hash.eq(hash.0.to_vec()))
                    .select((
                        SessionRow::as_select(),
                        PersonRow::as_select(),
                        memberships::role,
                        AccountRow::as_select(),
                        users::requires_second_factor,
                        second_factors::turned_on_at.nullable(),
                    ))
                    .first::<Found>(connection)
                    .await
                    .optional()?)
            })
            .await?;
        found.map(session).transpose()
    }

    async fn renew(&self, id: SessionId, hash: TokenHash, now: OffsetDateTime) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| {
            diesel::update(sessions::table.filter(sessions::id.eq(id.0)))
                .set((sessions::hash.eq(hash.0.to_vec()), sessions::confirmed_at.eq(now), sessions::seen_at.eq(now)))
                .execute(connection)
                .await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn seen(&self, id: SessionId, now: OffsetDateTime) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| {
            // Requests that come at once write it once.
            let due = sessions::id.eq(id.0).and(sessions::seen_at.le(now - SEEN_EVERY));
            diesel::update(sessions::table.filter(due)).set(sessions::seen_at.eq(now)).execute(connection).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn switch(&self, id: SessionId, mode: Mode) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| {
            diesel::update(sessions::table.filter(sessions::id.eq(id.0)))
                .set(sessions::mode.eq(mode.as_str()))
                .execute(connection)
                .await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn go_to(&self, id: SessionId, user: &UserId) -> Result<bool, StoreError> {
        let member = memberships::user_id.eq(user.as_str()).and(memberships::person_id.eq(sessions::person_id));
        let gone = self
            .run::<_, Failure>(async |connection| {
                Ok(diesel::update(sessions::table.filter(sessions::id.eq(id.0)))
                    .filter(diesel::dsl::exists(memberships::table.filter(member)))
                    .set((sessions::user_id.eq(user.as_str()), sessions::mode.eq(Mode::Live.as_str())))
                    .execute(connection)
                    .await?)
            })
            .await?;
        Ok(gone > 0)
    }

    async fn list(&self, person: PersonId, now: OffsetDateTime) -> Result<Vec<Listed>, StoreError> {
        let rows: Vec<SessionRow> = self
            .run::<_, Failure>(async |connection| {
                let alive = sessions::expires_at.gt(now).and(sessions::seen_at.gt(now - IDLE));
                Ok(sessions::table
                    .filter(sessions::person_id.eq(person.0).and(alive))
                    .order((sessions::seen_at.desc(), sessions::id.desc()))
                    .select(SessionRow::as_select())
                    .load(connection)
                    .await?)
            })
            .await?;
        Ok(rows.into_iter().map(SessionRow::listed).collect())
    }

    async fn end(
        &self,
        person: PersonId,
        which: Ended,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        self.transact::<_, Failure>(async |connection| {
            end(connection, person.0, which).await?;
            if let Some(note) = &note {
                audit::add(connection, note, now).await?;
            }
            Ok(())
        })
        .await?;
        Ok(())
    }
}
