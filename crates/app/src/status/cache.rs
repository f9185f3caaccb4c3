//! A cache of what many ask for: a stale value is served while a new one is read (stale-while-revalidate) and while reading
//! fails (stale-if-error; RFC 5861).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::StoreError;
use time::{Duration, OffsetDateTime};
use tokio::time::timeout;

use crate::outage;

/// How long what was read is told without reading again.
const FRESH: Duration = Duration::MINUTE;
/// How long after a failure nothing is read.
const PAUSE: Duration = Duration::seconds(5);
/// How long reading may take. Those who ask meanwhile get what was read before, or wait for it if there is nothing yet.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(2);

/// The last of what was read; it outlives the database.
pub struct Cache<T> {
    last: Mutex<Last<T>>,
    reading: tokio::sync::Mutex<()>,
}

struct Last<T> {
    good: Option<(Arc<T>, OffsetDateTime)>,
    failed_at: Option<OffsetDateTime>,
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self { last: Mutex::new(Last { good: None, failed_at: None }), reading: tokio::sync::Mutex::default() }
    }
}

/// Something, and for how long it has been known.
#[derive(Debug, Clone)]
pub struct Aged<T> {
    pub value: Arc<T>,
    pub age: Duration,
}

impl<T> Cache<T> {
    /// What `read` gives, at most a minute old while it succeeds, else the last that it gave.
    ///
    /// # Errors
    /// [`StoreError`] when nothing was ever read.
    pub async fn get(
        &self,
        now: OffsetDateTime,
        read: impl AsyncFnOnce() -> Result<T, StoreError>,
    ) -> Result<Aged<T>, StoreError> {
        if let Some(known) = self.known(now) {
            return known;
        }
        let _reading = match (self.reading.try_lock(), self.good(now)) {
            (Ok(reading), _) => reading,
            (Err(_), Some(good)) => return Ok(good),
            (Err(_), None) => self.reading.lock().await,
        };
        // Somebody else may have read while this one waited.
        if let Some(known) = self.known(now) {
            return known;
        }
        let found = timeout(TIMEOUT, read()).await;
        match found.unwrap_or_else(|_| Err(StoreError::Unavailable("no answer in time".into()))) {
            Ok(value) => {
                let value = Arc::new(value);
                *self.last() = Last { good: Some((value.clone(), now)), failed_at: None };
                Ok(Aged { value, age: Duration::ZERO })
            }
            Err(error) => {
                outage::warn(&error, "a public page cannot be read again");
                self.last().failed_at = Some(now);
                self.good(now).ok_or(error)
            }
        }
    }

    /// What is told without reading.
    fn known(&self, now: OffsetDateTime) -> Option<Result<Aged<T>, StoreError>> {
        let good = self.good(now);
        if good.as_ref().is_some_and(|good| good.age < FRESH) {
            return good.map(Ok);
        }
        let failed = self.last().failed_at.is_some_and(|at| (now - at).abs() < PAUSE);
        failed.then(|| good.ok_or_else(|| StoreError::Unavailable("it did not answer a moment ago".into())))
    }

    fn good(&self, now: OffsetDateTime) -> Option<Aged<T>> {
        // A clock that was set back makes nothing younger.
        self.last().good.as_ref().map(|(value, at)| Aged { value: value.clone(), age: (now - *at).abs() })
    }

    fn last(&self) -> MutexGuard<'_, Last<T>> {
        // No code that may panic runs under the lock.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 11:00 UTC);

    fn at(seconds: i64) -> OffsetDateTime {
        NOW + Duration::seconds(seconds)
    }

    async fn down() -> Result<u32, StoreError> {
        Err(StoreError::Unavailable("gone".into()))
    }

    async fn never() -> Result<u32, StoreError> {
        panic!("nothing was to be read")
    }

    fn told(answer: Result<Aged<u32>, StoreError>) -> Option<(u32, i64)> {
        answer.ok().map(|Aged { value, age }| (*value, age.whole_seconds()))
    }

    #[tokio::test]
    async fn it_is_read_once_a_minute_and_told_while_reading_fails() {
        let cache = Cache::default();
        assert_eq!(told(cache.get(at(0), async || Ok(1)).await), Some((1, 0)));
        assert_eq!(told(cache.get(at(59), never).await), Some((1, 59)));
        assert_eq!(told(cache.get(at(60), down).await), Some((1, 60)));
        assert_eq!(told(cache.get(at(64), never).await), Some((1, 64)));
        assert_eq!(told(cache.get(at(3_600), down).await), Some((1, 3_600)));
        assert_eq!(told(cache.get(at(3_605), async || Ok(2)).await), Some((2, 0)));
        assert_eq!(told(cache.get(at(3_545), async || Ok(3)).await), Some((3, 0)), "the clock was set back");
    }

    #[tokio::test]
    async fn without_anything_to_tell_the_failure_is_told_and_not_sought_again_at_once() {
        let cache = Cache::default();
        assert_eq!(told(cache.get(at(0), down).await), None);
        assert_eq!(told(cache.get(at(4), never).await), None);
        assert_eq!(told(cache.get(at(5), async || Ok(1)).await), Some((1, 0)));
    }

    #[tokio::test]
    async fn those_who_ask_while_it_is_read_get_what_was_read_before() {
        let cache = Cache::default();
        cache.get(at(0), async || Ok(1)).await.unwrap();
        let slow = cache.get(at(60), async || {
            assert_eq!(told(cache.get(at(60), never).await), Some((1, 60)));
            Ok(2)
        });
        assert_eq!(told(slow.await), Some((2, 0)));
    }

    #[tokio::test(start_paused = true)]
    async fn reading_that_takes_too_long_has_failed() {
        let cache = Cache::default();
        cache.get(at(0), async || Ok(1)).await.unwrap();
        assert_eq!(told(cache.get(at(60), std::future::pending).await), Some((1, 60)));
    }
}
