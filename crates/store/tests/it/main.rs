//! The store on a real Postgres: every test has a database of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod accounts;
mod ai;
mod alerts;
mod citus;
mod credits;
mod data_keys;
mod database;
mod decisions;
mod deliveries;
mod errors;
mod findings;
mod freshness;
mod group_commit;
mod health;
mod imports;
mod incidents;
mod jobs;
mod keys;
mod lists;
mod maintenance;
mod outbox;
mod pipeline;
mod plans;
mod reads;
mod replays;
mod replica;
mod results;
mod risks;
mod roll_up;
mod schema;
mod shop;
mod upgrades;
mod uptime;
mod webhook_fixture;
mod writes;
