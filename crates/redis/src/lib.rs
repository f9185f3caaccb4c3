//! What several replicas share through Redis or Valkey.
//!
//! No answer depends on it: while the server is away, each process falls back to state of its own.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod counters;
mod link;
mod positions;

pub use counters::Counters;
pub use link::{InvalidAddress, Link};
pub use positions::SharedPositions;
