//! Which Postgres a command works with.

use std::{path::PathBuf, time::Duration};

use anyhow::Context;
use pgcluster::{Cluster, Error, Options};
use store::{Connect, PoolOptions, Pooler, Store};
use tokio_util::sync::CancellationToken;

use crate::{
    commands::Misconfigured,
    config::{Config, DatabasePooler},
};

/// Connections that the embedded Postgres admits: those of a pool, of notifications and of a few tools.
const EMBEDDED_CONNECTIONS: u32 = 100;

/// Connections that a pool may have of them: the others are for what comes beside it, imports above all, and for commands.
pub const EMBEDDED_POOL: usize = 80;

/// A database, and the cluster that this process runs for it, if it does.
pub struct Database {
    pub connect: Connect,
    /// What stands before the database at `connect`.
    pooler: Pooler,
    /// How long a request waits for it.
    answer: Duration,
    /// The database with nothing before it, if there is a way to it.
    direct: Option<Connect>,
    /// Whether that way has an address of its own, which may lead elsewhere.
    is_direct_separate: bool,
    /// A standby that answers reads.
    standby: Option<Connect>,
    /// Stops when this is dropped.
    cluster: Option<Cluster>,
}

impl Database {
    /// The configured database; else the embedded one that another process runs on the data folder; else the embedded
    /// one, started here, unless `stop` is cancelled first.
    pub fn open(config: &Config, stop: &CancellationToken) -> anyhow::Result<Self> {
        if let Some(url) = config.database_url() {
            return Self::configured(config, url);
        }
        loop {
            if let Some(url) = Cluster::running(&root(config))? {
                return Self::embedded(config, &url, None);
            }
            match Self::start(config, stop) {
                // Another process was faster: its cluster is as good.
                Err(error) if matches!(error.downcast_ref::<Error>(), Some(Error::InUse { .. })) => {}
                started => return started,
            }
        }
    }

    /// The database for a process that is to run alone: an embedded one must not be in use elsewhere.
    pub fn own(config: &Config, stop: &CancellationToken) -> anyhow::Result<Self> {
        match config.database_url() {
            Some(url) => Self::configured(config, url),
            None => Self::start(config, stop),
        }
    }

    fn start(config: &Config, stop: &CancellationToken) -> anyhow::Result<Self> {
        let options = Options {
            root: root(config),
            durable: true,
            max_connections: EMBEDDED_CONNECTIONS,
            bin_dir: std::env::var_os("PG_BIN_DIR").map(Into::into),
        };
        let stop = stop.clone();
        let cluster = Cluster::start_unless(&options, move || stop.is_cancelled())
            .context("the embedded Postgres did not start")?;
        Self::embedded(config, &cluster.url(), Some(cluster))
    }

    fn embedded(config: &Config, url: &str, cluster: Option<Cluster>) -> anyhow::Result<Self> {
        let (connect, answer) = (Connect::parse(url)?, answer(config));
        Ok(Self {
            direct: Some(connect.clone()),
            is_direct_separate: false,
            standby: None,
            connect,
            pooler: Pooler::None,
            answer,
            cluster,
        })
    }

    fn configured(config: &Config, url: &str) -> anyhow::Result<Self> {
        let connect = address("DATABASE_URL", url)?;
        let direct = config.database_direct_url().map(|url| address("BAS_DATABASE_DIRECT_URL", url)).transpose()?;
        let standby = config.database_read_url().map(|url| address("BAS_DATABASE_READ_URL", url)).transpose()?;
        let is_direct_separate = direct.is_some();
        let (pooler, direct) = match config.database_pooler {
            DatabasePooler::None => (Pooler::None, direct.or_else(|| Some(connect.clone()))),
            DatabasePooler::Transaction => (Pooler::Transaction, direct),
        };
        Ok(Self { connect, pooler, answer: answer(config), direct, is_direct_separate, standby, cluster: None })
    }

    /// The way to the database that leads to a session of one's own, if there is one.
    pub fn direct(&self) -> Option<&Connect> {
        self.direct.as_ref()
    }

    /// The same for what cannot do without, once it is known to lead to the same database.
    pub async fn session(&self) -> anyhow::Result<&Connect> {
        self.verify_direct().await?;
        let why = "this needs a session of its own, which a pooler does not give: set BAS_DATABASE_DIRECT_URL to the \
                   database itself";
        self.direct.as_ref().ok_or_else(|| Misconfigured(why.to_owned()).into())
    }

    /// Checks that both ways lead to the same database: else imports would go into another one, and revocations of keys be
    /// waited for there.
    ///
    /// # Errors
    /// [`Misconfigured`] when they do not; another error when one of them does not answer.
    pub async fn verify_direct(&self) -> anyhow::Result<()> {
        let Some(direct) = self.direct.as_ref().filter(|_| self.is_direct_separate) else { return Ok(()) };
        let one = Store::connect(&self.connect, self.pool(1))?;
        let other = Store::connect(direct, PoolOptions { pooler: Pooler::None, ..self.pool(1) })?;
        let is_same = one.is_same_database(&other).await;
        one.close();
        other.close();
        if is_same.context("DATABASE_URL and BAS_DATABASE_DIRECT_URL cannot be compared")? {
            return Ok(());
        }
        Err(Misconfigured("BAS_DATABASE_DIRECT_URL leads to another database than DATABASE_URL".to_owned()).into())
    }

    /// A standby that answers reads, if there is one.
    pub fn standby(&self) -> Option<&Connect> {
        self.standby.as_ref()
    }

    /// How a pool of that number of connections works with the database.
    pub fn pool(&self, max_connections: usize) -> PoolOptions {
        PoolOptions { max_connections, pooler: self.pooler, ..PoolOptions::answering_within(self.answer) }
    }

    pub fn is_embedded(&self) -> bool {
        self.cluster.is_some()
    }

    /// Stops the cluster, if it is ours, and says when that fails.
    pub fn close(self) -> anyhow::Result<()> {
        self.cluster.map_or(Ok(()), |cluster| cluster.stop().context("the embedded Postgres did not stop"))
    }
}

fn address(variable: &str, url: &str) -> Result<Connect, Misconfigured> {
    Connect::parse(url).map_err(|error| Misconfigured(format!("{variable} is {error}")))
}

fn root(config: &Config) -> PathBuf {
    config.data_dir.join("postgres")
}

const fn answer(config: &Config) -> Duration {
    Duration::from_millis(config.database_timeout_ms)
}
