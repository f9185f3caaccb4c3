//! What tests need: a fresh database each, a cluster to make them in, and other servers where there are some.

mod db;
mod owner;
mod pgbouncer;
mod programs;
mod redis;
mod standby;

pub use db::{TestDb, patient};
pub use owner::reachable_folder;
pub use pgbouncer::PgBouncer;
pub use programs::{found, program};
pub use redis::Redis;
pub use standby::{Pair, Standby, cluster};

/// The variable that names the cluster to the tests.
pub const CLUSTER_VARIABLE: &str = "TEST_DATABASE_URL";

/// The variable that names the workers of that cluster, apart by spaces, where it is one of Citus; `scripts/with-citus.sh`
/// sets both.
pub const CITUS_VARIABLE: &str = "TEST_CITUS_WORKERS";

/// Whether the databases are on a Citus cluster.
pub fn is_citus() -> bool {
    std::env::var_os(CITUS_VARIABLE).is_some_and(|workers| !workers.is_empty())
}

/// Whether a test is to be skipped, since the databases are on a Citus cluster and it looks at what one Postgres has; `why`
/// is printed.
pub fn skip_on_citus(why: &str) -> bool {
    if is_citus() {
        eprintln!("SKIPPED on Citus: {why}");
    }
    is_citus()
}
