//! [`PaymentStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    result::Error,
    sql_types::{BigInt, Text},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, ChargeId, StoreError,
    credits::{Change, CreditAmount, OperationKey, RechargeSource, Transaction, auto_topup::SwitchedOff},
    events::{Amount, Event, PurchaseCreated, SubscriptionActivated},
    payments::{
        Entitlement, Offer, PaymentId, PaymentStatus, PaymentStore, Price, PriceList, Purchase, Refusal, SettleError,
        Settled, Settlement, Step, matches, step,
    },
};
use ring::digest::{SHA256, digest};
use rust_decimal::Decimal;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use super::{
    offers,
    posting::{Locked, Operation, apply, lock},
    top_ups::{queue_if_low, switch_off},
};
use crate::{
    Store,
    accounts::keys,
    database::{
        error::{Failure, corrupt, parse},
        query::RunQueryDsl,
        statement::Scalar,
        transact::Rollback,
    },
    schema::{accounts, auto_topups, credit_balances, payment_customers, payment_owners, payments},
    webhooks::outbox,
};

type Ended<T> = Result<T, Rollback<SettleError>>;

#[async_trait]
impl PaymentStore for Store {
    async fn owner(&self, gateway: &'static str, payment: &PaymentId) -> Result<Option<AccountId>, StoreError> {
        let owner: Option<i64> = self
            .run::<_, Failure>(async |connection| {
                let found = payment_owners::table.find((gateway, payment.as_str()));
                Ok(found.select(payment_owners::owner_id).first(connection).await.optional()?)
            })
            .await?;
        Ok(owner.map(AccountId))
    }

    async fn settle(&self, settlement: Settlement, now: OffsetDateTime) -> Result<Settled, SettleError> {
        let done = self.transact::<_, Rollback<_>>(async |connection| settle(connection, &settlement, now).await);
        done.await.map_err(Rollback::into_error)
    }

    async fn publish(&self, prices: &PriceList, now: OffsetDateTime) -> Result<(), StoreError> {
        self.transact::<_, Failure>(async |connection| offers::publish(connection, prices, now).await).await?;
        Ok(())
    }

    async fn published_offers(&self, item: &str, since: OffsetDateTime) -> Result<Vec<Offer>, StoreError> {
        Ok(self.run::<_, Failure>(async |connection| offers::published(connection, item, since).await).await?)
    }

    async fn charged(&self, account: AccountId, charge: ChargeId) -> Result<Option<(Entitlement, Price)>, StoreError> {
        let row: Option<ChargeRow> = self
            .run::<_, Failure>(async |connection| {
                Ok(auto_topups::table
                    .find((account.0, charge.0))
                    .filter(auto_topups::attempts.gt(0))
                    .select(ChargeRow::as_select())
                    .first(connection)
                    .await
                    .optional()?)
            })
            .await?;
        let Some(ChargeRow { credits, amount: Some(amount), currency: Some(currency) }) = row else { return Ok(None) };
        let credits = CreditAmount::new(credits).map_err(|_| corrupt("automatic charge"))?;
        let entitlement = Entitlement { credits, source: RechargeSource::Auto, plan: None };
        Ok(Some((entitlement, Price { amount, currency: parse(&currency, "currency")? })))
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = auto_topups, check_for_backend(diesel::pg::Pg))]
struct ChargeRow {
    credits: i64,
    amount: Option<Decimal>,
    currency: Option<String>,
}

statement!(
    /// Records whose payment it is, unless that is recorded, and gives whose it is. Holds the row until the transaction
    /// ends, so that of two accounts one is first.
    Claim(gateway: &'static str => Text, payment: String => Text, account: i64 => BigInt) -> Scalar<BigInt> = "
    INSERT INTO payment_owners (gateway, payment_id, owner_id) VALUES ($1, $2, $3)
    ON CONFLICT (gateway, payment_id) DO UPDATE SET owner_id = payment_owners.owner_id
    RETURNING owner_id"
);

/// The outcome of the payment.
#[derive(Clone, Copy, Default)]
struct Known {
    status: Option<PaymentStatus>,
    transaction_id: Option<i64>,
    reversal_id: Option<i64>,
    shortfall: i64,
}

const fn refused(refusal: Refusal) -> Rollback<SettleError> {
    Rollback::Refused(SettleError::Refused(refusal))
}

async fn settle(connection: &mut AsyncPgConnection, settlement: &Settlement, now: OffsetDateTime) -> Ended<Settled> {
    let Settlement { gateway, payment, account, quote } = settlement;
    let locked = lock(connection, *account).await.optional()?.ok_or(refused(Refusal::UnknownAccount))?;
    let (known, purchase) = match find(connection, settlement).await? {
        Some(recorded) => recorded,
        None => (Known::default(), quote.clone().map_err(refused)?),
    };
    let claim = Claim { gateway, payment: payment.id.to_string(), account: account.0 };
    if claim.get_result::<i64>(connection).await? != account.0 {
        return Err(refused(Refusal::OtherAccount));
    }
    let writing = Writing { settlement, purchase: &purchase, locked: &locked, now };
    let next = Known { status: Some(payment.status), ..known };
    let step = step(known.status, payment.status);
    if step != Step::Ignore && payment.status == PaymentStatus::ChargedBack {
        // A card whose owner denies a payment is not charged again without being asked, not by a charge that waits either.
        switch_off(connection, *account, &SwitchedOff::ChargedBack, now).await?;
    }
    match step {
        Step::Ignore => Ok(Settled::Unchanged),
        Step::Note => {
            writing.record(connection, next).await?;
            writing.name_payment(connection).await?;
            Ok(Settled::Noted)
        }
        Step::Credit => {
            matches(payment, purchase.price).map_err(refused)?;
            let transaction = writing.credit(connection).await?;
            writing.record(connection, Known { transaction_id: Some(transaction.id.0), ..next }).await?;
            Ok(Settled::Credited(transaction))
        }
        Step::Reverse => {
            let (transaction, shortfall) = writing.reverse(connection).await?;
            let reversal_id = transaction.as_ref().map(|row| row.id.0);
            writing.record(connection, Known { reversal_id, shortfall, ..next }).await?;
            writing.downgrade(connection).await?;
            Ok(Settled::Reversed(transaction))
        }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = payments, check_for_backend(diesel::pg::Pg))]
struct PaymentRow {
    status: String,
    item: String,
    credits: i64,
    amount: Decimal,
    currency: String,
    plan: Option<String>,
    charge_id: Option<i64>,
    transaction_id: Option<i64>,
    reversal_id: Option<i64>,
    shortfall: i64,
}

impl TryFrom<PaymentRow> for (Known, Purchase) {
    type Error = StoreError;
    fn try_from(row: PaymentRow) -> Result<Self, StoreError> {
        let PaymentRow {
            status,
            item,
            credits,
            amount,
            currency,
            plan,
            charge_id,
            transaction_id,
            reversal_id,
            shortfall,
        } = row;
        let status = Some(parse(&status, "payment status")?);
        let plan = match plan {
            // A plan's item is its name and its interval.
            Some(plan) => {
                let interval = item.strip_prefix(&plan).and_then(|rest| rest.strip_prefix('_')).unwrap_or_default();
                Some((parse(&plan, "plan")?, parse(interval, "interval")?))
            }
            None => None,
        };
        let source = if charge_id.is_some() { RechargeSource::Auto } else { RechargeSource::Manual };
        let entitlement =
            Entitlement { credits: CreditAmount::new(credits).map_err(|_| corrupt("payment"))?, source, plan };
        let price = Price { amount, currency: parse(&currency, "currency")? };
        let known = Known { status, transaction_id, reversal_id, shortfall };
        Ok((known, Purchase { item, entitlement, price, charge: charge_id.map(ChargeId) }))
    }
}

/// The record of the payment, if it was seen before.
async fn find(connection: &mut AsyncPgConnection, settlement: &Settlement) -> Ended<Option<(Known, Purchase)>> {
    let row: Option<PaymentRow> = payments::table
        .find((settlement.account.0, settlement.gateway, settlement.payment.id.as_str()))
        .select(PaymentRow::as_select())
        .first(connection)
        .await
        .optional()?;
    Ok(row.map(TryInto::try_into).transpose()?)
}

/// What every part of the writing needs.
struct Writing<'a> {
    settlement: &'a Settlement,
    /// As it is recorded.
    purchase: &'a Purchase,
    locked: &'a Locked,
    now: OffsetDateTime,
}

impl Writing<'_> {
    async fn record(&self, connection: &mut AsyncPgConnection, known: Known) -> Result<(), Error> {
        let Settlement { gateway, payment, account, quote: _ } = self.settlement;
        let Purchase { item, entitlement, price, charge } = self.purchase;
        let Known { status: _, transaction_id, reversal_id, shortfall } = known;
        let state = (
            payments::status.eq(payment.status.as_str()),
            payments::transaction_id.eq(transaction_id),
            payments::reversal_id.eq(reversal_id),
            payments::shortfall.eq(shortfall),
            payments::updated_at.eq(self.now),
        );
        diesel::insert_into(payments::table)
            .values((
                payments::account_id.eq(account.0),
                payments::gateway.eq(gateway),
                payments::payment_id.eq(payment.id.as_str()),
                payments::item.eq(item),
                payments::credits.eq(entitlement.credits.get()),
                payments::amount.eq(price.amount),
                payments::currency.eq(price.currency.as_str()),
                payments::plan.eq(entitlement.plan.map(|(plan, _)| plan.as_str())),
                payments::charge_id.eq(charge.map(|charge| charge.0)),
                payments::created_at.eq(self.now),
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
    async fn credit(&self, connection: &mut AsyncPgConnection) -> Ended<Transaction> {
        let Settlement { gateway, payment, account, quote: _ } = self.settlement;
        let Purchase { entitlement, charge, .. } = self.purchase;
        let purchase = PurchaseCreated {
            invoice_id: payment.invoice_id.clone(),
            amount: Amount(payment.amount),
            currency: payment.currency.to_string(),
            customer_email: payment.payer.email.clone(),
        };
        outbox::emit(connection, *account, &[purchase.into()], self.now).await?;
        let (amount, source) = (entitlement.credits, entitlement.source);
        let change = Change::TopUp { amount, source, payment: payment.id.to_string() };
        let transaction = self.move_credits(connection, change, Map::new()).await?;
        if let Some((plan, interval)) = entitlement.plan {
            let target = accounts::table.find(account.0);
            diesel::update(target).set(accounts::plan.eq(plan.as_str())).execute(connection).await?;
            keys::announce_account(connection, *account).await?;
            let (provider, plan_key, interval) = ((*gateway).to_owned(), plan.to_string(), interval.to_string());
            let activated: Event = SubscriptionActivated { provider, plan_key, interval }.into();
            outbox::emit(connection, *account, &[activated], self.now).await?;
        }
        match charge {
            Some(charge) => self.end_charge(connection, charge.0).await?,
            None => self.remember_payer(connection).await?,
        }
        // The card is good, and what it paid may not be enough.
        queue_if_low(connection, *account, self.now).await?;
        Ok(transaction)
    }

    /// One row of the ledger for the payment; `more` is added to what it says about it.
    async fn move_credits(
        &self,
        connection: &mut AsyncPgConnection,
        change: Change,
        more: Map<String, Value>,
    ) -> Ended<Transaction> {
        let Settlement { gateway, payment, account, quote: _ } = self.settlement;
        let Purchase { item, price, .. } = self.purchase;
        let mut meta = Map::from_iter([
            ("gateway".to_owned(), json!(gateway)),
            ("payment_id".to_owned(), json!(payment.id.as_str())),
            ("invoice_id".to_owned(), json!(payment.invoice_id)),
            ("item".to_owned(), json!(item)),
            ("amount".to_owned(), json!(price.written())),
            ("currency".to_owned(), json!(price.currency.as_str())),
        ]);
        let direction = if matches!(change, Change::TopUp { .. }) { "payment" } else { "reversal" };
        meta.extend(more);
        let key =
            OperationKey::new(format!("{direction}:{gateway}:{}", payment.id)).map_err(|_| corrupt("payment id"))?;
        let mut fingerprint = [0; 32];
        fingerprint.copy_from_slice(digest(&SHA256, key.as_str().as_bytes()).as_ref());
        let operation =
            Operation { account: *account, key: &key, fingerprint, meta: &meta, refunds: None, now: self.now };
        apply(connection, &operation, self.locked.totals, change).await
    }

    /// Has the payment looked up for the automatic charge that it is of, if that was not answered.
    async fn name_payment(&self, connection: &mut AsyncPgConnection) -> Result<(), Error> {
        let Some(charge) = self.purchase.charge else { return Ok(()) };
        let unanswered = auto_topups::table
            .find((self.settlement.account.0, charge.0))
            .filter(auto_topups::state.eq("pending"))
            .filter(auto_topups::payment_id.is_null());
        let payment = auto_topups::payment_id.eq(self.settlement.payment.id.as_str());
        diesel::update(unanswered).set(payment).execute(connection).await?;
        Ok(())
    }

    /// Ends the automatic charge that the payment is of.
    async fn end_charge(&self, connection: &mut AsyncPgConnection, charge: i64) -> Result<(), Error> {
        let account = self.settlement.account.0;
        diesel::update(auto_topups::table.find((account, charge)))
            .set((
                auto_topups::state.eq("done"),
                auto_topups::payment_id.eq(self.settlement.payment.id.as_str()),
                auto_topups::finished_at.eq(self.now),
                auto_topups::reason.eq(None::<String>),
            ))
            .execute(connection)
            .await?;
        diesel::update(credit_balances::table.find(account))
            .set((
                credit_balances::auto_topup_last_charged_at.eq(self.now),
                credit_balances::auto_topup_failures.eq(0),
                credit_balances::auto_topup_last_failure.eq(None::<String>),
            ))
            .execute(connection)
            .await?;
        Ok(())
    }

    /// The customer who paid by hand is charged by the automatic top-ups from now on. What was declined before says nothing about
    /// a card that has just paid.
    async fn remember_payer(&self, connection: &mut AsyncPgConnection) -> Result<(), Error> {
        let Settlement { gateway, payment, account, quote: _ } = self.settlement;
        // Whom the gateway does not name cannot be charged: the customer before them stays.
        let Some(customer) = &payment.payer.customer_id else { return Ok(()) };
        let payer = (
            payment_customers::gateway.eq(gateway),
            payment_customers::customer_id.eq(customer),
            payment_customers::updated_at.eq(self.now),
        );
        diesel::insert_into(payment_customers::table)
            .values((payment_customers::account_id.eq(account.0), payer))
            .on_conflict(payment_customers::account_id)
            .do_update()
            .set(payer)
            .execute(connection)
            .await?;
        let failures = credit_balances::auto_topup_failures.eq(0);
        let on = credit_balances::table.find(account.0).filter(credit_balances::auto_topup_enabled);
        diesel::update(on).set(failures).execute(connection).await?;
        Ok(())
    }

    /// Takes the credits of a payment away again, as far as they are still there. The second value is what was not.
    async fn reverse(&self, connection: &mut AsyncPgConnection) -> Ended<(Option<Transaction>, i64)> {
        let credits = self.purchase.entitlement.credits.get();
        let taken = credits.min(self.locked.totals.balance);
        let Ok(amount) = CreditAmount::new(taken) else { return Ok((None, credits)) };
        let more = Map::from_iter([
            ("reason".to_owned(), json!(self.settlement.payment.status)),
            ("shortfall".to_owned(), json!(credits - taken)),
        ]);
        let change = Change::Adjustment { amount, take: true };
        let transaction = self.move_credits(connection, change, more).await?;
        Ok((Some(transaction), credits - taken))
    }

    /// The plan that was paid with the payment ends, unless another payment of a plan stands.
    async fn downgrade(&self, connection: &mut AsyncPgConnection) -> Result<(), Error> {
        let Some((plan, _)) = self.purchase.entitlement.plan else { return Ok(()) };
        let account = self.settlement.account.0;
        let standing: Option<String> = payments::table
            .filter(payments::account_id.eq(account))
            .filter(payments::status.eq(PaymentStatus::Approved.as_str()))
            .filter(payments::plan.is_not_null())
            .order(payments::updated_at.desc())
            .select(payments::plan.assume_not_null())
            .first(connection)
            .await
            .optional()?;
        let left = standing.unwrap_or_else(|| domain::accounts::Plan::Free.to_string());
        let target = accounts::table.find(account).filter(accounts::plan.eq(plan.as_str()));
        diesel::update(target).set(accounts::plan.eq(left)).execute(connection).await?;
        keys::announce_account(connection, self.settlement.account).await?;
        Ok(())
    }
}
