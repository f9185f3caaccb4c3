//! Payments: what is for sale, what a payment gateway says about a payment, and what that means for the account.

mod prices;
mod rules;

use std::fmt;

use async_trait::async_trait;
use rust_decimal::Decimal;
use time::OffsetDateTime;
use url::Url;

pub use prices::{CreditPack, Entitlement, Interval, InvalidPrices, Offer, PlanPrice, Price, PriceList};
pub use rules::{OFFER_HONOURED, Refusal, Step, matches, quote, step};

use crate::{
    AccountId, ChargeId, StoreError,
    credits::{Refused, Transaction},
    money::Currency,
};

/// A payment's identifier at the gateway: 1 to 128 of `a-z`, `A-Z`, `0-9`, `_` and `-`, so that it fits into a URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PaymentId(String);

/// A text is no payment id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a payment id is 1 to 128 letters, digits, `_` and `-`")]
pub struct InvalidPaymentId;

impl PaymentId {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for PaymentId {
    type Err = InvalidPaymentId;
    fn from_str(text: &str) -> Result<Self, InvalidPaymentId> {
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if plain && (1..=128).contains(&text.len()) { Ok(Self(text.to_owned())) } else { Err(InvalidPaymentId) }
    }
}

impl fmt::Display for PaymentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_enum!(
    /// Where a payment stands.
    PaymentStatus {
        /// Not decided yet.
        Pending = "pending",
        /// The money is there.
        Approved = "approved",
        /// The payer's bank said no.
        Rejected = "rejected",
        /// The money went back, by us.
        Refunded = "refunded",
        /// The money went back, by the payer's bank.
        ChargedBack = "charged_back",
    }
);

/// Who pays, as far as the gateway says. The credits do not hang on it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Payer {
    /// The gateway's name for them and their card; without one they cannot be charged automatically.
    pub customer_id: Option<String>,
    pub email: Option<String>,
}

impl fmt::Debug for Payer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payer").finish_non_exhaustive()
    }
}

/// What a payment is for, as the checkout noted it with the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub account: AccountId,
    /// The key of a pack or plan in the [`PriceList`].
    pub item: String,
    /// The automatic top-up that was charged; `None` when a person paid.
    pub charge: Option<ChargeId>,
}

/// A payment as the gateway knows it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    pub id: PaymentId,
    pub status: PaymentStatus,
    /// In units of the currency.
    pub amount: Decimal,
    pub currency: Currency,
    /// `None` when the gateway wrote none.
    pub invoice_id: Option<String>,
    pub payer: Payer,
    /// `None` when the payment was not made for this service.
    pub order: Option<Order>,
}

/// An automatic charge of a payer's card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// However often it is sent, the gateway charges once under this key.
    pub idempotency_key: String,
    pub customer_id: String,
    pub price: Price,
    pub order: Order,
}

/// What a person is to pay on a page of the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    pub price: Price,
    pub order: Order,
    /// Where the gateway leads the person after the payment. The credits do not hang on it: they come with the gateway's
    /// notification.
    pub paid_url: Url,
    /// Where it leads who does not pay.
    pub left_url: Url,
}

/// The gateway could not be asked, or what it said cannot be read. Asking again later may help.
#[derive(Debug, thiserror::Error)]
#[error("the payment gateway is unavailable: {0}")]
pub struct GatewayUnavailable(pub String);

/// Why it is not known how a payment stands.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error(transparent)]
    Unavailable(#[from] GatewayUnavailable),
    /// The answer lacks what a payment is judged by, or has it in a form that is not known. Asking again gets the same until
    /// somebody has looked.
    #[error("the payment gateway's answer cannot be read: {0}")]
    Unreadable(&'static str),
}

/// Why a charge did not lead to a payment.
#[derive(Debug, thiserror::Error)]
pub enum ChargeError {
    /// The payer's bank or the gateway said no, for this reason (a code of the gateway's). Nothing was charged.
    #[error("the charge was declined: {0}")]
    Declined(String),
    /// The gateway was not reached, or turned the request away before it looked at it. Nothing was charged.
    #[error(transparent)]
    NotSent(GatewayUnavailable),
    /// It is not known whether the payer was charged. The same charge under the same key tells.
    #[error(transparent)]
    Unavailable(#[from] GatewayUnavailable),
}

impl From<FetchError> for ChargeError {
    fn from(error: FetchError) -> Self {
        Self::Unavailable(match error {
            FetchError::Unavailable(error) => error,
            FetchError::Unreadable(what) => GatewayUnavailable(format!("its answer cannot be read: {what}")),
        })
    }
}

/// Why a notification is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotificationRefused {
    #[error("the signature is missing or not of its form")]
    Malformed,
    #[error("the timestamp is more than {} minutes away", REPLAY_WINDOW.whole_minutes())]
    Stale,
    #[error("the signature is not that of the body")]
    Forged,
    #[error("the body names no payment")]
    Unreadable,
}

/// How far a notification's timestamp may be away, to either side.
pub const REPLAY_WINDOW: time::Duration = time::Duration::minutes(5);

/// A payment gateway.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait PaymentGateway: Send + Sync {
    /// The gateway's name in paths, keys and events.
    fn name(&self) -> &'static str;

    /// The header that a notification's signature is in.
    fn signature_header(&self) -> &'static str;

    /// Checks a notification and reads which payment it is about. What else it says is not believed.
    ///
    /// # Errors
    /// [`NotificationRefused`].
    fn notified(&self, signature: &str, body: &[u8], now: OffsetDateTime) -> Result<PaymentId, NotificationRefused>;

    /// Asks what the gateway knows about a payment; `None` when it knows none of that id.
    ///
    /// # Errors
    /// [`FetchError`].
    async fn fetch(&self, id: &PaymentId) -> Result<Option<Payment>, FetchError>;

    /// Charges a payer's stored card.
    ///
    /// # Errors
    /// [`ChargeError`].
    async fn charge(&self, charge: &Charge) -> Result<Payment, ChargeError>;

    /// Opens a page where a person can pay, and gives its address. The payment carries the order of the checkout. A page that
    /// nobody pays on costs nothing.
    ///
    /// # Errors
    /// [`GatewayUnavailable`].
    async fn checkout(&self, checkout: &Checkout) -> Result<Url, GatewayUnavailable>;
}

/// What a payment buys. It is recorded when the payment is first seen; from then on the record counts, whatever is for
/// sale later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purchase {
    /// The key of the pack or plan.
    pub item: String,
    pub entitlement: Entitlement,
    pub price: Price,
    /// The automatic top-up that was charged; `None` when a person paid.
    pub charge: Option<ChargeId>,
}

/// A payment as the gateway reports it, to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    pub gateway: &'static str,
    pub payment: Payment,
    pub account: AccountId,
    /// What the payment buys if it is not recorded yet.
    pub quote: Result<Purchase, Refusal>,
}

/// Why a payment was not written.
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    /// It brings nothing, and never will.
    #[error("the payment is refused: {0}")]
    Refused(Refusal),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Refused> for SettleError {
    fn from(refused: Refused) -> Self {
        Self::Store(refused.into())
    }
}

/// What a payment changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// Credits were added.
    Credited(Transaction),
    /// They were taken away again; none were left to take when there is no transaction.
    Reversed(Option<Transaction>),
    /// The payment's status was noted, nothing else.
    Noted,
    /// It was all known before.
    Unchanged,
}

/// Where payments are written.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait PaymentStore: Send + Sync {
    /// The account for which a payment is recorded; `None` when it is not.
    async fn owner(&self, gateway: &'static str, payment: &PaymentId) -> Result<Option<AccountId>, StoreError>;

    /// Writes what a payment means, in one transaction, once per payment and status: the ledger's row, the account's
    /// plan, the events, and the payer for automatic top-ups.
    ///
    /// # Errors
    /// [`SettleError::Refused`] when the payment is not recorded and its quote is a refusal, when it is recorded for
    /// another account, or when another amount was paid than is recorded. Nothing is written then.
    async fn settle(&self, settlement: Settlement, now: OffsetDateTime) -> Result<Settled, SettleError>;

    /// Notes what is for sale from now on; what was until now and is not any more stays known with its end.
    async fn publish(&self, prices: &PriceList, now: OffsetDateTime) -> Result<(), StoreError>;

    /// What an item is offered for in the published list, or was until `since` or later.
    async fn published_offers(&self, item: &str, since: OffsetDateTime) -> Result<Vec<Offer>, StoreError>;

    /// What an automatic charge is to cost, as it was fixed before it was first sent.
    async fn charged(&self, account: AccountId, charge: ChargeId) -> Result<Option<(Entitlement, Price)>, StoreError>;
}
