//! Runs a command with a throw-away Postgres cluster whose address is in `TEST_DATABASE_URL`.
//!
//! ```text
//! with-postgres cargo test -p store
//! ```
//!
//! The cluster is in memory where the system has room for it there, gives up durability for speed, and is gone when
//! the command ends. Signals are passed on to the command; the exit code is the command's (128 + n after signal n).

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{ExitCode, ExitStatus},
    time::{Duration, SystemTime},
};

use anyhow::Context;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use pgcluster::{Cluster, Options};
use testkit::CLUSTER_VARIABLE;
use tokio::{
    process::{Child, Command},
    signal::unix::{SignalKind, signal},
};

/// How the directories of clusters begin.
const PREFIX: &str = "business-analytics-test-";
/// Free memory (bytes) that a run may need: some tens of databases at a time, and the log between two checkpoints.
const ROOM: u128 = 2 << 30;
/// From this age on a directory without a running cluster was left by a run that was killed.
const ABANDONED: Duration = Duration::from_secs(600);

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let program = words.next().context("usage: with-postgres COMMAND [ARGUMENT…]")?;
    let mut signals = Signals::listen()?;

    let base = memory_or_disk();
    remove_abandoned(&base);
    let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&base)?;
    // The account that the server runs as passes through; the cluster below is its own.
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o711))?;
    let cluster = Cluster::start(&Options {
        root: cluster_in(directory.path()),
        durable: false,
        max_connections: 400,
        bin_dir: std::env::var_os("PG_BIN_DIR").map(PathBuf::from),
    })?;

    let command = Command::new(&program).args(words).env(CLUSTER_VARIABLE, cluster.url()).spawn();
    let command = command.with_context(|| format!("cannot run {}", program.display()))?;
    let status = signals.pass_on_until_it_ends(command).await?;
    cluster.stop()?;
    Ok(exit_code(status))
}

/// What a terminal, a supervisor or a closed connection sends.
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

impl Signals {
    fn listen() -> anyhow::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn pass_on_until_it_ends(&mut self, mut command: Child) -> anyhow::Result<ExitStatus> {
        loop {
            let received = tokio::select! {
                status = command.wait() => return Ok(status?),
                _ = self.interrupt.recv() => Signal::SIGINT,
                _ = self.terminate.recv() => Signal::SIGTERM,
                _ = self.hang_up.recv() => Signal::SIGHUP,
            };
            // Not waited for yet, so the number is still the command's; it may have ended nevertheless.
            if let Some(pid) = command.id().and_then(|id| i32::try_from(id).ok()) {
                let _ = kill(Pid::from_raw(pid), received);
            }
        }
    }
}

fn exit_code(status: ExitStatus) -> ExitCode {
    let number = status.code().or(status.signal().map(|signal| 128 + signal));
    ExitCode::from(number.and_then(|number| u8::try_from(number).ok()).unwrap_or(1))
}

/// A file system in memory with room for the databases, or the directory for temporary files.
fn memory_or_disk() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let writable = nix::unistd::access(memory, nix::unistd::AccessFlags::W_OK).is_ok();
    let roomy = nix::sys::statvfs::statvfs(memory)
        .is_ok_and(|room| u128::from(room.blocks_available()) * u128::from(room.fragment_size()) >= ROOM);
    if writable && roomy { memory.to_owned() } else { std::env::temp_dir() }
}

fn cluster_in(directory: &Path) -> PathBuf {
    directory.join("cluster")
}

/// Removes what killed runs left behind. What cannot be removed belongs to another user.
fn remove_abandoned(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let age = entry.metadata().and_then(|meta| meta.modified()).map(|at| SystemTime::now().duration_since(at));
        let old = matches!(age, Ok(Ok(age)) if age > ABANDONED);
        if old && name.to_string_lossy().starts_with(PREFIX) && matches!(Cluster::running(&cluster_in(&path)), Ok(None))
        {
            let _ = fs::remove_dir_all(path);
        }
    }
}
