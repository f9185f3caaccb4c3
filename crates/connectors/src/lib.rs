//! Clients of other systems and readers of their files.

pub mod geo;
pub mod llm;
pub mod payments;
