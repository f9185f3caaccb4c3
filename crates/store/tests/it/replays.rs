//! Sending again: one delivery, or those of a span of time.

use std::time::Duration;

use domain::{
    SubscriptionId,
    events::{CreditsLow, Event, EventKind, Outbox},
    idempotency::{IdempotencyError, IdempotencyKey},
    webhooks::{
        attempt::{Attempt, Outcome, Timings},
        delivery::{Capacity, DeliveryQueue, DeliveryState, Receiver, Report},
        log::{DeliveryLog, Resent, TestStart},
        replay::{ReplayState, ReplayStore, Selection, StartError},
    },
};

use crate::webhook_fixture::{Fixture, START};

const LEASE: Duration = Duration::from_secs(20);

async fn with_deliveries(count: i64) -> (Fixture, Receiver) {
    let fixture = Fixture::new().await;
    let account = fixture.account().await;
    let subscription = SubscriptionId(fixture.subscription(account, &["*"]).await);
    let events: Vec<Event> = (0..count)
        .map(|balance| CreditsLow { balance, threshold: 100, last_feature: "chat".to_owned(), crossed: false }.into())
        .collect();
    fixture.store.emit(account, &events, START).await.unwrap();
    (fixture, Receiver { account, subscription })
}

fn failed_since_start(subscription: SubscriptionId) -> Selection {
    Selection { subscription, since: START, until: START + Duration::from_secs(1), states: vec![DeliveryState::Failed] }
}

#[tokio::test]
async fn a_replay_goes_on_where_it_stood_and_takes_what_was_counted() {
    let (fixture, to) = with_deliveries(1_203).await;
    fixture.execute("UPDATE deliveries SET state = 'failed', attempts = 8, finished_at = now()").await;
    fixture
        .execute("UPDATE deliveries SET state = 'delivered' WHERE event_id = (SELECT min(event_id) FROM deliveries)")
        .await;
    fixture.execute("UPDATE deliveries SET created_at = '2026-04-30 12:00Z' WHERE event_id = (SELECT max(event_id) FROM deliveries)").await;
    let selection = failed_since_start(to.subscription);
    assert_eq!(fixture.store.count(to.account, &selection).await.unwrap(), 1_201);
    let replay = fixture.store.start(to.account, selection, None, None, START).await.unwrap().value;
    assert_eq!((replay.total, replay.queued, replay.state), (1_201, 0, ReplayState::Running));

    let mut queued = Vec::new();
    while fixture.store.advance_bulk(START).await.unwrap() == Some(to) {
        let replay = ReplayStore::find(&fixture.store, to.account, to.subscription, replay.id).await.unwrap().unwrap();
        queued.push((replay.queued, replay.state));
    }
    let running = ReplayState::Running;
    assert_eq!(queued, [(500, running), (1_000, running), (1_201, running), (1_201, ReplayState::Done)]);
    assert_eq!(fixture.count("deliveries WHERE state = 'pending'").await, 1_201);
    let leased = fixture.store.lease(&[Capacity { receiver: to, deliveries: 1 }], LEASE, START).await.unwrap();
    assert_eq!((leased[0].attempt, leased[0].attempt_of_round), (9, 1));
}

#[tokio::test]
async fn a_replay_looks_at_a_bounded_number_in_a_step_also_where_little_is_to_be_sent() {
    let (fixture, to) = with_deliveries(0).await;
    let insert = "INSERT INTO deliveries (account_id, subscription_id, event_id, id, state, due_at, created_at)
        SELECT $1, $2, n, uuid_v7(at), CASE WHEN n IN (1, 12000) THEN 'failed' ELSE 'delivered' END, at, at
        FROM generate_series(1, 12000) AS n,
            LATERAL (SELECT $3::timestamptz - CASE WHEN n = 1 THEN interval '3 days' ELSE interval '0' END AS at) AS made";
    fixture.sql.execute(insert, &[&to.account.0, &to.subscription.0, &START]).await.unwrap();
    let selection = failed_since_start(to.subscription);
    assert_eq!(fixture.store.count(to.account, &selection).await.unwrap(), 1);
    let replay = fixture.store.start(to.account, selection, None, None, START).await.unwrap().value;
    // What is much older than the span is not walked over at all.
    assert_eq!((replay.total, fixture.count("webhook_replays WHERE cursor = 1").await), (1, 1));
    let mut queued = Vec::new();
    while fixture.store.advance_bulk(START).await.unwrap() == Some(to) {
        let replay = ReplayStore::find(&fixture.store, to.account, to.subscription, replay.id).await.unwrap().unwrap();
        queued.push((replay.queued, replay.state));
    }
    assert_eq!(queued, [(0, ReplayState::Running), (1, ReplayState::Running), (1, ReplayState::Done)]);
    assert_eq!(fixture.count("deliveries WHERE state = 'pending' AND event_id = 12000").await, 1);
}

#[tokio::test]
async fn a_replay_ends_though_new_deliveries_come_before_each_step() {
    let (fixture, to) = with_deliveries(3).await;
    fixture.execute("UPDATE deliveries SET state = 'failed'").await;
    fixture.store.start(to.account, failed_since_start(to.subscription), None, None, START).await.unwrap();
    let new = "INSERT INTO deliveries (account_id, subscription_id, event_id, id, state, due_at, created_at)
        SELECT $1, $2, max(event_id) + 1, gen_random_uuid(), 'pending', $3, $3 FROM deliveries WHERE account_id = $1";
    let later = START + Duration::from_secs(60);
    for _ in 0..2 {
        fixture.sql.execute(new, &[&to.account.0, &to.subscription.0, &later]).await.unwrap();
        assert_eq!(fixture.store.advance_bulk(later).await.unwrap(), Some(to));
    }
    assert_eq!(fixture.count("webhook_replays WHERE state = 'done' AND queued = 3").await, 1);
}

#[tokio::test]
async fn a_replay_can_be_stopped() {
    let (fixture, to) = with_deliveries(600).await;
    fixture.execute("UPDATE deliveries SET state = 'failed'").await;
    let replay =
        fixture.store.start(to.account, failed_since_start(to.subscription), None, None, START).await.unwrap().value;
    fixture.store.advance_bulk(START).await.unwrap();
    let stranger = fixture.account().await;
    assert!(!fixture.store.cancel(stranger, to.subscription, replay.id, START).await.unwrap());
    assert!(fixture.store.cancel(to.account, to.subscription, replay.id, START).await.unwrap());
    assert!(!fixture.store.cancel(to.account, to.subscription, replay.id, START).await.unwrap());
    assert_eq!(fixture.store.advance_bulk(START).await.unwrap(), None);
    assert_eq!(fixture.count("deliveries WHERE state = 'pending'").await, 500);
}

#[tokio::test]
async fn a_subscription_has_one_running_replay_and_an_account_three() {
    let (fixture, to) = with_deliveries(1).await;
    let mut subscriptions = vec![to.subscription];
    for _ in 0..3 {
        subscriptions.push(SubscriptionId(fixture.subscription(to.account, &["*"]).await));
    }
    let start = |subscription| fixture.store.start(to.account, failed_since_start(subscription), None, None, START);
    let first = start(subscriptions[0]).await.unwrap().value;
    assert!(matches!(start(subscriptions[0]).await, Err(StartError::Running)));
    start(subscriptions[1]).await.unwrap();
    // Of those that come at once, one is the third.
    let asked = futures_util::future::join_all([2, 3, 2, 3].map(|nth| start(subscriptions[nth]))).await;
    assert_eq!(asked.iter().filter(|started| started.is_ok()).count(), 1);
    assert!(asked.iter().any(|started| matches!(started, Err(StartError::TooMany))));
    let stranger = fixture.account().await;
    assert!(fixture.store.start(stranger, failed_since_start(SubscriptionId(1)), None, None, START).await.is_ok());
    assert!(fixture.store.cancel(to.account, to.subscription, first.id, START).await.unwrap());
    assert!(start(subscriptions[0]).await.is_ok());
}

#[tokio::test]
async fn a_replay_sent_again_under_its_key_gives_the_first_answer() {
    let (fixture, to) = with_deliveries(3).await;
    fixture.execute("UPDATE deliveries SET state = 'failed'").await;
    let key = IdempotencyKey { path: "/replay".to_owned(), key: "k".to_owned(), request_hash: [1; 32] };
    let start = || fixture.store.start(to.account, failed_since_start(to.subscription), Some(key.clone()), None, START);
    let first = start().await.unwrap();
    while fixture.store.advance_bulk(START).await.unwrap().is_some() {}
    let again = start().await.unwrap();
    assert_eq!((first.replayed, again.replayed, first.value == again.value), (false, true, true));
}

#[tokio::test]
async fn nothing_is_counted_for_a_replay_that_is_refused_or_was_started_before() {
    let (fixture, to) = with_deliveries(1).await;
    let key = IdempotencyKey { path: "/replay".to_owned(), key: "k".to_owned(), request_hash: [1; 32] };
    let start = |key| fixture.store.start(to.account, failed_since_start(to.subscription), key, None, START);
    let first = start(Some(key.clone())).await.unwrap();
    fixture.sql.batch_execute("BEGIN; LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE").await.unwrap();
    assert!(matches!(start(None).await, Err(StartError::Running)));
    let again = start(Some(key)).await.unwrap();
    assert_eq!((again.replayed, again.value), (true, first.value));
    fixture.sql.batch_execute("ROLLBACK").await.unwrap();
}

#[tokio::test]
async fn accounts_take_turns_at_their_replays() {
    let (fixture, first) = with_deliveries(2_000).await;
    let add = async |account| {
        let subscription = SubscriptionId(fixture.subscription(account, &["*"]).await);
        Receiver { account, subscription }
    };
    let (second, late) = (add(first.account).await, add(fixture.account().await).await);
    let sample = Event::sample(EventKind::CreditsLow);
    fixture.store.emit(first.account, &vec![sample.clone(); 600], START).await.unwrap();
    fixture.store.emit(late.account, &[sample], START).await.unwrap();
    fixture.execute("UPDATE deliveries SET state = 'failed'").await;
    let at = |seconds: u64| START + Duration::from_secs(seconds);
    let start = async |to: Receiver, seconds| {
        fixture.store.start(to.account, failed_since_start(to.subscription), None, None, at(seconds)).await.unwrap();
    };
    start(first, 0).await;
    start(second, 0).await;
    assert_eq!(fixture.store.advance_bulk(at(1)).await.unwrap(), Some(first));
    start(late, 2).await;
    let mut steps = Vec::new();
    for seconds in 3..9 {
        steps.push(fixture.store.advance_bulk(at(seconds)).await.unwrap().unwrap());
    }
    // An account with two gets no more turns than one with one; its two take turns as well.
    assert_eq!(steps, [second, late, first, late, second, first]);
}

#[tokio::test]
async fn a_delivery_is_sent_again_under_its_id_unless_a_worker_has_it() {
    let (fixture, to) = with_deliveries(1).await;
    let room = [Capacity { receiver: to, deliveries: 1 }];
    let leased = fixture.store.lease(&room, LEASE, START).await.unwrap();
    let id = leased[0].id;
    let resend = || fixture.store.resend(to.account, to.subscription, id, None, None, START);
    assert_eq!(resend().await.unwrap().value, Resent::UnderWay);
    fixture.execute("UPDATE deliveries SET state = 'delivered', leased_until = NULL, attempts = 3").await;
    assert_eq!(resend().await.unwrap().value, Resent::Queued);
    let again = fixture.store.lease(&room, LEASE, START).await.unwrap();
    assert_eq!((again[0].id, again[0].attempt, again[0].attempt_of_round), (id, 4, 1));
    let stranger = fixture.account().await;
    assert_eq!(
        fixture.store.resend(stranger, to.subscription, id, None, None, START).await.unwrap().value,
        Resent::Unknown
    );
    fixture.execute("UPDATE webhook_subscriptions SET active = false").await;
    assert_eq!(resend().await.unwrap().value, Resent::Inactive);
}

#[tokio::test]
async fn a_test_goes_to_one_subscription_and_is_leased_at_once() {
    let (fixture, to) = with_deliveries(0).await;
    fixture.subscription(to.account, &["*"]).await;
    let event = Event::sample(EventKind::InventoryLowStock);
    let start = async |account, key: Option<&IdempotencyKey>| {
        fixture.store.start_test(account, to.subscription, &event, LEASE, key.cloned(), START).await
    };
    let TestStart::Leased(leased) = start(to.account, None).await.unwrap() else { panic!("nothing was leased") };
    assert_eq!((leased.lease.receiver, leased.attempt), (to, 1));
    assert_eq!(leased.body, event.body().unwrap());
    assert_eq!(fixture.count("deliveries").await, 1);
    assert_eq!(fixture.store.due(None, START).await.unwrap().receivers, []);
    let stranger = fixture.account().await;
    assert_eq!(start(stranger, None).await.unwrap(), TestStart::Unknown);

    // Under a key it happens once.
    let key = IdempotencyKey { path: "/test".to_owned(), key: "k".to_owned(), request_hash: [1; 32] };
    let TestStart::Leased(first) = start(to.account, Some(&key)).await.unwrap() else { panic!("nothing was leased") };
    assert_eq!(start(to.account, Some(&key)).await.unwrap(), TestStart::Earlier(first.id));
    let reused = IdempotencyKey { request_hash: [2; 32], ..key };
    assert!(matches!(start(to.account, Some(&reused)).await, Err(IdempotencyError::Reused)));
    assert_eq!(fixture.count("deliveries").await, 2);
}

#[tokio::test]
async fn a_test_whose_process_ends_is_not_tried_again_nor_replayed() {
    let (fixture, to) = with_deliveries(1).await;
    fixture.execute("UPDATE deliveries SET state = 'failed'").await;
    let event = Event::sample(EventKind::InventoryLowStock);
    let start = async || fixture.store.start_test(to.account, to.subscription, &event, LEASE, None, START).await;
    let TestStart::Leased(recorded) = start().await.unwrap() else { panic!("nothing was leased") };
    start().await.unwrap();
    let later = START + time::Duration::HOUR;
    assert_eq!(fixture.store.due(None, later).await.unwrap().receivers, []);
    let room = [Capacity { receiver: to, deliveries: 9 }];
    assert_eq!(fixture.store.lease(&room, LEASE, later).await.unwrap(), []);

    let selection = failed_since_start(to.subscription);
    assert_eq!(fixture.store.count(to.account, &selection).await.unwrap(), 1);
    fixture.store.start(to.account, selection, None, None, later).await.unwrap();
    while fixture.store.advance_bulk(later).await.unwrap().is_some() {}
    assert_eq!(fixture.count("deliveries WHERE state = 'pending' AND NOT is_test").await, 1);
    assert_eq!(fixture.count("deliveries WHERE state = 'failed' AND is_test").await, 2);

    // The process that lives records its attempt.
    let attempt = Attempt {
        outcome: Outcome::Status(204),
        timings: Timings::default(),
        answer: Vec::new(),
        retry_after: None,
        location: None,
    };
    let report = Report::new(&recorded, START, attempt, START, 0.0);
    DeliveryQueue::record(&fixture.store, &[report], START).await.unwrap();
    assert_eq!(fixture.count("deliveries WHERE state = 'delivered' AND attempts = 1").await, 1);
}
