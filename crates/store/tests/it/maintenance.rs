//! Months of tracking events: made ahead, and dropped after their time. Old deliveries and events.

use time::{Duration, OffsetDateTime, macros::datetime};

use domain::{
    SubscriptionId,
    events::{CreditsLow, Outbox},
    queues::{Queue, QueueStore},
    webhooks::delivery::{Capacity, DeliveryQueue, Receiver},
};
use store::{Connect, PoolOptions, Pooler, Retention, Store};
use testkit::PgBouncer;

use crate::{
    database::{fresh, until_waiting},
    shop,
    webhook_fixture::Fixture,
};

fn keep(track_months: u32) -> Retention {
    Retention { track_months, delivery_months: 3 }
}

#[tokio::test]
async fn months_are_made_ahead_and_events_that_came_before_them_move_in() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let insert = "INSERT INTO track_events (account_id, name, props, occurred_at, received_at)
                  VALUES ($1, 'a', '{}', now(), $2::text::timestamptz)";
    for received_at in ["2026-03-01 00:00Z", "2026-03-31 23:59:59Z", "2026-02-28 23:59:59Z"] {
        db.sql.execute(insert, &[&account.0, &received_at]).await.unwrap();
    }
    db.store.maintain_at(datetime!(2026-03-15 12:00 UTC), keep(12)).await.unwrap();
    db.store.maintain_at(datetime!(2026-03-15 13:00 UTC), keep(12)).await.unwrap();
    db.sql.execute(insert, &[&account.0, &"2026-05-31 12:00Z"]).await.unwrap();
    let rows = db
        .sql
        // A cluster numbers its shards: `track_events_202603_102371`.
        .query(
            "SELECT substring(tableoid::regclass::text FROM 'track_events_(?:[0-9]{6}|default)'), count(*)
             FROM track_events GROUP BY 1 ORDER BY 1",
            &[],
        )
        .await
        .unwrap();
    let rows: Vec<(String, i64)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(
        rows,
        [
            ("track_events_202603".to_owned(), 2),
            ("track_events_202605".to_owned(), 1),
            ("track_events_default".to_owned(), 1)
        ]
    );
}

#[tokio::test]
async fn months_are_dropped_when_their_time_is_over_and_old_keys_forgotten() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    db.store.maintain_at(datetime!(2025-11-15 12:00 UTC), keep(12)).await.unwrap();
    db.sql
        .execute(
            "INSERT INTO idempotency_keys VALUES ($1, '/', 'old', sha256(''), '{}', '2026-03-14 11:59Z'),
             ($1, '/', 'new', sha256(''), '{}', '2026-03-14 12:01Z')",
            &[&account.0],
        )
        .await
        .unwrap();
    db.store.maintain_at(datetime!(2026-03-15 12:00 UTC), keep(2)).await.unwrap();
    let months = db
        .sql
        .query(
            "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = 'track_events'::regclass ORDER BY 1",
            &[],
        )
        .await
        .unwrap();
    let months: Vec<String> = months.iter().map(|row| row.get(0)).collect();
    assert_eq!(
        months,
        ["202601", "202603", "202604", "202605", "default"].map(|month| format!("track_events_{month}"))
    );
    let keys: Vec<String> =
        db.sql.query("SELECT key FROM idempotency_keys", &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(keys, ["new"]);
}

#[rstest::rstest]
#[tokio::test]
async fn a_process_whose_clock_is_wrong_removes_nothing(#[values(10 * 365 * 24, 2, -2)] hours_ahead: i64) {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let now = OffsetDateTime::now_utc();
    db.store.maintain(now, keep(12)).await.unwrap();
    let key = "INSERT INTO idempotency_keys VALUES ($1, '/', 'new', sha256(''), '{}', now())";
    db.sql.execute(key, &[&account.0]).await.unwrap();
    let kept = "SELECT (SELECT count(*) FROM pg_inherits WHERE inhparent IN ('track_events'::regclass,
        'delivery_attempts'::regclass)) + (SELECT count(*) FROM idempotency_keys)";
    let before: i64 = db.sql.query_one(kept, &[]).await.unwrap().get(0);
    let refused = db.store.maintain(now + Duration::hours(hours_ahead), keep(12)).await.unwrap_err();
    let refused = domain::error::Chain(&refused).to_string();
    assert!(refused.contains("clock"), "{refused}");
    assert_eq!(db.sql.query_one(kept, &[]).await.unwrap().get::<_, i64>(0), before);
}

#[tokio::test]
async fn what_is_kept_for_ever_is_kept() {
    let db = fresh().await;
    let now = datetime!(2026-03-15 12:00 UTC);
    let for_ever = Retention { track_months: u32::MAX, delivery_months: u32::MAX };
    db.store.maintain_at(now, for_ever).await.unwrap();
}

#[tokio::test]
async fn an_event_that_arrives_while_its_month_is_made_is_stored() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let insert = format!(
        "INSERT INTO track_events (account_id, name, props, occurred_at, received_at)
         VALUES ({}, 'a', '{{}}', now(), '2026-03-20 12:00Z')",
        account.0
    );
    let (first, second) = (db.session().await, db.session().await);
    first.batch_execute(&format!("BEGIN; {insert}")).await.unwrap();
    let store = db.store.clone();
    let maintained = tokio::spawn(async move { store.maintain_at(datetime!(2026-03-15 12:00 UTC), keep(12)).await });
    until_waiting(&db.sql, 1).await;
    let arriving = tokio::spawn(async move { second.batch_execute(&insert).await });
    until_waiting(&db.sql, 2).await;
    first.batch_execute("COMMIT").await.unwrap();
    maintained.await.unwrap().unwrap();
    arriving.await.unwrap().unwrap();
    let month = "SELECT count(*) FROM track_events_202603";
    assert_eq!(db.sql.query_one(month, &[]).await.unwrap().get::<_, i64>(0), 2);
}

#[tokio::test]
async fn deliveries_that_have_ended_or_are_held_go_with_their_events_and_what_is_pending_stays() {
    let fixture = Fixture::new().await;
    let account = fixture.account().await;
    let subscription = fixture.subscription(account, &["*"]).await;
    for (balance, at, state) in [
        (1, datetime!(2026-01-31 23:59:59 UTC), "delivered"),
        (2, datetime!(2026-01-31 23:59:59 UTC), "failed"),
        (3, datetime!(2026-01-31 23:59:59 UTC), "pending"),
        (4, datetime!(2026-01-31 23:59:59 UTC), "held"),
        (5, datetime!(2026-02-01 00:00 UTC), "delivered"),
    ] {
        let event = CreditsLow { balance, threshold: 100, last_feature: "chat".to_owned(), crossed: false }.into();
        fixture.store.emit(account, &[event], at).await.unwrap();
        fixture.execute(&format!("UPDATE deliveries SET state = '{state}' WHERE created_at = '{at}' AND event_id = (SELECT max(id) FROM events)")).await;
    }
    let quiet = fixture.account().await;
    let unheard = CreditsLow { balance: 6, threshold: 100, last_feature: "chat".to_owned(), crossed: false }.into();
    fixture.store.emit(quiet, &[unheard], datetime!(2026-01-01 00:00 UTC)).await.unwrap();

    fixture.store.maintain_at(datetime!(2026-05-15 12:00 UTC), keep(12)).await.unwrap();
    let kept = "SELECT (convert_from(e.body, 'UTF8')::jsonb -> 'data' ->> 'balance')::bigint, d.state
                FROM events e LEFT JOIN deliveries d ON d.account_id = e.account_id AND d.event_id = e.id ORDER BY 1";
    let rows = fixture.sql.query(kept, &[]).await.unwrap();
    let rows: Vec<(i64, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(rows, [(3, "pending".to_owned()), (5, "delivered".to_owned())]);

    // What was pending can still be sent, body and all.
    let room = Capacity { receiver: Receiver { account, subscription: SubscriptionId(subscription) }, deliveries: 9 };
    let lease = std::time::Duration::from_secs(9);
    let leased = fixture.store.lease(&[room], lease, datetime!(2026-05-15 12:00 UTC)).await.unwrap();
    assert_eq!(leased.len(), 1);
    assert!(String::from_utf8_lossy(&leased[0].body).contains("\"balance\":3"));
}

#[tokio::test]
async fn deliveries_of_a_subscription_that_was_revoked_go_too_and_what_is_behind_a_pending_one_is_found() {
    let fixture = Fixture::new().await;
    let account = fixture.account().await;
    let subscriptions = [fixture.subscription(account, &["*"]).await, fixture.subscription(account, &["*"]).await];
    // More than are looked at in one go.
    let events: Vec<_> = (0..1_201)
        .map(|balance| CreditsLow { balance, threshold: 100, last_feature: "chat".to_owned(), crossed: false }.into())
        .collect();
    fixture.store.emit(account, &events, datetime!(2026-01-01 00:00 UTC)).await.unwrap();
    let [kept, revoked] = subscriptions;
    for change in [
        format!("UPDATE webhook_subscriptions SET revoked_at = '2026-01-02 00:00Z' WHERE id = {revoked}"),
        format!("UPDATE deliveries SET state = 'canceled' WHERE subscription_id = {revoked}"),
        format!(
            "UPDATE deliveries SET state = 'delivered'
             WHERE subscription_id = {kept} AND event_id > (SELECT min(id) FROM events)"
        ),
    ] {
        fixture.execute(&change).await;
    }
    fixture.store.maintain_at(datetime!(2026-05-15 12:00 UTC), keep(12)).await.unwrap();
    assert_eq!((fixture.count("deliveries").await, fixture.count("events").await), (1, 1));
    assert_eq!(fixture.count("deliveries WHERE state = 'pending'").await, 1);
}

/// What is removed row by row comes after the months, and waits for others' locks alone.
#[tokio::test]
async fn what_cannot_be_removed_keeps_nothing_else() {
    if testkit::skip_on_citus("its nodes wait for each other's locks in their own way") {
        return;
    }
    let fixture = Fixture::new().await;
    let account = fixture.account().await;
    fixture.subscription(account, &["*"]).await;
    let event = CreditsLow { balance: 1, threshold: 100, last_feature: "chat".to_owned(), crossed: false }.into();
    fixture.store.emit(account, &[event], datetime!(2026-01-01 00:00 UTC)).await.unwrap();
    fixture.execute("UPDATE deliveries SET state = 'delivered'").await;
    let key = "INSERT INTO idempotency_keys VALUES ($1, '/', 'old', sha256(''), '{}', '2026-01-01 00:00Z')";
    fixture.sql.execute(key, &[&account.0]).await.unwrap();
    let held = fixture.db.client().await.unwrap();
    held.batch_execute("BEGIN; SELECT FROM idempotency_keys FOR UPDATE").await.unwrap();
    fixture.store.maintain_at(datetime!(2026-05-15 12:00 UTC), keep(12)).await.unwrap_err();
    assert_eq!(fixture.count("pg_class WHERE relname = 'track_events_202605'").await, 1);
    assert_eq!((fixture.count("events").await, fixture.count("idempotency_keys").await), (0, 1));
    held.batch_execute("COMMIT").await.unwrap();
    fixture.store.maintain_at(datetime!(2026-05-15 12:00 UTC), keep(12)).await.unwrap();
    assert_eq!(fixture.count("idempotency_keys").await, 0);
}

#[tokio::test]
async fn runs_are_kept_for_ninety_days_and_the_last_of_each_job_for_ever() {
    let fixture = Fixture::new().await;
    let accounts = [fixture.account().await, fixture.account().await];
    fixture
        .execute(
            "INSERT INTO job_runs (account_id, job, as_of, state, claim, lease_until, started_at, finished_at)
             SELECT id, run.job, run.as_of::date, run.state, 1, run.at::timestamptz, run.at::timestamptz,
                CASE WHEN run.state = 'done' THEN run.at::timestamptz END
             FROM accounts, (VALUES
                ('profit_snapshots', '2026-02-13', 'done', '2026-02-13 12:00Z'),
                ('profit_snapshots', '2026-02-14', 'failed', '2026-02-14 11:59Z'),
                ('profit_snapshots', '2026-02-15', 'done', '2026-02-14 11:59Z'),
                ('profit_snapshots', '2026-02-16', 'done', '2026-02-14 12:00Z'),
                ('smart_reorder', '2026-01-01', 'done', '2026-01-01 12:00Z'),
                ('smart_reorder', '2026-01-02', 'done', '2026-01-02 12:00Z')) AS run (job, as_of, state, at)",
        )
        .await;
    fixture.store.maintain_at(datetime!(2026-05-15 12:00 UTC), keep(12)).await.unwrap();
    for account in accounts {
        let kept = "SELECT as_of::text FROM job_runs WHERE account_id = $1 ORDER BY as_of";
        let rows = fixture.sql.query(kept, &[&account.0]).await.unwrap();
        let kept: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        assert_eq!(kept, ["2026-01-02", "2026-02-14", "2026-02-16"]);
    }
}

#[tokio::test]
async fn what_waits_is_counted() {
    let fixture = Fixture::new().await;
    let account = fixture.account().await;
    fixture.subscription(account, &["*"]).await;
    let now = datetime!(2026-05-01 12:00 UTC);
    assert_eq!(fixture.store.depths(now).await.unwrap().oldest_due_seconds, 0.0);
    let events: Vec<_> = (0..6)
        .map(|balance| CreditsLow { balance, threshold: 100, last_feature: "chat".to_owned(), crossed: false }.into())
        .collect();
    fixture.store.emit(account, &events, now).await.unwrap();
    for (nth, change) in [
        "due_at = '2026-05-01 11:58:30Z'",
        "due_at = '2026-05-01 12:00:10Z', leased_until = '2026-05-01 12:00:10Z'",
        "due_at = '2026-05-01 11:59:59Z', leased_until = '2026-05-01 11:59:59Z'",
        "due_at = '2026-05-01 12:05Z'",
        "state = 'held'",
        "state = 'delivered'",
    ]
    .iter()
    .enumerate()
    {
        let first = "(SELECT min(id) FROM events)";
        fixture.execute(&format!("UPDATE deliveries SET {change} WHERE event_id = {first} + {nth}")).await;
    }
    fixture
        .execute(
            "INSERT INTO job_runs (account_id, job, as_of, state, claim, lease_until, started_at)
             SELECT id, job, current_date, state, 1, now() + lease, now() FROM accounts,
                (VALUES ('profit_snapshots', 'running', interval '1 min'), ('smart_reorder', 'running', '-1 min'),
                    ('risk_assessment', 'failed', '0'), ('anomaly_detection', 'done', '0')) AS run (job, state, lease)",
        )
        .await;
    let depths = fixture.store.depths(now).await.unwrap();
    assert_eq!((depths.due, depths.in_flight, depths.waiting, depths.held), (2, 1, 1, 1));
    assert_eq!(depths.oldest_due_seconds, 90.0);
    assert_eq!((depths.running_jobs, depths.abandoned_jobs, depths.failed_jobs), (1, 1, 1));
}

#[tokio::test]
async fn of_what_waits_by_the_million_a_bounded_number_is_counted() {
    let fixture = Fixture::new().await;
    let account = fixture.account().await;
    let (busy, other) = (fixture.subscription(account, &["*"]).await, fixture.subscription(account, &["*"]).await);
    let now = datetime!(2026-05-01 12:00 UTC);
    let insert = "INSERT INTO deliveries (account_id, subscription_id, event_id, id, state, due_at, created_at)
        SELECT $1, $3, n, gen_random_uuid(), 'pending', $2::timestamptz - n * interval '1 ms', $2 FROM generate_series(1, 100001) AS n";
    fixture.sql.execute(insert, &[&account.0, &now, &busy]).await.unwrap();
    let depths = fixture.store.depths(now).await.unwrap();
    assert_eq!((depths.due, depths.held, depths.oldest_due_seconds), (100_000, 0, 100.001));
    let held = format!(
        "UPDATE deliveries SET subscription_id = {other}, state = 'held' WHERE event_id <= 10001;
         UPDATE deliveries SET subscription_id = {other} WHERE event_id BETWEEN 10002 AND 10004"
    );
    fixture.sql.batch_execute(&held).await.unwrap();
    let depths = QueueStore::depths(&fixture.store, account, now).await.unwrap();
    let [deliveries, held] =
        [Queue::Deliveries, Queue::Held].map(|queue| *depths.iter().find(|d| d.queue == queue).unwrap());
    assert_eq!((deliveries.waiting, held.waiting, held.due_since), (10_003, 10_000, None));
    assert_eq!(deliveries.due_since, Some(now - Duration::milliseconds(100_001)));
}

#[tokio::test]
async fn a_run_that_nobody_claims_again_waits_for_nobody() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let now = OffsetDateTime::now_utc();
    let waiting = async || {
        let depths = db.store.depths(now).await.unwrap();
        let overdue = db.store.overdue(now, now).await.unwrap();
        (depths.abandoned_jobs, depths.failed_jobs, overdue.oldest_abandoned_seconds >= 3_600.0)
    };
    let insert = "INSERT INTO job_runs (account_id, job, as_of, state, claim, lease_until, started_at)
        SELECT $1, job, $2::text::date, state, 1, now() - interval '1 hour', now()
        FROM (VALUES ('profit_snapshots', 'running'), ('smart_reorder', 'failed')) AS run (job, state)";
    db.sql.execute(insert, &[&account.0, &"2026-03-01"]).await.unwrap();
    assert_eq!(waiting().await, (1, 1, true));
    // The day is over, and the next one's runs go well.
    db.sql.execute(insert, &[&account.0, &"2026-03-02"]).await.unwrap();
    assert_eq!(waiting().await, (1, 1, true), "each is counted once");
    db.sql.execute("UPDATE job_runs SET state = 'done' WHERE as_of = '2026-03-02'", &[]).await.unwrap();
    assert_eq!(waiting().await, (0, 0, false));
    // The command that ran it as of a day was broken off.
    let copy = "INSERT INTO accounts (user_id, mode, name, plan, currency, timezone, created_at, fee_rate, fee_fixed,
            shipping_per_order, cogs_ratio, copy_of, as_of)
        SELECT user_id, mode, name, plan, currency, timezone, created_at, fee_rate, fee_fixed, shipping_per_order,
            cogs_ratio, id, '2026-02-01' FROM accounts WHERE id = $1 RETURNING id";
    let copy: i64 = db.sql.query_one(copy, &[&account.0]).await.unwrap().get(0);
    db.sql.execute(insert, &[&copy, &"2026-02-01"]).await.unwrap();
    assert_eq!(waiting().await, (0, 0, false));
}

#[tokio::test]
async fn jobs_are_idle_since_the_last_run_that_ended_well() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let now = OffsetDateTime::now_utc();
    let idle_hours = async || (db.store.overdue(now, now).await.unwrap().idle_seconds / 3_600.0).floor();
    assert_eq!(idle_hours().await, 0.0, "none has been run");
    let insert = "INSERT INTO job_runs (account_id, job, as_of, state, claim, lease_until, started_at, finished_at)
        VALUES ($1, $2, current_date, $3, 1, now(), now(), now() - $4 * interval '1 hour')";
    for (job, state, hours, idle) in [
        ("profit_snapshots", "done", 72.0, 72.0),
        // It ended well before, and was run again.
        ("smart_reorder", "failed", 1.0, 72.0),
        ("risk_assessment", "done", 2.0, 2.0),
    ] {
        db.sql.execute(insert, &[&account.0, &job, &state, &hours]).await.unwrap();
        assert_eq!(idle_hours().await, idle, "{job}");
    }
}

#[tokio::test]
async fn a_tenant_whose_receiver_keeps_its_deliveries_waiting_is_not_neglected() {
    let fixture = Fixture::new().await;
    let account = fixture.account().await;
    fixture.subscription(account, &["*"]).await;
    let now = datetime!(2026-05-01 12:00 UTC);
    let event =
        |balance| CreditsLow { balance, threshold: 100, last_feature: "chat".to_owned(), crossed: false }.into();
    fixture.store.emit(account, &[event(1), event(2)], now).await.unwrap();
    let neglected = async |change: &str| {
        fixture.execute(change).await;
        let overdue = fixture.store.overdue(now, now - Duration::minutes(5)).await.unwrap();
        assert_eq!(overdue.oldest_abandoned_seconds, 0.0);
        overdue.neglected_subscriptions
    };
    assert_eq!(neglected("UPDATE deliveries SET due_at = '2026-05-01 11:55:01Z'").await, 0, "not yet");
    assert_eq!(neglected("UPDATE deliveries SET due_at = '2026-05-01 11:55Z'").await, 1);
    assert_eq!(neglected("UPDATE webhook_subscriptions SET failing_since = '2026-05-01 11:00Z'").await, 0, "it fails");
    assert_eq!(
        neglected("UPDATE webhook_subscriptions SET failing_since = NULL, active = false").await,
        0,
        "it is off"
    );
    assert_eq!(neglected("UPDATE webhook_subscriptions SET active = true").await, 1);
    let first = "(SELECT min(event_id) FROM deliveries)";
    let leased = "due_at = '2026-05-01 12:00:10Z', leased_until = '2026-05-01 12:00:10Z'";
    assert_eq!(neglected(&format!("UPDATE deliveries SET {leased} WHERE event_id = {first}")).await, 0, "it is slow");
    let died = "due_at = '2026-05-01 11:50Z', leased_until = '2026-05-01 11:50Z'";
    assert_eq!(
        neglected(&format!("UPDATE deliveries SET {died} WHERE event_id = {first}")).await,
        1,
        "its worker died"
    );
}

#[tokio::test]
async fn old_rows_are_removed_through_a_pooler_that_gives_sessions_away() {
    if testkit::skip_on_citus("PgBouncer is put before a socket") {
        return;
    }
    let fixture = Fixture::new().await;
    let Some(bouncer) = PgBouncer::start(&fixture.db.url(), 2).await.unwrap() else { return };
    let account = fixture.account().await;
    fixture.subscription(account, &["credits.low"]).await;
    let event = CreditsLow { balance: 1, threshold: 100, last_feature: "chat".to_owned(), crossed: false }.into();
    fixture.store.emit(account, &[event], datetime!(2026-01-01 00:00 UTC)).await.unwrap();
    fixture.execute("UPDATE deliveries SET state = 'delivered'").await;

    let options = PoolOptions { pooler: Pooler::Transaction, ..testkit::patient() };
    let store = Store::connect(&Connect::parse(&bouncer.url()).unwrap(), options).unwrap();
    for _ in 0..3 {
        store.maintain_at(datetime!(2026-05-15 12:00 UTC), keep(12)).await.unwrap();
    }
    assert_eq!((fixture.count("deliveries").await, fixture.count("events").await), (0, 0));
}
