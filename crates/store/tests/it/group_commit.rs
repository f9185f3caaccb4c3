//! Events that arrive together share a transaction, and nothing else.

use domain::{
    AccountId, StoreError,
    idempotency::{IdempotencyError, IdempotencyKey},
    tracking::{EventName, EventStore, Location, NewEvent, Refusal},
};
use futures_util::{FutureExt, future::join_all};
use serde_json::{Map, Value, json};
use store::GroupCommit;
use time::{OffsetDateTime, macros::datetime};

use crate::{
    database::{Database, fresh},
    shop,
};

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

fn event(name: &str, props: Value) -> NewEvent {
    let Value::Object(props) = props else { panic!("properties are an object") };
    NewEvent {
        name: EventName::parse(name.to_owned()).unwrap(),
        props,
        visitor_id: Some(format!("v-{name}")),
        session_id: None,
        url: Some("https://shop.example/é".to_owned()),
        location: Location { country: Some("BR".to_owned()), region: None, city: None },
        occurred_at: NOW,
        received_at: NOW,
    }
}

fn plain(name: &str) -> NewEvent {
    NewEvent { props: Map::new(), ..event(name, json!({})) }
}

async fn number(db: &Database, query: &str) -> i64 {
    db.sql.query_one(query, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn everyone_is_told_the_id_of_their_own_event_and_all_are_one_transaction() {
    let db = fresh().await;
    let accounts = [shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await];
    let events = GroupCommit::new((*db.store).clone(), |_| {});
    let sent = join_all((0..100).map(|n| {
        let event = event(&format!("e{n}"), json!({"n": n, "text": "a \"quoted\" ü"}));
        events.insert(accounts[n % 2], event, None)
    }))
    .await;
    for (n, written) in sent.iter().enumerate() {
        let row = db
            .sql
            .query_one(
                "SELECT name, props, visitor_id, session_id, url, country, occurred_at, account_id
                 FROM track_events WHERE id = $1",
                &[&written.as_ref().unwrap().value.0],
            )
            .await
            .unwrap();
        assert_eq!(row.get::<_, String>(0), format!("e{n}"));
        assert_eq!(row.get::<_, Value>(1), json!({"n": n, "text": "a \"quoted\" ü"}));
        let texts: Vec<Option<String>> = (2..6).map(|column| row.get(column)).collect();
        let expected = [Some(format!("v-e{n}")), None, Some("https://shop.example/é".into()), Some("BR".into())];
        assert_eq!(texts, expected);
        assert_eq!((row.get::<_, OffsetDateTime>(6), AccountId(row.get(7))), (NOW, accounts[n % 2]));
    }
    // All were there before a writer looked for the first time.
    if testkit::skip_on_citus("a transaction has a number on every node") {
        return;
    }
    assert_eq!(number(&db, "SELECT count(DISTINCT xmin::text) FROM track_events").await, 1);
}

#[tokio::test]
async fn an_event_that_the_database_refuses_fails_alone() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let events = GroupCommit::new((*db.store).clone(), |_| {});
    let bad = event("bad", json!({"text": "\u{0}"}));
    let all = [plain("a"), bad, plain("b")].map(|event| events.insert(account, event, None));
    let sent = join_all(all).await;
    assert!(matches!(&sent[1], Err(IdempotencyError::Store(StoreError::Internal(_)))), "{:?}", sent[1]);
    assert!(sent[0].is_ok() && sent[2].is_ok(), "{sent:?}");
    assert_eq!(number(&db, "SELECT count(*) FROM track_events").await, 2);
}

#[tokio::test]
async fn what_does_not_fit_is_refused_at_once_and_the_rest_is_stored() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let events = GroupCommit::new((*db.store).clone(), |_| {});
    let sent = join_all((0..2_050).map(|_| events.insert(account, plain("a"), None))).await;
    let refused = |result: &_| matches!(result, Err(IdempotencyError::Store(StoreError::Overloaded(_))));
    assert_eq!(sent.iter().filter(|result| refused(result)).count(), 2);
    assert_eq!(number(&db, "SELECT count(*) FROM track_events").await, 2_048);
    assert!(events.insert(account, plain("later"), None).await.is_ok());
}

#[tokio::test]
async fn an_event_whose_sender_has_gone_is_stored_before_the_end() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let events = GroupCommit::new((*db.store).clone(), |_| {});
    assert!(events.insert(account, plain("a"), None).now_or_never().is_none());
    assert_eq!(events.waiting(), 1);
    events.drain().await;
    assert_eq!((events.waiting(), number(&db, "SELECT count(*) FROM track_events").await), (0, 1));
    // With nothing to wait for it returns.
    events.drain().await;
}

fn key(request: u8) -> IdempotencyKey {
    IdempotencyKey { path: "/api/v1/track".to_owned(), key: "k-1".to_owned(), request_hash: [request; 32] }
}

#[tokio::test]
async fn a_key_still_counts_among_events_without_one() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let events = GroupCommit::new((*db.store).clone(), |_| {});
    let sent = join_all((0..6).map(|n| events.insert(account, plain("a"), (n % 2 == 0).then(|| key(1))))).await;
    let again = events.insert(account, plain("a"), Some(key(1))).await.unwrap();
    assert!(again.replayed);
    let keyed = sent.iter().step_by(2);
    let ids: Vec<i64> = keyed.filter_map(|result| result.as_ref().ok()).map(|written| written.value.0).collect();
    assert!(!ids.is_empty() && ids.iter().all(|id| *id == again.value.0), "{sent:?}");
    assert_eq!(number(&db, "SELECT count(*) FROM track_events").await, 4);
    let reused = events.insert(account, plain("a"), Some(key(2))).await;
    assert!(matches!(reused, Err(IdempotencyError::Reused)), "{reused:?}");
}

#[tokio::test]
async fn a_batch_stores_what_was_not_refused_once_and_repeats_what_it_said() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let refusal =
        Refusal { code: "invalid_event".to_owned(), message: "No.".to_owned(), param: Some("event".to_owned()) };
    let batch = || vec![Ok(plain("a")), Err(refusal.clone()), Ok(plain("b"))];
    let first = db.store.insert_batch(account, batch(), Some(key(1)), NOW).await.unwrap();
    // The same request again, at a time when nothing of it would be taken.
    let late = vec![Err(refusal.clone()), Err(refusal.clone()), Err(refusal.clone())];
    let again = db.store.insert_batch(account, late, Some(key(1)), NOW).await.unwrap();
    assert_eq!((first.replayed, again.replayed), (false, true));
    assert_eq!(first.value, again.value);
    assert_eq!(first.value[1], Err(refusal.clone()));
    let mut names = Vec::new();
    for id in [first.value[0].clone().unwrap(), first.value[2].clone().unwrap()] {
        let row = db.sql.query_one("SELECT name FROM track_events WHERE id = $1", &[&id.0]).await.unwrap();
        names.push(row.get::<_, String>(0));
    }
    assert_eq!(names, ["a", "b"]);
    let nothing = db.store.insert_batch(account, vec![Err(refusal.clone())], None, NOW).await.unwrap();
    assert_eq!(nothing.value, [Err(refusal)]);
    assert_eq!(number(&db, "SELECT count(*) FROM track_events").await, 2);
}
