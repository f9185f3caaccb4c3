//! The requests that came, without their secrets: no query string, no header, no body.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// Older ones are forgotten.
const KEPT: usize = 20_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// By the platform's clock.
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    pub method: String,
    pub path: String,
    /// What was asked for where the path does not say it: the name of a query.
    pub what: Option<String>,
    pub status: u16,
}

#[derive(Default)]
pub struct Log(Mutex<VecDeque<Entry>>);

impl Log {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write(&self, entry: Entry) {
        let mut entries = self.lock();
        if entries.len() == KEPT {
            entries.pop_front();
        }
        entries.push_back(entry);
    }

    pub fn entries(&self) -> Vec<Entry> {
        self.lock().iter().cloned().collect()
    }

    pub fn clear(&self) {
        self.lock().clear();
    }
}
