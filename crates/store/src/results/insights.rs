//! [`InsightSource`] and [`InsightWriter`] on Postgres.

use async_trait::async_trait;
use diesel::{
    QueryableByName, sql_query,
    sql_types::{Array, BigInt, Bool, Date as SqlDate, Double, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    insights::{
        AnomalyFact, DISMISSAL_DAYS, Draft, InsightSource, InsightWriter, RULES, SegmentFact, StaleShop, Stored,
    },
    integrations::STALE_AFTER,
    jobs::{Claim, Written},
    profit::DayRange,
};
use rust_decimal::Decimal;
use time::{Date, Duration, OffsetDateTime};

use crate::{Store, error::parse};

/// The newest anomaly of each metric and direction that is worth a word, with its cause from the correlated one.
const ANOMALIES: &str = "
    SELECT DISTINCT ON (a.metric, a.direction) a.metric, a.day, a.observed_value, a.expected_value, a.direction,
        a.severity, a.is_shift, c.inferred_cause AS cause
    FROM anomalies a LEFT JOIN anomalies c ON c.account_id = $1 AND c.kind = 'correlated' AND c.metric = a.metric
        AND c.day = a.day
    WHERE a.account_id = $1 AND a.kind = 'univariate' AND a.severity <> 'low' AND a.day BETWEEN $2 AND $3
    ORDER BY a.metric, a.direction, a.day DESC";

const SOLD_OUT: &str = "
    SELECT sku FROM inventory_items WHERE account_id = $1 AND current_stock <= 0 AND units_sold_30d > 0
    ORDER BY units_sold_30d DESC, sku";

const RUNNING_OUT: &str = "
    SELECT sku FROM inventory_items
    WHERE account_id = $1 AND status = 'critical' AND current_stock > 0 ORDER BY days_rank, sku";

const REORDERS: &str = "SELECT count(*) AS n FROM reorder_suggestions WHERE account_id = $1 AND status = 'pending'";

const SEGMENTS: &str = "
    SELECT segment, count(*) AS customers, sum(revenue_total) AS revenue
    FROM customers WHERE account_id = $1 GROUP BY segment ORDER BY segment";

const STALE_SHOPS: &str = "
    SELECT provider, shop, last_sync_at FROM integrations
    WHERE account_id = $1 AND revoked_at IS NULL AND last_sync_at < $2 ORDER BY provider, shop";

const REPLACE: &str = "
    WITH v AS (
        SELECT * FROM unnest($2, $3, $4, $5, $6, $7, $8)
            AS v(fingerprint, severity, category, title, body, suggested_action, impact_estimate)
    ),
    wanted AS MATERIALIZED (
        SELECT v.* FROM v WHERE NOT EXISTS (
            SELECT FROM insights d WHERE d.account_id = $1 AND d.fingerprint = v.fingerprint
                AND d.status = 'dismissed' AND coalesce(d.resolved_at, d.computed_at) > $10)
    ),
    resolved AS (
        UPDATE insights SET status = 'resolved', resolved_at = $9
        WHERE account_id = $1 AND status = 'open' AND source = $11
            AND fingerprint NOT IN (SELECT fingerprint FROM wanted)
        RETURNING id
    ),
    written AS (
        INSERT INTO insights AS old (account_id, fingerprint, severity, category, title, body, suggested_action,
            impact_estimate, source, status, computed_at)
        SELECT $1, wanted.*, $11, 'open', $9 FROM wanted
        ON CONFLICT (account_id, fingerprint) WHERE status = 'open' DO UPDATE SET
            severity = excluded.severity, category = excluded.category, title = excluded.title, body = excluded.body,
            suggested_action = excluded.suggested_action, impact_estimate = excluded.impact_estimate,
            computed_at = excluded.computed_at
        WHERE old.source = $11
            AND (old.severity, old.category, old.title, old.body, old.suggested_action, old.impact_estimate)
                IS DISTINCT FROM (excluded.severity, excluded.category, excluded.title, excluded.body,
                    excluded.suggested_action, excluded.impact_estimate)
        RETURNING id
    )
    SELECT (SELECT count(*) FROM resolved) + (SELECT count(*) FROM written) AS n";

#[derive(QueryableByName)]
struct AnomalyRow {
    #[diesel(sql_type = Text)]
    metric: String,
    #[diesel(sql_type = SqlDate)]
    day: Date,
    #[diesel(sql_type = Double)]
    observed_value: f64,
    #[diesel(sql_type = Double)]
    expected_value: f64,
    #[diesel(sql_type = Text)]
    direction: String,
    #[diesel(sql_type = Text)]
    severity: String,
    #[diesel(sql_type = Bool)]
    is_shift: bool,
    #[diesel(sql_type = Nullable<Text>)]
    cause: Option<String>,
}

impl TryFrom<AnomalyRow> for AnomalyFact {
    type Error = StoreError;
    fn try_from(row: AnomalyRow) -> Result<Self, StoreError> {
        let AnomalyRow { metric, day, observed_value, expected_value, direction, severity, is_shift, cause } = row;
        Ok(Self {
            metric,
            day,
            observed: observed_value,
            expected: expected_value,
            direction: parse(&direction, "direction")?,
            severity: parse(&severity, "severity")?,
            is_shift,
            cause,
        })
    }
}

#[derive(QueryableByName)]
struct SkuRow {
    #[diesel(sql_type = Text)]
    sku: String,
}

#[derive(QueryableByName)]
struct CountRow {
    #[diesel(sql_type = BigInt)]
    n: i64,
}

#[derive(QueryableByName)]
struct SegmentRow {
    #[diesel(sql_type = Text)]
    segment: String,
    #[diesel(sql_type = BigInt)]
    customers: i64,
    #[diesel(sql_type = Numeric)]
    revenue: Decimal,
}

#[derive(QueryableByName)]
struct ShopRow {
    #[diesel(sql_type = Text)]
    provider: String,
    #[diesel(sql_type = Text)]
    shop: String,
    #[diesel(sql_type = Timestamptz)]
    last_sync_at: OffsetDateTime,
}

/// The rows that the facts come from, read in one transaction.
struct Rows {
    anomalies: Vec<AnomalyRow>,
    sold_out: Vec<SkuRow>,
    running_out: Vec<SkuRow>,
    reorders: CountRow,
    segments: Vec<SegmentRow>,
    shops: Vec<ShopRow>,
}

#[async_trait]
impl InsightSource for Store {
    async fn stored(&self, account: AccountId, news: DayRange, now: OffsetDateTime) -> Result<Stored, StoreError> {
        let rows = self.job_transaction(async |connection| read(connection, account, news, now).await).await?;
        let Rows { anomalies, sold_out, running_out, reorders, segments, shops } = rows;
        let segment = |SegmentRow { segment, customers, revenue }: SegmentRow| {
            Ok(SegmentFact { segment: parse(&segment, "segment")?, customers, revenue })
        };
        let shop = |ShopRow { provider, shop, last_sync_at }: ShopRow| {
            Ok(StaleShop { provider: parse(&provider, "provider")?, shop, last_sync_at })
        };
        Ok(Stored {
            anomalies: anomalies.into_iter().map(AnomalyFact::try_from).collect::<Result<_, _>>()?,
            sold_out: sold_out.into_iter().map(|row| row.sku).collect(),
            running_out: running_out.into_iter().map(|row| row.sku).collect(),
            reorders: reorders.n,
            segments: segments.into_iter().map(segment).collect::<Result<_, StoreError>>()?,
            stale_shops: shops.into_iter().map(shop).collect::<Result<_, StoreError>>()?,
        })
    }
}

async fn read(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    news: DayRange,
    now: OffsetDateTime,
) -> diesel::QueryResult<Rows> {
    let account = account.0;
    Ok(Rows {
        anomalies: sql_query(ANOMALIES)
            .bind::<BigInt, _>(account)
            .bind::<SqlDate, _>(news.first)
            .bind::<SqlDate, _>(news.last)
            .load(connection)
            .await?,
        sold_out: sql_query(SOLD_OUT).bind::<BigInt, _>(account).load(connection).await?,
        running_out: sql_query(RUNNING_OUT).bind::<BigInt, _>(account).load(connection).await?,
        reorders: sql_query(REORDERS).bind::<BigInt, _>(account).get_result(connection).await?,
        segments: sql_query(SEGMENTS).bind::<BigInt, _>(account).load(connection).await?,
        shops: sql_query(STALE_SHOPS)
            .bind::<BigInt, _>(account)
            .bind::<Timestamptz, _>(now - STALE_AFTER)
            .load(connection)
            .await?,
    })
}

#[async_trait]
impl InsightWriter for Store {
    async fn replace(&self, claim: &Claim, drafts: Vec<Draft>, now: OffsetDateTime) -> Result<Written, StoreError> {
        let columns = Columns::of(drafts);
        self.finish(claim, now, async |connection| {
            let CountRow { n } = sql_query(REPLACE)
                .bind::<BigInt, _>(claim.account.0)
                .bind::<Array<Text>, _>(&columns.fingerprints)
                .bind::<Array<Text>, _>(&columns.severities)
                .bind::<Array<Text>, _>(&columns.categories)
                .bind::<Array<Text>, _>(&columns.titles)
                .bind::<Array<Text>, _>(&columns.bodies)
                .bind::<Array<Text>, _>(&columns.actions)
                .bind::<Array<Text>, _>(&columns.impacts)
                .bind::<Timestamptz, _>(now)
                .bind::<Timestamptz, _>(now - Duration::days(DISMISSAL_DAYS))
                .bind::<Text, _>(RULES)
                .get_result(connection)
                .await?;
            Ok(u64::try_from(n).unwrap_or_default())
        })
        .await
    }
}

/// The rows as arrays, one per column.
#[derive(Default)]
struct Columns {
    fingerprints: Vec<String>,
    severities: Vec<&'static str>,
    categories: Vec<&'static str>,
    titles: Vec<String>,
    bodies: Vec<String>,
    actions: Vec<String>,
    impacts: Vec<String>,
}

impl Columns {
    fn of(drafts: Vec<Draft>) -> Self {
        let mut columns = Self::default();
        for draft in drafts {
            let Draft { fingerprint, severity, category, title, body, suggested_action, impact_estimate } = draft;
            columns.fingerprints.push(fingerprint);
            columns.severities.push(severity.as_str());
            columns.categories.push(category.as_str());
            columns.titles.push(title);
            columns.bodies.push(body);
            columns.actions.push(suggested_action);
            columns.impacts.push(impact_estimate);
        }
        columns
    }
}
