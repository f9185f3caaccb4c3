//! Who reads a connection, how far it has come, and what is said when it fails.

use domain::{
    AccountId, IntegrationId,
    accounts::Platform,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    integrations::{ErrorCode, IntegrationStore, LastError, Status},
    jobs::JobRequests,
    page::PageRequest,
    shops::{
        Window,
        known_orders::Position,
        sync::{
            Counts, EndedRun, Failing, LeasedSync, MAX_REFUSALS, Outcome, Progress, Refusal, RunError, RunState,
            Stream, SyncLease, SyncRunStore, SyncStore,
        },
    },
};
use time::{Duration, OffsetDateTime};

use super::{NOW, connect};
use crate::{
    database::{Database, fresh},
    shop,
};

/// A connection, and the lease of it.
async fn reading(db: &Database) -> (AccountId, IntegrationId, SyncLease) {
    let account = shop::account(&db.sql, "UTC").await;
    let id = connect(&db.store, account, Platform::Shopify, &account.to_string(), NOW).await.unwrap();
    (account, id, lease(db, id).await.unwrap().lease)
}

async fn lease(db: &Database, id: IntegrationId) -> Option<LeasedSync> {
    let due = db.store.due(NOW + Duration::DAY, 10).await.unwrap();
    let due = due.into_iter().find(|due| due.integration == id)?;
    SyncStore::lease(&*db.store, due, 60).await.unwrap()
}

/// Of some seconds after now, those at which the connection is due.
async fn due_times(db: &Database, seconds: &[i64]) -> Vec<i64> {
    let mut due = Vec::new();
    for second in seconds {
        if !db.store.due(NOW + Duration::seconds(*second), 1).await.unwrap().is_empty() {
            due.push(*second);
        }
    }
    due
}

fn run(stream: Stream, at: OffsetDateTime, outcome: Outcome) -> EndedRun {
    EndedRun {
        stream,
        window: Some(Window { from: at - Duration::HOUR, until: at }),
        counts: Counts { read: 9, stored: 5, refused: 1, voided: 2, calls: 3, waited_ms: 40 },
        refusals: vec![refusal(0)],
        started_at: at - Duration::SECOND,
        finished_at: at,
        outcome,
    }
}

fn refusal(number: usize) -> Refusal {
    Refusal { kind: "order".into(), external_id: number.to_string(), reason: "its currency is BRL".into() }
}

const fn done(cursor: OffsetDateTime) -> Outcome {
    Outcome::Done { cursor, reached: None, run_jobs: false }
}

fn unreachable() -> Outcome {
    Outcome::Failed(RunError { code: ErrorCode::Unreachable, message: "the platform cannot be reached: 503".into() })
}

#[tokio::test]
async fn of_processes_that_want_to_read_a_connection_one_does_until_its_lease_ends() {
    let db = fresh().await;
    let (account, id, first) = reading(&db).await;
    assert_eq!(lease(&db, id).await, None, "it is not due while it is read");
    let due = domain::shops::sync::DueSync { account, integration: id };
    assert_eq!(SyncStore::lease(&*db.store, due, 60).await.unwrap(), None);
    assert!(db.store.heartbeat(first, 60).await.unwrap());
    // The process was killed.
    db.sql.execute("UPDATE integration_syncs SET lease_until = now()", &[]).await.unwrap();
    let leasing = (0..8).map(|_| {
        let store = db.store.clone();
        tokio::spawn(async move { SyncStore::lease(&*store, due, 60).await.unwrap() })
    });
    let leases: Vec<_> = futures_util::future::join_all(leasing).await.into_iter().filter_map(Result::unwrap).collect();
    let [next] = leases.as_slice() else { panic!("{leases:?}") };
    // It comes back to life, and touches nothing.
    assert!(!db.store.heartbeat(first, 60).await.unwrap());
    assert_eq!(SyncStore::record(&*db.store, first, run(Stream::Changes, NOW, done(NOW))).await.unwrap(), None);
    SyncStore::release(&*db.store, first, NOW + Duration::WEEK).await.unwrap();
    assert!(db.store.heartbeat(next.lease, 60).await.unwrap());
    SyncStore::release(&*db.store, next.lease, NOW + Duration::MINUTE).await.unwrap();
    assert_eq!(db.store.due(NOW, 10).await.unwrap(), []);
    assert_eq!(db.store.due(NOW + Duration::MINUTE, 10).await.unwrap(), [due]);
}

#[tokio::test]
async fn what_was_read_in_part_is_gone_on_with_until_its_end() {
    let db = fresh().await;
    let (_, id, first) = reading(&db).await;
    let progress = Progress { begun_at: NOW, after: Position { placed_at: NOW - Duration::DAY, number: 7 } };
    let record = async |lease, outcome| {
        SyncStore::record(&*db.store, lease, run(Stream::Reread, NOW, outcome)).await.unwrap().is_some()
    };
    assert!(record(first, Outcome::InPart(progress)).await);
    assert!(record(first, unreachable()).await, "trouble takes nothing of it away");
    SyncStore::release(&*db.store, first, NOW).await.unwrap();
    let next = lease(&db, id).await.unwrap();
    assert_eq!((next.rereading, next.cursor(Stream::Reread)), (Some(progress), None));
    assert!(!record(first, Outcome::InPart(Progress { begun_at: NOW + Duration::HOUR, ..progress })).await);
    assert!(record(next.lease, done(NOW)).await);
    SyncStore::release(&*db.store, next.lease, NOW).await.unwrap();
    let last = lease(&db, id).await.unwrap();
    assert_eq!((last.rereading, last.cursor(Stream::Reread)), (None, Some(NOW)));
}

#[tokio::test]
async fn a_hint_makes_a_connection_due_at_once_also_while_it_is_read() {
    let db = fresh().await;
    let (account, id, leased) = reading(&db).await;
    let stranger = shop::account(&db.sql, "UTC").await;
    assert!(!db.store.hint(stranger, id, NOW).await.unwrap());
    assert!(db.store.hint(account, id, NOW).await.unwrap());
    SyncStore::release(&*db.store, leased, NOW + Duration::HOUR).await.unwrap();
    assert_eq!(db.store.due(NOW, 10).await.unwrap().len(), 1);
    let again = lease(&db, id).await.unwrap();
    SyncStore::release(&*db.store, again.lease, NOW + Duration::HOUR).await.unwrap();
    assert_eq!(db.store.due(NOW + Duration::minutes(59), 10).await.unwrap(), []);
    assert!(db.store.hint(account, id, NOW + Duration::MINUTE).await.unwrap());
    assert_eq!(db.store.due(NOW + Duration::MINUTE, 10).await.unwrap().len(), 1);
}

/// Anybody may have said so: turns do not follow each other at once.
#[tokio::test]
async fn a_hint_of_a_change_makes_a_connection_due_a_minute_after_it_was_read() {
    let db = fresh().await;
    let (account, id, leased) = reading(&db).await;
    let at = |seconds| NOW + Duration::seconds(seconds);
    let stranger = shop::account(&db.sql, "UTC").await;
    let reached = Outcome::Done { cursor: NOW, reached: Some(NOW), run_jobs: false };
    SyncStore::record(&*db.store, leased, run(Stream::Changes, NOW, reached)).await.unwrap();
    // While it is read, and often: what changed may have been passed.
    for seconds in 2..5 {
        db.store.hint_of_change(account, id, at(seconds)).await.unwrap();
    }
    SyncStore::release(&*db.store, leased, at(600)).await.unwrap();
    assert_eq!(due_times(&db, &[61, 62]).await, [62]);
    let next = lease(&db, id).await.unwrap().lease;
    SyncStore::release(&*db.store, next, at(600)).await.unwrap();
    db.store.hint_of_change(stranger, id, at(5)).await.unwrap();
    assert_eq!(due_times(&db, &[599, 600]).await, [600]);
    db.store.hint_of_change(account, id, at(5)).await.unwrap();
    assert_eq!(due_times(&db, &[59, 60]).await, [60], "a minute after it was read");
    let next = lease(&db, id).await.unwrap().lease;
    SyncStore::release(&*db.store, next, at(600)).await.unwrap();
    db.store.hint_of_change(account, id, at(90)).await.unwrap();
    assert_eq!(due_times(&db, &[89, 90]).await, [90], "at once when that was long ago");
}

#[tokio::test]
async fn a_hint_of_a_change_ends_no_pause_and_being_asked_does() {
    let db = fresh().await;
    let (account, id, leased) = reading(&db).await;
    let at = |seconds| NOW + Duration::seconds(seconds);
    db.store.hint_of_change(account, id, NOW).await.unwrap();
    db.store.pause(leased, at(900)).await.unwrap();
    db.store.hint_of_change(account, id, at(100)).await.unwrap();
    assert_eq!(due_times(&db, &[899, 900]).await, [900]);
    db.store.ask(account, id, None, None, at(100)).await.unwrap();
    assert_eq!(due_times(&db, &[99, 100]).await, [100]);
    let next = lease(&db, id).await.unwrap();
    assert_eq!((next.due_at, next.paused_until), (at(100), Some(at(900))));
    db.store.ask(account, id, None, None, at(110)).await.unwrap();
    db.store.pause(next.lease, at(900)).await.unwrap();
    assert_eq!(due_times(&db, &[99, 110]).await, [110], "also while it is read");
    let next = lease(&db, id).await.unwrap();
    SyncStore::release(&*db.store, next.lease, at(600)).await.unwrap();
    db.store.hint_of_change(account, id, at(200)).await.unwrap();
    assert_eq!(due_times(&db, &[199, 200]).await, [200], "it was read");
    let next = lease(&db, id).await.unwrap();
    db.store.pause(next.lease, at(900)).await.unwrap();
    connect(&db.store, account, Platform::Shopify, &account.to_string(), at(300)).await.unwrap();
    assert_eq!(lease(&db, id).await.unwrap().paused_until, None, "connected again");
}

#[tokio::test]
async fn under_a_key_a_connection_is_asked_for_once() {
    let db = fresh().await;
    let (account, id, leased) = reading(&db).await;
    let stranger = shop::account(&db.sql, "UTC").await;
    let key = |request: u8| {
        let path = format!("/api/v1/integrations/{id}/sync");
        Some(IdempotencyKey { path, key: "k".to_owned(), request_hash: [request; 32] })
    };
    let asked = async |account, key| db.store.ask(account, id, key, None, NOW).await;
    // What was refused may be asked for again.
    for _ in 0..2 {
        assert_eq!(asked(stranger, key(1)).await.unwrap(), Idempotent { value: false, replayed: false });
    }
    assert_eq!(asked(account, key(1)).await.unwrap(), Idempotent { value: true, replayed: false });
    for number in 0..2 {
        let lease = if number == 0 { leased } else { lease(&db, id).await.unwrap().lease };
        SyncStore::release(&*db.store, lease, NOW + Duration::HOUR).await.unwrap();
    }
    assert_eq!(asked(account, key(1)).await.unwrap(), Idempotent { value: true, replayed: true });
    assert_eq!(db.store.due(NOW, 10).await.unwrap(), [], "sent again, it changes nothing");
    assert!(matches!(asked(account, key(2)).await, Err(IdempotencyError::Reused)));
    assert_eq!(asked(account, None).await.unwrap(), Idempotent { value: true, replayed: false });
    assert_eq!(db.store.due(NOW, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn cursors_move_with_their_runs_and_never_back() {
    let db = fresh().await;
    let (account, id, leased) = reading(&db).await;
    let (day, two) = (NOW - Duration::DAY, NOW - Duration::days(2));
    for (stream, at) in [(Stream::BackFill, day), (Stream::BackFill, two), (Stream::BackFill, day)] {
        assert_eq!(
            SyncStore::record(&*db.store, leased, run(stream, NOW, done(at))).await.unwrap(),
            Some(Failing::default())
        );
    }
    let synced = IntegrationStore::find(&*db.store, account, id).await.unwrap().unwrap();
    assert_eq!((synced.backfilled_from, synced.status(NOW)), (Some(two), Status::NeverSynced));
    assert!(!JobRequests::is_requested(&*db.store, account).await.unwrap());
    let reached = Outcome::Done { cursor: NOW, reached: Some(NOW), run_jobs: true };
    SyncStore::record(&*db.store, leased, run(Stream::Changes, NOW, reached)).await.unwrap();
    assert!(
        JobRequests::is_requested(&*db.store, account).await.unwrap(),
        "figures of the past do not wait for the night"
    );
    SyncStore::record(&*db.store, leased, run(Stream::Changes, NOW, done(day))).await.unwrap();
    SyncStore::release(&*db.store, leased, NOW).await.unwrap();
    let next = lease(&db, id).await.unwrap();
    assert_eq!((next.cursor(Stream::Changes), next.cursor(Stream::BackFill)), (Some(NOW), Some(two)));
    assert_eq!(next.cursor(Stream::Catalogue), None);
    assert_eq!((next.integration.last_sync_at, next.integration.status(NOW)), (Some(NOW), Status::Connected));
}

/// A cursor that only this process remembers would be back where it was with the next lease.
#[tokio::test]
async fn a_stream_that_is_restarted_is_read_from_there_on_by_whoever_reads_it_next() {
    let db = fresh().await;
    let (account, id, leased) = reading(&db).await;
    let two = NOW - Duration::days(2);
    for outcome in [done(two), unreachable(), Outcome::Restarted { cursor: NOW }] {
        SyncStore::record(&*db.store, leased, run(Stream::BackFill, NOW, outcome)).await.unwrap().unwrap();
    }
    SyncStore::record(&*db.store, leased, run(Stream::Catalogue, NOW, Outcome::Restarted { cursor: NOW }))
        .await
        .unwrap();
    SyncStore::release(&*db.store, leased, NOW).await.unwrap();
    let next = lease(&db, id).await.unwrap();
    assert_eq!((next.cursor(Stream::BackFill), next.cursor(Stream::Catalogue)), (Some(NOW), None));
    let failed: Vec<_> = next.failed.iter().map(|failed| (failed.stream, failed.at)).collect();
    assert_eq!(failed, [(Stream::BackFill, NOW)], "nothing was read");
    SyncStore::record(&*db.store, next.lease, run(Stream::BackFill, NOW, done(NOW - Duration::DAY))).await.unwrap();
    let read = IntegrationStore::find(&*db.store, account, id).await.unwrap().unwrap();
    assert_eq!((read.backfilled_from, read.last_error), (Some(NOW - Duration::DAY), None));
}

#[tokio::test]
async fn the_log_shows_runs_newest_first_with_the_newest_records_that_were_refused() {
    let db = fresh().await;
    let (account, id, leased) = reading(&db).await;
    let many = EndedRun {
        refusals: (0..=MAX_REFUSALS).map(refusal).collect(),
        window: None,
        ..run(Stream::Catalogue, NOW, done(NOW))
    };
    SyncStore::record(&*db.store, leased, many).await.unwrap();
    SyncStore::record(&*db.store, leased, run(Stream::Changes, NOW + Duration::HOUR, unreachable())).await.unwrap();
    let page = |cursor| PageRequest { limit: 1, cursor };
    let first = SyncRunStore::page(&*db.store, account, id, page(None)).await.unwrap().unwrap();
    let [failed] = first.items.as_slice() else { panic!("{first:?}") };
    assert_eq!((failed.stream, failed.state), (Stream::Changes, RunState::Failed));
    assert_eq!(failed.error.as_ref().unwrap().code, ErrorCode::Unreachable);
    assert_eq!(failed.window, Some(Window { from: NOW, until: NOW + Duration::HOUR }));
    assert_eq!(failed.refusals, [refusal(0)]);
    let second = SyncRunStore::page(&*db.store, account, id, page(first.next_cursor)).await.unwrap().unwrap();
    let [done] = second.items.as_slice() else { panic!("{second:?}") };
    assert_eq!((done.state, done.error.clone(), done.window, second.next_cursor), (RunState::Done, None, None, None));
    assert_eq!(done.counts, Counts { read: 9, stored: 5, refused: 1, voided: 2, calls: 3, waited_ms: 40 });
    assert_eq!((done.refusals.len(), &done.refusals[0]), (MAX_REFUSALS, &refusal(1)));
    let stranger = shop::account(&db.sql, "UTC").await;
    assert_eq!(SyncRunStore::page(&*db.store, stranger, id, page(None)).await.unwrap(), None);
    assert_eq!(SyncRunStore::prune(&*db.store, NOW + Duration::MINUTE).await.unwrap(), 1);
    let kept = SyncRunStore::page(&*db.store, account, id, page(None)).await.unwrap().unwrap();
    assert_eq!((kept.items, kept.next_cursor), (first.items, None));
}

#[tokio::test]
async fn a_connection_that_goes_on_failing_is_called_broken_once_until_it_is_mended() {
    let db = fresh().await;
    let (account, id, leased) = reading(&db).await;
    db.sql
        .execute(
            "INSERT INTO webhook_subscriptions (account_id, url, events, sealed_secret, created_at)
             VALUES ($1, 'https://example.com', '{integration.broken}', '', now())",
            &[&account.0],
        )
        .await
        .unwrap();
    let broken = async || -> Vec<String> {
        let sql =
            "SELECT convert_from(body, 'UTF8') FROM events WHERE body LIKE '%integration.broken%'::bytea ORDER BY id";
        db.sql.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    };
    let at = |minute| NOW + Duration::minutes(minute);
    let record = async |stream, minute, outcome| {
        let failing = SyncStore::record(&*db.store, leased, run(stream, at(minute), outcome)).await.unwrap().unwrap();
        (failing.failures, failing.became_broken)
    };
    assert_eq!(record(Stream::Changes, 0, unreachable()).await, (1, false));
    assert_eq!(record(Stream::Changes, 10, unreachable()).await, (2, false));
    // Another stream is counted by itself, and mends nothing when it succeeds.
    assert_eq!(record(Stream::Catalogue, 12, unreachable()).await, (1, false));
    assert_eq!(record(Stream::Catalogue, 12, done(at(12))).await, (0, false));
    assert_eq!(record(Stream::Changes, 14, unreachable()).await, (3, false));
    assert_eq!(record(Stream::Changes, 15, unreachable()).await, (4, true));
    assert_eq!(record(Stream::Changes, 30, unreachable()).await, (5, false));
    let said = r#"{"event":"integration.broken","data":{"provider":"shopify","shop":"SHOP.example.com","reason":"the platform cannot be reached: 503","last_sync_at":null,"code":"unreachable","since":"2026-05-01T12:00:00Z"}}"#;
    let said = said.replace("SHOP", &account.to_string());
    assert_eq!(broken().await, [said.as_str()]);
    let failing = IntegrationStore::find(&*db.store, account, id).await.unwrap().unwrap();
    let message = "the platform cannot be reached: 503".to_owned();
    assert_eq!(failing.last_error, Some(LastError { code: ErrorCode::Unreachable, message, at: at(30) }));

    assert_eq!(record(Stream::Changes, 40, done(at(40))).await, (0, false));
    assert_eq!(IntegrationStore::find(&*db.store, account, id).await.unwrap().unwrap().last_error, None);
    for (minute, expected) in [(50, (1, false)), (60, (2, false)), (70, (3, true))] {
        assert_eq!(record(Stream::Changes, minute, unreachable()).await, expected);
    }
    assert_eq!(broken().await.len(), 2);
}
