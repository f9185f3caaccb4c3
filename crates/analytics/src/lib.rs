//! Numerics on plain slices: detector, driver tree, demand, order-up-to, customer value.

pub mod demand;
pub mod negbin;
pub mod reorder;
pub mod stock;
