//! Charges in line: caused by a debit, held by one worker, ended once.

use domain::{
    AccountId,
    credits::{
        CreditAmount, CreditLedger, RechargeSource, TransactionKind,
        auto_topup::{AutoTopup, AutoTopupChange, AutoTopupStore, ChargeRef, Left, Terms, Waiting},
    },
    payments::{Order, Payer, Payment, PaymentStatus, PaymentStore, Price, Settled, Settlement, Sold},
};
use rust_decimal::dec;
use time::{Duration, OffsetDateTime};

use super::books::{account, books, debit};
use crate::{
    database::{Database, fresh},
    webhook_fixture::START,
};

const MINUTE: Duration = Duration::MINUTE;

/// An account of 1,000 credits that recharges 500 below 100.
async fn recharging(db: &Database) -> AccountId {
    let payer = account(&db.sql, 1_000).await;
    enable(db, payer).await;
    payer
}

async fn enable(db: &Database, payer: AccountId) -> AutoTopup {
    let change = AutoTopupChange { enabled: true, threshold: Some(100), top_up_amount: Some(500), monthly_cap: None };
    db.store.change(payer, change).await.unwrap()
}

async fn spend(db: &Database, payer: AccountId, amount: i64, key: &str) {
    db.store.debit(debit(payer, amount, key), START).await.unwrap();
}

async fn lease(db: &Database, now: OffsetDateTime) -> Vec<Waiting> {
    db.store.lease(now, now + MINUTE, 10).await.unwrap()
}

async fn states(db: &Database, payer: AccountId) -> Vec<String> {
    crate::shop::rows(&db.sql, payer, "state, coalesce(reason, '')", "auto_topups").await
}

fn terms() -> Terms {
    Terms {
        customer_id: "cus_1".to_owned(),
        item: "small".to_owned(),
        price: Price { amount: dec!(9), currency: "USD".parse().unwrap() },
    }
}

/// What the gateway says about a charge that it made.
fn paid(charge: ChargeRef) -> Settlement {
    let order = Order { account: charge.account, item: "small".to_owned(), charge: Some(charge.id) };
    Settlement {
        gateway: "rebill",
        payment: Payment {
            id: format!("auto_{}", charge.id).parse().unwrap(),
            status: PaymentStatus::Approved,
            amount: dec!(9),
            currency: "USD".parse().unwrap(),
            invoice_id: "inv".to_owned(),
            payer: Payer { customer_id: "cus_1".to_owned(), email: "payer@example.com".to_owned() },
            order: Some(order.clone()),
        },
        order,
        sold: Sold { credits: CreditAmount::new(500).unwrap(), source: RechargeSource::Auto, plan: None },
    }
}

#[tokio::test]
async fn one_charge_is_in_line_however_many_debits_ask_for_it() {
    let db = fresh().await;
    let payer = recharging(&db).await;
    spend(&db, payer, 900, "a").await;
    assert_eq!(lease(&db, START).await, [], "100 credits are not less than 100");
    for key in ["b", "c", "d"] {
        spend(&db, payer, 1, key).await;
    }
    spend(&db, payer, 1, "d").await;
    let held = lease(&db, START).await;
    assert_eq!(held.len(), 1);
    let Waiting {
        charge, credits, attempts, sent, enabled, balance, threshold, last_ended_at, bought_this_month, ..
    } = held[0].clone();
    assert_eq!((charge.account, charge.claim, credits, attempts, sent), (payer, 1, 500, 0, None));
    assert_eq!((enabled, balance, threshold, last_ended_at, bought_this_month), (true, 97, 100, None, 0));
}

#[tokio::test]
async fn who_did_not_ask_for_it_and_who_develops_is_not_charged() {
    let db = fresh().await;
    let [off, sandbox] = [account(&db.sql, 10).await, recharging(&db).await];
    db.sql.execute("UPDATE accounts SET mode = 'test' WHERE id = $1", &[&sandbox.0]).await.unwrap();
    spend(&db, off, 10, "a").await;
    spend(&db, sandbox, 1_000, "a").await;
    assert_eq!(lease(&db, START).await, []);
}

#[tokio::test]
async fn a_debit_that_is_not_made_causes_no_charge() {
    let db = fresh().await;
    let payer = recharging(&db).await;
    db.sql.execute("ALTER TABLE events ADD CONSTRAINT refuse CHECK (kind <> 'credits.low')", &[]).await.unwrap();
    assert!(db.store.debit(debit(payer, 950, "a"), START).await.is_err());
    assert_eq!(states(&db, payer).await, [""; 0]);
}

#[tokio::test]
async fn a_charge_is_one_workers_until_its_lease_ends() {
    let db = fresh().await;
    let payer = recharging(&db).await;
    spend(&db, payer, 950, "a").await;
    let first = lease(&db, START).await[0].charge;
    assert_eq!(lease(&db, START + Duration::seconds(59)).await, []);
    assert!(db.store.sending(first, &terms()).await.unwrap());
    let second = lease(&db, START + MINUTE).await;
    assert_eq!((second[0].charge.id, second[0].charge.claim), (first.id, first.claim + 1));
    assert_eq!((second[0].attempts, &second[0].sent), (1, &Some(terms())), "it is sent again as it was sent");
    // Who held it before can do nothing with it any more.
    assert!(!db.store.sending(first, &terms()).await.unwrap());
    let failed = Left::Failed { reason: "card_declined".to_owned(), retry_at: START };
    for left in [failed, Left::Canceled { reason: "switched_off" }, Left::Waiting { until: START }] {
        db.store.leave(first, left, START).await.unwrap();
    }
    assert_eq!(states(&db, payer).await, ["(pending,\"\")"]);
    assert_eq!(db.store.summary(payer).await.unwrap().auto_topup.failures, 0);
}

#[tokio::test]
async fn a_charge_that_is_put_off_comes_back_then() {
    let db = fresh().await;
    let payer = recharging(&db).await;
    spend(&db, payer, 950, "a").await;
    let charge = lease(&db, START).await[0].charge;
    db.store.leave(charge, Left::Waiting { until: START + MINUTE * 5 }, START).await.unwrap();
    assert_eq!(lease(&db, START + MINUTE * 4).await, []);
    assert_eq!(lease(&db, START + MINUTE * 5).await.len(), 1);
}

#[tokio::test]
async fn a_paid_charge_is_credited_once_and_counts_for_the_month() {
    let db = fresh().await;
    let payer = recharging(&db).await;
    spend(&db, payer, 950, "a").await;
    let charge = lease(&db, START).await[0].charge;
    assert_eq!(db.store.charged(payer, charge.id).await.unwrap(), None, "not sent, so nothing can have been paid");
    db.store.sending(charge, &terms()).await.unwrap();
    let (sold, price) = db.store.charged(payer, charge.id).await.unwrap().unwrap();
    assert_eq!((sold.credits.get(), sold.source, price), (500, RechargeSource::Auto, terms().price));
    // The answer and the notification both say so.
    let Settled::Credited(row) = db.store.settle(paid(charge), START).await.unwrap() else { panic!("not credited") };
    assert_eq!(db.store.settle(paid(charge), START).await.unwrap(), Settled::Unchanged);
    assert_eq!((row.kind, row.balance_after), (TransactionKind::AutoTopup, 550));
    assert_eq!(books(&db.sql, payer).await.purchased, 500);
    assert_eq!(states(&db, payer).await, ["(done,\"\")"]);
    assert_eq!(db.store.summary(payer).await.unwrap().auto_topup.last_charged_at, Some(START));
    spend(&db, payer, 500, "b").await;
    let next = lease(&db, START + MINUTE).await;
    assert_eq!((next[0].bought_this_month, next[0].last_ended_at), (500, Some(START)));
    let june = START + Duration::days(31);
    assert_eq!(lease(&db, june).await[0].bought_this_month, 0);
}

#[tokio::test]
async fn three_failures_switch_it_off_and_switching_on_forgets_them() {
    let db = fresh().await;
    let payer = recharging(&db).await;
    spend(&db, payer, 950, "a").await;
    for failures in 1..=3 {
        let now = START + MINUTE * failures;
        let charge = lease(&db, now).await[0].charge;
        let left = Left::Failed { reason: "card_declined".to_owned(), retry_at: now + MINUTE };
        db.store.leave(charge, left, now).await.unwrap();
        let shown = db.store.summary(payer).await.unwrap().auto_topup;
        assert_eq!((i64::from(failures), shown.enabled), (shown.failures, failures < 3));
        assert_eq!(shown.last_failure.as_deref(), Some("card_declined"));
    }
    assert_eq!(lease(&db, START + Duration::DAY).await, [], "off is off");
    let reason = db.store.summary(payer).await.unwrap().auto_topup.disabled_reason;
    assert_eq!(reason.as_deref(), Some("3 charges failed, the last one: card_declined"));
    let again = enable(&db, payer).await;
    assert_eq!((again.failures, again.last_failure, again.disabled_reason), (0, None, None));
    assert_eq!(books(&db.sql, payer).await.balance, 50);
}

#[tokio::test]
async fn a_failure_is_not_tried_again_when_the_balance_has_recovered() {
    let db = fresh().await;
    let payer = recharging(&db).await;
    spend(&db, payer, 950, "a").await;
    let charge = lease(&db, START).await[0].charge;
    db.sql
        .batch_execute(&format!("UPDATE credit_balances SET balance = 500 WHERE account_id = {payer}"))
        .await
        .unwrap();
    let left = Left::Failed { reason: "card_declined".to_owned(), retry_at: START };
    db.store.leave(charge, left, START).await.unwrap();
    assert_eq!(states(&db, payer).await, ["(failed,card_declined)"]);
}
