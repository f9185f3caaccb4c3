//! Connections: a pool, TLS by rustls, time limits on both sides, and the migrations.

use std::time::Duration;

use diesel::{connection::CacheSize, sql_types::BigInt};
use diesel_async::{
    AsyncConnection, AsyncMigrationHarness, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection,
    pooled_connection::{
        AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod,
        deadpool::{Object, Pool as DeadPool},
    },
};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use domain::StoreError;
use futures_util::{FutureExt, future::BoxFuture};
use rustls::{ClientConfig, RootCertStore};
use scopeguard::ScopeGuard;
use tokio_postgres::{
    Client, Config, Socket,
    config::{Host, SslMode},
    tls::MakeTlsConnect,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::database::error::{driver_text, pool_error};

/// The schema's migrations, compiled in.
pub const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations");

/// Advisory lock that makes replicas that start together migrate one after the other.
const MIGRATION_LOCK: i64 = 7_203_441_926;

pub(crate) type Pool = DeadPool<AsyncPgConnection>;

/// A connection out of the pool. Dropped in the middle of its work, it is closed: the pool would keep a transaction open,
/// with its locks, until a caller needs that very connection, and make that one wait for a statement of another.
pub(crate) type PooledConnection = ScopeGuard<Object<AsyncPgConnection>, fn(Object<AsyncPgConnection>)>;

/// Takes a connection out of the pool.
///
/// # Errors
/// [`StoreError::Overloaded`] when all of them stay in use for [`PoolOptions::wait`], [`StoreError::Unavailable`] when
/// none can be opened.
pub(crate) fn acquire(pool: &Pool) -> BoxFuture<'_, Result<PooledConnection, StoreError>> {
    async {
        let connection = pool.get().await.map_err(|error| pool_error(error, pool.status().size))?;
        let close: fn(_) = |connection| drop(Object::take(connection));
        Ok(scopeguard::guard(connection, close))
    }
    .boxed()
}

/// Gives a connection that is done with its work back to the pool.
pub(crate) fn release(connection: PooledConnection) {
    drop(ScopeGuard::into_inner(connection));
}

/// How to keep connections.
#[derive(Debug, Clone, Copy)]
pub struct PoolOptions {
    pub max_connections: usize,
    /// How long a request waits for the answer to its statements, the wait for a connection included, and how long opening
    /// one may take. The server's own limit does not fire while the server is stopped or unreachable.
    pub answer: Duration,
    /// How long a caller waits for a free connection: less than for the answer, so that it is known which was missing.
    pub wait: Duration,
    /// How long the server may work on a statement of a request; a job sets its own limit.
    pub statement_timeout: Duration,
    pub pooler: Pooler,
    /// Plans each statement once for a connection and not for each set of values: right for statements whose good plan does
    /// not depend on them, such as scans of an index from an account on. Without it a list is planned every time, since
    /// a limit that is known promises a cheaper plan; and planning costs twice what running it does.
    pub generic_plans: bool,
}

/// What stands between the pool and the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pooler {
    /// Nothing, or something that gives every connection a session of its own.
    #[default]
    None,
    /// Something that gives a server's session away after every transaction, as PgBouncer with `pool_mode =
    /// transaction`: nothing may be left in the session, neither prepared statements nor settings.
    Transaction,
}

impl PoolOptions {
    /// The defaults, for requests that wait so long for their answer; of that, five sixths at most for a connection.
    pub fn answering_within(answer: Duration) -> Self {
        Self {
            max_connections: 16,
            answer,
            wait: answer * 5 / 6,
            statement_timeout: Duration::from_secs(10),
            pooler: Pooler::None,
            generic_plans: false,
        }
    }
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self::answering_within(Duration::from_millis(1_800))
    }
}

impl PoolOptions {
    /// What a session begins with.
    fn session(&self) -> String {
        let plans = if self.generic_plans { "force_generic_plan" } else { "auto" };
        // Citus has to know the account to find its shard, which a plan for all values does not. Messages are English
        // where the role may have it so: see `sqlstate`.
        format!(
            "{}; SELECT set_config('plan_cache_mode', \
             CASE WHEN to_regclass('pg_catalog.pg_dist_partition') IS NULL THEN '{plans}' ELSE 'auto' END, false); \
             SELECT set_config('lc_messages', 'C', false) FROM pg_roles WHERE rolname = current_user AND rolsuper",
            self.settings("SET")
        )
    }

    /// What a transaction begins with whose session is shared with others: the same settings, until it ends. One round
    /// trip.
    pub(crate) fn begin(&self) -> String {
        format!("BEGIN; {}", self.settings("SET LOCAL"))
    }

    /// Settings of a session, or of a transaction, by `set`.
    ///
    /// Nothing is compiled: the planner takes the day that a job looks at for a ninth of all days, and spends a second and a
    /// half on compiling what then runs for 20 ms. A year of sales of 5,000 products is put together within 64 MB.
    fn settings(&self, set: &str) -> String {
        let timeout = self.statement_timeout.as_millis();
        format!("{set} statement_timeout = {timeout}; {set} TIME ZONE 'UTC'; {set} jit = off; {set} work_mem = '64MB'")
    }
}

/// A connection as the driver sees it: the thread that opened it must drive it.
pub(crate) type Driver = tokio_postgres::Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// Where the database is: a `postgres://` URL or a libpq-like key-value string. Its `Debug` shows no password.
#[derive(Clone)]
pub struct Connect {
    pub(crate) config: Config,
    tls: MakeRustlsConnect,
}

impl Connect {
    /// Reads the address. Certificates are always verified against the system's roots, so `sslmode=verify-full` and
    /// `verify-ca` mean the same as `require`; without `sslmode`, TLS is used when the server offers it and is not on
    /// this machine.
    pub fn parse(url: &str) -> anyhow::Result<Self> {
        let says_sslmode = url.contains("sslmode=");
        let url = url.replace("sslmode=verify-full", "sslmode=require").replace("sslmode=verify-ca", "sslmode=require");
        let mut config: Config =
            url.parse().map_err(|_| anyhow::anyhow!("not an address such as postgres://user@host/db"))?;
        config.connect_timeout(Duration::from_millis(1_500));
        config.keepalives_idle(Duration::from_secs(30));
        if config.get_application_name().is_none() {
            config.application_name("business-analytics");
        }
        if !says_sslmode && all_local(&config) {
            config.ssl_mode(SslMode::Disable);
        }
        let mut roots = RootCertStore::empty();
        if config.get_ssl_mode() != SslMode::Disable {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        let tls = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        Ok(Self { config, tls: MakeRustlsConnect::new(tls) })
    }

    /// A connection without Diesel, for COPY and for notifications.
    pub(crate) async fn open(&self) -> Result<(Client, Driver), tokio_postgres::Error> {
        self.config.connect(self.tls.clone()).await
    }

    async fn establish(&self) -> diesel::ConnectionResult<AsyncPgConnection> {
        AsyncPgConnection::try_from(self.client().await.map_err(bad_connection)?).await
    }

    /// A client whose connection is driven by a task of its own, which ends with it; its calls report the same errors.
    #[expect(clippy::disallowed_methods, reason = "it ends with its connection, whose user notices")]
    pub(crate) async fn client(&self) -> Result<Client, tokio_postgres::Error> {
        let (client, driver) = self.open().await?;
        tokio::spawn(driver);
        Ok(client)
    }

    /// A connection through a pooler that gives sessions away. Diesel prepares a statement or two of its own to begin
    /// with: they are held together by a transaction, as everything is afterwards.
    async fn establish_through(&self) -> diesel::ConnectionResult<AsyncPgConnection> {
        let client = self.client().await.map_err(bad_connection)?;
        client.batch_execute("BEGIN").await.map_err(bad_connection)?;
        let mut connection = AsyncPgConnection::try_from(client).await?;
        connection.set_prepared_statement_cache_size(CacheSize::Disabled);
        connection.batch_execute("COMMIT").await.map_err(diesel::ConnectionError::CouldntSetupConfiguration)?;
        Ok(connection)
    }
}

fn bad_connection(error: tokio_postgres::Error) -> diesel::ConnectionError {
    diesel::ConnectionError::BadConnection(driver_text(&error))
}

fn all_local(config: &Config) -> bool {
    config.get_hosts().iter().all(|host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
    })
}

impl std::fmt::Debug for Connect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connect").field("dbname", &self.config.get_dbname()).finish_non_exhaustive()
    }
}

/// Makes a pool; connections are opened when they are needed.
pub(crate) fn pool(connect: &Connect, options: PoolOptions) -> anyhow::Result<Pool> {
    let mut manager = ManagerConfig::default();
    // `Verified`, the default, costs a query per checkout; `Fast` notices a closed connection as well.
    manager.recycling_method = RecyclingMethod::Fast;
    let target = connect.clone();
    manager.custom_setup = Box::new(move |_| {
        let target = target.clone();
        async move {
            match options.pooler {
                Pooler::None => {
                    let mut connection = target.establish().await?;
                    connection
                        .batch_execute(&options.session())
                        .await
                        .map_err(diesel::ConnectionError::CouldntSetupConfiguration)?;
                    Ok(connection)
                }
                // Settings come with every transaction. A statement is closed as soon as it has run, and so within
                // the transaction that prepared it.
                Pooler::Transaction => target.establish_through().await,
            }
        }
        .boxed()
    });
    let manager = AsyncDieselConnectionManager::<AsyncPgConnection>::new_with_config("", manager);
    let pool = Pool::builder(manager)
        .max_size(options.max_connections)
        // The one that was used last has its caches warm, and so has its session.
        .queue_mode(deadpool::managed::QueueMode::Lifo)
        .wait_timeout(Some(options.wait))
        .create_timeout(Some(options.answer))
        .runtime(deadpool::Runtime::Tokio1)
        .build()?;
    Ok(pool)
}

statement!(
    /// Until the session ends.
    LockMigrations(lock: i64 => BigInt) -> () = "SELECT FROM pg_advisory_lock($1)"
);

/// How long a migration waits for a table at a time: requests that come after it wait behind it. And how often it tries, a second
/// apart, while long transactions such as imports go on.
const MIGRATION_LOCK_TIMEOUT: &str = "SET lock_timeout = '2s'";
const MIGRATION_ATTEMPTS: usize = 200;

/// Whether others held what a migration needs, by the server's words: the harness keeps no code.
fn is_in_the_way(error: &str) -> bool {
    error.contains("lock timeout") || error.contains("deadlock detected")
}

/// Runs the migrations that have not run yet and returns their names. Safe when several processes start at once, and while
/// others work: a table that is in use for long is waited for in short turns.
pub async fn migrate(connect: &Connect) -> anyhow::Result<Vec<String>> {
    let mut connection = connect.establish().await?;
    LockMigrations { lock: MIGRATION_LOCK }.execute(&mut connection).await?;
    connection.batch_execute(MIGRATION_LOCK_TIMEOUT).await?;
    // The harness blocks its thread, which panics on a single-threaded runtime.
    tokio::task::spawn_blocking(move || {
        let mut harness = AsyncMigrationHarness::new(connection);
        let failed = |error| anyhow::anyhow!("migration failed: {error}");
        let pending = harness.pending_migrations(MIGRATIONS).map_err(failed)?;
        let mut ran = Vec::with_capacity(pending.len());
        for migration in pending {
            let mut attempts = 1;
            let version = loop {
                match harness.run_migration(&*migration) {
                    Err(error) if attempts < MIGRATION_ATTEMPTS && is_in_the_way(&error.to_string()) => {
                        attempts += 1;
                        std::thread::sleep(Duration::from_secs(1));
                    }
                    done => break done.map_err(failed)?.to_string(),
                }
            };
            ran.push(version);
        }
        Ok(ran)
    })
    .await?
}

session_statement!(
    after [""] =>
    /// What is noted at the table of migrations, which is there as soon as anything is.
    LOADED_FROM() -> (note: Text) = "
    SELECT obj_description(to_regclass('public.__diesel_schema_migrations'), 'pg_class') AS note"
);

impl Connect {
    /// The back-up that the database was loaded from and is not yet brought up to date, if that was noted.
    pub async fn loaded_from(&self) -> anyhow::Result<Option<String>> {
        Ok(self.client().await?.query_one(LOADED_FROM, &[]).await?.get("note"))
    }

    /// Notes the back-up that the database was loaded from; nothing once it is up to date. As a comment it is part of no
    /// schema and of no table's rows.
    pub async fn note_loaded_from(&self, back_up: Option<&str>) -> anyhow::Result<()> {
        let note = back_up.map_or("NULL".to_owned(), |name| format!("'{}'", name.replace('\'', "''")));
        let comment = format!("COMMENT ON TABLE public.__diesel_schema_migrations IS {note}");
        Ok(self.client().await?.batch_execute(&comment).await?)
    }
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
