//! [`MetricDayStore`] on Postgres.

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Date as SqlDate, Double, Nullable, Text};
use domain::{
    AccountId, AnomalyId, StoreError,
    freshness::Dated,
    jobs::JobName,
    metric_days::{Expected, JudgedDay, MetricDayStore},
    metrics::Metric,
    profit::DayRange,
};
use time::Date;

use crate::{Store, analytics::freshness, database::query::RunQueryDsl};

statement!(
    Judged(
        account: i64 => BigInt,
        metric: &'static str => Text,
        first: Date => SqlDate,
        last: Date => SqlDate,
    ) -> JudgedRow = "
    SELECT d.day, d.observed, d.expected, d.low, d.high,
        (SELECT a.id FROM anomalies a
            WHERE a.account_id = $1 AND a.kind = 'univariate' AND a.metric = $2 AND a.day = d.day) AS anomaly
    FROM metric_days d
    WHERE d.account_id = $1 AND d.metric = $2 AND d.day BETWEEN $3 AND $4 ORDER BY d.day DESC"
);

row!(
    struct JudgedRow {
        day: Date => SqlDate,
        observed: Option<f64> => Nullable<Double>,
        expected: Option<f64> => Nullable<Double>,
        low: Option<f64> => Nullable<Double>,
        high: Option<f64> => Nullable<Double>,
        anomaly: Option<i64> => Nullable<BigInt>,
    }
);

impl From<JudgedRow> for JudgedDay {
    fn from(row: JudgedRow) -> Self {
        let JudgedRow { day, observed, expected, low, high, anomaly } = row;
        let expected = expected.zip(low.zip(high)).map(|(value, (low, high))| Expected { value, low, high });
        Self { day, observed, expected, anomaly: anomaly.map(AnomalyId) }
    }
}

#[async_trait]
impl MetricDayStore for Store {
    async fn range(
        &self,
        account: AccountId,
        metric: Metric,
        range: DayRange,
    ) -> Result<Dated<Vec<JudgedDay>>, StoreError> {
        let DayRange { first, last } = range;
        let (freshness, rows) = self
            .read(account, async |connection| {
                let judged = Judged { account: account.0, metric: metric.as_str(), first, last };
                let rows: Vec<JudgedRow> = judged.load(connection).await?;
                Ok((freshness::of(connection, account, JobName::AnomalyDetection).await?, rows))
            })
            .await?;
        Ok(Dated { found: rows.into_iter().map(JudgedDay::from).collect(), freshness })
    }
}
