//! Signing, the SSRF-safe HTTP client, sending.
