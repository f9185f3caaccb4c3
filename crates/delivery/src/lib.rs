//! Sealing of secrets and the SSRF-safe HTTP client that sends deliveries.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod connection;
mod pool;
mod record;
pub mod resolver;
pub mod seal;
pub mod sender;
