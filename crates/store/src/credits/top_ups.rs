//! The queue of automatic charges: when one is put in line, and what a change of settings does to one that waits.

use diesel::{
    prelude::*,
    result::Error,
    sql_types::{BigInt, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    credits::auto_topup::{SwitchedOff, Trigger},
    error::Chain,
};
use time::OffsetDateTime;

use super::posting::{Locked, lock};
use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl, statement::Scalar},
    schema::{auto_topups, credit_balances},
};

statement!(
    /// A charge, unless one waits already or the account is for development.
    Queue(credits: i64 => BigInt, due: OffsetDateTime => Timestamptz, account: i64 => BigInt) -> Scalar<BigInt> = "
    INSERT INTO auto_topups (account_id, credits, due_at, created_at)
    SELECT a.id, given.credits, given.due, given.due
    FROM accounts a, (SELECT $1::bigint AS credits, $2::timestamptz AS due) AS given
    WHERE a.id = $3 AND a.mode = 'live'
    ON CONFLICT (account_id) WHERE state = 'pending' DO NOTHING
    RETURNING id"
);

statement!(
    /// Credits that the account has taken for AI runs which have not ended, and may still get back.
    UnderWay(account: i64 => BigInt) -> Scalar<BigInt> = "
    SELECT coalesce(sum(credits), 0)::bigint FROM ai_runs WHERE account_id = $1 AND state IN ('queued', 'running')"
);

/// The credits to be added, if the balance calls for a charge. What AI runs under way were debited counts as still there:
/// a card is not charged for a run that may cost nothing. The end of the run decides again.
async fn wanted(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    trigger: Option<Trigger>,
    balance: i64,
) -> Result<Option<i64>, Error> {
    let Some(trigger) = trigger.filter(|trigger| trigger.is_met(balance)) else { return Ok(None) };
    let under_way: i64 = UnderWay { account: account.0 }.get_result(connection).await?;
    Ok(trigger.is_met(balance.saturating_add(under_way)).then_some(trigger.credits))
}

/// Queues a charge if the balance calls for one, in the transaction that holds its lock.
pub(super) async fn queue_if_met(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    trigger: Option<Trigger>,
    balance: i64,
    due: OffsetDateTime,
) -> Result<(), Error> {
    if let Some(credits) = wanted(connection, account, trigger, balance).await? {
        Queue { credits, due, account: account.0 }.execute(connection).await?;
    }
    Ok(())
}

/// The same for a caller that does not hold the balance: locks it, in the caller's transaction.
pub(crate) async fn queue_if_low(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<(), Error> {
    let Locked { totals, auto_topup } = lock(connection, account).await?;
    queue_if_met(connection, account, auto_topup, totals.balance, now).await
}

/// Makes a charge that waits follow settings that were just written: it is due now, of the size set now, or canceled. One
/// that was sent is left alone: the payer may have been charged, and only the gateway knows. A worker that holds the
/// charge without having sent it loses it.
pub(super) async fn follow_settings(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<(), Error> {
    let Locked { totals, auto_topup } = lock(connection, account).await?;
    let unsent = auto_topups::table
        .filter(auto_topups::account_id.eq(account.0))
        .filter(auto_topups::state.eq("pending"))
        .filter(auto_topups::attempts.eq(0));
    match wanted(connection, account, auto_topup, totals.balance).await? {
        Some(credits) => {
            let renewed = (
                auto_topups::credits.eq(credits),
                auto_topups::due_at.eq(now),
                auto_topups::leased_until.eq(None::<OffsetDateTime>),
                auto_topups::claim.eq(auto_topups::claim + 1),
            );
            diesel::update(unsent).set(renewed).execute(connection).await?;
            Queue { credits, due: now, account: account.0 }.execute(connection).await?;
        }
        None => {
            let canceled = (
                auto_topups::state.eq("canceled"),
                auto_topups::reason.eq("settings_changed"),
                auto_topups::finished_at.eq(now),
            );
            diesel::update(unsent).set(canceled).execute(connection).await?;
        }
    }
    Ok(())
}

/// Switches recharging off where it is on, and cancels a charge that waits and was not sent.
pub(crate) async fn switch_off(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    why: &SwitchedOff,
    now: OffsetDateTime,
) -> Result<(), Error> {
    lock(connection, account).await?;
    turn_off(connection, account, why).await?;
    follow_settings(connection, account, now).await
}

/// Switches recharging off where it is on, under the lock of the balance. Who switched it off before knows why.
pub(super) async fn turn_off(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    why: &SwitchedOff,
) -> Result<(), Error> {
    let on = credit_balances::table.find(account.0).filter(credit_balances::auto_topup_enabled);
    let reason = credit_balances::auto_topup_disabled_reason.eq(why.to_string());
    let off = (credit_balances::auto_topup_enabled.eq(false), reason);
    diesel::update(on).set(off).execute(connection).await?;
    Ok(())
}

impl Store {
    /// Queues a charge for an account that was just refused a debit for lack of credits. The refusal undid its own
    /// transaction, so this is another one. Where it fails the refusal stands all the same, and is what the caller is told:
    /// the next debit, or the next refusal, queues the charge.
    pub(crate) async fn queue_after_refusal(&self, account: AccountId, now: OffsetDateTime) {
        let queued =
            self.transact::<_, Failure>(async |connection| Ok(queue_if_low(connection, account, now).await?)).await;
        if let Err(error) = queued.map_err(StoreError::from) {
            tracing::warn!(account_id = account.0, error = %Chain(&error), "no top-up could be queued after a refusal");
        }
    }
}
