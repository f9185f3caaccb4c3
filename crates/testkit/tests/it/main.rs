//! The test databases, the command that makes a cluster for them, what the crates depend on, their lints, and the
//! migrations.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod command;
mod databases;
mod dependencies;
mod lints;
mod migrations;
