//! A database of its own for every test, cloned from a template that holds the migrated schema. On a Citus cluster every
//! node has a database of that name, and the template of each is cloned there: what a coordinator knows of its workers'
//! shards is rows of its own database.

use std::time::Duration;

use anyhow::Context;
use ring::rand::{SecureRandom, SystemRandom};
use store::{Connect, PoolOptions, Store};
use tokio_postgres::{Client, NoTls, config::Host};

use crate::{CITUS_VARIABLE, CLUSTER_VARIABLE};

/// Advisory lock under which the template is made once.
const TEMPLATE_LOCK: i64 = 7_203_441_927;

/// The template; the cluster lives for one run of the tests, so its schema is the one compiled in.
const TEMPLATE: &str = "template_schema";

/// The servers that a test's database is on.
#[derive(Clone)]
struct Servers {
    /// The only one, or the coordinator.
    first: String,
    /// Those of a Citus cluster.
    workers: Vec<String>,
}

impl Servers {
    fn all(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.first).chain(&self.workers)
    }

    /// Runs statements on each of them.
    async fn on_all(&self, database: Option<&str>, sql: &str) -> anyhow::Result<()> {
        for url in self.all() {
            let url = database.map_or_else(|| url.clone(), |name| database_url(url, name));
            connect(&url).await?.batch_execute(sql).await.with_context(|| format!("{sql} on {url}"))?;
        }
        Ok(())
    }
}

/// A fresh database; dropped with this value, open connections or not.
pub struct TestDb {
    servers: Servers,
    name: String,
}

/// A pool of a few connections that waits for longer than any machine is busy. In production a request is given up after
/// two seconds; a test that is about anything else is not to fail because of it.
#[must_use]
pub fn patient() -> PoolOptions {
    PoolOptions {
        max_connections: 4,
        statement_timeout: Duration::from_secs(120),
        ..PoolOptions::answering_within(Duration::from_secs(60))
    }
}

impl TestDb {
    /// Makes the database in the cluster that the environment names.
    pub async fn new() -> anyhow::Result<Self> {
        let first = std::env::var(CLUSTER_VARIABLE).ok().with_context(|| {
            format!(
                "{CLUSTER_VARIABLE} is not set: run the tests with `make test`, or some of them with \
                 `cargo run -p testkit --bin with-postgres -- cargo test -p store`"
            )
        })?;
        let workers = std::env::var(CITUS_VARIABLE).unwrap_or_default();
        let servers = Servers { first, workers: workers.split_whitespace().map(ToOwned::to_owned).collect() };
        let admin = connect(&servers.first).await?;
        ensure_template(&admin, &servers).await?;
        let mut random = [0u8; 8];
        SystemRandom::new().fill(&mut random).map_err(|_| anyhow::anyhow!("no random bytes"))?;
        let name = format!("test_{}", hex::encode(random));
        // Copying files is faster than writing the copy to the log, where there is a choice.
        let server: i32 = admin.query_one("SELECT current_setting('server_version_num')::int", &[]).await?.get(0);
        let strategy = if server >= 150_000 { "STRATEGY FILE_COPY" } else { "" };
        servers.on_all(None, &format!("CREATE DATABASE {name} TEMPLATE {TEMPLATE} {strategy}")).await?;
        Ok(Self { servers, name })
    }

    /// The database's address.
    pub fn url(&self) -> String {
        database_url(&self.servers.first, &self.name)
    }

    pub fn connect(&self) -> anyhow::Result<Connect> {
        Connect::parse(&self.url())
    }

    /// A store with a few connections.
    pub fn store(&self) -> anyhow::Result<Store> {
        Store::connect(&self.connect()?, patient())
    }

    /// A plain client, for what a test sets up or looks at by SQL.
    pub async fn client(&self) -> anyhow::Result<Client> {
        connect(&self.url()).await
    }
}

impl Drop for TestDb {
    /// On a thread with a runtime of its own, since the test's cannot be waited for here. A database that stays is
    /// only memory lost until the cluster ends, so a failure is said and left at that.
    fn drop(&mut self) {
        let (servers, name) = (self.servers.clone(), self.name.clone());
        let dropping = std::thread::spawn(move || -> anyhow::Result<()> {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?
                .block_on(async { servers.on_all(None, &format!("DROP DATABASE {name} WITH (FORCE)")).await })
        });
        match dropping.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => eprintln!("{} was not dropped: {error}", self.name),
            Err(_) => eprintln!("{} was not dropped", self.name),
        }
    }
}

async fn ensure_template(admin: &Client, servers: &Servers) -> anyhow::Result<()> {
    if is_template(admin).await? {
        return Ok(());
    }
    admin.execute("SELECT pg_advisory_lock($1)", &[&TEMPLATE_LOCK]).await?;
    let made = if is_template(admin).await? { Ok(()) } else { make_template(servers).await };
    admin.execute("SELECT pg_advisory_unlock($1)", &[&TEMPLATE_LOCK]).await?;
    made
}

async fn is_template(admin: &Client) -> anyhow::Result<bool> {
    let found = admin.query_opt("SELECT 1 FROM pg_database WHERE datname = $1 AND datistemplate", &[&TEMPLATE]).await?;
    Ok(found.is_some())
}

async fn make_template(servers: &Servers) -> anyhow::Result<()> {
    // One left half made by a run that was killed.
    servers.on_all(None, &format!("DROP DATABASE IF EXISTS {TEMPLATE} WITH (FORCE)")).await?;
    servers.on_all(None, &format!("CREATE DATABASE {TEMPLATE}")).await?;
    let target = Connect::parse(&database_url(&servers.first, TEMPLATE))?;
    if servers.workers.is_empty() {
        store::migrate(&target).await?;
    } else {
        join_nodes(servers).await?;
        store::migrate(&target).await?;
        store::citus::distribute(&target).await?;
    }
    // A database that anyone is connected to cannot be copied.
    servers.on_all(None, &format!("ALTER DATABASE {TEMPLATE} ALLOW_CONNECTIONS false")).await?;
    servers
        .on_all(
            None,
            &format!("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{TEMPLATE}'"),
        )
        .await?;
    // The coordinator's last: it says that all of it is there.
    for url in servers.workers.iter().chain([&servers.first]) {
        connect(url).await?.batch_execute(&format!("ALTER DATABASE {TEMPLATE} IS_TEMPLATE true")).await?;
    }
    Ok(())
}

/// Makes the templates one distributed database.
async fn join_nodes(servers: &Servers) -> anyhow::Result<()> {
    servers.on_all(Some(TEMPLATE), "CREATE EXTENSION citus").await?;
    let coordinator = connect(&database_url(&servers.first, TEMPLATE)).await?;
    for (url, join) in servers.all().zip(std::iter::once("set_coordinator_host").chain(std::iter::repeat("add_node"))) {
        let config: tokio_postgres::Config = url.parse()?;
        let (Some(Host::Tcp(host)), Some(port)) = (config.get_hosts().first(), config.get_ports().first()) else {
            anyhow::bail!("{url} names no host and port");
        };
        coordinator.batch_execute(&format!("SELECT citus_{join}('{host}', {port})")).await?;
    }
    Ok(())
}

/// The address of another database of the same cluster.
fn database_url(admin_url: &str, name: &str) -> String {
    let cluster = admin_url.rsplit_once('/').map_or(admin_url, |(cluster, _)| cluster);
    format!("{cluster}/{name}")
}

pub(crate) async fn connect(url: &str) -> anyhow::Result<Client> {
    let (client, driver) = tokio_postgres::connect(url, NoTls).await?;
    // The driver ends when the client is dropped.
    tokio::spawn(driver);
    Ok(client)
}
