//! [`PaymentStore`] on Postgres.

use async_trait::async_trait;
use diesel::{dsl::sql, prelude::*, result::Error, sql_types::Text};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    credits::{Change, CreditAmount, OperationKey, RechargeSource, Transaction},
    events::{Amount, Event, PurchaseCreated, SubscriptionActivated},
    payments::{PaymentStatus, PaymentStore, Price, Settled, Settlement, Sold, Step, step},
};
use ring::digest::{SHA256, digest};
use rust_decimal::Decimal;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use super::posting::{Halt, Locked, Operation, apply, lock};
use crate::{
    Store,
    error::{Failure, corrupt, parse},
    keys, outbox,
    schema::{accounts, auto_topups, credit_balances, payment_customers, payments},
};

type Ended<T> = Result<T, Halt<StoreError>>;

#[async_trait]
impl PaymentStore for Store {
    async fn settle(&self, settlement: Settlement, now: OffsetDateTime) -> Result<Settled, StoreError> {
        let done = self.run::<_, Halt<StoreError>>(async |connection| {
            connection.transaction(async |connection| settle(connection, &settlement, now).await).await
        });
        done.await.map_err(Halt::into_error)
    }

    async fn charged(&self, account: AccountId, charge: i64) -> Result<Option<(Sold, Price)>, StoreError> {
        let row: Option<(i64, Option<Decimal>, Option<String>)> = self
            .run::<_, Failure>(async |connection| {
                Ok(auto_topups::table
                    .find((account.0, charge))
                    .filter(auto_topups::attempts.gt(0))
                    .select((auto_topups::credits, auto_topups::amount, auto_topups::currency))
                    .first(connection)
                    .await
                    .optional()?)
            })
            .await?;
        let Some((credits, Some(amount), Some(currency))) = row else { return Ok(None) };
        let credits = CreditAmount::new(credits).map_err(|_| corrupt("automatic charge"))?;
        let sold = Sold { credits, source: RechargeSource::Auto, plan: None };
        Ok(Some((sold, Price { amount, currency: parse(&currency, "currency")? })))
    }
}

/// What is known of the payment.
#[derive(Clone, Copy, Default)]
struct Known {
    status: Option<PaymentStatus>,
    transaction_id: Option<i64>,
    reversal_id: Option<i64>,
    shortfall: i64,
}

async fn settle(connection: &mut AsyncPgConnection, settlement: &Settlement, now: OffsetDateTime) -> Ended<Settled> {
    let locked = lock(connection, settlement.order.account).await?;
    let known = find(connection, settlement).await?;
    let next = Known { status: Some(settlement.payment.status), ..known };
    match step(known.status, settlement.payment.status) {
        Step::Ignore => Ok(Settled::Unchanged),
        Step::Note => {
            write(connection, settlement, next, now).await?;
            Ok(Settled::Noted)
        }
        Step::Credit => {
            let transaction = credit(connection, settlement, &locked, now).await?;
            let next = Known { transaction_id: Some(transaction.id), ..next };
            write(connection, settlement, next, now).await?;
            Ok(Settled::Credited(transaction))
        }
        Step::Reverse => {
            let (transaction, shortfall) = reverse(connection, settlement, &locked, now).await?;
            let next = Known { reversal_id: transaction.as_ref().map(|row| row.id), shortfall, ..next };
            write(connection, settlement, next, now).await?;
            downgrade(connection, settlement).await?;
            Ok(Settled::Reversed(transaction))
        }
    }
}

async fn find(connection: &mut AsyncPgConnection, settlement: &Settlement) -> Ended<Known> {
    let row: Option<(String, Option<i64>, Option<i64>, i64)> = payments::table
        .find((settlement.order.account.0, settlement.gateway, settlement.payment.id.as_str()))
        .select((payments::status, payments::transaction_id, payments::reversal_id, payments::shortfall))
        .first(connection)
        .await
        .optional()?;
    let Some((status, transaction_id, reversal_id, shortfall)) = row else { return Ok(Known::default()) };
    Ok(Known { status: Some(parse(&status, "payment status")?), transaction_id, reversal_id, shortfall })
}

async fn write(
    connection: &mut AsyncPgConnection,
    settlement: &Settlement,
    known: Known,
    now: OffsetDateTime,
) -> Result<(), Error> {
    let Settlement { gateway, payment, order, sold } = settlement;
    let Known { status: _, transaction_id, reversal_id, shortfall } = known;
    let state = (
        payments::status.eq(payment.status.as_str()),
        payments::transaction_id.eq(transaction_id),
        payments::reversal_id.eq(reversal_id),
        payments::shortfall.eq(shortfall),
        payments::updated_at.eq(now),
    );
    diesel::insert_into(payments::table)
        .values((
            payments::account_id.eq(order.account.0),
            payments::gateway.eq(gateway),
            payments::payment_id.eq(payment.id.as_str()),
            payments::item.eq(&order.item),
            payments::credits.eq(sold.credits.get()),
            payments::amount.eq(payment.amount),
            payments::currency.eq(payment.currency.as_str()),
            payments::plan.eq(sold.plan.map(|(plan, _)| plan.as_str())),
            payments::charge_id.eq(order.charge),
            payments::created_at.eq(now),
            state,
        ))
        .on_conflict((payments::account_id, payments::gateway, payments::payment_id))
        .do_update()
        .set(state)
        .execute(connection)
        .await?;
    Ok(())
}

/// The credits, and everything that comes with them.
async fn credit(
    connection: &mut AsyncPgConnection,
    settlement: &Settlement,
    locked: &Locked,
    now: OffsetDateTime,
) -> Ended<Transaction> {
    let Settlement { gateway, payment, order, sold } = settlement;
    let purchase = PurchaseCreated {
        invoice_id: payment.invoice_id.clone(),
        amount: Amount(payment.amount),
        currency: payment.currency.to_string(),
        customer_email: payment.payer.email.clone(),
    };
    outbox::emit(connection, order.account, &[purchase.into()], now).await?;
    let (amount, source) = (sold.credits, sold.source);
    let change = Change::TopUp { amount, source, payment: payment.id.to_string() };
    let transaction = move_credits(connection, settlement, locked, change, Map::new(), now).await?;
    if let Some((plan, interval)) = sold.plan {
        let target = accounts::table.find(order.account.0);
        diesel::update(target).set(accounts::plan.eq(plan.as_str())).execute(connection).await?;
        keys::announce_account(connection, order.account).await?;
        let (provider, plan_key, interval) = ((*gateway).to_owned(), plan.to_string(), interval.to_string());
        let activated: Event = SubscriptionActivated { provider, plan_key, interval }.into();
        outbox::emit(connection, order.account, &[activated], now).await?;
    }
    match order.charge {
        Some(charge) => charged(connection, settlement, charge, now).await?,
        None => remember_payer(connection, settlement, now).await?,
    }
    Ok(transaction)
}

/// One row of the ledger for the payment; `more` is added to what it says about it.
async fn move_credits(
    connection: &mut AsyncPgConnection,
    settlement: &Settlement,
    locked: &Locked,
    change: Change,
    more: Map<String, Value>,
    now: OffsetDateTime,
) -> Ended<Transaction> {
    let Settlement { gateway, payment, order, .. } = settlement;
    let mut meta = Map::from_iter([
        ("gateway".to_owned(), json!(gateway)),
        ("payment_id".to_owned(), json!(payment.id.as_str())),
        ("invoice_id".to_owned(), json!(payment.invoice_id)),
        ("item".to_owned(), json!(order.item)),
        ("amount".to_owned(), json!(payment.amount.to_string())),
        ("currency".to_owned(), json!(payment.currency.as_str())),
    ]);
    let direction = if matches!(change, Change::TopUp { .. }) { "payment" } else { "reversal" };
    meta.extend(more);
    let key = OperationKey::new(format!("{direction}:{gateway}:{}", payment.id)).map_err(|_| corrupt("payment id"))?;
    let mut fingerprint = [0; 32];
    fingerprint.copy_from_slice(digest(&SHA256, key.as_str().as_bytes()).as_ref());
    let operation = Operation { account: order.account, key: &key, fingerprint, meta: &meta, refunds: None, now };
    apply(connection, &operation, locked.totals, change).await
}

/// Ends the automatic charge that the payment is of.
async fn charged(
    connection: &mut AsyncPgConnection,
    settlement: &Settlement,
    charge: i64,
    now: OffsetDateTime,
) -> Result<(), Error> {
    let account = settlement.order.account.0;
    diesel::update(auto_topups::table.find((account, charge)))
        .set((
            auto_topups::state.eq("done"),
            auto_topups::payment_id.eq(settlement.payment.id.as_str()),
            auto_topups::finished_at.eq(now),
            auto_topups::reason.eq(None::<String>),
        ))
        .execute(connection)
        .await?;
    diesel::update(credit_balances::table.find(account))
        .set((
            credit_balances::auto_topup_last_charged_at.eq(now),
            credit_balances::auto_topup_failures.eq(0),
            credit_balances::auto_topup_last_failure.eq(None::<String>),
        ))
        .execute(connection)
        .await?;
    Ok(())
}

/// Whoever paid by hand is charged by the automatic top-ups from now on.
async fn remember_payer(
    connection: &mut AsyncPgConnection,
    settlement: &Settlement,
    now: OffsetDateTime,
) -> Result<(), Error> {
    let payer = (
        payment_customers::gateway.eq(settlement.gateway),
        payment_customers::customer_id.eq(&settlement.payment.payer.customer_id),
        payment_customers::updated_at.eq(now),
    );
    diesel::insert_into(payment_customers::table)
        .values((payment_customers::account_id.eq(settlement.order.account.0), payer))
        .on_conflict(payment_customers::account_id)
        .do_update()
        .set(payer)
        .execute(connection)
        .await?;
    Ok(())
}

/// Takes the credits of a payment away again, as far as they are still there. The second value is what was not.
async fn reverse(
    connection: &mut AsyncPgConnection,
    settlement: &Settlement,
    locked: &Locked,
    now: OffsetDateTime,
) -> Ended<(Option<Transaction>, i64)> {
    let status = settlement.payment.status;
    if status == PaymentStatus::ChargedBack {
        // A card whose owner denies the payment is not charged again by itself.
        diesel::update(credit_balances::table.find(settlement.order.account.0))
            .set((
                credit_balances::auto_topup_enabled.eq(false),
                credit_balances::auto_topup_disabled_reason.eq("a payment was charged back"),
            ))
            .execute(connection)
            .await?;
    }
    let credits = settlement.sold.credits.get();
    let taken = credits.min(locked.totals.balance);
    let Ok(amount) = CreditAmount::new(taken) else { return Ok((None, credits)) };
    let more = Map::from_iter([("reason".to_owned(), json!(status)), ("shortfall".to_owned(), json!(credits - taken))]);
    let change = Change::Adjustment { amount, take: true };
    let transaction = move_credits(connection, settlement, locked, change, more, now).await?;
    Ok((Some(transaction), credits - taken))
}

/// The plan that was paid with the payment ends, unless another payment of a plan stands.
async fn downgrade(connection: &mut AsyncPgConnection, settlement: &Settlement) -> Result<(), Error> {
    let Some((plan, _)) = settlement.sold.plan else { return Ok(()) };
    let account = settlement.order.account.0;
    let standing: Option<String> = payments::table
        .filter(payments::account_id.eq(account))
        .filter(payments::status.eq(PaymentStatus::Approved.as_str()))
        .filter(payments::plan.is_not_null())
        .order(payments::updated_at.desc())
        .select(sql::<Text>("plan"))
        .first(connection)
        .await
        .optional()?;
    let left = standing.unwrap_or_else(|| domain::accounts::Plan::Free.to_string());
    let target = accounts::table.find(account).filter(accounts::plan.eq(plan.as_str()));
    diesel::update(target).set(accounts::plan.eq(left)).execute(connection).await?;
    keys::announce_account(connection, settlement.order.account).await?;
    Ok(())
}
