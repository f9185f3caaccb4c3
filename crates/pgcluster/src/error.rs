//! What can go wrong, each with a sentence that says what to do about it.

use std::{io, path::PathBuf, process::ExitStatus};

/// Why a cluster could not be started or stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "no PostgreSQL server (14 or newer) was found: run scripts/setup-postgres.sh, install your system's package \
         (Debian: apt-get install postgresql; macOS: brew install postgresql@17), or point PG_BIN_DIR at the \
         directory that holds `postgres` and `initdb`"
    )]
    NoServer,

    #[error(
        "{0} does not hold the programs `postgres` and `initdb` of PostgreSQL 14 or newer: correct PG_BIN_DIR, or unset it"
    )]
    NotABinDir(PathBuf),

    #[error(
        "the database's server is PostgreSQL {server}, which takes pg_dump and pg_restore of that version or a newer one, and \
         {found}: install postgresql-client-{server}, or point PG_BIN_DIR at the directory that holds them",
        found = found.map_or("none was found".to_owned(), |found| format!("only version {found} was found"))
    )]
    OlderDump { server: u32, found: Option<u32> },

    #[error(
        "the cluster in {data} was made by PostgreSQL {cluster_version}, and of that version no server is installed (found: \
         {found}): install postgresql-{cluster_version}, or start on an empty directory and load a dump into it"
    )]
    OtherVersion { data: PathBuf, cluster_version: u32, found: u32 },

    #[error(
        "PostgreSQL refuses to run as root, and neither the account `postgres` nor `nobody` exists: create one with \
         `useradd --system postgres`, or start this program as an ordinary user"
    )]
    NoAccount,

    #[error("user id {0} has no name in /etc/passwd, which PostgreSQL insists on: run as a named user")]
    NamelessUser(u32),

    #[error("{path} belongs to user id {owner}: start as that user or as root, or choose another data directory")]
    OtherOwner { path: PathBuf, owner: u32 },

    #[error(
        "the database in {directory} is run by the user {account}: do this as that user, `runuser -u {account} -- …`"
    )]
    NotAdmitted { directory: PathBuf, account: String },

    #[error("{path} cannot be reached by the account {account}, which runs PostgreSQL: install it in a public place")]
    Unreachable { path: PathBuf, account: String },

    #[error(
        "{0} must be a directory that its owner alone can enter, and is not: remove it, or choose another data directory"
    )]
    NotPrivate(PathBuf),

    #[error(
        "another process{pid} already runs the database in {directory}: stop that one, or choose another data directory"
    )]
    InUse { directory: PathBuf, pid: String },

    #[error(
        "an earlier PostgreSQL (process {pid}) still runs in {data} and does not stop: end it with `kill -QUIT {pid}`, then start again"
    )]
    OrphanStays { data: PathBuf, pid: i32 },

    #[error("initdb failed ({status}); it said:\n{output}")]
    Initdb { status: ExitStatus, output: String },

    #[error("PostgreSQL ended while starting ({status}); the end of {log} reads:\n{tail}")]
    EndedEarly { status: ExitStatus, log: PathBuf, tail: String },

    #[error("PostgreSQL (process {0}) did not stop in time: end it with `kill -QUIT {0}`")]
    StaysUp(u32),

    #[error("start of PostgreSQL was given up because the cluster was told to stop")]
    GivenUp,

    // Not a `source`: with its causes the sentence would say it twice.
    #[error("cannot {action} {path}: {cause}")]
    Io { action: &'static str, path: PathBuf, cause: io::Error },
}

/// Adds "cannot do this to that path" to an I/O error.
pub(crate) trait IoContext<T> {
    fn cannot(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> IoContext<T> for Result<T, E> {
    fn cannot(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, Error> {
        self.map_err(|cause| Error::Io { action, path: path.into(), cause: cause.into() })
    }
}
