//! Figures of ads by day: those of a day and campaign that came in replace the ones that are there.

use domain::imports::AdAccount;
use time::Date;

use super::{Scope, Transaction, roll_up};

#[cfg(test)]
use super::{DAYS_TABLE, TABLES};

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// What files said of days which the platform itself tells of now.
    TAKE_OVER(account: BigInt, first: Date, last: Date, platform: Text) -> () = "INSERT INTO import_changed
    SELECT DISTINCT d.day, a.external_id, c.external_id
    FROM ad_accounts a JOIN ad_entities ad ON ad.account_id = $1 AND ad.ad_account_id = a.id AND ad.level = 'ad'
        JOIN ad_entities c ON c.account_id = $1 AND c.id = ad.campaign_id
        JOIN ad_days d ON d.account_id = $1 AND d.ad_id = ad.id AND d.day BETWEEN $2 AND $3
    WHERE a.account_id = $1 AND a.source = 'file' AND a.platform = $4"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    DELETE_TAKEN(account: BigInt, first: Date, last: Date, platform: Text) -> () = "DELETE FROM ad_days WHERE account_id = $1 AND day BETWEEN $2 AND $3 AND ad_id IN (
        SELECT ad.id FROM ad_accounts a JOIN ad_entities ad ON ad.account_id = $1 AND ad.ad_account_id = a.id AND ad.level = 'ad'
        WHERE a.account_id = $1 AND a.source = 'file' AND a.platform = $4)"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// What is known of days of which the platform tells all.
    KNOWN_DAYS(account: BigInt, first: Date, last: Date, platform: Text, name: Text) -> () = "INSERT INTO import_known
    SELECT d.day, a.external_id, c.external_id, c.id, d.ad_id, d.currency, d.native_spend, d.native_revenue,
        d.impressions, d.clicks, coalesce(d.purchases_exact, d.purchases), d.video_3s, d.attribution
    FROM ad_accounts a JOIN ad_entities ad ON ad.account_id = $1 AND ad.ad_account_id = a.id AND ad.level = 'ad'
        JOIN ad_entities c ON c.account_id = $1 AND c.id = ad.campaign_id
        JOIN ad_days d ON d.account_id = $1 AND d.ad_id = ad.id AND d.day BETWEEN $2 AND $3
    WHERE a.account_id = $1 AND a.source = 'sync' AND a.platform = $4 AND a.external_id = $5"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    KNOWN(account: BigInt) -> () = "INSERT INTO import_known
    SELECT d.day, came.platform, came.campaign, came.campaign_id, d.ad_id, d.currency, d.native_spend, d.native_revenue,
        d.impressions, d.clicks, coalesce(d.purchases_exact, d.purchases), d.video_3s, d.attribution
    FROM (SELECT DISTINCT day, platform, campaign, campaign_id FROM import_ads) came
        JOIN ad_entities ad ON ad.account_id = $1 AND ad.campaign_id = came.campaign_id AND ad.level = 'ad'
        JOIN ad_days d ON d.account_id = $1 AND d.ad_id = ad.id AND d.day = came.day
    EXCEPT TABLE import_known"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// Days and campaigns of which anything is other than it was.
    CHANGED() -> () = "INSERT INTO import_changed
    WITH came AS (
        SELECT day, platform, campaign, ad_id, currency, spend, revenue, impressions, clicks, purchases, video_3s, attribution
        FROM import_ads
    ), known AS (
        SELECT day, platform, campaign, ad_id, currency, spend, revenue, impressions, clicks, purchases, video_3s, attribution
        FROM import_known
    )
    SELECT day, platform, campaign FROM (
        (TABLE came EXCEPT TABLE known) UNION ALL (TABLE known EXCEPT TABLE came)
    ) different EXCEPT TABLE import_changed"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    DELETE_CHANGED(account: BigInt) -> () = "DELETE FROM ad_days USING import_known known JOIN import_changed changed
        ON changed.day = known.day AND changed.platform = known.platform AND changed.campaign = known.campaign
    WHERE ad_days.account_id = $1 AND ad_days.day = known.day AND ad_days.ad_id = known.ad_id
        AND ad_days.currency = known.currency"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// With the rate of the day, or the newest one of the days before.
    WRITE(account: BigInt, rate_days: Integer) -> () = "INSERT INTO ad_days (account_id, day, ad_id, currency, native_spend, native_revenue, fx, spend, revenue, impressions, clicks,
        purchases, purchases_exact, video_3s, attribution)
    SELECT $1, came.day, came.ad_id, came.currency, came.spend, came.revenue, rates.fx, round(came.spend * rates.fx, 6),
        round(came.revenue * rates.fx, 6), came.impressions, came.clicks, round(came.purchases)::bigint,
        came.purchases, came.video_3s, came.attribution
    FROM import_ads came
        JOIN import_changed changed ON changed.day = came.day AND changed.platform = came.platform
            AND changed.campaign = came.campaign
        JOIN (
            SELECT DISTINCT ON (wanted.currency, wanted.day) wanted.currency, wanted.day,
                CASE WHEN wanted.currency = wanted.own THEN 1 ELSE known.rate END AS fx
            FROM (SELECT DISTINCT currency, day, (SELECT currency FROM accounts WHERE id = $1) AS own FROM import_ads) wanted
                LEFT JOIN fx_rates known ON known.account_id = $1 AND known.currency = wanted.currency
                    AND known.day BETWEEN wanted.day - $2::integer AND wanted.day
            ORDER BY wanted.currency, wanted.day, known.day DESC NULLS LAST
        ) rates ON rates.currency = came.currency AND rates.day = came.day"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// By day, platform and campaign.
    pub(super) TOTALS() -> (new: BigInt, changed: BigInt, unchanged: BigInt) = "SELECT count(*) FILTER (WHERE NOT is_known) AS new,
        count(*) FILTER (WHERE is_known AND NOT is_same) AS changed, count(*) FILTER (WHERE is_known AND is_same) AS unchanged
    FROM (
        SELECT (came.day, came.platform, came.campaign) IN (SELECT day, platform, campaign FROM import_known) AS is_known,
            (came.day, came.platform, came.campaign) NOT IN (SELECT day, platform, campaign FROM import_changed) AS is_same
        FROM (SELECT DISTINCT day, platform, campaign FROM import_ads) came
    ) counted"
);

pub(super) async fn take_over(
    transaction: &Transaction<'_>,
    scope: &Scope,
    read: &AdAccount,
    (first, last): (Date, Date),
) -> Result<(), tokio_postgres::Error> {
    let (account, kind) = (scope.account, read.platform().as_str());
    for statement in [TAKE_OVER, DELETE_TAKEN] {
        transaction.execute(statement, &[&account, &first, &last, &kind]).await?;
    }
    if read.tells_all {
        transaction.execute(KNOWN_DAYS, &[&account, &first, &last, &kind, &read.name]).await?;
    }
    Ok(())
}

pub(super) async fn write(transaction: &Transaction<'_>, scope: &Scope) -> Result<(), tokio_postgres::Error> {
    let account = scope.account;
    transaction.execute(KNOWN, &[&account]).await?;
    transaction.execute(CHANGED, &[]).await?;
    transaction.execute(DELETE_CHANGED, &[&account]).await?;
    transaction.execute(WRITE, &[&account, &roll_up::RATE_DAYS]).await?;
    Ok(())
}
