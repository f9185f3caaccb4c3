//! Signing, the SSRF-safe HTTP client, sending.

pub mod seal;
