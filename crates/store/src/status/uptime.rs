//! [`ProbeStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    dsl::min,
    prelude::*,
    sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    StoreError,
    uptime::{Minute, Probe, ProbeStore, RETENTION_DAYS, Tally},
};
use time::{Duration, OffsetDateTime};

use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
    },
    schema::status_probes as probes,
};

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

statement!(
    /// Of a minute, a component and a source the first probe counts. Minutes to come were seen by nobody: the clock of such a
    /// probe is far ahead. Clocks differ a little, and a process looks at the beginning of a minute by its own: what is less
    /// than a minute ahead counts.
    Record(
        minutes: Vec<OffsetDateTime> => Array<Timestamptz>,
        components: Vec<&'static str> => Array<Text>,
        sources: Vec<String> => Array<Text>,
        outcomes: Vec<&'static str> => Array<Text>,
        latencies: Vec<Option<i64>> => Array<Nullable<BigInt>>,
    ) -> () = "
    INSERT INTO status_probes (minute, component, source, outcome, latency_ms)
    SELECT * FROM unnest($1, $2, $3, $4, $5) AS seen (minute, component, source, outcome, latency_ms)
    WHERE seen.minute <= now() + interval '1 minute' ON CONFLICT DO NOTHING"
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
        let statement = Record {
            minutes: all.iter().map(|probe| probe.minute).collect(),
            components: all.iter().map(|probe| probe.component.as_str()).collect(),
            sources: all.iter().map(|probe| probe.source.clone()).collect(),
            outcomes: all.iter().map(|probe| probe.outcome.as_str()).collect(),
            latencies: all.iter().map(|probe| probe.latency_ms).collect(),
        };
        self.run::<_, Failure>(async |connection| Ok(statement.execute(connection).await?)).await?;
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
