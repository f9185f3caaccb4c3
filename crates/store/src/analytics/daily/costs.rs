//! The rows of days: the facts that the database adds up, and what `domain` makes of them.

use std::collections::BTreeMap;

use diesel::{
    result::Error,
    sql_types::{Array, BigInt, Bool, Date as SqlDate, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId,
    accounts::Platform,
    metrics::cost::{self, Costs, Goods, PlatformOrders, Refunded},
    profit::{Assumptions, Basis},
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use super::Bounds;
use crate::{analytics::profit, database::query::RunQueryDsl};

/// Days whose facts are held at a time.
const AT_ONCE: usize = 366;

/// Writes everything that the rows of these days take from the days alone.
pub(super) async fn write_days(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    bounds: &Bounds,
) -> Result<(), Error> {
    let assumed = profit::assumptions(connection, account).await?;
    for bounds in bounds.chunks(AT_ONCE) {
        let facts = read(connection, account, &bounds).await?;
        DailyMetrics::new(account, &bounds, &facts, &assumed).execute(connection).await?;
    }
    Ok(())
}

/// What is known of the sales of a day.
#[derive(Default)]
struct Facts {
    gross_revenue: Decimal,
    orders: i64,
    units: i64,
    by_platform: BTreeMap<String, PlatformOrders>,
    by_category: Vec<Goods>,
}

day_statement!(
    /// The orders of each day and platform, and what the shop states of their fees and shipping.
    pub(super) OrdersByPlatform -> PlatformRow = "
    WITH d AS (SELECT * FROM unnest($2, $3, $4) AS d(day, lo, hi))
    SELECT d.day, o.source, sum(o.gross) AS gross_revenue, count(*) AS orders, sum(o.units)::bigint AS units,
        coalesce(sum(o.fees), 0) AS stated_fees,
        coalesce(sum(o.gross) FILTER (WHERE o.fees IS NOT NULL), 0) AS stated_fees_revenue,
        coalesce(sum(o.gross) FILTER (WHERE o.fees IS NULL), 0) AS unstated_fees_revenue,
        count(*) FILTER (WHERE o.fees IS NULL AND o.gross > 0) AS unstated_fees_orders,
        coalesce(sum(o.shipping), 0) AS stated_shipping,
        count(*) FILTER (WHERE o.shipping IS NULL) AS unstated_shipping_orders
    FROM d JOIN orders o ON o.account_id = $1 AND o.placed_at >= d.lo AND o.placed_at < d.hi
    GROUP BY d.day, o.source"
);

row!(
    pub(super) struct PlatformRow {
        day: Date => SqlDate,
        source: String => Text,
        gross_revenue: Decimal => Numeric,
        orders: i64 => BigInt,
        units: i64 => BigInt,
        stated_fees: Decimal => Numeric,
        stated_fees_revenue: Decimal => Numeric,
        unstated_fees_revenue: Decimal => Numeric,
        unstated_fees_orders: i64 => BigInt,
        stated_shipping: Decimal => Numeric,
        unstated_shipping_orders: i64 => BigInt,
    }
);

/// The unit costs of the products in `p` by where they are known from, for the days of `p`.
macro_rules! unit_costs {
    () => {
        "product.category, product.unit_cost AS catalogue,
            (SELECT c.unit_cost FROM product_costs c
                WHERE c.account_id = $1 AND c.product_id = p.product_id AND c.valid_from <= p.day
                ORDER BY c.valid_from DESC LIMIT 1) AS of_the_day,
            (SELECT c.unit_cost FROM product_costs c
                WHERE c.account_id = $1 AND c.product_id = p.product_id AND c.valid_from > p.day
                ORDER BY c.valid_from LIMIT 1) AS later"
    };
}

statement!(
    /// The products sold on each day by category and by where their unit costs are known from. No cost is larger than what is
    /// kept of a day: units times a unit cost may be more than a decimal holds.
    pub(super) GoodsByCategory<'a>(account: i64 => BigInt, days: &'a [Date] => Array<SqlDate>) -> GoodsRow = concat!(
    "
    WITH sold AS MATERIALIZED (
        SELECT p.day, p.units, p.revenue, ", unit_costs!(), "
        FROM product_days p JOIN products product ON product.account_id = $1 AND product.id = p.product_id
        WHERE p.account_id = $1 AND p.day = ANY($2)
    )
    SELECT day, category, sum(revenue) AS revenue,
        CASE WHEN count(of_the_day) > 0 THEN least(sum(units * of_the_day), 1e15) END AS cost_of_the_day,
        CASE WHEN count(later) > 0 THEN least(sum(units * later), 1e15) END AS later_cost,
        CASE WHEN count(catalogue) > 0 THEN least(sum(units * catalogue), 1e15) END AS catalogue_cost
    FROM sold GROUP BY day, category, of_the_day IS NULL, later IS NULL, catalogue IS NULL")
);

row!(
    pub(super) struct GoodsRow {
        day: Date => SqlDate,
        category: Option<String> => Nullable<Text>,
        revenue: Decimal => Numeric,
        cost_of_the_day: Option<Decimal> => Nullable<Numeric>,
        later_cost: Option<Decimal> => Nullable<Numeric>,
        catalogue_cost: Option<Decimal> => Nullable<Numeric>,
    }
);

day_statement!(
    /// What the refunds and cancellations of each day take back of a product from a customer, beside what the customer
    /// ordered of it on that day. A document that names its order has the order's number before the day in its own.
    pub(super) RefundedGoods -> RefundedRow = concat!(
    "
    WITH d AS (SELECT * FROM unnest($2, $3, $4) AS d(day, lo, hi)),
    returned AS MATERIALIZED (
        SELECT d.day, d.lo, d.hi, r.id, r.source, r.customer_id,
            r.external_id ~ '/[0-9]{4}-[0-9]{2}-[0-9]{2}$' AS names_order
        FROM d JOIN refunds r ON r.account_id = $1 AND r.refunded_at >= d.lo AND r.refunded_at < d.hi
    ),
    p AS MATERIALIZED (
        SELECT r.day, r.lo, r.hi, r.source, r.customer_id, r.names_order, l.product_id,
            sum(l.quantity)::bigint AS units, sum(l.quantity * l.unit_price) AS amount
        FROM returned r CROSS JOIN LATERAL (SELECT product_id, quantity, unit_price FROM refund_lines
            WHERE account_id = $1 AND refund_id = r.id AND product_id IS NOT NULL OFFSET 0) l
        GROUP BY r.day, r.lo, r.hi, r.source, r.customer_id, r.names_order, l.product_id
    )
    SELECT p.day, p.source, p.names_order, p.units, p.amount,
        (SELECT coalesce(sum(l.quantity), 0)::bigint FROM orders o
            JOIN order_lines l ON l.account_id = $1 AND l.order_id = o.id AND l.product_id = p.product_id
            WHERE o.account_id = $1 AND o.customer_id = p.customer_id AND o.placed_at >= p.lo AND o.placed_at < p.hi)
            AS ordered_units, ", unit_costs!(), "
    FROM p JOIN products product ON product.account_id = $1 AND product.id = p.product_id")
);

row!(
    pub(super) struct RefundedRow {
        day: Date => SqlDate,
        source: String => Text,
        names_order: bool => Bool,
        units: i64 => BigInt,
        amount: Decimal => Numeric,
        ordered_units: i64 => BigInt,
        category: Option<String> => Nullable<Text>,
        catalogue: Option<Decimal> => Nullable<Numeric>,
        of_the_day: Option<Decimal> => Nullable<Numeric>,
        later: Option<Decimal> => Nullable<Numeric>,
    }
);

async fn read(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    bounds: &Bounds,
) -> Result<BTreeMap<Date, Facts>, Error> {
    let orders: Vec<PlatformRow> = OrdersByPlatform::of(account, bounds).load(connection).await?;
    let goods: Vec<GoodsRow> = GoodsByCategory { account: account.0, days: &bounds.days }.load(connection).await?;
    let refunded: Vec<RefundedRow> = RefundedGoods::of(account, bounds).load(connection).await?;
    let mut facts: BTreeMap<Date, Facts> = BTreeMap::new();
    for row in orders {
        let PlatformRow {
            day,
            source,
            gross_revenue,
            orders,
            units,
            stated_fees,
            stated_fees_revenue,
            unstated_fees_revenue,
            unstated_fees_orders,
            stated_shipping,
            unstated_shipping_orders,
        } = row;
        let of_day = facts.entry(day).or_default();
        of_day.gross_revenue += gross_revenue;
        of_day.orders += orders;
        of_day.units += units;
        let orders = PlatformOrders {
            stated_fees,
            stated_fees_revenue,
            unstated_fees_revenue,
            unstated_fees_orders,
            stated_shipping,
            unstated_shipping_orders,
            ..PlatformOrders::default()
        };
        of_day.by_platform.insert(source, orders);
    }
    for row in goods {
        let GoodsRow { day, category, revenue, cost_of_the_day, later_cost, catalogue_cost } = row;
        let goods = Goods { category, revenue, cost_of_the_day, later_cost, catalogue_cost };
        facts.entry(day).or_default().by_category.push(goods);
    }
    for row in refunded {
        let of_day = facts.entry(row.day).or_default();
        let platform = of_day.by_platform.entry(row.source.clone()).or_default();
        platform.returns_fees = row.source.parse().is_ok_and(Platform::returns_fees);
        platform.refunded.push(row.into());
    }
    Ok(facts)
}

impl From<RefundedRow> for Refunded {
    fn from(row: RefundedRow) -> Self {
        let RefundedRow {
            day: _,
            source: _,
            names_order,
            units,
            amount,
            ordered_units,
            category,
            catalogue: catalogue_cost,
            of_the_day: cost_of_the_day,
            later: later_cost,
        } = row;
        Self { names_order, units, amount, ordered_units, category, cost_of_the_day, later_cost, catalogue_cost }
    }
}

statement!(
    /// Everything that one row of a day takes from that day alone, `new_customers` apart. What the orders come to and cost
    /// is computed outside.
    ///
    /// Events are never removed one by one, so a day's visitors do not fall when old events are dropped.
    pub(super) DailyMetrics<'a>(
        account: i64 => BigInt,
        days: &'a [Date] => Array<SqlDate>,
        starts: &'a [OffsetDateTime] => Array<Timestamptz>,
        ends: &'a [OffsetDateTime] => Array<Timestamptz>,
        gross_revenue: Vec<Decimal> => Array<Numeric>,
        orders: Vec<i64> => Array<BigInt>,
        units: Vec<i64> => Array<BigInt>,
        cogs: Vec<Decimal> => Array<Numeric>,
        goods_revenue: Vec<Decimal> => Array<Numeric>,
        cogs_covered_revenue: Vec<Decimal> => Array<Numeric>,
        fees: Vec<Decimal> => Array<Numeric>,
        fees_estimated_orders: Vec<i64> => Array<BigInt>,
        shipping: Vec<Decimal> => Array<Numeric>,
        shipping_estimated_orders: Vec<i64> => Array<BigInt>,
        returned_units: Vec<i64> => Array<BigInt>,
        returned_cogs: Vec<Decimal> => Array<Numeric>,
        returned_fees: Vec<Decimal> => Array<Numeric>,
    ) -> () = "
    WITH d AS (
        SELECT * FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
            AS d(day, lo, hi, gross_revenue, orders, units, cogs, goods_revenue, cogs_covered_revenue, fees,
                fees_estimated_orders, shipping, shipping_estimated_orders, returned_units, returned_cogs, returned_fees)
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
        SELECT day, least(sum(spend), 1e15) AS ad_spend, coalesce(sum(clicks), 0)::bigint AS ad_clicks
        FROM ad_spend WHERE account_id = $1 AND day = ANY($2) GROUP BY day
    ),
    extra AS (
        SELECT day, least(sum(amount), 1e15) AS extra_expenses FROM expenses WHERE account_id = $1 AND day = ANY($2) GROUP BY day
    ),
    seen AS (
        SELECT d.day, count(DISTINCT coalesce(e.visitor_id, e.session_id)) AS visitors
        FROM d JOIN track_events e ON e.account_id = $1 AND e.occurred_at >= d.lo AND e.occurred_at < d.hi
        GROUP BY d.day
    )
    INSERT INTO daily_metrics AS old (account_id, day, gross_revenue, refunds, orders, units, customers, refund_count,
        cogs, goods_revenue, cogs_covered_revenue, fees, fees_estimated_orders, shipping, shipping_estimated_orders,
        returned_units, returned_cogs, returned_fees, ad_spend, ad_clicks, extra_expenses, visitors)
    SELECT $1, day, gross_revenue, coalesce(refunds, 0), orders, units, coalesce(customers, 0), coalesce(refund_count, 0),
        cogs, goods_revenue, cogs_covered_revenue, fees, fees_estimated_orders, shipping, shipping_estimated_orders,
        returned_units, returned_cogs, returned_fees, coalesce(ad_spend, 0), coalesce(ad_clicks, 0), coalesce(extra_expenses, 0), coalesce(visitors, 0)
    FROM d LEFT JOIN bought USING (day) LEFT JOIN returned USING (day)
    LEFT JOIN ads USING (day) LEFT JOIN extra USING (day) LEFT JOIN seen USING (day)
    ON CONFLICT (account_id, day) DO UPDATE SET
        gross_revenue = excluded.gross_revenue, refunds = excluded.refunds, orders = excluded.orders,
        units = excluded.units, customers = excluded.customers, refund_count = excluded.refund_count,
        cogs = excluded.cogs, goods_revenue = excluded.goods_revenue,
        cogs_covered_revenue = excluded.cogs_covered_revenue, fees = excluded.fees,
        fees_estimated_orders = excluded.fees_estimated_orders, shipping = excluded.shipping,
        shipping_estimated_orders = excluded.shipping_estimated_orders, returned_units = excluded.returned_units,
        returned_cogs = excluded.returned_cogs, returned_fees = excluded.returned_fees, ad_spend = excluded.ad_spend, ad_clicks = excluded.ad_clicks,
        extra_expenses = excluded.extra_expenses, visitors = greatest(old.visitors, excluded.visitors)"
);

impl<'a> DailyMetrics<'a> {
    /// The rows of days, column by column.
    fn new(account: AccountId, bounds: &'a Bounds, facts: &BTreeMap<Date, Facts>, assumed: &Assumptions) -> Self {
        let Bounds { days, starts, ends } = bounds;
        let mut columns = Self {
            account: account.0,
            days,
            starts,
            ends,
            gross_revenue: Vec::new(),
            orders: Vec::new(),
            units: Vec::new(),
            cogs: Vec::new(),
            goods_revenue: Vec::new(),
            cogs_covered_revenue: Vec::new(),
            fees: Vec::new(),
            fees_estimated_orders: Vec::new(),
            shipping: Vec::new(),
            shipping_estimated_orders: Vec::new(),
            returned_units: Vec::new(),
            returned_cogs: Vec::new(),
            returned_fees: Vec::new(),
        };
        for day in days {
            columns.push(facts.get(day).unwrap_or(&Facts::default()), assumed);
        }
        columns
    }

    fn push(&mut self, facts: &Facts, assumed: &Assumptions) {
        let Facts { gross_revenue, orders, units, by_platform, by_category } = facts;
        let by_platform: Vec<_> = by_platform.values().cloned().collect();
        let Costs { cogs, fees, shipping, basis } = cost::of_day(&by_platform, by_category, assumed);
        let Basis {
            goods_revenue,
            cogs_covered_revenue,
            fees_estimated_orders,
            shipping_estimated_orders,
            returned_units,
            returned_cogs,
            returned_fees,
        } = basis;
        self.gross_revenue.push(*gross_revenue);
        self.orders.push(*orders);
        self.units.push(*units);
        self.cogs.push(cogs);
        self.goods_revenue.push(goods_revenue);
        self.cogs_covered_revenue.push(cogs_covered_revenue);
        self.fees.push(fees);
        self.fees_estimated_orders.push(fees_estimated_orders);
        self.shipping.push(shipping);
        self.shipping_estimated_orders.push(shipping_estimated_orders);
        self.returned_units.push(returned_units);
        self.returned_cogs.push(returned_cogs);
        self.returned_fees.push(returned_fees);
    }
}
