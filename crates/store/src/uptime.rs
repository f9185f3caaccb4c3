//! [`ProbeStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    dsl::min,
    prelude::*,
    sql_types::{BigInt, Bool, Nullable, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    StoreError,
    uptime::{Minute, Probe, ProbeStore, RETENTION_DAYS, Tally},
};
use time::{Duration, OffsetDateTime};

use crate::{
    Store,
    database::error::{Failure, parse},
    schema::status_probes as probes,
};

/// Probes of one statement, each of which has five parameters.
const ROWS_AT_ONCE: usize = 1_000;

row!(
    struct MinuteRow {
        minute: OffsetDateTime => Timestamptz,
        component: String => Text,
        up: i64 => BigInt,
        degraded: i64 => BigInt,
        down: i64 => BigInt,
        down_outside: bool => Bool,
        latency_ms: Option<i64> => Nullable<BigInt>,
    }
);

statement!(
    Minutes(since: OffsetDateTime => Timestamptz, until: OffsetDateTime => Timestamptz) -> MinuteRow = "
    SELECT minute, component, count(*) FILTER (WHERE outcome = 'up') AS up,
        count(*) FILTER (WHERE outcome = 'degraded') AS degraded, count(*) FILTER (WHERE outcome = 'down') AS down,
        bool_or(outcome = 'down' AND source = 'external') AS down_outside, round(avg(latency_ms))::bigint AS latency_ms
    FROM status_probes WHERE minute >= $1 AND minute < $2
    GROUP BY minute, component ORDER BY minute, component"
);

impl TryFrom<MinuteRow> for Minute {
    type Error = StoreError;
    fn try_from(row: MinuteRow) -> Result<Self, StoreError> {
        let MinuteRow { minute, component, up, degraded, down, down_outside, latency_ms } = row;
        let tally = Tally { up, degraded, down, down_outside, latency_ms };
        Ok(Self { component: parse(&component, "component")?, minute, tally })
    }
}

/// What was seen from `since` on and before `until`.
pub(crate) async fn minutes(
    connection: &mut AsyncPgConnection,
    since: OffsetDateTime,
    until: OffsetDateTime,
) -> Result<Vec<Minute>, Failure> {
    let rows: Vec<MinuteRow> = Minutes { since, until }.load(connection).await?;
    Ok(rows.into_iter().map(Minute::try_from).collect::<Result<_, _>>()?)
}

/// Removes what was kept long enough.
pub(crate) async fn prune(connection: &mut AsyncPgConnection, now: OffsetDateTime) -> QueryResult<usize> {
    let old = probes::table.filter(probes::minute.lt(now - Duration::days(RETENTION_DAYS)));
    diesel::delete(old).execute(connection).await
}

#[async_trait]
impl ProbeStore for Store {
    async fn record(&self, all: &[Probe]) -> Result<(), StoreError> {
        self.run_transaction::<_, Failure>(async |connection| {
            for some in all.chunks(ROWS_AT_ONCE) {
                let rows: Vec<_> = some.iter().map(columns).collect();
                diesel::insert_into(probes::table).values(rows).on_conflict_do_nothing().execute(connection).await?;
            }
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn minutes(&self, since: OffsetDateTime, until: OffsetDateTime) -> Result<Vec<Minute>, StoreError> {
        Ok(self.run::<_, Failure>(async |connection| minutes(connection, since, until).await).await?)
    }

    async fn first(&self) -> Result<Option<OffsetDateTime>, StoreError> {
        let first = self
            .run::<_, Failure>(async |connection| {
                Ok(probes::table.select(min(probes::minute)).first(connection).await?)
            })
            .await?;
        Ok(first)
    }
}

type Columns<'a> = (
    diesel::dsl::Eq<probes::minute, OffsetDateTime>,
    diesel::dsl::Eq<probes::component, &'static str>,
    diesel::dsl::Eq<probes::source, &'a str>,
    diesel::dsl::Eq<probes::outcome, &'static str>,
    diesel::dsl::Eq<probes::latency_ms, Option<i64>>,
);

fn columns(probe: &Probe) -> Columns<'_> {
    let Probe { component, minute, source, outcome, latency_ms } = probe;
    (
        probes::minute.eq(*minute),
        probes::component.eq(component.as_str()),
        probes::source.eq(source.as_str()),
        probes::outcome.eq(outcome.as_str()),
        probes::latency_ms.eq(*latency_ms),
    )
}
