//! How often hooks may lead to orders that are not there. Mercado Libre's hooks are not signed: anybody who knows the number of a
//! seller can name any order, each costs calls that are answered with 404, and an app with many of these is blocked.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use domain::IntegrationId;
use time::{Duration, OffsetDateTime};

/// Orders that were named and were not there, of a connection within [`WINDOW`].
const MOST: usize = 20;
const WINDOW: Duration = Duration::HOUR;

/// What of that was used, by this process.
#[derive(Debug, Default)]
pub struct UnknownOrders(Mutex<HashMap<IntegrationId, Used>>);

#[derive(Debug)]
struct Used {
    since: OffsetDateTime,
    absent: usize,
}

impl UnknownOrders {
    fn lock(&self) -> MutexGuard<'_, HashMap<IntegrationId, Used>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many orders that nobody here knows may be asked for at `now`. None: what there is to them, polling finds.
    pub fn left(&self, connection: IntegrationId, now: OffsetDateTime) -> usize {
        let used = self.lock().get(&connection).filter(|used| now < used.since + WINDOW).map_or(0, |used| used.absent);
        MOST.saturating_sub(used)
    }

    /// Counts orders that were not there.
    pub fn were_absent(&self, connection: IntegrationId, absent: usize, now: OffsetDateTime) {
        if absent == 0 {
            return;
        }
        let mut all = self.lock();
        all.retain(|_, used| now < used.since + WINDOW);
        all.entry(connection).or_insert(Used { since: now, absent: 0 }).absent += absent;
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn an_hour_later_there_is_room_again() {
        let (unknown_orders, now) = (UnknownOrders::default(), datetime!(2026-05-20 12:00 UTC));
        let left =
            |connection, minutes| unknown_orders.left(IntegrationId(connection), now + Duration::minutes(minutes));
        unknown_orders.were_absent(IntegrationId(1), 15, now);
        unknown_orders.were_absent(IntegrationId(1), 15, now + Duration::minutes(59));
        assert_eq!((left(1, 59), left(2, 59), left(1, 60)), (0, MOST, MOST));
        unknown_orders.were_absent(IntegrationId(1), 3, now + Duration::minutes(61));
        assert_eq!(left(1, 62), MOST - 3);
    }
}
