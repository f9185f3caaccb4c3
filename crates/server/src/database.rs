//! Which Postgres a command works with.

use std::path::Path;

use anyhow::Context;
use pgcluster::{Cluster, Options};
use store::Connect;

use crate::config::Config;

/// Connections that the embedded Postgres admits: those of a pool, of notifications and of a few tools.
const EMBEDDED_CONNECTIONS: u32 = 100;

/// A database, and the cluster that this process runs for it, if it does.
pub struct Database {
    pub connect: Connect,
    /// Stops when this is dropped.
    cluster: Option<Cluster>,
}

impl Database {
    /// The configured database; else the embedded one that another process runs on the data folder; else the embedded
    /// one, started here. Call it on the main thread: the cluster ends with the thread that starts it.
    pub fn open(config: &Config) -> anyhow::Result<Self> {
        if let Some(url) = config.database_url() {
            return Ok(Self { connect: Connect::parse(url)?, cluster: None });
        }
        let root = config.data_dir.join("postgres");
        if let Some(url) = Cluster::running(&root)? {
            return Ok(Self { connect: Connect::parse(&url)?, cluster: None });
        }
        Self::start(&root)
    }

    /// The database for a process that is to run by itself: an embedded one must not be in use elsewhere.
    pub fn own(config: &Config) -> anyhow::Result<Self> {
        match config.database_url() {
            Some(url) => Ok(Self { connect: Connect::parse(url)?, cluster: None }),
            None => Self::start(&config.data_dir.join("postgres")),
        }
    }

    fn start(root: &Path) -> anyhow::Result<Self> {
        let cluster = Cluster::start(&Options {
            root: root.to_owned(),
            durable: true,
            max_connections: EMBEDDED_CONNECTIONS,
            bin_dir: std::env::var_os("PG_BIN_DIR").map(Into::into),
        })
        .context("the embedded Postgres did not start")?;
        Ok(Self { connect: Connect::parse(&cluster.url())?, cluster: Some(cluster) })
    }

    pub fn is_embedded(&self) -> bool {
        self.cluster.is_some()
    }

    /// Stops the cluster, if it is ours, and says when that fails.
    pub fn close(self) -> anyhow::Result<()> {
        self.cluster.map_or(Ok(()), |cluster| cluster.stop().context("the embedded Postgres did not stop"))
    }
}
