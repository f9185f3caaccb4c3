//! Rates of exchange. Ad spend in their currencies is converted again, with what is rolled up of it.

use domain::imports::{Changes, ImportError, RateRow, RowSummary, Rows, Target};
use futures_util::StreamExt;

use super::{
    Importer,
    ad_spend::roll_up,
    copy::CopyBuffer,
    session::{Scope, Session, Transaction},
};

#[cfg(test)]
use super::session::DAYS_TABLE;

const TABLES: &str = "
    CREATE TEMPORARY TABLE import_rows (place bigint GENERATED ALWAYS AS IDENTITY, day date, currency text, rate numeric(20, 10));
    CREATE TEMPORARY TABLE import_rates (day date, currency text, rate numeric(20, 10), is_known boolean, is_same boolean);
    CREATE TEMPORARY TABLE import_converted (day date, ad_id bigint, currency text, fx numeric(20, 10));";

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    GATHER(account: BigInt) -> () = "INSERT INTO import_rates
    SELECT came.day, came.currency, came.rate, known.rate IS NOT NULL, coalesce(known.rate = came.rate, false)
    FROM (SELECT DISTINCT ON (day, currency) day, currency, rate FROM import_rows WHERE rate > 0
            ORDER BY day, currency, place DESC) came
        LEFT JOIN fx_rates known ON known.account_id = $1 AND known.currency = came.currency AND known.day = came.day"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    WRITE(account: BigInt) -> () = "INSERT INTO fx_rates (account_id, currency, day, rate)
    SELECT $1, currency, day, rate FROM import_rates WHERE NOT is_same ORDER BY currency, day
    ON CONFLICT (account_id, currency, day) DO UPDATE SET rate = EXCLUDED.rate"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// The figures that a new rate is for: those of its day, and of days after it without one of their own.
    CONVERTED(account: BigInt, rate_days: Integer) -> () = "INSERT INTO import_converted
    SELECT found.day, found.ad_id, found.currency, found.rate FROM (
        SELECT DISTINCT ON (d.day, d.ad_id, d.currency) d.day, d.ad_id, d.currency, d.fx, known.rate
        FROM (
            SELECT DISTINCT came.currency, came.day + n AS day
            FROM import_rates came CROSS JOIN generate_series(0, $2::integer) n WHERE NOT came.is_same
        ) wanted
            JOIN ad_days d ON d.account_id = $1 AND d.day = wanted.day AND d.currency = wanted.currency
            JOIN fx_rates known ON known.account_id = $1 AND known.currency = d.currency
                AND known.day BETWEEN d.day - $2::integer AND d.day
        WHERE d.currency <> (SELECT currency FROM accounts WHERE id = $1)
        ORDER BY d.day, d.ad_id, d.currency, known.day DESC
    ) found WHERE found.fx IS DISTINCT FROM found.rate"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    CONVERT(account: BigInt) -> () = "UPDATE ad_days
    SET fx = new.fx, spend = round(native_spend * new.fx, 6), revenue = round(native_revenue * new.fx, 6)
    FROM import_converted new
    WHERE ad_days.account_id = $1 AND ad_days.day = new.day AND ad_days.ad_id = new.ad_id AND ad_days.currency = new.currency"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    CHANGED(account: BigInt) -> () = "INSERT INTO import_changed
    SELECT DISTINCT new.day, a.external_id, c.external_id
    FROM import_converted new JOIN ad_entities ad ON ad.account_id = $1 AND ad.id = new.ad_id
        JOIN ad_entities c ON c.account_id = $1 AND c.id = ad.campaign_id
        JOIN ad_accounts a ON a.account_id = $1 AND a.id = ad.ad_account_id"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    TOTALS() -> (new: BigInt, changed: BigInt, unchanged: BigInt) = "SELECT count(*) FILTER (WHERE NOT is_known) AS new,
        count(*) FILTER (WHERE is_known AND NOT is_same) AS changed, count(*) FILTER (WHERE is_same) AS unchanged FROM import_rates"
);

pub(super) async fn import(
    importer: &Importer,
    target: Target,
    mut rows: Rows<RateRow>,
) -> Result<RowSummary, ImportError> {
    let mut session = Session::open(importer, &[TABLES, roll_up::TABLES].concat()).await?;
    session.require(target.account).await?;
    let mut buffer = CopyBuffer::new("import_rows (day, currency, rate)");
    while let Some(batch) = rows.next().await {
        for RateRow { day, currency, rate } in &batch? {
            buffer.row().plain(day).text(currency.as_str()).plain(rate).end();
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
    transaction.execute(WRITE, &[&account]).await?;
    transaction.execute(CONVERTED, &[&account, &roll_up::RATE_DAYS]).await?;
    transaction.execute(CONVERT, &[&account]).await?;
    transaction.execute(CHANGED, &[&account]).await?;
    roll_up::write(transaction, scope).await?;
    let row = transaction.query_one(TOTALS, &[]).await?;
    let rows =
        Changes { new: row.try_get("new")?, changed: row.try_get("changed")?, unchanged: row.try_get("unchanged")? };
    Ok(RowSummary { rows, days_touched: 0 })
}
