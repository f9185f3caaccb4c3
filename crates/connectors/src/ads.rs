//! Advertising networks: one folder each.

pub mod meta;
