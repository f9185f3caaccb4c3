//! What people of a shop write about a day: why it was as it was.

use async_trait::async_trait;
use time::{Date, OffsetDateTime};

use crate::{AccountId, NoteId, PersonId, StoreError, audit::Entry, profit::DayRange, text};

/// Characters of a note.
pub const MAX_CHARS: usize = 200;
/// Notes of a day.
pub const MOST_A_DAY: i64 = 20;

/// A note on a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub id: NoteId,
    /// Of the account's zone.
    pub day: Date,
    pub text: String,
    /// Who wrote it, by the name of that time.
    pub by: String,
    pub written_at: OffsetDateTime,
}

/// A note to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNote {
    pub day: Date,
    pub text: String,
    pub person: PersonId,
    pub by: String,
}

/// A text is no note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a note is 1 to {MAX_CHARS} characters on one line")]
pub struct InvalidNote;

/// Reads the text of a note, without the blanks around it.
///
/// # Errors
/// [`InvalidNote`]
pub fn parse(written: &str) -> Result<String, InvalidNote> {
    let written = written.trim();
    let is_note =
        !written.is_empty() && text::check(written, MAX_CHARS).is_ok() && !written.chars().any(char::is_control);
    if is_note { Ok(written.to_owned()) } else { Err(InvalidNote) }
}

/// Why a note was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("a day has {MOST_A_DAY} notes at most")]
    TooMany,
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[async_trait]
pub trait NoteStore: Send + Sync {
    /// Those of the days, by day and in the order in which they were written.
    async fn of_days(&self, account: AccountId, range: DayRange) -> Result<Vec<Note>, StoreError>;
    /// Writes a note, with an entry of the audit log.
    ///
    /// # Errors
    /// [`WriteError`]
    async fn write(
        &self,
        account: AccountId,
        note: NewNote,
        entry: Entry,
        now: OffsetDateTime,
    ) -> Result<NoteId, WriteError>;
    /// Removes a note, with an entry of the audit log that has its text, and gives its day; `None` when there is none.
    async fn remove(
        &self,
        account: AccountId,
        id: NoteId,
        entry: Entry,
        now: OffsetDateTime,
    ) -> Result<Option<Date>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_one_line_of_some_text() {
        assert_eq!(parse(" Google Ads off ").unwrap(), "Google Ads off");
        assert!(parse(&"ñ".repeat(MAX_CHARS)).is_ok());
        for wrong in ["", " ", "a\nb", "a\u{0}b", &"x".repeat(MAX_CHARS + 1)] {
            assert_eq!(parse(wrong), Err(InvalidNote), "{wrong:?}");
        }
    }
}
