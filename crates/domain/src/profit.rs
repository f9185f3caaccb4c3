//! Profit per day.

use async_trait::async_trait;
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{
    AccountId, StoreError,
    freshness::Dated,
    jobs::{Claim, Written},
    money::ratio,
};

/// What a day brought in and cost, in the account's currency, not rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Components {
    pub gross_revenue: Decimal,
    /// Positive; counted on the day of the refund.
    pub refunds: Decimal,
    pub ad_spend: Decimal,
    pub cogs_estimate: Decimal,
    pub fees_estimate: Decimal,
    pub shipping_estimate: Decimal,
    pub extra_expenses: Decimal,
    pub purchase_count: i64,
}

impl Components {
    /// Gross revenue less refunds.
    pub fn net_revenue(&self) -> Decimal {
        self.gross_revenue - self.refunds
    }

    /// Net revenue less the cost of goods, payment fees and shipping.
    pub fn operational_profit(&self) -> Decimal {
        self.net_revenue() - self.cogs_estimate - self.fees_estimate - self.shipping_estimate
    }

    /// Operational profit less ad spend and extra expenses.
    pub fn final_profit(&self) -> Decimal {
        self.operational_profit() - self.ad_spend - self.extra_expenses
    }

    /// Final profit in percent of net revenue; 0 when net revenue is 0.
    pub fn margin_pct(&self) -> Decimal {
        margin_pct(self.final_profit(), self.net_revenue())
    }
}

/// What the estimates among a day's components rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Basis {
    /// Revenue of the lines that are products: gross revenue without postage and the like.
    pub goods_revenue: Decimal,
    /// The part of it whose cost is known.
    pub cogs_covered_revenue: Decimal,
    /// Orders whose fees the shop did not state.
    pub fees_estimated_orders: i64,
    /// Orders whose shipping the shop did not state.
    pub shipping_estimated_orders: i64,
}

impl Basis {
    /// The part of the revenue of goods whose cost is known, in percent; none on a day without such revenue.
    pub fn cogs_coverage_pct(&self) -> Option<Decimal> {
        let covered = ratio(self.cogs_covered_revenue, self.goods_revenue);
        (!self.goods_revenue.is_zero()).then(|| covered * Decimal::ONE_HUNDRED)
    }

    /// Whether the cost of goods rests on a ratio, for however small a part of them.
    pub fn cogs_is_estimated(&self) -> bool {
        self.cogs_covered_revenue < self.goods_revenue
    }

    pub const fn fees_are_estimated(&self) -> bool {
        self.fees_estimated_orders > 0
    }

    pub const fn shipping_is_estimated(&self) -> bool {
        self.shipping_estimated_orders > 0
    }

    /// Whether any part of the profit is an estimate.
    pub fn is_estimated(&self) -> bool {
        self.cogs_is_estimated() || self.fees_are_estimated() || self.shipping_is_estimated()
    }
}

/// What an account assumes where a shop has not said what an order really cost: shares of revenue, money per order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assumptions {
    pub fee_rate: Decimal,
    pub fee_fixed: Decimal,
    pub shipping_per_order: Decimal,
    pub cogs_ratio: Decimal,
}

/// `profit` in percent of `net`; 0 when `net` is 0.
pub fn margin_pct(profit: Decimal, net: Decimal) -> Decimal {
    ratio(profit, net) * Decimal::ONE_HUNDRED
}

/// The profit of one day in the account's time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    pub date: Date,
    pub components: Components,
    pub basis: Basis,
    pub computed_at: OffsetDateTime,
}

/// Sums over the snapshots of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    pub days_returned: i64,
    pub gross_revenue: Decimal,
    pub net_revenue: Decimal,
    pub ad_spend: Decimal,
    pub final_profit: Decimal,
    pub purchase_count: i64,
}

impl Totals {
    pub fn add(&mut self, components: &Components) {
        self.days_returned += 1;
        self.gross_revenue += components.gross_revenue;
        self.net_revenue += components.net_revenue();
        self.ad_spend += components.ad_spend;
        self.final_profit += components.final_profit();
        self.purchase_count += components.purchase_count;
    }

    /// Σ final profit in percent of Σ net revenue, so that a large day weighs more than a small one.
    pub fn avg_margin_pct(&self) -> Decimal {
        margin_pct(self.final_profit, self.net_revenue)
    }
}

/// First and last day, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayRange {
    pub first: Date,
    pub last: Date,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ProfitStore: Send + Sync {
    /// The snapshots of the range, newest first. At most 366 rows, so there is no paging below this port.
    async fn range(&self, account: AccountId, range: DayRange) -> Result<Dated<Vec<Snapshot>>, StoreError>;
    /// What the account assumes now.
    async fn assumptions(&self, account: AccountId) -> Result<Assumptions, StoreError>;
}

/// Where the job `profit_snapshots` puts its result.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ProfitWriter: Send + Sync {
    /// Makes `days` the account's snapshots and ends the run at `now`. Only what differs is written; snapshots of other
    /// days are removed.
    async fn replace(
        &self,
        claim: &Claim,
        days: Vec<(Date, Components, Basis)>,
        now: OffsetDateTime,
    ) -> Result<Written, StoreError>;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rust_decimal::dec;

    use super::*;

    fn day() -> Components {
        Components {
            gross_revenue: dec!(1000),
            refunds: dec!(100),
            ad_spend: dec!(120),
            cogs_estimate: dec!(400),
            fees_estimate: dec!(29),
            shipping_estimate: dec!(50),
            extra_expenses: dec!(31),
            purchase_count: 12,
        }
    }

    #[test]
    fn profit_follows_the_printed_definitions() {
        let day = day();
        assert_eq!(day.net_revenue(), dec!(900));
        assert_eq!(day.operational_profit(), dec!(421));
        assert_eq!(day.final_profit(), dec!(270));
        assert_eq!(day.margin_pct(), dec!(30));
    }

    #[test]
    fn the_margin_of_a_day_without_revenue_is_zero() {
        let day = Components { ad_spend: dec!(50), ..Components::default() };
        assert_eq!(day.margin_pct(), dec!(0));
    }

    #[test]
    fn the_average_margin_weighs_days_by_revenue() {
        let mut totals = Totals::default();
        totals.add(&day());
        totals.add(&Components { gross_revenue: dec!(100), ..Components::default() });
        assert_eq!(totals.avg_margin_pct(), dec!(37));
    }

    #[test]
    fn a_component_is_an_estimate_as_soon_as_a_part_of_it_is() {
        let basis = Basis { goods_revenue: dec!(80), cogs_covered_revenue: dec!(60), ..Basis::default() };
        assert_eq!((basis.cogs_coverage_pct(), basis.is_estimated()), (Some(dec!(75)), true));
        let stated = Basis { cogs_covered_revenue: dec!(80), ..basis };
        assert_eq!((stated.cogs_coverage_pct(), stated.is_estimated()), (Some(dec!(100)), false));
        assert!(Basis { fees_estimated_orders: 1, ..stated }.is_estimated());
        assert!(Basis { shipping_estimated_orders: 2, ..stated }.is_estimated());
        assert_eq!(Basis::default().cogs_coverage_pct(), None);
    }

    proptest! {
        #[test]
        fn totals_are_sums_of_days(cents in proptest::collection::vec(0i64..1_000_000, 0..40)) {
            let mut totals = Totals::default();
            for c in &cents {
                totals.add(&Components { gross_revenue: Decimal::new(*c, 2), ..Components::default() });
            }
            prop_assert_eq!(totals.gross_revenue, Decimal::new(cents.iter().sum(), 2));
            prop_assert_eq!(totals.days_returned, i64::try_from(cents.len()).unwrap());
        }
    }
}
