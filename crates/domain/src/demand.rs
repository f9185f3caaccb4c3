//! What was sold of each product that has a stock: the input of inventory and reorder figures.

use async_trait::async_trait;
use rust_decimal::Decimal;
use time::Date;

use crate::{AccountId, ProductId, StoreError, metrics::contribution::mean_price, profit::DayRange};

/// Units of a product on a day on which there were any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SalesDay {
    pub day: Date,
    /// As ordered.
    pub sold: i64,
    /// Of refunds and cancellations dated on this day, below 0 where one was taken back.
    pub cancelled: i64,
}

/// A product with a known stock, its terms of supply, and its sales.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StockedProduct {
    pub product_id: ProductId,
    pub sku: String,
    pub name: String,
    pub category: Option<String>,
    /// Below 0 where more was sold than there was.
    pub stock: i64,
    pub on_order: i64,
    pub lead_time_days: Option<i32>,
    pub pack_size: Option<i32>,
    pub min_order_qty: Option<i32>,
    /// What a unit is sold at and what it costs, as last known.
    pub price: Option<Decimal>,
    pub unit_cost: Option<Decimal>,
    /// What the last 90 days of the range brought, before refunds.
    pub revenue_90d: Decimal,
    /// Oldest first.
    pub sales: Vec<SalesDay>,
    /// Whether any was sold before the range.
    pub sold_before: bool,
    /// Days that ended without stock.
    pub days_without_stock: Vec<Date>,
}

impl StockedProduct {
    /// What a unit was sold at over the 90 days that end with `last`, discounts taken off; else its list price.
    pub fn mean_price(&self, last: Date) -> Option<Decimal> {
        mean_price(self.revenue_90d, self.units_sold(last, 90), self.price)
    }

    /// Units ordered on the `days` days that end with `last`, cancelled ones included: a plain fact.
    pub fn units_sold(&self, last: Date, days: i64) -> i64 {
        let within = |sale: &&SalesDay| sale.day <= last && (last - sale.day).whole_days() < days;
        self.sales.iter().filter(within).map(|sale| sale.sold).sum()
    }
}

/// Which stock counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StockAt {
    /// The newest that is known.
    Now,
    /// That of the end of the day, or the newest where none is known so far back.
    Day(Date),
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait DemandStore: Send + Sync {
    /// Every product with a known stock, with its sales of the range, by id.
    async fn stocked(
        &self,
        account: AccountId,
        range: DayRange,
        at: StockAt,
    ) -> Result<Vec<StockedProduct>, StoreError>;
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;
    use time::macros::date;

    use super::*;

    #[test]
    fn the_price_is_what_was_paid_lately_and_else_what_is_asked() {
        let last = date!(2026 - 03 - 01);
        let sold = StockedProduct {
            price: Some(dec!(10)),
            revenue_90d: dec!(34),
            sales: vec![SalesDay { day: last, sold: 4, cancelled: 0 }],
            ..StockedProduct::default()
        };
        assert_eq!(sold.mean_price(last), Some(dec!(8.5)));
        assert_eq!(StockedProduct { sales: Vec::new(), ..sold }.mean_price(last), Some(dec!(10)));
    }

    #[test]
    fn units_sold_count_whole_days_up_to_the_last() {
        let sale = |day, sold| SalesDay { day, sold, cancelled: 1 };
        let product = StockedProduct {
            sales: vec![
                sale(date!(2026 - 02 - 22), 1),
                sale(date!(2026 - 02 - 23), 2),
                sale(date!(2026 - 03 - 01), 4),
                sale(date!(2026 - 03 - 02), 8),
            ],
            ..StockedProduct::default()
        };
        assert_eq!(product.units_sold(date!(2026 - 03 - 01), 7), 6);
    }
}
