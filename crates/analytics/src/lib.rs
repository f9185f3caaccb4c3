//! Numerics on plain slices: detector, driver tree, demand, order-up-to, customer value.

pub mod creatives;
pub mod customers;
pub mod demand;
pub mod detector;
pub mod drivers;
pub mod exposure;
pub mod holidays;
mod matrix;
pub mod negbin;
pub mod reorder;
pub mod robust;
pub mod severity;
pub mod stock;

/// Days of 52 weeks: the same weekday a year ago.
pub(crate) const YEAR: usize = 364;
