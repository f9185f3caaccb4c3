//! [`CreditLedger`] on Postgres.

mod auto_topup;
mod list;
mod offers;
pub(crate) mod operations;
mod payments;
pub(crate) mod posting;
mod rows;
pub(crate) mod top_ups;
mod usage;

use async_trait::async_trait;
use diesel::prelude::*;
use domain::{
    AccountId, StoreError,
    credits::{
        Adjust, AutoTopup, CreditLedger, Credits, Debit, DebitError, Grant, PostError, RECENT_TRANSACTIONS, Refund,
        RefundError, Transaction,
    },
};
use time::OffsetDateTime;

use crate::{
    Store,
    credits::{auto_topup::AutoTopupRow, rows::TransactionRow},
    database::{error::Failure, query::RunQueryDsl, transact::Rollback},
    schema::{accounts, credit_balances, credit_transactions},
};

/// Balance and settings.
#[derive(Queryable, Selectable)]
#[diesel(table_name = credit_balances, check_for_backend(diesel::pg::Pg))]
struct BalanceRow {
    balance: i64,
    total_purchased: i64,
    total_spent: i64,
    updated_at: OffsetDateTime,
    #[diesel(embed)]
    auto_topup: AutoTopupRow,
}

#[async_trait]
impl CreditLedger for Store {
    async fn summary(&self, account: AccountId) -> Result<Credits, StoreError> {
        // One statement, so that balance and transactions are of one moment.
        let rows: Vec<(BalanceRow, Option<TransactionRow>)> = self
            .read(account, async |connection| {
                Ok(credit_balances::table
                    .left_join(
                        credit_transactions::table.on(credit_transactions::account_id.eq(credit_balances::account_id)),
                    )
                    .filter(credit_balances::account_id.eq(account.0))
                    .order(credit_transactions::id.desc())
                    .limit(RECENT_TRANSACTIONS)
                    .select((BalanceRow::as_select(), Option::<TransactionRow>::as_select()))
                    .load(connection)
                    .await?)
            })
            .await?;
        let mut summary = None;
        let mut recent_transactions = Vec::new();
        for (balance, transaction) in rows {
            summary.get_or_insert(balance);
            if let Some(transaction) = transaction {
                recent_transactions.push(transaction.try_into()?);
            }
        }
        let Some(summary) = summary else { return Ok(self.no_credits(account).await?) };
        let BalanceRow { balance, total_purchased, total_spent, updated_at, auto_topup } = summary;
        Ok(Credits {
            balance,
            total_purchased,
            total_spent,
            updated_at,
            auto_topup: auto_topup.into(),
            recent_transactions,
        })
    }

    async fn debit(&self, debit: Debit, now: OffsetDateTime) -> Result<Transaction, DebitError> {
        let done = self.transact::<_, Rollback<_>>(async |connection| operations::debit(connection, &debit, now).await);
        let done = done.await.map_err(Rollback::into_error);
        if matches!(done, Err(DebitError::Insufficient { .. })) {
            self.queue_after_refusal(debit.account, now).await;
        }
        done
    }

    async fn refund(&self, refund: Refund, now: OffsetDateTime) -> Result<Transaction, RefundError> {
        let done =
            self.transact::<_, Rollback<_>>(async |connection| operations::refund(connection, &refund, now).await);
        done.await.map_err(Rollback::into_error)
    }

    async fn grant(&self, grant: Grant, now: OffsetDateTime) -> Result<Transaction, PostError> {
        let done = self.transact::<_, Rollback<_>>(async |connection| operations::grant(connection, &grant, now).await);
        done.await.map_err(Rollback::into_error)
    }

    async fn adjust(&self, adjust: Adjust, now: OffsetDateTime) -> Result<Transaction, PostError> {
        let done =
            self.transact::<_, Rollback<_>>(async |connection| operations::adjust(connection, &adjust, now).await);
        done.await.map_err(Rollback::into_error)
    }
}

impl Store {
    /// The credits of an account that never had any.
    async fn no_credits(&self, account: AccountId) -> Result<Credits, Failure> {
        let updated_at = self
            .run::<_, Failure>(async |connection| {
                Ok(accounts::table.find(account.0).select(accounts::created_at).first(connection).await?)
            })
            .await?;
        Ok(Credits {
            balance: 0,
            total_purchased: 0,
            total_spent: 0,
            updated_at,
            auto_topup: AutoTopup::default(),
            recent_transactions: Vec::new(),
        })
    }
}
