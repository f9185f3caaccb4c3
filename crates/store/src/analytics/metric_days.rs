//! [`MetricDayStore`] on Postgres.

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Date as SqlDate, Double, Integer, Nullable, Text};
use domain::{
    AccountId, AnomalyId, StoreError,
    freshness::Dated,
    jobs::JobName,
    metric_days::{AnomalyDays, Expected, JudgedDay, MetricDayStore},
    metrics::Metric,
    profit::DayRange,
};
use time::Date;

use crate::{
    Store,
    analytics::{
        anomalies::{LONGEST_DAYS, span},
        freshness,
    },
    database::{error::parse, query::RunQueryDsl},
};

statement!(
    Kept(
        account: i64 => BigInt,
        metric: &'static str => Text,
        first: Date => SqlDate,
        last: Date => SqlDate,
    ) -> KeptRow = "
    SELECT day, observed, expected, low, high FROM metric_days
    WHERE account_id = $1 AND metric = $2 AND day BETWEEN $3 AND $4 ORDER BY day DESC"
);

row!(
    struct KeptRow {
        day: Date => SqlDate,
        observed: Option<f64> => Nullable<Double>,
        expected: Option<f64> => Nullable<Double>,
        low: Option<f64> => Nullable<Double>,
        high: Option<f64> => Nullable<Double>,
    }
);

impl KeptRow {
    fn judged(self, anomalies: &[AnomalyDays]) -> JudgedDay {
        let Self { day, observed, expected, low, high } = self;
        let expected = expected.zip(low.zip(high)).map(|(value, (low, high))| Expected { value, low, high });
        JudgedDay::new(day, observed, expected, anomalies)
    }
}

statement!(
    /// Anomalies of a metric that span a day of the range; none spans more than `longest` days.
    Spans(
        account: i64 => BigInt,
        metric: &'static str => Text,
        first: Date => SqlDate,
        last: Date => SqlDate,
        longest: i32 => Integer,
    ) -> SpanRow = "
    SELECT id, day, direction, first_day, last_day FROM anomalies
    WHERE account_id = $1 AND kind = 'univariate' AND metric = $2 AND day BETWEEN $3 - $5 AND $4 + $5
        AND coalesce(last_day, day) >= $3 AND coalesce(first_day, day) <= $4
    ORDER BY day"
);

row!(
    struct SpanRow {
        id: i64 => BigInt,
        day: Date => SqlDate,
        direction: String => Text,
        first_day: Option<Date> => Nullable<SqlDate>,
        last_day: Option<Date> => Nullable<SqlDate>,
    }
);

impl TryFrom<SpanRow> for AnomalyDays {
    type Error = StoreError;

    fn try_from(row: SpanRow) -> Result<Self, StoreError> {
        let SpanRow { id, day, direction, first_day, last_day } = row;
        let direction = parse(&direction, "direction")?;
        Ok(Self { id: AnomalyId(id), span: span(day, first_day, last_day), peak: day, direction })
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
        let (freshness, rows, spans) = self
            .read(account, async |connection| {
                let (account_id, metric) = (account.0, metric.as_str());
                let spans = Spans { account: account_id, metric, first, last, longest: LONGEST_DAYS };
                let rows: Vec<KeptRow> = Kept { account: account_id, metric, first, last }.load(connection).await?;
                let spans: Vec<SpanRow> = spans.load(connection).await?;
                Ok((freshness::of(connection, account, JobName::AnomalyDetection).await?, rows, spans))
            })
            .await?;
        let anomalies: Vec<AnomalyDays> = spans.into_iter().map(AnomalyDays::try_from).collect::<Result<_, _>>()?;
        Ok(Dated { found: rows.into_iter().map(|row| row.judged(&anomalies)).collect(), freshness })
    }
}
