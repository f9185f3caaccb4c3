//! What campaigns did, for the jobs that judge them.

use diesel::{
    QueryResult,
    sql_types::{BigInt, Bool, Date as SqlDate, Double, Nullable, Numeric, Text},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, AdEntityId, ads::CampaignSums, creatives::UNSCORED_DAYS, metrics::returns::OrderValue, profit::DayRange,
    risks::HORIZON_DAYS,
};
use rust_decimal::Decimal;
use time::{Date, Duration};

use crate::database::query::RunQueryDsl;

/// Days whose orders tell what an order is worth.
const ORDER_DAYS: i64 = 90;

statement!(
    Campaigns(account: i64 => BigInt, first: Date => SqlDate, last: Date => SqlDate) -> CampaignRow = "
    SELECT campaign.id, min(a.external_id) AS platform, coalesce(nullif(campaign.name, ''), min(a.external_id)) AS name,
        bool_or(ad.status = 'active') AS is_active, max(d.day) FILTER (WHERE d.native_spend > 0) AS last_spent,
        CASE WHEN bool_and(d.spend IS NOT NULL) THEN sum(d.spend) END AS spend,
        CASE WHEN bool_and(d.purchases IS NOT NULL) THEN sum(coalesce(d.purchases_exact, d.purchases))::bigint END AS purchases,
        CASE WHEN bool_and(d.revenue IS NOT NULL) THEN sum(d.revenue) END AS revenue
    FROM ad_days d
        JOIN ad_entities ad ON ad.account_id = $1 AND ad.id = d.ad_id
        JOIN ad_entities campaign ON campaign.account_id = $1 AND campaign.id = ad.campaign_id
        JOIN ad_accounts a ON a.account_id = $1 AND a.id = campaign.ad_account_id
    WHERE d.account_id = $1 AND d.day BETWEEN $2 AND $3
    GROUP BY campaign.id, campaign.name ORDER BY campaign.id"
);

row!(
    struct CampaignRow {
        id: i64 => BigInt,
        platform: String => Text,
        name: String => Text,
        is_active: bool => Bool,
        last_spent: Option<Date> => Nullable<SqlDate>,
        spend: Option<Decimal> => Nullable<Numeric>,
        purchases: Option<i64> => Nullable<BigInt>,
        revenue: Option<Decimal> => Nullable<Numeric>,
    }
);

impl From<CampaignRow> for CampaignSums {
    fn from(row: CampaignRow) -> Self {
        let CampaignRow { id, platform, name, is_active, last_spent, spend, purchases, revenue } = row;
        Self { id: AdEntityId(id), platform, name, is_active, last_spent, spend, purchases, revenue }
    }
}

statement!(
    OrderSums(account: i64 => BigInt, first: Date => SqlDate, last: Date => SqlDate) -> OrderSumsRow = "
    SELECT count(*) AS orders, coalesce(sum(gross), 0)::float8 AS total, coalesce(sum(gross * gross), 0)::float8 AS squares
    FROM orders JOIN accounts ON accounts.id = $1
    WHERE account_id = $1 AND gross > 0 AND placed_at >= $2::date::timestamp AT TIME ZONE timezone
        AND placed_at < ($3::date + 1)::timestamp AT TIME ZONE timezone"
);

row!(
    struct OrderSumsRow {
        orders: i64 => BigInt,
        total: f64 => Double,
        squares: f64 => Double,
    }
);

/// The last days as many as a risk looks ahead, until the last whose purchases are settled; `last` is the last full day.
pub(in crate::analytics) fn settled(last: Date) -> DayRange {
    let last = last.saturating_sub(Duration::days(UNSCORED_DAYS));
    DayRange { first: last.saturating_sub(Duration::days(HORIZON_DAYS - 1)), last }
}

/// The campaigns that run.
pub(in crate::analytics) async fn running(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    last: Date,
) -> QueryResult<Vec<CampaignSums>> {
    let days = settled(last);
    let rows: Vec<CampaignRow> =
        Campaigns { account: account.0, first: days.first, last: days.last }.load(connection).await?;
    Ok(rows.into_iter().map(CampaignSums::from).filter(|campaign| campaign.runs(days.last)).collect())
}

/// What orders are worth; `last` is the last full day.
pub(in crate::analytics) async fn order_value(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    last: Date,
) -> QueryResult<OrderValue> {
    let first = last.saturating_sub(Duration::days(ORDER_DAYS - 1));
    let sums = OrderSums { account: account.0, first, last };
    let OrderSumsRow { orders, total, squares } = sums.get_result(connection).await?;
    Ok(OrderValue::of(orders, total, squares))
}
