//! A bound on the look-ups of keys for addresses over their limit.
//!
//! Authentication comes before the rate limit, and a key that is not in memory costs a query. An address that was refused
//! too often is answered without one, unless its key is in memory or it gets one of the few look-ups that all such
//! addresses share.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use domain::rate_limit::{Bucket, Quota};

/// Addresses remembered at most. Beyond them, only the bound on look-ups in the store holds.
const CAPACITY: usize = 65_536;
/// How often expired windows are removed when they are at capacity.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// The interval of look-ups for all these addresses together.
const LOOKUP_EVERY: Duration = Duration::from_millis(100);

/// The addresses over their limit, each until its window ends.
#[derive(Debug, Default)]
pub struct LimitedAddresses {
    windows: Mutex<Windows>,
    /// How many there are, so that no request waits for the lock while there are none.
    count: AtomicUsize,
    last_lookup: Mutex<Option<Instant>>,
}

#[derive(Debug, Default)]
struct Windows {
    ends: HashMap<Bucket, Instant>,
    swept: Option<Instant>,
}

impl LimitedAddresses {
    /// Remembers an address until its window ends.
    pub fn insert(&self, address: Bucket, quota: Quota) {
        self.insert_at(address, quota, Instant::now());
    }

    /// What is left to the address, if it is over its limit.
    pub fn quota(&self, address: Bucket, limit: u32) -> Option<Quota> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.quota_at(address, limit, Instant::now())
    }

    /// Whether a key may be looked up for one of these addresses now.
    pub fn try_acquire_lookup(&self) -> bool {
        self.try_acquire_lookup_at(Instant::now())
    }

    fn insert_at(&self, address: Bucket, quota: Quota, now: Instant) {
        let mut windows = self.windows();
        if windows.ends.len() >= CAPACITY && windows.swept.is_none_or(|at| now.duration_since(at) >= SWEEP_EVERY) {
            windows.ends.retain(|_, end| *end > now);
            windows.swept = Some(now);
        }
        if windows.ends.len() < CAPACITY || windows.ends.contains_key(&address) {
            windows.ends.insert(address, now + Duration::from_secs(quota.reset_seconds));
        }
        self.count.store(windows.ends.len(), Ordering::Relaxed);
    }

    fn quota_at(&self, address: Bucket, limit: u32, now: Instant) -> Option<Quota> {
        let mut windows = self.windows();
        let end = *windows.ends.get(&address)?;
        if end <= now {
            windows.ends.remove(&address);
            self.count.store(windows.ends.len(), Ordering::Relaxed);
            return None;
        }
        Some(Quota::of(limit, limit, end.duration_since(now), true))
    }

    fn try_acquire_lookup_at(&self, now: Instant) -> bool {
        let mut last = self.last_lookup.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = last.is_none_or(|at| now.saturating_duration_since(at) >= LOOKUP_EVERY);
        if is_free {
            *last = Some(now);
        }
        is_free
    }

    fn windows(&self) -> MutexGuard<'_, Windows> {
        // No code that may panic runs under the lock.
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn address(number: usize) -> Bucket {
        Bucket::refused(IpAddr::V4(Ipv4Addr::from_bits(u32::try_from(number).unwrap())))
    }

    fn used_up(reset_seconds: u64) -> Quota {
        Quota { limit: 60, remaining: 0, reset_seconds, exceeded: true }
    }

    #[test]
    fn an_address_is_remembered_until_its_window_ends() {
        let (limited, start) = (LimitedAddresses::default(), Instant::now());
        limited.insert_at(address(1), used_up(30), start);
        assert_eq!(limited.quota_at(address(1), 60, start + Duration::from_secs(10)), Some(used_up(20)));
        assert_eq!(limited.quota_at(address(2), 60, start), None);
        assert_eq!(limited.quota_at(address(1), 60, start + Duration::from_secs(30)), None);
        assert_eq!(limited.count.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn memory_is_bounded_and_given_back() {
        let (limited, start) = (LimitedAddresses::default(), Instant::now());
        for number in 0..CAPACITY + 10 {
            limited.insert_at(address(number), used_up(5), start);
        }
        assert_eq!(limited.count.load(Ordering::Relaxed), CAPACITY);
        assert_eq!(limited.quota_at(address(CAPACITY), 60, start), None);
        let later = start + Duration::from_secs(6);
        limited.insert_at(address(CAPACITY), used_up(5), later);
        assert_eq!(limited.count.load(Ordering::Relaxed), 1);
        assert!(limited.quota_at(address(CAPACITY), 60, later).is_some());
    }

    #[test]
    fn look_ups_are_apart() {
        let (limited, start) = (LimitedAddresses::default(), Instant::now());
        let at = |millis| limited.try_acquire_lookup_at(start + Duration::from_millis(millis));
        assert_eq!([0, 1, 99, 100, 150, 200].map(at), [true, false, false, true, false, true]);
    }
}
