//! The prepaid credits of an account.

use async_trait::async_trait;
use serde_json::{Map, Value};
use time::OffsetDateTime;

use crate::{AccountId, StoreError};

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
    pub id: i64,
    pub kind: TransactionKind,
    /// The AI feature that was charged; none for kinds that charge nothing.
    pub feature: Option<String>,
    /// Credits; negative for a debit, never zero.
    pub amount: i64,
    pub balance_after: i64,
    pub created_at: OffsetDateTime,
    pub meta: Map<String, Value>,
}

/// When and how the account is recharged by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AutoTopup {
    pub enabled: bool,
    /// Credits; below this balance a recharge is made.
    pub threshold: i64,
    /// Credits that a recharge adds.
    pub top_up_amount: i64,
    pub last_charged_at: Option<OffsetDateTime>,
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

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait CreditLedger: Send + Sync {
    async fn summary(&self, account: AccountId) -> Result<Credits, StoreError>;
}
