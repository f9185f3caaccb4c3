//! Orders that do not count any more.

use super::{
    count,
    session::{Scope, Transaction},
};

#[cfg(test)]
use super::session::DAYS_TABLE;

/// What is gone: its identifier here, and its day.
pub(super) const TABLES: &str = "
    CREATE TEMPORARY TABLE import_gone_orders (id bigint, at timestamptz);";

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    DELETE_LINES(account: BigInt) -> () = "DELETE FROM order_lines USING import_gone_orders gone
    WHERE order_lines.account_id = $1 AND order_lines.order_id = gone.id"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    DELETE(account: BigInt) -> () = "DELETE FROM orders USING import_gone_orders gone
    WHERE orders.account_id = $1 AND orders.id = gone.id"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    MARK_DAYS() -> () = "INSERT INTO import_moments SELECT at FROM import_gone_orders"
);

/// Removes what was gathered; gives how many.
pub(super) async fn delete_gathered(
    transaction: &Transaction<'_>,
    scope: &Scope,
) -> Result<i64, tokio_postgres::Error> {
    transaction.execute(DELETE_LINES, &[&scope.account]).await?;
    let deleted = transaction.execute(DELETE, &[&scope.account]).await?;
    transaction.execute(MARK_DAYS, &[]).await?;
    Ok(count(deleted))
}
