//! Starting and stopping the server.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    fcntl::Flock,
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{
    Error,
    account::Account,
    binaries::{self, Binaries},
    error::IoContext,
    place::{Place, private_directory},
};

/// How long a start may take; recovery after a crash replays the log and takes its time.
const START_WITHIN: Duration = Duration::from_secs(120);
/// How long a fast shutdown may take: it writes what is dirty in memory.
const STOP_WITHIN: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(10);

/// What cluster to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The directory for it, made when it is not there.
    pub root: PathBuf,
    /// False gives up safety against power cuts for speed: for tests only.
    pub durable: bool,
    /// Connections at most.
    pub max_connections: u32,
    /// Where the server programs are; looked for when not given.
    pub bin_dir: Option<PathBuf>,
}

/// A running cluster. It stops when this is dropped.
#[derive(Debug)]
pub struct Cluster {
    socket: PathBuf,
    data: PathBuf,
    server: Child,
    stopped: bool,
    /// Held as long as the cluster is ours.
    _lock: Flock<File>,
}

impl Cluster {
    /// Starts the cluster, making it first when there is none. Call it on a thread that lives as long as the cluster
    /// should: the kernel stops the server when the *thread* that started it ends.
    pub fn start(options: &Options) -> Result<Self, Error> {
        let (place, account) = Place::choose(&options.root)?;
        let lock = place.lock()?;
        let data = place.data();
        let programs = binaries::find(options.bin_dir.as_deref(), &data, place.made_by())?;
        if account.switch && !account.can_reach(&programs.directory) {
            return Err(Error::Unreachable { path: programs.directory, account: account.name });
        }
        await_orphan(&data)?;
        if place.made_by().is_none() {
            make(&place, &account, &programs)?;
        }
        place.write_access_rules(&account)?;
        let socket = place.socket_directory(&account)?;
        let server = launch(&place, &account, &programs, &socket, options)?;
        let mut cluster = Self { socket, data, server, stopped: false, _lock: lock };
        cluster.await_ready(&place)?;
        Ok(cluster)
    }

    /// The address of a cluster that another process runs under `root`; none when nobody does.
    pub fn running(root: &Path) -> Result<Option<String>, Error> {
        if !root.is_dir() {
            return Ok(None);
        }
        let (place, account) = Place::choose(root)?;
        match place.lock() {
            Ok(_) => Ok(None),
            Err(Error::InUse { .. }) => Ok(Some(url(&place.socket_directory(&account)?))),
            Err(error) => Err(error),
        }
    }

    /// The address of the database `postgres`, for drivers that take a percent-encoded socket directory as host.
    pub fn url(&self) -> String {
        url(&self.socket)
    }

    /// The directory of the Unix socket, as `psql --host` takes it.
    pub fn socket_directory(&self) -> &Path {
        &self.socket
    }

    /// The process id of the server.
    pub fn pid(&self) -> u32 {
        self.server.id()
    }

    /// Stops the server: open transactions are rolled back, sessions end, the log is complete.
    pub fn stop(mut self) -> Result<(), Error> {
        self.shut_down()
    }

    fn shut_down(&mut self) -> Result<(), Error> {
        if self.stopped {
            return Ok(());
        }
        self.stopped = true;
        let pid = Pid::from_raw(i32::try_from(self.server.id()).unwrap_or(i32::MAX));
        // SIGINT is Postgres' "fast shutdown". A server that is gone already needs none.
        if kill(pid, Signal::SIGINT).is_err() && self.server.try_wait().is_ok_and(|status| status.is_some()) {
            return Ok(());
        }
        let asked = Instant::now();
        while asked.elapsed() < STOP_WITHIN {
            if self.server.try_wait().cannot("wait for", &self.data)?.is_some() {
                return Ok(());
            }
            thread::sleep(POLL);
        }
        Err(Error::StaysUp(self.server.id()))
    }

    fn await_ready(&mut self, place: &Place) -> Result<(), Error> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.server.try_wait().cannot("wait for", &self.data)? {
                self.stopped = true;
                return Err(Error::EndedEarly { status, log: place.log(), tail: tail(&place.log()) });
            }
            if let Some(state) = Postmaster::read(&self.data)
                && u32::try_from(state.pid) == Ok(self.server.id())
                && state.ready
            {
                return Ok(());
            }
            if started.elapsed() > START_WITHIN {
                return Err(Error::StaysUp(self.server.id()));
            }
            thread::sleep(POLL);
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Err(error) = self.shut_down() {
            tracing::error!(%error, "the private Postgres did not stop");
        }
    }
}

/// What the server says of itself in `postmaster.pid`: process id first, state in the eighth line.
struct Postmaster {
    pid: i32,
    ready: bool,
}

impl Postmaster {
    fn read(data: &Path) -> Option<Self> {
        let text = fs::read_to_string(data.join("postmaster.pid")).ok()?;
        let mut lines = text.lines();
        let pid = lines.next()?.trim().parse().ok()?;
        let ready = lines.nth(6).is_some_and(|state| state.trim() == "ready");
        Some(Self { pid, ready })
    }
}

/// Waits for a server whose process was killed: the kernel has asked it to stop, but it may still be at it.
fn await_orphan(data: &Path) -> Result<(), Error> {
    let asked = Instant::now();
    while let Some(Postmaster { pid, .. }) = Postmaster::read(data)
        && serves(pid, data)
    {
        if asked.elapsed() > STOP_WITHIN {
            return Err(Error::OrphanStays { data: data.to_owned(), pid });
        }
        // Asked again each time: before this process held the lock another may have been starting it.
        match kill(Pid::from_raw(pid), Signal::SIGINT) {
            Ok(()) | Err(Errno::ESRCH) => thread::sleep(POLL * 10),
            Err(_) => return Err(Error::OrphanStays { data: data.to_owned(), pid }),
        }
    }
    Ok(())
}

/// Whether the process is a server on this very directory; a number may have been given to another process since.
fn serves(pid: i32, data: &Path) -> bool {
    let proc = PathBuf::from(format!("/proc/{pid}"));
    if !Path::new("/proc/self").exists() {
        return kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH);
    }
    let here = fs::canonicalize(data).ok();
    fs::read_link(proc.join("cwd")).ok().is_some_and(|cwd| Some(cwd) == here)
}

/// Makes the cluster under another name and renames it when it is whole: a killed first start leaves no half one.
fn make(place: &Place, account: &Account, programs: &Binaries) -> Result<(), Error> {
    let data = place.data();
    let fresh = data.with_extension("new");
    match fs::remove_dir_all(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).cannot("remove", fresh),
        _ => {}
    }
    private_directory(&fresh, account)?;
    let said = account
        .command(&programs.initdb())
        .args(["--username=postgres", "--auth=reject", "--encoding=UTF8", "--locale=C", "--no-instructions", "-D"])
        .arg(&fresh)
        .output()
        .cannot("run", programs.initdb())?;
    if !said.status.success() {
        let output = [said.stdout, said.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        return Err(Error::Initdb { status: said.status, output });
    }
    fs::rename(&fresh, &data).cannot("rename", fresh)
}

fn launch(
    place: &Place,
    account: &Account,
    programs: &Binaries,
    socket: &Path,
    options: &Options,
) -> Result<Child, Error> {
    let mut settings = vec![
        ("listen_addresses", String::new()),
        ("unix_socket_directories", socket.display().to_string()),
        ("hba_file", place.hba().display().to_string()),
        ("ident_file", place.ident().display().to_string()),
        ("max_connections", options.max_connections.to_string()),
        ("shared_buffers", "128MB".to_owned()),
        ("log_timezone", "UTC".to_owned()),
        ("timezone", "UTC".to_owned()),
    ];
    if !options.durable {
        for name in ["fsync", "synchronous_commit", "full_page_writes"] {
            settings.push((name, "off".to_owned()));
        }
    }
    let log = place.open_log()?;
    let mut command = account.command(&programs.postgres());
    command.arg("-D").arg(place.data());
    for (name, value) in settings {
        command.arg("-c").arg(format!("{name}={value}"));
    }
    command.stdout(log.try_clone().cannot("open", place.log())?).stderr(log);
    stop_with_us(&mut command);
    command.spawn().cannot("start", programs.postgres())
}

/// Has the kernel ask the server for a fast shutdown when the thread that starts it ends, be it by `kill -9`.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the standard library has no safe way to set a process attribute before exec")]
fn stop_with_us(command: &mut Command) {
    let parent = nix::unistd::getpid();
    // SAFETY: between fork and exec only two system calls are made, both async-signal-safe, and nothing is allocated.
    // It runs after the change of user, which would clear the attribute.
    unsafe {
        command.pre_exec(move || {
            nix::sys::prctl::set_pdeathsig(Signal::SIGINT)?;
            if nix::unistd::getppid() == parent { Ok(()) } else { Err(io::Error::from(Errno::ESRCH)) }
        });
    }
}

/// Elsewhere a killed process leaves its server running; the next start ends it.
#[cfg(not(target_os = "linux"))]
fn stop_with_us(_: &mut Command) {}

fn url(socket: &Path) -> String {
    let host: String = socket
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => char::from(*byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect();
    format!("postgres://postgres@{host}/postgres")
}

/// The last lines of the log.
fn tail(log: &Path) -> String {
    let lines = File::open(log).map(|file| BufReader::new(file).lines().map_while(Result::ok).collect::<Vec<_>>());
    let lines = lines.unwrap_or_default();
    lines.iter().skip(lines.len().saturating_sub(10)).cloned().collect::<Vec<_>>().join("\n")
}
