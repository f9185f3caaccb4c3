//! Where the jobs put what they computed, one file per job. Every write goes through [`crate::Store::finish`]: the result
//! and the end of the run are one transaction.

mod anomalies;
mod creatives;
mod customers;
pub(crate) mod insights;
mod inventory;
mod metric_days;
mod profit;
mod reorder;
mod risks;
pub(crate) mod stories;

use domain::social::Category;

/// Categories whose conversations wait for an answer. One without a category counts as `other`.
fn asking_for_an_answer() -> Vec<&'static str> {
    Category::ALL.iter().filter(|category| category.asks_for_an_answer()).map(|category| category.as_str()).collect()
}

/// How many rows an upsert wrote that leaves what is the same alone: those that it gave back. On a cluster its own count is
/// that of the rows that it was given.
fn changed(written: Vec<bool>) -> usize {
    written.len()
}
