//! The sender against receivers on loopback that behave as badly as receivers do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod addresses;
mod answers;
mod connections;
mod receiver;
