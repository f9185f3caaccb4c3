//! Shops for the nightly run: customers, a catalogue with stock, and days of orders, made up by the database from the
//! numbers of the rows, so that every run has the same data.

use tokio_postgres::Client;

/// One or more shops of the same size.
#[derive(Debug, Clone, Copy)]
pub struct Shops {
    pub accounts: i64,
    /// Each.
    pub customers: i64,
    pub products: i64,
    pub days: i64,
    pub orders_a_day: i64,
}

/// Lines of an order.
const LINES: i64 = 3;

impl Shops {
    /// One large shop.
    pub const LARGE: Self = Self { accounts: 1, customers: 100_000, products: 5_000, days: 730, orders_a_day: 1_000 };
    /// Many small ones.
    pub const SMALL: Self = Self { accounts: 1_000, customers: 50, products: 20, days: 120, orders_a_day: 3 };

    /// The shops, or a hundredth of them, for a look at whether everything works.
    #[must_use]
    pub fn quick(self) -> Self {
        if self.accounts > 1 {
            Self { accounts: self.accounts / 100, ..self }
        } else {
            Self { customers: 1_000, products: 50, orders_a_day: 10, ..self }
        }
    }

    /// Makes the shops in an empty database, without any orders.
    ///
    /// # Errors
    /// When a statement fails.
    pub async fn found(&self, client: &Client) -> anyhow::Result<()> {
        let Self { accounts, customers, products, .. } = self;
        client.batch_execute("SET synchronous_commit = off").await?;
        client
            .batch_execute(&format!(
                "INSERT INTO users (id, created_at)
                    SELECT 'user_' || lpad(a::text, 24, '0'), now() FROM generate_series(1::bigint, {accounts}) AS a;
                INSERT INTO accounts (id, user_id, mode, name, plan, currency, timezone, created_at) OVERRIDING SYSTEM VALUE
                    SELECT a, 'user_' || lpad(a::text, 24, '0'), 'live', 'Shop ' || a, 'scale', 'USD', 'America/Sao_Paulo', now()
                    FROM generate_series(1::bigint, {accounts}) AS a;
                INSERT INTO customers (account_id, id, source, external_id, created_at) OVERRIDING SYSTEM VALUE
                    SELECT a, a * 1000000 + c, 'shopify', c::text, now()
                    FROM generate_series(1::bigint, {accounts}) AS a, generate_series(1, {customers}) AS c;
                INSERT INTO products (account_id, id, sku, name, category, price, unit_cost, current_stock, created_at)
                    OVERRIDING SYSTEM VALUE
                    SELECT a, a * 1000000 + p, 'SKU-' || p, 'Product ' || p, 'Category ' || p % 20, 5 + p % 60,
                        2 + p % 25, 20 + p * 37 % 400, now()
                    FROM generate_series(1::bigint, {accounts}) AS a, generate_series(1, {products}) AS p;
                INSERT INTO product_costs (account_id, product_id, valid_from, unit_cost)
                    SELECT account_id, id, '2020-01-01', unit_cost FROM products WHERE id % 10 < 8;
                INSERT INTO stock_levels (account_id, product_id, day, stock)
                    SELECT account_id, id, current_date - 1, current_stock FROM products;"
            ))
            .await?;
        Ok(())
    }

    /// The orders, refunds and ad spend of the days that began `from` to `to` days ago, as an import leaves them: with
    /// their days touched.
    ///
    /// # Errors
    /// When a statement fails.
    pub async fn trade(&self, client: &Client, from: i64, to: i64) -> anyhow::Result<()> {
        let Self { accounts, customers, products, orders_a_day, .. } = self;
        // A few products sell most: their number is the square of an even draw. A customer in three buys again.
        let text = format!(
            "CREATE TEMPORARY TABLE came ON COMMIT DROP AS
                SELECT a AS account_id, a * 1000000000 + d * 10000 + n AS order_id, current_date - d AS day,
                    (current_date - d)::timestamp AT TIME ZONE 'America/Sao_Paulo'
                        + n * interval '20 hours' / {orders_a_day} AS placed_at,
                    a * 1000000 + 1 + floor({customers} * power(hash_unit(d * 10000 + n, 1), 1.5))::bigint AS customer_id
                FROM generate_series(1::bigint, {accounts}) AS a, generate_series({to}, {from}) AS d,
                    generate_series(1, {orders_a_day} * (8 + (d * 7 + d / 3) % 5) / 10 + 1) AS n;
            INSERT INTO order_lines (account_id, order_id, line_no, product_id, sku, quantity, unit_price)
                SELECT account_id, order_id, l, account_id * 1000000 + p, 'SKU-' || p,
                    1 + floor(4 * hash_unit(order_id, 10 + l))::bigint, 5 + p % 60
                FROM came, generate_series(1, {LINES}) AS l,
                    LATERAL (SELECT 1 + floor({products} * power(hash_unit(order_id, l), 2))::bigint AS p) AS drawn;
            INSERT INTO orders (account_id, id, source, external_id, customer_id, placed_at, country, gross, units,
                    content_hash) OVERRIDING SYSTEM VALUE
                SELECT came.account_id, came.order_id, (ARRAY['shopify', 'mercadolibre'])[1 + came.order_id % 2],
                    came.order_id::text, came.customer_id, came.placed_at, (ARRAY['BR', 'AR', 'MX'])[1 + came.order_id % 3],
                    sold.gross, sold.units, '\\x00'
                FROM came JOIN (SELECT account_id, order_id, sum(quantity * unit_price) AS gross,
                        sum(quantity)::bigint AS units
                    FROM order_lines JOIN came USING (account_id, order_id) GROUP BY account_id, order_id) sold USING (account_id, order_id);
            INSERT INTO refunds (account_id, source, external_id, customer_id, refunded_at, amount, units, content_hash)
                SELECT account_id, 'shopify', 'R' || order_id, customer_id, placed_at + interval '1 hour', 12, 1, '\\x00'
                FROM came WHERE order_id % 25 = 0;
            INSERT INTO ad_spend (account_id, day, platform, campaign, spend, clicks)
                SELECT DISTINCT account_id, day, 'meta', campaign, {orders_a_day} * (3 + extract(day FROM day)::int % 3),
                    {orders_a_day} * 2
                FROM came, unnest(ARRAY['spring', 'brand']) AS campaign;
            INSERT INTO touched_days (account_id, day) SELECT DISTINCT account_id, day FROM came ON CONFLICT DO NOTHING;"
        );
        client.batch_execute(&format!("{HASH_UNIT} BEGIN; {text} COMMIT")).await?;
        Ok(())
    }
}

/// A number from 0 to below 1 that looks drawn and is the same in every run.
const HASH_UNIT: &str = "CREATE OR REPLACE FUNCTION hash_unit(n bigint, salt bigint) RETURNS double precision
    LANGUAGE sql IMMUTABLE AS 'SELECT (hashint8extended(n, salt) & 1048575) / 1048576.0';";
