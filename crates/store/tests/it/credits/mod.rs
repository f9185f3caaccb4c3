//! The ledger on a real Postgres: operations, events, and what concurrency and crashes must not do to it.

mod books;
mod model;
mod operations;
