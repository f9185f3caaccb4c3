//! Events reach the subscriptions that asked for them, and only if the change they belong to is committed.

use std::time::Duration;

use domain::{
    events::{CreditConsumed, CreditsLow, Event, EventKind, Outbox},
    webhooks::delivery::DeliveryQueue,
};
use store::{DELIVERIES_CHANNEL, Listener};

use crate::webhook_fixture::{Fixture, START};

fn low(balance: i64) -> Event {
    CreditsLow { balance, threshold: 100, last_feature: "chat".to_owned(), crossed: true }.into()
}

#[tokio::test]
async fn an_event_goes_to_the_subscriptions_that_ask_for_it() {
    let fixture = Fixture::new().await;
    let (account, other) = (fixture.account().await, fixture.account().await);
    let all = fixture.subscription(account, &["*"]).await;
    let named = fixture.subscription(account, &["credits.low", "credit.consumed"]).await;
    let elsewhere = fixture.subscription(account, &["credits.depleted"]).await;
    let revoked = fixture.subscription(account, &["*"]).await;
    let stranger = fixture.subscription(other, &["*"]).await;
    fixture.execute(&format!("UPDATE webhook_subscriptions SET revoked_at = now() WHERE id = {revoked}")).await;

    let consumed = Event::sample(EventKind::CreditConsumed);
    assert!(matches!(consumed, Event::CreditConsumed(CreditConsumed { .. })));
    fixture.store.emit(account, &[low(84), consumed], START).await.unwrap();

    let rows = fixture
        .sql
        .query(
            "SELECT d.subscription_id, e.kind, d.state, d.due_at = $1, convert_from(e.body, 'UTF8'),
                 substr(d.id::text, 15, 1)
             FROM deliveries d JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id ORDER BY 2, 1",
            &[&START],
        )
        .await
        .unwrap();
    let deliveries: Vec<(i64, String, String)> = rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    let pending = |subscription, kind: &str| (subscription, kind.to_owned(), "pending".to_owned());
    // The opt-in event does not go to `*`.
    assert_eq!(
        deliveries,
        [pending(named, "credit.consumed"), pending(all, "credits.low"), pending(named, "credits.low")]
    );
    assert!(rows.iter().all(|row| row.get(3)), "due at once");
    assert!(rows.iter().all(|row| row.get::<_, &str>(5) == "7"), "ids are UUIDv7");
    assert_eq!(
        rows[1].get::<_, &str>(4),
        r#"{"event":"credits.low","data":{"balance":84,"threshold":100,"last_feature":"chat","crossed":true}}"#
    );
    assert!(![elsewhere, stranger].iter().any(|id| deliveries.iter().any(|delivery| delivery.0 == *id)));
}

#[tokio::test]
async fn what_is_due_to_a_subscription_that_is_switched_off_is_held() {
    let fixture = Fixture::new().await;
    let account = fixture.account().await;
    let subscription = fixture.subscription(account, &["*"]).await;
    fixture.execute(&format!("UPDATE webhook_subscriptions SET active = false WHERE id = {subscription}")).await;
    fixture.store.emit(account, &[low(84)], START).await.unwrap();
    assert_eq!(fixture.count("deliveries WHERE state = 'held'").await, 1);
}

#[tokio::test]
async fn an_event_without_a_subscription_is_kept_all_the_same() {
    let fixture = Fixture::new().await;
    let account = fixture.account().await;
    fixture.store.emit(account, &[low(84)], START).await.unwrap();
    fixture.store.emit(account, &[], START).await.unwrap();
    assert_eq!((fixture.count("events").await, fixture.count("deliveries").await), (1, 0));
}

#[tokio::test]
async fn the_notification_names_account_and_subscriptions() {
    let fixture = Fixture::new().await;
    let account = fixture.account().await;
    let first = fixture.subscription(account, &["*"]).await;
    let second = fixture.subscription(account, &["credits.low"]).await;
    let mut listener = Listener::connect(&fixture.db.connect().unwrap(), &[DELIVERIES_CHANNEL]).await.unwrap();
    fixture.store.emit(account, &[low(84), low(83)], START).await.unwrap();
    let heard = tokio::time::timeout(Duration::from_secs(10), listener.next()).await.unwrap().unwrap();
    assert_eq!(heard.payload, format!("{account}:{first},{second}"));
}

#[tokio::test]
async fn a_transaction_that_notifies_does_not_hold_up_the_others() {
    let fixture = Fixture::new().await;
    let account = fixture.account().await;
    fixture.subscription(account, &["*"]).await;
    // Another session is about to notify, and is slow.
    fixture.sql.batch_execute("BEGIN; SELECT pg_advisory_xact_lock(7203441930); NOTIFY elsewhere").await.unwrap();
    let mut listener = Listener::connect(&fixture.db.connect().unwrap(), &[DELIVERIES_CHANNEL]).await.unwrap();
    fixture.store.emit(account, &[low(84)], START).await.unwrap();
    listener.check().await.unwrap();
    assert_eq!(listener.pending(), None);
    assert_eq!(fixture.store.due(None, START).await.unwrap().receivers.len(), 1);
    fixture.sql.batch_execute("COMMIT").await.unwrap();
    fixture.store.emit(account, &[low(83)], START).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(10), listener.next()).await.unwrap().is_some());
}
