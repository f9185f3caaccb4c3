//! What customers did on each day, and their totals.

use diesel::{
    result::Error,
    sql_types::{Array, BigInt, Date as SqlDate, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::AccountId;
use time::{Date, OffsetDateTime};

use super::Bounds;
use crate::database::{query::RunQueryDsl, statement::Scalar};

statement!(
    /// Who was a customer of these days.
    Clear<'a>(account: i64 => BigInt, days: &'a [Date] => Array<SqlDate>) -> Scalar<BigInt> = "
    WITH cleared AS (DELETE FROM customer_days WHERE account_id = $1 AND day = ANY($2) RETURNING customer_id)
    SELECT DISTINCT customer_id FROM cleared"
);

day_statement!(
    pub(super) CustomerDays -> () = "
    WITH d AS (SELECT * FROM unnest($2, $3, $4) AS d(day, lo, hi)),
    documents AS (
        SELECT o.customer_id, d.day, 1 AS orders, o.gross, 0 AS refunds, o.placed_at
        FROM d JOIN orders o ON o.account_id = $1 AND o.placed_at >= d.lo AND o.placed_at < d.hi
        UNION ALL
        SELECT r.customer_id, d.day, 0, 0, r.amount, NULL
        FROM d JOIN refunds r ON r.account_id = $1 AND r.refunded_at >= d.lo AND r.refunded_at < d.hi
    )
    INSERT INTO customer_days (account_id, customer_id, day, orders, gross, refunds, first_at, last_at)
    SELECT $1, customer_id, day, sum(orders), sum(gross), sum(refunds), min(placed_at), max(placed_at)
    FROM documents WHERE customer_id IS NOT NULL GROUP BY customer_id, day"
);

/// The customers of the days `$2` and those of before, `$3`.
macro_rules! affected {
    () => {
        "
    WITH affected AS (
        SELECT customer_id FROM customer_days WHERE account_id = $1 AND day = ANY($2) UNION SELECT unnest($3)
    ),"
    };
}

statement!(
    /// Instants that the first orders move from and to of the customers of these days and of those of before, when
    /// [`DropCustomers`] and [`CustomerTotals`] follow: the number of new customers changes on their days.
    pub(super) FirstOrdersMoved<'a>(
        account: i64 => BigInt,
        days: &'a [Date] => Array<SqlDate>,
        before: &'a [i64] => Array<BigInt>,
    ) -> Scalar<Timestamptz> = concat!(
    affected!(),
    "
    summed AS (
        SELECT customer_id, min(first_at) AS first_at
        FROM affected JOIN customer_days c USING (customer_id) WHERE c.account_id = $1 GROUP BY customer_id
        HAVING sum(orders) > 0
    ),
    moved AS MATERIALIZED (
        SELECT old.first_at AS old_at, new.first_at AS new_at
        FROM affected LEFT JOIN (SELECT * FROM customer_totals WHERE account_id = $1) old USING (customer_id)
        LEFT JOIN summed new USING (customer_id)
        WHERE old.first_at IS DISTINCT FROM new.first_at
    )
    SELECT DISTINCT v.at FROM moved CROSS JOIN LATERAL (VALUES (old_at), (new_at)) AS v(at) WHERE v.at IS NOT NULL"
)
);

statement!(
    /// Of the customers of before, those who have no order left.
    pub(super) DropCustomers<'a>(account: i64 => BigInt, before: &'a [i64] => Array<BigInt>) -> () = "
    DELETE FROM customer_totals t WHERE account_id = $1 AND customer_id = ANY($2) AND NOT EXISTS (
        SELECT FROM customer_days c WHERE c.account_id = $1 AND c.customer_id = t.customer_id AND c.orders > 0)"
);

statement!(
    /// Sums up the days of the customers of these days and of those of before. A statement of its own, as the two above: all
    /// of them as parts of one pass through every node of a cluster.
    pub(super) CustomerTotals<'a>(
        account: i64 => BigInt,
        days: &'a [Date] => Array<SqlDate>,
        before: &'a [i64] => Array<BigInt>,
    ) -> () = concat!(
    affected!(),
    "
    summed AS (
        SELECT customer_id, count(*) FILTER (WHERE orders > 0) AS days, sum(orders)::bigint AS orders,
            sum(gross) AS gross, sum(refunds) AS refunds, min(first_at) AS first_at, max(last_at) AS last_at
        FROM affected JOIN customer_days c USING (customer_id) WHERE c.account_id = $1 GROUP BY customer_id
        HAVING sum(orders) > 0
    )
    INSERT INTO customer_totals (account_id, customer_id, days, orders, gross, refunds, first_at, last_at)
    SELECT $1, customer_id, days, orders, gross, refunds, first_at, last_at FROM summed
    ON CONFLICT (account_id, customer_id) DO UPDATE SET days = excluded.days, orders = excluded.orders,
        gross = excluded.gross, refunds = excluded.refunds, first_at = excluded.first_at, last_at = excluded.last_at"
)
);

day_statement!(
    pub(super) NewCustomers -> () = "
    WITH d AS (SELECT * FROM unnest($2, $3, $4) AS d(day, lo, hi)),
    counted AS (
        SELECT d.day, (SELECT count(*) FROM customer_totals t
            WHERE t.account_id = $1 AND t.first_at >= d.lo AND t.first_at < d.hi) AS new_customers
        FROM d
    )
    UPDATE daily_metrics m SET new_customers = c.new_customers FROM counted c
    WHERE m.account_id = $1 AND m.day = c.day AND m.new_customers <> c.new_customers"
);

/// Writes again what customers did on these days. Returns whom they had before.
pub(super) async fn rewrite(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    bounds: &Bounds,
) -> Result<Vec<i64>, Error> {
    let before = Clear { account: account.0, days: &bounds.days }.load(connection).await?;
    CustomerDays::of(account, bounds).execute(connection).await?;
    Ok(before)
}

/// Brings the totals of the customers of these days, and of those of before, up to date. Returns the instants that first
/// orders moved from and to.
pub(super) async fn sum_up(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    bounds: &Bounds,
    before: &[i64],
) -> Result<Vec<OffsetDateTime>, Error> {
    let (account, days) = (account.0, bounds.days.as_slice());
    let moved = FirstOrdersMoved { account, days, before }.load(connection).await?;
    DropCustomers { account, before }.execute(connection).await?;
    CustomerTotals { account, days, before }.execute(connection).await?;
    Ok(moved)
}
