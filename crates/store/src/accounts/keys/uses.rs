//! When keys were last used: noted in memory by the requests, and written in bulk beside them.

use std::{
    collections::HashMap,
    mem,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use diesel::sql_types::{Array, Binary, Timestamptz};
use domain::{
    KeyId, StoreError,
    keys::{KeyHash, USED_EVERY},
};
use time::OffsetDateTime;

use crate::{Store, database::error::Failure};

statement!(
    Write(hashes: Vec<Vec<u8>> => Array<Binary>, ats: Vec<OffsetDateTime> => Array<Timestamptz>) -> () = "
    UPDATE api_keys SET last_used_at = used.at
    FROM unnest($1, $2) AS used (hash, at)
    WHERE api_keys.hash = used.hash AND (api_keys.last_used_at IS NULL OR api_keys.last_used_at < used.at)"
);

/// A key that was found.
pub struct Known {
    pub id: KeyId,
    /// When a use of it was last noted, Unix seconds.
    noted: AtomicI64,
}

impl Known {
    pub const fn new(id: KeyId) -> Self {
        Self { id, noted: AtomicI64::new(i64::MIN) }
    }

    /// Whether a use is to be noted: of those that come at once, the first.
    pub fn is_due(&self, at: OffsetDateTime) -> bool {
        let (noted, now) = (self.noted.load(Ordering::Relaxed), at.unix_timestamp());
        now.saturating_sub(noted) >= USED_EVERY.whole_seconds()
            && self.noted.compare_exchange(noted, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// Uses that are not written yet: one of each key, so that there are never more than keys.
#[derive(Default)]
pub struct Uses(Mutex<HashMap<KeyHash, OffsetDateTime>>);

impl Uses {
    pub fn note(&self, hash: KeyHash, at: OffsetDateTime) {
        self.lock().insert(hash, at);
    }

    pub async fn write(&self, store: &Store) -> Result<(), StoreError> {
        let noted = mem::take(&mut *self.lock());
        if noted.is_empty() {
            return Ok(());
        }
        let (hashes, ats) = noted.iter().map(|(hash, at)| (hash.0.to_vec(), *at)).unzip();
        let write = Write { hashes, ats };
        // Not imported: its methods would hide those of the atomic.
        let execute = <Write as crate::database::query::RunQueryDsl>::execute;
        let written = store.run::<_, Failure>(async |connection| Ok(execute(write.clone(), connection).await?)).await;
        if written.is_err() {
            let mut waiting = self.lock();
            for (hash, at) in noted {
                waiting.entry(hash).or_insert(at);
            }
        }
        Ok(written.map(|_| ())?)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<KeyHash, OffsetDateTime>> {
        // No code that may panic runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use time::{Duration, macros::datetime};

    use super::*;

    #[test]
    fn a_use_is_noted_once_in_five_minutes() {
        let (known, start) = (Known::new(KeyId(1)), datetime!(2026-05-01 0:00 UTC));
        let due = [0, 1, 299, 300, 301, 900].map(|seconds| known.is_due(start + Duration::seconds(seconds)));
        assert_eq!(due, [true, false, false, true, false, true]);
    }
}
