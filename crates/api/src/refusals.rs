//! Who has used up their requests, and goes on asking.
//!
//! Authentication comes before the rate limit, and a key that nobody knows costs a look-up. For an address that has
//! been refused too often the answer is known without one: a valid key is either known to this process, or gets one of
//! the few look-ups that all such addresses have together.
//!
//! A refusal costs little, but whoever asks again as soon as they are refused gets so many of them that others notice.
//! After a few, answers to them take their time; a client that heeds `Retry-After` never sees that. Whoever tries keys from
//! ever new addresses is over nobody's limit: of those answers there are only so many a second, whoever asks.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use domain::rate_limit::{Bucket, Quota};
use tokio::sync::Semaphore;

/// Addresses and keys remembered at most. Addresses for which there is no room get their look-ups, in turn with all
/// others.
const CAPACITY: usize = 65_536;
/// Refusals in a window that are answered at once.
const AT_ONCE: u32 = 100;
/// Refusals a second, for want of a key that is known, that are answered at once.
const STRANGERS_AT_ONCE: u32 = 200;
const SECOND: Duration = Duration::from_secs(1);
/// How long the later ones take.
const PAUSE: Duration = Duration::from_secs(1);
/// Refusals that wait at a time. Beyond them one is answered at once, and its connection is closed.
const PAUSING: usize = 4_096;
/// How often the windows that are over are forgotten when there is no room.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// The time between two look-ups for all these addresses together.
const TURN_EVERY: Duration = Duration::from_millis(100);

/// The addresses and keys, and when their windows end.
#[derive(Debug)]
pub struct Refusals {
    windows: Mutex<Windows>,
    /// How many there are, so that nobody waits for the lock while there are none.
    count: AtomicUsize,
    last_turn: Mutex<Option<Instant>>,
    /// Strangers refused in this second.
    strangers: Mutex<Option<Window>>,
    room: Semaphore,
}

impl Default for Refusals {
    fn default() -> Self {
        Self {
            windows: Mutex::default(),
            count: AtomicUsize::default(),
            last_turn: Mutex::default(),
            strangers: Mutex::default(),
            room: Semaphore::new(PAUSING),
        }
    }
}

#[derive(Debug, Default)]
struct Windows {
    of: HashMap<Bucket, Window>,
    swept: Option<Instant>,
}

#[derive(Debug)]
struct Window {
    end: Instant,
    /// Refusals so far.
    refused: u32,
}

impl Window {
    /// One that is over.
    fn before(now: Instant) -> Self {
        Self { end: now, refused: 0 }
    }

    /// Refusals so far, this one included. The first one after the end begins a window that `lasts` so long.
    fn count(&mut self, now: Instant, lasts: Duration) -> u32 {
        if self.end <= now {
            *self = Self { end: now + lasts, refused: 0 };
        }
        self.refused = self.refused.saturating_add(1);
        self.refused
    }
}

/// How to go on with a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Now,
    /// And close the connection: too many others wait.
    NowAndClose,
}

impl Refusals {
    /// Counts a refusal, and returns when it may be answered: at once, or if it is one of many, after a pause.
    pub async fn pause(&self, refused: Bucket, quota: Quota) -> Answer {
        if self.note_at(refused, quota, Instant::now()) <= AT_ONCE { Answer::Now } else { self.wait().await }
    }

    /// The same for a caller whose key nobody knows.
    pub async fn pause_stranger(&self) -> Answer {
        if self.note_stranger_at(Instant::now()) <= STRANGERS_AT_ONCE { Answer::Now } else { self.wait().await }
    }

    async fn wait(&self) -> Answer {
        let Ok(_room) = self.room.try_acquire() else { return Answer::NowAndClose };
        tokio::time::sleep(PAUSE).await;
        Answer::Now
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

    /// Refusals of this window so far, this one included; 1 when there is no room to count them.
    fn note_at(&self, refused: Bucket, quota: Quota, now: Instant) -> u32 {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.of.len() >= CAPACITY && windows.swept.is_none_or(|at| now.duration_since(at) >= SWEEP_EVERY) {
            windows.of.retain(|_, window| window.end > now);
            windows.swept = Some(now);
        }
        if windows.of.len() >= CAPACITY && !windows.of.contains_key(&refused) {
            return 1;
        }
        let window = windows.of.entry(refused).or_insert_with(|| Window::before(now));
        let count = window.count(now, Duration::from_secs(quota.reset_seconds));
        self.count.store(windows.of.len(), Ordering::Relaxed);
        count
    }

    /// Strangers refused in this second, this one included.
    fn note_stranger_at(&self, now: Instant) -> u32 {
        let mut second = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        second.get_or_insert_with(|| Window::before(now)).count(now, SECOND)
    }

    fn of_at(&self, address: Bucket, limit: u32, now: Instant) -> Option<Quota> {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let end = windows.of.get(&address)?.end;
        if end <= now {
            windows.of.remove(&address);
            self.count.store(windows.of.len(), Ordering::Relaxed);
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
    fn refusals_are_counted_anew_in_each_window() {
        let (refusals, start) = (Refusals::default(), Instant::now());
        let note = |seconds| refusals.note_at(Bucket::Key(1), used_up(5), start + Duration::from_secs(seconds));
        assert_eq!([0, 1, 4].map(note), [1, 2, 3]);
        assert_eq!([5, 6].map(note), [1, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_later_refusals_take_their_time() {
        let refusals = Refusals::default();
        let took = async || {
            let began = tokio::time::Instant::now();
            (refusals.pause(Bucket::Key(1), used_up(60)).await, began.elapsed())
        };
        for _ in 0..AT_ONCE {
            assert_eq!(took().await, (Answer::Now, Duration::ZERO));
        }
        assert_eq!(took().await, (Answer::Now, PAUSE));
        let all = refusals.room.try_acquire_many(u32::try_from(PAUSING).unwrap()).unwrap();
        assert_eq!(took().await, (Answer::NowAndClose, Duration::ZERO));
        drop(all);
        assert_eq!(took().await, (Answer::Now, PAUSE));
    }

    #[test]
    fn strangers_are_counted_anew_each_second() {
        let (refusals, start) = (Refusals::default(), Instant::now());
        let note = |millis| refusals.note_stranger_at(start + Duration::from_millis(millis));
        assert_eq!([0, 10, 999, 1_000, 1_999, 2_000].map(note), [1, 2, 3, 1, 2, 1]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_later_strangers_of_a_second_take_their_time() {
        let refusals = Refusals::default();
        // Not to be over before the last one comes.
        *refusals.strangers.lock().unwrap() = Some(Window { end: Instant::now() + PAUSE * 600, refused: 0 });
        let took = async || {
            let began = tokio::time::Instant::now();
            (refusals.pause_stranger().await, began.elapsed())
        };
        for _ in 0..STRANGERS_AT_ONCE {
            assert_eq!(took().await, (Answer::Now, Duration::ZERO));
        }
        assert_eq!(took().await, (Answer::Now, PAUSE));
    }

    #[test]
    fn turns_are_apart() {
        let (refusals, start) = (Refusals::default(), Instant::now());
        let at = |millis| refusals.take_turn_at(start + Duration::from_millis(millis));
        assert_eq!([0, 1, 99, 100, 150, 200].map(at), [true, false, false, true, false, true]);
    }
}
