//! Ad spend per day and ad, rolled up into spend per day, platform and campaign.

mod entities;
mod figures;
pub(super) mod roll_up;

use std::collections::{HashMap, HashSet};

use domain::{
    ads::AdPlatform,
    imports::{
        AdDetail, AdSource, AdSpendRow, AdSpendSummary, Changes, ImportError, MAX_UNKNOWN_BYTES, MAX_UNKNOWN_SKUS,
        RowSummary, Rows, SyncedRow, Target,
    },
};
use futures_util::StreamExt;
use time::{Date, OffsetDateTime};

use super::{
    Importer,
    copy::CopyBuffer,
    session::{Scope, Session, Transaction},
};

#[cfg(test)]
use super::session::DAYS_TABLE;

/// `import_rows` as the source has them; `import_names` the ads in them, with what their newest row says and the numbers of their
/// entities; `import_ads` the rows summed; `import_known` what is there of the same days and campaigns; `import_spellings` what a
/// platform is called, and was called before.
const TABLES: &str = "
    CREATE TEMPORARY TABLE import_rows (line bigint, day date, platform text, kind text, campaign text, ad_set text, ad text,
        creative text, format text, headline text, body text, status text, campaign_name text, ad_set_name text, ad_name text,
        currency text, spend numeric, impressions bigint,
        clicks bigint, purchases numeric, revenue numeric, video_3s bigint, attribution text, record bytea);
    CREATE TEMPORARY TABLE import_names (kind text, platform text, campaign text, ad_set text, ad text, campaign_name text,
        ad_set_name text, ad_name text, status text, creative text, day date, line bigint, ad_account_id bigint,
        campaign_id bigint, ad_set_id bigint, ad_id bigint);
    CREATE TEMPORARY TABLE import_ads (day date, platform text, campaign text, currency text, spend numeric(26, 6),
        revenue numeric(26, 6), impressions bigint, clicks bigint, purchases numeric(26, 6), video_3s bigint,
        attribution text, campaign_id bigint, ad_id bigint);
    CREATE TEMPORARY TABLE import_known (day date, platform text, campaign text, campaign_id bigint, ad_id bigint,
        currency text, spend numeric(26, 6), revenue numeric(26, 6), impressions bigint, clicks bigint,
        purchases numeric(26, 6), video_3s bigint, attribution text);
    CREATE TEMPORARY TABLE import_spellings (platform text, known text);";

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// Rows of a file that are of days which their platform itself told of, as many as are named, with the count of all.
    SYNCED(account: BigInt, most: BigInt, most_bytes: BigInt) -> (line: BigInt, platform: Text, day: Date, record: Bytea, total: BigInt) = "SELECT line, platform, day, record, total FROM (
        SELECT came.*, count(*) OVER () AS total, sum(length(came.record)) OVER (ORDER BY came.line) AS bytes
        FROM import_rows came JOIN (
            SELECT DISTINCT a.platform AS kind, c.day
            FROM ad_accounts a JOIN ad_coverage c ON c.account_id = $1 AND c.ad_account_id = a.id
            WHERE a.account_id = $1 AND a.source = 'sync'
        ) synced ON synced.kind = came.kind AND synced.day = came.day
    ) refused WHERE bytes <= $3 ORDER BY line LIMIT $2"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    LEAVE_OUT_SYNCED(account: BigInt) -> () = "DELETE FROM import_rows WHERE (kind, day) IN (
        SELECT a.platform, c.day FROM ad_accounts a JOIN ad_coverage c ON c.account_id = $1 AND c.ad_account_id = a.id
        WHERE a.account_id = $1 AND a.source = 'sync')"
);

pub(super) async fn import(
    importer: &Importer,
    target: Target,
    source: AdSource,
    mut rows: Rows<AdSpendRow>,
) -> Result<AdSpendSummary, ImportError> {
    let mut session = Session::open(importer, &[TABLES, roll_up::TABLES].concat()).await?;
    session.require(target.account).await?;
    let mut buffer = CopyBuffer::new("import_rows");
    while let Some(batch) = rows.next().await {
        for row in &batch? {
            add(&mut buffer, row);
        }
        session.send_full(&mut buffer).await?;
    }
    session.send(&mut buffer).await?;
    let now = target.now;
    let work = async |transaction: &Transaction<'_>, scope: &Scope| merge(transaction, scope, &source, now).await;
    let (mut summary, days) = session.merge(target, work).await?;
    summary.rows.days_touched = days;
    Ok(summary)
}

fn add(buffer: &mut CopyBuffer, row: &AdSpendRow) {
    let AdSpendRow { day, platform, campaign, spend, impressions, clicks, detail, line, record } = row;
    let AdDetail {
        ad_set,
        ad,
        creative,
        format,
        headline,
        body,
        status,
        currency,
        purchases,
        revenue,
        video_3s,
        attribution,
        names,
    } = detail;
    let kind = AdPlatform::named(platform);
    let creative = (!ad.is_empty()).then(|| detail.creative_key(kind, creative.as_deref().unwrap_or(ad)));
    buffer
        .row()
        .plain(line)
        .plain(day)
        .text(platform)
        .text(kind.as_str())
        .text(campaign)
        .text(ad_set)
        .text(ad)
        .text_or_null(creative.as_deref())
        .text_or_null(format.map(|format| format.as_str()))
        .text_or_null(headline.as_deref())
        .text_or_null(body.as_deref())
        .text_or_null(status.map(|status| status.as_str()))
        .text_or_null(names.as_ref().map(|names| names.campaign.as_str()))
        .text_or_null(names.as_ref().map(|names| names.ad_set.as_str()))
        .text_or_null(names.as_ref().map(|names| names.ad.as_str()))
        .text_or_null(currency.as_ref().map(|currency| currency.as_str()))
        .plain(spend)
        .plain_or_null(*impressions)
        .plain_or_null(*clicks)
        .plain_or_null(*purchases)
        .plain_or_null(*revenue)
        .plain_or_null(*video_3s)
        .text_or_null(attribution.as_deref())
        .bytes(record)
        .end();
}

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    /// What platforms are called in files, those that are known first.
    SPELLED(account: BigInt) -> (platform: Text, is_known: Bool) = "SELECT external_id AS platform, true AS is_known FROM (
        SELECT external_id FROM ad_accounts WHERE account_id = $1 AND source = 'file' ORDER BY id) known
    UNION ALL SELECT platform, false FROM (SELECT DISTINCT platform FROM import_rows ORDER BY platform) came"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    SPELL(platform: Text, known: Text) -> () = "INSERT INTO import_spellings VALUES ($1, $2)"
);

session_statement!(
    after [TABLES, roll_up::TABLES, DAYS_TABLE] =>
    RESPELL() -> () = "UPDATE import_rows SET platform = spelled.known FROM import_spellings spelled
    WHERE import_rows.platform = spelled.platform"
);

/// Calls a platform what it was called before, so that what is imported again takes the place of what was. One that is known by
/// just this name keeps it.
async fn respell(transaction: &Transaction<'_>, scope: &Scope) -> Result<(), tokio_postgres::Error> {
    let mut names: HashMap<String, String> = HashMap::new();
    let mut known: HashSet<String> = HashSet::new();
    for row in transaction.query(SPELLED, &[&scope.account]).await? {
        let (platform, is_known): (String, bool) = (row.try_get("platform")?, row.try_get("is_known")?);
        let name = names.entry(AdPlatform::spelling(&platform)).or_insert_with(|| platform.clone());
        if is_known {
            known.insert(platform);
        } else if *name != platform && !known.contains(&platform) {
            transaction.execute(SPELL, &[&platform, &*name]).await?;
        }
    }
    transaction.execute(RESPELL, &[]).await?;
    Ok(())
}

async fn merge(
    transaction: &Transaction<'_>,
    scope: &Scope,
    source: &AdSource,
    now: OffsetDateTime,
) -> Result<AdSpendSummary, tokio_postgres::Error> {
    let (synced, synced_count) = match source {
        AdSource::File => {
            respell(transaction, scope).await?;
            leave_out_synced(transaction, scope).await?
        }
        AdSource::Platform { .. } => (Vec::new(), 0),
    };
    entities::write(transaction, scope, source, now).await?;
    if let AdSource::Platform { account, first, last } = source {
        figures::take_over(transaction, scope, account, (*first, *last)).await?;
    }
    figures::write(transaction, scope).await?;
    roll_up::write(transaction, scope).await?;
    let row = transaction.query_one(figures::TOTALS, &[]).await?;
    let rows =
        Changes { new: row.try_get("new")?, changed: row.try_get("changed")?, unchanged: row.try_get("unchanged")? };
    Ok(AdSpendSummary { rows: RowSummary { rows, days_touched: 0 }, synced, synced_count })
}

async fn leave_out_synced(
    transaction: &Transaction<'_>,
    scope: &Scope,
) -> Result<(Vec<SyncedRow>, i64), tokio_postgres::Error> {
    let account = scope.account;
    let rows = transaction.query(SYNCED, &[&account, &MAX_UNKNOWN_SKUS, &MAX_UNKNOWN_BYTES]).await?;
    let total: i64 = rows.first().map_or(Ok(0), |row| row.try_get("total"))?;
    if total > 0 {
        transaction.execute(LEAVE_OUT_SYNCED, &[&account]).await?;
    }
    let named = rows.iter().map(|row| {
        let (line, day): (i64, Date) = (row.try_get("line")?, row.try_get("day")?);
        let line = u64::try_from(line).unwrap_or_default();
        Ok(SyncedRow { line, platform: row.try_get("platform")?, day, record: row.try_get("record")? })
    });
    Ok((named.collect::<Result<_, tokio_postgres::Error>>()?, total))
}
