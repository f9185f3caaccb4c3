//! AI features on Postgres: runs with their credits, calls with their cost, and who has access.

mod access;
mod guard;
mod runs;

pub(crate) use runs::end_run;
