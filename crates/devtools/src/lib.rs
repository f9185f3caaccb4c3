//! Fakes of external systems, for tests and development.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod ads;
pub mod gateway;
pub mod shops;
pub mod social;

mod command;
mod graph;
mod llm;

pub use command::{DevCommand, Settings, run};
