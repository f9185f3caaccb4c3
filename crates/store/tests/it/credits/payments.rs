//! What a payment writes, however often and in whatever order it is reported.

use domain::{
    AccountId,
    accounts::Plan,
    credits::{
        CreditAmount, CreditLedger, RechargeSource, TransactionKind,
        auto_topup::{AutoTopupChange, AutoTopupStore},
    },
    payments::{
        Entitlement, Interval, Order, Payer, Payment, PaymentStatus, PaymentStore, Price, PriceList, Purchase, Refusal,
        SettleError, Settled, Settlement,
    },
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
    let price = Price { amount: dec!(9.00), currency: "USD".parse().unwrap() };
    let entitlement =
        Entitlement { credits: CreditAmount::new(500).unwrap(), source: RechargeSource::Manual, plan: None };
    Settlement {
        gateway: "rebill",
        payment: Payment {
            id: id.parse().unwrap(),
            status,
            amount: price.amount,
            currency: price.currency,
            invoice_id: Some(format!("inv_{id}")),
            payer: Payer { customer_id: Some("cus_1".to_owned()), email: Some("payer@example.com".to_owned()) },
            order: Some(Order { account, item: "small".to_owned(), charge: None }),
        },
        account,
        quote: Ok(Purchase { item: "small".to_owned(), entitlement, price, charge: None }),
    }
}

/// The same settlement, where what it buys is quoted by another list.
fn quoted(settlement: Settlement, quote: impl FnOnce(Purchase) -> Result<Purchase, Refusal>) -> Settlement {
    let quote = quote(settlement.quote.unwrap());
    Settlement { quote, ..settlement }
}

pub fn plan(account: AccountId, id: &str, plan: Plan, status: PaymentStatus) -> Settlement {
    let plan = |bought: Purchase| {
        let item = format!("{plan}_month");
        Ok(Purchase {
            item,
            entitlement: Entitlement { plan: Some((plan, Interval::Month)), ..bought.entitlement },
            ..bought
        })
    };
    quoted(pack(account, id, status), plan)
}

/// Credits a payment of a plan.
pub async fn credit(store: &store::Store, account: AccountId, id: &str) {
    let settled = store.settle(plan(account, id, Plan::Pro, PaymentStatus::Approved), START).await;
    assert!(matches!(settled, Ok(Settled::Credited(_))), "{settled:?}");
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
async fn a_payer_whom_the_gateway_does_not_name_takes_no_card_away() {
    let db = fresh().await;
    let payer = account(&db.sql, 50).await;
    settle(&db, pack(payer, "p1", PaymentStatus::Approved)).await;
    let mut bare = pack(payer, "p2", PaymentStatus::Approved);
    (bare.payment.invoice_id, bare.payment.payer) = (None, Payer::default());
    let Settled::Credited(row) = settle(&db, bare).await else { panic!("not credited") };
    assert_eq!((row.balance_after, &row.meta["invoice_id"]), (1_050, &Value::Null));
    let customers = "SELECT customer_id FROM payment_customers WHERE account_id = $1";
    let customer: String = db.sql.query_one(customers, &[&payer.0]).await.unwrap().get(0);
    assert_eq!(customer, "cus_1");
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
async fn a_chargeback_switches_nothing_off_that_was_off() {
    let db = fresh().await;
    let payer = account(&db.sql, 0).await;
    settle(&db, pack(payer, "p1", PaymentStatus::Approved)).await;
    settle(&db, pack(payer, "p1", PaymentStatus::ChargedBack)).await;
    let settings = db.store.summary(payer).await.unwrap().auto_topup;
    assert_eq!((settings.enabled, settings.disabled_reason), (false, None));
}

#[tokio::test]
async fn a_chargeback_cancels_the_charge_that_waits() {
    let db = fresh().await;
    let payer = account(&db.sql, 0).await;
    settle(&db, pack(payer, "p1", PaymentStatus::Approved)).await;
    let change = AutoTopupChange { enabled: true, threshold: Some(501), top_up_amount: Some(500), monthly_cap: None };
    db.store.change(payer, change, None, START).await.unwrap();
    let charges = async || crate::shop::rows(&db.sql, payer, "state, coalesce(reason, '')", "auto_topups").await;
    assert_eq!(charges().await, ["(pending,\"\")"]);
    settle(&db, pack(payer, "p1", PaymentStatus::ChargedBack)).await;
    assert_eq!(charges().await, ["(canceled,settings_changed)"]);
}

#[tokio::test]
async fn a_payment_of_a_gateway_credits_one_account() {
    let db = fresh().await;
    let (payer, other) = (account(&db.sql, 0).await, account(&db.sql, 7).await);
    assert_eq!(db.store.owner("rebill", &"p1".parse().unwrap()).await.unwrap(), None);
    let reports = (0..6).map(|number| {
        let account = if number % 2 == 0 { payer } else { other };
        db.store.settle(pack(account, "p1", PaymentStatus::Approved), START)
    });
    let settled = join_all(reports).await;
    assert_eq!(settled.iter().filter(|settled| matches!(settled, Ok(Settled::Credited(_)))).count(), 1);
    let refused = |settled: &&Result<_, _>| matches!(settled, Err(SettleError::Refused(Refusal::OtherAccount)));
    assert_eq!(settled.iter().filter(refused).count(), 3, "{settled:?}");
    assert_eq!(books(&db.sql, payer).await.balance + books(&db.sql, other).await.balance, 507);
    let owner = db.store.owner("rebill", &"p1".parse().unwrap()).await.unwrap().unwrap();
    settle(&db, pack(owner, "p1", PaymentStatus::Refunded)).await;
    assert_eq!((books(&db.sql, payer).await.balance, books(&db.sql, other).await.balance), (0, 7));
}

#[tokio::test]
async fn what_was_bought_is_what_is_taken_back_whatever_is_for_sale_by_then() {
    let db = fresh().await;
    let quotes: [fn(Purchase) -> Result<Purchase, Refusal>; 4] = [
        |_| Err(Refusal::AmountMismatch),
        |_| Err(Refusal::UnknownItem),
        |bought| {
            Ok(Purchase {
                entitlement: Entitlement { credits: CreditAmount::new(600).unwrap(), ..bought.entitlement },
                ..bought
            })
        },
        |bought| Ok(Purchase { entitlement: Entitlement { plan: None, ..bought.entitlement }, ..bought }),
    ];
    for (number, quote) in quotes.into_iter().enumerate() {
        for status in [PaymentStatus::Refunded, PaymentStatus::ChargedBack] {
            let payer = account(&db.sql, 1_000).await;
            db.sql.execute("UPDATE credit_balances SET auto_topup_enabled = true", &[]).await.unwrap();
            let id = format!("p{number}_{status}");
            settle(&db, plan(payer, &id, Plan::Pro, PaymentStatus::Approved)).await;
            // The version before wrote no such row.
            db.sql.execute("DELETE FROM payment_owners", &[]).await.unwrap();
            let Settled::Reversed(Some(row)) = settle(&db, quoted(plan(payer, &id, Plan::Pro, status), quote)).await
            else {
                panic!("not reversed")
            };
            assert_eq!((row.amount, row.balance_after, &row.meta["item"]), (-500, 1_000, &json!("pro_month")));
            assert_eq!(plan_of(&db, payer).await, "free");
            let enabled = db.store.summary(payer).await.unwrap().auto_topup.enabled;
            assert_eq!(enabled, status == PaymentStatus::Refunded);
        }
    }
}

#[tokio::test]
async fn a_payment_that_was_pending_when_the_list_changed_brings_what_is_recorded() {
    let db = fresh().await;
    let payer = account(&db.sql, 0).await;
    settle(&db, plan(payer, "p1", Plan::Scale, PaymentStatus::Pending)).await;
    let approved = quoted(plan(payer, "p1", Plan::Scale, PaymentStatus::Approved), |_| Err(Refusal::UnknownItem));
    let Settled::Credited(row) = settle(&db, approved).await else { panic!("not credited") };
    assert_eq!((row.amount, plan_of(&db, payer).await.as_str()), (500, "scale"));
    let activated = &events(&db.sql, payer).await[2];
    assert_eq!(activated["data"], json!({"provider": "rebill", "plan_key": "scale", "interval": "month"}));

    // Another amount than the recorded one is another purchase.
    settle(&db, pack(payer, "p2", PaymentStatus::Pending)).await;
    let mut cheaper = pack(payer, "p2", PaymentStatus::Approved);
    cheaper.payment.amount = dec!(0.09);
    let refused = db.store.settle(cheaper, START).await;
    assert!(matches!(refused, Err(SettleError::Refused(Refusal::AmountMismatch))), "{refused:?}");
    assert_eq!(books(&db.sql, payer).await.balance, 500);
}

#[tokio::test]
async fn what_is_refused_leaves_no_trace() {
    let db = fresh().await;
    let payer = account(&db.sql, 0).await;
    let refused = quoted(pack(payer, "p1", PaymentStatus::Approved), |_| Err(Refusal::UnknownItem));
    assert!(matches!(db.store.settle(refused, START).await, Err(SettleError::Refused(Refusal::UnknownItem))));
    let unknown = pack(AccountId(payer.0 + 100), "p1", PaymentStatus::Approved);
    assert!(matches!(db.store.settle(unknown, START).await, Err(SettleError::Refused(Refusal::UnknownAccount))));
    assert_eq!(db.store.owner("rebill", &"p1".parse().unwrap()).await.unwrap(), None);
    assert!(matches!(settle(&db, pack(payer, "p1", PaymentStatus::Approved)).await, Settled::Credited(_)));
}

#[tokio::test]
async fn a_chargeback_that_is_the_first_that_is_heard_switches_recharging_off() {
    let db = fresh().await;
    let payer = account(&db.sql, 0).await;
    for before in [None, Some(PaymentStatus::Pending), Some(PaymentStatus::Refunded)] {
        db.sql.execute("UPDATE credit_balances SET auto_topup_enabled = true", &[]).await.unwrap();
        let id = format!("p_{}", before.map_or("new", PaymentStatus::as_str));
        if let Some(before) = before {
            settle(&db, pack(payer, &id, before)).await;
        }
        assert_eq!(settle(&db, pack(payer, &id, PaymentStatus::ChargedBack)).await, Settled::Noted);
        assert!(!db.store.summary(payer).await.unwrap().auto_topup.enabled, "{before:?}");
    }
}

#[tokio::test]
async fn an_offer_is_known_until_some_time_after_its_end() {
    let db = fresh().await;
    let list = |packs: &str, plans: &str| PriceList::parse(packs, plans).unwrap();
    let known = async |item: &str, since| {
        let mut offers = db.store.published_offers(item, since).await.unwrap();
        offers.sort_by_key(|offer| offer.entitlement.credits);
        let shown = offers.into_iter().map(|offer| {
            (
                offer.entitlement.credits.get(),
                offer.price.written(),
                offer.entitlement.plan,
                offer.price.currency.to_string(),
            )
        });
        shown.collect::<Vec<_>>()
    };
    let (first, second) = (list("small:500:9.00:USD", "pro:year:5000:79.00:USD"), list("small:600:9.00:USD", ""));
    db.store.publish(&first, START).await.unwrap();
    let pro = [(5_000, "79.00".to_owned(), Some((Plan::Pro, Interval::Year)), "USD".to_owned())];
    assert_eq!(known("pro_year", START + Duration::DAY).await, pro, "it is for sale");
    let changed = START + Duration::DAY * 30;
    db.store.publish(&second, changed).await.unwrap();
    // Another process starts with the same list.
    db.store.publish(&second, changed + Duration::DAY).await.unwrap();
    let small = |credits| (credits, "9.00".to_owned(), None, "USD".to_owned());
    assert_eq!(known("small", changed).await, [small(500), small(600)]);
    assert_eq!(known("pro_year", changed).await, pro);
    assert_eq!(known("small", changed + Duration::SECOND).await, [small(600)]);
    // The list is changed back.
    db.store.publish(&first, changed + Duration::DAY * 2).await.unwrap();
    assert_eq!(known("small", changed + Duration::DAY * 3).await, [small(500)]);
}
