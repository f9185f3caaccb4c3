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

use crate::{Store, database::error::Failure};

statement!(
    /// The balance, with debits and refunds by day and feature: one row at least, without a day when nothing was used. One
    /// statement sees one snapshot, whatever transaction it runs in.
    Usage(
        account: i64 => BigInt,
        zone: String => Text,
        since: OffsetDateTime => Timestamptz,
    ) -> UsageRow = "
    SELECT b.balance, d.day, coalesce(d.feature, '') AS feature, coalesce(d.consumed, 0)::bigint AS consumed,
        coalesce(d.refunded, 0)::bigint AS refunded, coalesce(d.debits, 0) AS debits, coalesce(d.refunds, 0) AS refunds
    FROM (SELECT coalesce(max(balance), 0) AS balance FROM credit_balances WHERE account_id = $1) AS b
    LEFT JOIN (
        SELECT (created_at AT TIME ZONE $2)::date AS day, feature,
            -sum(amount) FILTER (WHERE kind = 'consume') AS consumed,
            sum(amount) FILTER (WHERE kind = 'refund') AS refunded,
            count(*) FILTER (WHERE kind = 'consume') AS debits, count(*) FILTER (WHERE kind = 'refund') AS refunds
        FROM credit_transactions
        WHERE account_id = $1 AND created_at >= $3 AND kind IN ('consume', 'refund')
        GROUP BY 1, 2
    ) AS d ON true"
);

row!(
    struct UsageRow {
        balance: i64 => BigInt,
        day: Option<Date> => Nullable<SqlDate>,
        feature: String => Text,
        consumed: i64 => BigInt,
        refunded: i64 => BigInt,
        debits: i64 => BigInt,
        refunds: i64 => BigInt,
    }
);

#[async_trait]
impl UsageStore for Store {
    async fn read(&self, account: AccountId, zone: &Zone, first: Date) -> Result<UsageRead, StoreError> {
        let usage = Usage { account: account.0, zone: zone.name().to_owned(), since: zone.start_of(first) };
        let rows: Vec<UsageRow> = self.run::<_, Failure>(async |connection| Ok(usage.load(connection).await?)).await?;
        let balance = rows.as_slice().first().map_or(0, |row| row.balance);
        Ok(UsageRead { balance, days: rows.into_iter().filter_map(day_use).collect() })
    }
}

fn day_use(row: UsageRow) -> Option<DayUse> {
    let UsageRow { balance: _, day, feature, consumed, refunded, debits, refunds } = row;
    Some(DayUse { day: day?, feature, figures: Figures { consumed, refunded, debits, refunds } })
}
