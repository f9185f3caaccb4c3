//! Postgres persistence: one file per port; SQL lives here and nowhere else.
//!
//! Every query starts from its account. Rows never leave their file: they become domain types there, by full
//! destructuring, so that a new column fails to compile instead of vanishing.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

#[macro_use]
mod database;

mod accounts;
mod ai;
mod alerts;
mod anomalies;
mod as_of;
mod credits;
mod customers;
mod daily;
mod data_keys;
mod demand;
mod freshness;
mod health;
mod idempotency;
mod imports;
mod incidents;
mod insights;
mod integrations;
mod inventory;
mod jobs;
mod keys;
mod metric_days;
mod operations;
mod profit;
mod reorder;
mod results;
mod risks;
mod schema;
mod tracking;
mod uptime;
mod webhooks;

pub use database::{
    citus,
    group_commit::GroupCommit,
    listen::{Listener, Notification},
    pool::{Connect, MIGRATIONS, PoolOptions, Pooler, migrate, revert_all},
};
use database::{replica, runs};
pub use imports::Importer;
pub use keys::{REVOCATION_CHANNEL, cache::KeyCache};
pub use operations::{backup, depths::Depths, maintenance::Retention};
pub use webhooks::{
    deliveries::{Pruned, forward_due},
    outbox::{self, DELIVERIES_CHANNEL},
};

/// The ports' implementation on a pool of connections. Cloning shares the pool.
#[derive(Clone)]
pub struct Store {
    primary: runs::Target,
    replica: Option<std::sync::Arc<replica::Replica>>,
    pools: runs::Pools,
    /// What pages of streams take turns by.
    streams: std::sync::Arc<tokio::sync::Semaphore>,
    nodes: std::sync::Arc<citus::Nodes>,
}
