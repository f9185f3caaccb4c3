//! Profit per day.

pub mod explain;
mod steps;

use std::ops::AddAssign;

use async_trait::async_trait;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use time::{Date, OffsetDateTime};

use crate::{
    AccountId, StoreError,
    freshness::Dated,
    jobs::{Claim, WriteOutcome},
    metrics::ratios,
    page::{Page, PageRequest},
    texts::Texts,
};

pub use crate::metrics::Components;
pub use steps::{Step, steps};

text_enum!(
    /// A figure of a day that can be explained.
    Explained {
        GrossRevenue = "gross_revenue",
        Refunds = "refunds",
        AdSpend = "ad_spend",
        CogsEstimate = "cogs_estimate",
        FeesEstimate = "fees_estimate",
        ShippingEstimate = "shipping_estimate",
        ExtraExpenses = "extra_expenses",
        NetRevenue = "net_revenue",
        OperationalProfit = "operational_profit",
        FinalProfit = "final_profit",
        MarginPct = "margin_pct",
        PurchaseCount = "purchase_count",
    }
);

impl Explained {
    /// How it is computed, in words and the names of other figures.
    pub fn formula(self, texts: &Texts) -> String {
        texts.message(format!("formula-{self}")).say()
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
    /// Units that came back with refunds and cancellations.
    pub returned_units: i64,
    /// What these units had cost, already taken off the cost of goods.
    pub returned_cogs: Decimal,
    /// Fees that platforms give back with them, already taken off the fees.
    pub returned_fees: Decimal,
}

/// Unit costs are known well enough when they cover this part of the revenue of goods, in percent.
const KNOWN_COSTS_PCT: i64 = 50;

impl AddAssign for Basis {
    fn add_assign(&mut self, day: Self) {
        let Self {
            goods_revenue,
            cogs_covered_revenue,
            fees_estimated_orders,
            shipping_estimated_orders,
            returned_units,
            returned_cogs,
            returned_fees,
        } = day;
        self.goods_revenue += goods_revenue;
        self.cogs_covered_revenue += cogs_covered_revenue;
        self.fees_estimated_orders += fees_estimated_orders;
        self.shipping_estimated_orders += shipping_estimated_orders;
        self.returned_units += returned_units;
        self.returned_cogs += returned_cogs;
        self.returned_fees += returned_fees;
    }
}

impl Basis {
    /// The part of the revenue of goods whose cost is known, in percent; none on a day without such revenue.
    pub fn cogs_coverage_pct(&self) -> Option<Decimal> {
        ratios::percent(self.cogs_covered_revenue, self.goods_revenue)
    }

    /// Whether unit costs are known well enough to speak of profit: they cover half of the revenue of goods, or more.
    pub fn costs_are_known(&self) -> bool {
        self.cogs_coverage_pct().is_some_and(|share| share >= KNOWN_COSTS_PCT.into())
    }

    /// Whether the cost of goods rests on a ratio, for however small a part of them, or on goods that came back, which are
    /// taken to be fit for sale.
    pub fn cogs_is_estimated(&self) -> bool {
        !self.returned_cogs.is_zero() || self.cogs_covered_revenue < self.goods_revenue
    }

    pub const fn fees_are_estimated(&self) -> bool {
        self.fees_estimated_orders > 0 || !self.returned_fees.is_zero()
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

/// The profit of one day in the account's time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    pub date: Date,
    pub components: Components,
    pub basis: Basis,
    /// Whether ad spend of the day is left out, as no rate of exchange was known for its currency when the day was computed,
    /// or is known now.
    pub lacks_rates: bool,
}

/// What the days' orders brought less refunds, in the account's currency, not rounded; `None` where no day has a snapshot.
pub fn net_revenue(days: &[Snapshot]) -> Option<Decimal> {
    days.iter().map(|day| day.components.net_revenue()).reduce(|sum, net| sum + net)
}

/// A date as a cursor: its digits, so that later days have larger ones.
fn cursor_of(day: Date) -> i64 {
    i64::from(day.year()) * 10_000 + i64::from(u8::from(day.month())) * 100 + i64::from(day.day())
}

/// The page of days, the newest first, of which each has an entry in `days`.
pub fn page_of_days<T>(days: impl IntoIterator<Item = T>, page: PageRequest, day: impl Fn(&T) -> Date) -> Page<T> {
    let cursor = |one: &T| cursor_of(day(one));
    let below = days.into_iter().filter(|one| page.cursor.is_none_or(|end| cursor(one) < end)).collect();
    Page::cut(below, page.limit, cursor)
}

/// Sums over the snapshots of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    pub days_returned: i64,
    pub components: Components,
}

impl Totals {
    pub fn add(&mut self, components: Components) {
        self.days_returned += 1;
        self.components += components;
    }
}

time::serde::format_description!(iso, Date, "[year]-[month]-[day]");

/// First and last day, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayRange {
    #[serde(with = "iso")]
    pub first: Date,
    #[serde(with = "iso")]
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
    /// Makes `days` the account's snapshots, notes which of them lack rates of exchange and ends the run at `now`. Only what
    /// differs is written; snapshots of other days are removed.
    async fn replace(
        &self,
        claim: &Claim,
        days: Vec<(Date, Components, Basis)>,
        now: OffsetDateTime,
    ) -> Result<WriteOutcome, StoreError>;
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;

    use super::*;

    #[test]
    fn a_cursor_is_the_digits_of_its_date() {
        assert_eq!(cursor_of(time::macros::date!(2026 - 05 - 02)), 20_260_502);
    }

    #[test]
    fn net_revenue_is_unknown_before_any_day_was_computed() {
        let day = |gross_revenue, refunds| Snapshot {
            date: time::macros::date!(2026 - 05 - 02),
            components: Components { gross_revenue, refunds, ..Components::default() },
            basis: Basis::default(),
            lacks_rates: false,
        };
        assert_eq!(net_revenue(&[day(dec!(100), dec!(30)), day(dec!(0), dec!(90))]), Some(dec!(-20)));
        assert_eq!(net_revenue(&[]), None);
    }

    #[test]
    fn a_component_is_an_estimate_as_soon_as_a_part_of_it_is() {
        let basis = Basis { goods_revenue: dec!(80), cogs_covered_revenue: dec!(60), ..Basis::default() };
        assert_eq!((basis.cogs_coverage_pct(), basis.is_estimated()), (Some(dec!(75)), true));
        let stated = Basis { cogs_covered_revenue: dec!(80), ..basis };
        assert_eq!((stated.cogs_coverage_pct(), stated.is_estimated()), (Some(dec!(100)), false));
        assert!(Basis { fees_estimated_orders: 1, ..stated }.is_estimated());
        assert!(Basis { shipping_estimated_orders: 2, ..stated }.is_estimated());
        let returned = Basis { returned_units: 1, returned_cogs: dec!(3), ..stated };
        assert_eq!((returned.cogs_is_estimated(), returned.fees_are_estimated()), (true, false));
        let returned = Basis { returned_units: 1, returned_fees: dec!(1), ..stated };
        assert_eq!((returned.cogs_is_estimated(), returned.fees_are_estimated()), (false, true));
        assert_eq!(Basis::default().cogs_coverage_pct(), None);
    }
}
