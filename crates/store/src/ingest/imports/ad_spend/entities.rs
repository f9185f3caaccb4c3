//! What ad spend is of: ad accounts, campaigns, ad sets, ads and their creatives. The last row says how each is called.

use domain::{imports::AdSource, zone::Zone};
use time::OffsetDateTime;

use super::{Scope, Transaction};

#[cfg(test)]
use super::{DAYS_TABLE, TABLES, roll_up};

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// What files call platforms.
    NAMED_ACCOUNTS(account: BigInt, now: Timestamptz) -> () = "INSERT INTO ad_accounts (account_id, platform, external_id, source, last_synced_at)
    SELECT DISTINCT $1::bigint, kind, platform, 'file', $2::timestamptz FROM import_rows
    ON CONFLICT (account_id, source, platform, external_id) DO UPDATE SET last_synced_at = EXCLUDED.last_synced_at"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// The ad account that was read, with rows or without.
    READ_ACCOUNT(account: BigInt, platform: Text, name: Text, timezone: Text, now: Timestamptz) -> () = "INSERT INTO ad_accounts (account_id, platform, external_id, source, timezone, last_synced_at)
    SELECT id, $2, $3, 'sync', nullif($4, timezone), $5 FROM accounts WHERE id = $1
    ON CONFLICT (account_id, source, platform, external_id) DO UPDATE
        SET timezone = EXCLUDED.timezone, last_synced_at = EXCLUDED.last_synced_at"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// What the newest row that says it says; a row that does not takes nothing away.
    CREATIVES(account: BigInt) -> () = "INSERT INTO creatives AS old (account_id, platform, key, format, headline, body)
    SELECT $1, min(kind), creative, coalesce(min(format), 'unknown'),
        (array_agg(headline ORDER BY line DESC) FILTER (WHERE headline IS NOT NULL))[1],
        (array_agg(body ORDER BY line DESC) FILTER (WHERE body IS NOT NULL))[1]
    FROM import_rows WHERE creative IS NOT NULL GROUP BY creative
    ON CONFLICT (account_id, key) DO UPDATE
        SET headline = coalesce(EXCLUDED.headline, old.headline), body = coalesce(EXCLUDED.body, old.body)
        WHERE (old.headline, old.body)
            IS DISTINCT FROM (coalesce(EXCLUDED.headline, old.headline), coalesce(EXCLUDED.body, old.body))"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// Name, status and creative are those of the last row that tells them.
    NAMES(account: BigInt, source: Text) -> () = "INSERT INTO import_names
    SELECT came.*, a.id FROM (
        SELECT kind, platform, campaign, ad_set, ad,
            (array_agg(campaign_name ORDER BY day DESC, line DESC))[1], (array_agg(ad_set_name ORDER BY day DESC, line DESC))[1],
            (array_agg(ad_name ORDER BY day DESC, line DESC))[1],
            (array_agg(status ORDER BY day DESC, line DESC) FILTER (WHERE status IS NOT NULL))[1],
            (array_agg(creative ORDER BY day DESC, line DESC))[1], max(day), (array_agg(line ORDER BY day DESC, line DESC))[1]
        FROM import_rows GROUP BY kind, platform, campaign, ad_set, ad
    ) came JOIN ad_accounts a ON a.account_id = $1 AND a.source = $2 AND a.platform = came.kind
        AND a.external_id = came.platform"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    CAMPAIGNS(account: BigInt) -> () = "INSERT INTO ad_entities AS old (account_id, ad_account_id, level, parent_id, external_id, name, status)
    SELECT DISTINCT ON (ad_account_id, campaign) $1::bigint, ad_account_id, 'campaign', 0, campaign,
        coalesce(campaign_name, campaign), 'active'
    FROM import_names ORDER BY ad_account_id, campaign, day DESC, line DESC
    ON CONFLICT (account_id, ad_account_id, level, parent_id, external_id) DO UPDATE SET name = EXCLUDED.name
        WHERE old.name <> EXCLUDED.name"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    MATCH_CAMPAIGNS(account: BigInt) -> () = "UPDATE import_names came SET campaign_id = c.id FROM ad_entities c
    WHERE c.account_id = $1 AND c.ad_account_id = came.ad_account_id AND c.level = 'campaign' AND c.parent_id = 0
        AND c.external_id = came.campaign"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// A platform that calls one by its number does not tell the name.
    AD_SETS(account: BigInt, source: Text) -> () = "INSERT INTO ad_entities AS old (account_id, ad_account_id, level, parent_id, campaign_id, external_id, name, status)
    SELECT DISTINCT ON (campaign_id, ad_set) $1::bigint, ad_account_id, 'ad_set', campaign_id, campaign_id, ad_set,
        coalesce(ad_set_name, ad_set), 'active'
    FROM import_names ORDER BY campaign_id, ad_set, day DESC, line DESC
    ON CONFLICT (account_id, ad_account_id, level, parent_id, external_id) DO UPDATE SET name = EXCLUDED.name
        WHERE old.name <> EXCLUDED.name AND ($2::text = 'file' OR EXCLUDED.name <> EXCLUDED.external_id)"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    MATCH_AD_SETS(account: BigInt) -> () = "UPDATE import_names came SET ad_set_id = s.id FROM ad_entities s
    WHERE s.account_id = $1 AND s.ad_account_id = came.ad_account_id AND s.level = 'ad_set' AND s.parent_id = came.campaign_id
        AND s.external_id = came.ad_set"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// What a platform did not show of an ad stays as it is known: its name, where it is called by its number, its status, and what
    /// it shows, which has no format then.
    ADS(account: BigInt, source: Text) -> () = "INSERT INTO ad_entities AS old (account_id, ad_account_id, level, parent_id, campaign_id, external_id, name, status, creative_id)
    SELECT $1, came.ad_account_id, 'ad', came.ad_set_id, came.campaign_id, came.ad,
        coalesce(CASE WHEN $2::text = 'file' OR came.ad_name <> came.ad THEN came.ad_name ELSE known.name END, came.ad),
        coalesce(came.status, known.status, 'active'),
        CASE WHEN $2 = 'file' OR creatives.format <> 'unknown' THEN creatives.id ELSE coalesce(known.creative_id, creatives.id) END
    FROM import_names came LEFT JOIN creatives ON creatives.account_id = $1 AND creatives.key = came.creative
        LEFT JOIN ad_entities known ON known.account_id = $1 AND known.ad_account_id = came.ad_account_id
            AND known.level = 'ad' AND known.parent_id = came.ad_set_id AND known.external_id = came.ad
    ON CONFLICT (account_id, ad_account_id, level, parent_id, external_id) DO UPDATE
        SET name = EXCLUDED.name, status = EXCLUDED.status, creative_id = EXCLUDED.creative_id
        WHERE (old.name, old.status, old.creative_id)
            IS DISTINCT FROM (EXCLUDED.name, EXCLUDED.status, EXCLUDED.creative_id)"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    MATCH_ADS(account: BigInt) -> () = "UPDATE import_names came SET ad_id = ad.id FROM ad_entities ad
    WHERE ad.account_id = $1 AND ad.ad_account_id = came.ad_account_id AND ad.level = 'ad' AND ad.parent_id = came.ad_set_id
        AND ad.external_id = came.ad"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// Sums the rows of an ad, day and currency. Whatever came in, counts stay within a bigint, and amounts are such that they fit
    /// their columns at any rate of exchange; what no row tells stays unknown.
    GATHER(account: BigInt) -> () = "INSERT INTO import_ads
    SELECT came.day, came.platform, came.campaign, coalesce(came.currency, (SELECT currency FROM accounts WHERE id = $1)),
        least(sum(came.spend), 1e12), CASE WHEN count(came.revenue) > 0 THEN least(sum(came.revenue), 1e12) END,
        CASE WHEN count(came.impressions) > 0 THEN least(sum(came.impressions), 9223372036854775807)::bigint END,
        CASE WHEN count(came.clicks) > 0 THEN least(sum(came.clicks), 9223372036854775807)::bigint END,
        CASE WHEN count(came.purchases) > 0 THEN least(sum(came.purchases), 9223372036854775807) END,
        CASE WHEN count(came.video_3s) > 0 THEN least(sum(came.video_3s), 9223372036854775807)::bigint END,
        max(came.attribution), named.campaign_id, named.ad_id
    FROM import_rows came JOIN import_names named ON named.kind = came.kind AND named.platform = came.platform
        AND named.campaign = came.campaign AND named.ad_set = came.ad_set AND named.ad = came.ad
    GROUP BY 1, 2, 3, 4, named.campaign_id, named.ad_id"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// The days that rows are of.
    COVER_ROWS(account: BigInt) -> () = "INSERT INTO ad_coverage (account_id, ad_account_id, day)
    SELECT DISTINCT $1::bigint, named.ad_account_id, came.day
    FROM import_ads came JOIN import_names named ON named.ad_id = came.ad_id
    ON CONFLICT (account_id, ad_account_id, day) DO NOTHING"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// All days that were read, whether there is anything of them.
    COVER_DAYS(account: BigInt, platform: Text, name: Text, first: Date, last: Date) -> () = "INSERT INTO ad_coverage (account_id, ad_account_id, day)
    SELECT $1::bigint, a.id, $4::date + n FROM ad_accounts a CROSS JOIN generate_series(0, $5::date - $4::date) n
    WHERE a.account_id = $1 AND a.source = 'sync' AND a.platform = $2 AND a.external_id = $3
    ON CONFLICT (account_id, ad_account_id, day) DO NOTHING"
);

/// Writes what the rows are of, sums them, and notes which days they tell of.
pub(super) async fn write(
    transaction: &Transaction<'_>,
    scope: &Scope,
    source: &AdSource,
    now: OffsetDateTime,
) -> Result<(), tokio_postgres::Error> {
    let account = scope.account;
    let name = match source {
        AdSource::File => {
            transaction.execute(NAMED_ACCOUNTS, &[&account, &now]).await?;
            "file"
        }
        AdSource::Platform { account: read, .. } => {
            let (kind, zone) = (read.platform().as_str(), read.zone.as_ref().map(Zone::name));
            transaction.execute(READ_ACCOUNT, &[&account, &kind, &read.name, &zone, &now]).await?;
            "sync"
        }
    };
    transaction.execute(CREATIVES, &[&account]).await?;
    transaction.execute(NAMES, &[&account, &name]).await?;
    // Autovacuum leaves the tables of a session alone. Without statistics they are joined as if they were small.
    transaction.batch_execute("ANALYZE import_rows; ANALYZE import_names").await?;
    for statement in [CAMPAIGNS, MATCH_CAMPAIGNS] {
        transaction.execute(statement, &[&account]).await?;
    }
    transaction.execute(AD_SETS, &[&account, &name]).await?;
    transaction.execute(MATCH_AD_SETS, &[&account]).await?;
    transaction.execute(ADS, &[&account, &name]).await?;
    for statement in [MATCH_ADS, GATHER] {
        transaction.execute(statement, &[&account]).await?;
    }
    transaction.batch_execute("ANALYZE import_ads").await?;
    match source {
        AdSource::File => transaction.execute(COVER_ROWS, &[&account]).await?,
        AdSource::Platform { account: read, first, last } => {
            let kind = read.platform().as_str();
            transaction.execute(COVER_DAYS, &[&account, &kind, &read.name, first, last]).await?
        }
    };
    Ok(())
}
