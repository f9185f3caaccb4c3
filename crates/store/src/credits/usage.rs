//! [`UsageStore`] on Postgres.

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Date as SqlDate, Nullable, Text, Timestamptz};
use domain::{
    AccountId, StoreError,
    usage::{DayUse, Figures, UsageRead, UsageStore, first_day, lately},
    zone::Zone,
};
use time::{Date, OffsetDateTime};

use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl},
};

statement!(
    /// The balance, with debits and refunds by day and feature: one row at least, without a day when nothing was used. One
    /// statement sees one snapshot, whatever transaction it runs in.
    Usage(
        account: i64 => BigInt,
        zone: String => Text,
        since: OffsetDateTime => Timestamptz,
        lately: OffsetDateTime => Timestamptz,
    ) -> UsageRow = "
    SELECT b.balance, l.used_lately, d.day, coalesce(d.feature, '') AS feature, coalesce(d.consumed, 0)::bigint AS consumed,
        coalesce(d.refunded, 0)::bigint AS refunded, coalesce(d.debits, 0) AS debits, coalesce(d.refunds, 0) AS refunds
    FROM (SELECT coalesce(max(balance), 0) AS balance FROM credit_balances WHERE account_id = $1) AS b
    CROSS JOIN (
        SELECT coalesce(-sum(amount), 0)::bigint AS used_lately FROM credit_transactions
        WHERE account_id = $1 AND created_at > $4 AND kind IN ('consume', 'refund')
    ) AS l
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
        used_lately: i64 => BigInt,
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
    async fn read(&self, account: AccountId, zone: &Zone, now: OffsetDateTime) -> Result<UsageRead, StoreError> {
        let since = zone.start_of(first_day(zone.day_of(now)));
        let usage = Usage { account: account.0, zone: zone.name().to_owned(), since, lately: lately(now) };
        let rows: Vec<UsageRow> = self.run::<_, Failure>(async |connection| Ok(usage.load(connection).await?)).await?;
        let (balance, used_lately) = rows.as_slice().first().map_or((0, 0), |row| (row.balance, row.used_lately));
        Ok(UsageRead { balance, used_lately, days: rows.into_iter().filter_map(day_use).collect() })
    }
}

fn day_use(row: UsageRow) -> Option<DayUse> {
    let UsageRow { balance: _, used_lately: _, day, feature, consumed, refunded, debits, refunds } = row;
    Some(DayUse { day: day?, feature, figures: Figures { consumed, refunded, debits, refunds } })
}
