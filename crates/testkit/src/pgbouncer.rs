//! A PgBouncer of a test's own that gives a server's session away after every transaction, and takes another one for the
//! next, so that whatever is left in a session is missed at once.

use std::{
    path::PathBuf,
    process::Child,
    time::{Duration, Instant},
};

use anyhow::Context;
use tempfile::TempDir;
use tokio_postgres::{Config, config::Host};

use crate::{
    db::connect,
    owner::{Owner, reachable_folder},
    programs::program,
};

/// Far above what a start takes on a busy machine.
const START_WITHIN: Duration = Duration::from_secs(30);

/// Ends with this value.
pub struct PgBouncer {
    socket: PathBuf,
    database: String,
    server: Child,
    _folder: TempDir,
}

impl PgBouncer {
    /// Starts one before the database at `url`, with that number of sessions for all clients together; `None` where there is no
    /// PgBouncer.
    pub async fn start(url: &str, sessions: u32) -> anyhow::Result<Option<Self>> {
        let Some(program) = program("pgbouncer") else { return Ok(None) };
        let target: Config = url.parse()?;
        let (Some(Host::Unix(host)), Some(database)) = (target.get_hosts().first(), target.get_dbname()) else {
            anyhow::bail!("the address names no socket and database");
        };
        let owner = Owner::of(host)?;
        let folder = reachable_folder()?;
        let socket = folder.path().join("socket");
        owner.make(&socket)?;
        let settings = folder.path().join("pgbouncer.ini");
        std::fs::write(
            &settings,
            format!(
                "[databases]\n* = host={} user=postgres\n[pgbouncer]\nlisten_port = 5432\nlisten_addr =\n\
                 unix_socket_dir = {}\nauth_type = any\npool_mode = transaction\ndefault_pool_size = {sessions}\n\
                 server_round_robin = 1\nmax_client_conn = 500\n",
                host.display(),
                socket.display(),
            ),
        )?;
        let server = owner.command(&program).arg(&settings).spawn().context("cannot run pgbouncer")?;
        let bouncer = Self { socket, database: database.to_owned(), server, _folder: folder };
        let started = Instant::now();
        while connect(&bouncer.url()).await.is_err() {
            anyhow::ensure!(started.elapsed() < START_WITHIN, "pgbouncer does not answer");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        bouncer.open_all(sessions).await?;
        Ok(Some(bouncer))
    }

    /// Has it open all of its sessions, so that it has others to take from the first transaction on.
    async fn open_all(&self, sessions: u32) -> anyhow::Result<()> {
        let mut clients = Vec::new();
        for _ in 0..sessions {
            let client = connect(&self.url()).await?;
            client.batch_execute("BEGIN").await?;
            clients.push(client);
        }
        for client in clients {
            client.batch_execute("COMMIT").await?;
        }
        Ok(())
    }

    /// The database's address through it.
    pub fn url(&self) -> String {
        format!("host={} user=postgres dbname={}", self.socket.display(), self.database)
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        if let Err(error) = self.server.kill().and_then(|()| self.server.wait()) {
            eprintln!("pgbouncer did not end: {error}");
        }
    }
}
