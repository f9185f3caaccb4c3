//! [`InventoryStore`] on Postgres.

use async_trait::async_trait;
use diesel::{dsl::SqlTypeOf, pg::Pg, prelude::*};
use diesel_async::RunQueryDsl;
use domain::{
    AccountId, InventoryItemId, StoreError,
    inventory::{InventoryStore, Item, Listing, Status, Summary},
    jobs::JobName,
    page::{Page, PageRequest},
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{
    Store,
    analytics::freshness::{self, Found, WithFreshness},
    database::{error::parse, statement::Condition},
    schema::inventory_items,
};

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
            id: InventoryItemId(id),
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
        const JOB: JobName = JobName::InventoryVelocity;
        let found = self
            .read(account, async |connection| {
                let query = WithFreshness::with_counts(JOB, COUNTS, items(account, status, page));
                Ok(query.load::<Found<ItemRow>>(connection).await?)
            })
            .await?;
        let (freshness, counts, rows) = freshness::apart(JOB, found);
        let items = rows.into_iter().map(Item::try_from).collect::<Result<_, _>>()?;
        let summary = summary(&counts);
        Ok(Listing { page: Page::cut(items, page.limit, |item: &Item| item.id.0), summary, freshness })
    }
}

session_statement!(
    after [""] =>
    /// All items, and those of each status, the most urgent first.
    COUNTS(account: BigInt) -> (counts: Array<BigInt>) = "
    SELECT ARRAY[count(*), count(*) FILTER (WHERE urgency = 0), count(*) FILTER (WHERE urgency = 1),
        count(*) FILTER (WHERE urgency = 2), count(*) FILTER (WHERE urgency = 3)] AS counts
    FROM inventory_items WHERE account_id = $1"
);

/// What comes after an item, whose id follows, in a list; `$1` is the account.
const AFTER: &str = "(urgency, days_rank, sku, id) > (
    SELECT last.urgency, last.days_rank, last.sku, last.id FROM inventory_items AS last
    WHERE last.account_id = $1 AND last.id = ";

/// The items of a page.
fn items(
    account: AccountId,
    status: Option<Status>,
    page: PageRequest,
) -> inventory_items::BoxedQuery<'static, Pg, SqlTypeOf<<ItemRow as Selectable<Pg>>::SelectExpression>> {
    use inventory_items::{days_rank, id, sku, urgency};
    let mut query = inventory_items::table
        .filter(inventory_items::account_id.eq(account.0))
        .order((urgency, days_rank, sku, id))
        .limit(page.limit + 1)
        .select(<ItemRow as Selectable<Pg>>::construct_selection())
        .into_boxed();
    if let Some(status) = status {
        query = query.filter(inventory_items::status.eq(status.as_str()));
    }
    if let Some(cursor) = page.cursor {
        // The cursor names the last item of the page before; its place in the order is looked up.
        query = query.filter(Condition { before: AFTER, value: cursor });
    }
    query
}

fn summary(counts: &[i64]) -> Summary {
    let count = |at: usize| counts.get(at).copied().unwrap_or_default();
    Summary { total: count(0), critical: count(1), low: count(2), ok: count(3), overstocked: count(4) }
}
