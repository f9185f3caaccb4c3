//! Stock levels: the history, and the newest one as the product's current stock.

use domain::IntegrationId;

use super::session::{MARK_TIMELESS, Scope, Transaction};

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
    /// The newest level is the product's. Levels before it say nothing of what is there now: goods that are not stocked any more
    /// do not come back with them.
    UPDATE_PRODUCTS(account: BigInt, teller: BigInt) -> () = "UPDATE products SET current_stock = newest.stock, stock_from = $2
    FROM (SELECT DISTINCT ON (product_id) product_id, day, stock FROM import_levels ORDER BY product_id, day DESC) newest
    WHERE products.account_id = $1 AND products.id = newest.product_id
        AND (products.current_stock, products.stock_from) IS DISTINCT FROM (newest.stock, $2::bigint)
        AND NOT EXISTS (SELECT FROM stock_levels later WHERE later.account_id = $1
            AND later.product_id = products.id AND later.day > newest.day)"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    MARK_DAYS() -> () = "INSERT INTO import_days SELECT DISTINCT day FROM import_changed_levels"
);

/// Writes the gathered levels that differ from what is there; `import_changed_levels` then tells which they were. `teller` is
/// the connection that tells them, if one does.
pub(super) async fn apply(
    transaction: &Transaction<'_>,
    scope: &Scope,
    teller: Option<IntegrationId>,
) -> Result<(), tokio_postgres::Error> {
    let (account, teller) = (scope.account, teller.map(|connection| connection.0));
    transaction.execute(GATHER_CHANGED, &[&account]).await?;
    transaction.execute(WRITE, &[&account]).await?;
    // Goods that come back on the day on which they went, with the level of that day, change no day.
    if transaction.execute(UPDATE_PRODUCTS, &[&account, &teller]).await? > 0 {
        transaction.execute(MARK_TIMELESS, &[]).await?;
    }
    transaction.execute(MARK_DAYS, &[]).await?;
    Ok(())
}
