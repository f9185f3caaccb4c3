//! Customers and what the service computes about them.

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use rust_decimal::Decimal;
use time::OffsetDateTime;

use crate::{
    AccountId, CustomerId, OrderId, StoreError,
    accounts::Platform,
    freshness::Dated,
    metrics::ratios::quotient,
    page::{Page, PageRequest},
    search::Prefix,
};

text_enum!(
    /// Where a customer stands by recency, frequency and spend. Every customer is in exactly one segment.
    Segment {
        Vip = "vip",
        Loyal = "loyal",
        Promising = "promising",
        New = "new",
        NeedsAttention = "needs_attention",
        AtRisk = "at_risk",
        Dormant = "dormant",
        Lost = "lost",
        Prospect = "prospect",
    }
);

/// A customer. Money is in the account's currency; everything from `orders_count` to `first_purchase_at` is computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Customer {
    pub id: CustomerId,
    pub email: Option<String>,
    pub name: Option<String>,
    pub source: Platform,
    /// The customer's identifier on the platform.
    pub external_id: String,
    pub city: Option<String>,
    /// ISO 3166-1 alpha-2.
    pub country: Option<String>,
    pub orders_count: i64,
    pub revenue_total: Decimal,
    pub ltv_estimate: Decimal,
    /// Revenue per order, refunds taken off; 0 without orders.
    pub aov: Decimal,
    pub segment: Segment,
    /// Probability, 0 to 1, that no purchase follows in the next 90 days; `None` without a purchase so far.
    pub churn_score: Option<Decimal>,
    pub last_purchase_at: Option<OffsetDateTime>,
    pub first_purchase_at: Option<OffsetDateTime>,
    pub created_at: OffsetDateTime,
}

/// Days since the last purchase within which a customer counts as active; the horizon of `churn_score`.
pub const ACTIVE_DAYS: i64 = 90;

/// Which customers to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    pub source: Option<Platform>,
    pub segment: Option<Segment>,
}

/// What the customers of a segment are together. Money is in the account's currency, not rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentFigures {
    pub segment: Segment,
    pub customers: i64,
    /// Those who bought lately.
    pub active: i64,
    pub orders_count: i64,
    pub revenue_total: Decimal,
    /// Sum of their [`ltv_estimate`](Customer::ltv_estimate).
    pub ltv_estimate: Decimal,
    /// Customers that have a [`churn_score`](Customer::churn_score), and the sum of these.
    pub scored: i64,
    pub churn_score: Decimal,
}

/// What the customers of all segments are together. Money is in the account's currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SegmentTotals {
    pub customers: i64,
    /// Those who bought lately.
    pub active: i64,
    pub orders_count: i64,
    pub revenue_total: Decimal,
}

impl SegmentTotals {
    pub fn of(segments: &[SegmentFigures]) -> Self {
        let sum = |of: fn(&SegmentFigures) -> i64| segments.iter().map(of).sum();
        Self {
            customers: sum(|segment| segment.customers),
            active: sum(|segment| segment.active),
            orders_count: sum(|segment| segment.orders_count),
            revenue_total: segments.iter().map(|segment| segment.revenue_total).sum(),
        }
    }

    /// The part of all customers that are of a segment; `None` where there are none.
    pub fn share_of_customers(&self, segment: &SegmentFigures) -> Option<Decimal> {
        quotient(segment.customers.into(), self.customers.into())
    }

    /// The part of all revenue that is a segment's; `None` where there is none.
    pub fn share_of_revenue(&self, segment: &SegmentFigures) -> Option<Decimal> {
        quotient(segment.revenue_total, self.revenue_total)
    }
}

impl SegmentFigures {
    /// A segment that nobody is in.
    pub const fn empty(segment: Segment) -> Self {
        Self {
            segment,
            customers: 0,
            active: 0,
            orders_count: 0,
            revenue_total: Decimal::ZERO,
            ltv_estimate: Decimal::ZERO,
            scored: 0,
            churn_score: Decimal::ZERO,
        }
    }

    /// Net revenue expected of the next 52 weeks, on average, in the account's currency; `None` without customers.
    pub fn avg_ltv_estimate(&self) -> Option<Decimal> {
        quotient(self.ltv_estimate, self.customers.into())
    }

    /// Probability, 0 to 1, that no purchase follows in the next 90 days, on average over the customers that have a score;
    /// `None` without any.
    pub fn avg_churn_score(&self) -> Option<Decimal> {
        quotient(self.churn_score, self.scored.into())
    }
}

/// An order of a customer. Money is in the account's currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerOrder {
    pub id: OrderId,
    /// The platform's number of it.
    pub external_id: String,
    pub placed_at: OffsetDateTime,
    pub gross: Decimal,
    pub units: i64,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait CustomerStore: Send + Sync {
    /// Newest first (id descending).
    async fn page(
        &self,
        account: AccountId,
        filter: Filter,
        page: PageRequest,
    ) -> Result<Dated<Page<Customer>>, StoreError>;
    /// Those whose name or e-mail begins with a text, newest first: of the first
    /// [`MOST_FOUND`](crate::search::MOST_FOUND).
    async fn search(
        &self,
        account: AccountId,
        text: &Prefix,
        page: PageRequest,
    ) -> Result<Dated<Page<Customer>>, StoreError>;
    /// The orders of a customer, newest first. The cursor is the number of the last one before.
    async fn orders(
        &self,
        account: AccountId,
        id: CustomerId,
        page: PageRequest,
    ) -> Result<Page<CustomerOrder>, StoreError>;
    /// All that fit below the cursor, newest first, read as they are consumed, and how fresh they are at the start.
    async fn stream(
        &self,
        account: AccountId,
        filter: Filter,
        cursor: Option<i64>,
    ) -> Result<Dated<BoxStream<'static, Result<Customer, StoreError>>>, StoreError>;
    /// Every segment, those without customers as well, in the order of [`Segment::ALL`]. Customers who bought since
    /// `active_since` count as active.
    async fn segments(
        &self,
        account: AccountId,
        active_since: OffsetDateTime,
    ) -> Result<Dated<Vec<SegmentFigures>>, StoreError>;
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;

    use super::*;

    #[test]
    fn shares_are_of_what_there_is() {
        let figures = |segment, customers, revenue_total| SegmentFigures {
            customers,
            revenue_total,
            ..SegmentFigures::empty(segment)
        };
        let shares = |segments: [SegmentFigures; 2]| {
            let totals = SegmentTotals::of(&segments);
            segments.map(|segment| (totals.share_of_customers(&segment), totals.share_of_revenue(&segment)))
        };
        let [vip, lost] = shares([figures(Segment::Vip, 1, dec!(90)), figures(Segment::Lost, 3, dec!(10))]);
        assert_eq!((vip, lost), ((Some(dec!(0.25)), Some(dec!(0.9))), (Some(dec!(0.75)), Some(dec!(0.1)))));
        // All was refunded, and more than that; and nobody at all.
        let [vip, lost] = shares([figures(Segment::Vip, 1, dec!(-5)), SegmentFigures::empty(Segment::Lost)]);
        assert_eq!((vip, lost), ((Some(dec!(1)), None), (Some(dec!(0)), None)));
        assert_eq!(shares([Segment::Vip, Segment::Lost].map(SegmentFigures::empty)), [(None, None); 2]);
    }

    #[test]
    fn means_are_over_the_customers_that_have_a_value() {
        let three = SegmentFigures {
            customers: 3,
            ltv_estimate: dec!(21),
            scored: 2,
            churn_score: dec!(0.3),
            ..SegmentFigures::empty(Segment::Lost)
        };
        assert_eq!((three.avg_ltv_estimate(), three.avg_churn_score()), (Some(dec!(7)), Some(dec!(0.15))));
        let none = SegmentFigures::empty(Segment::Lost);
        assert_eq!((none.avg_ltv_estimate(), none.avg_churn_score()), (None, None));
        let unscored = SegmentFigures { customers: 2, ..none };
        assert_eq!((unscored.avg_ltv_estimate(), unscored.avg_churn_score()), (Some(dec!(0)), None));
        // Rounded once, where it is shown: 0.1235, not by way of 0.12355 to 0.1236.
        let many = SegmentFigures { scored: 200, churn_score: dec!(24.7099), ..none };
        assert_eq!(many.avg_churn_score(), Some(dec!(0.1235495)));
    }
}
