//! [`AnomalyWriter`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Bool, Date as SqlDate, Double, Jsonb, Nullable, Text, Timestamptz},
};
use domain::{
    AccountId, StoreError,
    anomalies::{AnomalyWriter, Cause, Detected, Finding, Severity},
    events::{AnomalyDetected, AnomalySource, Event, Measured},
    jobs::{Claim, WriteOutcome},
    metric_days::Observed,
    metrics::stock::OUT_OF_STOCK,
    profit::DayRange,
    reorder,
    stories::StockOut,
};
use serde_json::Value;
use time::{Date, OffsetDateTime};

use super::{changed, metric_days, stories};
use crate::{
    Store,
    analytics::places,
    database::{query::RunQueryDsl, statement::Scalar},
    schema::anomalies,
    webhooks::outbox::emit,
};

statement!(
    /// A stock that was told holds until the next is.
    WithoutStock(
        account: i64 => BigInt,
        first: Date => SqlDate,
        last: Date => SqlDate,
        none_left: i64 => BigInt,
    ) -> WithoutStockRow = "
    WITH best AS (
        SELECT product_id FROM product_days WHERE account_id = $1 AND day BETWEEN $2 AND $3
        GROUP BY product_id ORDER BY sum(revenue) DESC, product_id LIMIT 24)
    SELECT p.sku, l.day AS first_day, coalesce(l.next_day - 1, $3) AS last_day,
        item.unit_contribution, p.on_order > 0 AS is_on_order
    FROM best JOIN products p ON p.account_id = $1 AND p.id = best.product_id
    LEFT JOIN inventory_items item ON item.account_id = $1 AND item.product_id = p.id
    CROSS JOIN LATERAL (
        SELECT day, stock, lead(day) OVER (ORDER BY day) AS next_day FROM stock_levels
        WHERE account_id = $1 AND product_id = p.id AND day BETWEEN $2 AND $3) l
    WHERE l.stock <= $4 ORDER BY p.sku, l.day"
);

row!(
    struct WithoutStockRow {
        sku: String => Text,
        first_day: Date => SqlDate,
        last_day: Date => SqlDate,
        unit_contribution: Option<f64> => Nullable<Double>,
        is_on_order: bool => Bool,
    }
);

/// One after the other as they are told, one where they follow each other. What sells at a loss is not missed.
fn joined(rows: Vec<WithoutStockRow>) -> Vec<StockOut> {
    let mut outs: Vec<StockOut> = Vec::new();
    for WithoutStockRow { sku, first_day: first, last_day: last, unit_contribution, is_on_order } in rows {
        if reorder::sells_at_a_loss(unit_contribution) {
            continue;
        }
        match outs.last_mut().filter(|out| out.sku == sku && out.span.last.next_day() == Some(first)) {
            Some(out) => out.span.last = last,
            None => outs.push(StockOut { sku, span: DayRange { first, last }, is_on_order }),
        }
    }
    outs
}

statement!(
    /// An event that went on and got worse is told by another day than before; it stays the same row.
    Move<'a>(
        account: i64 => BigInt,
        kinds: &'a [&'static str] => Array<Text>,
        metrics: &'a [String] => Array<Text>,
        directions: &'a [&'static str] => Array<Text>,
        firsts: &'a [Date] => Array<SqlDate>,
        lasts: &'a [Date] => Array<SqlDate>,
        days: &'a [Date] => Array<SqlDate>,
    ) -> () = "
    WITH v AS (SELECT * FROM unnest($2, $3, $4, $5, $6, $7) AS v(kind, metric, direction, first, last, day))
    UPDATE anomalies a SET day = v.day FROM v
    WHERE a.account_id = $1 AND a.id = (
            SELECT min(o.id) FROM anomalies o
            WHERE o.account_id = $1 AND o.kind = v.kind AND o.metric = v.metric AND o.direction = v.direction
                AND o.day BETWEEN v.first AND v.last)
        AND NOT EXISTS (
            SELECT FROM anomalies o
            WHERE o.account_id = $1 AND o.kind = v.kind AND o.metric = v.metric AND o.day = v.day)"
);

statement!(
    /// What is not detected any more.
    Others<'a>(
        account: i64 => BigInt,
        kinds: &'a [&'static str] => Array<Text>,
        metrics: &'a [String] => Array<Text>,
        days: &'a [Date] => Array<SqlDate>,
        first: Date => SqlDate,
        last: Date => SqlDate,
    ) -> Scalar<BigInt> = "
    WITH v AS (SELECT * FROM unnest($2, $3, $4) AS v(kind, metric, day))
    SELECT a.id FROM anomalies a WHERE a.account_id = $1 AND a.day BETWEEN $5 AND $6
        AND NOT EXISTS (SELECT FROM v WHERE v.kind = a.kind AND v.metric = a.metric AND v.day = a.day)"
);

statement!(
    Upsert<'a>(
        account: i64 => BigInt,
        kinds: &'a [&'static str] => Array<Text>,
        metrics: &'a [String] => Array<Text>,
        directions: &'a [&'static str] => Array<Text>,
        days: &'a [Date] => Array<SqlDate>,
        observed: &'a [f64] => Array<Double>,
        expected: &'a [f64] => Array<Double>,
        lows: &'a [Option<f64>] => Array<Nullable<Double>>,
        highs: &'a [Option<f64>] => Array<Nullable<Double>>,
        z_scores: &'a [f64] => Array<Double>,
        severities: &'a [&'static str] => Array<Text>,
        detected_at: &'a [OffsetDateTime] => Array<Timestamptz>,
        causes: &'a [Option<String>] => Array<Nullable<Text>>,
        confidences: &'a [Option<f64>] => Array<Nullable<Double>>,
        correlated: &'a [Value] => Array<Jsonb>,
        shifts: &'a [bool] => Array<Bool>,
        drivers: &'a [Value] => Array<Jsonb>,
        levers: &'a [Option<&'static str>] => Array<Nullable<Text>>,
        stories: &'a [Option<i64>] => Array<Nullable<BigInt>>,
        firsts: &'a [Date] => Array<SqlDate>,
        lasts: &'a [Date] => Array<SqlDate>,
    ) -> Scalar<Bool> = "
    INSERT INTO anomalies AS old (account_id, kind, metric, direction, day, observed_value, expected_value,
        expected_low, expected_high, z_score, severity, detected_at, inferred_cause, confidence, correlated_metrics,
        is_shift, drivers, cause, story_id, first_day, last_day)
    SELECT $1, v.* FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
            $17, $18, $19, $20, $21)
        AS v(kind, metric, direction, day, observed_value, expected_value, expected_low, expected_high, z_score,
            severity, detected_at, inferred_cause, confidence, correlated_metrics, is_shift, drivers, cause,
            story_id, first_day, last_day)
    ORDER BY v.day, v.metric, v.kind
    ON CONFLICT (account_id, kind, metric, day) DO UPDATE SET
        direction = excluded.direction, observed_value = excluded.observed_value,
        expected_value = excluded.expected_value, expected_low = excluded.expected_low,
        expected_high = excluded.expected_high, z_score = excluded.z_score, severity = excluded.severity,
        detected_at = excluded.detected_at, inferred_cause = excluded.inferred_cause, confidence = excluded.confidence,
        correlated_metrics = excluded.correlated_metrics, is_shift = excluded.is_shift, drivers = excluded.drivers,
        cause = excluded.cause, story_id = excluded.story_id, first_day = excluded.first_day,
        last_day = excluded.last_day
    WHERE (old.direction, old.observed_value, old.expected_value, old.expected_low, old.expected_high, old.z_score,
            old.severity, old.detected_at, old.inferred_cause, old.confidence, old.correlated_metrics, old.is_shift,
            old.drivers, old.cause, old.story_id, old.first_day, old.last_day)
        IS DISTINCT FROM (excluded.direction, excluded.observed_value, excluded.expected_value, excluded.expected_low,
            excluded.expected_high, excluded.z_score, excluded.severity, excluded.detected_at, excluded.inferred_cause,
            excluded.confidence, excluded.correlated_metrics, excluded.is_shift, excluded.drivers, excluded.cause,
            excluded.story_id, excluded.first_day, excluded.last_day)
    RETURNING true AS written"
);

/// An anomaly of severity medium or more that is there already.
#[derive(Queryable, Selectable)]
#[diesel(table_name = anomalies, check_for_backend(diesel::pg::Pg))]
struct Announced {
    kind: String,
    metric: String,
    day: Date,
}

impl Announced {
    fn is(&self, finding: &Finding) -> bool {
        (self.day, &*self.kind, &self.metric) == (finding.day, finding.kind.as_str(), &finding.metric)
    }
}

#[async_trait]
impl AnomalyWriter for Store {
    async fn replace(
        &self,
        claim: &Claim,
        scored: DayRange,
        announced_from: Date,
        detected: Detected,
        now: OffsetDateTime,
    ) -> Result<WriteOutcome, StoreError> {
        let Detected { findings, stories, days, begins } = detected;
        self.finish(claim, now, async |connection| {
            let told = stories::replace(connection, claim.account, scored, stories).await?;
            let columns = Columns::of(&findings, &told);
            let moved = columns.moved(claim.account).execute(connection).await?;
            let others: Vec<i64> = columns.others(claim.account, scored).load(connection).await?;
            let removed = places::remove_anomalies(connection, claim.account.0, &others).await?;
            let announced: Vec<Announced> = anomalies::table
                .filter(anomalies::account_id.eq(claim.account.0))
                .filter(anomalies::day.ge(announced_from))
                .filter(anomalies::severity.ne(Severity::Low.as_str()))
                .select(Announced::as_select())
                .load(connection)
                .await?;
            let written = changed(columns.upsert(claim.account).load(connection).await?);
            // One of severity low was told to nobody, and is news when it gets worse.
            let is_new = |finding: &&Finding| !announced.iter().any(|known| known.is(finding));
            let events: Vec<Event> = findings
                .iter()
                .filter(|finding| finding.is_announced() && finding.day >= announced_from)
                .filter(is_new)
                .map(|finding| event(finding, told.of(finding).map(|id| id.0)))
                .collect();
            let kept = metric_days::replace(connection, claim.account, scored, &days, begins).await?;
            // Last: others notify nobody of their events until this transaction has ended.
            emit(connection, claim.account, &events, now).await?;
            Ok(u64::try_from(told.rows + moved + removed + written + kept).unwrap_or(u64::MAX))
        })
        .await
    }

    async fn stock_outs(&self, account: AccountId, range: DayRange) -> Result<Vec<StockOut>, StoreError> {
        let DayRange { first, last } = range;
        let without = WithoutStock { account: account.0, first, last, none_left: OUT_OF_STOCK };
        let rows = self.job_transaction(async |connection| without.load(connection).await).await?;
        Ok(joined(rows))
    }

    async fn observed(&self, account: AccountId, range: DayRange) -> Result<Observed, StoreError> {
        self.job_transaction(async |connection| metric_days::observed(connection, account, range).await).await?
    }
}

fn event(finding: &Finding, story_id: Option<i64>) -> Event {
    AnomalyDetected {
        metric: finding.metric.clone(),
        observed: Measured(finding.observed_value),
        expected: Measured(finding.expected_value),
        z_score: Measured(finding.z_score),
        direction: finding.direction,
        severity: finding.severity,
        source: AnomalySource::Univariate,
        story_id,
    }
    .into()
}

/// The findings as arrays, one per column.
#[derive(Default)]
struct Columns {
    kinds: Vec<&'static str>,
    metrics: Vec<String>,
    directions: Vec<&'static str>,
    firsts: Vec<Date>,
    lasts: Vec<Date>,
    days: Vec<Date>,
    observed: Vec<f64>,
    expected: Vec<f64>,
    lows: Vec<Option<f64>>,
    highs: Vec<Option<f64>>,
    z_scores: Vec<f64>,
    severities: Vec<&'static str>,
    detected_at: Vec<OffsetDateTime>,
    causes: Vec<Option<String>>,
    confidences: Vec<Option<f64>>,
    correlated: Vec<Value>,
    shifts: Vec<bool>,
    drivers: Vec<Value>,
    levers: Vec<Option<&'static str>>,
    stories: Vec<Option<i64>>,
}

impl Columns {
    fn of(findings: &[Finding], stories: &stories::StoredStories) -> Self {
        let mut columns = Self::default();
        for finding in findings {
            let Finding {
                kind,
                metric,
                span,
                day,
                observed_value,
                expected_value,
                expected_interval,
                z_score,
                direction,
                severity,
                detected_at,
                inferred_cause,
                confidence,
                correlated_metrics,
                drivers,
                cause,
                is_shift,
            } = finding;
            columns.kinds.push(kind.as_str());
            columns.metrics.push(metric.clone());
            columns.directions.push(direction.as_str());
            columns.firsts.push(span.first);
            columns.lasts.push(span.last);
            columns.days.push(*day);
            columns.observed.push(*observed_value);
            columns.expected.push(*expected_value);
            columns.lows.push(expected_interval.map(|(low, _)| low));
            columns.highs.push(expected_interval.map(|(_, high)| high));
            columns.z_scores.push(*z_score);
            columns.severities.push(severity.as_str());
            columns.detected_at.push(*detected_at);
            columns.causes.push(inferred_cause.clone());
            columns.confidences.push(*confidence);
            columns.correlated.push(serde_json::json!(correlated_metrics));
            columns.shifts.push(*is_shift);
            columns.drivers.push(serde_json::json!(drivers));
            columns.levers.push(cause.map(Cause::as_str));
            columns.stories.push(stories.of(finding).map(|id| id.0));
        }
        columns
    }

    fn moved(&self, account: AccountId) -> Move<'_> {
        let Self { kinds, metrics, directions, firsts, lasts, days, .. } = self;
        Move { account: account.0, kinds, metrics, directions, firsts, lasts, days }
    }

    fn others(&self, account: AccountId, scored: DayRange) -> Others<'_> {
        let Self { kinds, metrics, days, .. } = self;
        Others { account: account.0, kinds, metrics, days, first: scored.first, last: scored.last }
    }

    fn upsert(&self, account: AccountId) -> Upsert<'_> {
        Upsert {
            account: account.0,
            kinds: self.kinds.as_slice(),
            metrics: self.metrics.as_slice(),
            directions: self.directions.as_slice(),
            days: self.days.as_slice(),
            observed: self.observed.as_slice(),
            expected: self.expected.as_slice(),
            lows: self.lows.as_slice(),
            highs: self.highs.as_slice(),
            z_scores: self.z_scores.as_slice(),
            severities: self.severities.as_slice(),
            detected_at: self.detected_at.as_slice(),
            causes: self.causes.as_slice(),
            confidences: self.confidences.as_slice(),
            correlated: self.correlated.as_slice(),
            shifts: self.shifts.as_slice(),
            drivers: self.drivers.as_slice(),
            levers: self.levers.as_slice(),
            stories: self.stories.as_slice(),
            firsts: self.firsts.as_slice(),
            lasts: self.lasts.as_slice(),
        }
    }
}
