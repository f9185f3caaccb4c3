//! One run of the server program: start, ready, stop; and what an earlier run left behind.

use crate::{Error, account::Account, binaries::Binaries, error::IoContext, place::Place};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    fs::{self, File},
    io::{Read, Seek, SeekFrom},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus},
    thread::sleep,
    time::{Duration, Instant},
};

/// Interval at which a starting or stopping server is checked.
pub(crate) const GLANCE: Duration = Duration::from_millis(10);
/// How long a server may take to write its last checkpoint.
const SHUTDOWN: Duration = Duration::from_secs(60);
/// Time limit of an immediate shutdown.
const IMMEDIATE_SHUTDOWN: Duration = Duration::from_secs(10);
/// How long to wait for what is left of a server that was killed: its processes notice within moments, unless one
/// is deep in a long computation.
const LEFTOVERS: Duration = Duration::from_secs(60);
/// How much of the log (bytes) an error quotes.
const QUOTED: u64 = 2_000;

/// All that is needed to start the server, again and again.
#[derive(Debug)]
pub(crate) struct Launch {
    pub place: Place,
    pub account: Account,
    pub binaries: Binaries,
    /// `name=value`, each passed with `-c`.
    pub settings: Vec<String>,
}

impl Launch {
    /// Starts the server and waits until it takes connections; crash recovery may take its time. `give_up` is asked
    /// now and then whether to stop waiting.
    ///
    /// The server is told to shut down (SIGINT) when the *thread* that called this ends, not only the process.
    pub fn start(&self, give_up: &dyn Fn() -> bool) -> Result<Child, Error> {
        let began = Instant::now();
        loop {
            remove_misleading_pid_file(&self.place.data())?;
            let mut log = self.place.open_log()?;
            let from = log.seek(SeekFrom::End(0)).cannot("read", self.place.log())?;
            let mut child = self.spawn(&log)?;
            let Some(status) = self.wait_until_ready(&mut child, give_up)? else {
                return Ok(child);
            };
            let tail = self.log_since(from);
            // Processes of a server that was killed still hold its shared memory; they are about to notice.
            let occupied = tail.contains("pre-existing shared memory block") || tail.contains("lock file");
            if !occupied || began.elapsed() > LEFTOVERS {
                return Err(Error::EndedEarly { status, log: self.place.log(), tail: tail.trim().to_owned() });
            }
            if give_up() {
                return Err(Error::GivenUp);
            }
            sleep(Duration::from_millis(200));
        }
    }

    fn spawn(&self, log: &File) -> Result<Child, Error> {
        let program = self.binaries.postgres();
        let mut command = self.account.command(&program);
        command.arg("-D").arg(self.place.data());
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        command
            .stdout(log.try_clone().cannot("open", self.place.log())?)
            .stderr(log.try_clone().cannot("open", self.place.log())?);
        die_with_parent(&mut command);
        command.spawn().cannot("run", program)
    }

    /// `None` when the server is ready, its exit status when it ended instead.
    fn wait_until_ready(&self, child: &mut Child, give_up: &dyn Fn() -> bool) -> Result<Option<ExitStatus>, Error> {
        let began = Instant::now();
        let mut told = 0;
        loop {
            if let Some(status) = child.try_wait().cannot("wait for", self.binaries.postgres())? {
                return Ok(Some(status));
            }
            if PidFile::read(&self.place.data()).is_some_and(|f| f.ready && f.pid == pid_of(child)) {
                return Ok(None);
            }
            if give_up() {
                stop(child)?;
                return Err(Error::GivenUp);
            }
            let seconds = began.elapsed().as_secs();
            if seconds >= told + 10 {
                told = seconds;
                tracing::info!(seconds, "PostgreSQL is still starting, probably recovering after a crash");
            }
            sleep(GLANCE);
        }
    }

    fn log_since(&self, from: u64) -> String {
        let path = self.place.log();
        let read = || -> std::io::Result<String> {
            let mut file = File::open(&path)?;
            let end = file.seek(SeekFrom::End(0))?;
            file.seek(SeekFrom::Start(from.max(end.saturating_sub(QUOTED))))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        read().unwrap_or_else(|e| format!("(unreadable: {e})"))
    }
}

/// Asks the kernel to send the server SIGINT (stop now, but cleanly) when the thread that starts it ends.
#[cfg(target_os = "linux")]
fn die_with_parent(command: &mut Command) {
    let parent = Pid::this();
    let in_child = move || {
        nix::sys::prctl::set_pdeathsig(Signal::SIGINT)?;
        // The parent may have died before the call: then no signal comes any more.
        if nix::unistd::getppid() == parent { Ok(()) } else { Err(nix::errno::Errno::ESRCH.into()) }
    };
    #[expect(unsafe_code, reason = "the standard library has no safe way to set the parent-death signal")]
    // SAFETY: between fork and exec only async-signal-safe functions may run, and no allocation: the closure makes
    // two plain system calls and compares numbers. It runs after the change of user, which would clear the setting.
    unsafe {
        command.pre_exec(in_child);
    }
}

/// Elsewhere a killed parent leaves the server running, and the next start ends it.
#[cfg(not(target_os = "linux"))]
fn die_with_parent(_command: &mut Command) {}

/// Stops the server: a fast shutdown (sessions are cut, everything is written), an immediate one if that takes too long.
pub(crate) fn stop(child: &mut Child) -> Result<(), Error> {
    for (signal, timeout) in [(Signal::SIGINT, SHUTDOWN), (Signal::SIGQUIT, IMMEDIATE_SHUTDOWN)] {
        let began = Instant::now();
        while began.elapsed() < timeout {
            if child.try_wait().cannot("wait for", "postgres")?.is_some() {
                return Ok(());
            }
            if began.elapsed() < GLANCE {
                // Not waited for yet, so the number is still this child's.
                kill(Pid::from_raw(pid_of(child)), signal).cannot("signal", "postgres")?;
            }
            sleep(GLANCE);
        }
    }
    Err(Error::StaysUp(child.id()))
}

/// Ends a server that runs on `data` without an owner: the holder of the cluster's lock calls this, so its starter is gone.
pub(crate) fn end_orphan(data: &Path) -> Result<(), Error> {
    let Some(orphan) = PidFile::read(data).filter(|f| f.names_a_server_of(data)) else {
        return Ok(());
    };
    tracing::warn!(pid = orphan.pid, "a PostgreSQL without its starter still runs here; stopping it");
    for (signal, timeout) in [(Signal::SIGINT, SHUTDOWN), (Signal::SIGQUIT, IMMEDIATE_SHUTDOWN)] {
        let began = Instant::now();
        // Gone already is as good.
        let _ = kill(Pid::from_raw(orphan.pid), signal);
        while began.elapsed() < timeout {
            if !orphan.names_a_server_of(data) {
                return Ok(());
            }
            sleep(GLANCE);
        }
    }
    Err(Error::OrphanStays { data: data.to_owned(), pid: orphan.pid })
}

/// Whether a server runs on `data` and takes connections.
pub(crate) fn is_ready(data: &Path) -> bool {
    PidFile::read(data).is_some_and(|file| file.ready && file.names_a_server_of(data))
}

/// Removes a `postmaster.pid` whose number now belongs to some other program (in a restarted container numbers come
/// again soon), for PostgreSQL would take that program for itself and refuse to start.
fn remove_misleading_pid_file(data: &Path) -> Result<(), Error> {
    match PidFile::read(data) {
        Some(file) if file.is_alive() && !file.names_a_server_of(data) => {
            let path = PidFile::path(data);
            fs::remove_file(&path).cannot("remove", path)
        }
        _ => Ok(()),
    }
}

/// What a server says about itself in its data directory.
struct PidFile {
    pid: i32,
    ready: bool,
}

impl PidFile {
    fn path(data: &Path) -> PathBuf {
        data.join("postmaster.pid")
    }

    fn read(data: &Path) -> Option<Self> {
        let text = fs::read_to_string(Self::path(data)).ok()?;
        let mut lines = text.lines().map(str::trim);
        let pid = lines.next()?.parse().ok().filter(|pid| *pid > 1)?;
        // The eighth line is the state.
        let ready = lines.nth(6) == Some("ready");
        Some(Self { pid, ready })
    }

    fn is_alive(&self) -> bool {
        kill(Pid::from_raw(self.pid), None) != Err(nix::errno::Errno::ESRCH)
    }

    /// Whether the process of that number was started as a server on `data`. A zombie has no arguments left.
    fn names_a_server_of(&self, data: &Path) -> bool {
        self.is_alive() && arguments(self.pid).contains(&format!(" -D {} ", data.display()))
    }
}

/// The command line of a process, which everyone may read (unlike its working directory).
#[cfg(target_os = "linux")]
fn arguments(pid: i32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

/// The command line of a process.
#[cfg(not(target_os = "linux"))]
fn arguments(pid: i32) -> String {
    let said = Command::new("ps").args(["-ww", "-o", "args=", "-p", &pid.to_string()]).output();
    said.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default()
}

fn pid_of(child: &Child) -> i32 {
    // Process ids fit: the kernel's own type is a 32-bit signed integer.
    i32::try_from(child.id()).unwrap_or(i32::MAX)
}
