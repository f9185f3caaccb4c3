//! What the job `customer_metrics` reads and writes: purchases of each customer, and the figures that follow from them.

use async_trait::async_trait;
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{
    AccountId, CustomerId, StoreError,
    customers::Segment,
    jobs::{Claim, WriteOutcome},
    metrics::ratios::quotient,
    money::round,
};

/// A customer's purchases up to and including a day.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Purchases {
    pub orders: i64,
    /// Different days, in the account's time zone, with an order.
    pub days: i64,
    /// Instants of the first and the last order.
    pub span: Option<(OffsetDateTime, OffsetDateTime)>,
    /// Sum of the orders, before refunds.
    pub gross: Decimal,
    pub refunds: Decimal,
}

impl Purchases {
    /// What the customer paid and did not get back. Refunds of purchases from before the data begins make it no less
    /// than nothing.
    pub fn revenue(&self) -> Decimal {
        (self.gross - self.refunds).max(Decimal::ZERO)
    }

    /// [`revenue`](Self::revenue) per order, in the account's currency with at most 6 decimals: the AOV of a customer; 0
    /// without orders. Refunds are taken off, unlike in that of a
    /// [shop](crate::metrics::ratios::average_order_value), so that it times the number of orders is the revenue.
    pub fn revenue_per_order(&self) -> Decimal {
        round(quotient(self.revenue(), self.orders.into()).unwrap_or_default(), 6)
    }
}

/// A customer as of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCustomer {
    pub purchases: Purchases,
    /// Those up to and including an earlier day.
    pub earlier: Purchases,
    /// Those up to and including the day of the back-test; what they brought is not known.
    pub before: Purchases,
    /// The figures that stand.
    pub written: Metrics,
}

/// The figures of a customer; money with at most 6 decimals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metrics {
    pub customer_id: CustomerId,
    pub orders_count: i64,
    pub revenue_total: Decimal,
    pub ltv_estimate: Decimal,
    /// [`Purchases::revenue_per_order`].
    pub aov: Decimal,
    pub segment: Segment,
    /// 0 to 1 with at most 4 decimals; `None` without a purchase.
    pub churn_score: Option<Decimal>,
    pub span: Option<(OffsetDateTime, OffsetDateTime)>,
}

/// The days whose ends customers are seen from, each no later than the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days {
    pub last: Date,
    /// Of [`KnownCustomer::earlier`].
    pub earlier: Date,
    /// Of [`KnownCustomer::before`].
    pub before: Date,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait CustomerMetricsStore: Send + Sync {
    /// Every customer as of the end of three days, those without a purchase included, by id. The days are those that were
    /// summed up: [`roll_up`](crate::daily::DailyStore::roll_up) comes first.
    async fn customers(&self, account: AccountId, days: Days) -> Result<Vec<KnownCustomer>, StoreError>;
    /// Writes the figures of these customers, and ends the run at `now`.
    async fn write(
        &self,
        claim: &Claim,
        metrics: Vec<Metrics>,
        now: OffsetDateTime,
    ) -> Result<WriteOutcome, StoreError>;
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;

    use super::*;

    fn purchases(orders: i64, gross: Decimal, refunds: Decimal) -> Purchases {
        Purchases { orders, days: orders, span: None, gross, refunds }
    }

    #[test]
    fn refunds_lower_revenue_and_average_alike() {
        let some = purchases(4, dec!(100), dec!(30));
        assert_eq!((some.revenue(), some.revenue_per_order()), (dec!(70), dec!(17.5)));
    }

    #[test]
    fn revenue_is_never_negative_and_an_average_needs_orders() {
        let refunded = purchases(1, dec!(10), dec!(30));
        assert_eq!((refunded.revenue(), refunded.revenue_per_order()), (dec!(0), dec!(0)));
        assert_eq!(purchases(0, dec!(0), dec!(0)).revenue_per_order(), dec!(0));
    }
}
