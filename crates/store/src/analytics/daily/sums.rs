//! The sums of days that statements make on their own: of products, by dimension, and of visitors.

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
    ClearProductDays<'a>(account: i64 => BigInt, days: &'a [Date] => Array<SqlDate>) -> () =
        "DELETE FROM product_days WHERE account_id = $1 AND day = ANY($2)"
);

statement!(
    /// Visitors are kept: the events that they were counted from may be gone.
    ClearBreakdowns<'a>(account: i64 => BigInt, days: &'a [Date] => Array<SqlDate>) -> () = "
    WITH kept AS (
        UPDATE daily_breakdowns SET gross_revenue = 0, orders = 0, units = 0, ad_spend = 0
        WHERE account_id = $1 AND day = ANY($2) AND visitors > 0
    )
    DELETE FROM daily_breakdowns WHERE account_id = $1 AND day = ANY($2) AND visitors = 0"
);

day_statement!(
    /// `OFFSET 0` has the lines looked up order by order: the planner takes a day for a ninth of all orders, and would go
    /// through every line there is.
    pub(super) ProductDays -> () = "
    WITH d AS (SELECT * FROM unnest($2, $3, $4) AS d(day, lo, hi)),
    placed AS MATERIALIZED (
        SELECT d.day, o.id FROM d
        JOIN orders o ON o.account_id = $1 AND o.placed_at >= d.lo AND o.placed_at < d.hi
    ),
    returned AS MATERIALIZED (
        SELECT d.day, r.id FROM d
        JOIN refunds r ON r.account_id = $1 AND r.refunded_at >= d.lo AND r.refunded_at < d.hi
    ),
    lines AS (
        SELECT l.product_id, placed.day, 1 AS purchases, l.quantity AS units, l.quantity AS largest_line, 0 AS cancelled_units,
            l.quantity * l.unit_price AS revenue, 0 AS refunded
        FROM placed CROSS JOIN LATERAL (SELECT product_id, quantity, unit_price FROM order_lines
            WHERE account_id = $1 AND order_id = placed.id AND product_id IS NOT NULL OFFSET 0) l
        UNION ALL
        SELECT l.product_id, returned.day, 0, 0, 0, l.quantity, 0, l.quantity * l.unit_price
        FROM returned CROSS JOIN LATERAL (SELECT product_id, quantity, unit_price FROM refund_lines
            WHERE account_id = $1 AND refund_id = returned.id AND product_id IS NOT NULL OFFSET 0) l
    )
    INSERT INTO product_days (account_id, product_id, day, purchases, units, largest_line, cancelled_units, revenue, refunded)
    SELECT $1, product_id, day, sum(purchases)::bigint, sum(units)::bigint, max(largest_line), sum(cancelled_units)::bigint, sum(revenue),
        sum(refunded)
    FROM lines GROUP BY product_id, day"
);

day_statement!(
    /// Orders by the platform they came from, by country and by both; spend by the platform it was paid to and by campaign.
    pub(super) Breakdowns -> () = "
    WITH d AS (SELECT * FROM unnest($2, $3, $4) AS d(day, lo, hi)),
    parts AS (
        SELECT d.day, v.dimension, v.value, o.gross AS gross_revenue, 1 AS orders, o.units, 0 AS ad_spend
        FROM d JOIN orders o ON o.account_id = $1 AND o.placed_at >= d.lo AND o.placed_at < d.hi
        CROSS JOIN LATERAL (VALUES ('platform', o.source), ('country', coalesce(o.country, 'unknown')),
            ('country_platform', coalesce(o.country, 'unknown') || '/' || o.source)) AS v(dimension, value)
        UNION ALL
        SELECT d.day, v.dimension, v.value, 0, 0, 0, a.spend
        FROM d JOIN ad_spend a ON a.account_id = $1 AND a.day = d.day
        CROSS JOIN LATERAL (VALUES ('platform', a.platform), ('campaign', a.platform || '/' || a.campaign))
            AS v(dimension, value)
    )
    INSERT INTO daily_breakdowns (account_id, day, dimension, value, gross_revenue, orders, units, ad_spend)
    SELECT $1, day, dimension, value, sum(gross_revenue), sum(orders), sum(units)::bigint, least(sum(ad_spend), 1e15)
    FROM parts GROUP BY day, dimension, value
    ON CONFLICT (account_id, day, dimension, value) DO UPDATE SET gross_revenue = excluded.gross_revenue,
        orders = excluded.orders, units = excluded.units, ad_spend = excluded.ad_spend"
);

day_statement!(
    /// Visitors by country: who was in two is a visitor of both.
    pub(super) VisitorsByCountry -> () = "
    INSERT INTO daily_breakdowns AS old (account_id, day, dimension, value, visitors)
    SELECT $1, d.day, 'country', coalesce(e.country, 'unknown'), count(DISTINCT coalesce(e.visitor_id, e.session_id))
    FROM unnest($2, $3, $4) AS d(day, lo, hi)
    JOIN track_events e ON e.account_id = $1 AND e.occurred_at >= d.lo AND e.occurred_at < d.hi
    GROUP BY d.day, coalesce(e.country, 'unknown') HAVING count(DISTINCT coalesce(e.visitor_id, e.session_id)) > 0
    ON CONFLICT (account_id, day, dimension, value) DO UPDATE SET visitors = excluded.visitors
    WHERE old.visitors < excluded.visitors"
);

day_statement!(
    /// The visitors of days on which nothing but tracking events came in; days that have as many already are left alone.
    pub(super) Visitors -> Scalar<SqlDate> = "
    INSERT INTO daily_metrics AS old (account_id, day, visitors)
    SELECT $1, d.day, count(DISTINCT coalesce(e.visitor_id, e.session_id)) AS visitors
    FROM unnest($2, $3, $4) AS d(day, lo, hi)
    JOIN track_events e ON e.account_id = $1 AND e.occurred_at >= d.lo AND e.occurred_at < d.hi
    GROUP BY d.day HAVING count(DISTINCT coalesce(e.visitor_id, e.session_id)) > 0
    ON CONFLICT (account_id, day) DO UPDATE SET visitors = excluded.visitors WHERE old.visitors < excluded.visitors
    RETURNING day"
);

statement!(
    pub(super) DropEmptyDays<'a>(account: i64 => BigInt, days: &'a [Date] => Array<SqlDate>) -> () = "
    DELETE FROM daily_metrics WHERE account_id = $1 AND day = ANY($2) AND orders = 0 AND refund_count = 0
        AND ad_spend = 0 AND ad_clicks = 0 AND extra_expenses = 0 AND visitors = 0"
);

/// Writes again what was sold on these days, by product and by dimension, and by whom they were visited.
pub(super) async fn rewrite(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    bounds: &Bounds,
) -> Result<(), Error> {
    let days = bounds.days.as_slice();
    ClearProductDays { account: account.0, days }.execute(connection).await?;
    ClearBreakdowns { account: account.0, days }.execute(connection).await?;
    ProductDays::of(account, bounds).execute(connection).await?;
    Breakdowns::of(account, bounds).execute(connection).await?;
    VisitorsByCountry::of(account, bounds).execute(connection).await?;
    Ok(())
}

/// Drops those of these days on which nothing is left.
pub(super) async fn drop_empty(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    days: &[Date],
) -> Result<(), Error> {
    if !days.is_empty() {
        DropEmptyDays { account: account.0, days }.execute(connection).await?;
    }
    Ok(())
}
