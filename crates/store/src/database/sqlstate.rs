//! The SQLSTATE of a failed statement, and what it means: the one place where that is decided.
//!
//! tokio-postgres hands the code on. diesel-async (0.9) keeps it only as far as diesel has a kind for it: of every other
//! error it hands on the texts, and its type that holds the code is private. So of those the code is found again by the
//! server's own message, [`MESSAGES`], for the few codes that decide something; any other error is a defect whatever its
//! code is. Messages are English as long as `lc_messages` is: a session sets it where it may (see
//! [`PoolOptions`](crate::PoolOptions)), and docs/operations.md asks it of other servers.

use diesel::result::{DatabaseErrorKind, Error};
use tokio_postgres::error::SqlState;

/// What a port makes of an error of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// There is no session, or it has ended; or a standby, or a full disk, takes no writes.
    Unavailable,
    /// The server answers, but had no time, no memory or no lock to spare.
    Overloaded,
    /// A defect of the program or the data.
    Internal,
}

/// Decides by the code, whichever driver it came through.
pub(crate) fn meaning(code: &SqlState) -> Meaning {
    match *code {
        SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::QUERY_CANCELED
        | SqlState::LOCK_NOT_AVAILABLE
        | SqlState::OUT_OF_MEMORY => Meaning::Overloaded,
        SqlState::READ_ONLY_SQL_TRANSACTION
        | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
        | SqlState::INVALID_CATALOG_NAME => Meaning::Unavailable,
        // Connection exceptions, refused log-ins, insufficient resources, intervention of an operator, errors of the
        // server's system.
        _ => match code.code().get(..2) {
            Some("08" | "28" | "53" | "57" | "58") => Meaning::Unavailable,
            _ => Meaning::Internal,
        },
    }
}

/// Whether a transaction was rolled back for the sake of another one: nothing is wrong with it, and nothing of it is left.
pub(crate) fn is_conflict(code: &SqlState) -> bool {
    matches!(*code, SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED)
}

/// Whether the server answers and takes no writes.
pub(crate) fn refuses_writes(code: &SqlState) -> bool {
    matches!(*code, SqlState::DISK_FULL | SqlState::READ_ONLY_SQL_TRANSACTION)
}

/// The code of an error that went through diesel; `None` if it decides nothing, or the error is not the server's.
pub(crate) fn of(error: &Error) -> Option<SqlState> {
    let Error::DatabaseError(kind, info) = error else { return None };
    match kind {
        DatabaseErrorKind::UniqueViolation => Some(SqlState::UNIQUE_VIOLATION),
        DatabaseErrorKind::ForeignKeyViolation => Some(SqlState::FOREIGN_KEY_VIOLATION),
        DatabaseErrorKind::NotNullViolation => Some(SqlState::NOT_NULL_VIOLATION),
        DatabaseErrorKind::CheckViolation => Some(SqlState::CHECK_VIOLATION),
        DatabaseErrorKind::RestrictViolation => Some(SqlState::RESTRICT_VIOLATION),
        DatabaseErrorKind::ExclusionViolation => Some(SqlState::EXCLUSION_VIOLATION),
        DatabaseErrorKind::SerializationFailure => Some(SqlState::T_R_SERIALIZATION_FAILURE),
        DatabaseErrorKind::ReadOnlyTransaction => Some(SqlState::READ_ONLY_SQL_TRANSACTION),
        DatabaseErrorKind::ClosedConnection | DatabaseErrorKind::UnableToSendCommand => {
            Some(SqlState::CONNECTION_FAILURE)
        }
        _ => by_message(info.message()),
    }
}

/// How messages begin, or what they hold, whose code diesel has no kind for.
const MESSAGES: [(&str, SqlState); 16] = [
    ("deadlock detected", SqlState::T_R_DEADLOCK_DETECTED),
    ("canceling the transaction since it was involved in a distributed deadlock", SqlState::T_R_DEADLOCK_DETECTED),
    ("canceling statement due to", SqlState::QUERY_CANCELED),
    ("terminating connection", SqlState::ADMIN_SHUTDOWN),
    ("the database system is", SqlState::CANNOT_CONNECT_NOW),
    ("too many clients", SqlState::TOO_MANY_CONNECTIONS),
    ("too many connections", SqlState::TOO_MANY_CONNECTIONS),
    ("remaining connection slots", SqlState::TOO_MANY_CONNECTIONS),
    ("out of memory", SqlState::OUT_OF_MEMORY),
    // A full disk as the system says it, and where only a part of a page could be written; a broken one.
    ("No space left on device", SqlState::DISK_FULL),
    ("could not extend file", SqlState::DISK_FULL),
    ("Input/output error", SqlState::IO_ERROR),
    // A node of a Citus cluster, as the coordinator says it.
    ("connection to the remote node", SqlState::CONNECTION_FAILURE),
    ("failure on connection marked as essential", SqlState::CONNECTION_FAILURE),
    ("could not establish any connections to the node", SqlState::CONNECTION_FAILURE),
    ("connection establishment for node", SqlState::CONNECTION_FAILURE),
];

fn by_message(message: &str) -> Option<SqlState> {
    MESSAGES.iter().find(|(text, _)| message.contains(text)).map(|(_, code)| code.clone())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    // Sessions that are refused, lost or ended.
    #[case("08006", Meaning::Unavailable)]
    #[case("08P01", Meaning::Unavailable)]
    #[case("28P01", Meaning::Unavailable)]
    #[case("3D000", Meaning::Unavailable)]
    #[case("53300", Meaning::Unavailable)]
    #[case("57P01", Meaning::Unavailable)]
    #[case("57P02", Meaning::Unavailable)]
    #[case("57P03", Meaning::Unavailable)]
    #[case("57P05", Meaning::Unavailable)]
    #[case("25P03", Meaning::Unavailable)]
    // A standby, a full disk, a broken one.
    #[case("25006", Meaning::Unavailable)]
    #[case("53100", Meaning::Unavailable)]
    #[case("58030", Meaning::Unavailable)]
    // Others were in the way, or it took too long.
    #[case("40001", Meaning::Overloaded)]
    #[case("40P01", Meaning::Overloaded)]
    #[case("53200", Meaning::Overloaded)]
    #[case("55P03", Meaning::Overloaded)]
    #[case("57014", Meaning::Overloaded)]
    // Defects.
    #[case("22003", Meaning::Internal)]
    #[case("23505", Meaning::Internal)]
    #[case("25P02", Meaning::Internal)]
    #[case("42P01", Meaning::Internal)]
    #[case("42501", Meaning::Internal)]
    #[case("XX000", Meaning::Internal)]
    fn the_code_decides(#[case] code: &str, #[case] expected: Meaning) {
        assert_eq!(meaning(&SqlState::from_code(code)), expected);
    }

    #[rstest]
    #[case(
        DatabaseErrorKind::SerializationFailure,
        "could not serialize access due to concurrent update",
        Some("40001")
    )]
    #[case(DatabaseErrorKind::ReadOnlyTransaction, "cannot execute INSERT in a read-only transaction", Some("25006"))]
    #[case(DatabaseErrorKind::UnableToSendCommand, "connection closed", Some("08006"))]
    #[case(DatabaseErrorKind::UniqueViolation, "duplicate key value violates unique constraint", Some("23505"))]
    #[case(DatabaseErrorKind::Unknown, "deadlock detected", Some("40P01"))]
    #[case(DatabaseErrorKind::Unknown, "canceling statement due to statement timeout", Some("57014"))]
    #[case(DatabaseErrorKind::Unknown, "terminating connection due to administrator command", Some("57P01"))]
    #[case(
        DatabaseErrorKind::Unknown,
        "could not extend file \"base/5/18187_fsm\": No space left on device",
        Some("53100")
    )]
    #[case(
        DatabaseErrorKind::Unknown,
        "could not write to file \"base/pgsql_tmp/pgsql_tmp7.0\": No space left on device",
        Some("53100")
    )]
    #[case(
        DatabaseErrorKind::Unknown,
        "could not extend file \"base/5/18187\": wrote only 4096 of 8192 bytes at block 3",
        Some("53100")
    )]
    #[case(
        DatabaseErrorKind::Unknown,
        "could not read block 3 in file \"base/5/18187\": Input/output error",
        Some("58030")
    )]
    #[case(DatabaseErrorKind::Unknown, "relation \"orders\" does not exist", None)]
    fn what_diesel_keeps_of_the_code(
        #[case] kind: DatabaseErrorKind,
        #[case] message: &str,
        #[case] expected: Option<&str>,
    ) {
        let error = Error::DatabaseError(kind, Box::new(message.to_owned()));
        assert_eq!(of(&error).as_ref().map(SqlState::code), expected);
    }
}
