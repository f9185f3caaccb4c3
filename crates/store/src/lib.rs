//! Postgres persistence: one file per port; SQL lives here and nowhere else.
//!
//! Every query starts from its account. Rows never leave their file: they become domain types there, by full
//! destructuring, so that a new column fails to compile instead of vanishing.
//!
//! Folders are named by what they serve, files by their port.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

#[macro_use]
mod database;

mod accounts;
mod ai;
mod alerts;
mod analytics;
mod credits;
mod ingest;
mod integrations;
mod jobs;
mod notes;
mod operations;
mod people;
mod shops;
mod social;
mod status;
mod visits;
mod webhooks;

use ::schema;
pub use accounts::keys::{REVOCATION_CHANNEL, cache::KeyCache};
pub use database::{
    citus,
    group_commit::GroupCommit,
    listen::{Listener, Notification},
    pool::{Connect, MIGRATIONS, PoolOptions, Pooler, migrate, revert_all},
};
use database::{replica, runs};
pub use ingest::Importer;
pub use operations::{
    account_rows::RowReader, backup, depths::Depths, eraser::RowEraser, maintenance::Retention, overdue::Overdue,
};
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
