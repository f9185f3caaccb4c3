//! Accounts with credits, and the check that their books balance.

use domain::{
    AccountId,
    credits::{CreditAmount, Debit, FeatureName, OperationKey, Refund},
};
use serde_json::{Map, Value};
use tokio_postgres::Client;

use crate::{shop, webhook_fixture::START};

/// An account that starts with a grant.
pub async fn account(sql: &Client, credits: i64) -> AccountId {
    let account = shop::account(sql, "UTC").await;
    sql.execute(
        "INSERT INTO credit_balances (account_id, balance, updated_at) VALUES ($1, $2, $3)",
        &[&account.0, &credits, &START],
    )
    .await
    .unwrap();
    if credits > 0 {
        sql.execute(
            "INSERT INTO credit_transactions (account_id, kind, amount, balance_after, created_at)
             VALUES ($1, 'grant', $2, $2, $3)",
            &[&account.0, &credits, &START],
        )
        .await
        .unwrap();
    }
    account
}

pub fn key(text: impl Into<String>) -> OperationKey {
    OperationKey::new(text).unwrap()
}

pub fn debit(account: AccountId, amount: i64, named: &str) -> Debit {
    Debit {
        account,
        amount: CreditAmount::new(amount).unwrap(),
        feature: FeatureName::new("chat").unwrap(),
        key: key(named),
        meta: Map::new(),
    }
}

pub fn refund(account: AccountId, debit: &str, named: &str) -> Refund {
    Refund { account, debit_key: key(debit), key: key(named), reason: "it failed".to_owned() }
}

/// What the ledger says, from the rows and from the balance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Books {
    pub balance: i64,
    pub purchased: i64,
    pub spent: i64,
    pub rows: i64,
}

/// Reads the account's books in SQL of the test's own, and fails unless they balance.
pub async fn books(sql: &Client, account: AccountId) -> Books {
    let row = sql
        .query_one(
            "SELECT b.balance, b.total_purchased, b.total_spent, count(t.id), coalesce(sum(t.amount), 0)::bigint,
                coalesce((array_agg(t.balance_after ORDER BY t.id DESC))[1], 0),
                coalesce(sum(t.amount) FILTER (WHERE t.kind IN ('topup', 'auto_topup')), 0)::bigint,
                coalesce(-sum(t.amount) FILTER (WHERE t.kind IN ('consume', 'refund')), 0)::bigint,
                coalesce(min(t.balance_after), 0)
             FROM credit_balances b LEFT JOIN credit_transactions t ON t.account_id = b.account_id
             WHERE b.account_id = $1 GROUP BY 1, 2, 3",
            &[&account.0],
        )
        .await
        .unwrap();
    let at = |index: usize| -> i64 { row.get(index) };
    let books = Books { balance: at(0), purchased: at(1), spent: at(2), rows: at(3) };
    assert_eq!((at(4), at(5), at(6), at(7)), (books.balance, books.balance, books.purchased, books.spent));
    assert!(at(8) >= 0);
    let running: i64 = sql
        .query_one(
            "SELECT count(*) FROM (SELECT balance_after - sum(amount) OVER (ORDER BY id) AS off FROM credit_transactions
             WHERE account_id = $1) AS rows WHERE off <> 0",
            &[&account.0],
        )
        .await
        .unwrap()
        .get(0);
    assert_eq!(running, 0, "balance_after is the running sum");
    books
}

/// The bodies of the account's events, in their order.
pub async fn events(sql: &Client, account: AccountId) -> Vec<Value> {
    let rows = sql.query("SELECT body FROM events WHERE account_id = $1 ORDER BY id", &[&account.0]).await.unwrap();
    rows.iter().map(|row| serde_json::from_slice(row.get::<_, &[u8]>(0)).unwrap()).collect()
}
