//! The one executable: commands, configuration, wiring, embedded Postgres, telemetry.

pub mod cli;
pub mod commands;
pub mod config;

mod admin;
mod ai;
mod alerts;
mod connections;
mod database;
mod deliveries;
mod dev;
mod output;
mod payments;
mod random;
mod scheduler;
mod secrets;
mod services;
mod telemetry;
mod workers;
