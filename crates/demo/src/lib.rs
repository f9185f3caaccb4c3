//! The demo shop: two generated years of a shop for household goods, for a first look at every endpoint.
//!
//! The shop is a function of the day on which it was first loaded, the account's time zone, and the instant up to which it
//! is wanted: the same everywhere, and a later instant only adds to it. It buys, sells, takes back and advertises; it
//! computes nothing that a job computes. Some things go wrong in it (see [`happenings`]), which the jobs then find.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod buying;
mod calendar;
mod catalogue;
mod creatives;
mod draw;
mod generated;
pub mod happenings;
mod load;
mod people;
mod rows;
mod shop;
mod spend;
#[cfg(test)]
mod tests;
mod visits;

pub use calendar::HISTORY_DAYS;
pub use generated::{Generated, generate};
pub use load::{LoadError, Loaded, Ports, STEPS, Step, fits, load};
