//! What tests need: a fresh database each, a cluster to make them in, and other servers where there are some.

mod db;
mod programs;
mod redis;

pub use db::TestDb;
pub use programs::program;
pub use redis::Redis;

/// The variable that names the cluster to the tests.
pub const CLUSTER_VARIABLE: &str = "TEST_DATABASE_URL";
