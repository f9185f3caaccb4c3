//! A shop in SQL: one account, and rows put in as an importer does, touching the days that they change.

use domain::AccountId;
use time::{Date, OffsetDateTime};
use tokio_postgres::Client;

/// Makes an account of a user of its own.
pub async fn account(sql: &Client, timezone: &str) -> AccountId {
    let user = format!("user_{}", &uuid::Uuid::new_v4().simple().to_string()[..24]);
    sql.execute("INSERT INTO users VALUES ($1, now())", &[&user]).await.unwrap();
    let row = sql
        .query_one(
            "INSERT INTO accounts (user_id, mode, name, plan, currency, timezone, created_at, fee_rate, fee_fixed,
                shipping_per_order, cogs_ratio)
             VALUES ($1, 'live', 'shop', 'free', 'USD', $2, now(), 0.03, 0.30, 4, 0.5) RETURNING id",
            &[&user, &timezone],
        )
        .await
        .unwrap();
    AccountId(row.get(0))
}

pub async fn touch(sql: &Client, account: AccountId, day: Date) {
    sql.execute(
        "INSERT INTO touched_days VALUES ($1, $2) ON CONFLICT (account_id, day) DO UPDATE SET day = excluded.day",
        &[&account.0, &day],
    )
    .await
    .unwrap();
}

pub async fn customer(sql: &Client, account: AccountId, external_id: &str) -> i64 {
    sql.query_one(
        "INSERT INTO customers (account_id, source, external_id, created_at) VALUES ($1, 'shopify', $2, now())
         ON CONFLICT (account_id, source, external_id) DO UPDATE SET external_id = excluded.external_id RETURNING id",
        &[&account.0, &external_id],
    )
    .await
    .unwrap()
    .get(0)
}

pub async fn product(sql: &Client, account: AccountId, sku: &str, category: Option<&str>) -> i64 {
    sql.query_one(
        "INSERT INTO products (account_id, sku, name, category, created_at) VALUES ($1, $2, $2, $3, now()) RETURNING id",
        &[&account.0, &sku, &category],
    )
    .await
    .unwrap()
    .get(0)
}

/// One line of an order or refund: product (none for postage), units, and unit price as SQL reads it.
pub type Line<'a> = (Option<i64>, i64, &'a str);

#[derive(Clone, Copy)]
pub struct Order<'a> {
    pub id: &'a str,
    pub source: &'a str,
    pub customer: Option<i64>,
    pub at: OffsetDateTime,
    pub country: Option<&'a str>,
    pub fees: Option<&'a str>,
    pub shipping: Option<&'a str>,
    pub lines: &'a [Line<'a>],
}

impl<'a> Order<'a> {
    pub const fn new(id: &'a str, at: OffsetDateTime, lines: &'a [Line<'a>]) -> Self {
        Self { id, source: "shopify", customer: None, at, country: None, fees: None, shipping: None, lines }
    }
}

/// Puts an order in. `zone_day` is the day in the account's zone.
pub async fn order(sql: &Client, account: AccountId, order: Order<'_>, zone_day: Date) -> i64 {
    let id: i64 = sql
        .query_one(
            "INSERT INTO orders (account_id, source, external_id, customer_id, placed_at, country, gross, units, fees,
                shipping, content_hash)
             VALUES ($1, $2, $3, $4, $5, $6, 0, 0, $7::text::numeric, $8::text::numeric, '') RETURNING id",
            &[
                &account.0,
                &order.source,
                &order.id,
                &order.customer,
                &order.at,
                &order.country,
                &order.fees,
                &order.shipping,
            ],
        )
        .await
        .unwrap()
        .get(0);
    for (line_no, (product, quantity, price)) in (0i32..).zip(order.lines) {
        sql.execute(
            "INSERT INTO order_lines VALUES ($1, $2, $3, $4, 'sku', $5, $6::text::numeric)",
            &[&account.0, &id, &line_no, product, quantity, price],
        )
        .await
        .unwrap();
    }
    sql.execute(
        "UPDATE orders SET gross = l.gross, units = l.units FROM (SELECT sum(quantity * unit_price) AS gross,
            sum(quantity)::bigint AS units FROM order_lines WHERE account_id = $1 AND order_id = $2) l
         WHERE account_id = $1 AND id = $2",
        &[&account.0, &id],
    )
    .await
    .unwrap();
    touch(sql, account, zone_day).await;
    id
}

pub async fn remove_order(sql: &Client, account: AccountId, id: i64, zone_day: Date) {
    sql.execute("DELETE FROM order_lines WHERE account_id = $1 AND order_id = $2", &[&account.0, &id]).await.unwrap();
    sql.execute("DELETE FROM orders WHERE account_id = $1 AND id = $2", &[&account.0, &id]).await.unwrap();
    touch(sql, account, zone_day).await;
}

pub async fn refund(
    sql: &Client,
    account: AccountId,
    external_id: &str,
    customer: Option<i64>,
    at: OffsetDateTime,
    line: Line<'_>,
    zone_day: Date,
) {
    let (product, quantity, price) = line;
    let id: i64 = sql
        .query_one(
            "INSERT INTO refunds (account_id, source, external_id, customer_id, refunded_at, amount, units, content_hash)
             VALUES ($1, 'shopify', $2, $3, $4, $5::bigint * $6::text::numeric, $5, '') RETURNING id",
            &[&account.0, &external_id, &customer, &at, &quantity, &price],
        )
        .await
        .unwrap()
        .get(0);
    sql.execute(
        "INSERT INTO refund_lines VALUES ($1, $2, 0, $3, 'sku', $4, $5::text::numeric)",
        &[&account.0, &id, &product, &quantity, &price],
    )
    .await
    .unwrap();
    touch(sql, account, zone_day).await;
}

/// A table's rows of the account as text, in a fixed order, without columns that no two runs share.
pub async fn rows(sql: &Client, account: AccountId, columns: &str, table: &str) -> Vec<String> {
    let statement = format!("SELECT ROW({columns})::text FROM {table} WHERE account_id = $1 ORDER BY 1");
    sql.query(&statement, &[&account.0]).await.unwrap().iter().map(|row| row.get(0)).collect()
}
