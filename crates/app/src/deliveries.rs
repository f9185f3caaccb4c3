//! Delivering what is due: leases deliveries, has them sent, and writes back what became of them.
//!
//! One task holds all the state. It takes leases, starts attempts and records results, each of the two database calls
//! one at a time, so that what accumulates during one call goes along in the next. It never reads more than there are
//! free places for, whatever waits in the queue.

mod attempt;
mod engine;
mod queues;
mod trial;

use std::{sync::Arc, time::Duration};

use domain::{
    sealing::Sealer,
    webhooks::{attempt::Sender, delivery::DeliveryQueue},
};
use time::OffsetDateTime;

pub use attempt::{Unsent, attempt};
pub use engine::run;
pub use trial::{Trial, TrialError, Trials, try_out};

/// Tells the time, in UTC.
pub type Clock = Arc<dyn Fn() -> OffsetDateTime + Send + Sync>;
/// Gives random numbers in `[0, 1)`.
pub type Jitter = Arc<dyn Fn() -> f64 + Send + Sync>;

/// What deliveries are made with.
#[derive(Clone)]
pub struct Ports {
    pub queue: Arc<dyn DeliveryQueue>,
    pub sender: Arc<dyn Sender>,
    pub sealer: Arc<dyn Sealer>,
    pub clock: Clock,
    pub jitter: Jitter,
    /// Tests that are under way.
    pub trials: Arc<Trials>,
}

/// How deliveries are made.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Deliveries under way at once, to all receivers.
    pub in_flight: usize,
    /// Deliveries under way at once to all receivers of one account, so that none can hold all the places by receivers that
    /// hang.
    pub per_account: usize,
    /// Deliveries under way at once to one receiver that is quick.
    pub per_receiver: usize,
    /// How long a worker keeps a delivery to itself; longer than an attempt can take.
    pub lease: Duration,
    /// How often to look for what has become due without being announced.
    pub poll: Duration,
    /// The same for some seconds after anything was announced or found due: announcements are few while there is much
    /// to do.
    pub quick_poll: Duration,
    /// The longest pause after a database that failed.
    pub longest_pause: Duration,
    /// How long a stop waits for attempts under way.
    pub grace: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            in_flight: 512,
            per_account: 64,
            per_receiver: 32,
            lease: Duration::from_secs(15),
            poll: Duration::from_secs(1),
            quick_poll: Duration::from_millis(10),
            longest_pause: Duration::from_secs(1),
            grace: Duration::from_secs(12),
        }
    }
}

#[cfg(test)]
mod tests;
