//! Files that are imported by whoever holds their lease, and the jobs that are asked for.

use domain::{
    AccountId, UploadId,
    jobs::JobRequests,
    page::PageRequest,
    uploads::{
        ARRIVES_WITHIN, Ended, KEPT, Kind, MOST_PIECES, MOST_WAITING, Outcome, Part, Reading, State, UploadLease,
        UploadStore,
    },
};
use time::{Duration, OffsetDateTime, macros::datetime};

use crate::{
    database::{Database, fresh},
    shop,
};

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

async fn ready(db: &Database, account: AccountId) -> UploadId {
    let id = db.store.begin(account, Kind::Orders, "orders.csv", NOW).await.unwrap().unwrap();
    for (number, piece) in ["order_id,", "sku\n"].into_iter().enumerate() {
        let number = i64::try_from(number).unwrap();
        assert!(db.store.append(account, id, number, piece.as_bytes().to_vec()).await.unwrap());
    }
    db.store.arrived(account, id, 13, false).await.unwrap();
    id
}

async fn state(db: &Database, account: AccountId, id: UploadId) -> Option<State> {
    UploadStore::find(&*db.store, account, id).await.unwrap().map(|upload| upload.state)
}

async fn lease(db: &Database, account: AccountId, id: UploadId) -> Option<UploadLease> {
    UploadStore::lease(&*db.store, account, id, 60).await.unwrap().map(|(lease, _)| lease)
}

async fn piece(db: &Database, account: AccountId, id: UploadId, part: Part, number: i64) -> Option<String> {
    let bytes = db.store.piece(account, id, part, number).await.unwrap();
    bytes.map(|bytes| String::from_utf8(bytes).unwrap())
}

/// As if the worker had died.
async fn run_out(db: &Database, table: &str) {
    let over = format!("UPDATE {table} SET lease_until = now() WHERE lease_until IS NOT NULL");
    db.sql.batch_execute(&over).await.unwrap();
}

#[tokio::test]
async fn a_file_arrives_is_told_how_to_be_read_and_is_imported_once() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let id = ready(&db, mine).await;
    assert_eq!(state(&db, mine, id).await, Some(State::Ready));
    assert_eq!(state(&db, theirs, id).await, None);
    assert_eq!(piece(&db, theirs, id, Part::File, 0).await, None);
    assert_eq!((db.store.due(10).await.unwrap(), lease(&db, mine, id).await), (vec![], None));
    let reading = Reading { map: [("sku".into(), "sku".into())].into(), ..Reading::default() };
    assert!(!db.store.queue(theirs, id, &reading, None, NOW).await.unwrap());
    assert!(db.store.queue(mine, id, &reading, None, NOW).await.unwrap());
    assert!(!db.store.queue(mine, id, &Reading::default(), None, NOW).await.unwrap());
    assert_eq!(db.store.due(10).await.unwrap(), [(mine, id)]);

    let asked = futures_util::future::join_all((0..6).map(|_| lease(&db, mine, id))).await;
    let held: Vec<_> = asked.into_iter().flatten().collect();
    assert_eq!(held.len(), 1);
    assert!(db.store.progress(held[0], 7, 60).await.unwrap());
    assert!(!db.store.discard(mine, id, None, NOW).await.unwrap(), "somebody imports it");
    db.store.add_rejects(held[0], 0, b"refused".to_vec()).await.unwrap();
    let outcome = Outcome { lines: 3, rejected: 1, ..Outcome::default() };
    assert!(db.store.end(held[0], Ended::Done(outcome.clone()), NOW).await.unwrap());
    let done = UploadStore::find(&*db.store, mine, id).await.unwrap().unwrap();
    assert_eq!((done.state, done.read_bytes, done.reading, done.outcome), (State::Done, 7, reading, Some(outcome)));
    assert_eq!(piece(&db, mine, id, Part::File, 0).await, None, "the file is gone");
    assert_eq!(piece(&db, mine, id, Part::Rejects, 0).await.as_deref(), Some("refused"));
    assert!(db.store.is_requested(mine).await.unwrap(), "its figures are to be made");
    assert!(!db.store.is_requested(theirs).await.unwrap());
}

#[tokio::test]
async fn a_worker_whose_lease_ran_out_writes_nothing() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let id = ready(&db, account).await;
    db.store.queue(account, id, &Reading::default(), None, NOW).await.unwrap();
    let dead = lease(&db, account, id).await.unwrap();
    db.store.add_rejects(dead, 0, b"of the dead".to_vec()).await.unwrap();
    assert_eq!(db.store.due(10).await.unwrap(), []);
    run_out(&db, "uploads").await;
    assert_eq!(db.store.due(10).await.unwrap(), [(account, id)]);
    let next = lease(&db, account, id).await.unwrap();
    assert!(next.number > dead.number);
    assert_eq!(piece(&db, account, id, Part::Rejects, 0).await, None, "what it refused is found again");
    db.store.add_rejects(dead, 0, b"of the dead".to_vec()).await.unwrap();
    assert_eq!(piece(&db, account, id, Part::Rejects, 0).await, None, "its time is over");
    assert!(!db.store.progress(dead, 9, 60).await.unwrap());
    assert!(!db.store.end(dead, Ended::Done(Outcome::default()), NOW).await.unwrap());
    db.store.release(dead).await.unwrap();
    assert_eq!(state(&db, account, id).await, Some(State::Running));
    assert!(!db.store.is_requested(account).await.unwrap());
    // The one that has it fails; the file is still there, to be told otherwise.
    assert!(db.store.end(next, Ended::Failed("no column for sku".into()), NOW).await.unwrap());
    assert_eq!(piece(&db, account, id, Part::File, 1).await.as_deref(), Some("sku\n"));
    assert!(!db.store.is_requested(account).await.unwrap());
    assert!(db.store.queue(account, id, &Reading::default(), None, NOW).await.unwrap());
    assert_eq!(UploadStore::find(&*db.store, account, id).await.unwrap().unwrap().error, None);
}

#[tokio::test]
async fn accounts_take_turns_however_many_files_one_of_them_has() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let queued = async |account: AccountId| {
        let id = ready(&db, account).await;
        assert!(db.store.queue(account, id, &Reading::default(), None, NOW).await.unwrap());
        id
    };
    let due = async || db.store.due(10).await.unwrap();
    let (first, second, _third) = (queued(mine).await, queued(mine).await, queued(mine).await);
    let other = queued(theirs).await;
    assert_eq!(due().await, [(mine, first), (theirs, other)]);
    let held = lease(&db, mine, first).await.unwrap();
    assert_eq!(due().await, [(theirs, other)], "one of an account at a time");
    let late = shop::account(&db.sql, "UTC").await;
    let last = queued(late).await;
    assert!(db.store.end(held, Ended::Done(Outcome::default()), NOW).await.unwrap());
    // No trace of it is needed.
    assert!(db.store.discard(mine, first, None, NOW).await.unwrap());
    assert_eq!(due().await, [(theirs, other), (late, last), (mine, second)], "who came while it was read is first");
    let held = lease(&db, theirs, other).await.unwrap();
    assert!(lease(&db, mine, second).await.is_some());
    // What breaks off waits anew, too.
    run_out(&db, "uploads").await;
    db.store.release(held).await.unwrap();
    let order: Vec<_> = due().await.into_iter().map(|(_, id)| id).collect();
    assert_eq!(order, [last, second, other]);
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_known_from_its_arrival() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let readable = ready(&db, account).await;
    let unreadable = db.store.begin(account, Kind::Stock, "stock.xlsx", NOW).await.unwrap().unwrap();
    db.store.arrived(account, unreadable, 4, true).await.unwrap();
    let page = UploadStore::page(&*db.store, account, PageRequest { limit: 2, cursor: None }).await.unwrap();
    let known: Vec<_> = page.items.iter().map(|upload| (upload.id, upload.is_unreadable)).collect();
    assert_eq!(known, [(unreadable, true), (readable, false)]);
}

#[tokio::test]
async fn an_account_keeps_no_more_than_so_many_files_can_hold() {
    let db = fresh().await;
    let (account, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let keep = "INSERT INTO upload_pieces SELECT $1::bigint, 1, 'rejects', n, '' FROM generate_series(1, $2::bigint) n";
    db.sql.execute(keep, &[&account.0, &MOST_PIECES]).await.unwrap();
    let begin = |account| db.store.begin(account, Kind::Stock, "stock.csv", NOW);
    assert_eq!(begin(account).await.unwrap(), None);
    assert!(begin(other).await.unwrap().is_some());
    db.sql.batch_execute("DELETE FROM upload_pieces WHERE number = 1").await.unwrap();
    assert!(begin(account).await.unwrap().is_some());
}

#[tokio::test]
async fn leases_that_run_out_are_counted_until_it_is_asked_for_again() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let id = ready(&db, account).await;
    let lost = async || UploadStore::find(&*db.store, account, id).await.unwrap().unwrap().lost_leases;
    db.store.queue(account, id, &Reading::default(), None, NOW).await.unwrap();
    lease(&db, account, id).await.unwrap();
    assert_eq!(lost().await, 0);
    run_out(&db, "uploads").await;
    let given_back = lease(&db, account, id).await.unwrap();
    assert_eq!(lost().await, 1);
    db.store.release(given_back).await.unwrap();
    let last = lease(&db, account, id).await.unwrap();
    assert_eq!(lost().await, 1);
    assert!(db.store.end(last, Ended::Failed("given up".into()), NOW).await.unwrap());
    db.store.queue(account, id, &Reading::default(), None, NOW).await.unwrap();
    assert_eq!(lost().await, 0);
}

#[tokio::test]
async fn the_list_has_what_has_arrived_and_old_files_go() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let (first, second) = (ready(&db, account).await, ready(&db, account).await);
    let arriving = db.store.begin(account, Kind::Stock, "stock.csv", NOW).await.unwrap().unwrap();
    let append = async |number| db.store.append(account, arriving, number, b"sku".to_vec()).await.unwrap();
    assert!(append(0).await);
    let page = |cursor| UploadStore::page(&*db.store, account, PageRequest { limit: 1, cursor });
    let newest = page(None).await.unwrap();
    assert_eq!((newest.items[0].id, newest.next_cursor), (second, Some(second.0)));
    assert_eq!(page(newest.next_cursor).await.unwrap().items[0].id, first);
    db.store.queue(account, second, &Reading::default(), None, NOW).await.unwrap();
    let prune = async |at| UploadStore::prune(&*db.store, at).await.unwrap();
    assert_eq!(prune(NOW + ARRIVES_WITHIN).await, 0);
    assert_eq!(prune(NOW + ARRIVES_WITHIN + Duration::SECOND).await, 1);
    assert_eq!(state(&db, account, arriving).await, None);
    assert!(!append(1).await, "it came too late");
    assert_eq!(prune(NOW + KEPT).await, 0);
    assert_eq!(prune(NOW + KEPT + Duration::SECOND).await, 1);
    assert_eq!((state(&db, account, first).await, state(&db, account, second).await), (None, Some(State::Queued)));
    let left = "SELECT count(DISTINCT upload_id) FROM upload_pieces";
    assert_eq!(db.sql.query_one(left, &[]).await.unwrap().get::<_, i64>(0), 1);
    assert!(db.store.discard(account, second, None, NOW).await.unwrap());
    assert!(!db.store.discard(account, second, None, NOW).await.unwrap());
}

#[tokio::test]
async fn as_many_files_may_wait_as_may_with_those_that_are_arriving() {
    let db = fresh().await;
    let (account, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let begin = |account, now| db.store.begin(account, Kind::Stock, "stock.csv", now);
    let ready = ready(&db, account).await;
    for _ in 2..MOST_WAITING {
        assert!(begin(account, NOW).await.unwrap().is_some());
    }
    let begun = futures_util::future::join_all((0..4).map(|_| begin(account, NOW))).await;
    assert_eq!(begun.into_iter().filter_map(Result::unwrap).count(), 1, "of those that come at once");
    assert!(begin(other, NOW).await.unwrap().is_some());
    assert!(db.store.discard(account, ready, None, NOW).await.unwrap());
    assert!(begin(account, NOW).await.unwrap().is_some());
    assert_eq!(begin(account, NOW + ARRIVES_WITHIN - Duration::SECOND).await.unwrap(), None);
    assert!(begin(account, NOW + ARRIVES_WITHIN).await.unwrap().is_some(), "the others do not arrive any more");
}

#[tokio::test]
async fn jobs_are_asked_for_once_however_often_and_again_while_they_run() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let take = async || JobRequests::lease(&*db.store, NOW, 60).await.unwrap();
    assert_eq!(take().await, None);
    db.store.request(account, None, NOW).await.unwrap();
    db.store.request(account, None, NOW).await.unwrap();
    let first = take().await.unwrap();
    assert_eq!((first.account, take().await), (account, None));
    // Data that comes in while they run is not in what they read.
    db.store.request(account, None, NOW).await.unwrap();
    db.store.done(first).await.unwrap();
    assert!(db.store.is_requested(account).await.unwrap());
    let second = take().await.unwrap();
    run_out(&db, "job_requests").await;
    let third = take().await.unwrap();
    assert!(!db.store.hold(second, 60).await.unwrap() && db.store.hold(third, 60).await.unwrap());
    db.store.done(second).await.unwrap();
    assert!(db.store.is_requested(account).await.unwrap());
    db.store.put_back(third, NOW + Duration::SECOND).await.unwrap();
    assert_eq!(take().await, None);
    let last = JobRequests::lease(&*db.store, NOW + Duration::SECOND, 60).await.unwrap().unwrap();
    db.store.done(last).await.unwrap();
    assert!(!db.store.is_requested(account).await.unwrap());
}

#[tokio::test]
async fn who_asks_for_jobs_again_and_again_does_not_go_before_others() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let late = NOW + Duration::minutes(1);
    let take = async || JobRequests::lease(&*db.store, late, 60).await.unwrap().unwrap();
    for put_back in [false, true] {
        db.store.request(mine, None, NOW).await.unwrap();
        let first = take().await;
        db.store.request(theirs, None, NOW + Duration::SECOND).await.unwrap();
        db.store.request(mine, None, NOW + Duration::seconds(2)).await.unwrap();
        if put_back {
            db.store.put_back(first, late).await.unwrap();
        } else {
            db.store.done(first).await.unwrap();
        }
        let (second, third) = (take().await, take().await);
        assert_eq!((first.account, second.account, third.account), (mine, theirs, mine));
        db.store.done(second).await.unwrap();
        db.store.done(third).await.unwrap();
    }
}
