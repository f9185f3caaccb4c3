//! Postgres persistence, one file per port.
