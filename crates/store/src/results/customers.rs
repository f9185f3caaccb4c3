//! [`CustomerMetricsStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    result::Error,
    sql_query,
    sql_types::{Array, BigInt, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    customer_metrics::{CustomerMetricsStore, Metrics, Purchases},
    jobs::{Claim, Written},
    zone::Zone,
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::Store;

/// Customers written by one statement.
const BATCH: usize = 10_000;

const PURCHASES: &str = "
    SELECT c.id AS customer_id, coalesce(o.orders, 0) AS orders, coalesce(o.days, 0) AS days, o.first_at, o.last_at,
        coalesce(o.gross, 0) AS gross, coalesce(r.refunds, 0) AS refunds
    FROM customers c
    LEFT JOIN (
        SELECT customer_id, count(*) AS orders, count(DISTINCT (placed_at AT TIME ZONE $3)::date) AS days,
            min(placed_at) AS first_at, max(placed_at) AS last_at, sum(gross) AS gross
        FROM orders WHERE account_id = $1 AND placed_at < $2 AND customer_id IS NOT NULL GROUP BY customer_id
    ) o ON o.customer_id = c.id
    LEFT JOIN (
        SELECT customer_id, sum(amount) AS refunds
        FROM refunds WHERE account_id = $1 AND refunded_at < $2 AND customer_id IS NOT NULL GROUP BY customer_id
    ) r ON r.customer_id = c.id
    WHERE c.account_id = $1 ORDER BY c.id";

const UPDATE: &str = "
    UPDATE customers c SET orders_count = v.orders_count, revenue_total = v.revenue_total,
        ltv_estimate = v.ltv_estimate, aov = v.aov, segment = v.segment, churn_score = v.churn_score,
        first_purchase_at = v.first_at, last_purchase_at = v.last_at
    FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10) AS v(id, orders_count, revenue_total, ltv_estimate, aov, segment,
        churn_score, first_at, last_at)
    WHERE c.account_id = $1 AND c.id = v.id
        AND (c.orders_count, c.revenue_total, c.ltv_estimate, c.aov, c.segment, c.churn_score, c.first_purchase_at,
            c.last_purchase_at)
        IS DISTINCT FROM (v.orders_count, v.revenue_total, v.ltv_estimate, v.aov, v.segment, v.churn_score, v.first_at,
            v.last_at)";

#[derive(QueryableByName)]
struct PurchasesRow {
    #[diesel(sql_type = BigInt)]
    customer_id: i64,
    #[diesel(sql_type = BigInt)]
    orders: i64,
    #[diesel(sql_type = BigInt)]
    days: i64,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    first_at: Option<OffsetDateTime>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    last_at: Option<OffsetDateTime>,
    #[diesel(sql_type = Numeric)]
    gross: Decimal,
    #[diesel(sql_type = Numeric)]
    refunds: Decimal,
}

impl From<PurchasesRow> for Purchases {
    fn from(row: PurchasesRow) -> Self {
        let PurchasesRow { customer_id, orders, days, first_at, last_at, gross, refunds } = row;
        Self { customer_id, orders, days, span: first_at.zip(last_at), gross, refunds }
    }
}

#[async_trait]
impl CustomerMetricsStore for Store {
    async fn purchases(&self, account: AccountId, zone: &Zone, last: Date) -> Result<Vec<Purchases>, StoreError> {
        let end = zone.start_of(last.next_day().unwrap_or(Date::MAX));
        self.job_transaction(async |connection| {
            let rows: Vec<PurchasesRow> = sql_query(PURCHASES)
                .bind::<BigInt, _>(account.0)
                .bind::<Timestamptz, _>(end)
                .bind::<Text, _>(zone.name())
                .load(connection)
                .await?;
            Ok(rows.into_iter().map(Purchases::from).collect())
        })
        .await
    }

    async fn write(&self, claim: &Claim, metrics: Vec<Metrics>, now: OffsetDateTime) -> Result<Written, StoreError> {
        self.finish(claim, now, async |connection| {
            let mut rows = 0;
            for batch in metrics.chunks(BATCH) {
                rows += Columns::of(batch).write(connection, claim.account).await?;
            }
            Ok(rows)
        })
        .await
    }
}

/// The rows as arrays, one per column.
#[derive(Default)]
struct Columns<'a> {
    ids: Vec<i64>,
    orders_count: Vec<i64>,
    revenue_total: Vec<Decimal>,
    ltv_estimate: Vec<Decimal>,
    aov: Vec<Decimal>,
    segment: Vec<&'a str>,
    churn_score: Vec<Option<Decimal>>,
    first_at: Vec<Option<OffsetDateTime>>,
    last_at: Vec<Option<OffsetDateTime>>,
}

impl Columns<'_> {
    fn of(metrics: &[Metrics]) -> Self {
        let mut columns = Self::default();
        for row in metrics {
            let Metrics { customer_id, orders_count, revenue_total, ltv_estimate, aov, segment, churn_score, span } =
                row;
            columns.ids.push(*customer_id);
            columns.orders_count.push(*orders_count);
            columns.revenue_total.push(*revenue_total);
            columns.ltv_estimate.push(*ltv_estimate);
            columns.aov.push(*aov);
            columns.segment.push(segment.as_str());
            columns.churn_score.push(*churn_score);
            columns.first_at.push(span.map(|(first, _)| first));
            columns.last_at.push(span.map(|(_, last)| last));
        }
        columns
    }

    async fn write(&self, connection: &mut AsyncPgConnection, account: AccountId) -> Result<u64, Error> {
        let written = sql_query(UPDATE)
            .bind::<BigInt, _>(account.0)
            .bind::<Array<BigInt>, _>(&self.ids)
            .bind::<Array<BigInt>, _>(&self.orders_count)
            .bind::<Array<Numeric>, _>(&self.revenue_total)
            .bind::<Array<Numeric>, _>(&self.ltv_estimate)
            .bind::<Array<Numeric>, _>(&self.aov)
            .bind::<Array<Text>, _>(&self.segment)
            .bind::<Array<Nullable<Numeric>>, _>(&self.churn_score)
            .bind::<Array<Nullable<Timestamptz>>, _>(&self.first_at)
            .bind::<Array<Nullable<Timestamptz>>, _>(&self.last_at)
            .execute(connection)
            .await?;
        Ok(u64::try_from(written).unwrap_or(u64::MAX))
    }
}
