//! [`AutoTopupStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    result::Error,
    sql_types::{Array, BigInt, Bool, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, ChargeId, StoreError,
    audit::Entry,
    credits::auto_topup::{
        AutoTopup, AutoTopupChange, AutoTopupStore, BALANCE_RESTORED, ChargeRef, Left, MAX_FAILURES, SENT_AGAIN_FOR,
        Sent, SwitchedOff, Terms, Waiting, month_start,
    },
    payments::Price,
};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::{
    posting::{Locked, lock},
    top_ups::{follow_settings, queue_if_met, turn_off},
};
use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
    },
    people::audit,
    schema::{auto_topups, credit_balances},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = credit_balances, check_for_backend(diesel::pg::Pg))]
pub(super) struct AutoTopupRow {
    auto_topup_enabled: bool,
    auto_topup_threshold: i64,
    auto_topup_amount: i64,
    auto_topup_last_charged_at: Option<OffsetDateTime>,
    auto_topup_monthly_cap: Option<i64>,
    auto_topup_failures: i64,
    auto_topup_last_failure: Option<String>,
    auto_topup_disabled_reason: Option<String>,
}

impl AutoTopupRow {
    /// What the audit log tells of the settings.
    fn told(&self) -> Value {
        json!({
            "enabled": self.auto_topup_enabled,
            "threshold": self.auto_topup_threshold,
            "top_up_amount": self.auto_topup_amount,
            "monthly_cap": self.auto_topup_monthly_cap,
        })
    }
}

impl From<AutoTopupRow> for AutoTopup {
    fn from(row: AutoTopupRow) -> Self {
        let AutoTopupRow {
            auto_topup_enabled,
            auto_topup_threshold,
            auto_topup_amount,
            auto_topup_last_charged_at,
            auto_topup_monthly_cap,
            auto_topup_failures,
            auto_topup_last_failure,
            auto_topup_disabled_reason,
        } = row;
        Self {
            enabled: auto_topup_enabled,
            threshold: auto_topup_threshold,
            top_up_amount: auto_topup_amount,
            last_charged_at: auto_topup_last_charged_at,
            monthly_cap: auto_topup_monthly_cap,
            failures: auto_topup_failures,
            last_failure: auto_topup_last_failure,
            disabled_reason: auto_topup_disabled_reason,
        }
    }
}

statement!(
    /// Due charges without a holder, of any account. Not locked: rows of several accounts cannot be where they are on
    /// several nodes.
    Due(now: OffsetDateTime => Timestamptz, of: Option<Vec<i64>> => Nullable<Array<BigInt>>, limit: i64 => BigInt)
        -> DueRow = "
    SELECT account_id, id FROM auto_topups
    WHERE state = 'pending' AND due_at <= $1 AND (leased_until IS NULL OR leased_until <= $1)
        AND ($2::bigint[] IS NULL OR account_id = ANY ($2))
    ORDER BY due_at LIMIT $3"
);

statement!(
    /// One of them, unless another process was faster, with all that the decision about it needs.
    Lease(
        until: OffsetDateTime => Timestamptz,
        account: i64 => BigInt,
        id: i64 => BigInt,
        now: OffsetDateTime => Timestamptz,
        month: OffsetDateTime => Timestamptz,
    ) -> LeaseRow = "
    WITH held AS (
        UPDATE auto_topups SET leased_until = $1, claim = claim + 1
        WHERE account_id = $2 AND id = $3 AND state = 'pending' AND due_at <= $4
            AND (leased_until IS NULL OR leased_until <= $4)
        RETURNING *
    )
    SELECT h.account_id, h.id, h.claim, h.credits, h.attempts, h.customer_id AS sent_customer_id, h.item AS sent_item,
        h.amount AS sent_amount, h.currency AS sent_currency, coalesce(h.sent_at, h.created_at) AS sent_at,
        h.payment_id, c.customer_id, a.currency, b.auto_topup_enabled AS enabled,
        b.balance + (SELECT coalesce(sum(r.credits), 0)::bigint FROM ai_runs r
            WHERE r.account_id = $2 AND r.state IN ('queued', 'running')) AS balance,
        b.auto_topup_threshold AS threshold, b.auto_topup_monthly_cap AS monthly_cap,
        (SELECT max(t.finished_at) FROM auto_topups t WHERE t.account_id = $2 AND t.state IN ('done', 'failed'))
            AS last_ended_at,
        (SELECT coalesce(sum(t.credits), 0)::bigint FROM auto_topups t
            WHERE t.account_id = $2 AND t.state = 'done' AND t.finished_at >= $5) AS bought_this_month
    FROM held h
        JOIN accounts a ON a.id = h.account_id
        JOIN credit_balances b ON b.account_id = $2
        LEFT JOIN payment_customers c ON c.account_id = $2"
);

statement!(
    /// Fixes what is sent, and since when.
    Sending<'a>(
        account: i64 => BigInt,
        id: i64 => BigInt,
        claim: i64 => BigInt,
        customer_id: &'a str => Text,
        item: &'a str => Text,
        amount: Decimal => Numeric,
        currency: &'a str => Text,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    UPDATE auto_topups SET customer_id = $4, item = $5, amount = $6, currency = $7, attempts = attempts + 1,
        sent_at = CASE WHEN attempts = 0 THEN $8 ELSE sent_at END
    WHERE account_id = $1 AND id = $2 AND claim = $3 AND state = 'pending'"
);

statement!(
    /// Cancels a charge that was sent before, whose payment is not known and which nobody is sending.
    NotCharged(
        account: i64 => BigInt,
        now: OffsetDateTime => Timestamptz,
        sent_before: OffsetDateTime => Timestamptz,
    ) -> () = "
    UPDATE auto_topups SET state = 'canceled', reason = 'not_charged', finished_at = $2
    WHERE account_id = $1 AND state = 'pending' AND attempts > 0 AND payment_id IS NULL
        AND coalesce(sent_at, created_at) <= $3 AND (leased_until IS NULL OR leased_until <= $2)"
);

statement!(
    /// Takes the attempt back. If it was the first, what it fixed is open again and the size is that of the settings now,
    /// which may have changed while the charge counted as sent.
    TakeBack(
        account: i64 => BigInt,
        id: i64 => BigInt,
        claim: i64 => BigInt,
        until: OffsetDateTime => Timestamptz,
        credits: Option<i64> => Nullable<BigInt>,
    ) -> () = "
    UPDATE auto_topups SET due_at = $4, leased_until = NULL, attempts = attempts - 1,
        customer_id = CASE WHEN attempts > 1 THEN customer_id END,
        item = CASE WHEN attempts > 1 THEN item END,
        amount = CASE WHEN attempts > 1 THEN amount END,
        currency = CASE WHEN attempts > 1 THEN currency END,
        sent_at = CASE WHEN attempts > 1 THEN sent_at END,
        credits = CASE WHEN attempts > 1 THEN credits ELSE coalesce($5, credits) END
    WHERE account_id = $1 AND id = $2 AND claim = $3 AND state = 'pending' AND attempts > 0"
);

row!(
    struct DueRow {
        account_id: i64 => BigInt,
        id: i64 => BigInt,
    }
);

row!(
    struct LeaseRow {
        account_id: i64 => BigInt,
        id: i64 => BigInt,
        claim: i64 => BigInt,
        credits: i64 => BigInt,
        attempts: i64 => BigInt,
        sent_customer_id: Option<String> => Nullable<Text>,
        sent_item: Option<String> => Nullable<Text>,
        sent_amount: Option<Decimal> => Nullable<Numeric>,
        sent_currency: Option<String> => Nullable<Text>,
        sent_at: OffsetDateTime => Timestamptz,
        payment_id: Option<String> => Nullable<Text>,
        customer_id: Option<String> => Nullable<Text>,
        currency: String => Text,
        enabled: bool => Bool,
        balance: i64 => BigInt,
        threshold: i64 => BigInt,
        monthly_cap: Option<i64> => Nullable<BigInt>,
        last_ended_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        bought_this_month: i64 => BigInt,
    }
);

fn waiting(row: LeaseRow) -> Result<Waiting, StoreError> {
    let LeaseRow {
        account_id,
        id,
        claim,
        credits,
        attempts,
        sent_customer_id,
        sent_item,
        sent_amount,
        sent_currency,
        sent_at,
        payment_id,
        customer_id,
        currency,
        enabled,
        balance,
        threshold,
        monthly_cap,
        last_ended_at,
        bought_this_month,
    } = row;
    let sent = match (sent_customer_id, sent_item, sent_amount, sent_currency) {
        (Some(customer_id), Some(item), Some(amount), Some(currency)) => {
            let price = Price { amount, currency: parse(&currency, "currency")? };
            let payment = payment_id.map(|id| parse(&id, "payment id")).transpose()?;
            Some(Sent { terms: Terms { customer_id, item, price }, first_at: sent_at, payment })
        }
        _ => None,
    };
    Ok(Waiting {
        charge: ChargeRef { account: AccountId(account_id), id: ChargeId(id), claim },
        credits,
        attempts,
        sent,
        customer_id,
        currency: parse(&currency, "currency")?,
        enabled,
        balance,
        threshold,
        monthly_cap,
        last_ended_at,
        bought_this_month,
    })
}

#[async_trait]
impl AutoTopupStore for Store {
    async fn change(
        &self,
        account: AccountId,
        change: AutoTopupChange,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<AutoTopup, StoreError> {
        let row = self
            .transact::<_, Failure>(async |connection| {
                lock(connection, account).await?;
                let balance = credit_balances::table.find(account.0);
                let was: AutoTopupRow = balance.select(AutoTopupRow::as_select()).first(connection).await?;
                let row: AutoTopupRow = diesel::update(balance)
                    .set(Change::new(change))
                    .returning(AutoTopupRow::as_returning())
                    .get_result(connection)
                    .await?;
                audit::differs(connection, note, (&was.told(), &row.told()), now).await?;
                follow_settings(connection, account, now).await?;
                Ok(row)
            })
            .await?;
        Ok(row.into())
    }

    async fn lease(&self, now: OffsetDateTime, until: OffsetDateTime, limit: i64) -> Result<Vec<Waiting>, StoreError> {
        let due: Vec<DueRow> = self.look(|of| Due { now, of, limit }).await?;
        let rows: Vec<LeaseRow> = self
            .run::<_, Failure>(async |connection| {
                let mut leased = Vec::new();
                for DueRow { account_id: account, id } in due {
                    let lease = Lease { until, account, id, now, month: month_start(now) };
                    leased.extend(lease.get_result(connection).await.optional()?);
                }
                Ok(leased)
            })
            .await?;
        rows.into_iter().map(waiting).collect()
    }

    async fn sending(&self, charge: ChargeRef, terms: &Terms, now: OffsetDateTime) -> Result<bool, StoreError> {
        let ChargeRef { account, id, claim } = charge;
        let Terms { customer_id, item, price: Price { amount, currency } } = terms;
        let sending = Sending {
            account: account.0,
            id: id.0,
            claim,
            customer_id,
            item,
            amount: *amount,
            currency: currency.as_str(),
            now,
        };
        let changed = self.run::<_, Failure>(async |connection| Ok(sending.execute(connection).await?)).await?;
        Ok(changed == 1)
    }

    async fn leave(&self, charge: ChargeRef, left: Left, now: OffsetDateTime) -> Result<(), StoreError> {
        self.transact::<_, Failure>(async |connection| leave(connection, charge, &left, now).await).await?;
        Ok(())
    }

    async fn not_charged(&self, account: AccountId, now: OffsetDateTime) -> Result<bool, StoreError> {
        let canceled = self
            .transact::<_, Failure>(async |connection| {
                let Locked { totals, auto_topup } = lock(connection, account).await?;
                let cancel = NotCharged { account: account.0, now, sent_before: now - SENT_AGAIN_FOR };
                let canceled = cancel.execute(connection).await? == 1;
                if canceled {
                    queue_if_met(connection, account, auto_topup, totals.balance, now).await?;
                }
                Ok(canceled)
            })
            .await?;
        Ok(canceled)
    }
}

/// The columns that a change of settings sets.
#[derive(AsChangeset)]
#[diesel(table_name = credit_balances)]
struct Change {
    auto_topup_enabled: bool,
    auto_topup_threshold: Option<i64>,
    auto_topup_amount: Option<i64>,
    auto_topup_monthly_cap: Option<Option<i64>>,
    auto_topup_failures: Option<i64>,
    auto_topup_last_failure: Option<Option<String>>,
    auto_topup_disabled_reason: Option<Option<String>>,
}

impl Change {
    fn new(change: AutoTopupChange) -> Self {
        let AutoTopupChange { enabled, threshold, top_up_amount, monthly_cap } = change;
        Self {
            auto_topup_enabled: enabled,
            auto_topup_threshold: threshold,
            auto_topup_amount: top_up_amount,
            auto_topup_monthly_cap: monthly_cap,
            auto_topup_failures: enabled.then_some(0),
            auto_topup_last_failure: enabled.then_some(None),
            // A person who switches it off knows why it is off.
            auto_topup_disabled_reason: Some(None),
        }
    }
}

async fn leave(
    connection: &mut AsyncPgConnection,
    charge: ChargeRef,
    left: &Left,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    let held = auto_topups::table
        .find((charge.account.0, charge.id.0))
        .filter(auto_topups::claim.eq(charge.claim))
        .filter(auto_topups::state.eq("pending"));
    let again =
        |until: &OffsetDateTime| (auto_topups::due_at.eq(*until), auto_topups::leased_until.eq(None::<OffsetDateTime>));
    match left {
        Left::Waiting { until } => {
            diesel::update(held).set(again(until)).execute(connection).await?;
        }
        Left::Undecided { payment, until } => {
            let named = auto_topups::payment_id.eq(payment.as_str());
            diesel::update(held).set((named, again(until))).execute(connection).await?;
        }
        Left::Unknown { until } => {
            lock(connection, charge.account).await?;
            let unnamed = auto_topups::payment_id.eq(None::<String>);
            if diesel::update(held).set((unnamed, again(until))).execute(connection).await? == 1 {
                stop(connection, charge.account, "unknown_outcome", &SwitchedOff::UnknownOutcome).await?;
            }
        }
        Left::Unsent { until } => {
            // A change of settings holds the balance, so it is either seen here or sees a charge that was not sent.
            let Locked { auto_topup, .. } = lock(connection, charge.account).await?;
            let ChargeRef { account, id, claim } = charge;
            // Where it is switched off, the next look at the charge cancels it.
            let credits = auto_topup.map(|trigger| trigger.credits).filter(|credits| *credits > 0);
            let taken_back = TakeBack { account: account.0, id: id.0, claim, until: *until, credits };
            taken_back.execute(connection).await?;
        }
        Left::Canceled { reason } => {
            let Locked { totals, auto_topup } = lock(connection, charge.account).await?;
            let ended =
                (auto_topups::state.eq("canceled"), auto_topups::reason.eq(*reason), auto_topups::finished_at.eq(now));
            let canceled = diesel::update(held).set(ended).execute(connection).await?;
            // A debit since the lease queued nothing: this charge was in line.
            if canceled == 1 && *reason == BALANCE_RESTORED {
                queue_if_met(connection, charge.account, auto_topup, totals.balance, now).await?;
            }
        }
        Left::Failed { reason, retry_at } => {
            let Locked { totals, auto_topup } = lock(connection, charge.account).await?;
            if !end(connection, charge, reason, now).await? {
                return Ok(());
            }
            if note_failure(connection, charge.account, reason).await? {
                queue_if_met(connection, charge.account, auto_topup, totals.balance, *retry_at).await?;
            }
        }
        Left::Stopped { reason } => {
            lock(connection, charge.account).await?;
            if end(connection, charge, reason, now).await? {
                stop(connection, charge.account, reason, &SwitchedOff::NotCredited(reason.clone())).await?;
            }
        }
    }
    Ok(())
}

/// Switches recharging off for what became of a charge.
async fn stop(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    failure: &str,
    why: &SwitchedOff,
) -> Result<(), Error> {
    let failed = credit_balances::auto_topup_last_failure.eq(failure);
    diesel::update(credit_balances::table.find(account.0)).set(failed).execute(connection).await?;
    turn_off(connection, account, why).await
}

/// Ends a charge as failed. Whether it was still the holder's.
async fn end(
    connection: &mut AsyncPgConnection,
    charge: ChargeRef,
    reason: &str,
    now: OffsetDateTime,
) -> Result<bool, Error> {
    let ended = (auto_topups::state.eq("failed"), auto_topups::reason.eq(reason), auto_topups::finished_at.eq(now));
    let held = auto_topups::table
        .find((charge.account.0, charge.id.0))
        .filter(auto_topups::claim.eq(charge.claim))
        .filter(auto_topups::state.eq("pending"));
    Ok(diesel::update(held).set(ended).execute(connection).await? == 1)
}

/// Failures since the last success, and whether recharging is on.
#[derive(Queryable, Selectable)]
#[diesel(table_name = credit_balances, check_for_backend(diesel::pg::Pg))]
struct NotedFailure {
    auto_topup_failures: i64,
    auto_topup_enabled: bool,
}

/// Counts a failure, and switches recharging off at the last that is allowed. Gives whether it is still on.
async fn note_failure(connection: &mut AsyncPgConnection, account: AccountId, reason: &str) -> Result<bool, Error> {
    let target = credit_balances::table.find(account.0);
    let noted = (
        credit_balances::auto_topup_failures.eq(credit_balances::auto_topup_failures + 1),
        credit_balances::auto_topup_last_failure.eq(reason),
    );
    let NotedFailure { auto_topup_failures: failures, auto_topup_enabled } =
        diesel::update(target).set(noted).returning(NotedFailure::as_returning()).get_result(connection).await?;
    if failures < MAX_FAILURES {
        return Ok(auto_topup_enabled);
    }
    let why = SwitchedOff::Failed { charges: failures, last: reason.to_owned() };
    turn_off(connection, account, &why).await?;
    Ok(false)
}
