//! What is in stock and how long it will last.

use async_trait::async_trait;
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{
    AccountId, InventoryItemId, ProductId, StoreError,
    freshness::{Dated, Freshness},
    jobs::{Claim, WriteOutcome},
    metrics::stock::FARTHEST_DAYS,
    page::{Page, PageRequest},
    profit::DayRange,
    search::Prefix,
};

text_enum!(
    /// How urgent an item is, by the bounds of [`metrics::stock`](crate::metrics::stock).
    Status { Critical = "critical", Low = "low", Ok = "ok", Overstocked = "overstocked" }
);

impl Status {
    /// Whether receivers of events are told that an item's status is this one after it was `before`: it has become more
    /// urgent, and urgent enough. Of a new item they are not, or the first run would tell of half the catalogue.
    pub fn is_told_after(self, before: Option<Self>) -> bool {
        self <= Self::Low && before.is_some_and(|before| self < before)
    }
}

text_enum!(
    /// Sales of the last 7 days against the last 30.
    Trend { Accelerating = "accelerating", Stable = "stable", Decelerating = "decelerating", NoSales = "no_sales" }
);

text_enum!(
    /// How regularly an item sells (Syntetos, Boylan and Croston 2005): often or seldom, in like or in unlike quantities.
    VelocityClass { Smooth = "smooth", Erratic = "erratic", Intermittent = "intermittent", Lumpy = "lumpy" }
);

#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub id: InventoryItemId,
    pub sku: String,
    pub product_name: String,
    pub current_stock: i64,
    pub units_sold_30d: i64,
    pub units_sold_7d: i64,
    pub avg_daily_units_30d: Decimal,
    pub avg_daily_units_7d: Decimal,
    /// `None` when nothing sells, and beyond [`FARTHEST_DAYS`].
    pub days_of_stock: Option<Decimal>,
    /// Days by which the stock is used up with a probability of 20 % and of 80 %, at most [`FARTHEST_DAYS`]; `None` as
    /// `days_of_stock` is.
    pub days_of_stock_range: Option<(Decimal, Decimal)>,
    /// Units a day expected over the next 28 days; 0 when nothing sells. `None` until it is next computed, of an item from
    /// when that was not told apart.
    pub velocity: Option<Decimal>,
    /// `None` when nothing sells.
    pub velocity_class: Option<VelocityClass>,
    pub trend: Trend,
    pub status: Status,
    pub estimated_stockout_at: Option<Date>,
    pub computed_at: OffsetDateTime,
}

impl Item {
    /// The days that the stock is known to last longer than, where it sells and lasts too long for a number.
    pub fn days_of_stock_over(&self) -> Option<u32> {
        let sells = self.velocity.is_some_and(|velocity| velocity > Decimal::ZERO) || self.velocity_class.is_some();
        (sells && self.days_of_stock.is_none()).then_some(FARTHEST_DAYS)
    }
}

/// How many items are in each state, over the whole catalogue whatever the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    pub total: i64,
    pub critical: i64,
    pub low: i64,
    pub ok: i64,
    pub overstocked: i64,
}

/// A page of the catalogue, the summary over all of it, and how fresh both are.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    pub page: Page<Item>,
    pub summary: Summary,
    pub freshness: Freshness,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait InventoryStore: Send + Sync {
    /// Most urgent first: status, then days of stock ascending with nulls last, then sku. The cursor is the id of the
    /// last item of the page before.
    async fn list(&self, account: AccountId, status: Option<Status>, page: PageRequest) -> Result<Listing, StoreError>;
    /// Those whose SKU or name begins with a text, in the same order: of the first
    /// [`MOST_FOUND`](crate::search::MOST_FOUND).
    async fn search(&self, account: AccountId, text: &Prefix, page: PageRequest) -> Result<Listing, StoreError>;
    async fn find(&self, account: AccountId, id: InventoryItemId) -> Result<Option<Dated<Placed>>, StoreError>;
    /// What was sold of an item and how much was left, on the days of the range on which either is known, oldest first.
    async fn days(&self, account: AccountId, id: InventoryItemId, range: DayRange) -> Result<Vec<ItemDay>, StoreError>;
}

/// An item with its place in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    pub item: Item,
    /// The one that stands before it.
    pub after: Option<InventoryItemId>,
}

/// A day of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemDay {
    pub day: Date,
    /// Units as ordered.
    pub sold: i64,
    /// Units of refunds and cancellations dated on this day.
    pub returned: i64,
    /// At the end of the day; `None` where it was not told.
    pub stock: Option<i64>,
}

/// What the job `inventory_velocity` found about a product.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    pub product_id: ProductId,
    pub sku: String,
    pub product_name: String,
    pub current_stock: i64,
    pub units_sold_30d: i64,
    pub units_sold_7d: i64,
    /// At most 4 decimals.
    pub avg_daily_units_30d: Decimal,
    /// At most 4 decimals.
    pub avg_daily_units_7d: Decimal,
    /// At most 1 decimal; `None` when nothing sells and beyond [`FARTHEST_DAYS`].
    pub days_of_stock: Option<Decimal>,
    /// Both at most 1 decimal, the first no more than the second.
    pub days_of_stock_range: Option<(Decimal, Decimal)>,
    /// At most 4 decimals.
    pub velocity: Option<Decimal>,
    pub velocity_class: Option<VelocityClass>,
    pub trend: Trend,
    pub status: Status,
    pub estimated_stockout_at: Option<Date>,
    /// What selling a unit brings, in the account's currency; `None` without a price or a unit cost.
    pub unit_contribution: Option<f64>,
    /// Units that are expected to be missed until an order of today can be there.
    pub missed_units: f64,
}

/// Where the job `inventory_velocity` puts its result.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait InventoryWriter: Send + Sync {
    /// Makes `items` the account's inventory and ends the run at `now`. An item keeps its id from run to run; items of
    /// other products are removed with their pending suggestions. One that was decided on gets its id back with its product.
    async fn replace(
        &self,
        claim: &Claim,
        items: Vec<Figures>,
        now: OffsetDateTime,
    ) -> Result<WriteOutcome, StoreError>;
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Status::Critical, Some(Status::Low), true)]
    #[case(Status::Low, Some(Status::Overstocked), true)]
    #[case(Status::Ok, Some(Status::Overstocked), false)]
    #[case(Status::Low, Some(Status::Low), false)]
    #[case(Status::Low, Some(Status::Critical), false)]
    #[case(Status::Critical, None, false)]
    fn receivers_are_told_of_what_becomes_urgent(
        #[case] status: Status,
        #[case] before: Option<Status>,
        #[case] told: bool,
    ) {
        assert_eq!(status.is_told_after(before), told);
    }
}
