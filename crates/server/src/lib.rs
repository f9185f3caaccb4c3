//! The one executable: commands, configuration, wiring, embedded Postgres, telemetry.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

#[macro_use]
mod output;

pub mod cli;
pub mod commands;
pub mod config;

mod addresses;
mod admin;
mod ai;
mod alerts;
mod backup;
mod budget;
mod connections;
mod dashboard;
mod database;
mod deliveries;
mod files;
mod mails;
mod payments;
mod probes;
mod random;
mod scheduler;
mod schema;
mod secrets;
mod services;
mod settings;
mod shops;
mod social;
mod stores;
mod supervisor;
mod telemetry;
mod uploads;
mod workers;
