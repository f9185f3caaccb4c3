//! [`AnomalyStore`] on Postgres.

use async_trait::async_trait;
use diesel::{pg::Pg, prelude::*};
use domain::{
    AccountId, AnomalyId, StoreError, StoryId,
    anomalies::{Anomaly, AnomalyStore, OnItsDay, Severity},
    freshness::Dated,
    jobs::JobName,
    page::{Page, PageRequest},
    periods::shifted,
    profit::DayRange,
};
use serde_json::Value;
use time::{Date, OffsetDateTime};

use crate::{
    Store,
    analytics::freshness::{self, Found, WithFreshness},
    database::{
        error::{corrupt, parse},
        query::RunQueryDsl,
        statement::Condition,
    },
    schema::anomalies,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = anomalies, check_for_backend(diesel::pg::Pg))]
struct AnomalyRow {
    id: i64,
    kind: String,
    metric: String,
    day: Date,
    observed_value: f64,
    expected_value: f64,
    expected_low: Option<f64>,
    expected_high: Option<f64>,
    z_score: f64,
    direction: String,
    severity: String,
    detected_at: OffsetDateTime,
    inferred_cause: Option<String>,
    confidence: Option<f64>,
    correlated_metrics: Value,
    drivers: Value,
    cause: Option<String>,
    is_shift: bool,
    story_id: Option<i64>,
    first_day: Option<Date>,
    last_day: Option<Date>,
}

/// The days that are scored at a time: no anomaly spans more.
pub const LONGEST_DAYS: i32 = 90;

/// The days that an anomaly spans; one from before they were kept spans its day.
pub fn span(day: Date, first: Option<Date>, last: Option<Date>) -> DayRange {
    DayRange { first: first.unwrap_or(day), last: last.unwrap_or(day) }
}

impl TryFrom<AnomalyRow> for Anomaly {
    type Error = StoreError;
    fn try_from(row: AnomalyRow) -> Result<Self, StoreError> {
        let AnomalyRow {
            id,
            kind,
            metric,
            day,
            observed_value,
            expected_value,
            expected_low,
            expected_high,
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
            story_id,
            first_day,
            last_day,
        } = row;
        Ok(Self {
            id: AnomalyId(id),
            kind: parse(&kind, "anomaly kind")?,
            metric,
            span: span(day, first_day, last_day),
            day,
            observed_value,
            expected_value,
            expected_interval: expected_low.zip(expected_high),
            z_score,
            direction: parse(&direction, "direction")?,
            severity: parse(&severity, "severity")?,
            detected_at,
            inferred_cause,
            confidence,
            correlated_metrics: serde_json::from_value(correlated_metrics)
                .map_err(|_| corrupt("list of correlated metrics"))?,
            drivers: serde_json::from_value(drivers).map_err(|_| corrupt("list of drivers"))?,
            cause: cause.map(|cause| parse(&cause, "cause")).transpose()?,
            is_shift,
            story_id: story_id.map(StoryId),
        })
    }
}

/// What comes after an anomaly, whose id follows and which may be gone, in a list; `$1` is the account.
const AFTER: &str = "(detected_at, id) < (
    SELECT last.detected_at, last.id FROM (
        SELECT detected_at, id FROM anomalies WHERE account_id = $1
        UNION ALL SELECT detected_at, id FROM gone_places WHERE account_id = $1 AND list = 'anomalies') AS last
    WHERE last.id = ";

/// What was found on the day of an anomaly, whose id follows; `$1` is the account.
const SAME_DAY: &str = "detected_at = (
    SELECT asked.detected_at FROM anomalies AS asked WHERE asked.account_id = $1 AND asked.id = ";

const JOB: JobName = JobName::AnomalyDetection;

#[async_trait]
impl AnomalyStore for Store {
    async fn page(
        &self,
        account: AccountId,
        severity: Option<Severity>,
        since: OffsetDateTime,
        page: PageRequest,
    ) -> Result<Dated<Page<Anomaly>>, StoreError> {
        let found = self
            .read(account, async |connection| {
                let mut query = anomalies::table
                    .filter(anomalies::account_id.eq(account.0))
                    .filter(anomalies::detected_at.ge(since))
                    .order((anomalies::detected_at.desc(), anomalies::id.desc()))
                    .limit(page.limit + 1)
                    .select(<AnomalyRow as Selectable<Pg>>::construct_selection())
                    .into_boxed();
                if let Some(severity) = severity {
                    query = query.filter(anomalies::severity.eq(severity.as_str()));
                }
                if let Some(cursor) = page.cursor {
                    // The cursor names the last row of the page before; its place in the order is looked up.
                    query = query.filter(Condition { before: AFTER, value: cursor });
                }
                Ok(WithFreshness::new(JOB, query).load::<Found<AnomalyRow>>(connection).await?)
            })
            .await?;
        let (freshness, _, rows) = freshness::apart(JOB, found);
        let anomalies = rows.into_iter().map(Anomaly::try_from).collect::<Result<_, _>>()?;
        Ok(Dated { found: Page::cut(anomalies, page.limit, |anomaly: &Anomaly| anomaly.id.0), freshness })
    }

    async fn find(&self, account: AccountId, id: AnomalyId) -> Result<Option<Dated<OnItsDay>>, StoreError> {
        let found = self
            .read(account, async |connection| {
                let query = anomalies::table
                    .filter(anomalies::account_id.eq(account.0))
                    .filter(Condition { before: SAME_DAY, value: id.0 })
                    .order(anomalies::id.asc())
                    .select(<AnomalyRow as Selectable<Pg>>::construct_selection());
                Ok(WithFreshness::new(JOB, query).load::<Found<AnomalyRow>>(connection).await?)
            })
            .await?;
        let (freshness, _, rows) = freshness::apart(JOB, found);
        let mut others: Vec<Anomaly> = rows.into_iter().map(Anomaly::try_from).collect::<Result<_, _>>()?;
        let place = others.iter().position(|anomaly| anomaly.id == id);
        Ok(place.map(|place| {
            let anomaly = others.remove(place);
            Dated { found: OnItsDay { anomaly, others }, freshness }
        }))
    }

    async fn of_day(&self, account: AccountId, day: Date) -> Result<Dated<Vec<Anomaly>>, StoreError> {
        let longest = i64::from(LONGEST_DAYS);
        let found = self
            .read(account, async |connection| {
                let is_within = anomalies::first_day.le(day).and(anomalies::last_day.ge(day));
                let query = anomalies::table
                    .filter(anomalies::account_id.eq(account.0))
                    .filter(anomalies::day.between(shifted(day, -longest), shifted(day, longest)))
                    .filter(is_within.or(anomalies::day.eq(day)))
                    .order(anomalies::id.asc())
                    .select(<AnomalyRow as Selectable<Pg>>::construct_selection());
                Ok(WithFreshness::new(JOB, query).load::<Found<AnomalyRow>>(connection).await?)
            })
            .await?;
        let (freshness, _, rows) = freshness::apart(JOB, found);
        Ok(Dated { found: rows.into_iter().map(Anomaly::try_from).collect::<Result<_, _>>()?, freshness })
    }
}
