//! Stock levels: the history, and the newest one as the product's current stock.

use super::session::{Scope, Transaction};

#[cfg(test)]
use super::session::DAYS_TABLE;

pub(super) const TABLES: &str = "
    CREATE TEMPORARY TABLE import_levels (product_id bigint, day date, stock bigint);
    CREATE TEMPORARY TABLE import_changed_levels (product_id bigint, day date, is_new boolean);";

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    GATHER_CHANGED(account: BigInt) -> () = "INSERT INTO import_changed_levels
    SELECT came.product_id, came.day, known.stock IS NULL FROM import_levels came
    LEFT JOIN stock_levels known
        ON known.account_id = $1 AND known.product_id = came.product_id AND known.day = came.day
    WHERE known.stock IS DISTINCT FROM came.stock"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    WRITE(account: BigInt) -> () = "INSERT INTO stock_levels (account_id, product_id, day, stock)
    SELECT $1, product_id, day, stock FROM import_levels JOIN import_changed_levels USING (product_id, day)
    ON CONFLICT (account_id, product_id, day) DO UPDATE SET stock = EXCLUDED.stock"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    /// The newest level is the product's.
    UPDATE_PRODUCTS(account: BigInt) -> () = "UPDATE products SET current_stock = newest.stock
    FROM (SELECT DISTINCT ON (product_id) product_id, stock FROM stock_levels
        WHERE account_id = $1 AND product_id IN (SELECT product_id FROM import_levels)
        ORDER BY product_id, day DESC) newest
    WHERE products.account_id = $1 AND products.id = newest.product_id
        AND products.current_stock IS DISTINCT FROM newest.stock"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    MARK_DAYS() -> () = "INSERT INTO import_days SELECT DISTINCT day FROM import_changed_levels"
);

/// Writes the gathered levels that differ from what is there; `import_changed_levels` then tells which they were.
pub(super) async fn apply(transaction: &Transaction<'_>, scope: &Scope) -> Result<(), tokio_postgres::Error> {
    let account = scope.account;
    transaction.execute(GATHER_CHANGED, &[&account]).await?;
    transaction.execute(WRITE, &[&account]).await?;
    transaction.execute(UPDATE_PRODUCTS, &[&account]).await?;
    transaction.execute(MARK_DAYS, &[]).await?;
    Ok(())
}
