//! Ad spend per day, platform and campaign.

use domain::imports::{AdSpendRow, Changes, ImportError, RowSummary, Rows, Target};
use futures_util::StreamExt;

use super::{
    Importer,
    copy::CopyBuffer,
    session::{Scope, Session, Transaction},
};

#[cfg(test)]
use super::session::DAYS_TABLE;

const TABLES: &str = "
    CREATE TEMPORARY TABLE import_rows (day date, platform text, campaign text, spend numeric, impressions bigint,
        clicks bigint);
    CREATE TEMPORARY TABLE import_spend (LIKE import_rows, is_known boolean, is_same boolean);";

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    /// Sums the rows of a key and compares them with what is there. Counts stay within a bigint whatever came in.
    GATHER(account: BigInt) -> () = "INSERT INTO import_spend
    SELECT came.*, known.day IS NOT NULL,
        coalesce((known.spend, known.impressions, known.clicks)
            IS NOT DISTINCT FROM (came.spend, came.impressions, came.clicks), false) AND known.day IS NOT NULL
    FROM (SELECT day, platform, campaign, sum(spend) AS spend,
            CASE WHEN count(impressions) > 0 THEN least(sum(impressions), 9223372036854775807)::bigint END AS impressions,
            CASE WHEN count(clicks) > 0 THEN least(sum(clicks), 9223372036854775807)::bigint END AS clicks
        FROM import_rows GROUP BY day, platform, campaign) came
    LEFT JOIN ad_spend known ON known.account_id = $1 AND known.day = came.day AND known.platform = came.platform
        AND known.campaign = came.campaign"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    WRITE(account: BigInt) -> () = "INSERT INTO ad_spend (account_id, day, platform, campaign, spend, impressions, clicks)
    SELECT $1, day, platform, campaign, spend, impressions, clicks FROM import_spend WHERE NOT is_same
    ORDER BY day, platform, campaign
    ON CONFLICT (account_id, day, platform, campaign) DO UPDATE
        SET spend = EXCLUDED.spend, impressions = EXCLUDED.impressions, clicks = EXCLUDED.clicks"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    TOTALS() -> (new: BigInt, changed: BigInt, unchanged: BigInt) = "SELECT count(*) FILTER (WHERE NOT is_known) AS new,
        count(*) FILTER (WHERE is_known AND NOT is_same) AS changed, count(*) FILTER (WHERE is_same) AS unchanged FROM import_spend"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    MARK_DAYS() -> () = "INSERT INTO import_days SELECT DISTINCT day FROM import_spend WHERE NOT is_same"
);

pub(super) async fn import(
    importer: &Importer,
    target: Target,
    mut rows: Rows<AdSpendRow>,
) -> Result<RowSummary, ImportError> {
    let mut session = Session::open(importer, TABLES).await?;
    session.require(target.account).await?;
    let mut buffer = CopyBuffer::new("import_rows");
    while let Some(batch) = rows.next().await {
        for AdSpendRow { day, platform, campaign, spend, impressions, clicks } in &batch? {
            buffer
                .row()
                .plain(day)
                .text(platform)
                .text(campaign)
                .plain(spend)
                .plain_or_null(*impressions)
                .plain_or_null(*clicks)
                .end();
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
    transaction.execute(MARK_DAYS, &[]).await?;
    let row = transaction.query_one(TOTALS, &[]).await?;
    let rows =
        Changes { new: row.try_get("new")?, changed: row.try_get("changed")?, unchanged: row.try_get("unchanged")? };
    Ok(RowSummary { rows, days_touched: 0 })
}
