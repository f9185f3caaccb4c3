//! Keys: stored as a hash, held in memory, and gone when revoked.

use std::time::{Duration, Instant};

use domain::{
    AccountId, KeyId, StoreError,
    accounts::{AccountChange, AccountStore, Mode, NewUser, Plan, STARTING_CREDITS},
    credits::{CreditLedger, TransactionKind},
    health::Health,
    keys::{ApiKey, KeyStore, MakeError, NewKey, Scope, Successor},
    payments::{PaymentStatus, PaymentStore},
};
use futures_util::future::join_all;
use store::{KeyCache, PoolOptions, Store};
use time::{OffsetDateTime, macros::datetime};

use crate::{credits::payments, database::fresh};

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

pub async fn user(store: &Store, letter: u8) -> Vec<domain::accounts::Account> {
    let user = NewUser {
        id: domain::UserId::generate(std::iter::repeat(letter)),
        name: "shop".to_owned(),
        currency: "BRL".parse().unwrap(),
        timezone: "America/Sao_Paulo".parse().unwrap(),
        locale: domain::texts::Locale::ENGLISH,
        plan: Plan::Free,
        now: NOW,
    };
    AccountStore::create(store, user).await.unwrap()
}

fn new_key(account: AccountId, key: &ApiKey) -> NewKey {
    NewKey {
        hash: key.hash(),
        account_id: account,
        name: "n8n".to_owned(),
        prefix: key.display_prefix().to_owned(),
        scopes: vec![Scope::Read],
        created_at: NOW,
        expires_at: None,
        note: None,
        notice: None,
    }
}

fn generated(seed: u8) -> ApiKey {
    ApiKey::generate(Mode::Live, std::iter::repeat(seed))
}

async fn key(store: &Store, account: AccountId, seed: u8) -> ApiKey {
    let key = generated(seed);
    KeyStore::create(store, new_key(account, &key), None).await.unwrap();
    key
}

#[tokio::test]
async fn a_new_user_has_a_live_and_a_sandbox_account_with_starting_credits() {
    let db = fresh().await;
    let accounts = user(&db.store, 7).await;
    assert_eq!(accounts.iter().map(|account| account.mode).collect::<Vec<_>>(), [Mode::Live, Mode::Test]);
    for account in accounts {
        let credits = db.store.summary(account.id).await.unwrap();
        assert_eq!((credits.balance, credits.total_purchased, credits.total_spent), (STARTING_CREDITS, 0, 0));
        let [grant] = credits.recent_transactions.as_slice() else { panic!("{credits:?}") };
        assert_eq!((grant.kind, grant.amount, grant.balance_after), (TransactionKind::Grant, 500, 500));
    }
}

#[tokio::test]
async fn a_key_is_found_by_its_hash_and_nothing_else_of_it_is_stored() {
    let db = fresh().await;
    let account = user(&db.store, 7).await[0].id;
    let key = key(&db.store, account, 9).await;
    let found = KeyStore::find(&*db.store, key.hash()).await.unwrap().unwrap();
    assert_eq!((found.account_id, found.scopes.as_slice()), (account, [Scope::Read].as_slice()));
    let row: String = db.sql.query_one("SELECT k::text FROM api_keys k", &[]).await.unwrap().get(0);
    assert!(!row.contains(key.expose().get(13..).unwrap()), "{row}");
}

#[tokio::test]
async fn another_accounts_key_cannot_be_revoked() {
    let db = fresh().await;
    let (mine, theirs) = (user(&db.store, 7).await[0].id, user(&db.store, 8).await[0].id);
    let key = key(&db.store, theirs, 9).await;
    let id = KeyStore::find(&*db.store, key.hash()).await.unwrap().unwrap().id;
    assert_eq!(KeyStore::revoke(&*db.store, mine, id, None, NOW).await.unwrap(), None);
    assert_eq!(KeyStore::find(&*db.store, key.hash()).await.unwrap().unwrap().revoked_at, None);
}

/// Of keys that are made at once, too: each of them sees those before it.
#[tokio::test]
async fn no_more_keys_work_than_may() {
    let db = fresh().await;
    let (store, account) = (&*db.store, user(&db.store, 7).await[0].id);
    let making = (0..8).map(|seed| KeyStore::create(store, new_key(account, &generated(seed)), Some(5)));
    let made = join_all(making).await;
    let refused = made.iter().filter(|made| matches!(made, Err(MakeError::LimitReached))).count();
    assert_eq!(refused, 3, "{made:?}");
    let ids: Vec<_> = KeyStore::list(store, account).await.unwrap().iter().map(|key| key.id).collect();
    assert_eq!(ids.len(), 5);

    // Both work for the overlap, so the second is one too many.
    let rotate = |id: KeyId, seed: u8, overlap: time::Duration| {
        let key = generated(seed);
        let successor = Successor {
            hash: key.hash(),
            prefix: key.display_prefix().to_owned(),
            now: NOW,
            expires_at: None,
            overlap_until: NOW + overlap,
            note: None,
            notice: None,
        };
        KeyStore::rotate(store, account, id, successor, Some(5))
    };
    let rotating = ids.iter().take(2).zip([20, 21]).map(|(id, seed)| rotate(*id, seed, time::Duration::HOUR));
    let rotated = join_all(rotating).await;
    let refused = rotated.iter().filter(|made| matches!(made, Err(MakeError::LimitReached))).count();
    assert_eq!(refused, 1, "{rotated:?}");
    let leaked = rotate(ids[4], 22, time::Duration::ZERO).await;
    assert!(matches!(leaked, Ok(Some(_))), "no more work than before: {leaked:?}");

    // Of six working keys all but one are revoked: there is room again, which neither a revoked nor an ended key takes.
    let working = KeyStore::list(store, account).await.unwrap();
    let working = working.into_iter().filter(|key| key.revoked_at.is_none()).map(|key| key.id);
    for id in working.skip(1) {
        KeyStore::revoke(store, account, id, None, NOW).await.unwrap();
    }
    let ended = NewKey { expires_at: Some(NOW), ..new_key(account, &generated(30)) };
    KeyStore::create(store, ended, None).await.unwrap();
    KeyStore::create(store, new_key(account, &generated(31)), Some(2)).await.unwrap();
    let full = KeyStore::create(store, new_key(account, &generated(32)), Some(2)).await;
    assert!(matches!(full, Err(MakeError::LimitReached)), "{full:?}");
    // The operator's have no limit.
    key(store, account, 33).await;
}

/// A cache that hears of revocations.
fn listening(store: &Store, db: &testkit::TestDb) -> KeyCache {
    let (cache, direct) = (KeyCache::new(store.clone()), db.connect().unwrap());
    let listener = cache.clone();
    tokio::spawn(async move { listener.listen(&direct).await });
    cache
}

/// A revocation is promised to arrive within a second. The rest is for a busy machine; a key is remembered for a minute.
const PROMISE: Duration = Duration::from_secs(20);
/// What a busy machine may take for what has no promised time.
const PATIENCE: Duration = Duration::from_secs(20);

/// Asks until the answer is as wanted, or the time is up.
async fn within(limit: Duration, mut asked: impl AsyncFnMut() -> bool) -> bool {
    let started = Instant::now();
    while started.elapsed() < limit {
        if asked().await {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

/// Once the cache listens it holds the key: a change behind its back, without a notification, does not show. The name is a
/// new one each time, for the first that is held may be any of them.
async fn until_held(cache: &KeyCache, sql: &tokio_postgres::Client, key: &ApiKey) {
    let mut change = 0;
    assert!(
        within(PATIENCE, async || {
            change += 1;
            let _ = cache.find(key.hash()).await.unwrap();
            sql.batch_execute(&format!("UPDATE api_keys SET name = 'name {change}'")).await.unwrap();
            cache.find(key.hash()).await.unwrap().unwrap().name != format!("name {change}")
        })
        .await,
        "the key was never held"
    );
}

/// A key comes with its account's plan, and currency and zone decide about figures.
#[tokio::test]
async fn a_held_key_follows_a_change_of_its_account_elsewhere() {
    let db = testkit::TestDb::new().await.unwrap();
    let (store, sql) = (db.store().unwrap(), db.client().await.unwrap());
    let account = user(&store, 7).await[0].id;
    let key = key(&store, account, 9).await;
    let cache = listening(&store, &db);
    let profile = async || cache.find(key.hash()).await.unwrap().unwrap().profile;

    until_held(&cache, &sql, &key).await;
    let zone = AccountChange { timezone: Some("Europe/Berlin".parse().unwrap()), ..AccountChange::default() };
    store.change(account, zone, None, NOW).await.unwrap();
    // Far below the time that a key is held at most.
    let arrived = async || profile().await.timezone.name() == "Europe/Berlin";
    assert!(within(PATIENCE, arrived).await, "the zone did not arrive");

    for (status, plan) in [(PaymentStatus::Approved, Plan::Pro), (PaymentStatus::Refunded, Plan::Free)] {
        until_held(&cache, &sql, &key).await;
        let paid = payments::plan(account, "p1", Plan::Pro, status);
        store.settle(paid, NOW).await.unwrap();
        assert!(within(PATIENCE, async || profile().await.plan == plan).await, "the plan {plan} did not arrive");
    }
}

#[tokio::test]
async fn a_held_key_is_answered_from_memory_and_refused_within_a_second_of_its_revocation_elsewhere() {
    let db = testkit::TestDb::new().await.unwrap();
    let (store, sql) = (db.store().unwrap(), db.client().await.unwrap());
    let account = user(&store, 7).await[0].id;
    let key = key(&store, account, 9).await;
    let cache = listening(&store, &db);

    until_held(&cache, &sql, &key).await;

    let id = cache.find(key.hash()).await.unwrap().unwrap().id;
    KeyStore::revoke(&store, account, id, None, NOW).await.unwrap();
    let refused = async || cache.find(key.hash()).await.unwrap().unwrap().revoked_at.is_some();
    assert!(within(PROMISE, refused).await, "the revocation did not arrive");
}

#[tokio::test]
async fn the_process_that_revokes_a_key_refuses_it_at_once() {
    let db = testkit::TestDb::new().await.unwrap();
    let store = db.store().unwrap();
    let account = user(&store, 7).await[0].id;
    let key = key(&store, account, 9).await;
    let cache = listening(&store, &db);
    for _ in 0..50 {
        let record = cache.find(key.hash()).await.unwrap().unwrap();
        assert_eq!(record.revoked_at, None);
    }
    let id = cache.find(key.hash()).await.unwrap().unwrap().id;
    cache.revoke(account, id, None, NOW).await.unwrap();
    assert_eq!(cache.find(key.hash()).await.unwrap().unwrap().revoked_at, Some(NOW));
}

#[tokio::test]
async fn keys_that_nobody_knows_leave_connections_to_others() {
    let db = testkit::TestDb::new().await.unwrap();
    let options = PoolOptions { max_connections: 3, ..testkit::patient() };
    let store = Store::connect(&db.connect().unwrap(), options).unwrap();
    let (mut blocker, watcher) = (db.client().await.unwrap(), db.client().await.unwrap());
    let cache = KeyCache::new(store.clone());
    let blocked = blocker.transaction().await.unwrap();
    blocked.batch_execute("LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let mut lookups = tokio::task::JoinSet::new();
    for seed in 0..20 {
        let (cache, unknown) = (cache.clone(), ApiKey::generate(Mode::Live, (seed..=255).cycle()));
        lookups.spawn(async move { cache.find(unknown.hash()).await });
    }
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let two_wait = async || watcher.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == 2;
    assert!(within(PATIENCE, two_wait).await, "the look-ups were not begun");
    // The third connection: with the others in line before it, this would wait for the lock as well.
    store.ping().await.unwrap();
    blocked.rollback().await.unwrap();
    while let Some(found) = lookups.join_next().await {
        assert!(matches!(found.unwrap(), Ok(None) | Err(StoreError::Overloaded(_))));
    }
}

#[tokio::test]
async fn a_key_is_known_from_when_it_is_found_until_it_is_revoked() {
    let db = testkit::TestDb::new().await.unwrap();
    let store = db.store().unwrap();
    let account = user(&store, 7).await[0].id;
    let key = key(&store, account, 9).await;
    let cache = KeyCache::new(store.clone());
    assert_eq!(cache.known_id(key.hash()), None);
    let id = cache.find(key.hash()).await.unwrap().unwrap().id;
    assert_eq!(cache.known_id(key.hash()), Some(id));
    // By another process, without a notification: the next look-up notices.
    KeyStore::revoke(&store, account, id, None, NOW).await.unwrap();
    assert!(cache.find(key.hash()).await.unwrap().unwrap().revoked_at.is_some());
    assert_eq!(cache.known_id(key.hash()), None);
}
