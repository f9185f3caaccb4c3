//! Payment gateways.

mod rebill;
mod wire;

pub use rebill::{Rebill, RebillConfig, SIGNATURE_HEADER, sign};
