//! Back-ups: one file with the database, its keys, and a list of what there is (docs/adr/0011-backup.md).

pub mod archive;
mod dump;
mod manifest;

pub use dump::{dump, restore};
pub use manifest::{FORMAT, KeyNote, Manifest};

/// The parts of the file. The manifest is the first.
pub const MANIFEST: &str = "manifest.json";
/// The keys of the data folder, as they are written there.
pub const DATA_KEYS: &str = "data_keys";
/// The output of `pg_dump --format=custom`.
pub const DATABASE: &str = "database.dump";
