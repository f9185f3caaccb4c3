//! [`DailyStore`] on Postgres: days that were touched are summed up again, and only those.

mod costs;
mod sql;

use std::collections::BTreeSet;

use async_trait::async_trait;
use diesel::{
    prelude::*,
    result::Error,
    sql_query,
    sql_types::{Array, BigInt, Bool, Date as SqlDate, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    daily::{DailyStore, DayTotals, PartTotals, RollUp},
    profit::{Basis, DayRange},
    zone::Zone,
};
use rust_decimal::Decimal;
use time::{Date, Duration, OffsetDateTime};

use crate::{
    Store,
    error::parse,
    schema::{daily_breakdowns, daily_metrics, roll_ups},
};

/// Tracking events are looked at again for this long: an event is stamped before its transaction is visible.
const EVENT_OVERLAP: Duration = Duration::HOUR;

#[derive(Queryable, Selectable)]
#[diesel(table_name = daily_metrics, check_for_backend(diesel::pg::Pg))]
struct DayRow {
    day: Date,
    gross_revenue: Decimal,
    refunds: Decimal,
    orders: i64,
    units: i64,
    customers: i64,
    new_customers: i64,
    refund_count: i64,
    cogs: Decimal,
    fees: Decimal,
    shipping: Decimal,
    ad_spend: Decimal,
    ad_clicks: i64,
    extra_expenses: Decimal,
    visitors: i64,
    goods_revenue: Decimal,
    cogs_covered_revenue: Decimal,
    fees_estimated_orders: i64,
    shipping_estimated_orders: i64,
}

impl From<DayRow> for DayTotals {
    fn from(row: DayRow) -> Self {
        let DayRow {
            day,
            gross_revenue,
            refunds,
            orders,
            units,
            customers,
            new_customers,
            refund_count,
            cogs,
            fees,
            shipping,
            ad_spend,
            ad_clicks,
            extra_expenses,
            visitors,
            goods_revenue,
            cogs_covered_revenue,
            fees_estimated_orders,
            shipping_estimated_orders,
        } = row;
        Self {
            day,
            gross_revenue,
            refunds,
            orders,
            units,
            customers,
            new_customers,
            refund_count,
            cogs,
            fees,
            shipping,
            basis: Basis { goods_revenue, cogs_covered_revenue, fees_estimated_orders, shipping_estimated_orders },
            ad_spend,
            ad_clicks,
            extra_expenses,
            visitors,
        }
    }
}

#[derive(QueryableByName)]
#[diesel(table_name = daily_breakdowns, check_for_backend(diesel::pg::Pg))]
struct PartRow {
    day: Date,
    dimension: String,
    value: String,
    gross_revenue: Decimal,
    orders: i64,
    units: i64,
    ad_spend: Decimal,
    visitors: i64,
}

impl TryFrom<PartRow> for PartTotals {
    type Error = StoreError;
    fn try_from(row: PartRow) -> Result<Self, StoreError> {
        let PartRow { day, dimension, value, gross_revenue, orders, units, ad_spend, visitors } = row;
        let dimension = parse(&dimension, "dimension")?;
        Ok(Self { day, dimension, value, gross_revenue, orders, units, ad_spend, visitors })
    }
}

#[async_trait]
impl DailyStore for Store {
    async fn roll_up(
        &self,
        account: AccountId,
        zone: &Zone,
        now: OffsetDateTime,
    ) -> Result<Option<RollUp>, StoreError> {
        self.job_transaction(async |connection| {
            if !try_lock(connection, account).await? {
                return Ok(None);
            }
            let mut days = take_touched(connection, account).await?;
            let visited = days_of_new_events(connection, account, zone, now).await?;
            days.extend(days_made_otherwise(connection, account, zone).await?);
            let only_visited = Bounds::of(&visited.difference(&days).copied().collect(), zone);
            only_visited.run(connection, account, sql::VISITORS_BY_COUNTRY).await?;
            let recounted = recount_visitors(connection, account, &only_visited).await?;
            // Nothing is computed from today's visitors before tomorrow, and there is a new one every minute.
            let today = zone.day_of(now);
            let news = days.len() + recounted.iter().filter(|day| **day < today).count();
            let version = raise_version(connection, account, news > 0).await?;
            let rolled = RollUp { days: count(days.len() + recounted.len()), version };
            if days.is_empty() {
                return Ok(Some(rolled));
            }
            let bounds = Bounds::of(&days, zone);
            for statement in [sql::CLEAR_PRODUCT_DAYS, sql::CLEAR_BREAKDOWNS] {
                sql_query(statement)
                    .bind::<BigInt, _>(account.0)
                    .bind::<Array<SqlDate>, _>(&bounds.days)
                    .execute(connection)
                    .await?;
            }
            let were_there = clear_customer_days(connection, account, &bounds).await?;
            for statement in [sql::PRODUCT_DAYS, sql::CUSTOMER_DAYS, sql::BREAKDOWNS, sql::VISITORS_BY_COUNTRY] {
                bounds.run(connection, account, statement).await?;
            }
            costs::write_days(connection, account, &bounds).await?;
            let moved = sum_up_customers(connection, account, &bounds, were_there).await?;
            days.extend(moved.into_iter().map(|instant| zone.day_of(instant)));
            Bounds::of(&days, zone).run(connection, account, sql::NEW_CUSTOMERS).await?;
            sql_query(sql::DROP_EMPTY_DAYS)
                .bind::<BigInt, _>(account.0)
                .bind::<Array<SqlDate>, _>(&bounds.days)
                .execute(connection)
                .await?;
            Ok(Some(rolled))
        })
        .await
    }

    async fn series(&self, account: AccountId, range: DayRange) -> Result<Vec<DayTotals>, StoreError> {
        self.job_transaction(async |connection| days(connection, account, range).await).await
    }

    async fn parts(
        &self,
        account: AccountId,
        range: DayRange,
        looked_at: Vec<Date>,
    ) -> Result<Vec<PartTotals>, StoreError> {
        let rows: Vec<PartRow> = self
            .job_transaction(async |connection| {
                sql_query(sql::PARTS)
                    .bind::<BigInt, _>(account.0)
                    .bind::<SqlDate, _>(range.first)
                    .bind::<SqlDate, _>(range.last)
                    .bind::<Array<SqlDate>, _>(&looked_at)
                    .load(connection)
                    .await
            })
            .await?;
        rows.into_iter().map(PartTotals::try_from).collect()
    }
}

/// The days of the range on which anything happened, oldest first.
pub(crate) async fn days(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    range: DayRange,
) -> Result<Vec<DayTotals>, Error> {
    let rows = daily_metrics::table
        .filter(daily_metrics::account_id.eq(account.0))
        .filter(daily_metrics::day.between(range.first, range.last))
        .order(daily_metrics::day)
        .select(DayRow::as_select())
        .load(connection)
        .await?;
    Ok(rows.into_iter().map(DayTotals::from).collect())
}

fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}

#[derive(QueryableByName)]
struct Acquired {
    #[diesel(sql_type = Bool)]
    acquired: bool,
}

/// Whether the lock of the account's sums was free; it is held until the transaction ends. Waiting for it would hold a
/// connection for as long as the roll-up that has it, which may be minutes.
async fn try_lock(connection: &mut AsyncPgConnection, account: AccountId) -> Result<bool, Error> {
    let row: Acquired = sql_query(sql::TRY_LOCK).bind::<BigInt, _>(account.0).get_result(connection).await?;
    Ok(row.acquired)
}

/// The account's version, one more than before if something changed.
async fn raise_version(connection: &mut AsyncPgConnection, account: AccountId, changed: bool) -> Result<i64, Error> {
    diesel::update(roll_ups::table.find(account.0))
        .set(roll_ups::version.eq(roll_ups::version + i64::from(changed)))
        .returning(roll_ups::version)
        .get_result(connection)
        .await
}

/// Days with the instants that they start at and end before.
struct Bounds {
    days: Vec<Date>,
    starts: Vec<OffsetDateTime>,
    ends: Vec<OffsetDateTime>,
}

impl Bounds {
    fn of(days: &BTreeSet<Date>, zone: &Zone) -> Self {
        Self {
            days: days.iter().copied().collect(),
            starts: days.iter().map(|day| zone.start_of(*day)).collect(),
            ends: days.iter().map(|day| zone.start_of(day.next_day().unwrap_or(Date::MAX))).collect(),
        }
    }

    /// The same days in lists of at most `size`.
    fn chunks(&self, size: usize) -> impl Iterator<Item = Self> {
        let bounds = self.days.chunks(size).zip(self.starts.chunks(size)).zip(self.ends.chunks(size));
        bounds.map(|((days, starts), ends)| Self { days: days.to_vec(), starts: starts.to_vec(), ends: ends.to_vec() })
    }

    /// Runs a statement that reads the account as `$1` and the days as `$2`, `$3` and `$4`.
    async fn run(
        &self,
        connection: &mut AsyncPgConnection,
        account: AccountId,
        statement: &str,
    ) -> Result<usize, Error> {
        sql_query(statement)
            .bind::<BigInt, _>(account.0)
            .bind::<Array<SqlDate>, _>(&self.days)
            .bind::<Array<Timestamptz>, _>(&self.starts)
            .bind::<Array<Timestamptz>, _>(&self.ends)
            .execute(connection)
            .await
    }
}

#[derive(QueryableByName)]
struct DayOnly {
    #[diesel(sql_type = SqlDate)]
    day: Date,
}

#[derive(QueryableByName)]
struct InstantOnly {
    #[diesel(sql_type = Timestamptz)]
    at: OffsetDateTime,
}

async fn take_touched(connection: &mut AsyncPgConnection, account: AccountId) -> Result<BTreeSet<Date>, Error> {
    let rows: Vec<DayOnly> = sql_query(sql::TAKE_TOUCHED).bind::<BigInt, _>(account.0).load(connection).await?;
    Ok(rows.into_iter().map(|row| row.day).collect())
}

/// The days of the tracking events that came in since the last roll-up.
async fn days_of_new_events(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    zone: &Zone,
    now: OffsetDateTime,
) -> Result<BTreeSet<Date>, Error> {
    let until: Option<OffsetDateTime> =
        roll_ups::table.find(account.0).select(roll_ups::events_until).first(connection).await.optional()?;
    let since = until.map_or(OffsetDateTime::UNIX_EPOCH, |until| until - EVENT_OVERLAP);
    let hours: Vec<InstantOnly> = sql_query(sql::HOURS_OF_EVENTS)
        .bind::<BigInt, _>(account.0)
        .bind::<Timestamptz, _>(since)
        .load(connection)
        .await?;
    let events_until = until.map_or(now, |until| until.max(now));
    diesel::insert_into(roll_ups::table)
        .values((roll_ups::account_id.eq(account.0), roll_ups::events_until.eq(events_until)))
        .on_conflict(roll_ups::account_id)
        .do_update()
        .set(roll_ups::events_until.eq(events_until))
        .execute(connection)
        .await?;
    // An hour of UTC may lie on two local days where the offset is not whole hours.
    let last_second = Duration::seconds(3_599);
    Ok(hours.iter().flat_map(|hour| [zone.day_of(hour.at), zone.day_of(hour.at + last_second)]).collect())
}

/// Every day, when what all of them depend on has changed since they were summed up: the account's rates or time zone.
async fn days_made_otherwise(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    zone: &Zone,
) -> Result<BTreeSet<Date>, Error> {
    let rows: Vec<DayOnly> = sql_query(sql::DAYS_MADE_OTHERWISE)
        .bind::<BigInt, _>(account.0)
        .bind::<Text, _>(zone.name())
        .bind::<Text, _>(sql::DEFINITIONS.as_str())
        .load(connection)
        .await?;
    Ok(rows.into_iter().map(|row| row.day).collect())
}

/// Brings the visitors of these days up to date. Returns the days that had more than before.
async fn recount_visitors(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    bounds: &Bounds,
) -> Result<Vec<Date>, Error> {
    let rows: Vec<DayOnly> = sql_query(sql::VISITORS)
        .bind::<BigInt, _>(account.0)
        .bind::<Array<SqlDate>, _>(&bounds.days)
        .bind::<Array<Timestamptz>, _>(&bounds.starts)
        .bind::<Array<Timestamptz>, _>(&bounds.ends)
        .load(connection)
        .await?;
    Ok(rows.into_iter().map(|row| row.day).collect())
}

#[derive(QueryableByName)]
struct CustomerOnly {
    #[diesel(sql_type = BigInt)]
    customer_id: i64,
}

/// Removes what customers did on these days. Returns who they were.
async fn clear_customer_days(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    bounds: &Bounds,
) -> Result<Vec<i64>, Error> {
    let rows: Vec<CustomerOnly> = sql_query(sql::CLEAR_CUSTOMER_DAYS)
        .bind::<BigInt, _>(account.0)
        .bind::<Array<SqlDate>, _>(&bounds.days)
        .load(connection)
        .await?;
    Ok(rows.into_iter().map(|row| row.customer_id).collect())
}

/// Brings the totals of the customers of these days, and of those who were until now, up to date. Returns the instants that
/// first orders moved from and to.
async fn sum_up_customers(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    bounds: &Bounds,
    were_there: Vec<i64>,
) -> Result<Vec<OffsetDateTime>, Error> {
    let rows: Vec<InstantOnly> = sql_query(sql::FIRST_ORDERS_MOVED)
        .bind::<BigInt, _>(account.0)
        .bind::<Array<SqlDate>, _>(&bounds.days)
        .bind::<Array<BigInt>, _>(&were_there)
        .load(connection)
        .await?;
    sql_query(sql::DROP_CUSTOMERS)
        .bind::<BigInt, _>(account.0)
        .bind::<Array<BigInt>, _>(&were_there)
        .execute(connection)
        .await?;
    sql_query(sql::CUSTOMER_TOTALS)
        .bind::<BigInt, _>(account.0)
        .bind::<Array<SqlDate>, _>(&bounds.days)
        .bind::<Array<BigInt>, _>(&were_there)
        .execute(connection)
        .await?;
    Ok(rows.into_iter().map(|row| row.at).collect())
}
