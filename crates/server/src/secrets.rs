//! The keys that seal secrets at rest.

use std::{
    fs::OpenOptions,
    io::{ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use anyhow::Context;
use delivery::seal::KeyRing;
use secrecy::ExposeSecret;

use crate::config::Config;

/// Name of the file in the data folder.
const FILE: &str = "data_keys";

/// The configured keys, or those of the data folder, where the first are made for an embedded database.
pub fn key_ring(config: &Config, make: bool) -> anyhow::Result<KeyRing> {
    if let Some(keys) = &config.data_keys {
        return KeyRing::parse(keys.expose_secret()).context("data_keys");
    }
    let file = config.data_dir.join(FILE);
    if make {
        make_file(&file)?;
    }
    let text = std::fs::read_to_string(&file).with_context(|| {
        format!("DATA_KEYS is not set and {} cannot be read: set it to id:base64 of 32 random bytes", file.display())
    })?;
    KeyRing::parse(text.trim()).with_context(|| file.display().to_string())
}

/// Makes the file when there is none, readable by its owner alone.
fn make_file(file: &Path) -> anyhow::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
        Ok(mut new) => {
            let entry = KeyRing::generate_entry("local-1")?;
            writeln!(new, "{entry}").with_context(|| file.display().to_string())
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error).with_context(|| file.display().to_string()),
    }
}
