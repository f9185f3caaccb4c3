//! Connections: a pool, TLS by rustls, time limits on both sides, and the migrations.

use std::{future::Future, sync::Arc, time::Duration};

use diesel::result::Error;
use diesel_async::{
    AsyncMigrationHarness, AsyncPgConnection, SimpleAsyncConnection,
    pooled_connection::{
        AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod,
        deadpool::{Object, Pool as DeadPool},
    },
};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use domain::StoreError;
use futures_util::FutureExt;
use rustls::ClientConfig;
use tokio_postgres::{Config, config::SslMode};

use crate::{Store, error::pool_error};

/// The schema's migrations, compiled in.
pub const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations");

/// Advisory lock that makes replicas that start together migrate one after the other.
const MIGRATION_LOCK: i64 = 7_203_441_926;

pub(crate) type Pool = DeadPool<AsyncPgConnection>;
pub(crate) type Connection = Object<AsyncPgConnection>;

/// How to keep connections.
#[derive(Debug, Clone, Copy)]
pub struct PoolOptions {
    pub max_connections: usize,
    /// How long a caller waits for a free connection.
    pub wait: Duration,
    /// How long the server may work on a statement of a request; a job sets its own limit.
    pub statement_timeout: Duration,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            max_connections: 16,
            wait: Duration::from_millis(1_500),
            statement_timeout: Duration::from_millis(10_000),
        }
    }
}

/// How long the client waits for any one statement of a request. The server's own limit does not fire while the server
/// is stopped or unreachable.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_millis(1_800);

/// Where the database is: a `postgres://` URL or a libpq-like key-value string. Its `Debug` shows no password.
#[derive(Clone)]
pub struct Connect {
    config: Config,
    tls: Option<Arc<ClientConfig>>,
}

impl Connect {
    /// Reads the address. `sslmode=verify-full` and `verify-ca` are taken as `require`: certificates are always
    /// verified here.
    pub fn parse(url: &str) -> anyhow::Result<Self> {
        let url = url.replace("sslmode=verify-full", "sslmode=require").replace("sslmode=verify-ca", "sslmode=require");
        let mut config: Config =
            url.parse().map_err(|_| anyhow::anyhow!("DATABASE_URL is not a postgres:// address"))?;
        config.connect_timeout(Duration::from_millis(1_500));
        config.keepalives_idle(Duration::from_secs(30));
        if config.get_application_name().is_none() {
            config.application_name("business-analytics");
        }
        let tls = match config.get_ssl_mode() {
            SslMode::Disable => None,
            _ => Some(Arc::new(tls_config())),
        };
        Ok(Self { config, tls })
    }

    /// A connection without Diesel, for COPY and for notifications. The caller drives the returned future.
    pub async fn raw(
        &self,
    ) -> Result<
        (tokio_postgres::Client, impl Future<Output = Result<(), tokio_postgres::Error>> + Send + use<>),
        StoreError,
    > {
        let connect = self.config.clone();
        let unavailable = |error: tokio_postgres::Error| StoreError::Unavailable(error.to_string());
        match &self.tls {
            Some(tls) => {
                let tls = tokio_postgres_rustls::MakeRustlsConnect::new((**tls).clone());
                let (client, connection) = connect.connect(tls).await.map_err(unavailable)?;
                Ok((client, connection.boxed()))
            }
            None => {
                let (client, connection) = connect.connect(tokio_postgres::NoTls).await.map_err(unavailable)?;
                Ok((client, connection.boxed()))
            }
        }
    }

    async fn establish(&self) -> diesel::ConnectionResult<AsyncPgConnection> {
        let bad = |error: tokio_postgres::Error| diesel::ConnectionError::BadConnection(error.to_string());
        match &self.tls {
            Some(tls) => {
                let tls = tokio_postgres_rustls::MakeRustlsConnect::new((**tls).clone());
                let (client, connection) = self.config.connect(tls).await.map_err(bad)?;
                AsyncPgConnection::try_from_client_and_connection(client, connection).await
            }
            None => {
                let (client, connection) = self.config.connect(tokio_postgres::NoTls).await.map_err(bad)?;
                AsyncPgConnection::try_from_client_and_connection(client, connection).await
            }
        }
    }
}

impl std::fmt::Debug for Connect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connect").field("dbname", &self.config.get_dbname()).finish_non_exhaustive()
    }
}

fn tls_config() -> ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    ClientConfig::builder().with_root_certificates(roots).with_no_client_auth()
}

impl Store {
    /// Makes the pool; connections are opened when they are needed.
    pub fn connect(connect: &Connect, options: PoolOptions) -> anyhow::Result<Self> {
        let mut manager = ManagerConfig::default();
        // `Verified`, the default, costs a query per checkout; `Fast` notices a closed connection as well.
        manager.recycling_method = RecyclingMethod::Fast;
        let target = connect.clone();
        let statement_timeout = options.statement_timeout.as_millis();
        manager.custom_setup = Box::new(move |_| {
            let target = target.clone();
            async move {
                let mut connection = target.establish().await?;
                connection
                    .batch_execute(&format!("SET statement_timeout = {statement_timeout}; SET TIME ZONE 'UTC'"))
                    .await
                    .map_err(diesel::ConnectionError::CouldntSetupConfiguration)?;
                Ok(connection)
            }
            .boxed()
        });
        let manager = AsyncDieselConnectionManager::<AsyncPgConnection>::new_with_config("", manager);
        let pool = Pool::builder(manager)
            .max_size(options.max_connections)
            .wait_timeout(Some(options.wait))
            .create_timeout(Some(Duration::from_millis(1_500)))
            .runtime(deadpool::Runtime::Tokio1)
            .build()?;
        Ok(Self { pool })
    }

    /// A connection of the pool, for work that has its own time limits.
    pub(crate) async fn connection(&self) -> Result<Connection, StoreError> {
        self.pool.get().await.map_err(pool_error)
    }

    /// Runs statements of a request on a connection of the pool, and gives up when no answer comes in time: the
    /// connection is then closed, since its statement may still be running.
    pub(crate) async fn run<T, E: From<Error> + From<StoreError>>(
        &self,
        work: impl AsyncFnOnce(&mut AsyncPgConnection) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut connection = self.connection().await?;
        match tokio::time::timeout(ANSWER_TIMEOUT, work(&mut connection)).await {
            Ok(result) => result,
            Err(_) => {
                drop(Connection::take(connection));
                Err(StoreError::Unavailable("no answer in time".to_owned()).into())
            }
        }
    }

    /// (connections in use, connections open), for the metrics.
    pub fn pool_usage(&self) -> (usize, usize) {
        let status = self.pool.status();
        (status.size.saturating_sub(status.available), status.size)
    }

    /// Closes the pool: what is in use ends, nothing new is given out.
    pub fn close(&self) {
        self.pool.close();
    }
}

/// Runs the migrations that have not run yet and returns their names. Safe when several processes start at once.
pub async fn migrate(connect: &Connect) -> anyhow::Result<Vec<String>> {
    let mut connection = connect.establish().await?;
    connection.batch_execute(&format!("SELECT pg_advisory_lock({MIGRATION_LOCK})")).await?;
    // The harness blocks its thread, which panics on a single-threaded runtime.
    tokio::task::spawn_blocking(move || {
        let mut harness = AsyncMigrationHarness::new(connection);
        let run =
            harness.run_pending_migrations(MIGRATIONS).map_err(|error| anyhow::anyhow!("migration failed: {error}"))?;
        Ok(run.iter().map(ToString::to_string).collect())
    })
    .await?
}

/// Undoes every migration, newest first. For tests.
pub async fn revert_all(connect: &Connect) -> anyhow::Result<()> {
    let connection = connect.establish().await?;
    tokio::task::spawn_blocking(move || {
        let mut harness = AsyncMigrationHarness::new(connection);
        harness.revert_all_migrations(MIGRATIONS).map_err(|error| anyhow::anyhow!("revert failed: {error}"))?;
        Ok(())
    })
    .await?
}
