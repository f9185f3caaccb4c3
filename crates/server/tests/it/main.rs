//! What needs the crates beside the executable: ports with stand-ins behind them, and what has no endpoint, debits and events
//! above all. In parallel: each test has a database of its own. What needs only the executable is in `tests/`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod ai_runs;
mod crashes;
mod credits;
mod debits;
mod deliveries;
mod fairness;
mod guide;
mod nodes;
mod payments;
mod rebinding;
mod social;
mod steps;

#[allow(dead_code, reason = "the tests of `tests/` use the rest")]
#[path = "../../../../tests/it/service.rs"]
mod service;
#[allow(dead_code, reason = "the tests of `tests/` use the rest")]
#[path = "../../../../tests/it/walk.rs"]
mod walk;

const API: &str = env!("CARGO_BIN_EXE_api");
