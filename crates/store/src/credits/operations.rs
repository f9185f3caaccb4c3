//! The operations of the port, each within a transaction that the caller commits.

use diesel::prelude::*;
use diesel_async::AsyncPgConnection;
use domain::credits::{
    Adjust, Change, CreditAmount, Debit, DebitError, FeatureName, Grant, PostError, Refund, RefundError, Transaction,
    TransactionKind,
};
use serde_json::{Map, json};
use time::OffsetDateTime;

use super::{
    posting::{Earlier, Locked, Operation, apply, earlier, lock},
    rows::TransactionRow,
    top_ups,
};
use crate::{
    database::{error::corrupt, query::RunQueryDsl, transact::Rollback},
    schema::credit_transactions,
};

/// [`CreditLedger::debit`](domain::credits::CreditLedger::debit), in the caller's transaction.
pub(crate) async fn debit(
    connection: &mut AsyncPgConnection,
    debit: &Debit,
    now: OffsetDateTime,
) -> Result<Transaction, Rollback<DebitError>> {
    let operation = Operation {
        account: debit.account,
        key: &debit.key,
        fingerprint: debit.fingerprint(),
        meta: &debit.meta,
        refunds: None,
        now,
    };
    let Locked { totals, auto_topup } = lock(connection, debit.account).await?;
    // The key comes first: a debit that was made stays made, even if the balance would not allow it again.
    match earlier(connection, &operation).await? {
        Earlier::Same(transaction) => return Ok(transaction),
        Earlier::Other => return Err(Rollback::Refused(DebitError::KeyReused)),
        Earlier::None { ai_paused: true } => return Err(Rollback::Refused(DebitError::Paused)),
        Earlier::None { ai_paused: false } => {}
    }
    let transaction = apply(connection, &operation, totals, debit.change()).await?;
    top_ups::queue_if_met(connection, debit.account, auto_topup, transaction.balance_after, now).await?;
    Ok(transaction)
}

/// [`CreditLedger::refund`](domain::credits::CreditLedger::refund), in the caller's transaction.
pub(crate) async fn refund(
    connection: &mut AsyncPgConnection,
    refund: &Refund,
    now: OffsetDateTime,
) -> Result<Transaction, Rollback<RefundError>> {
    let Locked { totals, .. } = lock(connection, refund.account).await?;
    let debit = find_debit(connection, refund).await?;
    let meta = Map::from_iter([
        ("reason".to_owned(), json!(refund.reason)),
        ("debit_transaction_id".to_owned(), json!(debit.id)),
    ]);
    let operation = Operation {
        account: refund.account,
        key: &refund.key,
        fingerprint: refund.fingerprint(),
        meta: &meta,
        refunds: Some(debit.id.0),
        now,
    };
    match earlier(connection, &operation).await? {
        Earlier::Same(transaction) => return Ok(transaction),
        Earlier::Other => return Err(Rollback::Refused(RefundError::KeyReused)),
        Earlier::None { .. } => {}
    }
    if let Some(by) = refunded_by(connection, refund, debit.id.0).await? {
        return Err(Rollback::Refused(RefundError::AlreadyRefunded { by: Box::new(by) }));
    }
    let change = Change::Refund {
        amount: CreditAmount::new(-debit.amount).map_err(|_| corrupt("debit"))?,
        feature: FeatureName::new(debit.feature.unwrap_or_default()).map_err(|_| corrupt("debit"))?,
        reason: refund.reason.clone(),
    };
    apply(connection, &operation, totals, change).await
}

/// The debit under the key that the refund names.
async fn find_debit(connection: &mut AsyncPgConnection, refund: &Refund) -> Result<Transaction, Rollback<RefundError>> {
    let row: Option<TransactionRow> = credit_transactions::table
        .filter(credit_transactions::account_id.eq(refund.account.0))
        .filter(credit_transactions::operation_key.eq(refund.debit_key.as_str()))
        .filter(credit_transactions::kind.eq(TransactionKind::Consume.as_str()))
        .select(TransactionRow::as_select())
        .first(connection)
        .await
        .optional()?;
    Ok(row.ok_or(Rollback::Refused(RefundError::UnknownDebit))?.try_into()?)
}

async fn refunded_by(
    connection: &mut AsyncPgConnection,
    refund: &Refund,
    debit: i64,
) -> Result<Option<Transaction>, Rollback<RefundError>> {
    let row: Option<TransactionRow> = credit_transactions::table
        .filter(credit_transactions::account_id.eq(refund.account.0))
        .filter(credit_transactions::refunds_id.eq(debit))
        .select(TransactionRow::as_select())
        .first(connection)
        .await
        .optional()?;
    Ok(row.map(Transaction::try_from).transpose()?)
}

pub(super) async fn grant(
    connection: &mut AsyncPgConnection,
    grant: &Grant,
    now: OffsetDateTime,
) -> Result<Transaction, Rollback<PostError>> {
    let operation = Operation {
        account: grant.account,
        key: &grant.key,
        fingerprint: grant.fingerprint(),
        meta: &grant.meta,
        refunds: None,
        now,
    };
    once(connection, &operation, Change::Grant { amount: grant.amount }).await
}

pub(super) async fn adjust(
    connection: &mut AsyncPgConnection,
    adjust: &Adjust,
    now: OffsetDateTime,
) -> Result<Transaction, Rollback<PostError>> {
    let operation = Operation {
        account: adjust.account,
        key: &adjust.key,
        fingerprint: adjust.fingerprint(),
        meta: &adjust.meta,
        refunds: None,
        now,
    };
    once(connection, &operation, Change::Adjustment { amount: adjust.amount, take: adjust.take }).await
}

async fn once(
    connection: &mut AsyncPgConnection,
    operation: &Operation<'_>,
    change: Change,
) -> Result<Transaction, Rollback<PostError>> {
    let Locked { totals, .. } = lock(connection, operation.account).await?;
    match earlier(connection, operation).await? {
        Earlier::Same(transaction) => Ok(transaction),
        Earlier::Other => Err(Rollback::Refused(PostError::KeyReused)),
        Earlier::None { .. } => apply(connection, operation, totals, change).await,
    }
}
