//! What the job `anomaly_detection` keeps of every metric and day.

use diesel::{
    QueryResult,
    sql_types::{Array, BigInt, Bool, Date as SqlDate, Double, Nullable, Text},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    metric_days::{Expected, KEPT_DAYS, MetricDay, Observed},
    profit::DayRange,
};
use time::{Date, Duration};

use super::changed;
use crate::database::{error::parse, query::RunQueryDsl, statement::Scalar};

statement!(
    Keep(
        account: i64 => BigInt,
        metrics: Vec<&'static str> => Array<Text>,
        days: Vec<Date> => Array<SqlDate>,
        observed: Vec<Option<f64>> => Array<Nullable<Double>>,
        expected: Vec<Option<f64>> => Array<Nullable<Double>>,
        lows: Vec<Option<f64>> => Array<Nullable<Double>>,
        highs: Vec<Option<f64>> => Array<Nullable<Double>>,
    ) -> Scalar<Bool> = "
    INSERT INTO metric_days AS old (account_id, metric, day, observed, expected, low, high)
    SELECT $1, v.* FROM unnest($2, $3, $4, $5, $6, $7) AS v
    ON CONFLICT (account_id, metric, day) DO UPDATE SET
        observed = excluded.observed, expected = excluded.expected, low = excluded.low, high = excluded.high
    WHERE (old.observed, old.expected, old.low, old.high)
        IS DISTINCT FROM (excluded.observed, excluded.expected, excluded.low, excluded.high)
    RETURNING true AS written"
);

statement!(
    /// Removes what is too old or from before the shop, and of the days that are written again those that it no longer has.
    Forget(
        account: i64 => BigInt,
        oldest: Date => SqlDate,
        first: Date => SqlDate,
        days: Vec<Date> => Array<SqlDate>,
    ) -> () = "
    DELETE FROM metric_days WHERE account_id = $1 AND (day < $2 OR (day >= $3 AND day <> ALL ($4)))"
);

statement!(
    Kept(account: i64 => BigInt, first: Date => SqlDate, last: Date => SqlDate) -> KeptRow = "
    SELECT metric, day, observed FROM metric_days WHERE account_id = $1 AND day BETWEEN $2 AND $3"
);

row!(
    struct KeptRow {
        metric: String => Text,
        day: Date => SqlDate,
        observed: Option<f64> => Nullable<Double>,
    }
);

pub(super) async fn observed(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    range: DayRange,
) -> QueryResult<Result<Observed, StoreError>> {
    let kept = Kept { account: account.0, first: range.first, last: range.last };
    let rows: Vec<KeptRow> = kept.load(connection).await?;
    let of = |KeptRow { metric, day, observed }| Ok(((parse(&metric, "metric")?, day), observed));
    Ok(rows.into_iter().map(of).collect())
}

/// Keeps the days in the place of what was kept of them. Returns how many rows changed.
pub(super) async fn replace(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    scored: DayRange,
    kept: &[MetricDay],
    begins: Option<Date>,
) -> QueryResult<usize> {
    let mut dates: Vec<Date> = kept.iter().map(|day| day.day).collect();
    dates.sort_unstable();
    dates.dedup();
    let oldest = scored.last.checked_sub(Duration::days(KEPT_DAYS - 1)).unwrap_or(Date::MIN);
    let oldest = begins.map_or(oldest, |begins| begins.max(oldest));
    let first = dates.iter().copied().min().map_or(scored.first, |first| first.min(scored.first));
    let forget = Forget { account: account.0, oldest, first, days: dates };
    let forgotten = forget.execute(connection).await?;
    Ok(forgotten + changed(keep(account, kept).load(connection).await?))
}

fn keep(account: AccountId, kept: &[MetricDay]) -> Keep {
    let mut keep = Keep {
        account: account.0,
        metrics: Vec::new(),
        days: Vec::new(),
        observed: Vec::new(),
        expected: Vec::new(),
        lows: Vec::new(),
        highs: Vec::new(),
    };
    for MetricDay { metric, day, observed, expected } in kept {
        keep.metrics.push(metric.as_str());
        keep.days.push(*day);
        keep.observed.push(*observed);
        keep.expected.push(expected.map(|Expected { value, .. }| value));
        keep.lows.push(expected.map(|Expected { low, .. }| low));
        keep.highs.push(expected.map(|Expected { high, .. }| high));
    }
    keep
}
