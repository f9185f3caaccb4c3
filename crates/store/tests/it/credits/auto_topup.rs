//! The queue of automatic charges: what puts one in it, who works on it, how it ends.

use domain::{
    AccountId, ChargeId,
    ai::{AiRuns, Ending, Outcome, RequestError},
    credits::{
        CreditAmount, CreditLedger, DebitError, RechargeSource, TransactionKind,
        auto_topup::{
            AutoTopup, AutoTopupChange, AutoTopupStore, BALANCE_RESTORED, ChargeRef, Left, Sent, Terms, Waiting,
        },
    },
    insights::InsightWriter,
    payments::{Entitlement, Order, Payer, Payment, PaymentStatus, PaymentStore, Price, Purchase, Settled, Settlement},
};
use rust_decimal::dec;
use time::{Duration, OffsetDateTime};

use super::books::{account, books, debit, events};
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
    db.store.change(payer, change, None, START).await.unwrap()
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
    let entitlement =
        Entitlement { credits: CreditAmount::new(500).unwrap(), source: RechargeSource::Auto, plan: None };
    let purchase = Purchase { item: "small".to_owned(), entitlement, price: terms().price, charge: Some(charge.id) };
    Settlement {
        gateway: "rebill",
        payment: Payment {
            id: format!("auto_{}", charge.id).parse().unwrap(),
            status: PaymentStatus::Approved,
            amount: dec!(9),
            currency: "USD".parse().unwrap(),
            invoice_id: None,
            payer: Payer::default(),
            order: Some(order),
        },
        account: charge.account,
        quote: Ok(purchase),
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
    assert!(db.store.sending(first, &terms(), START).await.unwrap());
    let second = lease(&db, START + MINUTE).await;
    assert_eq!((second[0].charge.id, second[0].charge.claim), (first.id, first.claim + 1));
    let sent = Sent { terms: terms(), first_at: START, payment: None };
    assert_eq!((second[0].attempts, &second[0].sent), (1, &Some(sent)), "it is sent again as it was sent");
    // Who held it before can do nothing with it any more.
    assert!(!db.store.sending(first, &terms(), START).await.unwrap());
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
    db.store.sending(charge, &terms(), START).await.unwrap();
    let (entitlement, price) = db.store.charged(payer, charge.id).await.unwrap().unwrap();
    assert_eq!((entitlement.credits.get(), entitlement.source, price), (500, RechargeSource::Auto, terms().price));
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

#[tokio::test]
async fn a_charge_that_is_canceled_by_a_balance_of_before_is_put_in_line_again() {
    let db = fresh().await;
    let payer = recharging(&db).await;
    spend(&db, payer, 950, "a").await;
    let restore = format!("UPDATE credit_balances SET balance = 500 WHERE account_id = {payer}");
    db.sql.batch_execute(&restore).await.unwrap();
    let held = lease(&db, START).await.remove(0);
    assert_eq!((held.balance, held.threshold), (500, 100));
    // This queues nothing: a charge is in line.
    spend(&db, payer, 450, "b").await;
    let canceled = || Left::Canceled { reason: BALANCE_RESTORED };
    for _ in 0..2 {
        db.store.leave(held.charge, canceled(), START + MINUTE).await.unwrap();
        assert_eq!(queue(&db, payer).await, ["(canceled,500,balance_restored,0)", "(pending,500,\"\",1)"]);
    }
    // Where the balance is restored still, that is all.
    db.sql.batch_execute(&restore).await.unwrap();
    let held = lease(&db, START + MINUTE).await.remove(0);
    db.store.leave(held.charge, canceled(), START + MINUTE).await.unwrap();
    assert_eq!(states(&db, payer).await, ["(canceled,balance_restored)"; 2]);
}

#[tokio::test]
async fn a_refusal_is_told_though_no_charge_can_be_put_in_line() {
    let db = fresh().await;
    let payer = account(&db.sql, 3).await;
    let broken = "
        UPDATE credit_balances SET auto_topup_enabled = true, auto_topup_threshold = 100, auto_topup_amount = 500;
        ALTER TABLE auto_topups ADD CONSTRAINT refuse CHECK (credits <> 500)";
    db.sql.batch_execute(broken).await.unwrap();
    let refused = db.store.debit(debit(payer, 5, "a"), START).await;
    assert!(matches!(refused, Err(DebitError::Insufficient { balance: 3 })), "{refused:?}");
    let refused = db.store.request(payer, Some(CreditAmount::new(5).unwrap()), None, None, START).await;
    assert!(matches!(refused, Err(RequestError::Insufficient { balance: 3 })), "{refused:?}");
    assert_eq!(states(&db, payer).await, [""; 0]);
}

fn settings(enabled: bool, threshold: i64, credits: i64) -> AutoTopupChange {
    AutoTopupChange { enabled, threshold: Some(threshold), top_up_amount: Some(credits), monthly_cap: None }
}

/// State, credits, reason and minutes until it is due, of every charge.
async fn queue(db: &Database, payer: AccountId) -> Vec<String> {
    let due = format!("(extract(epoch FROM due_at - '{START}'::timestamptz) / 60)::int");
    crate::shop::rows(&db.sql, payer, &format!("state, credits, coalesce(reason, ''), {due}"), "auto_topups").await
}

#[tokio::test]
async fn switching_it_on_below_the_threshold_charges() {
    let db = fresh().await;
    let payer = account(&db.sql, 99).await;
    db.store.change(payer, settings(false, 100, 500), None, START).await.unwrap();
    assert_eq!(queue(&db, payer).await, [""; 0]);
    db.store.change(payer, settings(true, 100, 500), None, START).await.unwrap();
    assert_eq!(queue(&db, payer).await, ["(pending,500,\"\",0)"]);
    let enough = account(&db.sql, 100).await;
    db.store.change(enough, settings(true, 100, 500), None, START).await.unwrap();
    assert_eq!(queue(&db, enough).await, [""; 0]);
    db.store.change(enough, settings(true, 101, 500), None, START).await.unwrap();
    assert_eq!(queue(&db, enough).await, ["(pending,500,\"\",0)"], "a higher threshold is not reached");
}

#[tokio::test]
async fn a_debit_that_is_refused_for_want_of_credits_charges() {
    let db = fresh().await;
    let payer = account(&db.sql, 3).await;
    let on =
        "UPDATE credit_balances SET auto_topup_enabled = true, auto_topup_threshold = 100, auto_topup_amount = 500";
    db.sql.execute(on, &[]).await.unwrap();
    assert!(matches!(db.store.debit(debit(payer, 5, "a"), START).await, Err(DebitError::Insufficient { balance: 3 })));
    assert_eq!(queue(&db, payer).await, ["(pending,500,\"\",0)"]);
    let (price, asking) = (CreditAmount::new(5).unwrap(), account(&db.sql, 4).await);
    db.sql.execute(on, &[]).await.unwrap();
    let refused = db.store.request(asking, Some(price), None, None, START).await;
    assert!(matches!(refused, Err(RequestError::Insufficient { balance: 4 })), "{refused:?}");
    assert_eq!(queue(&db, asking).await, ["(pending,500,\"\",0)"]);
    assert_eq!(books(&db.sql, payer).await.rows, 1, "nothing but the charge is written");
}

#[tokio::test]
async fn a_charge_that_waits_follows_the_settings() {
    let db = fresh().await;
    let payer = recharging(&db).await;
    spend(&db, payer, 950, "a").await;
    let held = lease(&db, START).await[0].charge;
    db.store.leave(held, Left::Waiting { until: START + Duration::days(20) }, START).await.unwrap();
    let change = async |change, minutes| db.store.change(payer, change, None, START + MINUTE * minutes).await.unwrap();
    change(settings(true, 100, 1_000), 1).await;
    assert_eq!(queue(&db, payer).await, ["(pending,1000,\"\",1)"]);
    change(AutoTopupChange { monthly_cap: Some(Some(50_000)), ..settings(true, 100, 1_000) }, 2).await;
    assert_eq!(queue(&db, payer).await, ["(pending,1000,\"\",2)"]);
    // A worker that has looked at the charge, but not sent it, looked at the settings of before.
    let held = lease(&db, START + MINUTE * 3).await[0].charge;
    change(settings(true, 100, 500), 4).await;
    assert!(!db.store.sending(held, &terms(), START).await.unwrap());
    change(settings(false, 100, 500), 5).await;
    assert_eq!(queue(&db, payer).await, ["(canceled,500,settings_changed,4)"]);
    change(settings(true, 100, 500), 6).await;
    change(settings(true, 50, 500), 7).await;
    let canceled = "(canceled,500,settings_changed,4)";
    assert_eq!(queue(&db, payer).await, [canceled, "(canceled,500,settings_changed,6)"], "50 are not less than 50");
}

#[tokio::test]
async fn a_charge_that_did_not_get_through_follows_the_settings_again() {
    let db = fresh().await;
    let payer = recharging(&db).await;
    spend(&db, payer, 950, "a").await;
    let held = lease(&db, START).await[0].charge;
    assert!(db.store.sending(held, &terms(), START).await.unwrap());
    // While it was on its way it counted as sent.
    db.store.change(payer, settings(true, 100, 1_000), None, START).await.unwrap();
    db.store.leave(held, Left::Unsent { until: START + MINUTE }, START).await.unwrap();
    assert_eq!(queue(&db, payer).await, ["(pending,1000,\"\",1)"]);
    let again = lease(&db, START + MINUTE).await.remove(0);
    assert_eq!((again.attempts, again.sent), (0, None));
    assert_eq!(db.store.charged(payer, again.charge.id).await.unwrap(), None, "nothing can have been paid");
    db.store.change(payer, settings(false, 100, 1_000), None, START + MINUTE).await.unwrap();
    assert_eq!(states(&db, payer).await, ["(canceled,settings_changed)"]);
}

#[tokio::test]
async fn a_charge_that_got_through_once_stays_as_it_was_sent() {
    let db = fresh().await;
    let payer = recharging(&db).await;
    spend(&db, payer, 950, "a").await;
    let first = lease(&db, START).await[0].charge;
    assert!(db.store.sending(first, &terms(), START).await.unwrap());
    db.store.leave(first, Left::Waiting { until: START + MINUTE }, START).await.unwrap();
    let second = lease(&db, START + MINUTE).await[0].charge;
    assert!(db.store.sending(second, &terms(), START + MINUTE).await.unwrap());
    db.store.leave(second, Left::Unsent { until: START + MINUTE * 2 }, START + MINUTE).await.unwrap();
    let third = lease(&db, START + MINUTE * 2).await.remove(0);
    let sent = Sent { terms: terms(), first_at: START, payment: None };
    assert_eq!((third.attempts, third.sent, third.credits), (1, Some(sent), 500));
}

/// A charge of an account that was sent at the start, and not answered.
async fn unanswered(db: &Database) -> ChargeRef {
    let payer = recharging(db).await;
    spend(db, payer, 950, "a").await;
    let charge = lease(db, START).await[0].charge;
    assert!(db.store.sending(charge, &terms(), START).await.unwrap());
    charge
}

#[tokio::test]
async fn the_payment_of_a_charge_is_known_from_an_answer_or_a_notification() {
    let db = fresh().await;
    let known = async |charge: ChargeRef| {
        let held = lease(&db, START + MINUTE).await.into_iter().find(|held| held.charge.id == charge.id);
        held.unwrap().sent.unwrap().payment.map(|payment| payment.to_string())
    };
    let answered = unanswered(&db).await;
    let payment = "pay_1".parse().unwrap();
    db.store.leave(answered, Left::Undecided { payment, until: START + MINUTE }, START).await.unwrap();
    assert_eq!(known(answered).await.as_deref(), Some("pay_1"));

    let notified = unanswered(&db).await;
    let paid = paid(notified);
    let rejected = Payment { status: PaymentStatus::Rejected, ..paid.payment.clone() };
    let settled = db.store.settle(Settlement { payment: rejected, ..paid }, START).await.unwrap();
    assert_eq!(settled, Settled::Noted);
    assert_eq!(states(&db, notified.account).await, ["(pending,\"\")"], "the worker ends it");
    assert_eq!(known(notified).await, Some(format!("auto_{}", notified.id)));
}

#[tokio::test]
async fn a_charge_of_unknown_outcome_keeps_all_others_waiting_and_says_so() {
    let db = fresh().await;
    let charge = unanswered(&db).await;
    let (payer, day) = (charge.account, START + Duration::DAY);
    let unknown = Left::Unknown { until: day + Duration::HOUR };
    db.store.leave(charge, unknown.clone(), day).await.unwrap();
    let shown = db.store.summary(payer).await.unwrap().auto_topup;
    let why = "for a day it was not known whether a charge was made";
    assert_eq!((shown.enabled, shown.disabled_reason.as_deref()), (false, Some(why)));
    assert_eq!(shown.last_failure.as_deref(), Some("unknown_outcome"));
    // Who switches it on again gets no second charge.
    enable(&db, payer).await;
    spend(&db, payer, 10, "b").await;
    assert_eq!(states(&db, payer).await, ["(pending,\"\")"]);
    // It is looked at again, and says so again.
    assert_eq!(lease(&db, day + MINUTE * 59).await, []);
    let again = lease(&db, day + Duration::HOUR).await[0].charge;
    db.store.leave(again, unknown, day + Duration::HOUR).await.unwrap();
    assert!(!db.store.summary(payer).await.unwrap().auto_topup.enabled);
    // A notification of the payment ends it.
    assert!(matches!(db.store.settle(paid(charge), day + Duration::HOUR).await.unwrap(), Settled::Credited(_)));
    assert_eq!(states(&db, payer).await, ["(done,\"\")"]);
}

#[tokio::test]
async fn only_a_charge_that_is_not_sent_again_can_be_given_up() {
    let db = fresh().await;
    let charge = unanswered(&db).await;
    let (payer, over) = (charge.account, START + Duration::hours(23));
    assert!(!db.store.not_charged(payer, over - Duration::SECOND).await.unwrap());
    let held = lease(&db, over).await[0].charge;
    assert!(!db.store.not_charged(payer, over).await.unwrap(), "it may be on its way");
    db.store.leave(held, Left::Unknown { until: over }, over).await.unwrap();
    enable(&db, payer).await;
    assert_eq!(states(&db, payer).await, ["(pending,\"\")"]);
    assert!(db.store.not_charged(payer, over).await.unwrap());
    assert_eq!(states(&db, payer).await, ["(canceled,not_charged)", "(pending,\"\")"], "it is on, and below");
    assert!(!db.store.not_charged(payer, over + Duration::DAY).await.unwrap(), "the next was not sent");
    // The gateway may still know better.
    assert!(matches!(db.store.settle(paid(charge), over).await.unwrap(), Settled::Credited(_)));

    let named = unanswered(&db).await;
    let payment = "auto_1".parse().unwrap();
    db.store.leave(named, Left::Undecided { payment, until: over }, START).await.unwrap();
    assert!(!db.store.not_charged(named.account, over).await.unwrap(), "its payment is looked up");
    let held = lease(&db, over).await.into_iter().find(|held| held.charge.id == named.id).unwrap();
    db.store.leave(held.charge, Left::Unknown { until: over }, over).await.unwrap();
    assert!(db.store.not_charged(named.account, over).await.unwrap(), "the gateway does not know it");
}

#[tokio::test]
async fn a_charge_that_an_earlier_version_sent_counts_from_when_it_was_queued() {
    let db = fresh().await;
    let charge = unanswered(&db).await;
    let earlier = "UPDATE auto_topups SET sent_at = NULL, created_at = created_at - interval '1 hour'";
    db.sql.execute(earlier, &[]).await.unwrap();
    let held = lease(&db, START + MINUTE).await.remove(0);
    assert_eq!(held.sent.as_ref().unwrap().first_at, START - Duration::HOUR);
    assert!(db.store.sending(held.charge, &terms(), START + MINUTE).await.unwrap());
    let held = lease(&db, START + MINUTE * 2).await.remove(0);
    assert_eq!((held.charge.id, held.sent.unwrap().first_at), (charge.id, START - Duration::HOUR));
}

#[tokio::test]
async fn a_charge_that_was_sent_does_not_follow_the_settings() {
    let db = fresh().await;
    let payer = recharging(&db).await;
    spend(&db, payer, 950, "a").await;
    let held = lease(&db, START).await[0].charge;
    assert!(db.store.sending(held, &terms(), START).await.unwrap());
    for change in [settings(true, 200, 1_000), settings(false, 200, 1_000)] {
        db.store.change(payer, change, None, START + MINUTE).await.unwrap();
        assert_eq!(queue(&db, payer).await, ["(pending,500,\"\",0)"]);
    }
    assert!(matches!(db.store.settle(paid(held), START + MINUTE).await.unwrap(), Settled::Credited(_)));
}

#[tokio::test]
async fn a_top_up_that_does_not_reach_the_threshold_is_followed_by_another() {
    let db = fresh().await;
    let payer = account(&db.sql, 1_000).await;
    db.store.change(payer, settings(true, 900, 500), None, START).await.unwrap();
    spend(&db, payer, 1_000, "a").await;
    let charge = lease(&db, START).await[0].charge;
    db.store.sending(charge, &terms(), START).await.unwrap();
    db.store.settle(paid(charge), START + MINUTE).await.unwrap();
    assert_eq!(queue(&db, payer).await, ["(done,500,\"\",0)", "(pending,500,\"\",1)"]);
}

#[tokio::test]
async fn a_card_that_pays_by_hand_ends_the_count_of_failures_and_is_charged_while_there_is_too_little() {
    let db = fresh().await;
    let payer = account(&db.sql, 0).await;
    db.store.change(payer, settings(true, 900, 500), None, START).await.unwrap();
    let charge = lease(&db, START).await[0].charge;
    let left = Left::Failed { reason: "card_declined".to_owned(), retry_at: START + Duration::DAY };
    db.store.leave(charge, left, START).await.unwrap();
    db.sql.execute("DELETE FROM auto_topups WHERE state = 'pending'", &[]).await.unwrap();
    let mut by_hand = paid(ChargeRef { id: ChargeId(900), ..charge });
    by_hand.payment.payer.customer_id = Some("cus_1".to_owned());
    let quote = by_hand.quote.map(|bought| {
        let entitlement = Entitlement { source: RechargeSource::Manual, ..bought.entitlement };
        Purchase { entitlement, charge: None, ..bought }
    });
    db.store.settle(Settlement { quote, ..by_hand }, START + MINUTE).await.unwrap();
    assert_eq!(db.store.summary(payer).await.unwrap().auto_topup.failures, 0);
    assert_eq!(queue(&db, payer).await, ["(failed,500,card_declined,0)", "(pending,500,\"\",1)"]);
}

#[tokio::test]
async fn a_charge_that_was_paid_for_nothing_stops_all_others() {
    let db = fresh().await;
    let payer = recharging(&db).await;
    spend(&db, payer, 950, "a").await;
    let charge = lease(&db, START).await[0].charge;
    db.store.sending(charge, &terms(), START).await.unwrap();
    db.store.leave(charge, Left::Stopped { reason: "amount_mismatch".to_owned() }, START).await.unwrap();
    let shown = db.store.summary(payer).await.unwrap().auto_topup;
    let why = "a charge was paid but could not be credited: amount_mismatch";
    assert_eq!((shown.enabled, shown.disabled_reason.as_deref()), (false, Some(why)));
    spend(&db, payer, 10, "b").await;
    assert_eq!(queue(&db, payer).await, ["(failed,500,amount_mismatch,0)"]);
}

#[tokio::test]
async fn who_switched_it_off_while_a_charge_was_sent_is_given_no_other_reason() {
    let db = fresh().await;
    let off = AutoTopupChange { enabled: false, threshold: None, top_up_amount: None, monthly_cap: None };
    for left in [
        Left::Failed { reason: "card_declined".to_owned(), retry_at: START },
        Left::Stopped { reason: "amount_mismatch".to_owned() },
        Left::Unknown { until: START + Duration::DAY },
    ] {
        let payer = recharging(&db).await;
        db.sql.execute("UPDATE credit_balances SET auto_topup_failures = 2", &[]).await.unwrap();
        spend(&db, payer, 950, "a").await;
        let charge = lease(&db, START).await[0].charge;
        db.store.sending(charge, &terms(), START).await.unwrap();
        db.store.change(payer, off, None, START).await.unwrap();
        db.store.leave(charge, left, START).await.unwrap();
        let shown = db.store.summary(payer).await.unwrap().auto_topup;
        assert_eq!((shown.enabled, shown.disabled_reason, shown.last_failure.is_some()), (false, None, true));
    }
}

#[tokio::test]
async fn a_card_is_not_charged_for_a_run_that_cost_nothing() {
    let db = fresh().await;
    let price = CreditAmount::new(5).unwrap();
    let run = async |credits: i64| {
        let payer = account(&db.sql, credits).await;
        db.store.change(payer, settings(true, 50, 500), None, START).await.unwrap();
        let claim = db.store.start(payer, price, START).await.unwrap().unwrap();
        assert_eq!(books(&db.sql, payer).await.balance, credits - 5);
        (payer, claim)
    };
    // 54 less 5 is below 50, but it is not certain yet that the 5 are gone.
    let (refunded, claim) = run(54).await;
    assert_eq!(queue(&db, refunded).await, [""; 0]);
    // Nor by anything else that looks at the balance meanwhile.
    db.store.change(refunded, settings(true, 51, 500), None, START).await.unwrap();
    assert!(db.store.debit(debit(refunded, 60, "too-much"), START).await.is_err());
    assert_eq!(queue(&db, refunded).await, [""; 0]);
    assert!(db.store.fail(&claim, "timeout", START).await.unwrap());
    assert_eq!(queue(&db, refunded).await, [""; 0]);

    let (spent, claim) = run(54).await;
    let told = events(&db.sql, spent).await;
    let names: Vec<_> = told.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["credit.consumed", "credits.low"], "the debit is told at once");
    let ending = Ending { job: None, run: Some((claim, Outcome::Worded, None)) };
    db.store.replace(spent, ending, vec![], START + MINUTE).await.unwrap();
    assert_eq!(queue(&db, spent).await, ["(pending,500,\"\",1)"]);
}
