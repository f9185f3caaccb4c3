//! [`InventoryStore`] on Postgres.

use async_trait::async_trait;
use diesel::{dsl::count_star, prelude::*};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    inventory::{InventoryStore, Item, Listing, Status, Summary},
    jobs::JobName,
    page::{Page, PageRequest},
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{Store, error::parse, freshness, schema::inventory_items};

#[derive(Queryable, Selectable)]
#[diesel(table_name = inventory_items, check_for_backend(diesel::pg::Pg))]
struct ItemRow {
    id: i64,
    sku: String,
    product_name: String,
    current_stock: i64,
    units_sold_30d: i64,
    units_sold_7d: i64,
    avg_daily_units_30d: Decimal,
    avg_daily_units_7d: Decimal,
    days_of_stock: Option<Decimal>,
    days_of_stock_low: Option<Decimal>,
    days_of_stock_high: Option<Decimal>,
    velocity: Option<Decimal>,
    velocity_class: Option<String>,
    trend: String,
    status: String,
    estimated_stockout_at: Option<Date>,
    computed_at: OffsetDateTime,
}

impl TryFrom<ItemRow> for Item {
    type Error = StoreError;
    fn try_from(row: ItemRow) -> Result<Self, StoreError> {
        let ItemRow {
            id,
            sku,
            product_name,
            current_stock,
            units_sold_30d,
            units_sold_7d,
            avg_daily_units_30d,
            avg_daily_units_7d,
            days_of_stock,
            days_of_stock_low,
            days_of_stock_high,
            velocity,
            velocity_class,
            trend,
            status,
            estimated_stockout_at,
            computed_at,
        } = row;
        Ok(Self {
            id,
            sku,
            product_name,
            current_stock,
            units_sold_30d,
            units_sold_7d,
            avg_daily_units_30d,
            avg_daily_units_7d,
            days_of_stock,
            days_of_stock_range: days_of_stock_low.zip(days_of_stock_high),
            velocity,
            velocity_class: velocity_class.map(|class| parse(&class, "velocity class")).transpose()?,
            trend: parse(&trend, "trend")?,
            status: parse(&status, "inventory status")?,
            estimated_stockout_at,
            computed_at,
        })
    }
}

#[async_trait]
impl InventoryStore for Store {
    async fn list(&self, account: AccountId, status: Option<Status>, page: PageRequest) -> Result<Listing, StoreError> {
        let (rows, counts, freshness) = self
            // One snapshot, so that page, summary and freshness belong together while the job replaces them.
            .read_snapshot(account, async |connection| {
                let rows = rows(connection, account, status, page).await?;
                let counts = inventory_items::table
                    .filter(inventory_items::account_id.eq(account.0))
                    .group_by(inventory_items::status)
                    .select((inventory_items::status, count_star()))
                    .load::<(String, i64)>(connection)
                    .await?;
                let freshness = freshness::of(connection, account, JobName::InventoryVelocity).await?;
                Ok((rows, counts, freshness))
            })
            .await?;
        let items = rows.into_iter().map(Item::try_from).collect::<Result<_, _>>()?;
        Ok(Listing { page: Page::cut(items, page.limit, |item: &Item| item.id), summary: summary(&counts)?, freshness })
    }
}

async fn rows(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    status: Option<Status>,
    page: PageRequest,
) -> QueryResult<Vec<ItemRow>> {
    use inventory_items::{days_rank, id, sku, urgency};
    let mut query = inventory_items::table
        .filter(inventory_items::account_id.eq(account.0))
        .order((urgency, days_rank, sku, id))
        .limit(page.limit + 1)
        .select(ItemRow::as_select())
        .into_boxed();
    if let Some(status) = status {
        query = query.filter(inventory_items::status.eq(status.as_str()));
    }
    if let Some(cursor) = page.cursor {
        // The cursor names the last item of the page before; its place in the order is looked up.
        let last: Option<(i16, Decimal, String)> = inventory_items::table
            .find((account.0, cursor))
            .select((urgency, days_rank, sku))
            .first(connection)
            .await
            .optional()?;
        let Some((last_urgency, last_days, last_sku)) = last else { return Ok(Vec::new()) };
        query = query.filter(
            urgency.gt(last_urgency).or(urgency.eq(last_urgency).and(
                days_rank
                    .gt(last_days)
                    .or(days_rank.eq(last_days).and(sku.gt(last_sku.clone()).or(sku.eq(last_sku).and(id.gt(cursor))))),
            )),
        );
    }
    query.load(connection).await
}

fn summary(counts: &[(String, i64)]) -> Result<Summary, StoreError> {
    let mut summary = Summary::default();
    for (status, count) in counts {
        summary.total += count;
        match parse(status, "inventory status")? {
            Status::Critical => summary.critical = *count,
            Status::Low => summary.low = *count,
            Status::Ok => summary.ok = *count,
            Status::Overstocked => summary.overstocked = *count,
        }
    }
    Ok(summary)
}
