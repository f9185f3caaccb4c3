//! What a notification is believed, what it brings, and how often.

use app::payments::PaymentOutcome;
use domain::payments::{PaymentStore, Refusal, Settled};
use futures_util::future::join_all;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::rig::{HOOK, Rig, WEBHOOK_SECRET, names, signature};
use crate::service::run;

/// Silent: the test sends the notifications.
async fn silent() -> Rig {
    let rig = Rig::start().await;
    rig.faults(json!({ "silent": true })).await;
    rig
}

fn outcome(answer: (u16, Value)) -> (u16, String) {
    let text = answer.1["reason"].as_str().or(answer.1["outcome"].as_str()).or(answer.1["error"].as_str());
    (answer.0, text.unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a_payment_is_credited_once_however_often_it_is_notified() {
    let rig = silent().await;
    let payment = rig.pay(rig.service.account, "small", json!({})).await;
    let answers = join_all((0..5).map(|_| rig.notify(&payment))).await;
    let mut outcomes: Vec<_> = answers.into_iter().map(outcome).collect();
    outcomes.sort();
    let unchanged = (200, "unchanged".to_owned());
    assert_eq!(
        outcomes,
        [(200, "credited".to_owned()), unchanged.clone(), unchanged.clone(), unchanged.clone(), unchanged]
    );
    assert_eq!(rig.ledger().await, [("topup".to_owned(), 500)]);
    let events = rig.events().await;
    assert_eq!(names(&events), ["purchase.created", "credits.recharged"]);
    assert_eq!(
        events[0]["data"],
        json!({"invoice_id": "inv_00001", "amount": 9.00, "currency": "USD", "customer_email": "payer@example.com"})
    );
    assert_eq!(
        events[1]["data"],
        json!({"credits_added": 500, "new_balance": 1000, "rebill_payment": payment, "source": "manual"})
    );
    let credits = rig.credits().await;
    assert_eq!((credits["balance"].as_i64(), credits["total_purchased"].as_i64()), (Some(1000), Some(500)));
}

#[tokio::test]
async fn what_is_not_signed_now_by_the_gateway_is_refused() {
    let rig = silent().await;
    let payment = rig.pay(rig.service.account, "small", json!({})).await;
    let body = json!({ "payment": { "id": payment } }).to_string();
    let now = OffsetDateTime::now_utc().unix_timestamp();
    let good = signature(WEBHOOK_SECRET, now, &body);
    let (old, ahead) = (signature(WEBHOOK_SECRET, now - 330, &body), signature(WEBHOOK_SECRET, now + 330, &body));
    let (forged, shifted) = (signature("other", now, &body), good.replace(&now.to_string(), &(now + 1).to_string()));
    let refusals: [(&[&str], &str); 8] = [
        (&[], "malformed"),
        (&[""], "malformed"),
        (&["t=1"], "malformed"),
        (&[&good, &good], "malformed"),
        (&[&old], "stale"),
        (&[&ahead], "stale"),
        (&[&forged], "mismatch"),
        (&[&shifted], "mismatch"),
    ];
    for (signatures, reason) in refusals {
        assert_eq!(outcome(rig.post(HOOK, signatures, body.clone()).await), (401, reason.to_owned()), "{signatures:?}");
    }
    let other_body = rig.post(HOOK, &[&good], body.replace("payment", "Payment")).await;
    assert_eq!(outcome(other_body), (401, "mismatch".to_owned()));
    let unreadable = "[1]".to_owned();
    let signed = signature(WEBHOOK_SECRET, now, &unreadable);
    assert_eq!(outcome(rig.post(HOOK, &[&signed], unreadable).await), (400, "invalid_body".to_owned()));
    assert_eq!(outcome(rig.post("/hooks/payments/other", &[&good], body.clone()).await), (404, "not_found".to_owned()));
    let large = format!("{body}{}", " ".repeat(70_000));
    let signed = signature(WEBHOOK_SECRET, now, &large);
    assert_eq!(outcome(rig.post(HOOK, &[&signed], large).await), (413, "payload_too_large".to_owned()));
    assert_eq!((rig.ledger().await.len(), rig.events().await.len()), (0, 0));
    // The same request with its signature does what it should.
    assert_eq!(outcome(rig.post(HOOK, &[&good], body).await), (200, "credited".to_owned()));
}

#[tokio::test]
async fn a_payment_that_is_not_what_was_for_sale_brings_nothing() {
    let rig = silent().await;
    let account = rig.service.account;
    let sandbox: i64 = rig
        .sql
        .query_one(
            "SELECT s.id FROM accounts s JOIN accounts a ON a.user_id = s.user_id WHERE a.id = $1 AND s.mode = 'test'",
            &[&account],
        )
        .await
        .unwrap()
        .get(0);
    let cases = [
        (account, "small", json!({"amount": "8.99"}), "amount_mismatch"),
        (account, "small", json!({"amount": "900.00"}), "amount_mismatch"),
        (account, "small", json!({"currency": "ARS"}), "currency_mismatch"),
        (account, "gift", json!({"amount": "9.00", "currency": "USD"}), "unknown_item"),
        (account, "pro", json!({"amount": "49.00", "currency": "USD"}), "unknown_item"),
        (987_654_321, "small", json!({}), "unknown_account"),
        (-1, "small", json!({}), "no_order"),
        (sandbox, "small", json!({}), "sandbox_account"),
    ];
    for (account, item, more, reason) in cases {
        let payment = rig.pay(account, item, more).await;
        // An answer for good: sending it again cannot help.
        assert_eq!(outcome(rig.notify(&payment).await), (200, reason.to_owned()));
    }
    let rows: i64 =
        rig.sql.query_one("SELECT count(*) FROM credit_transactions WHERE kind <> 'grant'", &[]).await.unwrap().get(0);
    let events: i64 = rig.sql.query_one("SELECT count(*) FROM events", &[]).await.unwrap().get(0);
    assert_eq!((rows, events), (0, 0));
}

#[tokio::test]
async fn money_that_comes_late_is_credited_and_money_that_goes_is_taken_back() {
    let rig = silent().await;
    let payment = rig.pay(rig.service.account, "small", json!({"status": "PENDING"})).await;
    assert_eq!(outcome(rig.notify(&payment).await), (200, "noted".to_owned()));
    assert_eq!(rig.ledger().await, []);
    for (status, expected) in [
        ("SUCCEEDED", "credited"),
        ("PENDING", "unchanged"),
        ("REFUNDED", "reversed"),
        ("SUCCEEDED", "unchanged"),
        ("CHARGEBACK", "noted"),
        ("REFUNDED", "unchanged"),
    ] {
        rig.set_status(&payment, status).await;
        assert_eq!(outcome(rig.notify(&payment).await), (200, expected.to_owned()), "{status}");
    }
    assert_eq!(rig.ledger().await, [("topup".to_owned(), 500), ("adjustment".to_owned(), -500)]);
    assert_eq!(rig.credits().await["balance"], 500);
    // One that was refunded before it was ever seen approved brings nothing at all.
    let payment = rig.pay(rig.service.account, "small", json!({"status": "REFUNDED"})).await;
    assert_eq!(outcome(rig.notify(&payment).await), (200, "noted".to_owned()));
    rig.set_status(&payment, "SUCCEEDED").await;
    assert_eq!(outcome(rig.notify(&payment).await), (200, "unchanged".to_owned()));
    assert_eq!(rig.ledger().await.len(), 2);
}

#[tokio::test]
async fn a_chargeback_takes_what_is_left_and_stops_the_automatic_charges() {
    let rig = silent().await;
    let payment = rig.pay(rig.service.account, "small", json!({})).await;
    rig.notify(&payment).await;
    let on = json!({"enabled": true, "threshold": 10, "top_up_amount": 500});
    assert_eq!(
        rig.service
            .process
            .request(reqwest::Method::PUT, "/api/v1/credits/auto-topup")
            .bearer_auth(&rig.key)
            .json(&on)
            .send()
            .await
            .unwrap()
            .status(),
        200
    );
    rig.debit(800, "spent").await;
    rig.set_status(&payment, "CHARGEBACK").await;
    assert_eq!(outcome(rig.notify(&payment).await), (200, "reversed".to_owned()));
    let credits = rig.credits().await;
    assert_eq!((credits["balance"].as_i64(), credits["auto_topup"]["enabled"].as_bool()), (Some(0), Some(false)));
    assert_eq!(credits["auto_topup"]["disabled_reason"], "a payment was charged back");
    let meta = &credits["recent_transactions"][0]["meta"];
    assert_eq!((meta["shortfall"].as_i64(), meta["reason"].as_str()), (Some(300), Some("charged_back")));
    assert_eq!(credits["total_purchased"], 500);
}

#[tokio::test]
async fn a_plan_that_is_paid_is_the_accounts_until_the_money_goes() {
    let rig = silent().await;
    let plan =
        async || rig.sql.query_one("SELECT plan FROM accounts WHERE id = $1", &[&rig.service.account]).await.unwrap();
    let scale = rig.pay(rig.service.account, "scale_year", json!({})).await;
    let pro = rig.pay(rig.service.account, "pro_month", json!({})).await;
    assert_eq!(outcome(rig.notify(&scale).await).1, "credited");
    assert_eq!(outcome(rig.notify(&pro).await).1, "credited");
    assert_eq!(plan().await.get::<_, &str>(0), "pro");
    let events = rig.events().await;
    assert_eq!(names(&events)[3..], ["purchase.created", "credits.recharged", "subscription.activated"]);
    assert_eq!(events[5]["data"], json!({"provider": "rebill", "plan_key": "pro", "interval": "month"}));
    assert_eq!(rig.credits().await["balance"], 500 + 9_000 + 3_000);
    rig.set_status(&pro, "REFUNDED").await;
    assert_eq!(outcome(rig.notify(&pro).await).1, "reversed");
    assert_eq!(plan().await.get::<_, &str>(0), "scale");
    rig.set_status(&scale, "REFUNDED").await;
    assert_eq!(outcome(rig.notify(&scale).await).1, "reversed");
    assert_eq!(plan().await.get::<_, &str>(0), "free");
    assert_eq!(rig.credits().await["balance"], 500);
}

#[tokio::test]
async fn a_gateway_that_cannot_be_asked_is_asked_again() {
    let rig = Rig::start().await;
    rig.faults(json!({ "broken": true, "silent": true })).await;
    let payment = rig.pay(rig.service.account, "small", json!({})).await;
    assert_eq!(outcome(rig.notify(&payment).await), (503, "gateway_unavailable".to_owned()));
    assert_eq!(outcome(rig.notify("pay_nobody_knows").await), (503, "gateway_unavailable".to_owned()));
    // From here on the gateway notifies, in the wrong order, everything twice, until it is taken.
    rig.faults(json!({ "broken": true, "duplicate": 1, "reordered": true })).await;
    rig.set_status(&payment, "PENDING").await;
    rig.set_status(&payment, "SUCCEEDED").await;
    rig.faults(json!({})).await;
    rig.until("the top-up", |credits| credits["balance"] == 1_000).await;
    assert_eq!(rig.ledger().await, [("topup".to_owned(), 500)]);
}

#[tokio::test]
async fn a_payment_without_invoice_and_customer_is_credited() {
    let rig = silent().await;
    rig.faults(json!({ "silent": true, "bare": true })).await;
    let payment = rig.pay(rig.service.account, "small", json!({})).await;
    assert_eq!(outcome(rig.notify(&payment).await), (200, "credited".to_owned()));
    let events = rig.events().await;
    assert_eq!(
        events[0]["data"],
        json!({"invoice_id": null, "amount": 9.00, "currency": "USD", "customer_email": null})
    );
    let credits = rig.credits().await;
    assert_eq!(credits["balance"], 1_000);
    assert_eq!(credits["recent_transactions"][0]["meta"]["invoice_id"], Value::Null);
    // Who is not named cannot be charged, and nobody else is.
    let customers = "SELECT count(*) FROM payment_customers WHERE account_id = $1";
    assert_eq!(rig.sql.query_one(customers, &[&rig.service.account]).await.unwrap().get::<_, i64>(0), 0);
    rig.set_status(&payment, "REFUNDED").await;
    assert_eq!(outcome(rig.notify(&payment).await), (200, "reversed".to_owned()));
}

/// A notification that never came is made up for.
#[tokio::test]
async fn an_operator_takes_a_payment_by_hand() {
    let rig = silent().await;
    let take = |payment: &str| {
        let mut command = rig.service.api(&["credits", "payment", payment]);
        command.envs(rig.settings());
        command
    };
    let payment = rig.pay(rig.service.account, "small", json!({})).await;
    assert_eq!(run(&mut take(&payment)).trim(), "The payment is credited.");
    assert_eq!(run(&mut take(&payment)).trim(), "The payment is unchanged.");
    assert_eq!(rig.ledger().await, [("topup".to_owned(), 500)]);
    let wrong = rig.pay(rig.service.account, "small", json!({"amount": "8.99"})).await;
    for (payment, said) in [(wrong.as_str(), "amount_mismatch"), ("pay_nobody_knows", "no such payment")] {
        let refused = take(payment).output().unwrap();
        let told = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(1) && told.contains(said), "{told}");
    }
    assert_eq!(rig.ledger().await.len(), 1);
}

#[tokio::test]
async fn what_was_bought_is_taken_back_after_the_price_list_has_changed() {
    let rig = silent().await;
    let (plans, now) = ("pro:month:3000:59.00:USD", OffsetDateTime::now_utc());
    for (packs, status) in
        [("small:500:10.00:USD", "REFUNDED"), ("small:600:9.00:USD", "REFUNDED"), ("big:5000:80.00:USD", "CHARGEBACK")]
    {
        let payment_service = rig.payment_service(packs, plans);
        for item in ["small", "pro_month"] {
            let payment = rig.pay(rig.service.account, item, json!({})).await;
            assert_eq!(outcome(rig.notify(&payment).await).1, "credited");
            rig.set_status(&payment, status).await;
            let taken = payment_service.take(&payment.parse().unwrap(), now).await.unwrap();
            assert!(matches!(taken, PaymentOutcome::Settled(Settled::Reversed(Some(_)))), "{packs}: {taken:?}");
            assert_eq!(rig.credits().await["balance"], 500);
        }
        let plan = rig.sql.query_one("SELECT plan FROM accounts WHERE id = $1", &[&rig.service.account]).await.unwrap();
        assert_eq!(plan.get::<_, &str>(0), "free");
    }
}

#[tokio::test]
async fn a_checkout_that_was_open_when_the_price_list_changed_is_honoured() {
    let rig = silent().await;
    let [early, late, unknown] = [
        rig.pay(rig.service.account, "small", json!({})).await,
        rig.pay(rig.service.account, "small", json!({})).await,
        rig.pay(rig.service.account, "small", json!({"amount": "8.00"})).await,
    ];
    // The worker publishes what is for sale; then the list changes.
    let start = std::time::Instant::now();
    while rig.store.published_offers("small", OffsetDateTime::now_utc()).await.unwrap().is_empty() {
        assert!(start.elapsed().as_secs() < 60, "the price list is not published");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let payment_service = rig.payment_service("small:400:9.00:USD, small:700:12.00:EUR", "");
    let now = OffsetDateTime::now_utc();
    rig.store.publish(&payment_service.prices, now).await.unwrap();
    let take = async |payment: &str, now| payment_service.take(&payment.parse().unwrap(), now).await.unwrap();
    let week = now + time::Duration::days(7);
    let PaymentOutcome::Settled(Settled::Credited(row)) = take(&early, week).await else { panic!("not credited") };
    assert_eq!(row.amount, 500, "what was offered for the 9.00");
    assert_eq!(take(&unknown, now).await, PaymentOutcome::Refused(Refusal::AmountMismatch));
    let PaymentOutcome::Settled(Settled::Credited(row)) = take(&late, week + time::Duration::SECOND).await else {
        panic!("not credited")
    };
    assert_eq!(row.amount, 400, "what is for sale now");
}

/// A service that takes 60 requests a minute of a key, and so 300 unsigned notifications of an address.
#[tokio::test]
async fn notifications_that_are_signed_have_a_budget_of_their_own() {
    let rig = Rig::start_with(&[]).await;
    rig.faults(json!({ "silent": true })).await;
    let payment = rig.pay(rig.service.account, "small", json!({})).await;
    let body = json!({ "payment": { "id": payment } }).to_string();
    let unsigned = async || rig.post(HOOK, &[], body.clone()).await.0;
    for _ in 0..30 {
        assert!(join_all((0..10).map(|_| unsigned())).await.iter().all(|status| *status == 401));
    }
    let public = async || {
        let docs = rig.service.process.request(reqwest::Method::GET, "/api/v1/openapi.json").send().await.unwrap();
        docs.status().as_u16()
    };
    // The process looks at its own `/status` as well, once a minute.
    for _ in 0..29 {
        assert!(join_all((0..10).map(|_| public())).await.iter().all(|status| *status == 200));
    }
    join_all((0..10).map(|_| public())).await;
    assert_eq!((unsigned().await, public().await), (429, 429));
    assert_eq!(outcome(rig.notify(&payment).await), (200, "credited".to_owned()));
    for _ in 0..54 {
        let again = join_all((0..20).map(|_| rig.notify(&payment))).await;
        assert!(again.into_iter().all(|answer| outcome(answer) == (200, "unchanged".to_owned())));
    }
    // Another path than that of a gateway is no way around the count.
    assert_eq!(rig.post("/hooks/payments/other", &[], body.clone()).await.0, 429);
}
