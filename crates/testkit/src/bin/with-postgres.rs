//! Runs a command with a throw-away Postgres cluster whose address is in `TEST_DATABASE_URL`.
//!
//! ```text
//! with-postgres cargo test -p store
//! ```
//!
//! The cluster is in memory where the system has a place for that, gives up durability for speed, and is gone when
//! the command ends. The exit code is the command's.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::Context;
use nix::sys::signal::{SigHandler, Signal, signal};
use pgcluster::{Cluster, Options};
use testkit::CLUSTER_VARIABLE;

fn main() -> anyhow::Result<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let program = words.next().context("usage: with-postgres COMMAND [ARGUMENT…]")?;
    outlive_interrupts()?;
    let place = tempfile::Builder::new().prefix("testdb-").tempdir_in(memory_or_disk())?;
    open_to_the_server(place.path())?;
    let cluster = Cluster::start(&Options {
        root: place.path().join("cluster"),
        durable: false,
        max_connections: 400,
        bin_dir: std::env::var_os("PG_BIN_DIR").map(PathBuf::from),
    })?;
    let status = Command::new(&program)
        .args(words)
        .env(CLUSTER_VARIABLE, cluster.url())
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    cluster.stop()?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// An interrupt from the keyboard goes to the command as well: it ends, and then the cluster is stopped in order.
#[expect(unsafe_code, reason = "setting a signal's handler is unsafe in general")]
fn outlive_interrupts() -> anyhow::Result<()> {
    extern "C" fn nothing(_: nix::libc::c_int) {}
    for number in [Signal::SIGINT, Signal::SIGTERM] {
        // SAFETY: the handler does nothing. Unlike "ignore" it is not inherited by the command.
        unsafe { signal(number, SigHandler::Handler(nothing)) }?;
    }
    Ok(())
}

/// A file system in memory, or the directory for temporary files.
fn memory_or_disk() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let writable = nix::unistd::access(memory, nix::unistd::AccessFlags::W_OK).is_ok();
    if writable { memory.to_owned() } else { std::env::temp_dir() }
}

/// Lets the account that the server runs as pass through; the cluster below is its own.
fn open_to_the_server(directory: &Path) -> anyhow::Result<()> {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o711))?;
    Ok(())
}
