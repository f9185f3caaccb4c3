//! What the goods, the payments and the shipping of a day cost: the rule over the sums of a day.
//!
//! A shop seldom states everything. What it does not state is estimated, from what it states on the same day where that
//! is possible, so that data of one day never changes another; else by what the account assumes. What refunds and
//! cancellations bring back is taken off on their own day; it is always an estimate, as goods may come back unfit for sale.

mod golden;
mod returns;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use rust_decimal::{Decimal, dec};

pub use golden::golden;
pub use returns::Refunded;

use super::ratios::quotient;
use crate::{
    money::round,
    profit::{Assumptions, Basis},
};

/// Decimals that costs are kept with.
const DECIMALS: u32 = 6;
/// No cost of a day is larger in size: beyond any shop, and small enough to be kept and to be added up over years. Units and
/// unit costs that can be imported come to more.
const LARGEST: Decimal = dec!(1_000_000_000_000_000);

/// The orders of a day that came from one platform, and what was refunded on the day of those and earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlatformOrders {
    /// Fees as the shop states them, and the revenue of those orders.
    pub stated_fees: Decimal,
    pub stated_fees_revenue: Decimal,
    /// Revenue and number of the orders without stated fees that are not free.
    pub unstated_fees_revenue: Decimal,
    pub unstated_fees_orders: i64,
    /// Shipping as the shop states it, and the number of the other orders.
    pub stated_shipping: Decimal,
    pub unstated_shipping_orders: i64,
    /// By product and customer.
    pub refunded: Vec<Refunded>,
    /// Whether the platform gives its fees back with a refund.
    pub returns_fees: bool,
}

/// What products of a category brought in on a day, and what they cost. The unit costs of all of them are known from the
/// same places; a cost is units times unit cost, `None` where no unit cost is known from there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Goods {
    pub category: Option<String>,
    pub revenue: Decimal,
    /// By the unit cost valid on the day.
    pub cost_of_the_day: Option<Decimal>,
    /// By the earliest unit cost that is valid only later.
    pub later_cost: Option<Decimal>,
    /// By the unit cost in the catalogue, which has no date.
    pub catalogue_cost: Option<Decimal>,
}

impl Goods {
    /// The cost that counts as known.
    fn known_cost(&self) -> Option<Decimal> {
        self.cost_of_the_day.or(self.later_cost).or(self.catalogue_cost)
    }
}

/// The costs of a day in the account's currency, with at most 6 decimals, and what they rest on. What came back is taken off,
/// so goods and fees are below 0 where more came back than was sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Costs {
    pub cogs: Decimal,
    pub fees: Decimal,
    pub shipping: Decimal,
    pub basis: Basis,
}

/// The costs of a day. What is too large is cut to 10^15.
pub fn of_day(orders: &[PlatformOrders], goods: &[Goods], assumed: &Assumptions) -> Costs {
    let fees = add(orders.iter().map(|platform| fees(platform, assumed)));
    let shipping = add(orders.iter().map(|platform| shipping(platform, assumed)));
    let ratios = ratios_of_categories(goods);
    let cogs = add(goods.iter().map(|goods| cost_of(goods, &ratios, assumed)));
    let refunded = || orders.iter().flat_map(|platform| &platform.refunded);
    let returned_cogs = kept(add(refunded().map(|line| cost_of(&line.goods(), &ratios, assumed))));
    let returned_fees = kept(add(orders.iter().map(|platform| returned_fees(platform, assumed))));
    Costs {
        cogs: kept(cogs) - returned_cogs,
        fees: kept(fees) - returned_fees,
        shipping: kept(shipping),
        basis: Basis {
            goods_revenue: add(goods.iter().map(|goods| goods.revenue)),
            cogs_covered_revenue: add(goods.iter().filter(|g| g.known_cost().is_some()).map(|goods| goods.revenue)),
            fees_estimated_orders: orders.iter().map(|platform| platform.unstated_fees_orders).sum(),
            shipping_estimated_orders: orders.iter().map(|platform| platform.unstated_shipping_orders).sum(),
            returned_units: refunded().fold(0, |sum, line| sum.saturating_add(line.returned_units())),
            returned_cogs,
            returned_fees,
        },
    }
}

/// The share of revenue that the orders which state their fees pay, where these are at least half of the revenue: the fee of a
/// small order says little of the others.
fn stated_rate(orders: &PlatformOrders) -> Option<Decimal> {
    let speaks = orders.stated_fees_revenue >= orders.unstated_fees_revenue;
    quotient(orders.stated_fees, orders.stated_fees_revenue).filter(|_| speaks)
}

/// As stated, else by the [rate](stated_rate) of the platform's orders that state theirs, else by the account's rate and fixed
/// fee. An order of nothing costs no fee.
fn fees(orders: &PlatformOrders, assumed: &Assumptions) -> Decimal {
    let revenue = orders.unstated_fees_revenue;
    let estimated = match stated_rate(orders) {
        Some(rate) => revenue.saturating_mul(rate),
        None => {
            let fixed = assumed.fee_fixed.saturating_mul(orders.unstated_fees_orders.into());
            revenue.saturating_mul(assumed.fee_rate).saturating_add(fixed)
        }
    };
    orders.stated_fees.saturating_add(estimated)
}

/// What the platform gives back with the goods, at the rate of its orders of the day, else of the account, and no more than the
/// buyer got back: where orders of a trifle paid more in fees than they brought, that says nothing of dearer ones. What is
/// charged per order, whatever its amount, stays with the platform.
fn returned_fees(orders: &PlatformOrders, assumed: &Assumptions) -> Decimal {
    if !orders.returns_fees {
        return Decimal::ZERO;
    }
    let rate = stated_rate(orders).unwrap_or(assumed.fee_rate).min(Decimal::ONE);
    add(orders.refunded.iter().map(|line| line.goods().revenue)).saturating_mul(rate)
}

/// As stated, else what the account assumes for an order: what one parcel cost says little about the next.
fn shipping(orders: &PlatformOrders, assumed: &Assumptions) -> Decimal {
    let estimated = assumed.shipping_per_order.saturating_mul(orders.unstated_shipping_orders.into());
    orders.stated_shipping.saturating_add(estimated)
}

/// Cost per revenue of the goods of each category whose cost is known.
fn ratios_of_categories(goods: &[Goods]) -> BTreeMap<&str, Decimal> {
    let mut sums: BTreeMap<&str, (Decimal, Decimal)> = BTreeMap::new();
    for goods in goods {
        if let (Some(category), Some(cost)) = (&goods.category, goods.known_cost()) {
            let (costs, revenue) = sums.entry(category).or_default();
            *costs = costs.saturating_add(cost);
            *revenue = revenue.saturating_add(goods.revenue);
        }
    }
    sums.into_iter().filter_map(|(category, (cost, revenue))| Some((category, quotient(cost, revenue)?))).collect()
}

/// The known cost, else the revenue by the ratio of the category's other goods, else by the account's.
fn cost_of(goods: &Goods, ratios: &BTreeMap<&str, Decimal>, assumed: &Assumptions) -> Decimal {
    goods.known_cost().unwrap_or_else(|| {
        let of_category = goods.category.as_deref().and_then(|category| ratios.get(category));
        goods.revenue.saturating_mul(of_category.copied().unwrap_or(assumed.cogs_ratio))
    })
}

/// A cost as it is kept.
fn kept(cost: Decimal) -> Decimal {
    round(cost.min(LARGEST), DECIMALS)
}

fn add(amounts: impl Iterator<Item = Decimal>) -> Decimal {
    amounts.fold(Decimal::ZERO, |sum, amount| sum.saturating_add(amount))
}
