//! A private Postgres cluster under a directory.
//!
//! It is made and run with the server programs that are installed on the machine, as an ordinary user even when we
//! are root, reachable only over a Unix socket that other users cannot open, and it stops when this process does:
//!
//! ```no_run
//! # fn main() -> Result<(), pgcluster::Error> {
//! let root = "data/postgres".into();
//! let options = pgcluster::Options { root, durable: true, max_connections: 100, bin_dir: None };
//! let cluster = pgcluster::Cluster::start(&options)?;
//! println!("psql {}", cluster.url());
//! cluster.stop()
//! # }
//! ```
//!
//! What holds it together when things go wrong:
//! - a process that is killed takes its server along (the kernel signals it; where it cannot, the next start does);
//! - a server that is killed is started again, on the same address;
//! - a cluster is made whole or not at all, and run by one process at a time.

mod account;
mod binaries;
mod create;
mod error;
mod keeper;
mod place;
mod postmaster;

pub use binaries::DumpPrograms;
pub use error::Error;

use keeper::Keeper;
use nix::fcntl::Flock;
use place::Place;
use postmaster::Launch;
use std::{
    fs::File,
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

/// How long [`Cluster::running`] waits for the start or the stop of another process.
const TRANSITION: Duration = Duration::from_secs(60);

/// The name under which things are put outside the project's own directories.
const PROJECT: &str = "business-analytics";

/// What kind of cluster, and where.
#[derive(Debug, Clone)]
pub struct Options {
    /// The directory for everything that belongs to the cluster; created when missing.
    pub root: PathBuf,
    /// Whether a commit must survive a loss of power. Without, everything is faster, and for tests only.
    pub durable: bool,
    /// How many sessions may be open at a time.
    pub max_connections: u32,
    /// The directory with `postgres` and `initdb`, alone; `None` looks in the usual places.
    pub bin_dir: Option<PathBuf>,
}

/// A running cluster; dropping it stops the server.
#[derive(Debug)]
pub struct Cluster {
    socket: PathBuf,
    programs: PathBuf,
    /// `None` only once stopped.
    keeper: Option<Keeper>,
    /// Held until after the server has stopped: fields drop in this order.
    _lock: Flock<File>,
}

impl Cluster {
    /// Makes the cluster if need be, starts its server, and returns when it takes connections (1–3 s the first time,
    /// a few tenths of a second later on, longer after a crash). Blocks; may be called from any thread.
    ///
    /// # Errors
    /// Everything in [`Error`] but `StaysUp` and `GivenUp`; each message says what to do.
    pub fn start(options: &Options) -> Result<Self, Error> {
        Self::start_unless(options, || false)
    }

    /// [`start`](Self::start), but no longer waits for the server once `give_up` says so; it is asked now and then.
    ///
    /// # Errors
    /// As `start`, `GivenUp`, and `StaysUp` when the server that is given up does not end.
    pub fn start_unless(options: &Options, give_up: impl Fn() -> bool + Send + 'static) -> Result<Self, Error> {
        let (place, account) = Place::choose(&options.root)?;
        let lock = place.lock()?;
        let cluster_version = place.cluster_version();
        let binaries = binaries::find(options.bin_dir.as_deref(), &place.data(), cluster_version)?;
        if account.switch && !account.can_reach(&binaries.directory) {
            return Err(Error::Unreachable { path: binaries.directory, account: account.name });
        }
        create::create_once(&place, &account, &binaries, options.durable)?;
        postmaster::end_orphan(&place.data())?;
        place.write_access_rules(&account)?;
        let socket = place.socket_directory(&account)?;
        let programs = binaries.directory.clone();
        let launch = Launch { settings: settings(options, &place, &socket), place, account, binaries };
        let keeper = Keeper::start(launch, give_up)?;
        Ok(Self { socket, programs, keeper: Some(keeper), _lock: lock })
    }

    /// The address of the cluster that another process runs under `root`; `None` when none does. While that process is
    /// starting or stopping it, this waits: an address alone would be of no use.
    ///
    /// # Errors
    /// When the directory cannot be examined, or belongs to another user, who alone may connect.
    pub fn running(root: &Path) -> Result<Option<String>, Error> {
        if !root.is_dir() {
            return Ok(None);
        }
        let (place, account) = Place::choose(root)?;
        let began = Instant::now();
        loop {
            match place.lock() {
                Ok(_) => return Ok(None),
                Err(Error::InUse { .. }) if !postmaster::is_ready(&place.data()) && began.elapsed() < TRANSITION => {
                    sleep(postmaster::GLANCE);
                }
                Err(Error::InUse { .. }) => {
                    if !place.admits_launcher()? {
                        return Err(Error::NotAdmitted { directory: root.to_owned(), account: account.name });
                    }
                    return Ok(Some(url(&place.socket_directory(&account)?)));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The address of the database `postgres`, for every Postgres client of this account; there is no password.
    /// It stays the same when the server has to be started again.
    #[must_use]
    pub fn url(&self) -> String {
        url(&self.socket)
    }

    /// The directory of the server's programs.
    #[must_use]
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    /// The directory of the Unix socket, as `psql --host` takes it.
    #[must_use]
    pub fn socket_directory(&self) -> &Path {
        &self.socket
    }

    /// Stops the server: sessions are cut, everything committed is on disk.
    ///
    /// # Errors
    /// `StaysUp` when the server does not end within about a minute.
    pub fn stop(mut self) -> Result<(), Error> {
        self.keeper.take().map_or(Ok(()), Keeper::stop)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.keeper.take().map(Keeper::stop) {
            tracing::error!(%error, "PostgreSQL was not stopped cleanly");
        }
    }
}

/// The server's settings as `name=value`.
fn settings(options: &Options, place: &Place, socket: &Path) -> Vec<String> {
    let quoted = |path: &Path| path.display().to_string().replace('"', "\"\"");
    let mut settings = vec![
        "listen_addresses=".to_owned(),
        // The number only names the socket's file.
        "port=5432".to_owned(),
        format!("unix_socket_directories=\"{}\"", quoted(socket)),
        "unix_socket_permissions=0700".to_owned(),
        format!("hba_file={}", place.hba().display()),
        format!("ident_file={}", place.ident().display()),
        format!("max_connections={}", options.max_connections),
        "shared_buffers=256MB".to_owned(),
        // Compiling queries pays off only for long ones, and not every installation can.
        "jit=off".to_owned(),
        // The log must not repeat what users sent: no statements, no values of rows.
        "log_destination=stderr".to_owned(),
        "logging_collector=off".to_owned(),
        "log_min_error_statement=panic".to_owned(),
        "log_error_verbosity=terse".to_owned(),
    ];
    if !options.durable {
        settings.extend(
            ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0"]
                .map(str::to_owned),
        );
    }
    settings
}

/// The address of a cluster whose socket is in `socket`: the directory, percent-encoded, stands for the host.
fn url(socket: &Path) -> String {
    let mut host = String::new();
    for byte in socket.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            host.push(char::from(*byte));
        } else {
            host.push_str(&format!("%{byte:02X}"));
        }
    }
    format!("postgres://postgres@{host}/postgres")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_directory_becomes_the_host_of_a_url() {
        assert_eq!(url(Path::new("/run/a b_c")), "postgres://postgres@%2Frun%2Fa%20b_c/postgres");
        assert_eq!(url(Path::new("/tmp/é")), "postgres://postgres@%2Ftmp%2F%C3%A9/postgres");
    }
}
