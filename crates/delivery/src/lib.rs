//! Signing, the SSRF-safe HTTP client, sending.

mod connection;
mod pool;
pub mod resolver;
pub mod seal;
pub mod sender;
