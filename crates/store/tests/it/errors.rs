//! What ports make of a server's errors: of the real ones, whose codes diesel does not hand on.

use std::time::Duration;

use domain::{StoreError, accounts::AccountStore, error::Chain, health::Health, uptime::ProbeStore};
use store::{PoolOptions, Store};
use testkit::TestDb;
use tokio_postgres::Client;

/// A store whose statements may take `limit`, and a session that holds what they ask for.
async fn blocked(limit: Duration) -> (TestDb, Store, Client) {
    let db = TestDb::new().await.unwrap();
    let options = PoolOptions { statement_timeout: limit, ..testkit::patient() };
    let store = Store::connect(&db.connect().unwrap(), options).unwrap();
    let lock = db.client().await.unwrap();
    lock.batch_execute("BEGIN; LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE").await.unwrap();
    (db, store, lock)
}

#[tokio::test]
async fn a_statement_that_takes_too_long_is_an_overload() {
    let (_db, store, _lock) = blocked(Duration::from_millis(50)).await;
    let error = AccountStore::list(&store).await.unwrap_err();
    assert!(matches!(error, StoreError::Overloaded(_)), "{}", Chain(&error));
    assert!(Chain(&error).to_string().contains("statement timeout"), "{}", Chain(&error));
}

#[tokio::test]
async fn no_answer_before_the_deadline_is_an_overload_while_the_server_answers_others() {
    let (db, _, _lock) = blocked(Duration::from_mins(1)).await;
    let options = PoolOptions { max_connections: 2, ..PoolOptions::answering_within(Duration::from_secs(3)) };
    let store = Store::connect(&db.connect().unwrap(), options).unwrap();
    store.ping().await.unwrap();
    let error = AccountStore::list(&store).await.unwrap_err();
    assert!(matches!(error, StoreError::Overloaded(_)), "{}", Chain(&error));
}

#[tokio::test]
async fn a_wait_for_a_connection_that_stays_in_use_is_an_overload() {
    let db = TestDb::new().await.unwrap();
    let options = PoolOptions { max_connections: 1, wait: Duration::from_millis(50), ..PoolOptions::default() };
    let store = Store::connect(&db.connect().unwrap(), options).unwrap();
    store.ping().await.unwrap();
    let lock = db.client().await.unwrap();
    lock.batch_execute("BEGIN; LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let error = tokio::select! {
        biased;
        listed = AccountStore::list(&store) => panic!("the table is locked: {listed:?}"),
        refused = store.ping() => refused.unwrap_err(),
    };
    assert!(matches!(error, StoreError::Overloaded(_)), "{}", Chain(&error));
    drop(lock);
    store.ping().await.unwrap();
}

#[tokio::test]
async fn a_wait_for_others_that_cannot_open_a_connection_means_that_the_database_is_away() {
    // Accepts connections, as a halted server's machine does, and never answers on them.
    let halted = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://nobody@{}/none", halted.local_addr().unwrap());
    let options = PoolOptions { max_connections: 1, wait: Duration::from_millis(50), ..PoolOptions::default() };
    let store = Store::connect(&store::Connect::parse(&url).unwrap(), options).unwrap();
    let error = tokio::select! {
        biased;
        opened = store.ping() => panic!("nobody answers: {opened:?}"),
        refused = store.ping() => refused.unwrap_err(),
    };
    assert!(matches!(error, StoreError::Unavailable(_)), "{}", Chain(&error));
}

#[tokio::test]
async fn a_session_that_is_ended_means_that_the_database_is_away() {
    let (db, store, _lock) = blocked(Duration::from_secs(10)).await;
    let sql = db.client().await.unwrap();
    let ended = async {
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while sql.query(kill, &[]).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let (listed, ()) = tokio::join!(AccountStore::list(&store), ended);
    let error = listed.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{}", Chain(&error));
}

/// As after a failover, when the database's name led to the standby for a while.
#[tokio::test]
async fn a_session_that_takes_no_writes_is_not_kept() {
    let db = TestDb::new().await.unwrap();
    let sql = db.client().await.unwrap();
    let set = async |setting: &str| {
        let alter = format!("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I {setting}', current_database()); END $$");
        sql.batch_execute(&alter).await.unwrap();
    };
    set("SET default_transaction_read_only = on").await;
    let options = PoolOptions { max_connections: 1, ..testkit::patient() };
    let store = Store::connect(&db.connect().unwrap(), options).unwrap();
    let error = store.record(&[]).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{}", Chain(&error));
    set("RESET default_transaction_read_only").await;
    store.record(&[]).await.unwrap();
}

#[tokio::test]
async fn what_the_program_asks_wrongly_is_a_defect_with_its_cause() {
    let db = TestDb::new().await.unwrap();
    let sql = db.client().await.unwrap();
    sql.batch_execute("ALTER TABLE accounts RENAME TO mislaid").await.unwrap();
    let error = AccountStore::list(&db.store().unwrap()).await.unwrap_err();
    assert!(matches!(error, StoreError::Internal(_)), "{}", Chain(&error));
    assert_eq!(Chain(&error).to_string(), "unexpected error: relation \"accounts\" does not exist");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_away_and_the_reason_is_said() {
    let nowhere = store::Connect::parse("postgres://nobody@127.0.0.1:9/none").unwrap();
    let error = AccountStore::list(&Store::connect(&nowhere, testkit::patient()).unwrap()).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{}", Chain(&error));
    assert!(Chain(&error).to_string().contains("Connection refused"), "{}", Chain(&error));
}
