//! [`VisitStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Timestamptz},
};
use domain::{
    AccountId, PersonId, StoreError,
    visits::{News, Visit, VisitStore},
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl},
    schema::visits,
};

statement!(
    Since(account: i64 => BigInt, since: OffsetDateTime => Timestamptz) -> NewsRow = "
    SELECT
        (SELECT count(*) FROM anomalies
            WHERE account_id = $1 AND kind = 'univariate' AND recorded_at > $2) AS anomalies,
        (SELECT count(*) FROM insights
            WHERE account_id = $1 AND status = 'open' AND is_told AND coalesce(told_at, recorded_at) > $2) AS insights,
        (SELECT count(*) FROM alert_rules WHERE account_id = $1 AND last_fired_at > $2) AS alerts,
        (SELECT count(*) FROM integrations
            WHERE account_id = $1 AND broken_at > $2 AND revoked_at IS NULL) AS broken"
);

row!(
    struct NewsRow {
        anomalies: i64 => BigInt,
        insights: i64 => BigInt,
        alerts: i64 => BigInt,
        broken: i64 => BigInt,
    }
);

#[async_trait]
impl VisitStore for Store {
    async fn visit(&self, account: AccountId, person: PersonId, now: OffsetDateTime) -> Result<Visit, StoreError> {
        let visit = self
            .run::<_, Failure>(async |connection| {
                let of = visits::table.find((account.0, person.0)).select((visits::seen_at, visits::before_at));
                let known: Option<(OffsetDateTime, Option<OffsetDateTime>)> = of.first(connection).await.optional()?;
                let known = known.map(|(seen_at, before_at)| Visit { seen_at, before_at });
                let visit = Visit::at(known, now);
                if known != Some(visit) {
                    // Of two requests at once both write the same.
                    let values = (visits::seen_at.eq(visit.seen_at), visits::before_at.eq(visit.before_at));
                    diesel::insert_into(visits::table)
                        .values((visits::account_id.eq(account.0), visits::person_id.eq(person.0), values))
                        .on_conflict((visits::account_id, visits::person_id))
                        .do_update()
                        .set(values)
                        .execute(connection)
                        .await?;
                }
                Ok(visit)
            })
            .await?;
        Ok(visit)
    }

    async fn news(&self, account: AccountId, since: OffsetDateTime) -> Result<News, StoreError> {
        let since = Since { account: account.0, since };
        let row: NewsRow = self.run::<_, Failure>(async |connection| Ok(since.get_result(connection).await?)).await?;
        let NewsRow { anomalies, insights, alerts, broken } = row;
        Ok(News { anomalies, insights, alerts, broken })
    }
}
