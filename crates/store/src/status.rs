//! What the status page shows: the database's health, probes, and incidents.

pub(crate) mod health;
mod incidents;
pub(crate) mod uptime;
