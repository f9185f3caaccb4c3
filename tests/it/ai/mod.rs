//! AI features from outside: the real binary and a provider with faults.

mod admin;
mod nightly;
mod on_demand;
pub mod provider;
