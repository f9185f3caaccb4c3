//! [`InventoryWriter`] on Postgres.

use std::collections::HashMap;

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Date as SqlDate, Double, Nullable, Numeric, Text, Timestamptz},
};
use domain::{
    AccountId, StoreError,
    events::{Amount, Day, Event, InventoryLowStock},
    inventory::{Figures, InventoryWriter, VelocityClass},
    jobs::{Claim, WriteOutcome},
    reorder::Status,
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{
    Store,
    analytics::places,
    database::query::RunQueryDsl,
    schema::{inventory_items, reorder_suggestions},
    webhooks::outbox::emit,
};

statement!(
    /// An item that was gone while the stock was not known gets the id back that decisions on its product know it by.
    Upsert(
        account: i64 => BigInt,
        product_ids: Vec<i64> => Array<BigInt>,
        skus: Vec<String> => Array<Text>,
        names: Vec<String> => Array<Text>,
        stocks: Vec<i64> => Array<BigInt>,
        units_30d: Vec<i64> => Array<BigInt>,
        units_7d: Vec<i64> => Array<BigInt>,
        averages_30d: Vec<Decimal> => Array<Numeric>,
        averages_7d: Vec<Decimal> => Array<Numeric>,
        days_of_stock: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        days_low: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        days_high: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        velocities: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        classes: Vec<Option<&'static str>> => Array<Nullable<Text>>,
        trends: Vec<&'static str> => Array<Text>,
        statuses: Vec<&'static str> => Array<Text>,
        stockouts: Vec<Option<Date>> => Array<Nullable<SqlDate>>,
        contributions: Vec<Option<f64>> => Array<Nullable<Double>>,
        missed_units: Vec<f64> => Array<Double>,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    INSERT INTO inventory_items (account_id, id, product_id, sku, product_name, current_stock, units_sold_30d,
        units_sold_7d, avg_daily_units_30d, avg_daily_units_7d, days_of_stock, days_of_stock_low, days_of_stock_high, velocity,
        velocity_class, trend, status, estimated_stockout_at, unit_contribution, missed_units, computed_at)
    OVERRIDING SYSTEM VALUE
    SELECT $1, coalesce(decided.item_id, nextval('inventory_items_id_seq')), v.*, $20
    FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) AS v (product_id, sku)
    LEFT JOIN (SELECT sku, max(inventory_item_id) AS item_id FROM reorder_suggestions WHERE account_id = $1 GROUP BY sku)
        decided ON decided.sku = v.sku
    ORDER BY v.product_id
    ON CONFLICT (account_id, product_id) DO UPDATE SET
        sku = excluded.sku, product_name = excluded.product_name, current_stock = excluded.current_stock,
        units_sold_30d = excluded.units_sold_30d, units_sold_7d = excluded.units_sold_7d,
        avg_daily_units_30d = excluded.avg_daily_units_30d, avg_daily_units_7d = excluded.avg_daily_units_7d,
        days_of_stock = excluded.days_of_stock, days_of_stock_low = excluded.days_of_stock_low,
        days_of_stock_high = excluded.days_of_stock_high, velocity = excluded.velocity,
        velocity_class = excluded.velocity_class, trend = excluded.trend, status = excluded.status,
        estimated_stockout_at = excluded.estimated_stockout_at, unit_contribution = excluded.unit_contribution,
        missed_units = excluded.missed_units, computed_at = excluded.computed_at"
);

#[async_trait]
impl InventoryWriter for Store {
    async fn replace(
        &self,
        claim: &Claim,
        items: Vec<Figures>,
        now: OffsetDateTime,
    ) -> Result<WriteOutcome, StoreError> {
        let account = claim.account;
        self.finish(claim, now, async |connection| {
            let before: HashMap<i64, String> = inventory_items::table
                .filter(inventory_items::account_id.eq(account.0))
                .select((inventory_items::product_id, inventory_items::status))
                .load(connection)
                .await?
                .into_iter()
                .collect();
            let events: Vec<Event> = items.iter().filter(|item| runs_out(item, &before)).map(event).collect();
            let mut gone = before;
            items.iter().for_each(|item| drop(gone.remove(&item.product_id.0)));
            let upsert = Upsert::new(account, items, now);
            let removed: Vec<i64> = inventory_items::table
                .filter(inventory_items::account_id.eq(account.0))
                .filter(inventory_items::product_id.eq_any(gone.into_keys().collect::<Vec<_>>()))
                .select(inventory_items::id)
                .load(connection)
                .await?;
            places::remove_items(connection, account.0, &removed).await?;
            // What was decided stays; what was not goes with its item.
            let undecided = reorder_suggestions::table
                .filter(reorder_suggestions::account_id.eq(account.0))
                .filter(reorder_suggestions::status.eq(Status::Pending.as_str()))
                .filter(reorder_suggestions::inventory_item_id.eq_any(&removed));
            diesel::delete(undecided).execute(connection).await?;
            let written = upsert.execute(connection).await?;
            // Last: others notify nobody of their events until this transaction has ended.
            emit(connection, account, &events, now).await?;
            Ok(u64::try_from(removed.len() + written).unwrap_or(u64::MAX))
        })
        .await
    }
}

fn runs_out(item: &Figures, before: &HashMap<i64, String>) -> bool {
    item.status.is_told_after(before.get(&item.product_id.0).and_then(|status| status.parse().ok()))
}

fn event(item: &Figures) -> Event {
    InventoryLowStock {
        sku: item.sku.clone(),
        product_name: item.product_name.clone(),
        current_stock: item.current_stock,
        days_of_stock: item.days_of_stock.map(Amount),
        status: item.status,
        estimated_stockout_at: item.estimated_stockout_at.map(Day),
    }
    .into()
}

impl Upsert {
    /// The rows column by column.
    fn new(account: AccountId, items: Vec<Figures>, now: OffsetDateTime) -> Self {
        let mut columns = Self {
            account: account.0,
            product_ids: Vec::new(),
            skus: Vec::new(),
            names: Vec::new(),
            stocks: Vec::new(),
            units_30d: Vec::new(),
            units_7d: Vec::new(),
            averages_30d: Vec::new(),
            averages_7d: Vec::new(),
            days_of_stock: Vec::new(),
            days_low: Vec::new(),
            days_high: Vec::new(),
            velocities: Vec::new(),
            classes: Vec::new(),
            trends: Vec::new(),
            statuses: Vec::new(),
            stockouts: Vec::new(),
            contributions: Vec::new(),
            missed_units: Vec::new(),
            now,
        };
        for item in items {
            let Figures {
                product_id,
                sku,
                product_name,
                current_stock,
                units_sold_30d,
                units_sold_7d,
                avg_daily_units_30d,
                avg_daily_units_7d,
                days_of_stock,
                days_of_stock_range,
                velocity,
                velocity_class,
                trend,
                status,
                estimated_stockout_at,
                unit_contribution,
                missed_units,
            } = item;
            columns.product_ids.push(product_id.0);
            columns.skus.push(sku);
            columns.names.push(product_name);
            columns.stocks.push(current_stock);
            columns.units_30d.push(units_sold_30d);
            columns.units_7d.push(units_sold_7d);
            columns.averages_30d.push(avg_daily_units_30d);
            columns.averages_7d.push(avg_daily_units_7d);
            columns.days_of_stock.push(days_of_stock);
            columns.days_low.push(days_of_stock_range.map(|(low, _)| low));
            columns.days_high.push(days_of_stock_range.map(|(_, high)| high));
            columns.velocities.push(velocity);
            columns.classes.push(velocity_class.map(VelocityClass::as_str));
            columns.trends.push(trend.as_str());
            columns.statuses.push(status.as_str());
            columns.stockouts.push(estimated_stockout_at);
            columns.contributions.push(unit_contribution);
            columns.missed_units.push(missed_units);
        }
        columns
    }
}
