//! What a failed statement means to a port.

use diesel::result::{DatabaseErrorKind, Error};
use diesel_async::pooled_connection::deadpool::PoolError;
use domain::StoreError;

use crate::transact::{TransactionError, is_conflict, was_conflict};

/// What work on a connection may end with when it has no refusals of its own.
#[derive(Debug)]
pub(crate) struct Failure(StoreError);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(store_error(error))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self(error)
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}

impl TransactionError for Failure {
    fn is_conflict(&self) -> bool {
        was_conflict(&self.0)
    }
}

/// Sorts a database error: connection trouble may pass, anything else is a defect of ours.
pub(crate) fn store_error(error: Error) -> StoreError {
    match &error {
        Error::DatabaseError(DatabaseErrorKind::ClosedConnection | DatabaseErrorKind::UnableToSendCommand, _)
        | Error::BrokenTransactionManager => StoreError::Unavailable(error.to_string()),
        // The database is there; others were in the way, twice where the transaction is run again.
        conflict if is_conflict(conflict) => StoreError::Overloaded(error.to_string()),
        Error::DatabaseError(_, info) if is_unavailable(info.message()) => StoreError::Unavailable(error.to_string()),
        _ => StoreError::Internal(error.to_string()),
    }
}

/// Messages of a server that starts, stops, stands by, has no connection slot left, or gave up on a statement.
fn is_unavailable(message: &str) -> bool {
    const MESSAGES: [&str; 13] = [
        "the database system is",
        "terminating connection",
        "too many clients",
        "too many connections",
        "remaining connection slots",
        "canceling statement due to statement timeout",
        "connection closed",
        "cannot execute",
        "error communicating with the server",
        // A node of a cluster, as the coordinator says it.
        "connection to the remote node",
        "failure on connection marked as essential",
        "could not establish any connections to the node",
        "connection establishment for node",
    ];
    MESSAGES.iter().any(|known| message.contains(known))
}

pub(crate) fn pool_error(error: PoolError) -> StoreError {
    StoreError::Unavailable(error.to_string())
}

/// A value in the database that no valid value of the domain corresponds to.
pub(crate) fn corrupt(what: &str) -> StoreError {
    StoreError::Internal(format!("a stored {what} is not valid"))
}

/// Reads a stored text as the domain's type; the CHECK constraints keep this from failing.
pub(crate) fn parse<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| corrupt(what))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(DatabaseErrorKind::SerializationFailure, "could not serialize access due to concurrent update", true)]
    #[case(DatabaseErrorKind::Unknown, "deadlock detected", true)]
    #[case(
        DatabaseErrorKind::Unknown,
        "canceling the transaction since it was involved in a distributed deadlock",
        true
    )]
    #[case(DatabaseErrorKind::UniqueViolation, "duplicate key value violates unique constraint", false)]
    fn a_conflict_may_be_tried_again(#[case] kind: DatabaseErrorKind, #[case] text: &str, #[case] may: bool) {
        let error = || Error::DatabaseError(kind, Box::new(text.to_owned()));
        assert_eq!(matches!(store_error(error()), StoreError::Overloaded(_)), may);
        assert_eq!(Failure::from(error()).is_conflict(), may);
    }
}
