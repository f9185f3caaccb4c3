//! Use cases that span several ports.

pub mod imports;
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing))]

pub mod jobs;
