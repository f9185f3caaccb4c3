//! What the HTTP faces of the service share. It knows no endpoint and no form of an answer.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod access;
pub mod client;
pub mod compression;
pub mod csv;
pub mod detached;
mod meter;
pub mod panics;
pub mod random;
pub mod request_id;
pub mod server;
mod unread;
