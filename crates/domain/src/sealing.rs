//! Secrets at rest: the port that seals and opens them.

use std::fmt;

use crate::AccountId;

/// The one row that a sealed value belongs to. A value copied to another row, account or column does not open there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// What is sealed, as a constant of the program: `webhook_secret`, say.
    pub purpose: &'static str,
    pub account: AccountId,
    /// The id of the row within its table.
    pub row: i64,
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of row {} of account {}", self.purpose, self.row, self.account)
    }
}

/// Why a value could not be sealed or opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// Too short, or in a format that this version does not know.
    #[error("the sealed value is damaged or of an unknown version")]
    Format,
    /// Sealed with a key that is not configured (any more).
    #[error("the data key `{0}` is not configured")]
    UnknownKey(String),
    /// Changed since it was sealed, sealed for another row, or another key goes by the same id.
    #[error("the sealed value does not belong here or has been changed")]
    Forged,
    /// The system's random generator failed.
    #[error("no random numbers from the system")]
    Random,
}

/// Seals short secrets so that the database alone does not reveal them.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait Sealer: Send + Sync {
    /// Seals with the newest key.
    ///
    /// # Errors
    /// [`SealError::Random`].
    fn seal(&self, binding: Binding, secret: &[u8]) -> Result<Vec<u8>, SealError>;

    /// Opens what was sealed for the same binding with any configured key.
    ///
    /// # Errors
    /// All of [`SealError`] but `Random`.
    fn open(&self, binding: Binding, sealed: &[u8]) -> Result<Vec<u8>, SealError>;

    /// Whether a value is sealed with another key than the newest, or in an older format, and should be sealed again.
    fn is_outdated(&self, sealed: &[u8]) -> bool;
}
