//! A pool of connections, and a queue of events, for each HTTP thread.
//!
//! A connection is driven by the thread that opened it. With one pool for all, most requests would wait for another
//! thread to wake up, twice; with a pool of its own a thread does everything itself.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use api::{Parts, State};
use app::{ai::InsightTextGenerator, deliveries::Ports};
use store::{GroupCommit, KeyCache, Store};

/// The stores and queues that the threads take in turn.
#[derive(Clone)]
pub struct Workers {
    stores: Vec<Arc<Store>>,
    next: Arc<AtomicUsize>,
    keys: KeyCache,
    events: GroupCommit,
    /// The queues of the threads.
    queues: Arc<Mutex<Vec<GroupCommit>>>,
}

impl Workers {
    /// `stores` are at least one; several threads share one where there are fewer.
    pub fn new(stores: Vec<Arc<Store>>, keys: KeyCache, events: GroupCommit) -> Self {
        Self { stores, next: Arc::default(), keys, events, queues: Arc::default() }
    }

    /// Sets the next thread up and gives what it works with: keys, requests and events go through its own pool. To be called
    /// on that thread.
    pub fn state_of_next(&self, state: State) -> State {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(store) = self.stores.get(turn % self.stores.len().max(1)) else { return state };
        let events = self.events.with_own_queue((**store).clone());
        self.queues().push(events.clone());
        on_thread(state, store, self.keys.with_store((**store).clone()), events)
    }

    /// Waits until all events that were taken in are written.
    pub async fn drain(&self) {
        let queues = self.queues().clone();
        for events in queues {
            events.drain().await;
        }
    }

    fn queues(&self) -> MutexGuard<'_, Vec<GroupCommit>> {
        // No code that may panic runs under the lock.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Every port of the database on the connections of the thread, but those of payments, which have their own.
fn on_thread(state: State, store: &Arc<Store>, keys: KeyCache, events: GroupCommit) -> State {
    let State {
        status,
        prices,
        payment_service,
        deliveries,
        text_generator,
        geolocator,
        sealer,
        limiter,
        clock,
        settings,
        ..
    } = state;
    let Ports { queue: _, sender, sealer: of_deliveries, clock: clock_of_deliveries, jitter } = deliveries;
    let InsightTextGenerator { runs: _, model, price } = text_generator;
    let parts = Parts {
        keys: Arc::new(keys),
        status,
        prices,
        payment_service,
        deliveries: Ports { queue: store.clone(), sender, sealer: of_deliveries, clock: clock_of_deliveries, jitter },
        text_generator: InsightTextGenerator { runs: store.clone(), model, price },
        events: Arc::new(events),
        geolocator,
        sealer,
        limiter,
        clock,
        settings,
    };
    State::of(store, parts)
}
