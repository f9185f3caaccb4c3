//! Spend by day, platform and campaign, which profit is made of: the sums over the ads. What has no rate is not in it.

use super::{Scope, Transaction};

#[cfg(test)]
use super::DAYS_TABLE;

/// Days and campaigns whose sums are to be made again, by the names that they have in `ad_spend`.
pub(in super::super) const TABLES: &str =
    "CREATE TEMPORARY TABLE import_changed (day date, platform text, campaign text);";

/// As the parameter of a statement.
#[expect(clippy::cast_possible_truncation, reason = "a constant of a few days")]
pub(in super::super) const RATE_DAYS: i32 = domain::ads::RATE_DAYS as i32;

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    DELETE(account: BigInt) -> () = "DELETE FROM ad_spend USING import_changed changed
    WHERE ad_spend.account_id = $1 AND ad_spend.day = changed.day AND ad_spend.platform = changed.platform
        AND ad_spend.campaign = changed.campaign"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    WRITE(account: BigInt) -> () = "INSERT INTO ad_spend (account_id, day, platform, campaign, spend, impressions, clicks)
    WITH ads AS MATERIALIZED (
        SELECT came.platform, came.campaign, ad.id
        FROM (SELECT DISTINCT platform, campaign FROM import_changed) came
            JOIN ad_accounts a ON a.account_id = $1 AND a.external_id = came.platform
            JOIN ad_entities c ON c.account_id = $1 AND c.ad_account_id = a.id AND c.level = 'campaign' AND c.parent_id = 0
                AND c.external_id = came.campaign
            JOIN ad_entities ad ON ad.account_id = $1 AND ad.campaign_id = c.id AND ad.level = 'ad'
    )
    SELECT $1, changed.day, changed.platform, changed.campaign, least(sum(d.spend), 1e15),
        CASE WHEN count(d.impressions) > 0 THEN least(sum(d.impressions), 9223372036854775807)::bigint END,
        CASE WHEN count(d.clicks) > 0 THEN least(sum(d.clicks), 9223372036854775807)::bigint END
    FROM import_changed changed JOIN ads ON ads.platform = changed.platform AND ads.campaign = changed.campaign
        JOIN ad_days d ON d.account_id = $1 AND d.ad_id = ads.id AND d.day = changed.day
    WHERE d.spend IS NOT NULL GROUP BY changed.day, changed.platform, changed.campaign
    ORDER BY changed.day, changed.platform, changed.campaign"
);

session_statement!(
    after [TABLES, DAYS_TABLE] =>
    MARK_DAYS() -> () = "INSERT INTO import_days SELECT DISTINCT day FROM import_changed"
);

pub(in super::super) async fn write(transaction: &Transaction<'_>, scope: &Scope) -> Result<(), tokio_postgres::Error> {
    let account = scope.account;
    transaction.batch_execute("ANALYZE import_changed").await?;
    transaction.execute(DELETE, &[&account]).await?;
    transaction.execute(WRITE, &[&account]).await?;
    transaction.execute(MARK_DAYS, &[]).await?;
    Ok(())
}
