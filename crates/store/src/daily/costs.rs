//! The rows of days: the facts that the database adds up, and what `domain` makes of them.

use std::collections::BTreeMap;

use diesel::{
    QueryableByName,
    prelude::*,
    result::Error,
    sql_query,
    sql_types::{Array, BigInt, Date as SqlDate, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId,
    metrics::cost::{self, Costs, Goods, PlatformOrders},
    profit::{Assumptions, Basis},
};
use rust_decimal::Decimal;
use time::Date;

use super::{Bounds, sql};
use crate::schema::accounts;

/// Days whose facts are held at a time.
const AT_ONCE: usize = 366;

/// Writes everything that the rows of these days take from the days alone.
pub(super) async fn write_days(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    bounds: &Bounds,
) -> Result<(), Error> {
    let assumed = assumptions(connection, account).await?;
    for bounds in bounds.chunks(AT_ONCE) {
        let facts = read(connection, account, &bounds).await?;
        let mut columns = Columns::default();
        for day in &bounds.days {
            columns.push(facts.get(day).unwrap_or(&Facts::default()), &assumed);
        }
        columns.write(connection, account, &bounds).await?;
    }
    Ok(())
}

async fn assumptions(connection: &mut AsyncPgConnection, account: AccountId) -> Result<Assumptions, Error> {
    let (fee_rate, fee_fixed, shipping_per_order, cogs_ratio) = accounts::table
        .find(account.0)
        .select((accounts::fee_rate, accounts::fee_fixed, accounts::shipping_per_order, accounts::cogs_ratio))
        .first(connection)
        .await?;
    Ok(Assumptions { fee_rate, fee_fixed, shipping_per_order, cogs_ratio })
}

/// What is known of the sales of a day.
#[derive(Default)]
struct Facts {
    gross_revenue: Decimal,
    orders: i64,
    units: i64,
    by_platform: Vec<PlatformOrders>,
    by_category: Vec<Goods>,
}

#[derive(QueryableByName)]
struct PlatformRow {
    #[diesel(sql_type = SqlDate)]
    day: Date,
    #[diesel(sql_type = Numeric)]
    gross_revenue: Decimal,
    #[diesel(sql_type = BigInt)]
    orders: i64,
    #[diesel(sql_type = BigInt)]
    units: i64,
    #[diesel(sql_type = Numeric)]
    stated_fees: Decimal,
    #[diesel(sql_type = Numeric)]
    stated_fees_revenue: Decimal,
    #[diesel(sql_type = Numeric)]
    unstated_fees_revenue: Decimal,
    #[diesel(sql_type = BigInt)]
    unstated_fees_orders: i64,
    #[diesel(sql_type = Numeric)]
    stated_shipping: Decimal,
    #[diesel(sql_type = BigInt)]
    unstated_shipping_orders: i64,
}

#[derive(QueryableByName)]
struct GoodsRow {
    #[diesel(sql_type = SqlDate)]
    day: Date,
    #[diesel(sql_type = Nullable<Text>)]
    category: Option<String>,
    #[diesel(sql_type = Numeric)]
    revenue: Decimal,
    #[diesel(sql_type = Nullable<Numeric>)]
    cost_of_the_day: Option<Decimal>,
    #[diesel(sql_type = Nullable<Numeric>)]
    later_cost: Option<Decimal>,
    #[diesel(sql_type = Nullable<Numeric>)]
    catalogue_cost: Option<Decimal>,
}

async fn read(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    bounds: &Bounds,
) -> Result<BTreeMap<Date, Facts>, Error> {
    let orders: Vec<PlatformRow> = sql_query(sql::ORDERS_BY_PLATFORM)
        .bind::<BigInt, _>(account.0)
        .bind::<Array<SqlDate>, _>(&bounds.days)
        .bind::<Array<Timestamptz>, _>(&bounds.starts)
        .bind::<Array<Timestamptz>, _>(&bounds.ends)
        .load(connection)
        .await?;
    let goods: Vec<GoodsRow> = sql_query(sql::GOODS_BY_CATEGORY)
        .bind::<BigInt, _>(account.0)
        .bind::<Array<SqlDate>, _>(&bounds.days)
        .load(connection)
        .await?;
    let mut facts: BTreeMap<Date, Facts> = BTreeMap::new();
    for row in orders {
        let PlatformRow {
            day,
            gross_revenue,
            orders,
            units,
            stated_fees,
            stated_fees_revenue,
            unstated_fees_revenue,
            unstated_fees_orders,
            stated_shipping,
            unstated_shipping_orders,
        } = row;
        let of_day = facts.entry(day).or_default();
        of_day.gross_revenue += gross_revenue;
        of_day.orders += orders;
        of_day.units += units;
        of_day.by_platform.push(PlatformOrders {
            stated_fees,
            stated_fees_revenue,
            unstated_fees_revenue,
            unstated_fees_orders,
            stated_shipping,
            unstated_shipping_orders,
        });
    }
    for row in goods {
        let GoodsRow { day, category, revenue, cost_of_the_day, later_cost, catalogue_cost } = row;
        let goods = Goods { category, revenue, cost_of_the_day, later_cost, catalogue_cost };
        facts.entry(day).or_default().by_category.push(goods);
    }
    Ok(facts)
}

/// What is computed of the days, as arrays, one per column.
#[derive(Default)]
struct Columns {
    gross_revenue: Vec<Decimal>,
    orders: Vec<i64>,
    units: Vec<i64>,
    cogs: Vec<Decimal>,
    goods_revenue: Vec<Decimal>,
    cogs_covered_revenue: Vec<Decimal>,
    fees: Vec<Decimal>,
    fees_estimated_orders: Vec<i64>,
    shipping: Vec<Decimal>,
    shipping_estimated_orders: Vec<i64>,
}

impl Columns {
    fn push(&mut self, facts: &Facts, assumed: &Assumptions) {
        let Facts { gross_revenue, orders, units, by_platform, by_category } = facts;
        let Costs { cogs, fees, shipping, basis } = cost::of_day(by_platform, by_category, assumed);
        let Basis { goods_revenue, cogs_covered_revenue, fees_estimated_orders, shipping_estimated_orders } = basis;
        self.gross_revenue.push(*gross_revenue);
        self.orders.push(*orders);
        self.units.push(*units);
        self.cogs.push(cogs);
        self.goods_revenue.push(goods_revenue);
        self.cogs_covered_revenue.push(cogs_covered_revenue);
        self.fees.push(fees);
        self.fees_estimated_orders.push(fees_estimated_orders);
        self.shipping.push(shipping);
        self.shipping_estimated_orders.push(shipping_estimated_orders);
    }

    async fn write(
        &self,
        connection: &mut AsyncPgConnection,
        account: AccountId,
        bounds: &Bounds,
    ) -> Result<(), Error> {
        sql_query(sql::DAILY_METRICS)
            .bind::<BigInt, _>(account.0)
            .bind::<Array<SqlDate>, _>(&bounds.days)
            .bind::<Array<Timestamptz>, _>(&bounds.starts)
            .bind::<Array<Timestamptz>, _>(&bounds.ends)
            .bind::<Array<Numeric>, _>(&self.gross_revenue)
            .bind::<Array<BigInt>, _>(&self.orders)
            .bind::<Array<BigInt>, _>(&self.units)
            .bind::<Array<Numeric>, _>(&self.cogs)
            .bind::<Array<Numeric>, _>(&self.goods_revenue)
            .bind::<Array<Numeric>, _>(&self.cogs_covered_revenue)
            .bind::<Array<Numeric>, _>(&self.fees)
            .bind::<Array<BigInt>, _>(&self.fees_estimated_orders)
            .bind::<Array<Numeric>, _>(&self.shipping)
            .bind::<Array<BigInt>, _>(&self.shipping_estimated_orders)
            .execute(connection)
            .await?;
        Ok(())
    }
}
