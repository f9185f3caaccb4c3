//! The service from outside: the executable, HTTP, SQL and files, and no crate of it. In parallel: each test has a process
//! and a database of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod ads;
mod ai;
mod alerts;
mod as_of;
mod authorisation;
mod backup;
mod budgets;
mod commands;
mod conversations;
#[expect(dead_code, reason = "the tests in the browser read a page's cookie")]
mod crawl;
mod dashboard;
mod data_keys;
mod databases;
mod delivery_log;
mod docs;
mod extras;
mod failures;
mod hostile_shops;
mod lifecycle;
mod logs;
mod metrics;
mod migrations;
mod pooler;
mod proxy;
mod replicas;
mod reruns;
mod risks;
mod service;
mod shops;
mod social_profiles;
mod status_pages;
mod tenants;
mod walk;
mod webhook_tools;

/// The executable: cargo has built it before it runs the tests.
const API: &str = env!("CARGO_BIN_EXE_api-under-test");
