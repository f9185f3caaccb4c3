//! What becomes of automatic charges when the deletion of their account is asked for.

use domain::{
    AccountId, UserId,
    audit::{Action, Actor, Entry},
    credits::{
        CreditLedger,
        auto_topup::{AutoTopupChange, AutoTopupStore, Left, Terms},
    },
    erasure::{Erasure, ErasureStore, UNDO_FOR},
    payments::Price,
};
use rust_decimal::dec;
use time::Duration;

use super::books::{account, debit};
use crate::{
    database::{Database, fresh},
    shop,
    webhook_fixture::START,
};

/// An account of 50 credits that recharges 500 below 100, and so has a charge in line.
async fn recharging(db: &Database) -> AccountId {
    let payer = account(&db.sql, 50).await;
    let change = AutoTopupChange { enabled: true, threshold: Some(100), top_up_amount: Some(500), monthly_cap: None };
    db.store.change(payer, change, None, START).await.unwrap();
    assert_eq!(charges(db, payer).await, ["(pending,\"\")"]);
    payer
}

async fn charges(db: &Database, payer: AccountId) -> Vec<String> {
    shop::rows(&db.sql, payer, "state, coalesce(reason, '')", "auto_topups").await
}

/// Asks for the deletion of the account's user.
async fn ask(db: &Database, account: AccountId) -> UserId {
    let row = db.sql.query_one("SELECT user_id FROM accounts WHERE id = $1", &[&account.0]).await.unwrap();
    let user: UserId = row.get::<_, String>(0).parse().unwrap();
    let note = Entry::new(user.clone(), Actor::Operator, Action::ErasureRequested, None);
    db.store.request(&user, Erasure::asked(START), note).await.unwrap();
    user
}

#[tokio::test]
async fn a_charge_that_waits_is_canceled_when_its_account_is_to_be_deleted() {
    let db = fresh().await;
    let (payer, off) = (recharging(&db).await, account(&db.sql, 50).await);
    let copy = "INSERT INTO accounts (user_id, mode, name, plan, currency, timezone, created_at, copy_of, as_of)
        SELECT user_id, mode, name, plan, currency, timezone, created_at, id, date '2026-04-30' FROM accounts
        WHERE id = $1 RETURNING id";
    let copy = AccountId(db.sql.query_one(copy, &[&payer.0]).await.unwrap().get(0));
    ask(&db, payer).await;
    ask(&db, off).await;
    db.store.debit(debit(payer, 10, "a"), START).await.unwrap();
    assert_eq!(charges(&db, payer).await, ["(canceled,settings_changed)"]);
    let settings = async |account| db.store.summary(account).await.unwrap().auto_topup;
    let shown = settings(payer).await;
    let why = "the deletion of the account was asked for";
    assert_eq!((shown.enabled, shown.disabled_reason.as_deref()), (false, Some(why)));
    assert_eq!(settings(off).await.disabled_reason, None, "the service switched nothing off");
    assert_eq!(shop::rows(&db.sql, copy, "balance", "credit_balances").await, [""; 0]);
}

#[tokio::test]
async fn a_user_whose_charge_is_not_answered_is_erased_once_it_is() {
    let db = fresh().await;
    let (payer, other) = (recharging(&db).await, account(&db.sql, 50).await);
    let charge = db.store.lease(START, START + Duration::MINUTE, 1).await.unwrap()[0].charge;
    let price = Price { amount: dec!(9), currency: "USD".parse().unwrap() };
    let terms = Terms { customer_id: "cus_1".to_owned(), item: "small".to_owned(), price };
    assert!(db.store.sending(charge, &terms, START).await.unwrap());
    let (mine, theirs) = (ask(&db, payer).await, ask(&db, other).await);
    assert_eq!(charges(&db, payer).await, ["(pending,\"\")"], "only the gateway knows whether it was paid");
    let due = async || {
        let mut due = db.store.due(START + UNDO_FOR, 10).await.unwrap();
        due.sort_unstable();
        due
    };
    assert_eq!(due().await, std::slice::from_ref(&theirs));
    let left = Left::Failed { reason: "card_declined".to_owned(), retry_at: START };
    db.store.leave(charge, left, START).await.unwrap();
    let mut both = [mine, theirs];
    both.sort_unstable();
    assert_eq!(due().await, both);
}
