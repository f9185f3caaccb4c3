//! [`InsightSource`] and [`InsightWriter`] on Postgres.

use std::collections::BTreeSet;

use async_trait::async_trait;
use diesel::{
    QueryableByName,
    result::Error,
    sql_query,
    sql_types::{Array, BigInt, Binary, Bool, Date as SqlDate, Double, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    ai::Ending,
    insights::{
        AnomalyFact, CriticalItem, Ended, InsightSource, InsightWriter, KnownTexts, LONGEST_QUIET, SegmentFact, Source,
        StaleShop, Stored, Text as KnownText, Worded, Wording, is_left_alone,
    },
    integrations::STALE_AFTER,
    jobs::Written,
    profit::DayRange,
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{
    Store,
    ai::end_run,
    error::{corrupt, parse},
};

/// The deviations of single metrics, each with its cause from the correlated one.
const ANOMALIES: &str = "
    SELECT a.metric, a.day, a.observed_value, a.expected_value, a.direction,
        a.severity, a.is_shift, c.inferred_cause AS cause
    FROM anomalies a LEFT JOIN anomalies c ON c.account_id = $1 AND c.kind = 'correlated' AND c.metric = a.metric
        AND c.day = a.day
    WHERE a.account_id = $1 AND a.kind = 'univariate' AND a.day BETWEEN $2 AND $3
    ORDER BY a.metric, a.direction, a.day DESC";

const CRITICAL: &str = "
    SELECT sku, current_stock, units_sold_30d FROM inventory_items
    WHERE account_id = $1 AND status = 'critical' ORDER BY days_rank, sku";

const REORDERS: &str = "SELECT count(*) AS n FROM reorder_suggestions WHERE account_id = $1 AND status = 'pending'";

const SEGMENTS: &str = "
    SELECT segment, count(*) AS customers, sum(revenue_total) AS revenue
    FROM customers WHERE account_id = $1 GROUP BY segment ORDER BY segment";

const STALE_SHOPS: &str = "
    SELECT provider, shop, last_sync_at FROM integrations
    WHERE account_id = $1 AND revoked_at IS NULL AND last_sync_at < $2 ORDER BY provider, shop";

/// What a model worded among the open insights.
const WORDED: &str = "
    SELECT fingerprint, basis, title, body, suggested_action, impact_estimate FROM insights
    WHERE account_id = $1 AND status = 'open' AND source = 'model' AND basis IS NOT NULL";

/// How the insights ended that were written, ended or decided on after `$2`.
const ENDED: &str = "
    SELECT fingerprint, status, decided_at, coalesce(resolved_at, computed_at) AS ended_at FROM insights
    WHERE account_id = $1 AND status <> 'open' AND greatest(decided_at, resolved_at, computed_at) > $2";

const RESOLVE_OTHERS: &str = "
    UPDATE insights SET status = 'resolved', resolved_at = $3
    WHERE account_id = $1 AND status = 'open' AND fingerprint <> ALL ($2)";

const UPSERT: &str = "
    INSERT INTO insights AS old (account_id, fingerprint, severity, category, title, body, suggested_action,
        impact_estimate, source, basis, status, computed_at)
    SELECT $1, v.*, 'open', $11 FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10) AS v
    ON CONFLICT (account_id, fingerprint) WHERE status = 'open' DO UPDATE SET
        severity = excluded.severity, category = excluded.category, title = excluded.title, body = excluded.body,
        suggested_action = excluded.suggested_action, impact_estimate = excluded.impact_estimate,
        source = excluded.source, basis = excluded.basis, computed_at = excluded.computed_at
    WHERE (old.severity, old.category, old.title, old.body, old.suggested_action, old.impact_estimate, old.source)
            IS DISTINCT FROM (excluded.severity, excluded.category, excluded.title, excluded.body,
                excluded.suggested_action, excluded.impact_estimate, excluded.source)";

/// A run on demand makes the newest results of the job newer.
const REFRESHED: &str = "
    UPDATE job_runs SET finished_at = $2 WHERE account_id = $1 AND job = 'insight_generation' AND finished_at = (
        SELECT max(finished_at) FROM job_runs WHERE account_id = $1 AND job = 'insight_generation')";

/// One at a time an account, until the end of the transaction: the nightly job and a run on demand may meet.
const LOCK: &str = "SELECT pg_advisory_xact_lock(726302, hashint8($1))";

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
struct CriticalRow {
    #[diesel(sql_type = Text)]
    sku: String,
    #[diesel(sql_type = BigInt)]
    current_stock: i64,
    #[diesel(sql_type = BigInt)]
    units_sold_30d: i64,
}

impl From<CriticalRow> for CriticalItem {
    fn from(row: CriticalRow) -> Self {
        let CriticalRow { sku, current_stock, units_sold_30d } = row;
        Self { sku, current_stock, units_sold_30d }
    }
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
    critical: Vec<CriticalRow>,
    reorders: CountRow,
    segments: Vec<SegmentRow>,
    shops: Vec<ShopRow>,
}

#[async_trait]
impl InsightSource for Store {
    async fn stored(&self, account: AccountId, news: DayRange, now: OffsetDateTime) -> Result<Stored, StoreError> {
        let rows = self.job_transaction(async |connection| read(connection, account, news, now).await).await?;
        let Rows { anomalies, critical, reorders, segments, shops } = rows;
        let segment = |SegmentRow { segment, customers, revenue }: SegmentRow| {
            Ok(SegmentFact { segment: parse(&segment, "segment")?, customers, revenue })
        };
        let shop = |ShopRow { provider, shop, last_sync_at }: ShopRow| {
            Ok(StaleShop { provider: parse(&provider, "provider")?, shop, last_sync_at })
        };
        Ok(Stored {
            anomalies: anomalies.into_iter().map(AnomalyFact::try_from).collect::<Result<_, _>>()?,
            critical: critical.into_iter().map(CriticalItem::from).collect(),
            reorders: reorders.n,
            segments: segments.into_iter().map(segment).collect::<Result<_, StoreError>>()?,
            stale_shops: shops.into_iter().map(shop).collect::<Result<_, StoreError>>()?,
        })
    }

    async fn worded(&self, account: AccountId, now: OffsetDateTime) -> Result<KnownTexts, StoreError> {
        let (texts, left_alone) =
            self.job_transaction(async |connection| read_worded(connection, account, now).await).await?;
        Ok(KnownTexts {
            open: texts.into_iter().map(TryInto::try_into).collect::<Result<_, StoreError>>()?,
            left_alone,
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
        critical: sql_query(CRITICAL).bind::<BigInt, _>(account).load(connection).await?,
        reorders: sql_query(REORDERS).bind::<BigInt, _>(account).get_result(connection).await?,
        segments: sql_query(SEGMENTS).bind::<BigInt, _>(account).load(connection).await?,
        shops: sql_query(STALE_SHOPS)
            .bind::<BigInt, _>(account)
            .bind::<Timestamptz, _>(now - STALE_AFTER)
            .load(connection)
            .await?,
    })
}

#[derive(QueryableByName)]
struct TextRow {
    #[diesel(sql_type = Text)]
    fingerprint: String,
    #[diesel(sql_type = Binary)]
    basis: Vec<u8>,
    #[diesel(sql_type = Text)]
    title: String,
    #[diesel(sql_type = Text)]
    body: String,
    #[diesel(sql_type = Text)]
    suggested_action: String,
    #[diesel(sql_type = Text)]
    impact_estimate: String,
}

impl TryFrom<TextRow> for (String, KnownText) {
    type Error = StoreError;
    fn try_from(row: TextRow) -> Result<Self, StoreError> {
        let TextRow { fingerprint, basis, title, body, suggested_action, impact_estimate } = row;
        let wording = Wording { title, body, suggested_action, impact_estimate };
        Ok((fingerprint, KnownText { basis: basis.try_into().map_err(|_| corrupt("basis"))?, wording }))
    }
}

#[derive(QueryableByName)]
struct EndedRow {
    #[diesel(sql_type = Text)]
    fingerprint: String,
    #[diesel(sql_type = Text)]
    status: String,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    decided_at: Option<OffsetDateTime>,
    #[diesel(sql_type = Timestamptz)]
    ended_at: OffsetDateTime,
}

impl TryFrom<EndedRow> for (String, Ended) {
    type Error = StoreError;
    fn try_from(row: EndedRow) -> Result<Self, StoreError> {
        let EndedRow { fingerprint, status, decided_at, ended_at } = row;
        Ok((fingerprint, Ended { status: parse(&status, "status of an insight")?, decided_at, ended_at }))
    }
}

/// The situations that are left alone at `now`.
async fn left_alone(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<BTreeSet<String>, Error> {
    let rows: Vec<EndedRow> = sql_query(ENDED)
        .bind::<BigInt, _>(account.0)
        .bind::<Timestamptz, _>(now - LONGEST_QUIET)
        .load(connection)
        .await?;
    let ended = rows.into_iter().map(TryInto::try_into).collect::<Result<Vec<(String, Ended)>, _>>().map_err(broken)?;
    Ok(ended.into_iter().filter(|(_, ended)| is_left_alone(ended, now)).map(|(fingerprint, _)| fingerprint).collect())
}

async fn read_worded(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> diesel::QueryResult<(Vec<TextRow>, BTreeSet<String>)> {
    let texts = sql_query(WORDED).bind::<BigInt, _>(account.0).load(connection).await?;
    Ok((texts, left_alone(connection, account, now).await?))
}

#[async_trait]
impl InsightWriter for Store {
    async fn replace(
        &self,
        account: AccountId,
        ending: Ending,
        insights: Vec<Worded>,
        now: OffsetDateTime,
    ) -> Result<Written, StoreError> {
        let Ending { job, run } = ending;
        let write_all = async |connection: &mut AsyncPgConnection| {
            sql_query(LOCK).bind::<BigInt, _>(account.0).execute(connection).await?;
            if let Some((claim, outcome, reason)) = &run {
                let ended = end_run(connection, claim, *outcome, reason.as_deref(), now).await.map_err(broken)?;
                if !ended {
                    return Err(broken(StoreError::Internal("the AI run was ended elsewhere".into())));
                }
            }
            write(connection, account, insights, now).await
        };
        match job {
            Some(claim) => self.finish(&claim, now, write_all).await,
            None => {
                let written = self
                    .job_transaction(async |connection| {
                        let rows = write_all(connection).await?;
                        sql_query(REFRESHED)
                            .bind::<BigInt, _>(account.0)
                            .bind::<Timestamptz, _>(now)
                            .execute(connection)
                            .await?;
                        Ok(rows)
                    })
                    .await?;
                Ok(Written::Rows(written))
            }
        }
    }
}

/// Each statement names the account, so that on a cluster it stays on the account's node.
async fn write(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    mut insights: Vec<Worded>,
    now: OffsetDateTime,
) -> Result<u64, Error> {
    let fingerprints: Vec<String> = insights.iter().map(|Worded { draft, .. }| draft.fingerprint.clone()).collect();
    let resolved = sql_query(RESOLVE_OTHERS)
        .bind::<BigInt, _>(account.0)
        .bind::<Array<Text>, _>(fingerprints)
        .bind::<Timestamptz, _>(now)
        .execute(connection)
        .await?;
    let left_alone = left_alone(connection, account, now).await?;
    insights.retain(|Worded { draft, .. }| !left_alone.contains(&draft.fingerprint));
    let written = Columns::of(insights).write(connection, account, now).await?;
    Ok(u64::try_from(resolved + written).unwrap_or(u64::MAX))
}

/// Ends the transaction like an error of the database.
fn broken(error: StoreError) -> Error {
    Error::DeserializationError(error.into())
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
    sources: Vec<&'static str>,
    bases: Vec<Option<Vec<u8>>>,
}

impl Columns {
    fn of(insights: Vec<Worded>) -> Self {
        let mut columns = Self::default();
        for Worded { draft, wording } in insights {
            let source = if wording.is_some() { Source::Model } else { Source::Rules };
            let basis = wording.as_ref().map(|_| draft.basis().to_vec());
            let Wording { title, body, suggested_action, impact_estimate } =
                wording.unwrap_or_else(|| Wording::from(&draft));
            columns.fingerprints.push(draft.fingerprint);
            columns.severities.push(draft.severity.as_str());
            columns.categories.push(draft.category.as_str());
            columns.titles.push(title);
            columns.bodies.push(body);
            columns.actions.push(suggested_action);
            columns.impacts.push(impact_estimate);
            columns.sources.push(source.as_str());
            columns.bases.push(basis);
        }
        columns
    }

    async fn write(
        &self,
        connection: &mut AsyncPgConnection,
        account: AccountId,
        now: OffsetDateTime,
    ) -> Result<usize, Error> {
        sql_query(UPSERT)
            .bind::<BigInt, _>(account.0)
            .bind::<Array<Text>, _>(&self.fingerprints)
            .bind::<Array<Text>, _>(&self.severities)
            .bind::<Array<Text>, _>(&self.categories)
            .bind::<Array<Text>, _>(&self.titles)
            .bind::<Array<Text>, _>(&self.bodies)
            .bind::<Array<Text>, _>(&self.actions)
            .bind::<Array<Text>, _>(&self.impacts)
            .bind::<Array<Text>, _>(&self.sources)
            .bind::<Array<Nullable<Binary>>, _>(&self.bases)
            .bind::<Timestamptz, _>(now)
            .execute(connection)
            .await
    }
}
