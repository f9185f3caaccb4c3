//! The catalogue: products with price, cost, stock and how they are ordered.

use domain::{
    IntegrationId,
    imports::{Changes, ImportError, ProductRow, RowSummary, Rows, Target},
};
use futures_util::StreamExt;
use time::OffsetDateTime;

use super::{
    Importer,
    copy::CopyBuffer,
    costs, count, levels,
    session::{MARK_TIMELESS, MARK_WAITING, Scope, Session, Transaction},
};

#[cfg(test)]
use super::session::DAYS_TABLE;

const TABLES: &str = "
    CREATE TEMPORARY TABLE import_rows (no bigint, sku text, name text, category text, price numeric, unit_cost numeric,
        valid_from date, stock bigint, on_order bigint, lead_time_days integer, pack_size integer,
        min_order_qty integer);
    CREATE TEMPORARY TABLE import_catalogue (LIKE import_rows, product_id bigint, is_known boolean);
    CREATE TEMPORARY TABLE import_moved_products (product_id bigint);
    CREATE TEMPORARY TABLE import_changed_products (product_id bigint, name text, category text, price numeric,
        on_order bigint, lead_time_days integer, pack_size integer, min_order_qty integer);";

session_statement!(
    after [TABLES, costs::TABLES, levels::TABLES, DAYS_TABLE] =>
    /// Of each column the last row of a SKU that says something counts: a row that leaves it open takes nothing back. Costs are
    /// gathered by day.
    GATHER(account: BigInt) -> () = "INSERT INTO import_catalogue (sku, name, category, price, stock, on_order, lead_time_days,
        pack_size, min_order_qty, product_id, is_known)
    SELECT came.*, products.id, products.id IS NOT NULL
    FROM (
        SELECT (array_agg(sku ORDER BY no DESC))[1] AS sku,
            (array_agg(name ORDER BY no DESC) FILTER (WHERE name IS NOT NULL))[1],
            (array_agg(category ORDER BY no DESC) FILTER (WHERE category IS NOT NULL))[1],
            (array_agg(price ORDER BY no DESC) FILTER (WHERE price IS NOT NULL))[1],
            (array_agg(stock ORDER BY no DESC) FILTER (WHERE stock IS NOT NULL))[1],
            (array_agg(on_order ORDER BY no DESC) FILTER (WHERE on_order IS NOT NULL))[1],
            (array_agg(lead_time_days ORDER BY no DESC) FILTER (WHERE lead_time_days IS NOT NULL))[1],
            (array_agg(pack_size ORDER BY no DESC) FILTER (WHERE pack_size IS NOT NULL))[1],
            (array_agg(min_order_qty ORDER BY no DESC) FILTER (WHERE min_order_qty IS NOT NULL))[1]
        FROM import_rows GROUP BY upper(sku COLLATE \"C\")
    ) came
    LEFT JOIN products ON products.account_id = $1
        AND upper(products.sku COLLATE \"C\") = upper(came.sku COLLATE \"C\")"
);

session_statement!(
    after [TABLES, costs::TABLES, levels::TABLES, DAYS_TABLE] =>
    GATHER_MOVED(account: BigInt) -> () = "INSERT INTO import_moved_products
    SELECT known.id FROM import_catalogue came JOIN products known ON known.account_id = $1 AND known.id = came.product_id
    WHERE came.category IS NOT NULL AND came.category IS DISTINCT FROM known.category"
);

session_statement!(
    after [TABLES, costs::TABLES, levels::TABLES, DAYS_TABLE] =>
    MARK_MOVED(account: BigInt) -> () = "INSERT INTO import_days
    SELECT DISTINCT sold.day
    FROM import_moved_products moved JOIN product_days sold ON sold.account_id = $1 AND sold.product_id = moved.product_id"
);

session_statement!(
    after [TABLES, costs::TABLES, levels::TABLES, DAYS_TABLE] =>
    /// What a row does not say stays as it was. From now on order lines do not describe the product.
    GATHER_CHANGED(account: BigInt) -> () = "INSERT INTO import_changed_products
    SELECT known.id, said.*
    FROM import_catalogue came JOIN products known ON known.account_id = $1 AND known.id = came.product_id
    CROSS JOIN LATERAL (SELECT coalesce(came.name, known.name) AS name,
        coalesce(came.category, known.category) AS category, coalesce(came.price, known.price) AS price,
        coalesce(came.on_order, known.on_order) AS on_order,
        coalesce(came.lead_time_days, known.lead_time_days) AS lead_time_days,
        coalesce(came.pack_size, known.pack_size) AS pack_size,
        coalesce(came.min_order_qty, known.min_order_qty) AS min_order_qty) said
    WHERE (known.name, known.category, known.price, known.on_order, known.lead_time_days, known.pack_size,
            known.min_order_qty, known.described_at)
        IS DISTINCT FROM (said.name, said.category, said.price, said.on_order, said.lead_time_days, said.pack_size,
            said.min_order_qty, NULL::timestamptz)"
);

session_statement!(
    after [TABLES, costs::TABLES, levels::TABLES, DAYS_TABLE] =>
    UPDATE(account: BigInt) -> () = "UPDATE products SET name = said.name, category = said.category, price = said.price,
        on_order = said.on_order, lead_time_days = said.lead_time_days, pack_size = said.pack_size,
        min_order_qty = said.min_order_qty, described_at = NULL
    FROM import_changed_products said WHERE products.account_id = $1 AND products.id = said.product_id"
);

session_statement!(
    after [TABLES, costs::TABLES, levels::TABLES, DAYS_TABLE] =>
    INSERT(account: BigInt, now: Timestamptz) -> () = "INSERT INTO products (account_id, sku, name, category, price, on_order, lead_time_days, pack_size,
        min_order_qty, created_at)
    SELECT $1, sku, coalesce(name, sku), category, price, coalesce(on_order, 0), lead_time_days, pack_size,
        min_order_qty, $2
    FROM import_catalogue WHERE NOT is_known ORDER BY upper(sku COLLATE \"C\")"
);

session_statement!(
    after [TABLES, costs::TABLES, levels::TABLES, DAYS_TABLE] =>
    /// The identifiers of the products that were inserted.
    MATCH_INSERTED(account: BigInt) -> () = "UPDATE import_catalogue came SET product_id = products.id FROM products
    WHERE products.account_id = $1 AND NOT came.is_known
        AND upper(products.sku COLLATE \"C\") = upper(came.sku COLLATE \"C\")"
);

session_statement!(
    after [TABLES, costs::TABLES, levels::TABLES, DAYS_TABLE] =>
    /// Rows of several days are a history; of a day the last one counts.
    GATHER_COSTS() -> () = "INSERT INTO import_product_costs
    SELECT DISTINCT ON (known.product_id, came.valid_from) known.product_id, came.valid_from, came.unit_cost
    FROM import_rows came JOIN import_catalogue known ON upper(known.sku COLLATE \"C\") = upper(came.sku COLLATE \"C\")
    WHERE came.unit_cost IS NOT NULL ORDER BY known.product_id, came.valid_from, came.no DESC"
);

session_statement!(
    after [TABLES, costs::TABLES, levels::TABLES, DAYS_TABLE] =>
    GATHER_LEVELS(now: Timestamptz, timezone: Text) -> () = "INSERT INTO import_levels
    SELECT product_id, ($1::timestamptz AT TIME ZONE $2)::date, stock FROM import_catalogue WHERE stock IS NOT NULL"
);

session_statement!(
    after [TABLES, costs::TABLES, levels::TABLES, DAYS_TABLE] =>
    /// Products that were there and changed in any way.
    COUNT_CHANGED() -> (changed: BigInt) = "SELECT count(*) AS changed FROM import_catalogue WHERE is_known AND product_id IN (
    SELECT product_id FROM import_changed_products UNION SELECT product_id FROM import_changed_costs
    UNION SELECT product_id FROM import_changed_levels)"
);

/// `teller` is the connection that tells what is in stock, if one does.
pub(super) async fn import(
    importer: &Importer,
    target: Target,
    teller: Option<IntegrationId>,
    mut rows: Rows<ProductRow>,
) -> Result<RowSummary, ImportError> {
    let mut session = Session::open(importer, &format!("{TABLES}{}{}", costs::TABLES, levels::TABLES)).await?;
    session.require(target.account).await?;
    let mut buffer = CopyBuffer::new("import_rows");
    let mut no = 0_i64;
    while let Some(batch) = rows.next().await {
        for row in &batch? {
            no += 1;
            stage(&mut buffer, no, row);
        }
        session.send_full(&mut buffer).await?;
    }
    session.send(&mut buffer).await?;
    let (mut summary, days) =
        session.merge(target, async |transaction, scope| merge(transaction, scope, teller, target.now).await).await?;
    summary.days_touched = days;
    Ok(summary)
}

fn stage(buffer: &mut CopyBuffer, no: i64, row: &ProductRow) {
    let ProductRow { sku, name, category, price, cost, stock, on_order, lead_time_days, pack_size, min_order_qty } =
        row;
    buffer
        .row()
        .plain(no)
        .text(sku)
        .text_or_null(name.as_deref())
        .text_or_null(category.as_deref())
        .plain_or_null(*price)
        .plain_or_null(cost.map(|(cost, _)| cost))
        .plain_or_null(cost.map(|(_, valid_from)| valid_from))
        .plain_or_null(*stock)
        .plain_or_null(*on_order)
        .plain_or_null(*lead_time_days)
        .plain_or_null(*pack_size)
        .plain_or_null(*min_order_qty)
        .end();
}

async fn merge(
    transaction: &Transaction<'_>,
    scope: &Scope,
    teller: Option<IntegrationId>,
    now: OffsetDateTime,
) -> Result<RowSummary, tokio_postgres::Error> {
    let account = scope.account;
    let all = transaction.execute(GATHER, &[&account]).await?;
    // The cost of what has no cost of its own is estimated from its category's sales of the day: a product that moves changes
    // the days on which it was sold.
    if transaction.execute(GATHER_MOVED, &[&account]).await? > 0 {
        transaction.execute(MARK_WAITING, &[&account]).await?;
        transaction.execute(MARK_MOVED, &[&account]).await?;
    }
    if transaction.execute(GATHER_CHANGED, &[&account]).await? > 0 {
        transaction.execute(UPDATE, &[&account]).await?;
        transaction.execute(MARK_TIMELESS, &[]).await?;
    }
    let new = transaction.execute(INSERT, &[&account, &now]).await?;
    transaction.execute(MATCH_INSERTED, &[&account]).await?;
    transaction.execute(GATHER_COSTS, &[]).await?;
    costs::apply(transaction, scope).await?;
    transaction.execute(GATHER_LEVELS, &[&now, &scope.timezone]).await?;
    levels::apply(transaction, scope, teller).await?;
    let changed: i64 = transaction.query_one(COUNT_CHANGED, &[]).await?.try_get("changed")?;
    let (all, new) = (count(all), count(new));
    Ok(RowSummary { rows: Changes { new, changed, unchanged: all - new - changed }, days_touched: 0 })
}
