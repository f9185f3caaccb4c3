//! Hooks are kept once, for whoever is connected to their shop, and acted on by one process at a time.

use domain::{
    AccountId,
    accounts::Platform,
    integrations::RevokeReason,
    shops::{
        connections::{ConnectionStore, Revocation},
        hooks::{Hook, PrivacyRequest, Topic},
        inbox::{AGAIN, Inbox, Received, Waiting},
    },
};
use time::Duration;

use super::{NOW, connect};
use crate::{
    database::{Database, fresh},
    shop,
};

const UNTIL: time::OffsetDateTime = time::macros::datetime!(2026-05-01 12:01 UTC);

fn hook(shop_id: &str, dedup_key: &str, topic: Topic) -> Hook {
    Hook { shop_id: shop_id.into(), topic_name: "orders/updated".into(), topic, dedup_key: dedup_key.into() }
}

fn order(id: &str) -> Topic {
    Topic::Order(Some(id.to_owned()))
}

async fn connected(db: &Database, shop_id: &str) -> Waiting {
    let account = shop::account(&db.sql, "UTC").await;
    let integration = connect(&db.store, account, Platform::Shopify, shop_id, NOW).await.unwrap();
    Waiting { account, integration }
}

async fn receive(db: &Database, hook: Hook) -> Received {
    db.store.receive(Platform::Shopify, hook, NOW).await.unwrap()
}

#[tokio::test]
async fn a_hook_is_stored_once_for_the_connection_of_its_shop() {
    let db = fresh().await;
    let (mine, theirs) = (connected(&db, "a").await, connected(&db, "b").await);
    assert_eq!(receive(&db, hook("a", "1", order("7"))).await, Received::Stored);
    assert_eq!(receive(&db, hook("a", "1", order("7"))).await, Received::Duplicate);
    assert_eq!(receive(&db, hook("b", "1", order("7"))).await, Received::Stored);
    assert_eq!(receive(&db, hook("c", "1", order("7"))).await, Received::UnknownShop);
    let other = db.store.receive(Platform::Tiendanube, hook("a", "2", order("7")), NOW).await.unwrap();
    assert_eq!(other, Received::UnknownShop);
    let topics = [Topic::Order(None), Topic::Catalogue, Topic::Uninstalled(None), Topic::ScopesChanged, Topic::Other];
    for (number, topic) in topics.iter().enumerate() {
        receive(&db, hook("a", &format!("t{number}"), topic.clone())).await;
    }
    assert_eq!(db.store.waiting(NOW, 10).await.unwrap().len(), 2);
    let taken = db.store.take(mine, NOW, UNTIL, 10).await.unwrap();
    let found: Vec<_> = taken.entries.iter().map(|entry| entry.topic.clone()).collect();
    assert_eq!(found[0], order("7"));
    assert_eq!(found[1..], topics);
    assert_eq!((taken.entries[0].attempts, taken.entries[0].received_at), (1, NOW));
    assert_eq!(db.store.take(theirs, NOW, UNTIL, 10).await.unwrap().entries.len(), 1);
}

#[tokio::test]
async fn hooks_of_a_connection_are_taken_by_one_worker_in_their_order_until_they_are_done() {
    let db = fresh().await;
    let mine = connected(&db, "a").await;
    for number in 1..=5 {
        receive(&db, hook("a", &number.to_string(), order(&number.to_string()))).await;
    }
    let taking = (0..8).map(|_| {
        let store = db.store.clone();
        tokio::spawn(async move { store.take(mine, NOW, UNTIL, 3).await.unwrap().entries })
    });
    let taken: Vec<_> = futures_util::future::join_all(taking).await.into_iter().map(Result::unwrap).collect();
    let some: Vec<_> = taken.into_iter().filter(|entries| !entries.is_empty()).collect();
    let [first] = some.as_slice() else { panic!("{some:?}") };
    let topics: Vec<_> = first.iter().map(|entry| entry.topic.clone()).collect();
    assert_eq!(topics, [order("1"), order("2"), order("3")]);
    assert_eq!(db.store.take(mine, NOW, UNTIL, 3).await.unwrap().entries, []);
    let ids: Vec<_> = first.iter().map(|entry| entry.id).collect();
    // Another account's worker marks nothing here.
    db.store.done(AccountId(mine.account.0 + 1), &ids, NOW).await.unwrap();
    db.store.done(mine.account, &ids[..1], NOW).await.unwrap();
    // Another account's worker holds nothing here either.
    let held_until = UNTIL + Duration::MINUTE;
    db.store.hold(AccountId(mine.account.0 + 1), &ids, held_until + Duration::DAY).await.unwrap();
    db.store.hold(mine.account, &ids, held_until).await.unwrap();
    assert_eq!(db.store.take(mine, UNTIL, held_until, 9).await.unwrap().entries, []);
    db.store.hold(mine.account, &ids, UNTIL).await.unwrap();
    // One is put back, which keeps none of the others waiting; the worker dies over the third.
    db.store.postpone(mine.account, &ids[1..2], UNTIL + Duration::HOUR).await.unwrap();
    let rest = db.store.take(mine, UNTIL, UNTIL + Duration::MINUTE, 9).await.unwrap().entries;
    let topics: Vec<_> = rest.iter().map(|entry| (entry.topic.clone(), entry.attempts)).collect();
    assert_eq!(topics, [(order("3"), 2), (order("4"), 1), (order("5"), 1)]);
    let ids: Vec<_> = rest.iter().map(|entry| entry.id).collect();
    db.store.done(mine.account, &ids, NOW).await.unwrap();
    assert_eq!(db.store.waiting(UNTIL + Duration::MINUTE, 9).await.unwrap(), []);
    assert_eq!(db.store.waiting(UNTIL + Duration::HOUR, 9).await.unwrap(), [mine]);
    // What is done is still known, until it is old.
    assert_eq!(receive(&db, hook("a", "1", order("1"))).await, Received::Duplicate);
    assert_eq!(Inbox::prune(&*db.store, NOW).await.unwrap(), 0);
    assert_eq!(Inbox::prune(&*db.store, NOW + Duration::SECOND).await.unwrap(), 5);
    assert_eq!(receive(&db, hook("a", "1", order("1"))).await, Received::Stored);
}

async fn unsigned(db: &Database) -> Waiting {
    let account = shop::account(&db.sql, "UTC").await;
    let integration = connect(&db.store, account, Platform::Mercadolibre, "9", NOW).await.unwrap();
    Waiting { account, integration }
}

/// Anybody can send them, each with another key.
#[tokio::test]
async fn unsigned_hooks_that_name_nothing_are_one_for_ten_seconds_and_acted_on_after_them() {
    let db = fresh().await;
    let mine = unsigned(&db).await;
    let receive = async |second: i64, topic: Topic| {
        let hook = hook("9", &format!("{second}{topic:?}"), topic);
        db.store.receive(Platform::Mercadolibre, hook, NOW + Duration::seconds(second)).await.unwrap()
    };
    assert_eq!(receive(0, Topic::Order(None)).await, Received::Stored);
    assert_eq!(receive(9, Topic::Order(None)).await, Received::Duplicate);
    assert_eq!(receive(10, Topic::Order(None)).await, Received::Stored);
    let waiting = async |second: i64| db.store.waiting(NOW + Duration::seconds(second), 9).await.unwrap();
    assert_eq!((waiting(9).await, waiting(10).await), (vec![], vec![mine]), "what comes last is not missed");
    // What is named is read at once.
    for (second, id) in [(0, "1"), (1, "1"), (2, "2")] {
        assert_eq!(receive(second, order(id)).await, Received::Stored);
    }
    assert_eq!(waiting(2).await, [mine]);
}

#[tokio::test]
async fn of_unsigned_hooks_so_many_wait_and_none_is_kept_that_is_done() {
    let db = fresh().await;
    let (mine, signed) = (unsigned(&db).await, connected(&db, "a").await);
    let fill =
        "INSERT INTO provider_inbox (account_id, integration_id, dedup_key, topic_name, topic, received_at, due_at)
        SELECT $1, $2, number::text, 'any', jsonb_build_object('topic', 'order', 'about', number::text), $3, $3
        FROM generate_series(1, $4::bigint) AS number";
    db.sql.execute(fill, &[&mine.account.0, &mine.integration.0, &NOW, &999_i64]).await.unwrap();
    db.sql.execute(fill, &[&signed.account.0, &signed.integration.0, &NOW, &1_000_i64]).await.unwrap();
    let unsigned =
        async |key: &str| db.store.receive(Platform::Mercadolibre, hook("9", key, order(key)), NOW).await.unwrap();
    assert_eq!(unsigned("x").await, Received::Stored);
    assert_eq!(unsigned("y").await, Received::TooMany);
    // What this service has itself read again neither waits for them nor keeps them from being received.
    let own = Hook { topic_name: AGAIN.to_owned(), ..hook("9", "own", order("7")) };
    let own = db.store.receive(Platform::Mercadolibre, own, NOW + Duration::HOUR).await.unwrap();
    assert_eq!(own, Received::Stored);
    assert_eq!(receive(&db, hook("a", "x", order("1"))).await, Received::Stored);

    let taken = db.store.take(mine, NOW, UNTIL, 2).await.unwrap().entries;
    let ids: Vec<_> = taken.iter().map(|entry| entry.id).collect();
    db.store.done(mine.account, &ids, NOW).await.unwrap();
    let rows =
        "SELECT count(*), count(*) FILTER (WHERE processed_at IS NULL) FROM provider_inbox WHERE account_id = $1";
    let row = db.sql.query_one(rows, &[&mine.account.0]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (999, 999));
    assert_eq!(unsigned("y").await, Received::Stored);
}

#[tokio::test]
async fn a_privacy_request_reaches_everybody_who_was_connected_and_other_hooks_only_who_is() {
    let db = fresh().await;
    let before = connected(&db, "a").await;
    let end = Revocation { reason: RevokeReason::Uninstalled, generation: None, now: NOW };
    db.store.revoke(before.account, before.integration, end, None).await.unwrap();
    assert_eq!(receive(&db, hook("a", "1", order("1"))).await, Received::UnknownShop);
    let now = connected(&db, "a").await;
    assert_eq!(receive(&db, hook("a", "2", order("1"))).await, Received::Stored);
    let redact = Topic::Privacy(PrivacyRequest::RedactCustomer { customer: "9".into(), orders: vec!["1".into()] });
    assert_eq!(receive(&db, hook("a", "3", redact.clone())).await, Received::Stored);
    assert_eq!(receive(&db, hook("a", "3", redact.clone())).await, Received::Duplicate);
    let of = async |waiting| -> Vec<Topic> {
        let taken = db.store.take(waiting, NOW, UNTIL, 10).await.unwrap();
        taken.entries.into_iter().map(|entry| entry.topic).collect()
    };
    assert_eq!(of(before).await, std::slice::from_ref(&redact));
    assert_eq!(of(now).await, [order("1"), redact]);
}
