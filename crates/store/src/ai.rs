//! AI features on Postgres: runs with their credits, calls with their cost, and who has access.

mod access;
mod beginning;
mod calls;
mod ending;
mod guard;
mod runs;

pub(crate) use beginning::Charge;
pub(crate) use ending::end_run;
pub(crate) use runs::begin_paid;
