//! Figures and findings: what the jobs sum up and compute ([`daily`] and [`results`]), and what endpoints read of it, one
//! file per port.

mod anomalies;
mod as_of;
mod customers;
pub(crate) mod daily;
mod demand;
pub(crate) mod freshness;
mod insights;
mod inventory;
mod metric_days;
pub(crate) mod profit;
mod reorder;
pub(crate) mod results;
mod risks;
