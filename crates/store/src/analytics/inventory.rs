//! [`InventoryStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    dsl::SqlTypeOf,
    pg::Pg,
    prelude::*,
    sql_types::{BigInt, Date as SqlDate, Nullable, Text},
};
use domain::{
    AccountId, InventoryItemId, StoreError,
    freshness::Dated,
    inventory::{InventoryStore, Item, ItemDay, Listing, Placed, Status, Summary},
    jobs::JobName,
    page::{Page, PageRequest},
    profit::DayRange,
    search::{MOST_FOUND, Prefix},
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{
    Store,
    analytics::freshness::{self, Found, WithFreshness},
    database::{
        error::parse,
        query::RunQueryDsl,
        statement::{Condition, Scalar},
    },
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

const JOB: JobName = JobName::InventoryVelocity;

#[async_trait]
impl InventoryStore for Store {
    async fn list(&self, account: AccountId, status: Option<Status>, page: PageRequest) -> Result<Listing, StoreError> {
        let found = self
            .read(account, async |connection| {
                let query = WithFreshness::with_counts(JOB, COUNTS, items(account, status, page));
                Ok(query.load::<Found<ItemRow>>(connection).await?)
            })
            .await?;
        listing(found, page)
    }

    async fn search(&self, account: AccountId, text: &Prefix, page: PageRequest) -> Result<Listing, StoreError> {
        let end = text.end();
        let found = self
            .read(account, async |connection| {
                let begin = BeginWith { account: account.0, from: text.as_str(), to: &end, limit: MOST_FOUND };
                let ids: Vec<i64> = begin.load(connection).await?;
                let matching = items(account, None, page).filter(inventory_items::id.eq_any(ids));
                Ok(WithFreshness::with_counts(JOB, COUNTS, matching).load::<Found<ItemRow>>(connection).await?)
            })
            .await?;
        listing(found, page)
    }

    async fn find(&self, account: AccountId, id: InventoryItemId) -> Result<Option<Dated<Placed>>, StoreError> {
        use inventory_items::{days_rank, sku, urgency};
        let (found, after) = self
            .read(account, async |connection| {
                let one = PageRequest { limit: 1, cursor: None };
                let own = items(account, None, one).filter(inventory_items::id.eq(id.0));
                let found = WithFreshness::new(JOB, own).load::<Found<ItemRow>>(connection).await?;
                let before = inventory_items::table
                    .filter(inventory_items::account_id.eq(account.0))
                    .filter(Condition { before: BEFORE, value: id.0 })
                    .order((urgency.desc(), days_rank.desc(), sku.desc(), inventory_items::id.desc()))
                    .select(inventory_items::id);
                let after: Option<i64> = before.first(connection).await.optional()?;
                Ok((found, after))
            })
            .await?;
        let (freshness, _, rows) = freshness::apart(JOB, found);
        let item = rows.into_iter().next().map(Item::try_from).transpose()?;
        Ok(item.map(|item| Dated { found: Placed { item, after: after.map(InventoryItemId) }, freshness }))
    }

    async fn days(&self, account: AccountId, id: InventoryItemId, range: DayRange) -> Result<Vec<ItemDay>, StoreError> {
        let days = Days { account: account.0, id: id.0, first: range.first, last: range.last };
        let rows: Vec<DayRow> = self.read(account, async |connection| Ok(days.load(connection).await?)).await?;
        let day = |DayRow { day, sold, returned, stock }| ItemDay { day, sold, returned, stock };
        Ok(rows.into_iter().map(day).collect())
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

/// What comes after an item, whose id follows and which may be gone, or be back since, in a list; `$1` is the account.
const AFTER: &str = "(urgency, days_rank, sku, id) > (
    SELECT last.rank, last.amount, last.name, last.id FROM (
        SELECT urgency AS rank, days_rank AS amount, sku AS name, id FROM inventory_items WHERE account_id = $1
        UNION ALL SELECT rank, amount, name, id FROM gone_places WHERE account_id = $1 AND list = 'inventory'
            AND NOT EXISTS (SELECT FROM inventory_items AS back WHERE back.account_id = $1 AND back.id = gone_places.id)
    ) AS last
    WHERE last.id = ";

/// What comes before an item, whose id follows.
const BEFORE: &str = "(urgency, days_rank, sku, id) < (
    SELECT own.urgency, own.days_rank, own.sku, own.id FROM inventory_items AS own
    WHERE own.account_id = $1 AND own.id = ";

statement!(
    /// Two ranges, each of an index of its own.
    BeginWith<'a>(
        account: i64 => BigInt,
        from: &'a str => Text,
        to: &'a str => Text,
        limit: i64 => BigInt,
    ) -> Scalar<BigInt> = concat!(
        "
    (SELECT id FROM inventory_items WHERE account_id = $1 AND ",
        lower_case!("sku"),
        " >= $2 AND ",
        lower_case!("sku"),
        " < $3 LIMIT $4)
    UNION
    (SELECT id FROM inventory_items WHERE account_id = $1 AND ",
        lower_case!("product_name"),
        " >= $2 AND ",
        lower_case!("product_name"),
        " < $3 LIMIT $4)"
    )
);

statement!(
    Days(
        account: i64 => BigInt,
        id: i64 => BigInt,
        first: Date => SqlDate,
        last: Date => SqlDate,
    ) -> DayRow = "
    WITH item AS (SELECT product_id FROM inventory_items WHERE account_id = $1 AND id = $2)
    SELECT coalesce(sold.day, level.day) AS day, coalesce(sold.units, 0) AS sold,
        coalesce(sold.cancelled_units, 0) AS returned, level.stock
    FROM (SELECT day, units, cancelled_units FROM product_days
        WHERE account_id = $1 AND product_id = (SELECT product_id FROM item) AND day BETWEEN $3 AND $4) sold
    FULL JOIN (SELECT day, stock FROM stock_levels
        WHERE account_id = $1 AND product_id = (SELECT product_id FROM item) AND day BETWEEN $3 AND $4) level
        ON level.day = sold.day
    ORDER BY 1"
);

row!(
    struct DayRow {
        day: Date => SqlDate,
        sold: i64 => BigInt,
        returned: i64 => BigInt,
        stock: Option<i64> => Nullable<BigInt>,
    }
);

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

fn listing(found: Vec<Found<ItemRow>>, page: PageRequest) -> Result<Listing, StoreError> {
    let (freshness, counts, rows) = freshness::apart(JOB, found);
    let items = rows.into_iter().map(Item::try_from).collect::<Result<_, _>>()?;
    let summary = summary(&counts);
    Ok(Listing { page: Page::cut(items, page.limit, |item: &Item| item.id.0), summary, freshness })
}

fn summary(counts: &[i64]) -> Summary {
    let count = |at: usize| counts.get(at).copied().unwrap_or_default();
    Summary { total: count(0), critical: count(1), low: count(2), ok: count(3), overstocked: count(4) }
}
