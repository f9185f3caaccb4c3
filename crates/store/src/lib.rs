//! Postgres persistence: one file per port; SQL lives here and nowhere else.
//!
//! Every query starts from its account. Rows never leave their file: they become domain types there, by full
//! destructuring, so that a new column fails to compile instead of vanishing.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

#[macro_use]
mod statement;

mod accounts;
mod ai;
mod alerts;
mod anomalies;
pub mod backup;
pub mod citus;
mod credits;
mod customers;
mod daily;
mod data_keys;
mod decode;
mod deliveries;
mod delivery_log;
mod demand;
mod depths;
mod error;
mod freshness;
mod group_commit;
mod health;
mod idempotency;
mod imports;
mod incidents;
mod insights;
mod integrations;
mod inventory;
mod jobs;
mod key_cache;
mod keys;
mod listen;
mod maintenance;
pub mod outbox;
mod pipeline;
mod pool;
mod profit;
mod reorder;
mod replays;
mod replica;
mod results;
mod risks;
mod runs;
mod schema;
mod sqlstate;
mod streams;
mod tracking;
mod transact;
mod uptime;
mod webhook_settings;
mod webhooks;

pub use deliveries::{Pruned, forward_due};
pub use depths::Depths;
pub use group_commit::GroupCommit;
pub use imports::Importer;
pub use key_cache::KeyCache;
pub use keys::REVOCATION_CHANNEL;
pub use listen::{Listener, Notification};
pub use maintenance::Retention;
pub use outbox::DELIVERIES_CHANNEL;
pub use pool::{Connect, MIGRATIONS, PoolOptions, Pooler, migrate, revert_all};

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
