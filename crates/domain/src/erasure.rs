//! The end of a user: both accounts with everything in them, and the people who belong to nobody else.
//!
//! Keys, sessions and automatic top-ups end at once. The rest goes after [`UNDO_FOR`], until when an owner can undo it; of
//! the ledger the amounts stay, without anything that says whose they were.

use async_trait::async_trait;
use time::{Duration, OffsetDateTime};

use crate::{StoreError, UserId, audit::Entry};

/// How long the end can be undone.
pub const UNDO_FOR: Duration = Duration::days(14);

/// An end that is coming.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Erasure {
    pub requested_at: OffsetDateTime,
    /// From when on it is done.
    pub due_at: OffsetDateTime,
}

impl Erasure {
    /// What somebody asks for at `now`.
    pub fn asked(now: OffsetDateTime) -> Self {
        Self { requested_at: now, due_at: now + UNDO_FOR }
    }
}

/// Whether `written` is the name of what is to be erased, which is asked for so that nobody does it unawares.
pub fn is_meant(name: &str, written: &str) -> bool {
    name.trim() == written.trim()
}

#[async_trait]
pub trait ErasureStore: Send + Sync {
    /// Has the user erased, revokes the keys of both accounts, switches their automatic top-ups off and ends the sessions of
    /// all members, their present one included. One that is coming stays as it is.
    async fn request(&self, user: &UserId, erasure: Erasure, note: Entry) -> Result<(), StoreError>;
    /// The one that is coming.
    async fn standing(&self, user: &UserId) -> Result<Option<Erasure>, StoreError>;
    /// Takes it back. What has ended stays so. False when there is none.
    async fn undo(&self, user: &UserId, note: Entry, now: OffsetDateTime) -> Result<bool, StoreError>;
    /// Users that are to be erased by `now`, at most `limit`; none whose automatic charge was sent and is not answered.
    async fn due(&self, now: OffsetDateTime, limit: i64) -> Result<Vec<UserId>, StoreError>;
}

/// Removes what is due, table by table: killed anywhere, it goes on where it was.
#[async_trait]
pub trait Eraser: Send + Sync {
    /// Removes everything of the user. Returns how many rows there were.
    async fn erase(&self, user: &UserId, now: OffsetDateTime) -> Result<u64, StoreError>;
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn it_can_be_undone_for_a_fortnight() {
        let asked = Erasure::asked(datetime!(2026-11-24 12:00 UTC));
        assert_eq!(asked.due_at, datetime!(2026-12-08 12:00 UTC));
    }

    #[test]
    fn the_name_has_to_be_written_as_it_is() {
        assert!(is_meant("Casa & Té", " Casa & Té "));
        assert!(!is_meant("Casa & Té", "casa & té"));
        assert!(!is_meant("Casa", ""));
    }
}
