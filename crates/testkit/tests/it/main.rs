//! The private cluster, with real servers, and the test databases made in one; what the crates depend on.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod cluster;
mod databases;
mod dependencies;
