//! The statements of the roll-up. `$1` is the account; `d(day, lo, hi)` are the days with the instants that they start at
//! and end before, computed outside so that every day is cut in one place.

use std::sync::LazyLock;

use domain::metrics::cost::golden;
use ring::digest::{Context, SHA256};

/// One roll-up of an account at a time, until the end of the transaction.
pub(super) const TRY_LOCK: &str = "SELECT pg_try_advisory_xact_lock(726300, hashint8($1)) AS acquired";

/// Takes the touched days except those that an import is still writing to: they are taken the next time.
pub(super) const TAKE_TOUCHED: &str = "
    DELETE FROM touched_days WHERE account_id = $1 AND day IN (
        SELECT day FROM touched_days WHERE account_id = $1 ORDER BY day FOR UPDATE SKIP LOCKED)
    RETURNING day";

/// The hours on which the tracking events received since `$2` took place.
pub(super) const HOURS_OF_EVENTS: &str = "
    SELECT DISTINCT date_trunc('hour', occurred_at, 'UTC') AS at
    FROM track_events WHERE account_id = $1 AND received_at >= $2";

/// Stands for the definitions of the sums: the statements that make them, and the rule of what a day costs. Another of
/// either gives other sums for the same data.
pub(super) static DEFINITIONS: LazyLock<String> = LazyLock::new(|| {
    fingerprint(&[
        PRODUCT_DAYS,
        BREAKDOWNS,
        VISITORS_BY_COUNTRY,
        ORDERS_BY_PLATFORM,
        GOODS_BY_CATEGORY,
        DAILY_METRICS,
        VISITORS,
        CUSTOMER_DAYS,
        FIRST_ORDERS_MOVED,
        DROP_CUSTOMERS,
        CUSTOMER_TOTALS,
        NEW_CUSTOMERS,
        DROP_EMPTY_DAYS,
        &golden(),
    ])
});

/// The first 64 bits of SHA-256 of the texts, however their lines are broken, as 16 hexadecimal digits.
fn fingerprint(texts: &[&str]) -> String {
    let mut context = Context::new(&SHA256);
    for text in texts {
        for word in text.split_whitespace() {
            context.update(word.as_bytes());
            context.update(b" ");
        }
        context.update(b"\0");
    }
    hex::encode(context.finish().as_ref().get(..8).unwrap_or_default())
}

/// All days, if they were summed up by other rates, in another time zone `$2` or by other definitions `$3` than those of
/// now, which are noted. The same instant is on days up to two apart in different zones.
pub(super) const DAYS_MADE_OTHERWISE: &str = "
    WITH now AS (
        SELECT concat_ws(' ', $3, $2, fee_rate, fee_fixed, shipping_per_order, cogs_ratio) AS made_by
        FROM accounts WHERE id = $1
    ),
    changed AS (
        UPDATE roll_ups SET made_by = now.made_by FROM now WHERE account_id = $1 AND roll_ups.made_by <> now.made_by
        RETURNING account_id
    )
    SELECT DISTINCT m.day + near AS day
    FROM changed JOIN daily_metrics m ON m.account_id = $1 CROSS JOIN generate_series(-2, 2) AS near";

pub(super) const CLEAR_PRODUCT_DAYS: &str = "DELETE FROM product_days WHERE account_id = $1 AND day = ANY($2)";
/// Visitors are kept: the events that they were counted from may be gone.
pub(super) const CLEAR_BREAKDOWNS: &str = "
    WITH kept AS (
        UPDATE daily_breakdowns SET gross_revenue = 0, orders = 0, units = 0, ad_spend = 0
        WHERE account_id = $1 AND day = ANY($2) AND visitors > 0
    )
    DELETE FROM daily_breakdowns WHERE account_id = $1 AND day = ANY($2) AND visitors = 0";

/// `OFFSET 0` has the lines looked up order by order: the planner takes a day for a ninth of all orders, and would go
/// through every line there is.
pub(super) const PRODUCT_DAYS: &str = "
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
        SELECT l.product_id, placed.day, l.quantity AS units, l.quantity AS largest_line, 0 AS cancelled_units,
            l.quantity * l.unit_price AS revenue
        FROM placed CROSS JOIN LATERAL (SELECT product_id, quantity, unit_price FROM order_lines
            WHERE account_id = $1 AND order_id = placed.id AND product_id IS NOT NULL OFFSET 0) l
        UNION ALL
        SELECT l.product_id, returned.day, 0, 0, l.quantity, 0
        FROM returned CROSS JOIN LATERAL (SELECT product_id, quantity FROM refund_lines
            WHERE account_id = $1 AND refund_id = returned.id AND product_id IS NOT NULL OFFSET 0) l
    )
    INSERT INTO product_days (account_id, product_id, day, units, largest_line, cancelled_units, revenue)
    SELECT $1, product_id, day, sum(units)::bigint, max(largest_line), sum(cancelled_units)::bigint, sum(revenue)
    FROM lines GROUP BY product_id, day";

/// Orders by the platform they came from, by country and by both; spend by the platform it was paid to and by campaign.
pub(super) const BREAKDOWNS: &str = "
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
    SELECT $1, day, dimension, value, sum(gross_revenue), sum(orders), sum(units)::bigint, sum(ad_spend)
    FROM parts GROUP BY day, dimension, value
    ON CONFLICT (account_id, day, dimension, value) DO UPDATE SET gross_revenue = excluded.gross_revenue,
        orders = excluded.orders, units = excluded.units, ad_spend = excluded.ad_spend";

/// Visitors by country: who was in two is a visitor of both.
pub(super) const VISITORS_BY_COUNTRY: &str = "
    INSERT INTO daily_breakdowns AS old (account_id, day, dimension, value, visitors)
    SELECT $1, d.day, 'country', coalesce(e.country, 'unknown'), count(DISTINCT coalesce(e.visitor_id, e.session_id))
    FROM unnest($2, $3, $4) AS d(day, lo, hi)
    JOIN track_events e ON e.account_id = $1 AND e.occurred_at >= d.lo AND e.occurred_at < d.hi
    GROUP BY d.day, coalesce(e.country, 'unknown') HAVING count(DISTINCT coalesce(e.visitor_id, e.session_id)) > 0
    ON CONFLICT (account_id, day, dimension, value) DO UPDATE SET visitors = excluded.visitors
    WHERE old.visitors < excluded.visitors";

/// The orders of each day and platform, and what the shop states of their fees and shipping.
pub(super) const ORDERS_BY_PLATFORM: &str = "
    WITH d AS (SELECT * FROM unnest($2, $3, $4) AS d(day, lo, hi))
    SELECT d.day, sum(o.gross) AS gross_revenue, count(*) AS orders, sum(o.units)::bigint AS units,
        coalesce(sum(o.fees), 0) AS stated_fees,
        coalesce(sum(o.gross) FILTER (WHERE o.fees IS NOT NULL), 0) AS stated_fees_revenue,
        coalesce(sum(o.gross) FILTER (WHERE o.fees IS NULL), 0) AS unstated_fees_revenue,
        count(*) FILTER (WHERE o.fees IS NULL AND o.gross > 0) AS unstated_fees_orders,
        coalesce(sum(o.shipping), 0) AS stated_shipping,
        count(*) FILTER (WHERE o.shipping IS NULL) AS unstated_shipping_orders
    FROM d JOIN orders o ON o.account_id = $1 AND o.placed_at >= d.lo AND o.placed_at < d.hi
    GROUP BY d.day, o.source";

/// The products sold on each day by category and by where their unit costs are known from.
pub(super) const GOODS_BY_CATEGORY: &str = "
    WITH sold AS MATERIALIZED (
        SELECT p.day, p.units, p.revenue, product.category, product.unit_cost AS catalogue,
            (SELECT c.unit_cost FROM product_costs c
                WHERE c.account_id = $1 AND c.product_id = p.product_id AND c.valid_from <= p.day
                ORDER BY c.valid_from DESC LIMIT 1) AS of_the_day,
            (SELECT c.unit_cost FROM product_costs c
                WHERE c.account_id = $1 AND c.product_id = p.product_id AND c.valid_from > p.day
                ORDER BY c.valid_from LIMIT 1) AS later
        FROM product_days p JOIN products product ON product.account_id = $1 AND product.id = p.product_id
        WHERE p.account_id = $1 AND p.day = ANY($2)
    )
    SELECT day, category, sum(revenue) AS revenue, sum(units * of_the_day) AS cost_of_the_day,
        sum(units * later) AS later_cost, sum(units * catalogue) AS catalogue_cost
    FROM sold GROUP BY day, category, of_the_day IS NULL, later IS NULL, catalogue IS NULL";

/// Everything that one row of a day takes from that day alone, `new_customers` apart. What the orders come to and cost
/// is computed outside.
///
/// Events are never removed one by one, so a day's visitors do not fall when old events are dropped.
pub(super) const DAILY_METRICS: &str = "
    WITH d AS (
        SELECT * FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
            AS d(day, lo, hi, gross_revenue, orders, units, cogs, goods_revenue, cogs_covered_revenue, fees,
                fees_estimated_orders, shipping, shipping_estimated_orders)
    ),
    bought AS (
        SELECT day, count(*) AS customers FROM customer_days
        WHERE account_id = $1 AND day = ANY($2) AND orders > 0 GROUP BY day
    ),
    returned AS (
        SELECT d.day, sum(r.amount) AS refunds, count(*) AS refund_count
        FROM d JOIN refunds r ON r.account_id = $1 AND r.refunded_at >= d.lo AND r.refunded_at < d.hi GROUP BY d.day
    ),
    ads AS (
        SELECT day, sum(spend) AS ad_spend, coalesce(sum(clicks), 0)::bigint AS ad_clicks
        FROM ad_spend WHERE account_id = $1 AND day = ANY($2) GROUP BY day
    ),
    extra AS (
        SELECT day, sum(amount) AS extra_expenses FROM expenses WHERE account_id = $1 AND day = ANY($2) GROUP BY day
    ),
    seen AS (
        SELECT d.day, count(DISTINCT coalesce(e.visitor_id, e.session_id)) AS visitors
        FROM d JOIN track_events e ON e.account_id = $1 AND e.occurred_at >= d.lo AND e.occurred_at < d.hi
        GROUP BY d.day
    )
    INSERT INTO daily_metrics AS old (account_id, day, gross_revenue, refunds, orders, units, customers, refund_count,
        cogs, goods_revenue, cogs_covered_revenue, fees, fees_estimated_orders, shipping, shipping_estimated_orders,
        ad_spend, ad_clicks, extra_expenses, visitors)
    SELECT $1, day, gross_revenue, coalesce(refunds, 0), orders, units, coalesce(customers, 0), coalesce(refund_count, 0),
        cogs, goods_revenue, cogs_covered_revenue, fees, fees_estimated_orders, shipping, shipping_estimated_orders,
        coalesce(ad_spend, 0), coalesce(ad_clicks, 0), coalesce(extra_expenses, 0), coalesce(visitors, 0)
    FROM d LEFT JOIN bought USING (day) LEFT JOIN returned USING (day)
    LEFT JOIN ads USING (day) LEFT JOIN extra USING (day) LEFT JOIN seen USING (day)
    ON CONFLICT (account_id, day) DO UPDATE SET
        gross_revenue = excluded.gross_revenue, refunds = excluded.refunds, orders = excluded.orders,
        units = excluded.units, customers = excluded.customers, refund_count = excluded.refund_count,
        cogs = excluded.cogs, goods_revenue = excluded.goods_revenue,
        cogs_covered_revenue = excluded.cogs_covered_revenue, fees = excluded.fees,
        fees_estimated_orders = excluded.fees_estimated_orders, shipping = excluded.shipping,
        shipping_estimated_orders = excluded.shipping_estimated_orders, ad_spend = excluded.ad_spend, ad_clicks = excluded.ad_clicks,
        extra_expenses = excluded.extra_expenses, visitors = greatest(old.visitors, excluded.visitors)";

/// The visitors of days on which nothing but tracking events came in; days that have as many already are left alone.
pub(super) const VISITORS: &str = "
    INSERT INTO daily_metrics AS old (account_id, day, visitors)
    SELECT $1, d.day, count(DISTINCT coalesce(e.visitor_id, e.session_id)) AS visitors
    FROM unnest($2, $3, $4) AS d(day, lo, hi)
    JOIN track_events e ON e.account_id = $1 AND e.occurred_at >= d.lo AND e.occurred_at < d.hi
    GROUP BY d.day HAVING count(DISTINCT coalesce(e.visitor_id, e.session_id)) > 0
    ON CONFLICT (account_id, day) DO UPDATE SET visitors = excluded.visitors WHERE old.visitors < excluded.visitors
    RETURNING day";

/// Who was a customer of these days.
pub(super) const CLEAR_CUSTOMER_DAYS: &str = "
    WITH cleared AS (DELETE FROM customer_days WHERE account_id = $1 AND day = ANY($2) RETURNING customer_id)
    SELECT DISTINCT customer_id FROM cleared";

pub(super) const CUSTOMER_DAYS: &str = "
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
    FROM documents WHERE customer_id IS NOT NULL GROUP BY customer_id, day";

/// The customers of the days `$2` and those of before, `$3`.
macro_rules! affected {
    () => {
        "
    WITH affected AS (
        SELECT customer_id FROM customer_days WHERE account_id = $1 AND day = ANY($2) UNION SELECT unnest($3)
    ),"
    };
}

/// Instants that the first orders move from and to of the customers of the days `$2` and of those of before, `$3`, when
/// [`DROP_CUSTOMERS`] and [`CUSTOMER_TOTALS`] follow: the number of new customers changes on their days.
pub(super) const FIRST_ORDERS_MOVED: &str = concat!(
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
);

/// Of the customers of before, `$2`, those who have no order left.
pub(super) const DROP_CUSTOMERS: &str = "
    DELETE FROM customer_totals t WHERE account_id = $1 AND customer_id = ANY($2) AND NOT EXISTS (
        SELECT FROM customer_days c WHERE c.account_id = $1 AND c.customer_id = t.customer_id AND c.orders > 0)";

/// Sums up the days of the customers of the days `$2` and of those of before, `$3`. A statement of its own, as the two
/// above: all of them as parts of one pass through every node of a cluster.
pub(super) const CUSTOMER_TOTALS: &str = concat!(
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
);

pub(super) const NEW_CUSTOMERS: &str = "
    WITH d AS (SELECT * FROM unnest($2, $3, $4) AS d(day, lo, hi)),
    counted AS (
        SELECT d.day, (SELECT count(*) FROM customer_totals t
            WHERE t.account_id = $1 AND t.first_at >= d.lo AND t.first_at < d.hi) AS new_customers
        FROM d
    )
    UPDATE daily_metrics m SET new_customers = c.new_customers FROM counted c
    WHERE m.account_id = $1 AND m.day = c.day AND m.new_customers <> c.new_customers";

/// Days on which nothing is left.
pub(super) const DROP_EMPTY_DAYS: &str = "
    DELETE FROM daily_metrics WHERE account_id = $1 AND day = ANY($2) AND orders = 0 AND refund_count = 0
        AND ad_spend = 0 AND ad_clicks = 0 AND extra_expenses = 0 AND visitors = 0";

/// Breakdowns and, as one more of them, the products that sold best from `$2` to `$3` or on one of the days `$4`.
pub(super) const PARTS: &str = "
    WITH best AS (
        (SELECT product_id FROM product_days WHERE account_id = $1 AND day BETWEEN $2 AND $3
            GROUP BY product_id ORDER BY sum(revenue) DESC, product_id LIMIT 24)
        UNION
        SELECT of_day.product_id FROM unnest($4) AS looked_at(day) CROSS JOIN LATERAL (
            SELECT product_id FROM product_days WHERE account_id = $1 AND day = looked_at.day
            ORDER BY revenue DESC, product_id LIMIT 3) of_day
    )
    SELECT day, dimension, value, gross_revenue, orders, units, ad_spend, visitors
    FROM daily_breakdowns WHERE account_id = $1 AND day BETWEEN $2 AND $3
    UNION ALL
    SELECT sold.day, 'product', product.sku, sold.revenue, 0::bigint, sold.units, 0, 0::bigint
    FROM best JOIN product_days sold ON sold.account_id = $1 AND sold.product_id = best.product_id
    JOIN products product ON product.account_id = $1 AND product.id = best.product_id
    WHERE sold.day BETWEEN $2 AND $3
    ORDER BY day, dimension, value";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_definitions_have_another_fingerprint_and_other_line_breaks_do_not() {
        let of = |statement: &str| fingerprint(&[statement, "rule"]);
        let rate = DAILY_METRICS.replace("sum(spend)", "max(spend)");
        assert_ne!(of(DAILY_METRICS), of(&rate));
        assert_eq!(of(DAILY_METRICS), of(&DAILY_METRICS.replace("\n    ", " ")));
        assert_ne!(of(DAILY_METRICS), fingerprint(&[DAILY_METRICS, "another rule"]));
        assert_eq!(DEFINITIONS.len(), 16);
    }
}
