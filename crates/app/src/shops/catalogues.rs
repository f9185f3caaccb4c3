//! How passes over catalogues leave room for others: that of a large shop takes an hour.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::IntegrationId;
use time::{Duration, OffsetDateTime};
use tokio::sync::{Semaphore, SemaphorePermit};

/// The catalogue is not read more often than this, however many hooks say that it changed.
const PAUSE: Duration = Duration::minutes(5);
/// How many times as long as it took its reading rests, in this process: each sale tells of a stock, and that of a large catalogue
/// would keep its connection, and a place for others' hooks, for ever.
const REST: i32 = 4;

/// Passes of this process.
pub struct Catalogues {
    /// Places in which connections have their nightly pass.
    places: Semaphore,
    /// Until when no hook has a connection's catalogue read.
    rests: Mutex<HashMap<IntegrationId, OffsetDateTime>>,
}

impl Catalogues {
    /// Where `at_once` connections are read at a time: half of them at night have their pass, so that places are left for orders.
    pub fn new(at_once: usize) -> Arc<Self> {
        Arc::new(Self { places: Semaphore::new((at_once / 2).max(1)), rests: Mutex::default() })
    }

    /// A place for a nightly pass; `None`: all are taken.
    pub fn place(&self) -> Option<SemaphorePermit<'_>> {
        self.places.try_acquire().ok()
    }

    fn rests(&self) -> MutexGuard<'_, HashMap<IntegrationId, OffsetDateTime>> {
        self.rests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A pass over a connection's catalogue ended, in whatever way.
    pub(super) fn was_read(&self, connection: IntegrationId, began: OffsetDateTime, ended: OffsetDateTime) {
        self.rests().insert(connection, ended + (ended - began) * REST);
    }

    /// Until when hooks wait for the next pass over a catalogue, if that is not over at `now`. `read_at`: when the last one that
    /// came to its end began.
    pub(super) fn rests_until(
        &self,
        connection: IntegrationId,
        read_at: Option<OffsetDateTime>,
        now: OffsetDateTime,
    ) -> Option<OffsetDateTime> {
        let rest = self.rests().get(&connection).copied();
        read_at.map(|at| at + PAUSE).max(rest).filter(|until| now < *until)
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_pass_rests_four_times_as_long_as_it_took() {
        let (catalogues, began) = (Catalogues::new(4), datetime!(2026-05-20 12:00 UTC));
        let [shop, other] = [1, 2].map(IntegrationId);
        let after = |minutes| began + Duration::minutes(minutes);
        catalogues.was_read(shop, began, after(9));
        assert_eq!(catalogues.rests_until(shop, Some(began), after(44)), Some(after(45)));
        assert_eq!(catalogues.rests_until(shop, Some(began), after(45)), None);
        assert_eq!(catalogues.rests_until(other, Some(began), after(4)), Some(after(5)), "as for every catalogue");
        assert_eq!(catalogues.rests_until(other, None, began), None);
    }
}
