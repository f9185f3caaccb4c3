//! The data keys: checking them against those that the database relies on, and sealing secrets again after they have changed.

use domain::{
    StoreError,
    data_keys::{self, DataKeyFault, DataKeyStore, KeyCheck, SealedColumn, SealedSecret, UsedKey},
    sealing::{SealError, Sealer},
};
use time::OffsetDateTime;

/// Secrets that are tried with a key that was never recorded: one that opens shows that it is the right one.
const TRIED: i64 = 100;

/// Why the configured data keys are not known to be the right ones.
#[derive(Debug, thiserror::Error)]
pub enum Unverified {
    #[error(transparent)]
    Fault(#[from] DataKeyFault),
    /// The database could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Checks the configured data keys against those that the database's secrets are sealed with, and records new ones. To be
/// done before anything is sealed; any number of processes may do it at once.
///
/// # Errors
/// [`Unverified::Fault`] when secrets would be lost or could not be opened with these keys.
pub async fn verify_keys(
    store: &dyn DataKeyStore,
    sealer: &dyn Sealer,
    configured: &[KeyCheck],
    now: OffsetDateTime,
) -> Result<(), Unverified> {
    let recorded = store.recorded().await?;
    let mut used = Vec::new();
    for id in store.used().await? {
        let is_new = configured.iter().any(|key| key.id == id)
            && !recorded.iter().any(|known| known.id == id && known.check.is_some());
        let opens = !is_new || opens_any(store, sealer, &id).await?;
        used.push(UsedKey { id, opens });
    }
    let new = data_keys::verify(configured, &recorded, &used)?;
    if !new.is_empty() {
        store.record(&new, now).await?;
        // Another process may have recorded another key under the same id at that moment: the first one stands.
        data_keys::verify(configured, &store.recorded().await?, &used)?;
    }
    Ok(())
}

async fn opens_any(store: &dyn DataKeyStore, sealer: &dyn Sealer, id: &str) -> Result<bool, StoreError> {
    let secrets = store.sealed_under(id, TRIED).await?;
    Ok(secrets.iter().any(|secret| sealer.open(secret.binding(), &secret.sealed).is_ok()))
}

/// What became of the secrets that were looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resealed {
    /// Sealed with the newest key already.
    pub current: u64,
    /// Sealed again, with the newest key.
    pub resealed: u64,
    /// Changed by another process at that moment: to be looked at again.
    pub changed: u64,
    /// What no configured key opens, with the reason.
    pub unreadable: Vec<(SealedSecret, SealError)>,
}

/// Seals every secret that is not sealed with the newest key again, `batch` of a column at a time, and tells `progress`
/// after each batch. Each secret is replaced by a statement of its own and stays readable throughout, so it may be stopped
/// anywhere, run again, and run while the service works.
///
/// # Errors
/// [`StoreError`] when the database does not answer. Secrets that cannot be opened are in the result.
pub async fn reseal(
    store: &dyn DataKeyStore,
    sealer: &dyn Sealer,
    batch: i64,
    mut progress: impl FnMut(&Resealed),
) -> Result<Resealed, StoreError> {
    let mut done = Resealed::default();
    for column in SealedColumn::ALL.iter().copied() {
        let mut after = i64::MIN;
        loop {
            let secrets = store.sealed(column, after, batch).await?;
            let Some(last) = secrets.iter().map(|secret| secret.row).max() else { break };
            for secret in secrets {
                reseal_one(store, sealer, secret, &mut done).await?;
            }
            after = last;
            progress(&done);
        }
    }
    Ok(done)
}

async fn reseal_one(
    store: &dyn DataKeyStore,
    sealer: &dyn Sealer,
    secret: SealedSecret,
    done: &mut Resealed,
) -> Result<(), StoreError> {
    if !sealer.is_outdated(&secret.sealed) {
        done.current += 1;
        return Ok(());
    }
    let binding = secret.binding();
    match sealer.open(binding, &secret.sealed).and_then(|opened| sealer.seal(binding, &opened)) {
        Ok(sealed) => match store.reseal(&secret, sealed).await? {
            true => done.resealed += 1,
            false => done.changed += 1,
        },
        Err(error) => done.unreadable.push((secret, error)),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use domain::{AccountId, data_keys::MockDataKeyStore, sealing::MockSealer};

    use super::*;

    fn secret(column: SealedColumn, row: i64, sealed: &[u8]) -> SealedSecret {
        SealedSecret { column, account: AccountId(1), row, sealed: sealed.to_vec() }
    }

    #[tokio::test]
    async fn every_batch_of_every_column_is_gone_through_and_each_secret_is_accounted_for() {
        const TOKEN: SealedColumn = SealedColumn::ShopRefreshToken;
        let mut store = MockDataKeyStore::new();
        store.expect_sealed().returning(|column, after, limit| {
            assert_eq!(limit, 2);
            Ok(match (column, after) {
                (SealedColumn::WebhookSecret, i64::MIN) => vec![secret(column, 1, b"new"), secret(column, 2, b"old")],
                (SealedColumn::WebhookSecret, 2) => vec![secret(column, 3, b"lost")],
                (SealedColumn::WebhookSecret, 3) | (TOKEN, 7) => Vec::new(),
                (TOKEN, i64::MIN) => vec![secret(column, 7, b"old")],
                (_, i64::MIN) => Vec::new(),
                other => panic!("asked for what comes after {other:?}"),
            })
        });
        store.expect_reseal().times(2).returning(|old, sealed| {
            assert_eq!((old.sealed.as_slice(), sealed.as_slice()), (b"old".as_slice(), b"new".as_slice()));
            Ok(old.row == 2)
        });
        let mut sealer = MockSealer::new();
        sealer.expect_is_outdated().returning(|sealed| sealed != b"new");
        sealer.expect_open().returning(|binding, sealed| {
            let purpose = if binding.row == 7 { "shop_refresh_token" } else { "webhook_secret" };
            assert_eq!((binding.purpose, binding.account), (purpose, AccountId(1)));
            if sealed == b"lost" { Err(SealError::UnknownKey("k0".to_owned())) } else { Ok(b"text".to_vec()) }
        });
        sealer.expect_seal().returning(|_, opened| {
            assert_eq!(opened, b"text");
            Ok(b"new".to_vec())
        });
        let mut batches = Vec::new();
        let done = reseal(&store, &sealer, 2, |so_far| batches.push(so_far.resealed)).await.unwrap();
        let lost = secret(SealedColumn::WebhookSecret, 3, b"lost");
        let unreadable = vec![(lost, SealError::UnknownKey("k0".to_owned()))];
        assert_eq!(done, Resealed { current: 1, resealed: 1, changed: 1, unreadable });
        assert_eq!(batches, [1, 1, 1]);
    }
}
