//! [`SecondFactorStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Bool, Bytea, Integer, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    PersonId, SessionId, StoreError, UserId,
    audit::Entry,
    log_in::{CHALLENGE_LASTS, CODES_A_CHALLENGE, Challenge, RecoveryCodes, SecondFactor, SecondFactorStore, TurnedOn},
    mail::Outgoing,
    sessions::{Ended, Proven, TokenHash},
};
use time::OffsetDateTime;

use super::{audit, links, mails, sessions};
use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl},
    schema::{challenges, recovery_codes, second_factors, users},
};

row!(
    struct ChallengeRow {
        person_id: i64 => BigInt,
        remember: bool => Bool,
    }
);

statement!(
    Try<'a>(hash: &'a [u8] => Bytea, now: OffsetDateTime => Timestamptz, most: i32 => Integer) -> ChallengeRow = "
    UPDATE challenges SET tries = tries + 1 WHERE hash = $1 AND expires_at > $2 AND tries < $3
    RETURNING person_id, remember"
);

statement!(
    /// One that is on stays as it is.
    Propose<'a>(person: i64 => BigInt, sealed: &'a [u8] => Bytea, now: OffsetDateTime => Timestamptz) -> () = "
    INSERT INTO second_factors AS known (person_id, sealed_secret, last_step, created_at) VALUES ($1, $2, 0, $3)
    ON CONFLICT (person_id) DO UPDATE SET sealed_secret = excluded.sealed_secret, created_at = excluded.created_at
        WHERE known.turned_on_at IS NULL"
);

pub(super) async fn prune(connection: &mut AsyncPgConnection, now: OffsetDateTime) -> QueryResult<()> {
    diesel::delete(challenges::table.filter(challenges::expires_at.le(now))).execute(connection).await?;
    Ok(())
}

/// What else changes with a factor: other sessions and all links end, the person is told, and it is noted.
async fn conclude(
    connection: &mut AsyncPgConnection,
    (person, keep): (PersonId, SessionId),
    note: &Entry,
    notice: Option<&Outgoing>,
    now: OffsetDateTime,
) -> QueryResult<()> {
    sessions::end(connection, person.0, Ended::AllBut(keep)).await?;
    links::forget(connection, person.0).await?;
    if let Some(notice) = notice {
        mails::put(connection, notice, now).await?;
    }
    audit::add(connection, note, now).await
}

async fn replace_codes(connection: &mut AsyncPgConnection, person: PersonId, codes: &RecoveryCodes) -> QueryResult<()> {
    let of_person = recovery_codes::table.filter(recovery_codes::person_id.eq(person.0));
    diesel::delete(of_person).execute(connection).await?;
    let rows: Vec<_> = codes
        .hashes
        .iter()
        .map(|hash| (recovery_codes::person_id.eq(person.0), recovery_codes::hash.eq(hash)))
        .collect();
    diesel::insert_into(recovery_codes::table).values(rows).execute(connection).await?;
    diesel::update(second_factors::table.find(person.0))
        .set(second_factors::codes_salt.eq(&codes.salt))
        .execute(connection)
        .await?;
    Ok(())
}

#[async_trait]
impl SecondFactorStore for Store {
    async fn challenge(
        &self,
        hash: TokenHash,
        challenge: Challenge,
        proven: Proven,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let Challenge { person, remember } = challenge;
        let is_kept = self
            .transact::<_, Failure>(async |connection| {
                if !sessions::holds(connection, person.0, &proven).await? {
                    return Ok(false);
                }
                diesel::insert_into(challenges::table)
                    .values((
                        challenges::hash.eq(hash.0.to_vec()),
                        challenges::person_id.eq(person.0),
                        challenges::remember.eq(remember),
                        challenges::expires_at.eq(now + CHALLENGE_LASTS),
                    ))
                    .execute(connection)
                    .await?;
                Ok(true)
            })
            .await?;
        Ok(is_kept)
    }

    async fn try_challenge(&self, hash: TokenHash, now: OffsetDateTime) -> Result<Option<Challenge>, StoreError> {
        let row: Option<ChallengeRow> = self
            .run::<_, Failure>(async |connection| {
                let tried = Try { hash: &hash.0, now, most: CODES_A_CHALLENGE };
                Ok(tried.get_result(connection).await.optional()?)
            })
            .await?;
        Ok(row.map(|ChallengeRow { person_id, remember }| Challenge { person: PersonId(person_id), remember }))
    }

    async fn end_challenge(&self, hash: TokenHash) -> Result<bool, StoreError> {
        let ended = self
            .run::<_, Failure>(async |connection| {
                Ok(diesel::delete(challenges::table.find(hash.0.to_vec())).execute(connection).await?)
            })
            .await?;
        Ok(ended > 0)
    }

    async fn second_factor(&self, person: PersonId) -> Result<Option<SecondFactor>, StoreError> {
        let row: Option<(Vec<u8>, i64, Option<OffsetDateTime>)> = self
            .run::<_, Failure>(async |connection| {
                let columns = (second_factors::sealed_secret, second_factors::last_step, second_factors::turned_on_at);
                Ok(second_factors::table.find(person.0).select(columns).first(connection).await.optional()?)
            })
            .await?;
        Ok(row.map(|(sealed_secret, last_step, turned_on_at)| SecondFactor {
            sealed_secret,
            last_step,
            is_on: turned_on_at.is_some(),
        }))
    }

    async fn take_step(&self, person: PersonId, step: i64) -> Result<bool, StoreError> {
        let taken = self
            .run::<_, Failure>(async |connection| {
                let earlier = second_factors::table.find(person.0).filter(second_factors::last_step.lt(step));
                Ok(diesel::update(earlier).set(second_factors::last_step.eq(step)).execute(connection).await?)
            })
            .await?;
        Ok(taken == 1)
    }

    async fn propose(&self, person: PersonId, sealed_secret: Vec<u8>, now: OffsetDateTime) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| {
            Propose { person: person.0, sealed: &sealed_secret, now }.execute(connection).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn turn_on(
        &self,
        on: TurnedOn,
        note: Entry,
        notice: Option<Outgoing>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let TurnedOn { person, keep, step, codes } = on;
        self.transact::<_, Failure>(async |connection| {
            let set = (second_factors::turned_on_at.eq(now), second_factors::last_step.eq(step));
            diesel::update(second_factors::table.find(person.0)).set(set).execute(connection).await?;
            replace_codes(connection, person, &codes).await?;
            conclude(connection, (person, keep), &note, notice.as_ref(), now).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn turn_off(
        &self,
        person: PersonId,
        keep: SessionId,
        note: Entry,
        notice: Option<Outgoing>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        self.transact::<_, Failure>(async |connection| {
            let codes = recovery_codes::table.filter(recovery_codes::person_id.eq(person.0));
            diesel::delete(codes).execute(connection).await?;
            diesel::delete(second_factors::table.find(person.0)).execute(connection).await?;
            conclude(connection, (person, keep), &note, notice.as_ref(), now).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn recovery_codes(&self, person: PersonId) -> Result<Option<RecoveryCodes>, StoreError> {
        let found = self
            .run::<_, Failure>(async |connection| {
                let salt: Option<Option<Vec<u8>>> = second_factors::table
                    .find(person.0)
                    .select(second_factors::codes_salt)
                    .first(connection)
                    .await
                    .optional()?;
                let hashes = recovery_codes::table
                    .filter(recovery_codes::person_id.eq(person.0))
                    .select(recovery_codes::hash)
                    .load(connection)
                    .await?;
                Ok(salt.flatten().map(|salt| RecoveryCodes { salt, hashes }))
            })
            .await?;
        Ok(found)
    }

    async fn set_recovery_codes(
        &self,
        person: PersonId,
        codes: RecoveryCodes,
        note: Entry,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        self.transact::<_, Failure>(async |connection| {
            replace_codes(connection, person, &codes).await?;
            audit::add(connection, &note, now).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn take_recovery_code(
        &self,
        person: PersonId,
        hash: &[u8],
        note: Option<Entry>,
        notice: Option<Outgoing>,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let taken = self
            .transact::<_, Failure>(async |connection| {
                let code = recovery_codes::table.find((person.0, hash));
                let taken = diesel::delete(code).execute(connection).await? == 1;
                if taken {
                    if let Some(notice) = &notice {
                        mails::put(connection, notice, now).await?;
                    }
                    if let Some(note) = &note {
                        audit::add(connection, note, now).await?;
                    }
                }
                Ok(taken)
            })
            .await?;
        Ok(taken)
    }

    async fn require(
        &self,
        user: &UserId,
        is_required: bool,
        note: Entry,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        self.transact::<_, Failure>(async |connection| {
            diesel::update(users::table.find(user.as_str()))
                .set(users::requires_second_factor.eq(is_required))
                .execute(connection)
                .await?;
            audit::add(connection, &note, now).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }
}
