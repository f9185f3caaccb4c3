//! [`CreditLedger`] on Postgres.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use domain::{
    AccountId, StoreError,
    credits::{AutoTopup, CreditLedger, Credits, RECENT_TRANSACTIONS, Transaction},
};
use serde_json::Value;
use time::OffsetDateTime;

use crate::{
    Store,
    error::{Failure, corrupt, parse},
    schema::{credit_balances, credit_transactions},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = credit_balances, check_for_backend(diesel::pg::Pg))]
struct BalanceRow {
    balance: i64,
    total_purchased: i64,
    total_spent: i64,
    auto_topup_enabled: bool,
    auto_topup_threshold: i64,
    auto_topup_amount: i64,
    auto_topup_last_charged_at: Option<OffsetDateTime>,
    updated_at: OffsetDateTime,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = credit_transactions, check_for_backend(diesel::pg::Pg))]
struct TransactionRow {
    id: i64,
    kind: String,
    feature: Option<String>,
    amount: i64,
    balance_after: i64,
    meta: Value,
    created_at: OffsetDateTime,
}

impl TryFrom<TransactionRow> for Transaction {
    type Error = StoreError;
    fn try_from(row: TransactionRow) -> Result<Self, StoreError> {
        let TransactionRow { id, kind, feature, amount, balance_after, meta, created_at } = row;
        let Value::Object(meta) = meta else { return Err(corrupt("transaction meta")) };
        Ok(Self { id, kind: parse(&kind, "transaction kind")?, feature, amount, balance_after, created_at, meta })
    }
}

#[async_trait]
impl CreditLedger for Store {
    async fn summary(&self, account: AccountId) -> Result<Credits, StoreError> {
        // One statement, so that balance and transactions are of one moment.
        let rows: Vec<(BalanceRow, Option<TransactionRow>)> = self
            .run::<_, Failure>(async |connection| {
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
        let BalanceRow {
            balance,
            total_purchased,
            total_spent,
            auto_topup_enabled,
            auto_topup_threshold,
            auto_topup_amount,
            auto_topup_last_charged_at,
            updated_at,
        } = summary.ok_or_else(|| corrupt("credit balance"))?;
        Ok(Credits {
            balance,
            total_purchased,
            total_spent,
            updated_at,
            auto_topup: AutoTopup {
                enabled: auto_topup_enabled,
                threshold: auto_topup_threshold,
                top_up_amount: auto_topup_amount,
                last_charged_at: auto_topup_last_charged_at,
            },
            recent_transactions,
        })
    }
}
