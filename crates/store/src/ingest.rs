//! What comes in: records of a shop by import, events by tracking.

pub(crate) mod imports;
pub(crate) mod tracking;
mod uploads;

pub use imports::Importer;
