//! What comes in: records of a shop by import, events by tracking.

mod imports;
pub(crate) mod tracking;

pub use imports::Importer;
