//! Addresses that may not try keys for the rest of their window.
//!
//! Authentication comes before the rate limit, and a key that nobody knows costs a look-up. For an address that has
//! been refused too often the answer is known without one: a valid key is either known to this process, or gets one of
//! the few look-ups that all such addresses have together.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use domain::rate_limit::{Bucket, Quota};

/// Addresses remembered at most. Those for which there is no room get their look-ups, in turn with all others.
const CAPACITY: usize = 65_536;
/// How often the windows that are over are forgotten when there is no room.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// The time between two look-ups for all these addresses together.
const TURN_EVERY: Duration = Duration::from_millis(100);

/// The addresses, and when their windows end.
#[derive(Debug, Default)]
pub struct Refusals {
    windows: Mutex<Windows>,
    /// How many there are, so that nobody waits for the lock while there are none.
    count: AtomicUsize,
    last_turn: Mutex<Option<Instant>>,
}

#[derive(Debug, Default)]
struct Windows {
    ends: HashMap<Bucket, Instant>,
    swept: Option<Instant>,
}

impl Refusals {
    /// Remembers an address whose quota is used up.
    pub fn note(&self, address: Bucket, quota: Quota) {
        self.note_at(address, quota, Instant::now());
    }

    /// Where the address stands, if it is one of these.
    pub fn of(&self, address: Bucket, limit: u32) -> Option<Quota> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.of_at(address, limit, Instant::now())
    }

    /// Whether one of these addresses may have a key looked up now.
    pub fn take_turn(&self) -> bool {
        self.take_turn_at(Instant::now())
    }

    fn note_at(&self, address: Bucket, quota: Quota, now: Instant) {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.ends.len() >= CAPACITY && windows.swept.is_none_or(|at| now.duration_since(at) >= SWEEP_EVERY) {
            windows.ends.retain(|_, end| *end > now);
            windows.swept = Some(now);
        }
        if windows.ends.len() < CAPACITY {
            windows.ends.insert(address, now + Duration::from_secs(quota.reset_seconds));
        }
        self.count.store(windows.ends.len(), Ordering::Relaxed);
    }

    fn of_at(&self, address: Bucket, limit: u32, now: Instant) -> Option<Quota> {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let end = *windows.ends.get(&address)?;
        if end <= now {
            windows.ends.remove(&address);
            self.count.store(windows.ends.len(), Ordering::Relaxed);
            return None;
        }
        Some(Quota::of(limit, limit, end.duration_since(now), true))
    }

    fn take_turn_at(&self, now: Instant) -> bool {
        let mut last = self.last_turn.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = last.is_none_or(|at| now.saturating_duration_since(at) >= TURN_EVERY);
        if is_free {
            *last = Some(now);
        }
        is_free
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
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
        let (refusals, start) = (Refusals::default(), Instant::now());
        refusals.note_at(address(1), used_up(30), start);
        assert_eq!(refusals.of_at(address(1), 60, start + Duration::from_secs(10)), Some(used_up(20)));
        assert_eq!(refusals.of_at(address(2), 60, start), None);
        assert_eq!(refusals.of_at(address(1), 60, start + Duration::from_secs(30)), None);
        assert_eq!(refusals.count.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn memory_is_bounded_and_given_back() {
        let (refusals, start) = (Refusals::default(), Instant::now());
        for number in 0..CAPACITY + 10 {
            refusals.note_at(address(number), used_up(5), start);
        }
        assert_eq!(refusals.count.load(Ordering::Relaxed), CAPACITY);
        assert_eq!(refusals.of_at(address(CAPACITY), 60, start), None);
        let later = start + Duration::from_secs(6);
        refusals.note_at(address(CAPACITY), used_up(5), later);
        assert_eq!(refusals.count.load(Ordering::Relaxed), 1);
        assert!(refusals.of_at(address(CAPACITY), 60, later).is_some());
    }

    #[test]
    fn turns_are_apart() {
        let (refusals, start) = (Refusals::default(), Instant::now());
        let at = |millis| refusals.take_turn_at(start + Duration::from_millis(millis));
        assert_eq!([0, 1, 99, 100, 150, 200].map(at), [true, false, false, true, false, true]);
    }
}
