//! The ledger on a real Postgres: operations, events, and what concurrency and crashes must not do to it.

mod auto_topup;
mod books;
mod erasures;
mod locks;
mod model;
mod operations;
pub mod payments;
mod usage;
