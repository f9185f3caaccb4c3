//! Orders and refunds, with the customers, products and unit costs that their lines name.

use domain::{
    accounts::Platform,
    imports::{Changes, DocumentSummary, FileDocument, FileSummary, ImportError, Rows, Target},
};
use futures_util::StreamExt;
use rust_decimal::Decimal;

use super::{
    Importer,
    copy::CopyBuffer,
    costs, count, gone_orders,
    merge::{self, ORDERS, REFUNDS, Tables},
    numbers::{self, LeftOut},
    refunds,
    session::{MARK_TIMELESS, Scope, Session, Transaction},
    staging::{self, Staging},
};

#[cfg(test)]
use super::session::DAYS_TABLE;

/// Orders of which a line was refused.
const REFUSED_TABLE: &str = "CREATE TEMPORARY TABLE import_refused_orders (order_id text);";

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, refunds::TABLES, numbers::TABLES, REFUSED_TABLE, DAYS_TABLE] =>
    /// Refunds of an order are those by its identifier and a day. Each condition and join can be hashed: both files of orders and
    /// what is refused of them may be long. Parts may have more lines than the file.
    COUNT_REFUSED() -> (order_id: Text, lines: BigInt) = "SELECT part.order_id, coalesce(told.lines, part.lines)::bigint AS lines
    FROM (
        SELECT order_id, sum(lines) AS lines FROM (
            SELECT external_id AS order_id, lines FROM import_parts
            UNION ALL SELECT left(external_id, -11), lines FROM import_parts WHERE kind = 'refund') part
        WHERE order_id IN (SELECT order_id FROM import_refused_orders) GROUP BY order_id) part
    LEFT JOIN (SELECT order_id, sum(lines) AS lines FROM import_order_numbers GROUP BY order_id) told
        ON told.order_id = part.order_id
    ORDER BY part.order_id"
);

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, refunds::TABLES, REFUSED_TABLE, DAYS_TABLE] =>
    DROP_REFUSED() -> () = "DELETE FROM import_parts WHERE external_id IN (SELECT order_id FROM import_refused_orders)
        OR (kind = 'refund' AND left(external_id, -11) IN (SELECT order_id FROM import_refused_orders))"
);

session_statement!(
    after [numbers::TABLES, REFUSED_TABLE, DAYS_TABLE] =>
    DROP_NUMBERS() -> () = "DELETE FROM import_order_numbers WHERE order_id IN (SELECT order_id FROM import_refused_orders)"
);

/// The session's tables that documents take.
pub(super) fn tables() -> String {
    [staging::TABLES, merge::TABLES, costs::TABLES, refunds::TABLES, gone_orders::TABLES].concat()
}

pub(super) async fn import(
    importer: &Importer,
    target: Target,
    source: Platform,
    mut documents: Rows<FileDocument>,
) -> Result<FileSummary, ImportError> {
    let mut session = Session::open(importer, &format!("{}{}{REFUSED_TABLE}", tables(), numbers::TABLES)).await?;
    session.require(target.account).await?;
    let (mut staging, mut refused) = (Staging::new(), CopyBuffer::new("import_refused_orders"));
    let mut numbered = CopyBuffer::new("import_order_numbers");
    let (mut any_refused, mut any_numbered) = (false, false);
    while let Some(batch) = documents.next().await {
        for document in batch? {
            match document {
                FileDocument::Part(part) => {
                    staging.add(&part);
                }
                FileDocument::Refused(order_id) => {
                    any_refused = true;
                    refused.row().text(&order_id).end();
                }
                FileDocument::Numbered { order_id, number, lines } => {
                    any_numbered = true;
                    numbered.row().text(&order_id).text(&number).plain(lines).plain(staging.parts()).end();
                }
            }
        }
        staging.send_full(&session).await?;
        session.send_full(&mut refused).await?;
        session.send_full(&mut numbered).await?;
    }
    staging.send_rest(&session).await?;
    session.send(&mut refused).await?;
    session.send(&mut numbered).await?;
    let merged = session.merge(target, async |transaction, scope| {
        let refused = if any_refused { drop_refused(transaction).await? } else { vec![] };
        let left_out =
            if any_numbered { numbers::apply(transaction, scope, source).await? } else { LeftOut::default() };
        let mut documents = merge_all(transaction, scope, source).await?;
        documents.orders.unchanged += left_out.orders;
        documents.refunds.unchanged += left_out.refunds;
        if any_numbered {
            numbers::gather_gone(transaction, scope, source).await?;
            documents.orders.changed += gone_orders::delete_gathered(transaction, scope).await?;
        }
        refunds::delete_gathered(transaction, scope).await?;
        Ok(FileSummary { documents, refused })
    });
    let (mut summary, days) = merged.await?;
    summary.documents.days_touched = days;
    Ok(summary)
}

/// Forgets the staged parts of orders that were refused, and what they say of products. Gives how many lines each had.
async fn drop_refused(transaction: &Transaction<'_>) -> Result<Vec<(String, i64)>, tokio_postgres::Error> {
    let refused = transaction.query(COUNT_REFUSED, &[]).await?;
    transaction.execute(DROP_REFUSED, &[]).await?;
    transaction.execute(DROP_NUMBERS, &[]).await?;
    staging::forget_dropped(transaction).await?;
    refused.iter().map(|row| Ok((row.try_get("order_id")?, row.try_get("lines")?))).collect()
}

/// Writes what was staged. Refunds that are known twice are gathered, for the caller to delete.
pub(super) async fn merge_all(
    transaction: &Transaction<'_>,
    scope: &Scope,
    source: Platform,
) -> Result<DocumentSummary, tokio_postgres::Error> {
    let (account, source) = (scope.account, source.as_str());
    transaction.batch_execute("ANALYZE import_parts; ANALYZE import_items").await?;
    transaction.execute(merge::FORGET_CUSTOMERS, &[&account, &source]).await?;
    for tables in [&ORDERS, &REFUNDS] {
        transaction.execute(&tables.gather(), &[&account, &source]).await?;
    }
    transaction.execute(refunds::NAME_BUYERS, &[&account, &source]).await?;
    let left_out = refunds::drop_numbered(transaction, scope, source).await?;
    transaction.batch_execute("ANALYZE import_orders; ANALYZE import_refunds").await?;
    transaction.execute(merge::GATHER_CUSTOMERS, &[]).await?;
    transaction.execute(merge::UPDATE_CUSTOMERS, &[&account, &source]).await?;
    let new_customers = transaction.execute(merge::INSERT_CUSTOMERS, &[&account, &source]).await?;
    transaction.execute(merge::GATHER_PRODUCTS, &[]).await?;
    if transaction.execute(merge::UPDATE_PRODUCTS, &[&account]).await? > 0 {
        transaction.execute(MARK_TIMELESS, &[]).await?;
    }
    let new_products = transaction.execute(merge::INSERT_PRODUCTS, &[&account]).await?;
    transaction.execute(merge::MATCH_ITEMS, &[&account]).await?;
    transaction.batch_execute("ANALYZE import_matched").await?;
    transaction.execute(merge::GATHER_COSTS, &[&scope.timezone]).await?;
    costs::apply(transaction, scope).await?;

    let mut summary = DocumentSummary {
        new_customers: count(new_customers),
        new_products: count(new_products),
        ..DocumentSummary::default()
    };
    (summary.orders, summary.gross, summary.units) = totals(transaction, &ORDERS).await?;
    (summary.refunds, summary.refunded, _) = totals(transaction, &REFUNDS).await?;
    for (tables, changes) in [(&ORDERS, &summary.orders), (&REFUNDS, &summary.refunds)] {
        summary.lines_written += write(transaction, scope, source, tables, changes).await?;
    }
    refunds::adopt(transaction, scope, source).await?;
    transaction.execute(refunds::GATHER_RENAMED, &[&account, &source, &scope.timezone]).await?;
    summary.refunds_known_twice = left_out + refunds::gather_numbered(transaction, scope, source).await?;
    Ok(summary)
}

/// Writes the new and changed documents of a kind; returns how many lines they have.
async fn write(
    transaction: &Transaction<'_>,
    scope: &Scope,
    source: &str,
    tables: &Tables,
    changes: &Changes,
) -> Result<i64, tokio_postgres::Error> {
    let account = scope.account;
    // Of an account that the statistics do not know yet, these read every document: not when there is nothing to change.
    if changes.changed > 0 {
        transaction.execute(&tables.delete_lines(), &[&account]).await?;
        transaction.execute(&tables.update(), &[&account, &source]).await?;
    }
    transaction.execute(&tables.insert(), &[&account, &source]).await?;
    let lines = transaction.execute(&tables.insert_lines(), &[&account]).await?;
    transaction.execute(&tables.moments(), &[]).await?;
    Ok(count(lines))
}

async fn totals(
    transaction: &Transaction<'_>,
    tables: &Tables,
) -> Result<(Changes, Decimal, i64), tokio_postgres::Error> {
    let row = transaction.query_one(&tables.totals(), &[]).await?;
    let changes =
        Changes { new: row.try_get("new")?, changed: row.try_get("changed")?, unchanged: row.try_get("unchanged")? };
    Ok((changes, row.try_get("amount")?, row.try_get("units")?))
}
