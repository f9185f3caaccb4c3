//! How many requests a key or an address may make.
//!
//! Windows are fixed and last [`WINDOW`]; a window starts with its bucket's first request. So in any burst the first
//! request over the limit is refused, and the answer can say to the second when the next one will be taken.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;

/// Length of a window.
pub const WINDOW: Duration = Duration::from_secs(60);

/// What is counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bucket {
    /// Requests with a key, by the key's id.
    Key(i64),
    /// Requests of an address that were refused for want of a valid key.
    Refused(IpAddr),
    /// Requests of an address to public endpoints.
    Public(IpAddr),
    /// Requests of all addresses for which there was no room.
    Crowd,
}

impl Bucket {
    /// For the refused requests of an address; of IPv6 the /64 counts, which is what one customer has.
    pub fn refused(address: IpAddr) -> Self {
        Self::Refused(subscriber(address))
    }

    /// For the public requests of an address; of IPv6 the /64 counts.
    pub fn public(address: IpAddr) -> Self {
        Self::Public(subscriber(address))
    }
}

fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Where a bucket stands after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Requests per window.
    pub limit: u32,
    /// Requests left in this window.
    pub remaining: u32,
    /// Whole seconds until the window ends, 1 to 60.
    pub reset_seconds: u64,
    /// This request was one too many.
    pub exceeded: bool,
}

/// Counts requests. An implementation over a network must not fail a request when that network fails.
#[async_trait]
pub trait RateLimiter: Send + Sync {
    /// Counts a request.
    async fn hit(&self, bucket: Bucket, limit: u32) -> Quota;
    /// Takes one counted request back, because it turned out to be free.
    async fn give_back(&self, bucket: Bucket);
}

#[derive(Debug, Clone, Copy)]
struct Window {
    started: Instant,
    count: u32,
}

/// Addresses counted one by one in each shard; the others share [`Bucket::Crowd`]. Keys are not limited, because each
/// is a row in the database.
const ADDRESSES_PER_SHARD: usize = 8_192;
const SHARDS: usize = 16;

#[derive(Debug, Default)]
struct Shard {
    windows: HashMap<Bucket, Window>,
    addresses: usize,
    swept: Option<Instant>,
}

impl Shard {
    fn hit(&mut self, bucket: Bucket, limit: u32, now: Instant) -> Quota {
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
            window.count += 1;
        }
        let left = WINDOW.saturating_sub(now.duration_since(window.started));
        Quota {
            limit,
            remaining: limit.saturating_sub(window.count),
            reset_seconds: u64::try_from(left.as_millis().div_ceil(1_000)).unwrap_or(1).max(1),
            exceeded,
        }
    }

    /// The bucket to count in: its own, or the crowd's when there are too many addresses.
    fn admit(&mut self, bucket: Bucket) -> Bucket {
        if matches!(bucket, Bucket::Key(_) | Bucket::Crowd) || self.windows.contains_key(&bucket) {
            return bucket;
        }
        if self.addresses >= ADDRESSES_PER_SHARD {
            return Bucket::Crowd;
        }
        self.addresses += 1;
        bucket
    }

    fn give_back(&mut self, bucket: Bucket) {
        if let Some(window) = self.windows.get_mut(&bucket) {
            window.count = window.count.saturating_sub(1);
        }
    }

    /// Forgets the windows that are over.
    fn sweep(&mut self, now: Instant) {
        self.windows.retain(|_, window| now.duration_since(window.started) < WINDOW);
        self.addresses = self.windows.keys().filter(|b| matches!(b, Bucket::Refused(_) | Bucket::Public(_))).count();
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
    async fn hit(&self, bucket: Bucket, limit: u32) -> Quota {
        self.with(bucket, |shard| shard.hit(bucket, limit, Instant::now())).unwrap_or(Quota {
            limit,
            remaining: limit,
            reset_seconds: 60,
            exceeded: false,
        })
    }

    async fn give_back(&self, bucket: Bucket) {
        self.with(bucket, |shard| shard.give_back(bucket));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    const KEY: Bucket = Bucket::Key(1);

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
        shard.give_back(KEY);
        assert!(!shard.hit(KEY, 1, now).exceeded);
        assert!(shard.hit(KEY, 1, now).exceeded);
    }

    #[test]
    fn buckets_do_not_share_a_count() {
        let (mut shard, now) = (Shard::default(), Instant::now());
        shard.hit(KEY, 1, now);
        assert!(!shard.hit(Bucket::Key(2), 1, now).exceeded);
        assert!(!shard.hit(Bucket::refused(address(1)), 1, now).exceeded);
        assert!(!shard.hit(Bucket::public(address(1)), 1, now).exceeded);
    }

    #[test]
    fn a_network_of_an_ipv6_customer_counts_as_one() {
        let one = Bucket::refused("2a00:1:2:3::1".parse().unwrap());
        assert_eq!(one, Bucket::refused("2a00:1:2:3:ffff::2".parse().unwrap()));
        assert_ne!(one, Bucket::refused("2a00:1:2:4::1".parse().unwrap()));
        assert_eq!(Bucket::refused("::ffff:192.0.2.1".parse().unwrap()), Bucket::refused("192.0.2.1".parse().unwrap()));
    }

    #[test]
    fn memory_is_bounded_and_given_back() {
        let (mut shard, start) = (Shard::default(), Instant::now());
        for i in 0..20_000 {
            shard.hit(Bucket::refused(address(i)), 60, start);
        }
        assert_eq!(shard.windows.len(), ADDRESSES_PER_SHARD + 1);
        shard.hit(KEY, 60, start + WINDOW);
        assert_eq!((shard.windows.len(), shard.addresses), (1, 0));
    }
}
