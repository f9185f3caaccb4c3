//! [`AiAccess`] on Postgres. Every change is one transaction with its row in the audit and its event.

use async_trait::async_trait;
use diesel::{prelude::*, result::Error};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    ai::{AccessChange, AccessStatus, Actor, AiAccess, DEFAULT_LIMITS, Limits, Month, Pause},
    events::{AiPaused, AiResumed, Amount, Instant, PauseAction, ResumeAction},
};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::guard;
use crate::{
    Store,
    credits::posting,
    database::{
        error::{Failure, corrupt, parse},
        query::RunQueryDsl,
    },
    schema::{accounts, ai_access, ai_access_log as log, ai_calls as calls, ai_limits as limits},
    webhooks::outbox,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = ai_access, check_for_backend(diesel::pg::Pg))]
struct PauseRow {
    paused_at: Option<OffsetDateTime>,
    reason: Option<String>,
    paused_by: Option<String>,
    by_kind: Option<String>,
}

#[async_trait]
impl AiAccess for Store {
    async fn status(&self, account: AccountId, now: OffsetDateTime) -> Result<Option<AccessStatus>, StoreError> {
        let found = self
            .run::<_, Failure>(async |connection| {
                let user: Option<String> =
                    accounts::table.find(account.0).select(accounts::user_id).first(connection).await.optional()?;
                let Some(user) = user else { return Ok(None) };
                let paused: Option<PauseRow> = ai_access::table
                    .find(account.0)
                    .select(PauseRow::as_select())
                    .first(connection)
                    .await
                    .optional()?;
                let month = Month::of(now);
                let cost = guard::cost(connection, &user, month, now).await?;
                Ok(Some((paused, cost, guard::limits_of(connection, account).await?, month)))
            })
            .await?;
        let Some((paused, cost, limits, month)) = found else { return Ok(None) };
        Ok(Some(AccessStatus { pause: paused.map(pause_of).transpose()?.flatten(), limits, month, cost }))
    }

    async fn pause(
        &self,
        account: AccountId,
        by: &Actor,
        reason: &str,
        now: OffsetDateTime,
    ) -> Result<AccessChange, StoreError> {
        let change = self
            .transact::<_, Failure>(async |connection| {
                Ok::<_, Failure>(pause(connection, account, by, reason, now).await?)
            })
            .await?;
        Ok(change)
    }

    async fn resume(
        &self,
        account: AccountId,
        by: &Actor,
        reason: Option<String>,
        now: OffsetDateTime,
    ) -> Result<AccessChange, StoreError> {
        let change = self
            .transact::<_, Failure>(async |connection| {
                Ok::<_, Failure>(resume(connection, account, by, reason.as_deref(), now).await?)
            })
            .await?;
        Ok(change)
    }

    async fn set_limits(
        &self,
        account: AccountId,
        wanted: Option<Limits>,
        by: &Actor,
        now: OffsetDateTime,
    ) -> Result<AccessChange, StoreError> {
        let change = self
            .transact::<_, Failure>(async |connection| {
                Ok::<_, Failure>(set_limits(connection, account, wanted, by, now).await?)
            })
            .await?;
        Ok(change)
    }

    async fn guard(&self, now: OffsetDateTime) -> Result<u64, StoreError> {
        let since = Month::of(now).start();
        let with_calls = calls::table
            .filter(calls::started_at.ge(since))
            .select(calls::account_id)
            .distinct()
            .order(calls::account_id);
        let accounts: Vec<i64> =
            self.run::<_, Failure>(async |connection| Ok(with_calls.load(connection).await?)).await?;
        let (mut new, mut first_failure) = (0, None);
        for account in accounts {
            let checked = self
                .transact::<_, Failure>(async |connection| {
                    Ok::<_, Failure>(guard::check(connection, AccountId(account), now).await?)
                })
                .await;
            match checked.map_err(StoreError::from) {
                Ok(crossed) => new += crossed,
                // It is no reason not to look at the others.
                Err(error) => {
                    first_failure.get_or_insert(error);
                }
            }
        }
        first_failure.map_or(Ok(new), Err)
    }
}

fn pause_of(row: PauseRow) -> Result<Option<Pause>, StoreError> {
    let PauseRow { paused_at: Some(at), reason, paused_by, by_kind } = row else { return Ok(None) };
    let (Some(reason), Some(by), Some(by_kind)) = (reason, paused_by, by_kind) else { return Err(corrupt("pause")) };
    Ok(Some(Pause { at, reason, by, by_kind: parse(&by_kind, "kind of actor")? }))
}

/// Locks what a debit locks first, so that a pause and a debit come one after the other. Whether the account is there,
/// and paused.
async fn lock(connection: &mut AsyncPgConnection, account: AccountId) -> Result<Option<bool>, Error> {
    if posting::lock(connection, account).await.optional()?.is_none() {
        return Ok(None);
    }
    let paused: Option<Option<OffsetDateTime>> =
        ai_access::table.find(account.0).select(ai_access::paused_at).first(connection).await.optional()?;
    Ok(Some(paused.flatten().is_some()))
}

async fn pause(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    by: &Actor,
    reason: &str,
    now: OffsetDateTime,
) -> Result<AccessChange, Error> {
    match lock(connection, account).await? {
        None => Ok(AccessChange::UnknownAccount),
        Some(true) => Ok(AccessChange::AlreadySo),
        Some(false) => write_pause(connection, account, by, reason, None, now).await,
    }
}

/// The guard's pause, for this month's cost and the critical threshold. Not while it is paused, nor where an administrator
/// has resumed access since the threshold was crossed: looked up once no other session can pause or resume.
pub(super) async fn pause_for_cost(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    by: &Actor,
    reason: &str,
    cost: (Decimal, Decimal),
    now: OffsetDateTime,
) -> Result<(), Error> {
    if lock(connection, account).await? == Some(false) && guard::pauses(connection, account, now).await? {
        write_pause(connection, account, by, reason, Some(cost), now).await?;
    }
    Ok(())
}

async fn write_pause(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    by: &Actor,
    reason: &str,
    cost: Option<(Decimal, Decimal)>,
    now: OffsetDateTime,
) -> Result<AccessChange, Error> {
    let row = (
        ai_access::paused_at.eq(Some(now)),
        ai_access::reason.eq(Some(reason)),
        ai_access::paused_by.eq(Some(&by.name)),
        ai_access::by_kind.eq(Some(by.kind.as_str())),
        ai_access::updated_at.eq(now),
    );
    diesel::insert_into(ai_access::table)
        .values((ai_access::account_id.eq(account.0), row))
        .on_conflict(ai_access::account_id)
        .do_update()
        .set(row)
        .execute(connection)
        .await?;
    note(connection, account, "pause", Some(reason), by, cost, None, now).await?;
    let event = AiPaused {
        action: PauseAction::Pause,
        reason: reason.to_owned(),
        by: by.name.clone(),
        by_kind: by.kind,
        cost_usd: cost.map(|(cost, _)| Amount(cost)),
        threshold_usd: cost.map(|(_, threshold)| Amount(threshold)),
        ts: Instant(now),
    };
    outbox::emit(connection, account, &[event.into()], now).await?;
    Ok(AccessChange::Made)
}

async fn resume(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    by: &Actor,
    reason: Option<&str>,
    now: OffsetDateTime,
) -> Result<AccessChange, Error> {
    match lock(connection, account).await? {
        None => return Ok(AccessChange::UnknownAccount),
        Some(false) => return Ok(AccessChange::AlreadySo),
        Some(true) => {}
    }
    diesel::update(ai_access::table.find(account.0))
        .set((
            ai_access::paused_at.eq(None::<OffsetDateTime>),
            ai_access::reason.eq(None::<String>),
            ai_access::paused_by.eq(None::<String>),
            ai_access::by_kind.eq(None::<String>),
            ai_access::updated_at.eq(now),
        ))
        .execute(connection)
        .await?;
    guard::set_pauses(connection, account, false, now).await?;
    note(connection, account, "resume", reason, by, None, None, now).await?;
    let event =
        AiResumed { action: ResumeAction::Resume, reason: (), by: by.name.clone(), by_kind: by.kind, ts: Instant(now) };
    outbox::emit(connection, account, &[event.into()], now).await?;
    Ok(AccessChange::Made)
}

async fn set_limits(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    wanted: Option<Limits>,
    by: &Actor,
    now: OffsetDateTime,
) -> Result<AccessChange, Error> {
    let user: Option<String> =
        accounts::table.find(account.0).select(accounts::user_id).first(connection).await.optional()?;
    let Some(user) = user else { return Ok(AccessChange::UnknownAccount) };
    guard::lock_user(connection, &user).await?;
    if lock(connection, account).await?.is_none() {
        return Ok(AccessChange::UnknownAccount);
    }
    let before = guard::limits_of(connection, account).await?;
    let detail = if let Some(Limits { warning_usd, critical_usd, auto_pause }) = wanted {
        let row = (
            limits::warning_usd.eq(warning_usd),
            limits::critical_usd.eq(critical_usd),
            limits::auto_pause.eq(auto_pause),
            limits::updated_at.eq(now),
        );
        diesel::insert_into(limits::table)
            .values((limits::account_id.eq(account.0), row))
            .on_conflict(limits::account_id)
            .do_update()
            .set(row)
            .execute(connection)
            .await?;
        json!({
            "warning_usd": warning_usd.to_string(), "critical_usd": critical_usd.to_string(), "auto_pause": auto_pause
        })
    } else {
        if diesel::delete(limits::table.find(account.0)).execute(connection).await? == 0 {
            return Ok(AccessChange::AlreadySo);
        }
        json!("default")
    };
    note(connection, account, "limits", None, by, None, Some(detail), now).await?;
    let after = wanted.unwrap_or(DEFAULT_LIMITS);
    guard::renew(connection, account, &user, (&before, &after), now).await?;
    guard::check(connection, account, now).await?;
    Ok(AccessChange::Made)
}

#[expect(clippy::too_many_arguments, reason = "one for each column of the audit")]
async fn note(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    action: &str,
    reason: Option<&str>,
    by: &Actor,
    cost: Option<(Decimal, Decimal)>,
    detail: Option<Value>,
    now: OffsetDateTime,
) -> Result<(), Error> {
    diesel::insert_into(log::table)
        .values((
            log::account_id.eq(account.0),
            log::action.eq(action),
            log::reason.eq(reason),
            log::done_by.eq(&by.name),
            log::by_kind.eq(by.kind.as_str()),
            log::cost_usd.eq(cost.map(|(cost, _)| cost)),
            log::threshold_usd.eq(cost.map(|(_, threshold)| threshold)),
            log::detail.eq(detail),
            log::done_at.eq(now),
        ))
        .execute(connection)
        .await?;
    Ok(())
}
