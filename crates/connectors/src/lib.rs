//! Clients of other systems and readers of their files.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod ads;
pub mod geo;
mod graph;
pub mod llm;
pub mod payments;
pub mod shops;
pub mod social;
