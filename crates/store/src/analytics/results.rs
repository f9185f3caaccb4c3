//! Where the jobs put what they computed, one file per job. Every write goes through [`crate::Store::finish`]: the result
//! and the end of the run are one transaction.

mod anomalies;
mod customers;
mod insights;
mod inventory;
mod metric_days;
mod profit;
mod reorder;
mod risks;
pub(crate) mod stories;
