//! The keys that seal secrets at rest: where they come from, and whether they are the database's.

use std::{path::Path, time::Duration};

use anyhow::Context;
use app::secrets::{Unverified, verify_keys};
use delivery::seal::KeyRing;
use domain::data_keys::DataKeyFault;
use secrecy::ExposeSecret;
use store::Store;
use time::OffsetDateTime;

use crate::{commands::Misconfigured, config::Config, database::Database, files, random};

/// Name of the file in the data folder.
pub const FILE: &str = "data_keys";

/// Pause after a failed query of the database.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// The configured keys, or those of the data folder. Where there are none, `make` makes one there: for an embedded
/// database only, since its files and the key belong together.
///
/// # Errors
/// [`Misconfigured`] when there are none or they are not valid.
pub fn key_ring(config: &Config, make: bool) -> anyhow::Result<KeyRing> {
    if let Some(keys) = &config.data_keys {
        return KeyRing::parse(keys.expose_secret())
            .map_err(|error| Misconfigured(format!("data_keys: {error}")).into());
    }
    let file = config.data_dir.join(FILE);
    match read(&file)? {
        Some(text) => {
            KeyRing::parse(&text).map_err(|error| Misconfigured(format!("{}: {error}", file.display())).into())
        }
        None if make => {
            let entry = new_entry()?;
            files::write_private(&file, &format!("{entry}\n"))?;
            Ok(KeyRing::parse(&entry)?)
        }
        None => Err(Misconfigured(format!(
            "BAS_DATA_KEYS is not set, and there are no keys in {}. They seal the signing secrets of webhooks. Make one, keep \
             it where your other secrets are, and give it to every process:\n  export BAS_DATA_KEYS=\"$(api secrets new-key)\"",
            file.display()
        ))
        .into()),
    }
}

/// The keys of the data folder as they are written there. None when there is no such file, or nothing in it: a loss of
/// power may have left that of an earlier version.
pub fn read(file: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| file.display().to_string()),
    }
}

/// A key with an id of its own, as `BAS_DATA_KEYS` takes it. No two keys ever go by the same id, wherever they were made.
pub fn new_entry() -> anyhow::Result<String> {
    let id = hex::encode(random::bytes().take(6).collect::<Vec<_>>());
    Ok(KeyRing::generate_entry(&format!("key-{id}"))?)
}

/// Checks the keys against those that the database relies on.
///
/// # Errors
/// [`Misconfigured`] with what to do, when they are others; other errors when the database could not be asked.
pub async fn verify(store: &Store, keys: &KeyRing) -> anyhow::Result<()> {
    verify_keys(store, keys, &keys.checks(), OffsetDateTime::now_utc()).await.map_err(|error| match error {
        Unverified::Fault(fault) => explained(&fault).into(),
        Unverified::Store(error) => error.into(),
    })
}

/// The same for processes that start though the database is away or not up to date: asks again and again until it is known
/// that the keys are the right ones, then never ends.
///
/// # Errors
/// [`Misconfigured`] when they are not.
pub async fn insist(database: &Database, keys: &KeyRing) -> anyhow::Result<std::convert::Infallible> {
    loop {
        tokio::time::sleep(ASK_AGAIN).await;
        match verify_once(database, keys).await {
            Ok(()) => std::future::pending().await,
            Err(error) if error.is::<Misconfigured>() => return Err(error),
            Err(_) => {}
        }
    }
}

/// [`verify`] through a connection of its own, once it is known that both ways lead to the same database.
pub async fn verify_once(database: &Database, keys: &KeyRing) -> anyhow::Result<()> {
    database.verify_direct().await?;
    let store = Store::connect(&database.connect, database.pool(1))?;
    let verified = verify(&store, keys).await;
    store.close();
    verified
}

/// The error, and its remedy.
pub fn explained(fault: &DataKeyFault) -> Misconfigured {
    let advice = match fault {
        DataKeyFault::Changed(_) => {
            "put the key that was used before back into BAS_DATA_KEYS or the data folder; a new key needs an id of its own"
                .to_owned()
        }
        DataKeyFault::Missing(id) => format!(
            "add it to BAS_DATA_KEYS; when it is lost for good, `api secrets forget {id}` says which webhooks need a new secret"
        ),
        DataKeyFault::Unfit(id) => format!(
            "put the right key into BAS_DATA_KEYS or the data folder; when it is lost for good, make one with another id, \
             and `api secrets forget {id}` says which webhooks need a new secret"
        ),
    };
    Misconfigured(format!("{fault}: {advice} (docs/operations.md, \"Rotating the data keys\")"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn config(folder: &Path) -> Config {
        let mut config = crate::config::undisturbed();
        config.data_dir = folder.join("data");
        config.data_keys = None;
        config
    }

    #[test]
    fn a_key_is_made_once_durably_and_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let config = config(folder.path());
        assert!(key_ring(&config, false).unwrap_err().to_string().contains("api secrets new-key"));
        let made = key_ring(&config, true).unwrap();
        assert_eq!(key_ring(&config, true).unwrap().checks(), made.checks());
        assert_eq!(key_ring(&config, false).unwrap().checks(), made.checks());
        let mode = std::fs::metadata(config.data_dir.join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(&config.data_dir).unwrap().count(), 1);
    }

    #[test]
    fn two_folders_never_give_the_same_id() {
        let [one, other] = [(), ()].map(|()| tempfile::tempdir().unwrap());
        let id = |folder: &Path| key_ring(&config(folder), true).unwrap().newest_id().to_owned();
        assert_ne!(id(one.path()), id(other.path()));
    }

    /// A start that was cut off at any line leaves nothing, a part of the file under another name, or the whole of it.
    /// An earlier version left an empty one.
    #[test]
    fn what_a_start_that_was_cut_off_leaves_is_made_good() {
        for (name, text) in [("data_keys.new", ""), ("data_keys.new", "key-0123456789ab:AAAA"), ("data_keys", "")] {
            let folder = tempfile::tempdir().unwrap();
            let config = config(folder.path());
            std::fs::create_dir(&config.data_dir).unwrap();
            std::fs::write(config.data_dir.join(name), text).unwrap();
            let made = key_ring(&config, true).unwrap();
            assert_eq!(key_ring(&config, false).unwrap().checks(), made.checks(), "{name} {text}");
            let mode = std::fs::metadata(config.data_dir.join(FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
