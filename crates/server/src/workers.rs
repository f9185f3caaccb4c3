//! A pool of connections for each HTTP thread, and a queue of events for all.
//!
//! A connection is driven by the thread that opened it. With one pool for all, most requests would wait for another
//! thread to wake up, twice; with a pool of its own a thread does everything itself.

use std::{
    any::Any,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use api::{Parts, State};
use app::{ai::InsightTextGenerator, deliveries::Ports};
use store::{GroupCommit, KeyCache, Store};

use crate::supervisor::{self, Failures};

/// The stores that the threads take in turn, and what they share.
#[derive(Clone)]
pub struct Workers {
    stores: Vec<Arc<Store>>,
    next: Arc<AtomicUsize>,
    keys: KeyCache,
    events: GroupCommit,
}

impl Workers {
    /// `stores` are at least one; several threads share one where there are fewer. Events are written through `events`, on
    /// the runtime that this is called on: on an HTTP thread, the writer would hold up half of the requests.
    pub fn new(stores: Vec<Arc<Store>>, events: &Store, keys: KeyCache, failures: Failures) -> Self {
        let on_panic = move |panic: &(dyn Any + Send)| failures.record("batch_writer", supervisor::message(panic));
        Self { stores, next: Arc::default(), keys, events: GroupCommit::new(events.clone(), on_panic) }
    }

    /// Sets the next thread up and gives what it works with: keys and requests go through its own pool. To be called on
    /// that thread.
    pub fn state_of_next(&self, state: State) -> State {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(store) = self.stores.get(turn % self.stores.len().max(1)) else { return state };
        let of_thread = || (**store).clone();
        on_thread(state, store, self.keys.with_store(of_thread()), self.events.with_store(of_thread()))
    }

    /// Waits until all events that were taken in are written.
    pub async fn drain(&self) {
        self.events.drain().await;
    }
}

/// Every port of the database on the connections of the thread, but those of payments, which have their own.
fn on_thread(state: State, store: &Arc<Store>, keys: KeyCache, events: GroupCommit) -> State {
    // Taken apart, so that a port of the database that is added to them is not left on the connections of another thread.
    let Ports { queue: _, sender, sealer: delivery_sealer, clock: delivery_clock, jitter, trials } = state.deliveries;
    let InsightTextGenerator { runs: _, model, price } = state.text_generator;
    let parts = Parts {
        keys: Arc::new(keys),
        status: state.status,
        prices: state.prices,
        payment_service: state.payment_service,
        connectors: state.shops.ports.connectors,
        redirect_uri: state.shops.redirect_uri,
        deliveries: Ports {
            queue: store.clone(),
            sender,
            sealer: delivery_sealer,
            clock: delivery_clock,
            jitter,
            trials,
        },
        text_generator: InsightTextGenerator { runs: store.clone(), model, price },
        vote_price: state.vote_price,
        events: Arc::new(events),
        social_app: state.social_app,
        social_networks: state.profiles.networks,
        geolocator: state.geolocator,
        sealer: state.sealer,
        limiter: state.limiter,
        clock: state.clock,
        settings: state.settings,
    };
    State::of(store, parts)
}
