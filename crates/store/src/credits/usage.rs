//! [`UsageStore`] on Postgres.

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Date as SqlDate, Nullable, Text, Timestamptz};
use diesel_async::RunQueryDsl;
use domain::{
    AccountId, StoreError,
    usage::{DayUse, Figures, UsageRead, UsageStore},
    zone::Zone,
};
use time::{Date, OffsetDateTime};

use crate::{Store, error::Failure};

statement!(
    /// The balance, with debits and refunds by day and feature: one row at least, without a day when nothing was used. One
    /// statement sees one snapshot, whatever transaction it runs in.
    Usage(
        of_balance: i64 => BigInt,
        zone: String => Text,
        account: i64 => BigInt,
        since: OffsetDateTime => Timestamptz,
    ) -> (BigInt, Nullable<SqlDate>, Text, BigInt, BigInt, BigInt, BigInt) = "
    SELECT b.balance, d.day, coalesce(d.feature, ''), coalesce(d.consumed, 0)::bigint, coalesce(d.refunded, 0)::bigint,
        coalesce(d.debits, 0), coalesce(d.refunds, 0)
    FROM (SELECT coalesce(max(balance), 0) AS balance FROM credit_balances WHERE account_id = ?) AS b
    LEFT JOIN (
        SELECT (created_at AT TIME ZONE ?)::date AS day, feature,
            -sum(amount) FILTER (WHERE kind = 'consume') AS consumed,
            sum(amount) FILTER (WHERE kind = 'refund') AS refunded,
            count(*) FILTER (WHERE kind = 'consume') AS debits, count(*) FILTER (WHERE kind = 'refund') AS refunds
        FROM credit_transactions
        WHERE account_id = ? AND created_at >= ? AND kind IN ('consume', 'refund')
        GROUP BY 1, 2
    ) AS d ON true"
);

type Row = (i64, Option<Date>, String, i64, i64, i64, i64);

#[async_trait]
impl UsageStore for Store {
    async fn read(&self, account: AccountId, zone: &Zone, first: Date) -> Result<UsageRead, StoreError> {
        let usage = Usage {
            of_balance: account.0,
            zone: zone.name().to_owned(),
            account: account.0,
            since: zone.start_of(first),
        };
        let rows: Vec<Row> = self.run::<_, Failure>(async |connection| Ok(usage.load(connection).await?)).await?;
        let balance = rows.as_slice().first().map_or(0, |row| row.0);
        Ok(UsageRead { balance, days: rows.into_iter().filter_map(day_use).collect() })
    }
}

fn day_use(row: Row) -> Option<DayUse> {
    let (_, day, feature, consumed, refunded, debits, refunds) = row;
    Some(DayUse { day: day?, feature, figures: Figures { consumed, refunded, debits, refunds } })
}
