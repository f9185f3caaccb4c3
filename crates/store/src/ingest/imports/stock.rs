//! Stock levels of products that are there; rows of unknown SKUs are named and left out.

use domain::imports::{
    Changes, ImportError, MAX_UNKNOWN_BYTES, MAX_UNKNOWN_SKUS, RowSummary, Rows, StockRow, StockSummary, Target,
};
use futures_util::StreamExt;

use super::{
    Importer,
    copy::CopyBuffer,
    count, levels,
    session::{Scope, Session, Transaction},
};

#[cfg(test)]
use super::session::DAYS_TABLE;

const TABLES: &str =
    "CREATE TEMPORARY TABLE import_stock (line bigint, sku text, location text, stock bigint, day date, record bytea);";

session_statement!(
    after [TABLES, levels::TABLES, DAYS_TABLE] =>
    /// The last row of a location counts.
    GATHER(account: BigInt) -> () = "INSERT INTO import_levels
    SELECT product_id, day, sum(stock)::bigint
    FROM (SELECT DISTINCT ON (products.id, came.day, came.location) products.id AS product_id, came.day, came.stock
        FROM import_stock came JOIN products ON products.account_id = $1
            AND upper(products.sku COLLATE \"C\") = upper(came.sku COLLATE \"C\")
        ORDER BY products.id, came.day, came.location, came.line DESC) level
    GROUP BY product_id, day"
);

session_statement!(
    after [TABLES, levels::TABLES, DAYS_TABLE] =>
    TOTALS() -> (new: BigInt, changed: BigInt) = "SELECT count(*) FILTER (WHERE is_new) AS new, count(*) FILTER (WHERE NOT is_new) AS changed FROM import_changed_levels"
);

session_statement!(
    after [TABLES, levels::TABLES, DAYS_TABLE] =>
    /// Rows of unknown SKUs, as many as are named, with the count of all.
    UNKNOWN(account: BigInt, most: BigInt, most_bytes: BigInt) -> (line: BigInt, sku: Text, location: Text, stock: BigInt, day: Date, total: BigInt, record: Bytea) = "SELECT line, sku, location, stock, day, total, record FROM (
        SELECT came.*, count(*) OVER () AS total, sum(length(came.record)) OVER (ORDER BY came.line) AS bytes
        FROM import_stock came LEFT JOIN products ON products.account_id = $1
            AND upper(products.sku COLLATE \"C\") = upper(came.sku COLLATE \"C\")
        WHERE products.id IS NULL
    ) unknown WHERE bytes <= $3 ORDER BY line LIMIT $2"
);

pub(super) async fn import(
    importer: &Importer,
    target: Target,
    mut rows: Rows<StockRow>,
) -> Result<StockSummary, ImportError> {
    let mut session = Session::open(importer, &format!("{TABLES}{}", levels::TABLES)).await?;
    session.require(target.account).await?;
    let mut buffer = CopyBuffer::new("import_stock");
    while let Some(batch) = rows.next().await {
        for StockRow { line, sku, location, stock, day, record } in &batch? {
            let row = buffer.row().plain(line).text(sku).text_or_null(location.as_deref());
            row.plain(stock).plain(day).bytes(record).end();
        }
        session.send_full(&mut buffer).await?;
    }
    session.send(&mut buffer).await?;
    let (mut summary, days) = session.merge(target, merge).await?;
    summary.rows.days_touched = days;
    Ok(summary)
}

async fn merge(transaction: &Transaction<'_>, scope: &Scope) -> Result<StockSummary, tokio_postgres::Error> {
    let account = scope.account;
    let levels = transaction.execute(GATHER, &[&account]).await?;
    levels::apply(transaction, scope, None).await?;
    let row = transaction.query_one(TOTALS, &[]).await?;
    let (new, changed): (i64, i64) = (row.try_get("new")?, row.try_get("changed")?);
    let (unknown, unknown_count) = unknown(transaction, scope).await?;
    let rows = RowSummary { rows: Changes { new, changed, unchanged: count(levels) - new - changed }, days_touched: 0 };
    Ok(StockSummary { rows, unknown, unknown_count })
}

async fn unknown(transaction: &Transaction<'_>, scope: &Scope) -> Result<(Vec<StockRow>, i64), tokio_postgres::Error> {
    let rows = transaction.query(UNKNOWN, &[&scope.account, &MAX_UNKNOWN_SKUS, &MAX_UNKNOWN_BYTES]).await?;
    let total = rows.first().map_or(Ok(0), |row| row.try_get("total"))?;
    let named = rows
        .iter()
        .map(|row| {
            let line: i64 = row.try_get("line")?;
            Ok(StockRow {
                line: u64::try_from(line).unwrap_or_default(),
                sku: row.try_get("sku")?,
                location: row.try_get("location")?,
                stock: row.try_get("stock")?,
                day: row.try_get("day")?,
                record: row.try_get("record")?,
            })
        })
        .collect::<Result<_, tokio_postgres::Error>>()?;
    Ok((named, total))
}
