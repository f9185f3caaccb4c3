//! Extra expenses per day.

use domain::imports::{Changes, ExpenseRow, ImportError, RowSummary, Rows, Target};
use futures_util::StreamExt;

use super::{
    Importer,
    copy::CopyBuffer,
    session::{Scope, Session, Transaction},
};

#[cfg(test)]
use super::session::DAYS_TABLE;

const TABLES: &str = "
    CREATE TEMPORARY TABLE import_rows (day date, category text, description text, amount numeric);
    CREATE TEMPORARY TABLE import_expenses (day date, category text, description text, occurrence integer,
        amount numeric, is_known boolean, is_same boolean);
    CREATE TEMPORARY TABLE import_surplus (day date, category text, description text, occurrence integer);";

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    /// Expenses of one day and text are numbered by amount, so that the order of rows does not matter.
    GATHER(account: BigInt) -> () = "INSERT INTO import_expenses
    SELECT came.day, came.category, came.description, came.occurrence, came.amount, known.day IS NOT NULL,
        coalesce(known.amount = came.amount, false)
    FROM (SELECT day, category, description, amount,
            row_number() OVER (PARTITION BY day, category, description ORDER BY amount) AS occurrence
        FROM import_rows) came
    LEFT JOIN expenses known ON known.account_id = $1 AND known.day = came.day AND known.category = came.category
        AND known.description = came.description AND known.occurrence = came.occurrence"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    /// Of a day and text that came in again with fewer expenses, the surplus goes.
    GATHER_SURPLUS(account: BigInt) -> () = "INSERT INTO import_surplus
    SELECT known.day, known.category, known.description, known.occurrence
    FROM (SELECT day, category, description, max(occurrence) AS last FROM import_expenses
        GROUP BY day, category, description) came
    JOIN expenses known ON known.account_id = $1 AND known.day = came.day AND known.category = came.category
        AND known.description = came.description AND known.occurrence > came.last"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    DELETE_SURPLUS(account: BigInt) -> () = "DELETE FROM expenses USING import_surplus gone
    WHERE expenses.account_id = $1 AND expenses.day = gone.day AND expenses.category = gone.category
        AND expenses.description = gone.description AND expenses.occurrence = gone.occurrence"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    MARK_SURPLUS() -> () = "INSERT INTO import_days SELECT DISTINCT day FROM import_surplus"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    WRITE(account: BigInt) -> () = "INSERT INTO expenses (account_id, day, category, description, occurrence, amount)
    SELECT $1, day, category, description, occurrence, amount FROM import_expenses WHERE NOT is_same
    ORDER BY day, category, description, occurrence
    ON CONFLICT (account_id, day, category, description, occurrence) DO UPDATE SET amount = EXCLUDED.amount"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    TOTALS() -> (new: BigInt, changed: BigInt, unchanged: BigInt) = "SELECT count(*) FILTER (WHERE NOT is_known) AS new,
        count(*) FILTER (WHERE is_known AND NOT is_same) AS changed, count(*) FILTER (WHERE is_same) AS unchanged FROM import_expenses"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    MARK_DAYS() -> () = "INSERT INTO import_days SELECT DISTINCT day FROM import_expenses WHERE NOT is_same"
);

pub(super) async fn import(
    importer: &Importer,
    target: Target,
    mut rows: Rows<ExpenseRow>,
) -> Result<RowSummary, ImportError> {
    let mut session = Session::open(importer, TABLES).await?;
    session.require(target.account).await?;
    let mut buffer = CopyBuffer::new("import_rows");
    while let Some(batch) = rows.next().await {
        for ExpenseRow { day, category, description, amount } in &batch? {
            buffer.row().plain(day).text(category).text(description).plain(amount).end();
        }
        session.send_full(&mut buffer).await?;
    }
    session.send(&mut buffer).await?;
    let (mut summary, days) = session.merge(target, merge).await?;
    summary.days_touched = days;
    Ok(summary)
}

async fn merge(transaction: &Transaction<'_>, scope: &Scope) -> Result<RowSummary, tokio_postgres::Error> {
    let account = scope.account;
    transaction.execute(GATHER, &[&account]).await?;
    if transaction.execute(GATHER_SURPLUS, &[&account]).await? > 0 {
        transaction.execute(DELETE_SURPLUS, &[&account]).await?;
        transaction.execute(MARK_SURPLUS, &[]).await?;
    }
    transaction.execute(WRITE, &[&account]).await?;
    transaction.execute(MARK_DAYS, &[]).await?;
    let row = transaction.query_one(TOTALS, &[]).await?;
    let rows =
        Changes { new: row.try_get("new")?, changed: row.try_get("changed")?, unchanged: row.try_get("unchanged")? };
    Ok(RowSummary { rows, days_touched: 0 })
}
