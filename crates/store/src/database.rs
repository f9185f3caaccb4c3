//! How statements reach Postgres: connections, transactions, and what every statement is checked for.

#[macro_use]
pub(crate) mod statement;

pub mod citus;
pub(crate) mod decode;
pub(crate) mod error;
pub(crate) mod group_commit;
pub(crate) mod idempotency;
pub(crate) mod listen;
pub(crate) mod pipeline;
pub(crate) mod pool;
pub(crate) mod query;
pub(crate) mod replica;
pub(crate) mod runs;
pub(crate) mod sqlstate;
pub(crate) mod streams;
pub(crate) mod transact;
