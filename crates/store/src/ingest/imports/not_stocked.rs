//! Products that a shop does not stock (any more): what is left of them is unknown, and nothing is on its way.

use domain::{
    IntegrationId,
    imports::{ImportError, ShopCatalogue, Target},
};

use super::{
    Importer,
    copy::CopyBuffer,
    count,
    session::{MARK_TIMELESS, Scope, Session, Transaction},
};

#[cfg(test)]
use super::session::DAYS_TABLE;

/// The SKUs of the shop, and the products that have a stock here, with whether the connection told it.
const TABLES: &str = "
    CREATE TEMPORARY TABLE import_goods (sku text, is_closed boolean, is_kept boolean);
    CREATE TEMPORARY TABLE import_stocked (product_id bigint, sku text, is_own boolean);";

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    GATHER(account: BigInt, connection: BigInt) -> () = "INSERT INTO import_stocked
    SELECT id, sku, coalesce(stock_from = $2, false) FROM products WHERE account_id = $1 AND current_stock IS NOT NULL"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    /// A SKU that is kept anywhere is kept. What does not come is gone where everything came.
    END_STOCK(account: BigInt, is_whole: Bool) -> () = "UPDATE products SET current_stock = NULL, stock_from = NULL, on_order = 0
    FROM (SELECT stocked.product_id FROM import_stocked stocked LEFT JOIN (
            SELECT upper(sku COLLATE \"C\") AS sku, bool_or(is_closed) AS is_closed, bool_or(is_kept) AS is_kept
            FROM import_goods GROUP BY upper(sku COLLATE \"C\")) came ON came.sku = upper(stocked.sku COLLATE \"C\")
        WHERE came.is_kept IS NOT TRUE AND (came.is_closed OR (stocked.is_own AND (came.sku IS NOT NULL OR $2)))) ended
    WHERE products.account_id = $1 AND products.id = ended.product_id"
);

pub(super) async fn import(
    importer: &Importer,
    target: Target,
    connection: IntegrationId,
    catalogue: ShopCatalogue,
) -> Result<i64, ImportError> {
    let ShopCatalogue { closed, uncounted, others, is_whole } = catalogue;
    let mut session = Session::open(importer, TABLES).await?;
    session.require(target.account).await?;
    let mut buffer = CopyBuffer::new("import_goods");
    for (skus, is_closed, is_kept) in [(closed, true, false), (uncounted, false, false), (others, false, true)] {
        for sku in &skus {
            buffer.row().text(sku).plain(is_closed).plain(is_kept).end();
            session.send_full(&mut buffer).await?;
        }
    }
    session.send(&mut buffer).await?;
    let (ended, _) =
        session.merge(target, async |transaction, scope| merge(transaction, scope, connection, is_whole).await).await?;
    Ok(ended)
}

async fn merge(
    transaction: &Transaction<'_>,
    scope: &Scope,
    connection: IntegrationId,
    is_whole: bool,
) -> Result<i64, tokio_postgres::Error> {
    transaction.execute(GATHER, &[&scope.account, &connection.0]).await?;
    let ended = transaction.execute(END_STOCK, &[&scope.account, &is_whole]).await?;
    if ended > 0 {
        transaction.execute(MARK_TIMELESS, &[]).await?;
    }
    Ok(count(ended))
}
