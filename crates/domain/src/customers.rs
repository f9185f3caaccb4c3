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

text_enum!(
    /// What customers are listed by, the highest first; without it the newest are.
    OrderBy {
        /// Those without a purchase, who have no score, come last.
        ChurnScore = "churn_score",
        LtvEstimate = "ltv_estimate",
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

/// Which customers to list, and by what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    pub source: Option<Platform>,
    pub segment: Option<Segment>,
    pub order_by: Option<OrderBy>,
}

/// Parts of the same width that the scale of a [`churn_score`](Customer::churn_score) is cut into. A score between two of them is
/// in the upper one; 1 is in the last.
pub const CHURN_PARTS: usize = 10;

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
    /// How many of them have a score in each part of its scale.
    pub churn_parts: [i64; CHURN_PARTS],
}

/// What the customers of all segments are together. Money is in the account's currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SegmentTotals {
    pub customers: i64,
    /// Those who bought lately.
    pub active: i64,
    pub orders_count: i64,
    pub revenue_total: Decimal,
    /// How many have a [`churn_score`](Customer::churn_score) in each part of its scale.
    pub churn_parts: [i64; CHURN_PARTS],
}

impl SegmentTotals {
    pub fn of(segments: &[SegmentFigures]) -> Self {
        let sum = |of: fn(&SegmentFigures) -> i64| segments.iter().map(of).sum();
        Self {
            customers: sum(|segment| segment.customers),
            active: sum(|segment| segment.active),
            orders_count: sum(|segment| segment.orders_count),
            revenue_total: segments.iter().map(|segment| segment.revenue_total).sum(),
            churn_parts: std::array::from_fn(|part| {
                segments.iter().filter_map(|segment| segment.churn_parts.get(part)).sum()
            }),
        }
    }

    /// The parts of the scale of a churn score: from where, to where, and how many customers.
    pub fn churn_histogram(&self) -> impl Iterator<Item = (Decimal, Decimal, i64)> {
        let tenths = (0_i64..).map(|tenths| Decimal::new(tenths, 1));
        tenths.zip(self.churn_parts).map(|(from, customers)| (from, from + Decimal::new(1, 1), customers))
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
            churn_parts: [0; CHURN_PARTS],
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
    /// Newest first (id descending), or in the order of the filter, of equals the newest first. The cursor is the number of the
    /// last one before; in an order the list goes on behind the place where that one stands now.
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
    /// All that fit behind the cursor, in the same order, read as they are consumed, and how fresh they are at the start.
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
    fn the_scores_of_all_segments_are_in_parts_of_one_scale() {
        let parts = |first, last| {
            let mut parts = [0; CHURN_PARTS];
            (parts[0], parts[CHURN_PARTS - 1]) = (first, last);
            SegmentFigures { churn_parts: parts, ..SegmentFigures::empty(Segment::Lost) }
        };
        let histogram: Vec<_> = SegmentTotals::of(&[parts(1, 2), parts(3, 4)]).churn_histogram().collect();
        assert_eq!(histogram.len(), CHURN_PARTS);
        assert_eq!([histogram[0], histogram[1]], [(dec!(0), dec!(0.1), 4), (dec!(0.1), dec!(0.2), 0)]);
        assert_eq!(histogram[9], (dec!(0.9), dec!(1), 6));
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
