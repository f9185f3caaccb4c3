//! Stand-ins for other people's systems, for tests and development.

pub mod gateway;
pub mod llm;
