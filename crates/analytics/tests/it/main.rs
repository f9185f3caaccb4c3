//! The numerics against published figures, and on whatever an account may hold.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod customer_models;
mod customers_are_total;
mod demand_is_total;
mod rfm_grid;
