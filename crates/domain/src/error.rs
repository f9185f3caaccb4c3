//! Errors that every port shares.

/// A port could not do its work for a reason that is not the caller's.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database does not answer, refuses connections or has no connection free in time. Trying again may help.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// Too much of the same is under way or queued already, though the database answers. Trying again helps once there
    /// is less.
    #[error("overloaded: {0}")]
    Overloaded(String),
    /// A statement failed in a way that only a change of the program or the data can mend.
    #[error("unexpected database error: {0}")]
    Internal(String),
}

/// A text is not one of an enumeration's values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("allowed values: {}", allowed.join(", "))]
pub struct UnknownValue {
    pub allowed: &'static [&'static str],
}
