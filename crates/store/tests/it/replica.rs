//! Reads from a standby: a real one, whose replay a test can halt.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use domain::{
    AccountId, StoreError,
    integrations::IntegrationStore,
    page::PageRequest,
    positions::{Positions, RecentWrites},
};
use nix::sys::signal::Signal;
use store::{Connect, PoolOptions, Store};
use testkit::Pair;
use time::OffsetDateTime;
use tokio_postgres::Client;

use crate::keys::user;

/// Far above what a busy machine takes for what has no promised time.
const PATIENCE: Duration = Duration::from_secs(120);
/// An answer is promised within two seconds. The rest is for a busy machine; without a limit it would never come.
const PROMISE: Duration = Duration::from_secs(20);

/// Where two stores tell each other of their writes.
#[derive(Default)]
struct Board(Mutex<HashMap<i64, u64>>);

#[async_trait]
impl Positions for Board {
    async fn note(&self, account: AccountId, position: u64, _: Duration) {
        self.0.lock().unwrap().insert(account.0, position);
    }

    async fn last(&self, account: AccountId) -> Option<u64> {
        Some(self.0.lock().unwrap().get(&account.0).copied().unwrap_or(0))
    }
}

struct Shops {
    pair: Pair,
    primary: Client,
    standby: Client,
    accounts: [AccountId; 2],
    made: i32,
}

impl Shops {
    async fn start() -> Self {
        let pair = Pair::start().await.unwrap();
        let connect = Connect::parse(&pair.primary.url()).unwrap();
        store::migrate(&connect).await.unwrap();
        let alone = Store::connect(&connect, options()).unwrap();
        let accounts = user(&alone, 7).await;
        let accounts = [accounts[0].id, accounts[1].id];
        let (client, driver) = tokio_postgres::connect(&pair.primary.url(), tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(driver);
        let standby = pair.standby.client().await.unwrap();
        Self { pair, primary: client, standby, accounts, made: 0 }
    }

    fn store(&self, shared: Option<Arc<dyn Positions>>) -> Store {
        let (primary, standby) = (self.pair.primary.url(), self.pair.standby.url());
        let store = Store::connect(&Connect::parse(&primary).unwrap(), options()).unwrap();
        let store = store.with_replica(&Connect::parse(&standby).unwrap(), options(), shared).unwrap();
        let watched = store.clone();
        tokio::spawn(async move { watched.watch_replica().await });
        store
    }

    /// A shop more for the account, behind the store's back.
    async fn add(&mut self, account: AccountId) {
        self.made += 1;
        self.primary
            .execute(
                "INSERT INTO integrations (account_id, provider, shop, connected_at) VALUES ($1, 'shopify', $2, now())",
                &[&account.0, &format!("shop {}", self.made)],
            )
            .await
            .unwrap();
    }

    async fn pause(&self) {
        self.standby.batch_execute("SELECT pg_wal_replay_pause()").await.unwrap();
        let paused = "SELECT pg_get_wal_replay_pause_state() = 'paused'";
        eventually(async || self.standby.query_one(paused, &[]).await.unwrap().get(0)).await;
    }

    async fn resume(&self) {
        self.standby.batch_execute("SELECT pg_wal_replay_resume()").await.unwrap();
    }

    /// Waits until an unnoted change does not show, so that it is the standby that answers, and leaves replay paused.
    /// Gives how many shops the standby has.
    async fn until_standby_answers(&mut self, store: &Store, account: AccountId) -> usize {
        let began = Instant::now();
        loop {
            self.resume().await;
            let all = "SELECT count(*) FROM integrations WHERE account_id = $1";
            let there: i64 = self.primary.query_one(all, &[&account.0]).await.unwrap().get(0);
            // At first it may not even have the table.
            eventually(async || {
                self.standby.query_one(all, &[&account.0]).await.is_ok_and(|row| row.get::<_, i64>(0) == there)
            })
            .await;
            self.pause().await;
            self.add(account).await;
            if shops(store, account).await as i64 == there {
                return there as usize;
            }
            assert!(began.elapsed() < PATIENCE, "the standby never answers");
        }
    }
}

fn options() -> PoolOptions {
    testkit::patient()
}

async fn eventually(mut asked: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !asked().await {
        assert!(began.elapsed() < PATIENCE, "it never comes");
        tokio::task::yield_now().await;
    }
}

/// What a read answers.
async fn read(store: &Store, account: AccountId) -> Result<usize, StoreError> {
    let page = PageRequest { limit: 1_000, cursor: None };
    Ok(store.page(account, page, OffsetDateTime::UNIX_EPOCH).await?.0.items.len())
}

/// The same where it matters what the answer is and not how soon it comes: on a busy machine there may be none in time.
async fn shops(store: &Store, account: AccountId) -> usize {
    let began = Instant::now();
    loop {
        match read(store, account).await {
            Ok(shops) => return shops,
            Err(StoreError::Unavailable(why)) => assert!(began.elapsed() < PATIENCE, "no answer: {why}"),
            Err(other) => panic!("{other}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_reads_its_own_write_and_others_read_the_standby() {
    let mut shops_of = Shops::start().await;
    let [one, other] = shops_of.accounts;
    let store = shops_of.store(None);
    let behind = shops_of.until_standby_answers(&store, one).await;
    shops_of.add(other).await;
    assert_eq!(shops(&store, other).await, 0, "nobody wrote for this account here");

    store.note(one).await;
    assert_eq!(shops(&store, one).await, behind + 1);
    assert_eq!(shops(&store, other).await, 0);

    // Once the standby has caught up it answers again.
    assert!(shops_of.until_standby_answers(&store, one).await > behind);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_too_far_behind_answers_nobody() {
    let mut shops_of = Shops::start().await;
    let [one, _] = shops_of.accounts;
    let store = shops_of.store(None);
    let behind = shops_of.until_standby_answers(&store, one).await;
    let began = Instant::now();
    eventually(async || shops(&store, one).await == behind + 1).await;
    assert!(began.elapsed() < Duration::from_secs(10), "old rows for {:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_in_one_process_is_read_in_another() {
    let mut shops_of = Shops::start().await;
    let [one, _] = shops_of.accounts;
    let board = Arc::new(Board::default());
    let (writer, reader) = (shops_of.store(Some(board.clone())), shops_of.store(Some(board)));
    let behind = shops_of.until_standby_answers(&reader, one).await;
    writer.note(one).await;
    assert_eq!(shops(&reader, one).await, behind + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_that_halts_or_dies_fails_no_read() {
    let mut shops_of = Shops::start().await;
    let [one, _] = shops_of.accounts;
    let store = shops_of.store(None);
    let behind = shops_of.until_standby_answers(&store, one).await;

    // Its children go on when only the first process is halted, so the sessions are halted as well.
    let sessions = shops_of.standby.query("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()", &[]).await;
    let sessions: Vec<i32> = sessions.unwrap().iter().map(|row| row.get(0)).collect();
    for pid in &sessions {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(*pid), Signal::SIGSTOP).unwrap();
    }
    let asked = Instant::now();
    assert_eq!(read(&store, one).await.unwrap(), behind + 1);
    assert!(asked.elapsed() < PROMISE, "{:?}", asked.elapsed());
    for pid in &sessions {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(*pid), Signal::SIGCONT).unwrap();
    }

    shops_of.until_standby_answers(&store, one).await;
    shops_of.pair.standby.signal(Signal::SIGQUIT).unwrap();
    for _ in 0..100 {
        read(&store, one).await.unwrap();
    }
    let all = shops_of.made as usize;
    eventually(async || shops(&store, one).await == all).await;
}
