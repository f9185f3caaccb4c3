//! The private Postgres: on disk, with fsync on.

use std::path::{Path, PathBuf};

use anyhow::Context;
use pgcluster::{Cluster, Options};
use store::Connect;
use tokio_postgres::{Client, NoTls};

/// A running cluster in a directory of its own, which goes with it.
pub struct Postgres {
    cluster: Cluster,
    directory: tempfile::TempDir,
    /// Where its files are.
    place: PathBuf,
    pid: u32,
}

impl Postgres {
    /// Starts it below `base`. To be called on the main thread: the server ends with the thread that starts it.
    ///
    /// # Errors
    /// When there is no server to be found, or it does not start.
    pub fn start(base: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(base)?;
        let directory = tempfile::Builder::new().prefix("cluster-").tempdir_in(base)?;
        open_to_others(directory.path())?;
        let root = directory.path().join("postgres");
        let link = root.join("cluster");
        let bin_dir = std::env::var_os("PG_BIN_DIR").map(PathBuf::from);
        let cluster = Cluster::start(&Options { root: root.clone(), durable: true, max_connections: 200, bin_dir })?;
        let place = if link.exists() { link } else { root };
        let pid = postmaster(&place)?;
        Ok(Self { cluster, directory, place, pid })
    }

    /// The process of the server; its backends are below it.
    #[must_use]
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// The address of a database.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        let url = self.cluster.url();
        url.rsplit_once('/').map_or_else(|| url.clone(), |(cluster, _)| format!("{cluster}/{database}"))
    }

    /// The directory of the socket, as `pgbench --host` takes it.
    #[must_use]
    pub fn socket(&self) -> &Path {
        self.cluster.socket_directory()
    }

    /// What the server logged.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn log(&self) -> anyhow::Result<String> {
        let path = self.place.join("postgres.log");
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A connection for what the benchmark itself has to say; its statements are not those under test.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub async fn client(&self, database: &str) -> anyhow::Result<Client> {
        let (client, driver) = tokio_postgres::connect(&self.url(database), NoTls).await?;
        tokio::spawn(driver);
        Ok(client)
    }

    /// Makes a database with the schema.
    ///
    /// # Errors
    /// When a migration fails.
    pub async fn create_database(&self, name: &str) -> anyhow::Result<()> {
        self.client("postgres").await?.batch_execute(&format!("CREATE DATABASE {name}")).await?;
        store::migrate(&Connect::parse(&self.url(name))?).await?;
        Ok(())
    }

    /// A folder for files of the run.
    #[must_use]
    pub fn scratch(&self) -> &Path {
        self.directory.path()
    }

    /// Stops the server.
    ///
    /// # Errors
    /// When it does not end.
    pub fn stop(self) -> anyhow::Result<()> {
        Ok(self.cluster.stop()?)
    }
}

/// The account that the server runs as passes through; the cluster below is its own.
fn open_to_others(directory: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o711))
}

fn postmaster(place: &Path) -> anyhow::Result<u32> {
    let file = place.join("data/postmaster.pid");
    let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    text.lines().next().and_then(|line| line.trim().parse().ok()).context("a server without a process")
}
