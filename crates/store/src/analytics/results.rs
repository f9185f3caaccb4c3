//! Where the jobs put what they computed, one file per job. Every write goes through [`crate::Store::finish`]: the result
//! and the end of the run are one transaction.

/// What selling a unit of an item brings, by the last suggestion to reorder it, whatever was decided; null without one. `$1` is
/// the account.
macro_rules! unit_contribution {
    ($item:ident . $id:ident) => {
        concat!(
            "(SELECT (basis ->> 'unit_contribution')::float8 FROM reorder_suggestions
            WHERE account_id = $1 AND inventory_item_id = ",
            stringify!($item),
            ".",
            stringify!($id),
            " ORDER BY id DESC LIMIT 1)"
        )
    };
}

mod anomalies;
mod creatives;
mod customers;
mod insights;
mod inventory;
mod metric_days;
mod profit;
mod reorder;
mod risks;
pub(crate) mod stories;

/// How many rows an upsert wrote that leaves what is the same alone: those that it gave back. On a cluster its own count is
/// that of the rows that it was given.
fn changed(written: Vec<bool>) -> usize {
    written.len()
}
