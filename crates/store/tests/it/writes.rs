//! Writes that may be sent again, and limits that hold under concurrency.

use domain::{
    AccountId, SubscriptionId,
    idempotency::{IdempotencyError, IdempotencyKey},
    tracking::{EventName, EventStore, Location, NewEvent},
    webhooks::{
        CreateError, MAX_SUBSCRIPTIONS, NewSubscription, WebhookStore,
        settings::{Change, Rotation, WebhookSettings},
    },
};
use futures_util::future::join_all;
use time::{Duration, OffsetDateTime, macros::datetime};

use crate::{
    database::{Database, fresh},
    shop,
};

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

fn event(at: OffsetDateTime) -> NewEvent {
    NewEvent {
        name: EventName::parse("checkout".to_owned()).unwrap(),
        props: serde_json::Map::new(),
        visitor_id: None,
        session_id: None,
        url: None,
        location: Location::default(),
        occurred_at: at,
        received_at: at,
    }
}

fn key(request: u8) -> IdempotencyKey {
    IdempotencyKey { path: "/api/v1/track".to_owned(), key: "k-1".to_owned(), request_hash: [request; 32] }
}

async fn count(db: &Database, table: &str) -> i64 {
    db.sql.query_one(&format!("SELECT count(*) FROM {table}"), &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn a_repeated_write_has_its_effect_once_and_the_same_answer() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let first = db.store.insert(account, event(NOW), Some(key(1))).await.unwrap();
    let again = db.store.insert(account, event(NOW), Some(key(1))).await.unwrap();
    assert_eq!((first.value, first.replayed, again.replayed), (again.value, false, true));
    assert_eq!(count(&db, "track_events").await, 1);
}

#[tokio::test]
async fn another_request_under_the_key_is_refused_and_another_account_is_not_concerned() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    db.store.insert(mine, event(NOW), Some(key(1))).await.unwrap();
    let reused = db.store.insert(mine, event(NOW), Some(key(2))).await;
    assert!(matches!(reused, Err(IdempotencyError::Reused)), "{reused:?}");
    assert!(!db.store.insert(theirs, event(NOW), Some(key(2))).await.unwrap().replayed);
}

#[tokio::test]
async fn what_is_stored_under_a_key_is_found_without_the_event() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    assert_eq!(db.store.stored_under(mine, &key(1), NOW).await.unwrap(), None);
    let first = db.store.insert(mine, event(NOW), Some(key(1))).await.unwrap();
    assert!(!first.replayed, "to look for it recorded nothing");
    assert_eq!(db.store.stored_under(mine, &key(1), NOW).await.unwrap(), Some(vec![Ok(first.value)]));
    assert_eq!(db.store.stored_under(theirs, &key(1), NOW).await.unwrap(), None);
    let reused = db.store.stored_under(mine, &key(2), NOW).await;
    assert!(matches!(reused, Err(IdempotencyError::Reused)), "{reused:?}");
    let later = NOW + Duration::hours(24) + Duration::SECOND;
    assert_eq!(db.store.stored_under(mine, &key(1), later).await.unwrap(), None);
}

#[tokio::test]
async fn a_key_is_forgotten_after_a_day() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    db.store.insert(account, event(NOW), Some(key(1))).await.unwrap();
    let later = NOW + Duration::hours(24) + Duration::SECOND;
    assert!(!db.store.insert(account, event(later), Some(key(2))).await.unwrap().replayed);
    assert!(db.store.insert(account, event(later), Some(key(2))).await.unwrap().replayed);
}

#[tokio::test]
async fn of_simultaneous_requests_one_writes_and_the_others_are_told() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let sent = join_all((0..12).map(|_| db.store.insert(account, event(NOW), Some(key(1))))).await;
    let written = sent.iter().filter(|result| matches!(result, Ok(written) if !written.replayed)).count();
    let told = sent
        .iter()
        .filter(|result| matches!(result, Err(IdempotencyError::InProgress)) || matches!(result, Ok(w) if w.replayed))
        .count();
    assert_eq!((written, told), (1, 11), "{sent:?}");
    assert_eq!(count(&db, "track_events").await, 1);
}

async fn subscribe(db: &Database, account: AccountId, url: String) -> Result<SubscriptionId, CreateError> {
    let id = db.store.reserve_id().await.unwrap();
    let new =
        NewSubscription { id, url, events: vec!["*".to_owned()], sealed_secret: vec![1, 2, 3], note: None, now: NOW };
    db.store.create(account, new, None).await.map(|written| written.value.subscription.id)
}

#[tokio::test]
async fn the_seventeenth_subscription_is_refused_even_when_all_come_at_once() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let made = join_all((0..20).map(|n| subscribe(&db, account, format!("https://example.com/{n}")))).await;
    let refused = made.iter().filter(|result| matches!(result, Err(CreateError::LimitReached))).count();
    assert_eq!(refused, 4, "{made:?}");
    assert_eq!(i64::try_from(WebhookStore::list(&*db.store, account).await.unwrap().len()).unwrap(), MAX_SUBSCRIPTIONS);
}

#[tokio::test]
async fn a_revoked_subscription_is_gone_makes_room_and_cannot_be_revoked_twice() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let id = subscribe(&db, mine, "https://example.com/a".to_owned()).await.unwrap();
    assert!(!WebhookStore::revoke(&*db.store, theirs, id, None, NOW).await.unwrap());
    assert!(WebhookStore::revoke(&*db.store, mine, id, None, NOW).await.unwrap());
    assert!(!WebhookStore::revoke(&*db.store, mine, id, None, NOW).await.unwrap());
    assert_eq!(WebhookStore::list(&*db.store, mine).await.unwrap(), []);
}

#[tokio::test]
async fn a_subscription_created_under_a_key_is_shown_again_as_it_was_until_it_is_another() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let create = async |key: &str| {
        let id = db.store.reserve_id().await.unwrap();
        let new = NewSubscription {
            id,
            url: "https://example.com/hook".into(),
            events: vec!["credits.low".into()],
            sealed_secret: format!("secret of {id}").into_bytes(),
            note: None,
            now: NOW,
        };
        let key = IdempotencyKey { path: "/api/v1/webhooks".into(), key: key.into(), request_hash: [1; 32] };
        db.store.create(account, new, Some(key)).await
    };
    let superseded =
        |result: &Result<_, CreateError>| matches!(result, Err(CreateError::Idempotency(IdempotencyError::Superseded)));
    let first = create("a").await.unwrap().value;
    let id = first.subscription.id;
    let change = Change { events: Some(vec!["*".into()]), active: Some(false), ..Change::default() };
    db.store.change(account, id, change, None, NOW).await.unwrap();
    let again = create("a").await.unwrap();
    assert_eq!((again.replayed, again.value.subscription.events.clone()), (true, vec!["credits.low".to_owned()]));
    assert!(again.value.subscription.active);
    assert_eq!(again.value.sealed_secret, first.sealed_secret);
    let rotation = Rotation { sealed_secret: b"next".to_vec(), overlap_until: NOW, note: None, now: NOW };
    db.store.rotate(account, id, rotation, None).await.unwrap();
    assert!(superseded(&create("a").await), "a new secret is shown by its rotation alone");

    let second = create("b").await.unwrap().value.subscription.id;
    assert!(db.store.revoke(account, second, None, NOW).await.unwrap());
    assert!(superseded(&create("b").await));
    assert_eq!(count(&db, "webhook_subscriptions").await, 2, "nothing is created again");
}
