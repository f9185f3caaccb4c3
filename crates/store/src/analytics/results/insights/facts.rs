//! [`InsightSource`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Binary, Bool, Date as SqlDate, Double, Jsonb, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    ads::CampaignSums,
    insights::{
        CommentsWaiting, CriticalItem, InsightSource, KnownTexts, LEAST_PURCHASES, PendingReorder, ProductWeeks,
        SegmentFact, StaleShop, Status, Stored, Text as KnownText, UNANSWERED_AFTER, WEEK_DAYS, WEEKS_BEFORE, Wording,
    },
    integrations::Integration,
    metrics::{contribution::mean_price, returns::OrderValue, stock::is_out_of_stock},
    profit::DayRange,
    reorder,
};
use rust_decimal::Decimal;
use serde_json::Value;
use time::{Date, Duration, OffsetDateTime};

use super::{
    super::{
        asking_for_an_answer,
        stories::{self, StoryRow},
    },
    left_alone,
};
use crate::{
    Store,
    analytics::{ads::campaigns, reorder::kept_basis},
    database::{
        error::{corrupt, parse},
        query::RunQueryDsl,
    },
    integrations::{self, IntegrationRow},
    schema::insights,
};

/// Days that what a unit of an item sold for is of, as in what it brings.
const SOLD_DAYS: i64 = 90;

statement!(
    /// With what each sold for on the days from the first to the last.
    Critical(account: i64 => BigInt, first: Date => SqlDate, last: Date => SqlDate) -> CriticalRow = "
    SELECT item.sku, item.current_stock, item.units_sold_30d, item.estimated_stockout_at AS runs_out_on,
        item.velocity, item.missed_units, item.unit_contribution, product.price AS list_price,
        product.on_order > 0 AS is_on_order, sold.revenue, sold.units
    FROM inventory_items item JOIN products product ON product.account_id = $1 AND product.id = item.product_id
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(d.revenue), 0) AS revenue, coalesce(sum(d.units), 0)::bigint AS units FROM product_days d
        WHERE d.account_id = $1 AND d.product_id = item.product_id AND d.day BETWEEN $2 AND $3
    ) sold
    WHERE item.account_id = $1 AND item.status = 'critical'
    ORDER BY item.days_rank, item.sku"
);

row!(
    struct CriticalRow {
        sku: String => Text,
        current_stock: i64 => BigInt,
        units_sold_30d: i64 => BigInt,
        runs_out_on: Option<Date> => Nullable<SqlDate>,
        velocity: Option<Decimal> => Nullable<Numeric>,
        missed_units: Option<f64> => Nullable<Double>,
        unit_contribution: Option<f64> => Nullable<Double>,
        list_price: Option<Decimal> => Nullable<Numeric>,
        is_on_order: bool => Bool,
        revenue: Decimal => Numeric,
        units: i64 => BigInt,
    }
);

impl From<CriticalRow> for CriticalItem {
    fn from(row: CriticalRow) -> Self {
        let CriticalRow {
            sku,
            current_stock,
            units_sold_30d,
            runs_out_on,
            velocity,
            missed_units,
            unit_contribution,
            list_price,
            is_on_order,
            revenue,
            units,
        } = row;
        Self {
            sku,
            current_stock,
            units_sold_30d,
            price: mean_price(revenue, units, list_price),
            velocity,
            missed_units,
            unit_contribution,
            runs_out_on: runs_out_on.filter(|_| !is_out_of_stock(current_stock)),
            is_on_order,
        }
    }
}

statement!(
    Pending(account: i64 => BigInt, status: &'static str => Text) -> PendingRow = "
    SELECT sku, basis FROM reorder_suggestions WHERE account_id = $1 AND status = $2 ORDER BY sku"
);

row!(
    struct PendingRow {
        sku: String => Text,
        basis: Option<Value> => Nullable<Jsonb>,
    }
);

impl TryFrom<PendingRow> for PendingReorder {
    type Error = StoreError;
    fn try_from(row: PendingRow) -> Result<Self, StoreError> {
        let PendingRow { sku, basis } = row;
        Ok(Self { sku, basis: basis.map(kept_basis).transpose()? })
    }
}

statement!(
    Segments(account: i64 => BigInt) -> SegmentRow = "
    SELECT segment, count(*) AS customers, sum(revenue_total) AS revenue
    FROM customers WHERE account_id = $1 GROUP BY segment ORDER BY segment"
);

row!(
    struct SegmentRow {
        segment: String => Text,
        customers: i64 => BigInt,
        revenue: Decimal => Numeric,
    }
);

impl TryFrom<SegmentRow> for SegmentFact {
    type Error = StoreError;
    fn try_from(row: SegmentRow) -> Result<Self, StoreError> {
        let SegmentRow { segment, customers, revenue } = row;
        Ok(Self { segment: parse(&segment, "segment")?, customers, revenue })
    }
}

statement!(
    Waiting(
        account: i64 => BigInt,
        until: OffsetDateTime => Timestamptz,
        categories: Vec<&'static str> => Array<Text>,
    ) -> WaitingRow = "
    SELECT count(*) AS comments, count(*) FILTER (WHERE category = 'complaint') AS complaints,
        min(waiting_since) AS since
    FROM conversations
    WHERE account_id = $1 AND status = 'open' AND waiting_since < $2
        AND coalesce(category, 'other') = ANY ($3)"
);

row!(
    struct WaitingRow {
        comments: i64 => BigInt,
        complaints: i64 => BigInt,
        since: Option<OffsetDateTime> => Nullable<Timestamptz>,
    }
);

statement!(
    /// Of products that were bought so often in the last week, a row for each week with purchases, the last as number 0.
    Weeks(
        account: i64 => BigInt,
        first: Date => SqlDate,
        last: Date => SqlDate,
        week_days: i64 => BigInt,
        least: i64 => BigInt,
    ) -> WeekRow = "
    SELECT product.sku, product.current_stock AS stock, product.on_order > 0 AS is_on_order, week.number, week.purchases,
        week.units, week.revenue
    FROM (
        SELECT product_id, ($3 - day) / $4 AS number, sum(purchases)::bigint AS purchases, sum(units)::bigint AS units,
            sum(revenue) AS revenue
        FROM product_days
        WHERE account_id = $1 AND day BETWEEN $2 AND $3 AND product_id IN (
            SELECT product_id FROM product_days WHERE account_id = $1 AND day > $3 - $4::int AND day <= $3
            GROUP BY product_id HAVING sum(purchases) >= $5)
        GROUP BY product_id, number
    ) week JOIN products product ON product.account_id = $1 AND product.id = week.product_id
    ORDER BY product.sku, week.number"
);

row!(
    struct WeekRow {
        sku: String => Text,
        stock: Option<i64> => Nullable<BigInt>,
        is_on_order: bool => Bool,
        number: i64 => BigInt,
        purchases: i64 => BigInt,
        units: i64 => BigInt,
        revenue: Decimal => Numeric,
    }
);

/// The weeks of each product, whose rows come one after the other.
fn products(rows: Vec<WeekRow>) -> Vec<ProductWeeks> {
    let mut products: Vec<ProductWeeks> = Vec::new();
    for WeekRow { sku, stock, is_on_order, number, purchases, units, revenue } in rows {
        match products.last_mut().filter(|product| product.sku == sku) {
            Some(product) => {
                let place = usize::try_from(number).ok().and_then(|number| WEEKS_BEFORE.checked_sub(number));
                if let Some(week) = place.and_then(|place| product.before.get_mut(place)) {
                    *week = purchases;
                }
            }
            None => {
                let before = [0; WEEKS_BEFORE];
                products.push(ProductWeeks { sku, purchases, units, revenue, before, stock, is_on_order });
            }
        }
    }
    products
}

/// The rows that the facts come from, read in one transaction.
struct Rows {
    stories: Vec<StoryRow>,
    critical: Vec<CriticalRow>,
    pending: Vec<PendingRow>,
    segments: Vec<SegmentRow>,
    shops: Vec<IntegrationRow>,
    waiting: WaitingRow,
    weeks: Vec<WeekRow>,
    campaigns: Vec<CampaignSums>,
    order_value: OrderValue,
}

#[async_trait]
impl InsightSource for Store {
    async fn stored(&self, account: AccountId, news: DayRange, now: OffsetDateTime) -> Result<Stored, StoreError> {
        let rows = self.job_transaction(async |connection| read(connection, account, news, now).await).await?;
        let Rows { stories, critical, pending, segments, shops, waiting, weeks, campaigns, order_value } = rows;
        let WaitingRow { comments, complaints, since } = waiting;
        let shops = shops.into_iter().map(Integration::try_from).collect::<Result<Vec<_>, _>>()?;
        let mut stale_shops: Vec<_> = shops.into_iter().filter_map(|shop| StaleShop::of(shop, now)).collect();
        stale_shops.sort_unstable_by(|a, b| (a.provider.as_str(), &a.shop).cmp(&(b.provider.as_str(), &b.shop)));
        Ok(Stored {
            stories: stories.into_iter().filter_map(StoryRow::fact).collect(),
            critical: critical.into_iter().map(CriticalItem::from).collect(),
            reorders: pending.into_iter().map(PendingReorder::try_from).collect::<Result<_, _>>()?,
            segments: segments.into_iter().map(SegmentFact::try_from).collect::<Result<_, _>>()?,
            stale_shops,
            waiting: since.map(|since| CommentsWaiting { comments, complaints, since }),
            products: products(weeks),
            campaigns,
            order_value,
        })
    }

    async fn worded(&self, account: AccountId, now: OffsetDateTime) -> Result<KnownTexts, StoreError> {
        let (texts, all_open, left_alone) = self
            .job_transaction(async |connection| {
                let texts: Vec<TextRow> = TextsOfModel { account: account.0 }.load(connection).await?;
                let open = insights::account_id.eq(account.0).and(insights::status.eq(Status::Open.as_str()));
                let all_open: Vec<String> =
                    insights::table.filter(open).select(insights::fingerprint).load(connection).await?;
                Ok((texts, all_open, left_alone(connection, account, now).await?))
            })
            .await?;
        Ok(KnownTexts {
            open: texts.into_iter().map(TryInto::try_into).collect::<Result<_, StoreError>>()?,
            all_open: all_open.into_iter().collect(),
            left_alone,
        })
    }
}

async fn read(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    news: DayRange,
    now: OffsetDateTime,
) -> QueryResult<Rows> {
    let pending = Pending { account: account.0, status: reorder::Status::Pending.as_str() };
    let lately = news.last.saturating_sub(Duration::days(SOLD_DAYS - 1));
    let waiting = Waiting { account: account.0, until: now - UNANSWERED_AFTER, categories: asking_for_an_answer() };
    let known_days = WEEK_DAYS * (i64::try_from(WEEKS_BEFORE).unwrap_or_default() + 1);
    let weeks = Weeks {
        account: account.0,
        first: news.last.saturating_sub(Duration::days(known_days - 1)),
        last: news.last,
        week_days: WEEK_DAYS,
        least: LEAST_PURCHASES,
    };
    Ok(Rows {
        stories: stories::recent(connection, account, news).await?,
        critical: Critical { account: account.0, first: lately, last: news.last }.load(connection).await?,
        pending: pending.load(connection).await?,
        segments: Segments { account: account.0 }.load(connection).await?,
        shops: integrations::all(connection, account).await?,
        waiting: waiting.get_result(connection).await?,
        weeks: weeks.load(connection).await?,
        campaigns: campaigns::running(connection, account, news.last).await?,
        order_value: campaigns::order_value(connection, account, news.last).await?,
    })
}

statement!(
    /// What a model worded among the open insights.
    TextsOfModel(account: i64 => BigInt) -> TextRow = "
    SELECT fingerprint, basis, title, body, suggested_action, impact_estimate FROM insights
    WHERE account_id = $1 AND status = 'open' AND source = 'model' AND basis IS NOT NULL"
);

row!(
    struct TextRow {
        fingerprint: String => Text,
        basis: Vec<u8> => Binary,
        title: String => Text,
        body: String => Text,
        suggested_action: String => Text,
        impact_estimate: String => Text,
    }
);

impl TryFrom<TextRow> for (String, KnownText) {
    type Error = StoreError;
    fn try_from(row: TextRow) -> Result<Self, StoreError> {
        let TextRow { fingerprint, basis, title, body, suggested_action, impact_estimate } = row;
        let wording = Wording { title, body, suggested_action, impact_estimate };
        Ok((fingerprint, KnownText { basis: basis.try_into().map_err(|_| corrupt("basis"))?, wording }))
    }
}
