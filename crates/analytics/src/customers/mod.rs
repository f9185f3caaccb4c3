//! What customers are worth, whether they come back and how they group.
//!
//! Two models fitted to the account's own customers: BG/NBD for the number of purchases
//! ([`bgnbd`]) and Gamma-Gamma for the value of one ([`gamma_gamma`]). From them follow the value
//! of the coming year ([`ltv`]) and the probability of silence ([`churn`]). Groups come from ranks
//! alone ([`rfm`]). [`Models`] does all of it.
//!
//! A *purchase* in both models is a day with at least one order: two orders on one day are one
//! decision to buy. Time runs in weeks.

mod backtest;
pub mod bgnbd;
mod bgnbd_fit;
pub mod churn;
mod clock;
pub mod gamma_gamma;
pub mod ltv;
mod minimise;
mod prior;
pub mod rfm;
mod score;
mod special;

pub use backtest::back_test_day;
pub use clock::Clock;
pub use score::{CustomerScore, History, Models, Options, Past};

use serde::Serialize;

/// Why a model says nothing about an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Insufficient {
    #[error("insufficient history: no customer has ordered yet")]
    NoBuyers,
    #[error("insufficient history: no order has a positive value")]
    NoSpend,
}

/// Where a model's parameters come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Maximum likelihood on the account's own customers.
    Account,
    /// The account's customers, pulled towards the pooled parameters: they are too few, or their
    /// likelihood has no maximum at plausible values.
    Pooled,
}

/// Number of customers with something to tell a model from which it relies on the account alone.
pub const ENOUGH_CUSTOMERS: usize = 100;

/// A fitted model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fit<P> {
    pub params: P,
    pub basis: Basis,
    /// Customers that entered the likelihood.
    pub customers: usize,
    /// Those with the information that counts: a repeat purchase (BG/NBD), a positive spend
    /// (Gamma-Gamma).
    pub informative: usize,
    /// At `params`, without any prior.
    pub log_likelihood: f64,
}
