//! Errors that every port shares.

use std::{error::Error, fmt};

/// What went wrong underneath: an error of a driver, or a sentence.
pub type Cause = Box<dyn Error + Send + Sync>;

/// A port could not do its work for a reason that is not the caller's. The text names the kind only; [`Chain`] adds the
/// causes.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be reached, or stops or starts. Trying again may help.
    #[error("the database is unavailable")]
    Unavailable(#[source] Cause),
    /// Too much of the same is under way or queued already, though the database answers. Trying again helps once there
    /// is less.
    #[error("overloaded")]
    Overloaded(#[source] Cause),
    /// A statement, or what was computed from one, failed in a way that only a change of the program or the data can mend.
    #[error("unexpected error")]
    Internal(#[source] Cause),
}

/// An error with its causes, outermost first, separated by colons: for logs and for what is noted with a failed run.
pub struct Chain<'a>(pub &'a (dyn Error + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(cause) = source {
            write!(f, ": {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

/// A text is not one of an enumeration's values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("allowed values: {}", allowed.join(", "))]
pub struct UnknownValue {
    pub allowed: &'static [&'static str],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_names_every_cause_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("statement failed")]
        struct Statement(#[source] std::io::Error);
        let error = StoreError::Unavailable(Statement(std::io::Error::other("connection reset")).into());
        assert_eq!(Chain(&error).to_string(), "the database is unavailable: statement failed: connection reset");
        assert_eq!(Chain(&StoreError::Overloaded("a queue is full".into())).to_string(), "overloaded: a queue is full");
    }
}
