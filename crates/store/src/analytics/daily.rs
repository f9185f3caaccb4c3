//! [`DailyStore`] on Postgres: dirty days are summed up again, and only those.

/// Declares a statement about days: its parameters are the account and the days with the instants that they start at and end
/// before, computed outside so that every day is cut in one place.
macro_rules! day_statement {
    ($(#[$meta:meta])* $vis:vis $name:ident -> $row:ty = $text:expr) => {
        statement!(
            $(#[$meta])*
            $vis $name<'a>(
                account: i64 => BigInt,
                days: &'a [Date] => Array<SqlDate>,
                starts: &'a [OffsetDateTime] => Array<Timestamptz>,
                ends: &'a [OffsetDateTime] => Array<Timestamptz>,
            ) -> $row = $text
        );

        impl<'a> $name<'a> {
            $vis fn of(account: domain::AccountId, bounds: &'a Bounds) -> Self {
                let Bounds { days, starts, ends } = bounds;
                Self { account: account.0, days, starts, ends }
            }
        }
    };
}

mod costs;
mod customers;
mod definitions;
mod dirty;
mod sums;

use std::collections::BTreeSet;

use async_trait::async_trait;
use diesel::{
    prelude::*,
    result::Error,
    sql_types::{Array, BigInt, Bool, Date as SqlDate, Numeric, Text},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    daily::{DailyStore, DayTotals, PartTotals, RollUp},
    profit::{Basis, DayRange},
    zone::Zone,
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{
    Store,
    database::{error::parse, query::RunQueryDsl, statement::Scalar},
    schema::{daily_metrics, roll_ups},
};
use customers::NewCustomers;
use sums::{Visitors, VisitorsByCountry};

/// Days that one transaction sums up. A quarter of a year of the largest accounts takes a statement seconds; all their years
/// at once would take it longer than it has.
const DAYS_AT_ONCE: usize = 92;

statement!(
    /// Takes the lock of the account's sums, until the end of the transaction, if it is free. Waiting for it would hold a
    /// connection for as long as the step of a roll-up that has it, which may be minutes.
    TryLock(account: i64 => BigInt) -> Scalar<Bool> = "SELECT pg_try_advisory_xact_lock(726300, hashint8($1))"
);

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
    returned_units: i64,
    returned_cogs: Decimal,
    returned_fees: Decimal,
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
            returned_units,
            returned_cogs,
            returned_fees,
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
            basis: Basis {
                goods_revenue,
                cogs_covered_revenue,
                fees_estimated_orders,
                shipping_estimated_orders,
                returned_units,
                returned_cogs,
                returned_fees,
            },
            ad_spend,
            ad_clicks,
            extra_expenses,
            visitors,
        }
    }
}

statement!(
    /// Breakdowns and, as one more of them, the products that sold best in a range, or of which most was sold or refunded on one
    /// of some days.
    Parts<'a>(
        account: i64 => BigInt,
        first: Date => SqlDate,
        last: Date => SqlDate,
        looked_at: &'a [Date] => Array<SqlDate>,
    ) -> PartRow = "
    WITH best AS (
        (SELECT product_id FROM product_days WHERE account_id = $1 AND day BETWEEN $2 AND $3
            GROUP BY product_id ORDER BY sum(revenue) DESC, product_id LIMIT 24)
        UNION
        SELECT of_day.product_id FROM unnest($4) AS looked_at(day) CROSS JOIN LATERAL (
            SELECT product_id FROM product_days WHERE account_id = $1 AND day = looked_at.day
            ORDER BY revenue DESC, product_id LIMIT 3) of_day
        UNION
        SELECT of_day.product_id FROM unnest($4) AS looked_at(day) CROSS JOIN LATERAL (
            SELECT product_id FROM product_days WHERE account_id = $1 AND day = looked_at.day AND refunded > 0
            ORDER BY refunded DESC, product_id LIMIT 3) of_day
    )
    SELECT day, dimension, value, gross_revenue, 0 AS refunds, orders, units, ad_spend, visitors
    FROM daily_breakdowns WHERE account_id = $1 AND day BETWEEN $2 AND $3
    UNION ALL
    SELECT sold.day, 'product', product.sku, sold.revenue, sold.refunded, 0::bigint, sold.units, 0, 0::bigint
    FROM best JOIN product_days sold ON sold.account_id = $1 AND sold.product_id = best.product_id
    JOIN products product ON product.account_id = $1 AND product.id = best.product_id
    WHERE sold.day BETWEEN $2 AND $3
    ORDER BY day, dimension, value"
);

row!(
    struct PartRow {
        day: Date => SqlDate,
        dimension: String => Text,
        value: String => Text,
        gross_revenue: Decimal => Numeric,
        refunds: Decimal => Numeric,
        orders: i64 => BigInt,
        units: i64 => BigInt,
        ad_spend: Decimal => Numeric,
        visitors: i64 => BigInt,
    }
);

impl TryFrom<PartRow> for PartTotals {
    type Error = StoreError;
    fn try_from(row: PartRow) -> Result<Self, StoreError> {
        let PartRow { day, dimension, value, gross_revenue, refunds, orders, units, ad_spend, visitors } = row;
        let dimension = parse(&dimension, "dimension")?;
        Ok(Self { day, dimension, value, gross_revenue, refunds, orders, units, ad_spend, visitors })
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
        let mut rolled = RollUp::default();
        let mut looks_at_events = true;
        loop {
            let step = self
                .job_transaction(async |connection| {
                    step(connection, account, zone, now, looks_at_events, DAYS_AT_ONCE).await
                })
                .await?;
            // Between two steps another process may have taken the account over, and goes on where this one was.
            let Some(step) = step else { return Ok(None) };
            rolled = RollUp { days: rolled.days + step.days, version: step.version };
            if step.is_last {
                return Ok(Some(rolled));
            }
            looks_at_events = false;
        }
    }

    async fn roll_up_step(
        &self,
        account: AccountId,
        zone: &Zone,
        now: OffsetDateTime,
        days: usize,
        is_first: bool,
    ) -> Result<Option<bool>, StoreError> {
        let step =
            self.job_transaction(async |connection| step(connection, account, zone, now, is_first, days).await).await?;
        Ok(step.map(|step| step.is_last))
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
                Parts { account: account.0, first: range.first, last: range.last, looked_at: &looked_at }
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

/// The account's version, one more than before if something changed.
async fn raise_version(connection: &mut AsyncPgConnection, account: AccountId, changed: bool) -> Result<i64, Error> {
    diesel::update(roll_ups::table.find(account.0))
        .set(roll_ups::version.eq(roll_ups::version + i64::from(changed)))
        .returning(roll_ups::version)
        .get_result(connection)
        .await
}

/// What a step of a roll-up has done.
struct Step {
    days: u64,
    version: i64,
    /// Whether nothing is left but days that an import is writing to.
    is_last: bool,
}

/// Sums up some of the days that are due, the newest first. `None` while the account is rolled up elsewhere.
///
/// A history of years takes many steps, each a transaction of its own: so no statement comes near its time limit, and what is
/// done stays when a later step fails or the process is killed. Who reads between two steps finds days of before beside new
/// ones, but no day that is half done; the totals of customers are always the sums of their days as they stand.
async fn step(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    zone: &Zone,
    now: OffsetDateTime,
    looks_at_events: bool,
    days_at_once: usize,
) -> Result<Option<Step>, Error> {
    if !(TryLock { account: account.0 }).get_result::<bool>(connection).await? {
        return Ok(None);
    }
    let mut days = dirty::take_dirty(connection, account, days_at_once).await?;
    let has_all_dirty = days.len() < days_at_once;
    let visited = match looks_at_events {
        true => dirty::of_new_events(connection, account, zone, now).await?,
        false => BTreeSet::new(),
    };
    // At least one, however many are dirty: so days are not found stale that were summed up for the first time meanwhile.
    let at_most = days_at_once.saturating_sub(days.len()).max(1);
    let stale = dirty::take_stale(connection, account, zone, at_most).await?;
    days.extend(stale.days.iter().copied());
    let only_visited = Bounds::of(&visited.difference(&days).copied().collect(), zone);
    // Those that had more than before.
    let mut recounted: Vec<Date> = Vec::new();
    for bounds in only_visited.chunks(DAYS_AT_ONCE) {
        VisitorsByCountry::of(account, &bounds).execute(connection).await?;
        let more: Vec<Date> = Visitors::of(account, &bounds).load(connection).await?;
        recounted.extend(more);
    }
    // Nothing is computed from today's visitors before tomorrow, and there is a new one every minute.
    let today = zone.day_of(now);
    let news = days.len() + recounted.iter().filter(|day| **day < today).count();
    let version = raise_version(connection, account, news > 0).await?;
    if !days.is_empty() {
        sum_up(connection, account, zone, &days).await?;
    }
    sums::drop_empty(connection, account, &stale.droppable(&days)).await?;
    let is_last = has_all_dirty && stale.from.is_none();
    Ok(Some(Step { days: count(days.len() + recounted.len()), version, is_last }))
}

/// Writes everything that is kept of these days again.
async fn sum_up(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    zone: &Zone,
    days: &BTreeSet<Date>,
) -> Result<(), Error> {
    let bounds = Bounds::of(days, zone);
    sums::rewrite(connection, account, &bounds).await?;
    let before = customers::rewrite(connection, account, &bounds).await?;
    costs::write_days(connection, account, &bounds).await?;
    // From all days of the customers, those of other steps included: the last step that has one of them leaves the right totals.
    let moved = customers::sum_up(connection, account, &bounds, &before).await?;
    let mut of_customers = days.clone();
    of_customers.extend(moved.into_iter().map(|instant| zone.day_of(instant)));
    NewCustomers::of(account, &Bounds::of(&of_customers, zone)).execute(connection).await?;
    Ok(())
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
}
