//! The prepaid credits of an account: what a balance is, what may change it, and the ledger that keeps every change.

pub mod auto_topup;
mod ledger;
mod operation;
pub mod runway;

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use serde_json::{Map, Value};
use time::OffsetDateTime;

pub use auto_topup::AutoTopup;
pub use ledger::{Change, Entry, LOW_BALANCE, Posting, RechargeSource, Refused, Totals, post};
pub use operation::{
    Adjust, CreditAmount, Debit, FeatureName, Grant, InvalidAmount, InvalidFeature, InvalidOperationKey,
    MAX_FEATURE_CHARS, OperationKey, Refund,
};

use crate::{
    AccountId, StoreError, TransactionId,
    page::{Page, PageRequest},
};

/// How many transactions the summary shows.
pub const RECENT_TRANSACTIONS: i64 = 5;

text_enum!(
    /// Why the balance changed.
    TransactionKind {
        Consume = "consume",
        Refund = "refund",
        Topup = "topup",
        AutoTopup = "auto_topup",
        Grant = "grant",
        Adjustment = "adjustment",
    }
);

/// One row of the ledger. Rows are never changed or removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Transaction {
    pub id: TransactionId,
    pub kind: TransactionKind,
    /// The AI feature that was charged; `None` for kinds that charge nothing.
    pub feature: Option<String>,
    /// Credits; negative for a debit, never zero.
    pub amount: i64,
    pub balance_after: i64,
    pub created_at: OffsetDateTime,
    pub meta: Map<String, Value>,
}

/// The account's credits as of one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Credits {
    pub balance: i64,
    /// Sum of top-ups, automatic ones included.
    pub total_purchased: i64,
    /// Sum of debits less refunds.
    pub total_spent: i64,
    pub updated_at: OffsetDateTime,
    pub auto_topup: AutoTopup,
    /// The [`RECENT_TRANSACTIONS`] newest, newest first.
    pub recent_transactions: Vec<Transaction>,
}

/// Why a debit was not made. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum DebitError {
    /// AI access is paused, by an administrator or the quota guard.
    #[error("AI access is paused")]
    Paused,
    /// The balance is smaller than the amount. There are no partial debits.
    #[error("the balance of {balance} credits is too small")]
    Insufficient { balance: i64 },
    /// The key belongs to another operation.
    #[error("the operation key was used for another operation")]
    KeyReused,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a refund was not made. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum RefundError {
    /// The account has no debit under that key.
    #[error("there is no such debit")]
    UnknownDebit,
    /// The debit was refunded before, under another key.
    #[error("the debit has been refunded by transaction {}", by.id)]
    AlreadyRefunded { by: Box<Transaction> },
    /// The key belongs to another operation.
    #[error("the operation key was used for another operation")]
    KeyReused,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an operator's change was not made. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    /// The change would leave less than nothing.
    #[error("the balance of {balance} credits is too small")]
    Insufficient { balance: i64 },
    /// The balance would exceed what can be counted.
    #[error("the balance would be too large")]
    TooLarge,
    /// The key belongs to another operation.
    #[error("the operation key was used for another operation")]
    KeyReused,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Refused> for DebitError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Insufficient { balance } => Self::Insufficient { balance },
            Refused::TooLarge => Self::Store(uncountable()),
        }
    }
}

impl From<Refused> for RefundError {
    fn from(_: Refused) -> Self {
        // What was there before the debit fits into the balance.
        Self::Store(uncountable())
    }
}

impl From<Refused> for PostError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Insufficient { balance } => Self::Insufficient { balance },
            Refused::TooLarge => Self::TooLarge,
        }
    }
}

impl From<Refused> for StoreError {
    /// For changes that were made sure to be possible.
    fn from(_: Refused) -> Self {
        uncountable()
    }
}

fn uncountable() -> StoreError {
    StoreError::Internal("the credits of an account exceed what can be counted".into())
}

/// The append-only ledger of credits. At every moment the sum of an account's amounts is its balance is the newest
/// `balance_after`, and none of them is below zero.
///
/// Every write carries a key: a write that is repeated because its answer was lost has its effect once and returns the
/// first result, whatever the balance has become in the meantime. Events are written in the same transaction.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait CreditLedger: Send + Sync {
    async fn summary(&self, account: AccountId) -> Result<Credits, StoreError>;

    /// Takes credits for an AI feature.
    ///
    /// # Errors
    /// [`DebitError`]; after [`StoreError::Unavailable`] it is not known whether the debit was made, and the same call
    /// again tells.
    async fn debit(&self, debit: Debit, now: OffsetDateTime) -> Result<Transaction, DebitError>;

    /// Gives back the whole of a debit, at most once.
    ///
    /// # Errors
    /// [`RefundError`].
    async fn refund(&self, refund: Refund, now: OffsetDateTime) -> Result<Transaction, RefundError>;

    /// Adds credits that nobody paid for.
    ///
    /// # Errors
    /// [`PostError`].
    async fn grant(&self, grant: Grant, now: OffsetDateTime) -> Result<Transaction, PostError>;

    /// Corrects the balance, up or down.
    ///
    /// # Errors
    /// [`PostError`].
    async fn adjust(&self, adjust: Adjust, now: OffsetDateTime) -> Result<Transaction, PostError>;
}

/// Which transactions are asked for; what is none does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TransactionFilter {
    pub kind: Option<TransactionKind>,
    pub feature: Option<FeatureName>,
    /// The first instant.
    pub from: Option<OffsetDateTime>,
    /// The first instant that is not asked for any more.
    pub to: Option<OffsetDateTime>,
}

/// The ledger, read from its newest row back.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait TransactionLog: Send + Sync {
    async fn page(
        &self,
        account: AccountId,
        filter: &TransactionFilter,
        page: PageRequest,
    ) -> Result<Page<Transaction>, StoreError>;

    /// All that the filter lets through, from the cursor on.
    async fn stream(
        &self,
        account: AccountId,
        filter: TransactionFilter,
        cursor: Option<i64>,
    ) -> Result<BoxStream<'static, Result<Transaction, StoreError>>, StoreError>;
}
