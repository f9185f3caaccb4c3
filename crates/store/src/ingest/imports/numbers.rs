//! Orders of which a file says by which number their platform knows them. They are stored under it, so that a connection and
//! the file mean the same order. Such a file tells all that was refunded of an order until now, and which ones do not count.

use domain::accounts::Platform;

use super::{
    session::{Scope, Transaction},
    staging,
};

#[cfg(test)]
use super::{costs, gone_orders, merge, refunds, session::DAYS_TABLE};

/// `order_id` is what the parts have, which come behind `parts_before` others; `lines` are those of the file.
pub(super) const TABLES: &str =
    "CREATE TEMPORARY TABLE import_order_numbers (order_id text, number text, lines bigint, parts_before bigint);";

/// The order that a staged part is of: refunds of an order are those by its identifier and a day.
macro_rules! order_of_part {
    () => {
        "CASE import_parts.kind WHEN 'refund' THEN left(import_parts.external_id, -11) ELSE import_parts.external_id END"
    };
}

session_statement!(
    after [staging::TABLES, TABLES, DAYS_TABLE] =>
    /// An order that is told twice, as in two exports that overlap, counts as it is told last.
    DROP_EARLIER_PARTS() -> () = concat!("DELETE FROM import_parts USING (
        SELECT order_id, max(parts_before) AS parts_before FROM import_order_numbers GROUP BY order_id HAVING count(*) > 1) newest
    WHERE import_parts.no <= newest.parts_before AND newest.order_id = ", order_of_part!())
);

session_statement!(
    after [gone_orders::TABLES, TABLES, DAYS_TABLE] =>
    /// What an earlier file brought by its name, without the number, is the order that comes by its number now. A connection
    /// may have told of it as well, so that it counted twice. A name that is the number of another one says nothing.
    GATHER_NAMED_ORDERS(account: BigInt, source: Text) -> () = "INSERT INTO import_gone_orders
    SELECT known.id, known.placed_at FROM import_order_numbers came
    JOIN orders known ON known.account_id = $1 AND known.source = $2 AND known.external_id = came.order_id
    WHERE came.number <> came.order_id AND known.integration_id IS NULL
        AND NOT EXISTS (SELECT FROM import_order_numbers other WHERE other.number = came.order_id)"
);

session_statement!(
    after [refunds::TABLES, TABLES, DAYS_TABLE] =>
    GATHER_NAMED_REFUNDS(account: BigInt, source: Text) -> () = "INSERT INTO import_gone_refunds
    SELECT known.id, known.refunded_at FROM import_order_numbers came
    JOIN refunds known ON known.account_id = $1 AND known.source = $2 AND left(known.external_id, -11) = came.order_id
        AND known.external_id ~ '/[0-9]{4}-[0-9]{2}-[0-9]{2}$'
    WHERE came.number <> came.order_id
        AND NOT EXISTS (SELECT FROM import_order_numbers other WHERE other.number = came.order_id)"
);

session_statement!(
    after [staging::TABLES, TABLES, DAYS_TABLE] =>
    RENAME() -> () = concat!("UPDATE import_parts SET external_id =
        CASE kind WHEN 'refund' THEN came.number || right(external_id, 11) ELSE came.number END
    FROM (SELECT order_id, min(number COLLATE \"C\") AS number FROM import_order_numbers GROUP BY order_id) came
    WHERE came.order_id = ", order_of_part!())
);

session_statement!(
    after [staging::TABLES, TABLES, DAYS_TABLE] =>
    /// A connection knows more of an order than its file: fees, and when what came back.
    LEAVE_OUT_CONNECTED(account: BigInt, source: Text) -> (orders: BigInt, refunds: BigInt) = concat!("WITH left_out AS (
        DELETE FROM import_parts USING import_order_numbers came, orders known
        WHERE known.account_id = $1 AND known.source = $2 AND known.external_id = came.number
            AND known.integration_id IS NOT NULL AND came.number = ", order_of_part!(), "
        RETURNING import_parts.kind, import_parts.external_id)
    SELECT count(DISTINCT external_id) FILTER (WHERE kind = 'order') AS orders,
        count(DISTINCT external_id) FILTER (WHERE kind = 'refund') AS refunds FROM left_out")
);

session_statement!(
    after [staging::TABLES, TABLES, DAYS_TABLE] =>
    FORGET_CONNECTED(account: BigInt, source: Text) -> () = "DELETE FROM import_order_numbers USING orders known
    WHERE known.account_id = $1 AND known.source = $2 AND known.external_id = import_order_numbers.number
        AND known.integration_id IS NOT NULL"
);

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, refunds::TABLES, TABLES, DAYS_TABLE] =>
    /// Refunds of the orders that the file does not tell of: an order that was cancelled since is refunded on another day.
    GATHER_STALE_REFUNDS(account: BigInt, source: Text) -> () = "INSERT INTO import_gone_refunds
    SELECT known.id, known.refunded_at FROM import_order_numbers came
    JOIN refunds known ON known.account_id = $1 AND known.source = $2 AND left(known.external_id, -11) = came.number
        AND known.external_id ~ '/[0-9]{4}-[0-9]{2}-[0-9]{2}$'
    WHERE NOT EXISTS (SELECT FROM import_refunds named WHERE named.external_id = known.external_id)"
);

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, gone_orders::TABLES, TABLES, DAYS_TABLE] =>
    /// Orders of which nothing is told but the number.
    GATHER_GONE_ORDERS(account: BigInt, source: Text) -> () = "INSERT INTO import_gone_orders
    SELECT known.id, known.placed_at FROM (
        SELECT (array_agg(number ORDER BY number COLLATE \"C\"))[1] AS number FROM import_order_numbers GROUP BY order_id) came
    JOIN orders known ON known.account_id = $1 AND known.source = $2 AND known.external_id = came.number
    WHERE NOT EXISTS (SELECT FROM import_orders told WHERE told.external_id = known.external_id)"
);

/// Documents that stay as they are.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    pub orders: i64,
    pub refunds: i64,
}

/// Gives staged parts the numbers of their orders, and leaves those out which are told again or which a connection tells of.
pub(super) async fn apply(
    transaction: &Transaction<'_>,
    scope: &Scope,
    source: Platform,
) -> Result<LeftOut, tokio_postgres::Error> {
    let (account, source) = (scope.account, source.as_str());
    let told_again = transaction.execute(DROP_EARLIER_PARTS, &[]).await?;
    for statement in [GATHER_NAMED_ORDERS, GATHER_NAMED_REFUNDS] {
        transaction.execute(statement, &[&account, &source]).await?;
    }
    transaction.execute(RENAME, &[]).await?;
    let left_out = transaction.query_one(LEAVE_OUT_CONNECTED, &[&account, &source]).await?;
    let left_out = LeftOut { orders: left_out.try_get("orders")?, refunds: left_out.try_get("refunds")? };
    if told_again > 0 || left_out.orders + left_out.refunds > 0 {
        staging::forget_dropped(transaction).await?;
    }
    transaction.execute(FORGET_CONNECTED, &[&account, &source]).await?;
    Ok(left_out)
}

/// Gathers what is not there any more, to be deleted.
pub(super) async fn gather_gone(
    transaction: &Transaction<'_>,
    scope: &Scope,
    source: Platform,
) -> Result<(), tokio_postgres::Error> {
    for statement in [GATHER_STALE_REFUNDS, GATHER_GONE_ORDERS] {
        transaction.execute(statement, &[&scope.account, &source.as_str()]).await?;
    }
    Ok(())
}
