//! Automatic top-ups, with a gateway that answers late, not at all, or no.

use std::sync::Arc;

use app::auto_topup::Recharger;
use domain::credits::auto_topup::Rules;
use nix::sys::signal::Signal;
use reqwest::Method;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use super::rig::{Rig, names};

/// A rig whose account has paid by hand once, and recharges 500 credits below 100.
async fn recharging(faults: Value) -> Rig {
    let rig = Rig::start().await;
    rig.pay(rig.service.account, "small", json!({})).await;
    rig.until("the first payment", |credits| credits["balance"] == 1_000).await;
    let settings = json!({"enabled": true, "threshold": 100, "top_up_amount": 500});
    let answer = set(&rig, &settings).await;
    assert_eq!(answer["auto_topup"]["enabled"], true);
    rig.faults(faults).await;
    rig
}

async fn set(rig: &Rig, settings: &Value) -> Value {
    let request = rig.service.process.request(Method::PUT, "/api/v1/credits/auto-topup");
    let answer = request.bearer_auth(&rig.key).json(settings).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    answer.json().await.unwrap()
}

fn rows(rows: &[(&str, i64)]) -> Vec<(String, i64)> {
    rows.iter().map(|(kind, amount)| ((*kind).to_owned(), *amount)).collect()
}

#[tokio::test]
async fn a_low_balance_is_recharged_once_though_everything_is_said_twice() {
    // The answer and two notifications all confirm the one charge.
    let rig = recharging(json!({ "duplicate": 1 })).await;
    rig.debit(880, "a").await;
    rig.debit(40, "b").await;
    rig.debit(30, "c").await;
    let credits = rig.until("the top-up", |credits| credits["balance"] == 550).await;
    assert_eq!(credits["total_purchased"], 1_000);
    assert!(credits["auto_topup"]["last_charged_at"].is_string());
    let expected = rows(&[("topup", 500), ("consume", -880), ("consume", -40), ("consume", -30), ("auto_topup", 500)]);
    let mut ledger = rig.ledger().await;
    ledger.sort();
    let mut sorted = expected;
    sorted.sort();
    assert_eq!(ledger, sorted);
    assert_eq!(rig.payments().await.len(), 2);
    let events = rig.events().await;
    let recharged: Vec<_> = events.iter().filter(|event| event["event"] == "credits.recharged").collect();
    assert_eq!(
        (recharged[0]["data"]["source"].as_str(), recharged[1]["data"]["source"].as_str()),
        (Some("manual"), Some("auto"))
    );
    assert_eq!(names(&events).iter().filter(|name| **name == "purchase.created").count(), 2);
}

#[tokio::test]
async fn a_lost_answer_charges_once() {
    // Two answers are cut off and there is no notification: only asking again under the same key can tell.
    let rig = recharging(json!({ "lost_answers": 1, "silent": true })).await;
    rig.debit(950, "a").await;
    rig.until("the top-up", |credits| credits["balance"] == 550).await;
    assert_eq!(rig.payments().await.len(), 2);
    assert_eq!(rig.ledger().await, rows(&[("topup", 500), ("consume", -950), ("auto_topup", 500)]));
}

#[tokio::test]
async fn three_refusals_switch_it_off_and_say_why() {
    let rig = recharging(json!({ "decline": "card_declined" })).await;
    rig.debit(950, "a").await;
    let credits = rig.until("the end", |credits| credits["auto_topup"]["enabled"] == false).await;
    assert_eq!(
        credits["auto_topup"],
        json!({"enabled": false, "threshold": 100, "top_up_amount": 500, "last_charged_at": null, "monthly_cap": null,
            "failures": 3, "last_failure": "card_declined",
            "disabled_reason": "3 charges failed, the last one: card_declined"})
    );
    assert_eq!(rig.ledger().await, rows(&[("topup", 500), ("consume", -950)]));
    // Switched on again it forgets, and charges, since the balance is still too low.
    rig.faults(json!({})).await;
    let again = set(&rig, &json!({"enabled": true, "threshold": 100, "top_up_amount": 500})).await;
    assert_eq!(
        (again["auto_topup"]["failures"].as_i64(), &again["auto_topup"]["disabled_reason"]),
        (Some(0), &Value::Null)
    );
    rig.until("the top-up", |credits| credits["balance"] == 550).await;
}

#[tokio::test]
async fn an_account_that_cannot_pay_is_recharged_when_it_switches_it_on() {
    let rig = Rig::start().await;
    rig.pay(rig.service.account, "small", json!({})).await;
    rig.until("the first payment", |credits| credits["balance"] == 1_000).await;
    rig.debit(1_000, "a").await;
    set(&rig, &json!({"enabled": true, "threshold": 100, "top_up_amount": 500})).await;
    rig.until("the top-up", |credits| credits["balance"] == 500).await;
    assert_eq!(rig.ledger().await, rows(&[("topup", 500), ("consume", -1_000), ("auto_topup", 500)]));
}

#[tokio::test]
async fn a_charge_that_was_taken_back_before_its_answer_was_heard_ends() {
    for (status, reason, reported) in
        [("REFUNDED", "refunded", false), ("CHARGEBACK", "charged_back", false), ("REFUNDED", "refunded", true)]
    {
        let mut rig = recharging(json!({ "silent": true })).await;
        rig.stop_worker(Signal::SIGKILL);
        rig.faults(json!({ "silent": true, "lost_answers": 1 })).await;
        rig.debit(950, "a").await;
        recharger(&rig, OffsetDateTime::now_utc).tick().await.unwrap();
        let payments = rig.payments().await;
        let charged = payments.iter().find(|payment| !payment["metadata"]["charge_id"].is_null()).unwrap();
        let charged = charged["id"].as_str().unwrap();
        rig.set_status(charged, status).await;
        if reported {
            assert_eq!(rig.notify(charged).await.1["outcome"], "noted");
        }
        assert_eq!(recharger(&rig, later).tick().await.unwrap(), 1);
        let left: (String, Option<String>) = {
            let row = rig.sql.query_one("SELECT state, reason FROM auto_topups", &[]).await.unwrap();
            (row.get(0), row.get(1))
        };
        assert_eq!(left, ("canceled".to_owned(), Some(reason.to_owned())));
        assert_eq!(recharger(&rig, later).tick().await.unwrap(), 0, "it is not asked for again");
        let credits = rig.credits().await;
        assert_eq!(
            (&credits["balance"], &credits["auto_topup"]["enabled"]),
            (&json!(50), &json!(status == "REFUNDED"))
        );
        // The account is recharged as before, unless its owner denied the payment.
        rig.debit(1, "b").await;
        let queued = recharger(&rig, later).tick().await.unwrap();
        assert_eq!(queued, usize::from(status == "REFUNDED"));
    }
}

#[tokio::test]
async fn without_a_card_nothing_is_charged_and_the_reason_is_shown() {
    let rig = Rig::start().await;
    set(&rig, &json!({"enabled": true, "threshold": 450, "top_up_amount": 500})).await;
    rig.debit(100, "a").await;
    let credits = rig.until("the end", |credits| credits["auto_topup"]["enabled"] == false).await;
    assert_eq!(credits["auto_topup"]["last_failure"], "no_payment_method");
    assert_eq!(rig.payments().await.len(), 0);
}

#[tokio::test]
async fn the_monthly_cap_holds() {
    let rig = Rig::start().await;
    rig.pay(rig.service.account, "small", json!({})).await;
    rig.until("the first payment", |credits| credits["balance"] == 1_000).await;
    set(&rig, &json!({"enabled": true, "threshold": 100, "top_up_amount": 500, "monthly_cap": 999})).await;
    rig.debit(950, "a").await;
    rig.until("the top-up", |credits| credits["balance"] == 550).await;
    rig.debit(500, "b").await;
    // The charge was looked at, and put off by an hour, or to the first of the next month.
    let start = std::time::Instant::now();
    loop {
        let row = rig
            .sql
            .query_one(
                "SELECT due_at FROM auto_topups WHERE state = 'pending' AND claim > 0 AND leased_until IS NULL",
                &[],
            )
            .await;
        let soon = OffsetDateTime::now_utc() + Duration::MINUTE;
        if let Ok(row) = row
            && (row.get::<_, OffsetDateTime>(0) > soon || soon.day() == 1)
        {
            break;
        }
        assert!(start.elapsed().as_secs() < 60);
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(rig.credits().await["balance"], 50);
    assert_eq!(rig.payments().await.len(), 2);
    // A higher cap is in force at once.
    set(&rig, &json!({"enabled": true, "threshold": 100, "top_up_amount": 500, "monthly_cap": 1_500})).await;
    rig.until("the second top-up", |credits| credits["balance"] == 550).await;
}

fn later() -> OffsetDateTime {
    OffsetDateTime::now_utc() + Duration::minutes(3)
}

/// A worker of the test's own, to be stopped where the real one cannot be.
fn recharger(rig: &Rig, clock: fn() -> OffsetDateTime) -> Recharger {
    let rules = Rules { cooldown: Duration::SECOND, monthly_cap: 10_000 };
    let charges = Arc::new(rig.store.clone());
    Recharger { payment_service: rig.payment_service("small:500:9.00:USD", ""), charges, rules, clock }
}

#[tokio::test]
async fn a_worker_that_dies_after_the_charge_leaves_it_to_the_next_which_does_not_charge_again() {
    let mut rig = recharging(json!({ "silent": true })).await;
    rig.stop_worker(Signal::SIGKILL);
    rig.debit(950, "a").await;
    rig.faults(json!({ "silent": true, "slow_ms": 60_000 })).await;
    // Charged, but the answer is still on its way when the worker dies.
    let dying = tokio::spawn({
        let recharger = recharger(&rig, OffsetDateTime::now_utc);
        async move { recharger.tick().await }
    });
    while rig.payments().await.len() < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    dying.abort();
    let _ = dying.await;
    rig.faults(json!({ "silent": true })).await;
    // It is held for a minute; three minutes later another worker takes it up.
    assert_eq!(recharger(&rig, OffsetDateTime::now_utc).tick().await.unwrap(), 0);
    assert_eq!(recharger(&rig, later).tick().await.unwrap(), 1);
    assert_eq!(rig.payments().await.len(), 2);
    assert_eq!(rig.ledger().await, rows(&[("topup", 500), ("consume", -950), ("auto_topup", 500)]));
    assert_eq!(recharger(&rig, later).tick().await.unwrap(), 0);
}

#[tokio::test]
async fn a_sandbox_never_charges() {
    let rig = recharging(json!({})).await;
    let sandbox: i64 = rig.sql.query_one("SELECT min(id) FROM accounts WHERE mode = 'test'", &[]).await.unwrap().get(0);
    let settings = "UPDATE credit_balances SET auto_topup_enabled = true, auto_topup_threshold = 1000,
        auto_topup_amount = 500 WHERE account_id = $1";
    rig.sql.execute(settings, &[&sandbox]).await.unwrap();
    rig.debit_of(sandbox, 10, "a").await;
    let charges: i64 = rig.sql.query_one("SELECT count(*) FROM auto_topups", &[]).await.unwrap().get(0);
    assert_eq!(charges, 0);
}
