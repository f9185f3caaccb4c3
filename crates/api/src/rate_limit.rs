//! The counters of one process; [`domain::rate_limit`] says what is counted.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{Mutex, PoisonError},
    time::Instant,
};

use async_trait::async_trait;
use domain::rate_limit::{Bucket, Quota, RateLimiter, WINDOW};

#[derive(Debug, Clone, Copy)]
struct Window {
    started: Instant,
    count: u32,
}

/// Buckets of addresses counted one by one in each shard; the others share one ([`Bucket::shared`]). Keys and people are not
/// limited, because each is a row in the database, nor are senders who prove that they know a secret.
const ADDRESSES_PER_SHARD: usize = 8_192;
const SHARDS: usize = 16;

#[derive(Debug, Default)]
struct Shard {
    windows: HashMap<Bucket, Window>,
    addresses: usize,
    swept: Option<Instant>,
}

impl Shard {
    fn take(&mut self, bucket: Bucket, amount: u32, limit: u32, now: Instant) -> Quota {
        if self.swept.is_none_or(|at| now.duration_since(at) >= WINDOW) {
            self.sweep(now);
        }
        let bucket = self.admit(bucket);
        let window = self.windows.entry(bucket).or_insert(Window { started: now, count: 0 });
        if now.duration_since(window.started) >= WINDOW {
            *window = Window { started: now, count: 0 };
        }
        let exceeded = window.count >= limit;
        if !exceeded {
            window.count = window.count.saturating_add(amount);
        }
        let left = WINDOW.saturating_sub(now.duration_since(window.started));
        Quota::of(limit, window.count, left, exceeded)
    }

    /// The bucket to count in: its own, or the shared one when there are too many addresses.
    fn admit(&mut self, bucket: Bucket) -> Bucket {
        if !bucket.is_of_address() || self.windows.contains_key(&bucket) {
            return bucket;
        }
        if self.addresses >= ADDRESSES_PER_SHARD {
            return bucket.shared();
        }
        self.addresses += 1;
        bucket
    }

    fn refund(&mut self, bucket: Bucket) {
        if let Some(window) = self.windows.get_mut(&bucket) {
            window.count = window.count.saturating_sub(1);
        }
    }

    /// Forgets the windows that are over.
    fn sweep(&mut self, now: Instant) {
        self.windows.retain(|_, window| now.duration_since(window.started) < WINDOW);
        self.addresses = self.windows.keys().filter(|bucket| bucket.is_of_address()).count();
        self.swept = Some(now);
    }
}

/// The counters of one process.
#[derive(Debug)]
pub struct InMemory {
    shards: [Mutex<Shard>; SHARDS],
    hasher: RandomState,
}

impl Default for InMemory {
    fn default() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::default()), hasher: RandomState::new() }
    }
}

impl InMemory {
    fn with<T>(&self, bucket: Bucket, work: impl FnOnce(&mut Shard) -> T) -> Option<T> {
        let index = usize::try_from(self.hasher.hash_one(bucket)).unwrap_or(usize::MAX) % SHARDS;
        let shard = self.shards.get(index)?;
        // A panic elsewhere cannot leave a counter half-changed, so a poisoned lock is as good as any.
        Some(work(&mut shard.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[async_trait]
impl RateLimiter for InMemory {
    async fn take(&self, bucket: Bucket, amount: u32, limit: u32) -> Quota {
        self.with(bucket, |shard| shard.take(bucket, amount, limit, Instant::now()))
            .unwrap_or_else(|| Quota::of(limit, 0, WINDOW, false))
    }

    async fn refund(&self, bucket: Bucket) {
        self.with(bucket, |shard| shard.refund(bucket));
    }
}

#[cfg(test)]
mod tests {
    use std::{net::IpAddr, time::Duration};

    use domain::KeyId;

    use super::*;

    const KEY: Bucket = Bucket::Key(KeyId(1));

    impl Shard {
        fn hit(&mut self, bucket: Bucket, limit: u32, now: Instant) -> Quota {
            self.take(bucket, 1, limit, now)
        }
    }

    fn address(last: u32) -> IpAddr {
        IpAddr::V4(std::net::Ipv4Addr::from_bits(last))
    }

    #[test]
    fn in_any_burst_of_61_the_last_is_refused() {
        let (mut shard, start) = (Shard::default(), Instant::now());
        for i in 0..60u32 {
            let quota = shard.hit(KEY, 60, start + Duration::from_millis(u64::from(i) * 900));
            assert_eq!((quota.exceeded, quota.remaining), (false, 59 - i));
        }
        let refused = shard.hit(KEY, 60, start + Duration::from_millis(59_001));
        assert_eq!(refused, Quota { limit: 60, remaining: 0, reset_seconds: 1, exceeded: true });
        assert!(!shard.hit(KEY, 60, start + WINDOW).exceeded);
    }

    #[test]
    fn the_window_starts_with_the_first_request() {
        let (mut shard, start) = (Shard::default(), Instant::now());
        assert_eq!(shard.hit(KEY, 60, start).reset_seconds, 60);
        assert_eq!(shard.hit(KEY, 60, start + Duration::from_millis(1)).reset_seconds, 60);
        assert_eq!(shard.hit(KEY, 60, start + Duration::from_secs(59)).reset_seconds, 1);
        assert_eq!(shard.hit(KEY, 60, start + Duration::from_secs(75)).reset_seconds, 60);
    }

    #[test]
    fn a_request_given_back_can_be_made_again() {
        let (mut shard, now) = (Shard::default(), Instant::now());
        shard.hit(KEY, 1, now);
        shard.refund(KEY);
        assert!(!shard.hit(KEY, 1, now).exceeded);
        assert!(shard.hit(KEY, 1, now).exceeded);
    }

    #[test]
    fn an_amount_is_taken_whole_until_the_limit_is_reached() {
        let (mut shard, now) = (Shard::default(), Instant::now());
        let mut take = |amount| shard.take(Bucket::EventKib(KeyId(1)), amount, 10, now);
        assert_eq!((take(4).remaining, take(5).remaining), (6, 1));
        let last = take(1_000);
        assert_eq!((last.exceeded, last.remaining), (false, 0));
        assert!(take(1).exceeded);
        assert!(!shard.take(Bucket::EventKib(KeyId(1)), u32::MAX, 10, now + WINDOW).exceeded);
        assert!(shard.take(Bucket::EventKib(KeyId(1)), u32::MAX, 10, now + WINDOW).exceeded);
    }

    #[test]
    fn buckets_do_not_share_a_count() {
        let (mut shard, now) = (Shard::default(), Instant::now());
        shard.hit(KEY, 1, now);
        assert!(!shard.hit(Bucket::NotModified(KeyId(1)), 1, now).exceeded);
        assert!(!shard.hit(Bucket::EventKib(KeyId(1)), 1, now).exceeded);
        assert!(!shard.hit(Bucket::Key(KeyId(2)), 1, now).exceeded);
        assert!(!shard.hit(Bucket::refused(address(1)), 1, now).exceeded);
        assert!(!shard.hit(Bucket::public(address(1)), 1, now).exceeded);
    }

    #[test]
    fn memory_is_bounded_and_given_back() {
        let (mut shard, start) = (Shard::default(), Instant::now());
        for i in 0..20_000 {
            shard.hit(Bucket::refused(address(i)), 60, start);
        }
        for i in 0..100 {
            shard.hit(Bucket::PublicNotModified(address(i)), 600, start);
        }
        assert_eq!(shard.windows.len(), ADDRESSES_PER_SHARD + 2);
        assert_eq!(shard.windows[&Bucket::OverflowNotModified].count, 100);
        shard.hit(KEY, 60, start + WINDOW);
        assert_eq!((shard.windows.len(), shard.addresses), (1, 0));
    }
}
