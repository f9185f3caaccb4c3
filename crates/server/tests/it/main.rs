//! The real binary over HTTP, in parallel: each test has a process and a database of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod ai;
mod ai_runs;
mod alerts;
mod authorisation;
mod backup;
mod budgets;
mod commands;
mod crashes;
mod credits;
mod data_keys;
mod debits;
mod deliveries;
mod delivery_log;
mod docs;
mod failures;
mod fairness;
mod guide;
mod hostile_shops;
mod lifecycle;
mod metrics;
mod migrations;
mod nodes;
mod payments;
mod pooler;
mod rebinding;
mod replicas;
mod reruns;
mod service;
mod tenants;
mod walk;
mod webhook_tools;
