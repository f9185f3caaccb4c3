//! The test databases, the command that makes a cluster for them, and what the crates depend on.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod command;
mod databases;
mod dependencies;
