//! A Redis of a test's own, on a Unix socket.

use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::Context;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tempfile::TempDir;

use crate::programs::program;

/// Far above what a start takes on a busy machine.
const START_WITHIN: Duration = Duration::from_secs(30);

/// A server that keeps nothing on disk; it ends with this value.
pub struct Redis {
    program: PathBuf,
    folder: TempDir,
    /// Settings in addition to those that every one has.
    settings: Vec<String>,
    server: Option<Child>,
}

impl Redis {
    /// Starts one; none where there is no Redis.
    pub fn start() -> anyhow::Result<Option<Self>> {
        Self::start_with(&[])
    }

    /// Starts one with settings of its own, as arguments of the command; none where there is no Redis.
    pub fn start_with(settings: &[&str]) -> anyhow::Result<Option<Self>> {
        let Some(program) = program("redis-server") else { return Ok(None) };
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let mut redis = Self { program, folder: tempfile::tempdir()?, settings, server: None };
        redis.resume()?;
        Ok(Some(redis))
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("redis.sock")
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }

    /// Ends the server; what it counted is forgotten.
    pub fn stop(&mut self) -> anyhow::Result<()> {
        if let Some(mut server) = self.server.take() {
            server.kill()?;
            server.wait()?;
        }
        Ok(())
    }

    /// Starts the server again at the same address.
    pub fn resume(&mut self) -> anyhow::Result<()> {
        let server = Command::new(&self.program)
            .args(["--port", "0", "--save", "", "--appendonly", "no"])
            .arg("--unixsocket")
            .arg(self.socket())
            .arg("--dir")
            .arg(self.folder.path())
            .args(&self.settings)
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot run {}", self.program.display()))?;
        self.server = Some(server);
        let started = Instant::now();
        while !self.answers() {
            anyhow::ensure!(started.elapsed() < START_WITHIN, "redis-server does not answer");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Halts the server: connections stay open and nothing answers on them.
    pub fn halt(&self) -> anyhow::Result<()> {
        self.signal(Signal::SIGSTOP)
    }

    /// Lets a halted server go on.
    pub fn go_on(&self) -> anyhow::Result<()> {
        self.signal(Signal::SIGCONT)
    }

    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let server = self.server.as_ref().context("the server was stopped")?;
        Ok(kill(Pid::from_raw(server.id().cast_signed()), signal)?)
    }

    fn answers(&self) -> bool {
        let asked = UnixStream::connect(self.socket()).and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            stream.write_all(b"PING\r\n")?;
            let mut answer = [0; 5];
            stream.read_exact(&mut answer)?;
            Ok(answer)
        });
        // One that wants a password says so.
        asked.is_ok_and(|answer| &answer == b"+PONG" || &answer == b"-NOAU")
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // A halted server would not be waited for; killing ends it nevertheless.
        if let Err(error) = self.stop() {
            eprintln!("redis-server did not end: {error}");
        }
    }
}
