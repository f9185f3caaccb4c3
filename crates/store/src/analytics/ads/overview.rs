//! What is said of the advertising of a window beside its rows.

use diesel::sql_types::{BigInt, Bool, Date as SqlDate, Nullable, Numeric, Text};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId,
    ads::{Coverage, Overview, Paired, Query, Sums},
};
use rust_decimal::Decimal;
use time::Date;

use crate::database::{
    error::{Failure, parse},
    query::RunQueryDsl,
};

statement!(
    /// Money of what has a rate, and whether anything has none; counts of all.
    Totals(
        account: i64 => BigInt,
        first: Date => SqlDate,
        last: Date => SqlDate,
        platform: Option<&'static str> => Nullable<Text>,
        campaign: Option<i64> => Nullable<BigInt>,
        status: Option<&'static str> => Nullable<Text>,
    ) -> TotalsRow = concat!("
    WITH matching AS (SELECT d.*", matching!(), ")
    SELECT ", ad_counts!(), ", sum(spend) AS spend, sum(revenue) AS revenue, count(*) > count(spend) AS lacks_rates,
        CASE WHEN count(DISTINCT attribution) = 1 AND bool_and(attribution IS NOT NULL OR purchases IS NULL)
            THEN min(attribution) END AS attribution
    FROM matching")
);

row!(
    struct TotalsRow {
        impressions: Option<i64> => Nullable<BigInt>,
        clicks: Option<i64> => Nullable<BigInt>,
        purchases: Option<i64> => Nullable<BigInt>,
        clicks_of_shown: i64 => BigInt,
        shown_of_clicked: i64 => BigInt,
        spend_of_shown: Decimal => Numeric,
        spend_of_clicked: Decimal => Numeric,
        spend_of_purchased: Decimal => Numeric,
        spend_of_returned: Decimal => Numeric,
        shown_of_spent: i64 => BigInt,
        clicks_of_spent: i64 => BigInt,
        purchases_of_spent: i64 => BigInt,
        spend: Option<Decimal> => Nullable<Numeric>,
        revenue: Option<Decimal> => Nullable<Numeric>,
        lacks_rates: bool => Bool,
        attribution: Option<String> => Nullable<Text>,
    }
);

statement!(
    /// The ad accounts there are, by platform and clock, with the days of the window that are covered on each platform.
    Sources(
        account: i64 => BigInt,
        first: Date => SqlDate,
        last: Date => SqlDate,
        platform: Option<&'static str> => Nullable<Text>,
    ) -> SourceRow = "
    SELECT a.platform, a.timezone, coalesce(covered.days, 0) AS days, coalesce(covered.is_synced, false) AS is_synced
    FROM (SELECT DISTINCT platform, timezone FROM ad_accounts WHERE account_id = $1) a LEFT JOIN (
        SELECT o.platform, count(DISTINCT c.day) AS days, bool_or(o.source = 'sync') AS is_synced
        FROM ad_coverage c JOIN ad_accounts o ON o.account_id = $1 AND o.id = c.ad_account_id
        WHERE c.account_id = $1 AND c.day BETWEEN $2 AND $3 GROUP BY o.platform
    ) covered ON covered.platform = a.platform
    WHERE $4::text IS NULL OR a.platform = $4 ORDER BY a.platform, a.timezone"
);

row!(
    struct SourceRow {
        platform: String => Text,
        timezone: Option<String> => Nullable<Text>,
        days: i64 => BigInt,
        is_synced: bool => Bool,
    }
);

pub(super) async fn read(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    query: Query,
) -> Result<Overview, Failure> {
    let Query { range, platform, campaign, status, level: _, group: _ } = query;
    let (account, first, last) = (account.0, range.first, range.last);
    let platform = platform.map(|platform| platform.as_str());
    let status = status.map(|status| status.as_str());
    let campaign = campaign.map(|id| id.0);
    let sources: Vec<SourceRow> = Sources { account, first, last, platform }.load(connection).await?;
    let totals: TotalsRow = Totals { account, first, last, platform, campaign, status }.get_result(connection).await?;
    let mut overview = Overview {
        lacks_rates: totals.lacks_rates,
        attribution: totals.attribution.clone(),
        totals: totals.sums(),
        ..Overview::default()
    };
    for SourceRow { platform, timezone, days, is_synced } in sources {
        let platform = parse(&platform, "platform of ads")?;
        overview.sources.push((platform, timezone));
        if overview.coverage.last().is_none_or(|known: &Coverage| known.platform != platform) {
            overview.coverage.push(Coverage { platform, days, is_synced });
        }
    }
    Ok(overview)
}

impl TotalsRow {
    /// Of nothing, the spend is none, and it is known.
    fn sums(self) -> Sums {
        let Self {
            spend,
            impressions,
            clicks,
            purchases,
            revenue,
            clicks_of_shown,
            shown_of_clicked,
            spend_of_shown,
            spend_of_clicked,
            spend_of_purchased,
            spend_of_returned,
            shown_of_spent,
            clicks_of_spent,
            purchases_of_spent,
            lacks_rates: _,
            attribution: _,
        } = self;
        let paired = Paired {
            clicks_of_shown,
            shown_of_clicked,
            spend_of_shown,
            spend_of_clicked,
            spend_of_purchased,
            spend_of_returned,
            shown_of_spent,
            clicks_of_spent,
            purchases_of_spent,
        };
        Sums { spend: Some(spend.unwrap_or_default()), impressions, clicks, purchases, revenue, paired }
    }
}
