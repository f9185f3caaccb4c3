//! What tests need: a fresh database each, a cluster to make them in, and other servers where there are some.

mod db;
mod owner;
mod pgbouncer;
mod programs;
mod redis;
mod standby;

pub use db::TestDb;
pub use owner::reachable_folder;
pub use pgbouncer::PgBouncer;
pub use programs::program;
pub use redis::Redis;
pub use standby::{Pair, Standby, cluster};

/// The variable that names the cluster to the tests.
pub const CLUSTER_VARIABLE: &str = "TEST_DATABASE_URL";
