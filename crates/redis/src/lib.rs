//! What several replicas share through Redis or Valkey.
//!
//! Nothing here is needed for a right answer: whatever is shared has something in the process that stands in for it
//! while the server is away.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod counters;
mod link;
mod positions;

pub use counters::Counters;
pub use link::{InvalidAddress, Link};
pub use positions::SharedPositions;
