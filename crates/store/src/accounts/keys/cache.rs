//! API keys held in memory with their accounts, and dropped the moment they are revoked or the account changes.
//!
//! A revocation by this process drops the key at once; one by another process arrives as a notification. A key is
//! answered from memory only while the notification connection is known to be alive: each check of it proves that
//! every earlier revocation has arrived, so no answer is older than [`HEARTBEAT_HOLDS`]. Where notifications cannot arrive, every
//! key is looked up.
//!
//! A client that tries keys that do not exist causes a look-up for each, and these must not take the connections that others
//! wait for: keys that were not found lately are looked up by [`UNKNOWN_KEY_LOOKUPS`] at a time, the others wait.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use domain::{
    AccountId, KeyId, StoreError,
    audit::Entry,
    error::Chain,
    keys::{KeyHash, KeyRecord, KeyStore, MakeError, NewKey, Successor},
};
use moka::sync::Cache;
use ring::rand::{SecureRandom, SystemRandom};
use time::OffsetDateTime;
use tokio::{
    select,
    sync::Semaphore,
    time::{interval, timeout},
};

use super::uses::{Known, Uses};
use crate::{
    REVOCATION_CHANNEL, Store,
    database::{
        listen::{Listener, Notification},
        pool::Connect,
    },
};

/// Keys held at most; beyond it the least used go.
const CAPACITY: u64 = 100_000;
/// How long a key is held at most.
const HELD: Duration = Duration::from_secs(60);
/// How long a key that was found counts as known, though it may have to be looked up again.
const KNOWN: Duration = Duration::from_secs(3_600);
/// Look-ups at a time of keys that are not known.
const UNKNOWN_KEY_LOOKUPS: usize = 2;
/// How long such a look-up waits for its turn.
const TURN_WITHIN: Duration = Duration::from_millis(1_500);
/// How often the notification connection is checked.
const CHECK_EVERY: Duration = Duration::from_millis(250);
/// How long a notification may take to arrive, before the heartbeat counts as timed out.
const PROOF_WITHIN: Duration = Duration::from_secs(1);
/// How long a successful check is relied on.
const HEARTBEAT_HOLDS: Duration = Duration::from_millis(800);

/// A [`KeyStore`] that asks the database only for keys it does not hold.
#[derive(Clone)]
pub struct KeyCache {
    store: Store,
    held: Arc<Held>,
    /// Keys that were found lately, whether they may be held or not.
    known: Cache<KeyHash, Arc<Known>>,
    uses: Arc<Uses>,
    unknown_key_lookups: Arc<Semaphore>,
    heartbeat: Arc<Heartbeat>,
}

/// The keys in memory, and how often any of them were dropped: a look-up that spans a drop must not put back what it read
/// before.
struct Held {
    keys: Cache<KeyHash, Arc<KeyRecord>>,
    drops: AtomicU64,
}

impl Held {
    fn new() -> Self {
        Self { keys: Cache::builder().max_capacity(CAPACITY).time_to_live(HELD).build(), drops: AtomicU64::new(0) }
    }

    /// To be asked before a key is looked up.
    fn drops(&self) -> u64 {
        self.drops.load(Ordering::Acquire)
    }

    /// Holds a key that was looked up, unless any were dropped since.
    fn hold(&self, hash: KeyHash, record: &KeyRecord, drops: u64) {
        self.keys.insert(hash, Arc::new(record.clone()));
        if self.drops() != drops {
            self.keys.invalidate(&hash);
        }
    }

    fn drop_one(&self, hash: KeyHash) {
        self.drops.fetch_add(1, Ordering::AcqRel);
        self.keys.invalidate(&hash);
    }

    fn drop_all(&self) {
        self.drops.fetch_add(1, Ordering::AcqRel);
        self.keys.invalidate_all();
    }
}

/// Until when the held keys may be relied on.
struct Heartbeat {
    started: Instant,
    until_millis: AtomicU64,
}

impl Heartbeat {
    fn holds(&self) -> bool {
        self.millis(Instant::now()) < self.until_millis.load(Ordering::Acquire)
    }

    fn extend(&self, checked_at: Instant) {
        self.until_millis.store(self.millis(checked_at + HEARTBEAT_HOLDS), Ordering::Release);
    }

    fn end(&self) {
        self.until_millis.store(0, Ordering::Release);
    }

    fn millis(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.started).as_millis()).unwrap_or(u64::MAX)
    }
}

impl KeyCache {
    /// A cache that looks every key up, until [`listen`](Self::listen) runs beside it.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            held: Arc::new(Held::new()),
            known: Cache::builder().max_capacity(CAPACITY).time_to_live(KNOWN).build(),
            uses: Arc::default(),
            unknown_key_lookups: Arc::new(Semaphore::new(UNKNOWN_KEY_LOOKUPS)),
            heartbeat: Arc::new(Heartbeat { started: Instant::now(), until_millis: AtomicU64::new(0) }),
        }
    }

    /// The same cache for a thread with connections of its own: what is held and known is shared, and keys are looked up
    /// through `store`.
    #[must_use]
    pub fn with_store(&self, store: Store) -> Self {
        Self { store, ..self.clone() }
    }

    /// Listens for revocations and never ends; while this runs, keys are held in memory. `direct` is a way to the server
    /// with no pooler on it that gives sessions away. Dropped anywhere, it leaves a cache that looks every key up again
    /// within [`HEARTBEAT_HOLDS`].
    pub async fn listen(&self, direct: &Connect) {
        let mut said = String::new();
        loop {
            if let Err(error) = self.listen_once(direct, &mut said).await {
                let error = Chain(&error).to_string();
                if said != error {
                    tracing::warn!(error, "not listening for revoked keys: every key is looked up meanwhile");
                    said = error;
                }
            }
            self.heartbeat.end();
            self.held.drop_all();
            tokio::time::sleep(CHECK_EVERY).await;
        }
    }

    /// Listens until the connection is lost. `said` is the last complaint, which is over once this hears.
    async fn listen_once(&self, connect: &Connect, said: &mut String) -> Result<(), StoreError> {
        let mut listener = Listener::connect(connect, &[REVOCATION_CHANNEL]).await?;
        self.prove(&mut listener).await?;
        said.clear();
        // What was held before may have been revoked while there was no listener.
        self.held.drop_all();
        let mut checks = interval(CHECK_EVERY);
        loop {
            select! {
                biased;
                notification = listener.next() => match notification {
                    Some(notification) => self.revoked(&notification),
                    None => return Err(StoreError::Unavailable("the notification connection was closed".into())),
                },
                _ = checks.tick() => {
                    let checked_at = Instant::now();
                    listener.check().await?;
                    while let Some(notification) = listener.pending() {
                        self.revoked(&notification);
                    }
                    self.heartbeat.extend(checked_at);
                }
            }
        }
    }

    /// Has something announced and waits for it. Through a pooler that gives sessions away listening seems to succeed,
    /// and nothing ever arrives.
    async fn prove(&self, listener: &mut Listener) -> Result<(), StoreError> {
        let mut nobody = [0; 32];
        SystemRandom::new().fill(&mut nobody).map_err(|_| StoreError::Internal("no random bytes".into()))?;
        self.store.send_probe(KeyHash(nobody)).await?;
        let expected = hex::encode(nobody);
        let arrived = timeout(PROOF_WITHIN, async {
            while let Some(notification) = listener.next().await {
                if notification.payload == expected {
                    return true;
                }
            }
            false
        });
        if arrived.await.unwrap_or(false) {
            return Ok(());
        }
        Err(StoreError::Unavailable(
            "notifications do not arrive; with a pooler before the database, BAS_DATABASE_POOLER and BAS_DATABASE_DIRECT_URL are needed"
                .into(),
        ))
    }

    /// Writes down which keys were used. What cannot be written is kept for the next time.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn write_uses(&self) -> Result<(), StoreError> {
        self.uses.write(&self.store).await
    }

    fn revoked(&self, notification: &Notification) {
        let mut hash = [0; 32];
        match hex::decode_to_slice(&notification.payload, &mut hash) {
            Ok(()) => self.drop_key(KeyHash(hash)),
            Err(_) => self.held.drop_all(),
        }
    }

    fn drop_key(&self, hash: KeyHash) {
        self.held.drop_one(hash);
        self.known.invalidate(&hash);
    }

    /// Looks a key up, when it is not known as soon as it is its turn.
    async fn look_up(&self, hash: KeyHash) -> Result<Option<KeyRecord>, StoreError> {
        if self.known.contains_key(&hash) {
            return self.store.find(hash).await;
        }
        let crowded = || StoreError::Overloaded("too many unknown keys are being looked up".into());
        let _turn = timeout(TURN_WITHIN, self.unknown_key_lookups.acquire())
            .await
            .map_err(|_| crowded())?
            .map_err(|_| crowded())?;
        self.store.find(hash).await
    }
}

#[async_trait]
impl KeyStore for KeyCache {
    fn known_id(&self, hash: KeyHash) -> Option<KeyId> {
        self.known.get(&hash).map(|known| known.id)
    }

    async fn find(&self, hash: KeyHash) -> Result<Option<KeyRecord>, StoreError> {
        let is_alive = self.heartbeat.holds();
        if is_alive && let Some(record) = self.held.keys.get(&hash) {
            return Ok(Some((*record).clone()));
        }
        let drops = self.held.drops();
        let found = self.look_up(hash).await?;
        let Some(record) = found.as_ref().filter(|record| record.revoked_at.is_none()) else {
            self.known.invalidate(&hash);
            return Ok(found);
        };
        let known = self.known.get(&hash).unwrap_or_else(|| Arc::new(Known::new(record.id)));
        self.known.insert(hash, known);
        if is_alive {
            self.held.hold(hash, record, drops);
        }
        Ok(found)
    }

    fn note_use(&self, hash: KeyHash, at: OffsetDateTime) {
        if self.known.get(&hash).is_some_and(|known| known.is_due(at)) {
            self.uses.note(hash, at);
        }
    }

    async fn create(&self, key: NewKey, most: Option<i64>) -> Result<KeyRecord, MakeError> {
        KeyStore::create(&self.store, key, most).await
    }

    async fn rotate(
        &self,
        account: AccountId,
        id: KeyId,
        successor: Successor,
        most: Option<i64>,
    ) -> Result<Option<KeyRecord>, MakeError> {
        KeyStore::rotate(&self.store, account, id, successor, most).await
    }

    async fn list(&self, account: AccountId) -> Result<Vec<KeyRecord>, StoreError> {
        KeyStore::list(&self.store, account).await
    }

    async fn revoke(
        &self,
        account: AccountId,
        id: KeyId,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Option<KeyRecord>, StoreError> {
        let revoked = KeyStore::revoke(&self.store, account, id, note, now).await?;
        if let Some(record) = &revoked {
            self.drop_key(record.hash);
        }
        Ok(revoked)
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        UserId,
        accounts::{Mode, Plan, Profile},
        keys::Scope,
    };
    use time::macros::datetime;

    use super::*;

    const HASH: KeyHash = KeyHash([7; 32]);

    fn record() -> KeyRecord {
        let created_at = datetime!(2026-03-02 03:00 UTC);
        KeyRecord {
            id: KeyId(1),
            hash: HASH,
            account_id: AccountId(1),
            user_id: UserId::generate(std::iter::repeat(7)),
            mode: Mode::Live,
            profile: Profile {
                plan: Plan::Free,
                currency: "EUR".parse().unwrap(),
                timezone: "UTC".parse().unwrap(),
                locale: domain::texts::Locale::ENGLISH,
                created_at,
            },
            name: String::new(),
            prefix: String::new(),
            scopes: vec![Scope::Read],
            created_at,
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
            made_by: None,
        }
    }

    #[test]
    fn a_look_up_that_spans_a_drop_holds_nothing() {
        let held = Held::new();
        held.hold(HASH, &record(), held.drops());
        assert!(held.keys.contains_key(&HASH));
        // The listener has lost its connection, or is back: what was looked up before may have been revoked meanwhile.
        let before = held.drops();
        held.drop_all();
        held.hold(HASH, &record(), before);
        assert!(!held.keys.contains_key(&HASH));
        let before = held.drops();
        held.drop_one(HASH);
        held.hold(HASH, &record(), before);
        assert!(!held.keys.contains_key(&HASH));
    }
}
