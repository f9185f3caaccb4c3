//! Clients of other systems and readers of their files.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod geo;
pub mod llm;
pub mod payments;
pub mod shops;
pub mod social;
