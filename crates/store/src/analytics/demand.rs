//! [`DemandStore`] on Postgres.

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Bool, Date as SqlDate, Integer, Nullable, Numeric, Text};
use domain::{
    AccountId, ProductId, StoreError,
    demand::{DemandStore, SalesDay, StockAt, StockedProduct},
    metrics::stock::OUT_OF_STOCK,
    profit::DayRange,
};
use rust_decimal::Decimal;
use time::Date;

use crate::{Store, database::query::RunQueryDsl};

/// Days after which a stock that was told is no longer known: shops that tell it by files do so once a month at least.
const TOLD_HOLDS: i32 = 30;

statement!(
    /// A stock that was told holds until the next is, for `holds` days more at most.
    Stocked(
        account: i64 => BigInt,
        first: Date => SqlDate,
        last: Date => SqlDate,
        stock_day: Option<Date> => Nullable<SqlDate>,
        none_left: i64 => BigInt,
        holds: i32 => Integer,
    ) -> ProductRow = "
    SELECT p.id AS product_id, p.sku, p.name, p.category, coalesce(past.stock, p.current_stock) AS stock, p.on_order,
        p.lead_time_days, p.pack_size, p.min_order_qty, p.price, p.unit_cost,
        coalesce(s.revenue_90d, 0) AS revenue_90d,
        coalesce(s.days, '{}') AS days, coalesce(s.sold, '{}') AS sold, coalesce(s.cancelled, '{}') AS cancelled,
        coalesce(e.days, '{}') AS days_without_stock,
        EXISTS (SELECT FROM product_days b
            WHERE b.account_id = $1 AND b.product_id = p.id AND b.day < $2 AND b.units > 0) AS sold_before
    FROM products p
    LEFT JOIN LATERAL (
        SELECT l.stock FROM stock_levels l WHERE l.account_id = $1 AND l.product_id = p.id AND l.day <= $4
        ORDER BY l.day DESC LIMIT 1
    ) past ON true
    LEFT JOIN (
        SELECT product_id, array_agg(day) AS days, array_agg(units) AS sold, array_agg(cancelled_units) AS cancelled,
            sum(revenue) FILTER (WHERE day > $3 - 90) AS revenue_90d
        FROM product_days WHERE account_id = $1 AND day BETWEEN $2 AND $3 GROUP BY product_id
    ) s ON s.product_id = p.id
    LEFT JOIN (
        SELECT product_id, array_agg(gone::date ORDER BY gone) AS days
        FROM (
            SELECT product_id, day, stock, lead(day) OVER (PARTITION BY product_id ORDER BY day) AS next_day
            FROM stock_levels WHERE account_id = $1 AND day BETWEEN $2 - $6::int AND $3) l
        CROSS JOIN LATERAL generate_series(
            greatest(l.day, $2)::timestamp, least(l.next_day - 1, l.day + $6::int, $3)::timestamp, interval '1 day') gone
        WHERE l.stock <= $5 GROUP BY product_id
    ) e ON e.product_id = p.id
    WHERE p.account_id = $1 AND p.current_stock IS NOT NULL ORDER BY p.id"
);

row!(
    struct ProductRow {
        product_id: i64 => BigInt,
        sku: String => Text,
        name: String => Text,
        category: Option<String> => Nullable<Text>,
        stock: i64 => BigInt,
        on_order: i64 => BigInt,
        lead_time_days: Option<i32> => Nullable<Integer>,
        pack_size: Option<i32> => Nullable<Integer>,
        min_order_qty: Option<i32> => Nullable<Integer>,
        price: Option<Decimal> => Nullable<Numeric>,
        unit_cost: Option<Decimal> => Nullable<Numeric>,
        revenue_90d: Decimal => Numeric,
        days: Vec<Date> => Array<SqlDate>,
        sold: Vec<i64> => Array<BigInt>,
        cancelled: Vec<i64> => Array<BigInt>,
        days_without_stock: Vec<Date> => Array<SqlDate>,
        sold_before: bool => Bool,
    }
);

impl From<ProductRow> for StockedProduct {
    fn from(row: ProductRow) -> Self {
        let ProductRow {
            product_id,
            sku,
            name,
            category,
            stock,
            on_order,
            lead_time_days,
            pack_size,
            min_order_qty,
            price,
            unit_cost,
            revenue_90d,
            days,
            sold,
            cancelled,
            days_without_stock,
            sold_before,
        } = row;
        let mut sales: Vec<_> = days
            .into_iter()
            .zip(sold)
            .zip(cancelled)
            .map(|((day, sold), cancelled)| SalesDay { day, sold, cancelled })
            .collect();
        // Here and not in the statement: rows lie in the order of days, and need not be sorted by product to be gathered.
        sales.sort_unstable_by_key(|sale| sale.day);
        Self {
            product_id: ProductId(product_id),
            sku,
            name,
            category,
            stock,
            on_order,
            lead_time_days,
            pack_size,
            min_order_qty,
            price,
            unit_cost,
            revenue_90d,
            sales,
            sold_before,
            days_without_stock,
        }
    }
}

#[async_trait]
impl DemandStore for Store {
    async fn stocked(
        &self,
        account: AccountId,
        range: DayRange,
        at: StockAt,
    ) -> Result<Vec<StockedProduct>, StoreError> {
        let stock_day = match at {
            StockAt::Now => None,
            StockAt::Day(day) => Some(day),
        };
        self.job_transaction(async |connection| {
            let DayRange { first, last } = range;
            let stocked =
                Stocked { account: account.0, first, last, stock_day, none_left: OUT_OF_STOCK, holds: TOLD_HOLDS };
            let rows: Vec<ProductRow> = stocked.load(connection).await?;
            Ok(rows.into_iter().map(StockedProduct::from).collect())
        })
        .await
    }
}
