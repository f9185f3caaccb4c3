//! Taking payments: what the gateway confirms is checked against what was for sale, and written once.

use std::sync::Arc;

use domain::{
    StoreError,
    accounts::{AccountStore, Mode},
    payments::{
        GatewayUnavailable, Order, Payment, PaymentGateway, PaymentId, PaymentStore, PriceList, Refusal, Settled,
        Settlement, Sold, check, matches,
    },
};
use time::OffsetDateTime;

/// What taking payments needs.
#[derive(Clone)]
pub struct Till {
    pub gateway: Arc<dyn PaymentGateway>,
    pub payments: Arc<dyn PaymentStore>,
    pub accounts: Arc<dyn AccountStore>,
    pub prices: Arc<PriceList>,
}

/// What came of a payment that the gateway confirmed.
#[derive(Debug, Clone, PartialEq)]
pub enum Taken {
    Settled(Settled),
    /// It brings nothing, and asking again will not change that.
    Refused(Refusal),
}

/// Why a payment could not be looked at. Trying again later may help.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    #[error(transparent)]
    Gateway(#[from] GatewayUnavailable),
    /// The gateway knows no such payment (yet).
    #[error("the gateway knows no such payment")]
    UnknownPayment,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Till {
    /// Asks the gateway about a payment and writes what it means. Whoever named the payment is not believed.
    ///
    /// # Errors
    /// [`TakeError`].
    pub async fn take(&self, id: &PaymentId, now: OffsetDateTime) -> Result<Taken, TakeError> {
        let payment = self.gateway.fetch(id).await?.ok_or(TakeError::UnknownPayment)?;
        Ok(self.settle(payment, now).await?)
    }

    /// Writes what a payment means that came from the gateway itself.
    ///
    /// # Errors
    /// Trouble with the database.
    pub async fn settle(&self, payment: Payment, now: OffsetDateTime) -> Result<Taken, StoreError> {
        let id = payment.id.clone();
        let taken = match self.agree(&payment).await? {
            Ok((order, sold)) => {
                let settlement = Settlement { gateway: self.gateway.name(), payment, order, sold };
                Taken::Settled(self.payments.settle(settlement, now).await?)
            }
            Err(refusal) => Taken::Refused(refusal),
        };
        self.record(&id, &taken);
        Ok(taken)
    }

    /// What the payment is for, if it is what that costs.
    async fn agree(&self, payment: &Payment) -> Result<Result<(Order, Sold), Refusal>, StoreError> {
        let Some(order) = payment.order.clone() else { return Ok(Err(Refusal::NoOrder)) };
        match self.accounts.find(order.account).await? {
            None => return Ok(Err(Refusal::UnknownAccount)),
            Some(account) if account.mode == Mode::Test => return Ok(Err(Refusal::SandboxAccount)),
            Some(_) => {}
        }
        let sold = match order.charge {
            // The price was fixed when the charge was sent, whatever the list says now.
            Some(charge) => match self.payments.charged(order.account, charge).await? {
                Some((sold, price)) => matches(payment, price).map(|()| sold),
                None => Err(Refusal::UnknownItem),
            },
            None => check(payment, &order.item, &self.prices),
        };
        Ok(sold.map(|sold| (order, sold)))
    }

    fn record(&self, id: &PaymentId, taken: &Taken) {
        let gateway = self.gateway.name();
        match taken {
            Taken::Settled(Settled::Unchanged) => {}
            Taken::Settled(settled) => {
                let outcome = outcome(settled);
                tracing::info!(gateway, payment = %id, outcome, "payment");
            }
            Taken::Refused(refusal) => {
                tracing::error!(gateway, payment = %id, reason = %refusal, "a payment was refused: money without credits");
            }
        }
    }
}

/// What was done, in a word.
pub const fn outcome(settled: &Settled) -> &'static str {
    match settled {
        Settled::Credited(_) => "credited",
        Settled::Reversed(_) => "reversed",
        Settled::Noted => "noted",
        Settled::Unchanged => "unchanged",
    }
}
