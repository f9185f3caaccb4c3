//! What tests need: a fresh database each, and a cluster to make them in.

mod db;

pub use db::TestDb;

/// The variable that names the cluster to the tests.
pub const CLUSTER_VARIABLE: &str = "TEST_DATABASE_URL";
