//! Short reads share a connection, and what holds one up holds up no more than those on the same one.

use std::sync::Arc;

use domain::{
    AccountId, StoreError,
    customers::{CustomerStore, Filter},
    page::PageRequest,
};
use store::{PoolOptions, Pooler, Store};
use tokio::task::{JoinHandle, yield_now};
use tokio_postgres::Client;

use crate::{
    database::{Database, fresh, until_waiting},
    shop,
};

/// As many reads as share a connection.
const DEPTH: usize = 16;

/// A shop whose customers cannot be read until the transaction of the other session ends.
async fn held_up(db: &Database) -> (AccountId, Client) {
    let account = shop::account(&db.sql, "UTC").await;
    let lock = db.session().await;
    lock.batch_execute("BEGIN; LOCK TABLE customers IN ACCESS EXCLUSIVE MODE").await.unwrap();
    (account, lock)
}

fn store(db: &Database, options: PoolOptions) -> Arc<Store> {
    Arc::new(db.store_with(PoolOptions { max_connections: 4, ..options }))
}

fn read(store: &Arc<Store>, account: AccountId) -> JoinHandle<Result<(), StoreError>> {
    let store = Arc::clone(store);
    tokio::spawn(async move {
        CustomerStore::page(&*store, account, Filter::default(), PageRequest { limit: 25, cursor: None })
            .await
            .map(drop)
    })
}

/// Reads that are sent, but not answered yet.
async fn reads(store: &Arc<Store>, account: AccountId, count: usize) -> Vec<JoinHandle<Result<(), StoreError>>> {
    let reads = (0..count).map(|_| read(store, account)).collect();
    for _ in 0..100 {
        yield_now().await;
    }
    reads
}

/// Lets the reads go on; all of them are answered.
async fn answered(lock: Client, sent: Vec<JoinHandle<Result<(), StoreError>>>) {
    lock.batch_execute("COMMIT").await.unwrap();
    for read in sent {
        read.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn reads_under_way_together_share_a_connection_until_it_is_full() {
    let db = fresh().await;
    let store = store(&db, testkit::patient());
    let (account, lock) = held_up(&db).await;
    let mut sent = reads(&store, account, 1).await;
    until_waiting(&db.sql, 1).await;
    sent.extend(reads(&store, account, DEPTH - 1).await);
    assert_eq!(store.pool_usage(), (1, 1));
    sent.extend(reads(&store, account, 1).await);
    until_waiting(&db.sql, 2).await;
    assert_eq!(store.pool_usage(), (2, 2));
    answered(lock, sent).await;
    assert_eq!(store.pool_usage(), (0, 2));
}

#[tokio::test]
async fn the_first_rows_of_a_stream_are_not_read_in_front_of_a_page() {
    let db = fresh().await;
    let store = store(&db, testkit::patient());
    let (account, lock) = held_up(&db).await;
    let mut sent = reads(&store, account, 1).await;
    until_waiting(&db.sql, 1).await;
    let streaming = Arc::clone(&store);
    sent.push(tokio::spawn(async move { streaming.stream(account, Filter::default(), None).await.map(drop) }));
    until_waiting(&db.sql, 2).await;
    assert_eq!(store.pool_usage(), (2, 2));
    answered(lock, sent).await;
}

#[tokio::test]
async fn nobody_joins_a_read_that_was_given_up_and_its_connection_is_closed_after_the_others() {
    let db = fresh().await;
    let store = store(&db, testkit::patient());
    let (account, lock) = held_up(&db).await;
    let first = read(&store, account);
    until_waiting(&db.sql, 1).await;
    let mut sent = reads(&store, account, 1).await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    sent.push(read(&store, account));
    until_waiting(&db.sql, 2).await;
    assert_eq!(store.pool_usage(), (2, 2));
    answered(lock, sent).await;
    assert_eq!(store.pool_usage(), (0, 1));
}

#[tokio::test]
async fn a_session_that_a_pooler_lends_for_a_transaction_is_not_shared() {
    let db = fresh().await;
    let store = store(&db, PoolOptions { pooler: Pooler::Transaction, ..testkit::patient() });
    let (account, lock) = held_up(&db).await;
    let mut sent = vec![read(&store, account)];
    until_waiting(&db.sql, 1).await;
    sent.push(read(&store, account));
    until_waiting(&db.sql, 2).await;
    answered(lock, sent).await;
}
