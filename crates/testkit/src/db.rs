//! A database of its own for every test, cloned from a template that holds the migrated schema.

use anyhow::Context;
use ring::rand::{SecureRandom, SystemRandom};
use store::{Connect, PoolOptions, Store};
use tokio_postgres::{Client, NoTls};

use crate::CLUSTER_VARIABLE;

/// Advisory lock under which the template is made once.
const TEMPLATE_LOCK: i64 = 7_203_441_927;

/// The template; the cluster lives for one run of the tests, so its schema is the one compiled in.
const TEMPLATE: &str = "template_schema";

/// A fresh database; dropped with this value, whoever is still connected.
pub struct TestDb {
    admin_url: String,
    name: String,
}

impl TestDb {
    /// Makes the database in the cluster that the environment names.
    pub async fn new() -> anyhow::Result<Self> {
        let admin_url = std::env::var(CLUSTER_VARIABLE).ok().with_context(|| {
            format!(
                "{CLUSTER_VARIABLE} is not set: run the tests with `make test`, or some of them with \
                 `cargo run -p testkit --bin with-postgres -- cargo test -p store`"
            )
        })?;
        let admin = connect(&admin_url).await?;
        ensure_template(&admin, &admin_url).await?;
        let mut random = [0u8; 8];
        SystemRandom::new().fill(&mut random).map_err(|_| anyhow::anyhow!("no random bytes"))?;
        let name = format!("test_{}", hex::encode(random));
        // Copying files is faster than writing the copy to the log, where there is a choice.
        let server: i32 = admin.query_one("SELECT current_setting('server_version_num')::int", &[]).await?.get(0);
        let strategy = if server >= 150_000 { "STRATEGY FILE_COPY" } else { "" };
        admin.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {TEMPLATE} {strategy}")).await?;
        Ok(Self { admin_url, name })
    }

    /// The database's address.
    pub fn url(&self) -> String {
        database_url(&self.admin_url, &self.name)
    }

    pub fn connect(&self) -> anyhow::Result<Connect> {
        Connect::parse(&self.url())
    }

    /// A store with a few connections.
    pub fn store(&self) -> anyhow::Result<Store> {
        Store::connect(&self.connect()?, PoolOptions { max_connections: 4, ..PoolOptions::default() })
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
        let (admin_url, name) = (self.admin_url.clone(), self.name.clone());
        let dropping = std::thread::spawn(move || -> anyhow::Result<()> {
            tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
                let admin = connect(&admin_url).await?;
                Ok(admin.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await?)
            })
        });
        match dropping.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => eprintln!("{} was not dropped: {error}", self.name),
            Err(_) => eprintln!("{} was not dropped", self.name),
        }
    }
}

async fn ensure_template(admin: &Client, admin_url: &str) -> anyhow::Result<()> {
    if is_template(admin).await? {
        return Ok(());
    }
    admin.execute("SELECT pg_advisory_lock($1)", &[&TEMPLATE_LOCK]).await?;
    let made = if is_template(admin).await? { Ok(()) } else { make_template(admin, admin_url).await };
    admin.execute("SELECT pg_advisory_unlock($1)", &[&TEMPLATE_LOCK]).await?;
    made
}

async fn is_template(admin: &Client) -> anyhow::Result<bool> {
    let found = admin.query_opt("SELECT 1 FROM pg_database WHERE datname = $1 AND datistemplate", &[&TEMPLATE]).await?;
    Ok(found.is_some())
}

async fn make_template(admin: &Client, admin_url: &str) -> anyhow::Result<()> {
    // One left half made by a run that was killed.
    admin.batch_execute(&format!("DROP DATABASE IF EXISTS {TEMPLATE} WITH (FORCE)")).await?;
    admin.batch_execute(&format!("CREATE DATABASE {TEMPLATE}")).await?;
    store::migrate(&Connect::parse(&database_url(admin_url, TEMPLATE))?).await?;
    // A database that anyone is connected to cannot be copied.
    admin.batch_execute(&format!("ALTER DATABASE {TEMPLATE} ALLOW_CONNECTIONS false")).await?;
    admin
        .execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1", &[&TEMPLATE])
        .await?;
    admin.batch_execute(&format!("ALTER DATABASE {TEMPLATE} IS_TEMPLATE true")).await?;
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
