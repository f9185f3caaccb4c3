//! Taking payments: what the gateway confirms is checked against what was for sale when it is first seen, and written
//! once. From then on its record counts.

use std::sync::Arc;

use domain::{
    StoreError,
    accounts::{Account, AccountStore, Mode},
    payments::{
        Checkout, CreditPack, FetchError, GatewayUnavailable, OFFER_HONOURED, Order, Payment, PaymentGateway,
        PaymentId, PaymentStatus, PaymentStore, Price, PriceList, Purchase, Refusal, SettleError, Settled, Settlement,
        matches, quote,
    },
};
use time::OffsetDateTime;
use tracing::{Instrument, Span, field::Empty};
use url::Url;

/// What taking payments needs.
#[derive(Clone)]
pub struct PaymentService {
    pub gateway: Arc<dyn PaymentGateway>,
    pub payments: Arc<dyn PaymentStore>,
    pub accounts: Arc<dyn AccountStore>,
    pub prices: Arc<PriceList>,
}

/// What came of a payment that the gateway confirmed.
#[derive(Debug, Clone, PartialEq)]
pub enum PaymentOutcome {
    Settled(Settled),
    /// It brings nothing, and asking again will not change that.
    Refused(Refusal),
}

/// Why a payment could not be looked at. Trying again later may help.
#[derive(Debug, thiserror::Error)]
pub enum PaymentError {
    #[error(transparent)]
    Gateway(#[from] FetchError),
    /// The gateway knows no such payment (yet).
    #[error("the gateway knows no such payment")]
    UnknownPayment,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a person cannot pay.
#[derive(Debug, thiserror::Error)]
pub enum CheckoutError {
    /// Nothing is sold to a development account.
    #[error("nothing is sold to a development account")]
    SandboxAccount,
    #[error("there is no such pack")]
    UnknownPack,
    #[error(transparent)]
    Gateway(#[from] GatewayUnavailable),
}

/// A page of the gateway where a person can pay for a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCheckout {
    pub pack: CreditPack,
    pub url: Url,
}

impl PaymentService {
    /// Opens a page of the gateway where a person can pay for a pack of credits. `back` is where the person comes from, and
    /// `paid` where they go on after the payment.
    ///
    /// # Errors
    /// [`CheckoutError`].
    pub async fn checkout(
        &self,
        account: &Account,
        item: &str,
        [back, paid]: [Url; 2],
    ) -> Result<OpenCheckout, CheckoutError> {
        if account.mode == Mode::Test {
            return Err(CheckoutError::SandboxAccount);
        }
        let packs = self.prices.packs_in(account.currency);
        let pack = packs.into_iter().find(|pack| pack.key == item).ok_or(CheckoutError::UnknownPack)?.clone();
        let order = Order { account: account.id, item: pack.key.clone(), charge: None };
        let asked = Checkout { price: pack.price, order, paid_url: paid, left_url: back };
        let url = self.gateway.checkout(&asked).await?;
        Ok(OpenCheckout { pack, url })
    }

    /// Asks the gateway about a payment and writes what it means. What the notification says of it is not believed.
    ///
    /// # Errors
    /// [`PaymentError`].
    pub async fn take(&self, id: &PaymentId, now: OffsetDateTime) -> Result<PaymentOutcome, PaymentError> {
        let span = tracing::error_span!("payment", gateway = self.gateway.name(), payment = %id, account_id = Empty);
        async {
            let payment = self.fetch(id).await?.ok_or(PaymentError::UnknownPayment)?;
            Ok(self.settle(payment, now).await?)
        }
        .instrument(span)
        .await
    }

    /// Asks the gateway about a payment. An answer that cannot be read may be about money without credits, and stays so until
    /// somebody has looked.
    ///
    /// # Errors
    /// [`FetchError`].
    pub async fn fetch(&self, id: &PaymentId) -> Result<Option<Payment>, FetchError> {
        let fetched = self.gateway.fetch(id).await;
        if let Err(FetchError::Unreadable(what)) = &fetched {
            let gateway = self.gateway.name();
            metrics::counter!("payments_without_credits_total", "reason" => "unreadable").increment(1);
            tracing::error!(gateway, payment = %id, what, "a payment cannot be read: there may be money without credits");
        }
        fetched
    }

    /// Writes what a payment means that came from the gateway itself.
    ///
    /// # Errors
    /// Trouble with the database.
    pub async fn settle(&self, payment: Payment, now: OffsetDateTime) -> Result<PaymentOutcome, StoreError> {
        let (id, status) = (payment.id.clone(), payment.status);
        let taken = match self.write(payment, now).await {
            Ok(settled) => PaymentOutcome::Settled(settled),
            Err(SettleError::Refused(refusal)) => PaymentOutcome::Refused(refusal),
            Err(SettleError::Store(error)) => return Err(error),
        };
        self.log(&id, status, &taken);
        Ok(taken)
    }

    async fn write(&self, payment: Payment, now: OffsetDateTime) -> Result<Settled, SettleError> {
        let gateway = self.gateway.name();
        // A recorded payment stays its account's, whatever the gateway says it was ordered for.
        let owner = self.payments.owner(gateway, &payment.id).await?;
        let ordered = payment.order.as_ref().map(|order| order.account);
        let account = owner.or(ordered).ok_or(SettleError::Refused(Refusal::NoOrder))?;
        Span::current().record("account_id", account.0);
        let quote = self.quote(&payment, now).await?;
        self.payments.settle(Settlement { gateway, payment, account, quote }, now).await
    }

    /// What the payment buys, if it is what that costs.
    async fn quote(&self, payment: &Payment, now: OffsetDateTime) -> Result<Result<Purchase, Refusal>, StoreError> {
        let Some(Order { account, item, charge }) = payment.order.clone() else { return Ok(Err(Refusal::NoOrder)) };
        match self.accounts.find(account).await? {
            None => return Ok(Err(Refusal::UnknownAccount)),
            Some(account) if account.mode == Mode::Test => return Ok(Err(Refusal::SandboxAccount)),
            Some(_) => {}
        }
        let entitlement = match charge {
            // The price was fixed when the charge was sent, whatever the list says now.
            Some(charge) => match self.payments.charged(account, charge).await? {
                Some((entitlement, price)) => matches(payment, price).map(|()| entitlement),
                None => Err(Refusal::UnknownItem),
            },
            None => {
                let mut offers = self.prices.offers_of(&item);
                offers.extend(self.payments.published_offers(&item, now - OFFER_HONOURED).await?);
                quote(payment, &offers)
            }
        };
        let price = Price { amount: payment.amount, currency: payment.currency };
        Ok(entitlement.map(|entitlement| Purchase { item, entitlement, price, charge }))
    }

    fn log(&self, id: &PaymentId, status: PaymentStatus, taken: &PaymentOutcome) {
        let gateway = self.gateway.name();
        match taken {
            PaymentOutcome::Settled(Settled::Unchanged) => {}
            PaymentOutcome::Settled(settled) => {
                let outcome = outcome(settled);
                tracing::info!(gateway, payment = %id, outcome, "payment");
            }
            PaymentOutcome::Refused(refusal) => {
                metrics::counter!("payments_refused_total", "reason" => refusal.as_str()).increment(1);
                if status == PaymentStatus::Approved {
                    metrics::counter!("payments_without_credits_total", "reason" => refusal.as_str()).increment(1);
                    tracing::error!(gateway, payment = %id, reason = %refusal, "a payment was refused: money without credits");
                } else {
                    tracing::warn!(gateway, payment = %id, reason = %refusal, %status, "a payment was refused");
                }
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
