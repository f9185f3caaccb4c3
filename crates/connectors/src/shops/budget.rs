//! How much may be asked of a platform: a bucket of points per shop that refills with time. The platform keeps the real
//! one; what its replies tell of it corrects ours.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::shops::ShopError;
use time::OffsetDateTime;

use super::calls;
use tokio::time::Instant;

/// The longest pause that is waited for; a longer one is [`ShopError::Throttled`].
pub const MAX_WAIT: Duration = Duration::from_secs(60);

/// Size and speed of a bucket.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Points of the full bucket.
    pub cap: f64,
    /// Points that come back per second, above 0.
    pub restore: f64,
}

/// A bucket of points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    rate: Rate,
    /// Points at `at`; below 0 when more was promised than there was.
    level: f64,
    /// Nothing comes back before this, which may lie ahead: a pause.
    at: Instant,
}

impl Budget {
    /// A full bucket.
    pub fn new(rate: Rate, now: Instant) -> Self {
        Self { rate, level: rate.cap, at: now }
    }

    fn refill(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.at).as_secs_f64();
        self.level = (self.level + elapsed * self.rate.restore).min(self.rate.cap);
        self.at = self.at.max(now);
    }

    /// Takes `cost` points and says after which wait they are there.
    ///
    /// # Errors
    /// The wait, when it is longer than [`MAX_WAIT`]; nothing is taken then.
    pub fn take(&mut self, cost: f64, now: Instant) -> Result<Duration, Duration> {
        self.refill(now);
        // What costs more than a full bucket holds can only be tried with a full one.
        let missing = (cost.min(self.rate.cap) - self.level).max(0.0);
        let wait = self.at.saturating_duration_since(now) + Duration::from_secs_f64(missing / self.rate.restore);
        if wait > MAX_WAIT {
            return Err(wait);
        }
        self.level -= cost;
        Ok(wait)
    }

    /// What a reply said: the level after it, and the bucket's size and speed.
    pub fn correct(&mut self, level: f64, rate: Rate, now: Instant) {
        *self = Self { rate, level: level.min(rate.cap), at: self.at.max(now) };
    }

    /// The platform wants to hear nothing for so long.
    pub fn pause(&mut self, pause: Duration, now: Instant) {
        *self = Self { level: self.level.min(0.0), at: self.at.max(now + pause), ..*self };
    }
}

/// The buckets of a platform's shops, by shop.
#[derive(Debug)]
pub struct Budgets {
    rate: Rate,
    shops: Mutex<HashMap<String, Budget>>,
}

impl Budgets {
    /// Every shop begins with a full bucket of this rate.
    pub fn new(rate: Rate) -> Self {
        Self { rate, shops: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Budget>> {
        self.shops.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, shop: &str, act: impl FnOnce(&mut Budget, Instant) -> T) -> T {
        let now = Instant::now();
        act(self.lock().entry(shop.to_owned()).or_insert_with(|| Budget::new(self.rate, now)), now)
    }

    /// Waits until `cost` points are there, and takes them.
    ///
    /// # Errors
    /// [`ShopError::Throttled`] when that would take longer than [`MAX_WAIT`].
    pub async fn take(&self, shop: &str, cost: f64) -> Result<(), ShopError> {
        match self.with(shop, |budget, now| budget.take(cost, now)) {
            Ok(Duration::ZERO) => Ok(()),
            Ok(wait) => {
                tokio::time::sleep(wait).await;
                calls::waited(wait);
                Ok(())
            }
            Err(wait) => Err(ShopError::Throttled(OffsetDateTime::now_utc() + wait)),
        }
    }

    /// As [`Budget::correct`].
    pub fn correct(&self, shop: &str, level: f64, rate: Rate) {
        self.with(shop, |budget, now| budget.correct(level, rate, now));
    }

    /// As [`Budget::pause`].
    pub fn pause(&self, shop: &str, pause: Duration) {
        self.with(shop, |budget, now| budget.pause(pause, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { cap: 40.0, restore: 2.0 };
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn an_empty_bucket_makes_wait_until_enough_came_back() {
        let start = Instant::now();
        let mut budget = Budget::new(RATE, start);
        assert_eq!(budget.take(40.0, start), Ok(Duration::ZERO));
        assert_eq!(budget.take(10.0, start), Ok(5 * SECOND));
        assert_eq!(budget.take(10.0, start), Ok(10 * SECOND), "the first 10 are promised already");
        assert_eq!(budget.take(10.0, start + 20 * SECOND), Ok(Duration::ZERO));
    }

    #[test]
    fn it_never_holds_more_than_its_size() {
        let start = Instant::now();
        let mut budget = Budget::new(RATE, start);
        assert_eq!(budget.take(41.0, start + 3600 * SECOND), Ok(Duration::ZERO), "dearer than a full one");
        assert_eq!(budget.take(1.0, start + 3600 * SECOND), Ok(SECOND));
    }

    #[test]
    fn a_reply_is_believed() {
        let start = Instant::now();
        let mut budget = Budget::new(RATE, start);
        budget.correct(4.0, Rate { cap: 400.0, restore: 20.0 }, start);
        assert_eq!(budget.take(24.0, start), Ok(SECOND));
    }

    #[test]
    fn a_long_wait_is_refused_and_takes_nothing() {
        let start = Instant::now();
        let mut budget = Budget::new(RATE, start);
        budget.pause(59 * SECOND, start);
        assert_eq!(budget.take(4.0, start), Err(61 * SECOND));
        assert_eq!(budget.take(2.0, start), Ok(60 * SECOND));
    }
}
