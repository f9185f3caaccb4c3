//! [`UsageStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Date as SqlDate, Text, Timestamptz},
};
use diesel_async::{AsyncConnection, RunQueryDsl, SimpleAsyncConnection};
use domain::{
    AccountId, StoreError,
    usage::{DayUse, Figures, UsageRead, UsageStore},
    zone::Zone,
};
use time::{Date, OffsetDateTime};

use crate::{Store, error::Failure, schema::credit_balances};

statement!(
    /// Debits and refunds by day and feature.
    Days(zone: String => Text, account: i64 => BigInt, since: OffsetDateTime => Timestamptz)
        -> (SqlDate, Text, BigInt, BigInt, BigInt, BigInt) = "
    SELECT (created_at AT TIME ZONE ?)::date AS day, coalesce(feature, ''),
        coalesce(-sum(amount) FILTER (WHERE kind = 'consume'), 0)::bigint,
        coalesce(sum(amount) FILTER (WHERE kind = 'refund'), 0)::bigint,
        count(*) FILTER (WHERE kind = 'consume'), count(*) FILTER (WHERE kind = 'refund')
    FROM credit_transactions
    WHERE account_id = ? AND created_at >= ? AND kind IN ('consume', 'refund')
    GROUP BY 1, 2"
);

type DayRow = (Date, String, i64, i64, i64, i64);

fn day_use(row: DayRow) -> DayUse {
    let (day, feature, consumed, refunded, debits, refunds) = row;
    DayUse { day, feature, figures: Figures { consumed, refunded, debits, refunds } }
}

#[async_trait]
impl UsageStore for Store {
    async fn read(&self, account: AccountId, zone: &Zone, first: Date) -> Result<UsageRead, StoreError> {
        let days = Days { zone: zone.name().to_owned(), account: account.0, since: zone.start_of(first) };
        let (rows, balance): (Vec<DayRow>, i64) = self
            .run::<_, Failure>(async |connection| {
                connection
                    .transaction::<_, Failure, _>(async |connection| {
                        // One snapshot for all of it.
                        connection.batch_execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
                        let rows = days.load(connection).await?;
                        let balance = credit_balances::table
                            .find(account.0)
                            .select(credit_balances::balance)
                            .first(connection)
                            .await?;
                        Ok((rows, balance))
                    })
                    .await
            })
            .await?;
        Ok(UsageRead { balance, days: rows.into_iter().map(day_use).collect() })
    }
}
