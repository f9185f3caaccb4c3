//! A cluster with a standby that follows it, for tests of reads that come from a copy.

use std::{
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
    process::Child,
    sync::mpsc,
    time::{Duration, Instant},
};

use anyhow::Context;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use pgcluster::{Cluster, Options};
use tempfile::TempDir;
use tokio_postgres::Client;

use crate::{
    db::connect,
    owner::{Owner, reachable_folder},
};

/// Far above what a start takes on a busy machine.
const START_WITHIN: Duration = Duration::from_secs(60);
const CONNECTIONS: u32 = 50;

/// Starts a cluster on a thread that lives as long as the process, since a cluster ends with its thread.
pub fn cluster(root: &Path, durable: bool) -> anyhow::Result<Cluster> {
    let options = Options {
        root: root.to_owned(),
        durable,
        max_connections: CONNECTIONS,
        bin_dir: std::env::var_os("PG_BIN_DIR").map(PathBuf::from),
    };
    let (sender, started) = mpsc::channel();
    std::thread::spawn(move || {
        if sender.send(Cluster::start(&options)).is_ok() {
            loop {
                std::thread::park();
            }
        }
    });
    Ok(started.recv()??)
}

/// A primary and its standby; both end with this value.
pub struct Pair {
    pub primary: Cluster,
    pub standby: Standby,
    _folder: TempDir,
}

impl Pair {
    pub async fn start() -> anyhow::Result<Self> {
        let folder = reachable_folder()?;
        let root = folder.path().join("primary");
        let primary = cluster(&root, true)?;
        let standby = Standby::follow(&primary, &root, &folder.path().join("standby")).await?;
        Ok(Self { primary, standby, _folder: folder })
    }
}

/// A server that replays what its primary writes.
pub struct Standby {
    socket: PathBuf,
    server: Child,
}

impl Standby {
    async fn follow(primary: &Cluster, primary_root: &Path, root: &Path) -> anyhow::Result<Self> {
        let mut admission = OpenOptions::new().append(true).open(primary_root.join("hba.conf"))?;
        admission.write_all(b"local replication postgres peer map=owners\n")?;
        connect(&primary.url()).await?.batch_execute("SELECT pg_reload_conf()").await?;

        let owner = Owner::of(primary.socket_directory())?;
        owner.make(root)?;
        let (data, socket) = (root.join("data"), root.join("socket"));
        owner.make(&data)?;
        owner.make(&socket)?;
        let copied = owner
            .command(&primary.programs().join("pg_basebackup"))
            .args(["-U", "postgres", "-R", "-X", "stream", "-c", "fast", "--no-sync", "-h"])
            .arg(primary.socket_directory())
            .arg("-D")
            .arg(&data)
            .status()
            .context("cannot run pg_basebackup")?;
        anyhow::ensure!(copied.success(), "pg_basebackup failed");
        let setting = |name: &str, value: &Path| format!("{name}={}", value.display());
        let server = owner
            .command(&primary.programs().join("postgres"))
            .arg("-D")
            .arg(&data)
            .args(["-c", "listen_addresses=", "-c", "port=5432", "-c", "fsync=off"])
            .args(["-c", &format!("max_connections={CONNECTIONS}")])
            .args(["-c", &setting("unix_socket_directories", &socket)])
            .args(["-c", &setting("hba_file", &primary_root.join("hba.conf"))])
            .args(["-c", &setting("ident_file", &primary_root.join("ident.conf"))])
            .spawn()?;
        let standby = Self { socket, server };
        let started = Instant::now();
        while standby.client().await.is_err() {
            anyhow::ensure!(started.elapsed() < START_WITHIN, "the standby does not answer");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(standby)
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("host={} user=postgres dbname=postgres", self.socket.display())
    }

    pub async fn client(&self) -> anyhow::Result<Client> {
        connect(&self.url()).await
    }

    /// Sends a signal to the server's first process.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        Ok(kill(Pid::from_raw(self.server.id().cast_signed()), signal)?)
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        // An immediate shutdown, which also ends the server's children.
        if let Err(error) = self.signal(Signal::SIGQUIT).and_then(|()| Ok(self.server.wait()?)) {
            eprintln!("the standby did not end: {error}");
        }
    }
}
