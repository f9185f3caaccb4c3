//! Makes the automatic top-ups that debits caused.

use std::{future::Future, sync::Arc};

use domain::{
    StoreError,
    credits::auto_topup::{
        AutoTopupStore, ChargeRef, Left, Plan, Rules, SENT_AGAIN_FOR, Terms, UNKNOWN_INTERVAL, UNSENT_PAUSE, Waiting,
        backoff, plan,
    },
    payments::{Charge, ChargeError, Order, Payment, PaymentStatus},
};
use time::{Duration, OffsetDateTime};

use tracing::Instrument;

use crate::{
    outage,
    payments::{PaymentOutcome, PaymentService},
};

/// Charges that are worked on at a time.
const BATCH: i64 = 16;
/// How long a worker holds a charge: longer than the gateway may take to answer. A worker that dies leaves it to others
/// after that.
const HELD: Duration = Duration::seconds(60);
/// How often it is looked whether anything is due.
const EVERY: std::time::Duration = std::time::Duration::from_secs(1);

/// What recharging needs.
#[derive(Clone)]
pub struct Recharger {
    pub payment_service: PaymentService,
    pub charges: Arc<dyn AutoTopupStore>,
    pub rules: Rules,
    /// What time it is, in UTC.
    pub clock: fn() -> OffsetDateTime,
}

impl Recharger {
    /// Publishes the price list and makes charges until `stop`; a charge under way ends first.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let mut is_published = false;
        loop {
            if !is_published {
                is_published = self.publish().await;
            }
            if let Err(error) = self.tick().await {
                outage::warn(&error, "automatic top-ups could not be looked up");
            }
            tokio::select! {
                () = &mut stop => return,
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    /// Whether it is written down what is for sale.
    async fn publish(&self) -> bool {
        let published = self.payment_service.payments.publish(&self.payment_service.prices, (self.clock)()).await;
        if let Err(error) = &published {
            outage::warn(error, "the price list could not be published");
        }
        published.is_ok()
    }

    /// Does what is due now. Gives how many charges were looked at.
    ///
    /// # Errors
    /// Trouble with the database; what was held is looked at again later.
    pub async fn tick(&self) -> Result<usize, StoreError> {
        let now = (self.clock)();
        let waiting = self.charges.lease(now, now + HELD, BATCH).await?;
        let mut work = tokio::task::JoinSet::new();
        let looked_at = waiting.len();
        for charge in waiting {
            let this = self.clone();
            let ChargeRef { account, id, claim: _ } = charge.charge;
            let span = tracing::error_span!("auto_topup", account_id = account.0, charge = id.0);
            let handling = async move {
                if let Err(error) = this.handle(&charge).await {
                    outage::warn(&error, "an automatic top-up could not be written");
                }
            };
            work.spawn(handling.instrument(span));
        }
        while let Some(done) = work.join_next().await {
            if let Err(error) = done {
                tracing::error!(%error, "an automatic top-up ended abnormally");
            }
        }
        Ok(looked_at)
    }

    async fn handle(&self, waiting: &Waiting) -> Result<(), StoreError> {
        let now = (self.clock)();
        let left = match plan(waiting, &self.payment_service.prices, self.rules, now) {
            Plan::Send(terms) => return self.send(waiting, terms).await,
            Plan::LeaveOpen { until } => unknown(until),
            Plan::Wait { until } => Left::Waiting { until },
            Plan::Cancel { reason } => Left::Canceled { reason },
            Plan::Fail { reason } => Left::Failed { reason: reason.to_owned(), retry_at: now + self.rules.cooldown },
        };
        self.charges.leave(waiting.charge, left, now).await
    }

    async fn send(&self, waiting: &Waiting, terms: Terms) -> Result<(), StoreError> {
        let charge = waiting.charge;
        // Written down before the gateway hears of it: from here on the payer may have been charged, unless it is known
        // that the gateway did not hear of it.
        if !self.charges.sending(charge, &terms, (self.clock)()).await? {
            return Ok(());
        }
        let named = waiting.sent.as_ref().and_then(|sent| Some((sent.payment.as_ref()?, sent.first_at)));
        let answer = match named {
            Some((payment, _)) => self.payment_service.fetch(payment).await.map_err(ChargeError::from),
            None => self.charge(charge, terms).await.map(Some),
        };
        let now = (self.clock)();
        let until = now + backoff(waiting.attempts);
        let left = match answer {
            // Another account at the gateway than the one that charged, perhaps.
            Ok(None) if named.is_some_and(|(_, first_at)| now - first_at >= SENT_AGAIN_FOR) => {
                unknown(now + UNKNOWN_INTERVAL)
            }
            Ok(None) => {
                tracing::warn!("the gateway does not know the payment of an automatic top-up");
                Left::Waiting { until }
            }
            Ok(Some(Payment { id: payment, status: PaymentStatus::Pending, .. })) => Left::Undecided { payment, until },
            Ok(Some(payment)) => {
                let status = payment.status;
                self.left(status, self.payment_service.settle(payment, now).await?, now)
            }
            Err(ChargeError::Declined(reason)) => self.failed(reason, now),
            Err(ChargeError::NotSent(error)) => {
                tracing::warn!(%error, "an automatic top-up could not be sent");
                Left::Unsent { until: until.max(now + UNSENT_PAUSE) }
            }
            Err(ChargeError::Unavailable(error)) => {
                tracing::warn!(%error, "an automatic top-up is not answered");
                Left::Waiting { until }
            }
        };
        self.charges.leave(charge, left, now).await
    }

    async fn charge(&self, charge: ChargeRef, terms: Terms) -> Result<Payment, ChargeError> {
        let Terms { customer_id, item, price } = terms;
        let asked = Charge {
            idempotency_key: charge.idempotency_key(),
            customer_id,
            price,
            order: Order { account: charge.account, item, charge: Some(charge.id) },
        };
        self.payment_service.gateway.charge(&asked).await
    }

    /// How a charge is left whose answer was settled. One that was credited has ended already, and is left as it is.
    fn left(&self, status: PaymentStatus, taken: PaymentOutcome, now: OffsetDateTime) -> Left {
        match (taken, status) {
            (PaymentOutcome::Refused(refusal), PaymentStatus::Approved) => {
                metrics::counter!("auto_topups_stopped_total").increment(1);
                tracing::error!(reason = %refusal, "an automatic top-up was paid but not credited; it is switched off");
                Left::Stopped { reason: refusal.to_string() }
            }
            (PaymentOutcome::Refused(refusal), _) => self.failed(refusal.to_string(), now),
            (PaymentOutcome::Settled(_), PaymentStatus::Rejected) => self.failed("rejected".to_owned(), now),
            (PaymentOutcome::Settled(_), PaymentStatus::ChargedBack) => Left::Canceled { reason: "charged_back" },
            // Refunded before the answer was heard, or since by a notification that overtook it.
            (PaymentOutcome::Settled(_), _) => Left::Canceled { reason: "refunded" },
        }
    }

    fn failed(&self, reason: String, now: OffsetDateTime) -> Left {
        Left::Failed { reason, retry_at: now + self.rules.cooldown }
    }
}

/// How a charge is left of which nobody knows whether it was made.
fn unknown(until: OffsetDateTime) -> Left {
    metrics::counter!("auto_topups_stopped_total").increment(1);
    tracing::error!("it is not known whether an automatic top-up was charged: look for it at the gateway");
    Left::Unknown { until }
}

#[cfg(test)]
mod tests;
