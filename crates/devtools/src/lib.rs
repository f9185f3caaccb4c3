//! Fakes of external systems, for tests and development.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod ads;
pub mod gateway;
pub mod shops;

mod command;
mod llm;

pub use command::{DevCommand, Settings, run};
