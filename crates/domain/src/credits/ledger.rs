//! The rules of the ledger: what a change makes of a balance, which row records it, and which events it causes.

use super::{CreditAmount, FeatureName, TransactionKind};
use crate::{
    TransactionId,
    events::{CreditConsumed, CreditRefunded, CreditsDepleted, CreditsLow, CreditsRecharged, Event},
};

/// Credits; a debit that leaves less is announced.
pub const LOW_BALANCE: i64 = 100;

/// What is kept about an account's credits besides the rows themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    pub balance: i64,
    /// Sum of top-ups, automatic ones included.
    pub total_purchased: i64,
    /// Sum of debits less refunds.
    pub total_spent: i64,
}

text_enum!(
    /// Who caused a top-up: a person, or a balance below the threshold.
    RechargeSource { Manual = "manual", Auto = "auto" }
);

/// A change of the balance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Credits are taken for a feature.
    Debit { amount: CreditAmount, feature: FeatureName },
    /// A whole debit is refunded.
    Refund { amount: CreditAmount, feature: FeatureName, reason: String },
    /// Credits were paid for.
    TopUp { amount: CreditAmount, source: RechargeSource, payment: String },
    /// Credits are granted.
    Grant { amount: CreditAmount },
    /// The balance is corrected upwards, or downwards.
    Adjustment { amount: CreditAmount, take: bool },
}

/// The row that records a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub kind: TransactionKind,
    pub feature: Option<String>,
    /// Negative when credits are taken.
    pub amount: i64,
    pub balance_after: i64,
}

/// A change that the balance allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posting {
    before: Totals,
    change: Change,
    /// What the account has afterwards.
    pub after: Totals,
    pub entry: Entry,
}

/// Why a balance does not allow a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It would fall below zero.
    #[error("the balance of {balance} credits is too small")]
    Insufficient { balance: i64 },
    /// It would exceed what 64 bits hold.
    #[error("the balance would be too large")]
    TooLarge,
}

impl Change {
    fn kind(&self) -> TransactionKind {
        match self {
            Self::Debit { .. } => TransactionKind::Consume,
            Self::Refund { .. } => TransactionKind::Refund,
            Self::TopUp { source, .. } => source.kind(),
            Self::Grant { .. } => TransactionKind::Grant,
            Self::Adjustment { .. } => TransactionKind::Adjustment,
        }
    }

    /// Credits, negative when they are taken.
    fn signed(&self) -> i64 {
        match self {
            Self::Debit { amount, .. } | Self::Adjustment { amount, take: true } => -amount.get(),
            Self::Refund { amount, .. }
            | Self::TopUp { amount, .. }
            | Self::Grant { amount }
            | Self::Adjustment { amount, take: false } => amount.get(),
        }
    }

    fn feature(&self) -> Option<&FeatureName> {
        match self {
            Self::Debit { feature, .. } | Self::Refund { feature, .. } => Some(feature),
            Self::TopUp { .. } | Self::Grant { .. } | Self::Adjustment { .. } => None,
        }
    }
}

/// Decides about a change. Nothing happens here: the caller writes [`Posting::after`] and [`Posting::entry`].
///
/// # Errors
/// [`Refused`], when the balance does not allow it.
pub fn post(before: Totals, change: Change) -> Result<Posting, Refused> {
    let amount = change.signed();
    let balance = before.balance.checked_add(amount).ok_or(Refused::TooLarge)?;
    if balance < 0 {
        return Err(Refused::Insufficient { balance: before.balance });
    }
    let (purchased, spent) = match &change {
        Change::Debit { .. } | Change::Refund { .. } => (0, -amount),
        Change::TopUp { .. } => (amount, 0),
        Change::Grant { .. } | Change::Adjustment { .. } => (0, 0),
    };
    let after = Totals {
        balance,
        total_purchased: before.total_purchased.checked_add(purchased).ok_or(Refused::TooLarge)?,
        total_spent: before.total_spent.checked_add(spent).ok_or(Refused::TooLarge)?,
    };
    let feature = change.feature().map(|feature| feature.as_str().to_owned());
    let entry = Entry { kind: change.kind(), feature, amount, balance_after: balance };
    Ok(Posting { before, change, after, entry })
}

impl Posting {
    /// What receivers are told, in this order; `transaction_id` is the row's.
    ///
    /// `credits.low` comes with every debit that leaves less than [`LOW_BALANCE`], at zero before `credits.depleted`.
    pub fn events(&self, transaction_id: TransactionId) -> Vec<Event> {
        let balance = self.after.balance;
        match &self.change {
            Change::Debit { amount, feature } => {
                let (amount, feature) = (amount.get(), feature.as_str().to_owned());
                let mut events = vec![
                    CreditConsumed { transaction_id: transaction_id.0, feature: feature.clone(), amount, balance }
                        .into(),
                ];
                if balance < LOW_BALANCE {
                    let crossed = self.before.balance >= LOW_BALANCE;
                    let last_feature = feature.clone();
                    events.push(CreditsLow { balance, threshold: LOW_BALANCE, last_feature, crossed }.into());
                }
                if balance == 0 {
                    events.push(CreditsDepleted { balance, last_feature: feature, last_amount: amount }.into());
                }
                events
            }
            Change::Refund { amount, feature, reason } => {
                let (feature, reason) = (feature.as_str().to_owned(), reason.clone());
                vec![
                    CreditRefunded { transaction_id: transaction_id.0, feature, amount: amount.get(), balance, reason }
                        .into(),
                ]
            }
            Change::TopUp { amount, source, payment } => vec![
                CreditsRecharged {
                    credits_added: amount.get(),
                    new_balance: balance,
                    rebill_payment: payment.clone(),
                    source: *source,
                }
                .into(),
            ],
            Change::Grant { .. } | Change::Adjustment { .. } => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
