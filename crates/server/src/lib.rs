//! The one executable: commands, configuration, wiring, embedded Postgres, telemetry.

pub mod cli;
pub mod commands;
pub mod config;

mod admin;
mod alerts;
mod database;
mod deliveries;
mod output;
mod random;
mod scheduler;
mod secrets;
mod services;
mod telemetry;
