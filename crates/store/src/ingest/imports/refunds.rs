//! Refunds that are known twice, or no longer there.
//!
//! A file may give cancellations numbers of their own. They name no order, while a shop's own refunds do; where both come in,
//! the ones that name their order count: those of the same buyer on the same day, whatever their amounts, as the two may count
//! tax or a discount differently. Without a buyer, amount and day have to be the same, and each that names its order takes the
//! place of one.

use super::{
    count,
    session::{Scope, Transaction},
};

#[cfg(test)]
use super::{costs, merge, session::DAYS_TABLE, staging};

/// What is gone: its identifier here, and its day.
pub(super) const TABLES: &str = "
    CREATE TEMPORARY TABLE import_gone_refunds (id bigint, at timestamptz);";

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, TABLES, DAYS_TABLE] =>
    /// Leaves out what comes in by a number of its own and is there by its order.
    DROP_NUMBERED(account: BigInt, source: Text, timezone: Text) -> () = "DELETE FROM import_refunds USING (
        SELECT external_id, customer, at, amount, row_number() OVER (
            PARTITION BY customer, (at AT TIME ZONE $3)::date, amount ORDER BY external_id) AS place
        FROM import_refunds WHERE external_id !~ '/[0-9]{4}-[0-9]{2}-[0-9]{2}$') came
    WHERE import_refunds.external_id = came.external_id AND came.place <= (
        SELECT CASE WHEN came.customer IS NULL THEN count(*) WHEN count(*) > 0 THEN came.place ELSE 0 END
        FROM refunds named LEFT JOIN customers ON customers.account_id = $1 AND customers.id = named.customer_id
        WHERE named.account_id = $1 AND named.source = $2 AND named.external_id ~ '/[0-9]{4}-[0-9]{2}-[0-9]{2}$'
            AND named.refunded_at BETWEEN came.at - interval '1 day' AND came.at + interval '1 day'
            AND (named.refunded_at AT TIME ZONE $3)::date = (came.at AT TIME ZONE $3)::date
            AND (customers.external_id = came.customer OR (came.customer IS NULL AND named.amount = came.amount)))"
);

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, TABLES, DAYS_TABLE] =>
    /// What is there by a number of its own and comes in by its order.
    GATHER_NUMBERED(account: BigInt, source: Text, timezone: Text) -> () = "INSERT INTO import_gone_refunds
    SELECT DISTINCT id, refunded_at FROM (
        SELECT known.id, known.refunded_at, known.customer_id, named.place, row_number() OVER (
            PARTITION BY named.external_id, known.customer_id IS NULL ORDER BY known.external_id) AS among
        FROM (
            SELECT external_id, customer, at, amount, is_known, row_number() OVER (
                PARTITION BY (at AT TIME ZONE $3)::date, amount, is_known ORDER BY external_id) AS place
            FROM import_refunds WHERE external_id ~ '/[0-9]{4}-[0-9]{2}-[0-9]{2}$') named
        LEFT JOIN customers
            ON customers.account_id = $1 AND customers.source = $2 AND customers.external_id = named.customer
        JOIN refunds known ON known.account_id = $1 AND known.source = $2
            AND known.refunded_at BETWEEN named.at - interval '1 day' AND named.at + interval '1 day'
            AND (known.refunded_at AT TIME ZONE $3)::date = (named.at AT TIME ZONE $3)::date
            AND (known.customer_id = customers.id
                OR (known.customer_id IS NULL AND known.amount = named.amount AND NOT named.is_known))
        WHERE known.external_id !~ '/[0-9]{4}-[0-9]{2}-[0-9]{2}$') found
    WHERE customer_id IS NOT NULL OR among = place"
);

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, TABLES, DAYS_TABLE] =>
    /// What was refunded of an order is its buyer's, though only the order says who that is.
    pub(super) NAME_BUYERS(account: BigInt, source: Text) -> () = "UPDATE import_refunds came SET customer = buyer.customer
    FROM (SELECT named.external_id, coalesce(sold.customer, customers.external_id) AS customer FROM import_refunds named
        LEFT JOIN import_orders sold ON sold.external_id = left(named.external_id, -11)
        LEFT JOIN orders known ON known.account_id = $1 AND known.source = $2
            AND known.external_id = left(named.external_id, -11)
        LEFT JOIN customers ON customers.account_id = $1 AND customers.id = known.customer_id
        WHERE named.customer IS NULL AND named.external_id ~ '/[0-9]{4}-[0-9]{2}-[0-9]{2}$') buyer
    WHERE buyer.external_id = came.external_id AND buyer.customer IS NOT NULL"
);

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, TABLES, DAYS_TABLE] =>
    /// Refunds that came before their order get its buyer.
    MARK_ADOPTED(account: BigInt, source: Text) -> () = "INSERT INTO import_moments SELECT refunds.refunded_at
    FROM import_orders came JOIN orders sold ON sold.account_id = $1 AND sold.id = came.id
    JOIN refunds ON refunds.account_id = $1 AND refunds.source = $2
        AND left(refunds.external_id, -11) = came.external_id
        AND refunds.external_id ~ '/[0-9]{4}-[0-9]{2}-[0-9]{2}$'
    WHERE refunds.customer_id IS NULL AND sold.customer_id IS NOT NULL"
);

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, TABLES, DAYS_TABLE] =>
    ADOPT(account: BigInt, source: Text) -> () = "UPDATE refunds SET customer_id = sold.customer_id
    FROM import_orders came JOIN orders sold ON sold.account_id = $1 AND sold.id = came.id
    WHERE refunds.account_id = $1 AND refunds.source = $2 AND left(refunds.external_id, -11) = came.external_id
        AND refunds.external_id ~ '/[0-9]{4}-[0-9]{2}-[0-9]{2}$'
        AND refunds.customer_id IS NULL AND sold.customer_id IS NOT NULL"
);

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, TABLES, DAYS_TABLE] =>
    /// What came by the day that it has now, and is there by the one that it had in the account's time zone of before.
    pub(super) GATHER_RENAMED(account: BigInt, source: Text, timezone: Text) -> () = "INSERT INTO import_gone_refunds
    SELECT DISTINCT known.id, known.refunded_at FROM import_refunds came
    JOIN refunds known ON known.account_id = $1 AND known.source = $2
        AND left(known.external_id, -11) = left(came.external_id, -11)
        AND known.external_id ~ '/[0-9]{4}-[0-9]{2}-[0-9]{2}$'
    WHERE came.external_id ~ '/[0-9]{4}-[0-9]{2}-[0-9]{2}$' AND known.external_id <> came.external_id
        AND right(came.external_id, 10) = ((known.refunded_at AT TIME ZONE $3)::date)::text
        AND NOT EXISTS (SELECT FROM import_refunds same WHERE same.external_id = known.external_id)"
);

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, TABLES, DAYS_TABLE] =>
    DELETE_LINES(account: BigInt) -> () = "DELETE FROM refund_lines USING import_gone_refunds gone
    WHERE refund_lines.account_id = $1 AND refund_lines.refund_id = gone.id"
);

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, TABLES, DAYS_TABLE] =>
    DELETE(account: BigInt) -> () = "DELETE FROM refunds USING import_gone_refunds gone
    WHERE refunds.account_id = $1 AND refunds.id = gone.id"
);

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, TABLES, DAYS_TABLE] =>
    MARK_DAYS() -> () = "INSERT INTO import_moments SELECT at FROM import_gone_refunds"
);

/// Leaves out refunds that are there by their orders; gives how many.
pub(super) async fn drop_numbered(
    transaction: &Transaction<'_>,
    scope: &Scope,
    source: &str,
) -> Result<i64, tokio_postgres::Error> {
    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&scope.account, &source, &scope.timezone];
    Ok(count(transaction.execute(DROP_NUMBERED, &parameters).await?))
}

/// Gathers refunds that came in by their orders now; gives how many.
pub(super) async fn gather_numbered(
    transaction: &Transaction<'_>,
    scope: &Scope,
    source: &str,
) -> Result<i64, tokio_postgres::Error> {
    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&scope.account, &source, &scope.timezone];
    Ok(count(transaction.execute(GATHER_NUMBERED, &parameters).await?))
}

/// Gives refunds without a buyer that of their order, which came now.
pub(super) async fn adopt(
    transaction: &Transaction<'_>,
    scope: &Scope,
    source: &str,
) -> Result<(), tokio_postgres::Error> {
    for statement in [MARK_ADOPTED, ADOPT] {
        transaction.execute(statement, &[&scope.account, &source]).await?;
    }
    Ok(())
}

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
