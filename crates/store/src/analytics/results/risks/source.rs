//! [`RiskSource`] on Postgres.

use async_trait::async_trait;
use diesel::{
    QueryResult,
    sql_types::{Array, BigInt, Bool, Date as SqlDate, Double, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, AdEntityId, CreativeId, CustomerId, InsightId, ProductId, StoreError, SubscriptionId,
    ads::{CampaignSums, still_spends},
    credits::runway::USE_DAYS,
    integrations::Integration,
    metrics::returns::OrderValue,
    queues::MOST_COUNTED,
    risks::{
        ChannelRevenue, ConnectedShop, Credits, CustomerBase, CustomerRevenue, FailingWebhook, LIKELY_CHURN,
        OpenInsight, ProductSales, QUESTION_WAITS, RiskSource, Situation, TiredAd, URGENT_WAITS, Unanswered,
    },
};
use rust_decimal::Decimal;
use time::{Date, Duration, OffsetDateTime};

use crate::{
    Store,
    analytics::{ads::campaigns, results::asking_for_an_answer},
    database::query::RunQueryDsl,
    integrations::{self, IntegrationRow},
};

/// Days that revenue is looked at, and those that a regular customer's is.
const DAYS: i64 = 90;
const CUSTOMER_DAYS: i64 = 365;

statement!(
    Products(account: i64 => BigInt, first: Date => SqlDate, last: Date => SqlDate) -> ProductRow = "
    SELECT p.id AS product_id, p.sku, coalesce(s.revenue, 0) AS revenue_90d, coalesce(s.units, 0) AS units_90d,
        least((p.created_at AT TIME ZONE 'UTC')::date, l.day) AS known_since
    FROM products p
    LEFT JOIN (
        SELECT product_id, sum(revenue) AS revenue, sum(units)::bigint AS units FROM product_days
        WHERE account_id = $1 AND day BETWEEN $2 AND $3 GROUP BY product_id
    ) s ON s.product_id = p.id
    LEFT JOIN LATERAL (
        SELECT l.day FROM stock_levels l WHERE l.account_id = $1 AND l.product_id = p.id ORDER BY l.day LIMIT 1
    ) l ON true
    WHERE p.account_id = $1 ORDER BY p.id"
);

row!(
    struct ProductRow {
        product_id: i64 => BigInt,
        sku: String => Text,
        revenue_90d: Decimal => Numeric,
        units_90d: i64 => BigInt,
        known_since: Date => SqlDate,
    }
);

impl From<ProductRow> for ProductSales {
    fn from(row: ProductRow) -> Self {
        let ProductRow { product_id, sku, revenue_90d, units_90d, known_since } = row;
        Self { product_id: ProductId(product_id), sku, revenue_90d, units_90d, known_since }
    }
}

statement!(
    /// What customers brought who brought anything.
    Base(account: i64 => BigInt, first: Date => SqlDate, last: Date => SqlDate) -> BaseRow = "
    SELECT coalesce(sum(net), 0) AS net, coalesce(sum(net::float8 * net::float8), 0) AS squares, (
        SELECT count(*) FROM customers WHERE account_id = $1 AND churn_score IS NOT NULL) AS scored
    FROM (
        SELECT sum(gross - refunds) AS net FROM customer_days WHERE account_id = $1 AND day BETWEEN $2 AND $3
        GROUP BY customer_id HAVING sum(gross - refunds) > 0
    ) AS customers_of_the_days"
);

row!(
    struct BaseRow {
        net: Decimal => Numeric,
        squares: f64 => Double,
        scored: i64 => BigInt,
    }
);

statement!(
    Largest(account: i64 => BigInt, first: Date => SqlDate, last: Date => SqlDate) -> CustomerRow = "
    SELECT c.id AS customer_id, s.net, c.churn_score FROM (
        SELECT customer_id, sum(gross - refunds) AS net FROM customer_days
        WHERE account_id = $1 AND day BETWEEN $2 AND $3 GROUP BY customer_id
    ) s JOIN customers c ON c.account_id = $1 AND c.id = s.customer_id
    ORDER BY s.net DESC, c.id LIMIT 1"
);

statement!(
    /// Regular customers who are likelier to stay away than to come back.
    Leaving(account: i64 => BigInt, first: Date => SqlDate, last: Date => SqlDate, churn: f64 => Double) -> CustomerRow = "
    SELECT c.id AS customer_id, sum(d.gross - d.refunds) AS net, c.churn_score
    FROM customers c JOIN customer_days d ON d.account_id = $1 AND d.customer_id = c.id AND d.day BETWEEN $2 AND $3
    WHERE c.account_id = $1 AND c.segment IN ('vip', 'loyal') AND c.churn_score >= $4
    GROUP BY c.id, c.churn_score ORDER BY c.id"
);

row!(
    struct CustomerRow {
        customer_id: i64 => BigInt,
        net: Decimal => Numeric,
        churn_score: Option<Decimal> => Nullable<Numeric>,
    }
);

impl From<CustomerRow> for CustomerRevenue {
    fn from(row: CustomerRow) -> Self {
        let CustomerRow { customer_id, net, churn_score } = row;
        Self { customer_id: CustomerId(customer_id), net, churn: churn_score }
    }
}

statement!(
    Channels(account: i64 => BigInt, first: Date => SqlDate, last: Date => SqlDate) -> ChannelRow = "
    SELECT value AS platform, sum(gross_revenue) AS revenue, sum(orders)::bigint AS orders FROM daily_breakdowns
    WHERE account_id = $1 AND day BETWEEN $2 AND $3 AND dimension = 'platform' AND orders > 0
    GROUP BY value ORDER BY sum(gross_revenue) DESC, value"
);

row!(
    struct ChannelRow {
        platform: String => Text,
        revenue: Decimal => Numeric,
        orders: i64 => BigInt,
    }
);

impl From<ChannelRow> for ChannelRevenue {
    fn from(row: ChannelRow) -> Self {
        let ChannelRow { platform, revenue, orders } = row;
        Self { platform, revenue, orders }
    }
}

statement!(
    /// One row, also of an account that has never had any.
    CreditsLeft(account: i64 => BigInt, since: OffsetDateTime => Timestamptz) -> CreditsRow = "
    SELECT coalesce(max(b.balance), 0) AS balance, (
            SELECT coalesce(-sum(amount), 0)::bigint FROM credit_transactions
            WHERE account_id = $1 AND kind IN ('consume', 'refund') AND created_at > $2) AS used_14d,
        coalesce(bool_or(b.auto_topup_enabled), false) AS auto_topup_enabled,
        coalesce(max(b.auto_topup_failures), 0) AS auto_topup_failures
    FROM credit_balances b WHERE b.account_id = $1"
);

row!(
    struct CreditsRow {
        balance: i64 => BigInt,
        used_14d: i64 => BigInt,
        auto_topup_enabled: bool => Bool,
        auto_topup_failures: i64 => BigInt,
    }
);

impl From<CreditsRow> for Credits {
    fn from(row: CreditsRow) -> Self {
        let CreditsRow { balance, used_14d, auto_topup_enabled, auto_topup_failures } = row;
        Self { balance, used_14d, auto_topup_enabled, auto_topup_failures }
    }
}

statement!(
    /// What waits is counted up to a bound: a receiver that was away for days has millions of deliveries.
    Webhooks(account: i64 => BigInt, most: i64 => BigInt) -> WebhookRow = "
    SELECT w.id, w.failing_since, (
        SELECT count(*) FROM (
            SELECT FROM deliveries d
            WHERE d.account_id = $1 AND d.subscription_id = w.id AND d.state IN ('pending', 'held') LIMIT $2::bigint
        ) AS counted) AS waiting
    FROM webhook_subscriptions w
    WHERE w.account_id = $1 AND w.active AND w.revoked_at IS NULL AND w.failing_since IS NOT NULL ORDER BY w.id"
);

row!(
    struct WebhookRow {
        id: i64 => BigInt,
        failing_since: OffsetDateTime => Timestamptz,
        waiting: i64 => BigInt,
    }
);

impl From<WebhookRow> for FailingWebhook {
    fn from(row: WebhookRow) -> Self {
        let WebhookRow { id, failing_since, waiting } = row;
        Self { id: SubscriptionId(id), failing_since, waiting }
    }
}

statement!(
    Insights(account: i64 => BigInt) -> InsightRow = "
    SELECT i.id, i.fingerprint, s.key AS story
    FROM insights i LEFT JOIN stories s ON s.account_id = $1 AND s.id = i.story_id
    WHERE i.account_id = $1 AND i.status = 'open' ORDER BY i.id"
);

row!(
    struct InsightRow {
        id: i64 => BigInt,
        fingerprint: String => Text,
        story: Option<String> => Nullable<Text>,
    }
);

impl From<InsightRow> for OpenInsight {
    fn from(row: InsightRow) -> Self {
        let InsightRow { id, fingerprint, story } = row;
        Self { id: InsightId(id), fingerprint, story }
    }
}

statement!(
    /// Those that are active, with what was spent on them.
    Tired(account: i64 => BigInt, first: Date => SqlDate, last: Date => SqlDate) -> TiredRow = "
    SELECT judged.campaign_id, judged.creative_id, judged.ctr_ratio, ran.spend, ran.last_spent,
        coalesce(nullif(creative.headline, ''), nullif(ran.newest_ad, ''), nullif(campaign.name, ''), creative.platform)
            AS label
    FROM campaign_creatives judged
        JOIN creatives creative ON creative.account_id = $1 AND creative.id = judged.creative_id
        JOIN ad_entities campaign ON campaign.account_id = $1 AND campaign.id = judged.campaign_id
        JOIN LATERAL (
            SELECT max(d.day) FILTER (WHERE d.native_spend > 0) AS last_spent,
                (array_agg(ad.name ORDER BY d.day DESC, ad.id DESC))[1] AS newest_ad,
                CASE WHEN bool_and(d.spend IS NOT NULL) THEN sum(d.spend) END AS spend
            FROM ad_entities ad JOIN ad_days d ON d.account_id = $1 AND d.ad_id = ad.id AND d.day BETWEEN $2 AND $3
            WHERE ad.account_id = $1 AND ad.campaign_id = judged.campaign_id AND ad.creative_id = judged.creative_id
                AND ad.status = 'active'
        ) ran ON true
    WHERE judged.account_id = $1 AND judged.is_fatigued AND judged.ctr_ratio IS NOT NULL
    ORDER BY judged.campaign_id, judged.creative_id"
);

row!(
    struct TiredRow {
        campaign_id: i64 => BigInt,
        creative_id: i64 => BigInt,
        ctr_ratio: Decimal => Numeric,
        spend: Option<Decimal> => Nullable<Numeric>,
        last_spent: Option<Date> => Nullable<SqlDate>,
        label: String => Text,
    }
);

impl From<TiredRow> for TiredAd {
    fn from(row: TiredRow) -> Self {
        let TiredRow { campaign_id, creative_id, ctr_ratio, spend, last_spent: _, label } = row;
        Self { campaign_id: AdEntityId(campaign_id), creative_id: CreativeId(creative_id), label, ctr_ratio, spend }
    }
}

statement!(
    Waiting(
        account: i64 => BigInt,
        urgent_until: OffsetDateTime => Timestamptz,
        until: OffsetDateTime => Timestamptz,
        categories: Vec<&'static str> => Array<Text>,
    ) -> WaitingRow = "
    SELECT count(*) FILTER (WHERE is_urgent) AS urgent, count(*) FILTER (WHERE NOT is_urgent) AS others, min(waiting_since) AS since
    FROM (
        SELECT c.waiting_since, coalesce(c.category = 'complaint', false) OR coalesce(u.segment = 'vip', false) AS is_urgent
        FROM conversations c LEFT JOIN customers u ON u.account_id = $1 AND u.id = c.customer_id
        WHERE c.account_id = $1 AND c.status = 'open' AND c.waiting_since < $2
            AND coalesce(c.category, 'other') = ANY ($4)
    ) AS waiting
    WHERE is_urgent OR waiting_since < $3"
);

row!(
    struct WaitingRow {
        urgent: i64 => BigInt,
        others: i64 => BigInt,
        since: Option<OffsetDateTime> => Nullable<Timestamptz>,
    }
);

/// The rows that a situation is made of, read in one transaction.
struct Rows {
    products: Vec<ProductRow>,
    base: BaseRow,
    largest: Vec<CustomerRow>,
    leaving: Vec<CustomerRow>,
    channels: Vec<ChannelRow>,
    shops: Vec<IntegrationRow>,
    credits: CreditsRow,
    webhooks: Vec<WebhookRow>,
    insights: Vec<InsightRow>,
    campaigns: Vec<CampaignSums>,
    order_value: OrderValue,
    tired: Vec<TiredRow>,
    waiting: WaitingRow,
}

async fn read(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    last: Date,
    now: OffsetDateTime,
) -> QueryResult<Rows> {
    let campaigns = campaigns::running(connection, account, last).await?;
    let order_value = campaigns::order_value(connection, account, last).await?;
    let shops = integrations::all(connection, account).await?;
    let account = account.0;
    let settled = campaigns::settled(last);
    let mut tired: Vec<TiredRow> = Tired { account, first: settled.first, last: settled.last }.load(connection).await?;
    tired.retain(|ad| still_spends(ad.last_spent, settled.last));
    let (urgent_until, until) = (now - URGENT_WAITS, now - QUESTION_WAITS);
    let waiting = Waiting { account, urgent_until, until, categories: asking_for_an_answer() };
    let first = |days: i64| last.saturating_sub(Duration::days(days - 1));
    let (of_customer, first) = (first(CUSTOMER_DAYS), first(DAYS));
    Ok(Rows {
        products: Products { account, first, last }.load(connection).await?,
        base: Base { account, first, last }.get_result(connection).await?,
        largest: Largest { account, first, last }.load(connection).await?,
        leaving: Leaving { account, first: of_customer, last, churn: LIKELY_CHURN }.load(connection).await?,
        channels: Channels { account, first, last }.load(connection).await?,
        shops,
        credits: CreditsLeft { account, since: now - Duration::days(USE_DAYS) }.get_result(connection).await?,
        webhooks: Webhooks { account, most: MOST_COUNTED }.load(connection).await?,
        insights: Insights { account }.load(connection).await?,
        campaigns,
        order_value,
        tired,
        waiting: waiting.get_result(connection).await?,
    })
}

#[async_trait]
impl RiskSource for Store {
    async fn situation(&self, account: AccountId, last: Date, now: OffsetDateTime) -> Result<Situation, StoreError> {
        let rows = self.job_transaction(async |connection| read(connection, account, last, now).await).await?;
        let Rows {
            products,
            base,
            largest,
            leaving,
            channels,
            shops,
            credits,
            webhooks,
            insights,
            campaigns,
            order_value,
            tired,
            waiting,
        } = rows;
        let WaitingRow { urgent, others, since } = waiting;
        let BaseRow { net, squares, scored } = base;
        let shops = shops.into_iter().map(Integration::try_from).collect::<Result<Vec<_>, _>>()?;
        Ok(Situation {
            products: products.into_iter().map(Into::into).collect(),
            customers: CustomerBase {
                largest: largest.into_iter().next().map(Into::into),
                net_90d: net,
                squares_90d: squares,
                leaving: leaving.into_iter().map(Into::into).collect(),
                scored,
            },
            channels: channels.into_iter().map(Into::into).collect(),
            shops: shops.into_iter().filter_map(|shop| ConnectedShop::of(shop, now)).collect(),
            credits: credits.into(),
            webhooks: webhooks.into_iter().map(Into::into).collect(),
            insights: insights.into_iter().map(Into::into).collect(),
            campaigns,
            order_value,
            tired_ads: tired.into_iter().map(Into::into).collect(),
            unanswered: since.map(|since| Unanswered { urgent, others, since }),
        })
    }
}
