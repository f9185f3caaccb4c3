//! What a failed statement means to a port.

use std::error::Error as _;

use deadpool::managed::TimeoutType;
use diesel::result::Error;
use diesel_async::pooled_connection::deadpool::PoolError;
use domain::{
    StoreError,
    error::{Cause, Chain},
};
use tokio_postgres::error::SqlState;

use crate::database::{
    sqlstate::{self, Meaning},
    transact::{TransactionError, was_conflict},
};

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

/// What a statement's error means to a port, with the error kept as its cause.
pub(crate) fn store_error(error: Error) -> StoreError {
    // Of a connection whose transaction can neither be committed nor rolled back nothing more is known.
    let is_lost = matches!(error, Error::BrokenTransactionManager);
    let meaning = sqlstate::of(&error).map_or(Meaning::Internal, |code| meaning_of(&code));
    of_meaning(if is_lost { Meaning::Unavailable } else { meaning }, error.into())
}

/// The same of an error that comes from the driver itself.
pub(crate) fn driver_error(error: tokio_postgres::Error) -> StoreError {
    let is_lost = || error.is_closed() || error.source().is_some_and(|source| source.is::<std::io::Error>());
    let meaning = match error.code() {
        Some(code) => meaning_of(code),
        None if is_lost() => Meaning::Unavailable,
        None => Meaning::Internal,
    };
    of_meaning(meaning, driver_text(&error).into())
}

/// The message and the code of an error of the server, whose details quote rows; any other error with its causes.
pub(crate) fn driver_text(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("{} ({})", error.message(), error.code().code()),
        None => Chain(error).to_string(),
    }
}

/// Why the pool gave no connection. A wait for one of those in use is an overload, as long as there are `open` ones: when
/// the database is away, none is, and callers wait for those that try to open one.
pub(crate) fn pool_error(error: PoolError, open: usize) -> StoreError {
    match error {
        PoolError::Timeout(TimeoutType::Wait) if open > 0 => StoreError::Overloaded(error.into()),
        // Its text is in that of the outer error as well.
        PoolError::Backend(error) => StoreError::Unavailable(error.into()),
        other => StoreError::Unavailable(other.into()),
    }
}

/// What a code means. Refused writes are counted: a server that takes none answers everything else.
fn meaning_of(code: &SqlState) -> Meaning {
    if sqlstate::refuses_writes(code) {
        metrics::counter!("database_writes_refused_total").increment(1);
    }
    sqlstate::meaning(code)
}

fn of_meaning(meaning: Meaning, cause: Cause) -> StoreError {
    match meaning {
        Meaning::Unavailable => StoreError::Unavailable(cause),
        Meaning::Overloaded => StoreError::Overloaded(cause),
        Meaning::Internal => StoreError::Internal(cause),
    }
}

/// A value in the database that no valid value of the domain corresponds to.
pub(crate) fn corrupt(what: &str) -> StoreError {
    StoreError::Internal(format!("a stored {what} is not valid").into())
}

/// Reads a stored text as the domain's type; the CHECK constraints keep this from failing.
pub(crate) fn parse<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| corrupt(what))
}

#[cfg(test)]
mod tests {
    use diesel::result::DatabaseErrorKind;
    use rstest::rstest;

    use super::*;

    fn failed(kind: DatabaseErrorKind, message: &str) -> Error {
        Error::DatabaseError(kind, Box::new(message.to_owned()))
    }

    #[rstest]
    #[case(DatabaseErrorKind::SerializationFailure, "could not serialize access due to concurrent update", true)]
    #[case(DatabaseErrorKind::Unknown, "deadlock detected", true)]
    #[case(
        DatabaseErrorKind::Unknown,
        "canceling the transaction since it was involved in a distributed deadlock",
        true
    )]
    // Overloaded too, but trying again at once would make that worse.
    #[case(DatabaseErrorKind::Unknown, "canceling statement due to statement timeout", false)]
    #[case(DatabaseErrorKind::UniqueViolation, "duplicate key value violates unique constraint", false)]
    fn a_conflict_may_be_tried_again(#[case] kind: DatabaseErrorKind, #[case] text: &str, #[case] may: bool) {
        assert_eq!(Failure::from(failed(kind, text)).is_conflict(), may);
    }

    #[test]
    fn the_cause_is_kept() {
        let error = store_error(failed(DatabaseErrorKind::Unknown, "relation \"orders\" does not exist"));
        assert!(matches!(error, StoreError::Internal(_)), "{error:?}");
        assert_eq!(Chain(&error).to_string(), "unexpected error: relation \"orders\" does not exist");
        let lost = store_error(Error::BrokenTransactionManager);
        assert!(matches!(lost, StoreError::Unavailable(_)), "{lost:?}");
    }
}
