//! What a payment writes, however often and in whatever order it is reported.

use domain::{
    AccountId,
    accounts::Plan,
    credits::{CreditAmount, CreditLedger, RechargeSource, TransactionKind},
    payments::{Interval, Order, Payer, Payment, PaymentStatus, PaymentStore, Settled, Settlement, Sold},
};
use futures_util::future::join_all;
use rust_decimal::dec;
use serde_json::{Value, json};
use time::Duration;

use super::books::{account, books, debit, events};
use crate::{
    database::{Database, fresh},
    webhook_fixture::START,
};

/// 500 credits for 9 dollars.
fn pack(account: AccountId, id: &str, status: PaymentStatus) -> Settlement {
    let order = Order { account, item: "small".to_owned(), charge: None };
    Settlement {
        gateway: "rebill",
        payment: Payment {
            id: id.parse().unwrap(),
            status,
            amount: dec!(9.00),
            currency: "USD".parse().unwrap(),
            invoice_id: format!("inv_{id}"),
            payer: Payer { customer_id: "cus_1".to_owned(), email: "payer@example.com".to_owned() },
            order: Some(order.clone()),
        },
        order,
        sold: Sold { credits: CreditAmount::new(500).unwrap(), source: RechargeSource::Manual, plan: None },
    }
}

pub fn plan(account: AccountId, id: &str, plan: Plan, status: PaymentStatus) -> Settlement {
    let bought = pack(account, id, status);
    Settlement { sold: Sold { plan: Some((plan, Interval::Month)), ..bought.sold }, ..bought }
}

async fn settle(db: &Database, settlement: Settlement) -> Settled {
    db.store.settle(settlement, START).await.unwrap()
}

async fn plan_of(db: &Database, account: AccountId) -> String {
    db.sql.query_one("SELECT plan FROM accounts WHERE id = $1", &[&account.0]).await.unwrap().get(0)
}

#[tokio::test]
async fn a_payment_is_credited_once_with_its_events() {
    let db = fresh().await;
    let payer = account(&db.sql, 50).await;
    let Settled::Credited(row) = settle(&db, pack(payer, "p1", PaymentStatus::Approved)).await else {
        panic!("not credited")
    };
    assert_eq!((row.kind, row.amount, row.balance_after), (TransactionKind::Topup, 500, 550));
    assert_eq!(
        Value::Object(row.meta),
        json!({"gateway": "rebill", "payment_id": "p1", "invoice_id": "inv_p1", "item": "small", "amount": "9.00",
            "currency": "USD"})
    );
    let again = join_all((0..5).map(|_| settle(&db, pack(payer, "p1", PaymentStatus::Approved)))).await;
    assert!(again.iter().all(|settled| *settled == Settled::Unchanged));
    let books = books(&db.sql, payer).await;
    assert_eq!((books.balance, books.purchased, books.rows), (550, 500, 2));
    let events = events(&db.sql, payer).await;
    assert_eq!(
        [&events[0]["event"], &events[0]["data"], &events[1]["event"]],
        [
            &json!("purchase.created"),
            &json!({"invoice_id": "inv_p1", "amount": 9.00, "currency": "USD", "customer_email": "payer@example.com"}),
            &json!("credits.recharged")
        ]
    );
    assert_eq!(events[1]["data"]["source"], "manual");
    assert_eq!(events[1]["data"]["rebill_payment"], "p1");
    assert_eq!(events.len(), 2);
}

#[tokio::test]
async fn of_simultaneous_reports_one_credits() {
    let db = fresh().await;
    let payer = account(&db.sql, 0).await;
    let settled = join_all((0..8).map(|_| settle(&db, pack(payer, "p1", PaymentStatus::Approved)))).await;
    assert_eq!(settled.iter().filter(|settled| matches!(settled, Settled::Credited(_))).count(), 1);
    assert_eq!(books(&db.sql, payer).await.balance, 500);
}

#[tokio::test]
async fn the_order_of_reports_does_not_matter() {
    use PaymentStatus::{Approved, ChargedBack, Pending, Refunded, Rejected};
    let db = fresh().await;
    // The reports, and the credits that are left after each.
    let cases: [&[(PaymentStatus, i64)]; 5] = [
        &[(Pending, 0), (Approved, 500), (Pending, 500), (Refunded, 0), (Approved, 0)],
        &[(Refunded, 0), (Approved, 0), (Pending, 0)],
        &[(Rejected, 0), (Approved, 500), (Rejected, 500)],
        &[(Approved, 500), (ChargedBack, 0), (Refunded, 0), (Approved, 0)],
        &[(Approved, 500), (Refunded, 0), (ChargedBack, 0)],
    ];
    for (number, reports) in cases.into_iter().enumerate() {
        let payer = account(&db.sql, 0).await;
        for (status, left) in reports {
            settle(&db, pack(payer, &format!("p{number}"), *status)).await;
            assert_eq!(books(&db.sql, payer).await.balance, *left, "case {number} after {status}");
        }
    }
}

#[tokio::test]
async fn a_reversal_takes_what_is_left_and_says_what_was_not() {
    let db = fresh().await;
    let payer = account(&db.sql, 0).await;
    settle(&db, pack(payer, "p1", PaymentStatus::Approved)).await;
    db.store.debit(debit(payer, 380, "job-1"), START).await.unwrap();
    let Settled::Reversed(Some(row)) = settle(&db, pack(payer, "p1", PaymentStatus::Refunded)).await else {
        panic!("not reversed")
    };
    assert_eq!((row.kind, row.amount, row.balance_after), (TransactionKind::Adjustment, -120, 0));
    assert_eq!((&row.meta["reason"], &row.meta["shortfall"]), (&json!("refunded"), &json!(380)));

    settle(&db, pack(payer, "p2", PaymentStatus::Approved)).await;
    db.store.debit(debit(payer, 500, "job-2"), START).await.unwrap();
    assert_eq!(settle(&db, pack(payer, "p2", PaymentStatus::Refunded)).await, Settled::Reversed(None));
    let shortfalls = "SELECT array_agg(shortfall ORDER BY payment_id) FROM payments WHERE account_id = $1";
    let shortfalls: Vec<i64> = db.sql.query_one(shortfalls, &[&payer.0]).await.unwrap().get(0);
    assert_eq!(shortfalls, [380, 500]);
    assert_eq!(books(&db.sql, payer).await.balance, 0);
}

#[tokio::test]
async fn a_plan_lasts_as_long_as_a_payment_of_one_stands() {
    let db = fresh().await;
    let payer = account(&db.sql, 0).await;
    settle(&db, plan(payer, "p1", Plan::Pro, PaymentStatus::Pending)).await;
    assert_eq!(plan_of(&db, payer).await, "free");
    settle(&db, plan(payer, "p1", Plan::Pro, PaymentStatus::Approved)).await;
    assert_eq!(plan_of(&db, payer).await, "pro");
    let events = events(&db.sql, payer).await;
    assert_eq!(events[2]["event"], "subscription.activated");
    assert_eq!(events[2]["data"], json!({"provider": "rebill", "plan_key": "pro", "interval": "month"}));

    let later = START + Duration::HOUR;
    db.store.settle(plan(payer, "p2", Plan::Scale, PaymentStatus::Approved), later).await.unwrap();
    assert_eq!(plan_of(&db, payer).await, "scale");
    settle(&db, plan(payer, "p2", Plan::Scale, PaymentStatus::Refunded)).await;
    assert_eq!(plan_of(&db, payer).await, "pro", "what was paid before goes on");
    settle(&db, plan(payer, "p1", Plan::Pro, PaymentStatus::ChargedBack)).await;
    assert_eq!(plan_of(&db, payer).await, "free");
}

#[tokio::test]
async fn a_chargeback_switches_recharging_off() {
    let db = fresh().await;
    let payer = account(&db.sql, 0).await;
    db.sql.execute("UPDATE credit_balances SET auto_topup_enabled = true", &[]).await.unwrap();
    settle(&db, pack(payer, "p1", PaymentStatus::Approved)).await;
    settle(&db, pack(payer, "p1", PaymentStatus::ChargedBack)).await;
    let settings = db.store.summary(payer).await.unwrap().auto_topup;
    assert_eq!((settings.enabled, settings.disabled_reason.as_deref()), (false, Some("a payment was charged back")));
}

#[tokio::test]
async fn a_payment_is_its_accounts_own() {
    let db = fresh().await;
    let (payer, other) = (account(&db.sql, 0).await, account(&db.sql, 7).await);
    settle(&db, pack(payer, "p1", PaymentStatus::Approved)).await;
    // The same id in another account is another payment.
    assert!(matches!(settle(&db, pack(other, "p1", PaymentStatus::Approved)).await, Settled::Credited(_)));
    settle(&db, pack(other, "p1", PaymentStatus::Refunded)).await;
    assert_eq!((books(&db.sql, payer).await.balance, books(&db.sql, other).await.balance), (500, 7));
}
