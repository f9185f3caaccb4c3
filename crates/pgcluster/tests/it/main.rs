//! The private cluster with real servers: its life, its deaths, and who can reach it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod deaths;
mod life;
mod other_user;
mod support;
