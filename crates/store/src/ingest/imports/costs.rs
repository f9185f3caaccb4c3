//! Unit costs: the history, the last one known, and the days that they change.

use super::session::{MARK_TIMELESS, MARK_WAITING, Scope, Transaction};

#[cfg(test)]
use super::session::DAYS_TABLE;

pub(super) const TABLES: &str = "
    CREATE TEMPORARY TABLE import_product_costs (product_id bigint, valid_from date, unit_cost numeric);
    CREATE TEMPORARY TABLE import_changed_costs (product_id bigint, valid_from date);";

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    GATHER_CHANGED(account: BigInt) -> () = "INSERT INTO import_changed_costs
    SELECT came.product_id, came.valid_from FROM import_product_costs came
    LEFT JOIN product_costs known ON known.account_id = $1 AND known.product_id = came.product_id
        AND known.valid_from = came.valid_from
    WHERE known.unit_cost IS DISTINCT FROM came.unit_cost"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    WRITE(account: BigInt) -> () = "INSERT INTO product_costs (account_id, product_id, valid_from, unit_cost)
    SELECT $1, product_id, valid_from, unit_cost
    FROM import_product_costs JOIN import_changed_costs USING (product_id, valid_from)
    ON CONFLICT (account_id, product_id, valid_from) DO UPDATE SET unit_cost = EXCLUDED.unit_cost"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    /// The newest cost is the product's.
    UPDATE_PRODUCTS(account: BigInt) -> () = "UPDATE products SET unit_cost = newest.unit_cost
    FROM (SELECT DISTINCT ON (product_id) product_id, unit_cost FROM product_costs
        WHERE account_id = $1 AND product_id IN (SELECT product_id FROM import_changed_costs)
        ORDER BY product_id, valid_from DESC) newest
    WHERE products.account_id = $1 AND products.id = newest.product_id
        AND products.unit_cost IS DISTINCT FROM newest.unit_cost"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    MARK_DAYS(account: BigInt) -> () = "INSERT INTO import_days
    SELECT DISTINCT sold.day FROM product_days sold
    JOIN (SELECT product_id, min(valid_from) AS valid_from FROM import_changed_costs GROUP BY product_id) cost
        USING (product_id)
    WHERE sold.account_id = $1 AND (sold.day >= cost.valid_from OR NOT EXISTS (
        SELECT FROM product_costs earlier WHERE earlier.account_id = $1
            AND earlier.product_id = cost.product_id AND earlier.valid_from < cost.valid_from))"
);

/// Writes the gathered costs that differ from what is there. A cost changes the days on which its product was sold
/// from then on, and all of them when it is the earliest that is known; of sales that have not been summed up yet all days
/// are marked.
pub(super) async fn apply(transaction: &Transaction<'_>, scope: &Scope) -> Result<(), tokio_postgres::Error> {
    let account = scope.account;
    let changed = transaction.execute(GATHER_CHANGED, &[&account]).await?;
    if changed == 0 {
        return Ok(());
    }
    transaction.execute(WRITE, &[&account]).await?;
    // What a product earns is known for what has not been sold yet as well.
    transaction.execute(MARK_TIMELESS, &[]).await?;
    transaction.execute(UPDATE_PRODUCTS, &[&account]).await?;
    transaction.execute(MARK_WAITING, &[&account]).await?;
    transaction.execute(MARK_DAYS, &[&account]).await?;
    Ok(())
}
