//! On a real server; each test has one of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod counters;
mod positions;
