//! What a shop's days looked like beside what was expected of them: the input of [`lever`](super::lever) and
//! [`money`](super::money).

use std::collections::BTreeMap;

use rust_decimal::{Decimal, prelude::ToPrimitive};
use serde::{Deserialize, Serialize};
use time::Date;

use crate::{
    daily::{DayTotals, Dimension, PartTotals},
    metrics::{Unit, ratios::quotient},
};

text_enum!(
    /// A daily sum or ratio that tells levers apart.
    Gauge {
        GrossRevenue = "gross_revenue",
        Orders = "orders",
        UnitsPerOrder = "units_per_order",
        PricePerUnit = "price_per_unit",
        Visitors = "visitors",
        Refunds = "refunds",
        /// Refunds less what goods that came back had cost.
        RefundCost = "refund_cost",
        AdSpend = "ad_spend",
        /// Goods, fees and shipping per unit.
        CostPerUnit = "cost_per_unit",
        /// What is left of gross revenue after goods, fees and shipping.
        Contribution = "contribution",
        ExtraExpenses = "extra_expenses",
        Profit = "profit",
    }
);

impl Gauge {
    /// What its value counts.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Orders | Self::Visitors => Unit::Count,
            Self::UnitsPerOrder => Unit::Ratio,
            Self::GrossRevenue
            | Self::PricePerUnit
            | Self::Refunds
            | Self::RefundCost
            | Self::AdSpend
            | Self::CostPerUnit
            | Self::Contribution
            | Self::ExtraExpenses
            | Self::Profit => Unit::Money,
        }
    }

    /// Its value on a day of the shop; `None` where it has none, as a ratio without units.
    pub fn of_day(self, day: &DayTotals) -> Option<f64> {
        let (orders, units) = (Decimal::from(day.orders), Decimal::from(day.units));
        let value = match self {
            Self::GrossRevenue => day.gross_revenue,
            Self::Orders => orders,
            Self::UnitsPerOrder => quotient(units, orders)?,
            Self::PricePerUnit => quotient(day.gross_revenue, units)?,
            Self::Visitors => day.visitors.into(),
            Self::Refunds => day.refunds,
            Self::RefundCost => day.refunds - day.returned_costs(),
            Self::AdSpend => day.ad_spend,
            Self::CostPerUnit => quotient(day.order_costs(), units)?,
            Self::Contribution => day.gross_revenue - day.order_costs(),
            Self::ExtraExpenses => day.extra_expenses,
            Self::Profit => day.components().final_profit(),
        };
        value.to_f64()
    }

    /// Its value of a part of a day; `None` where it has none, and of what is known of no part.
    pub fn of_part(self, part: &PartTotals) -> Option<f64> {
        let value = match self {
            Self::GrossRevenue => part.gross_revenue,
            Self::Orders => part.orders.into(),
            Self::Refunds => part.refunds,
            Self::AdSpend => part.ad_spend,
            Self::PricePerUnit => quotient(part.gross_revenue, part.units.into())?,
            _ => return None,
        };
        value.to_f64()
    }

    /// Its value of a part that nothing happened in.
    pub const fn of_nothing(self) -> Option<f64> {
        match self {
            Self::PricePerUnit => None,
            _ => Some(0.0),
        }
    }
}

/// A value of a day and the range that about 95 % of ordinary days fall into, as expected on the days before the event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Band {
    pub observed: f64,
    pub expected: f64,
    pub low: f64,
    pub high: f64,
}

impl Band {
    pub fn deviation(&self) -> f64 {
        self.observed - self.expected
    }

    /// The deviation in half-widths of the band on its side: 1 is its edge. 0 where the band has no width and nothing
    /// departed from it.
    pub fn departure(&self) -> f64 {
        let deviation = self.deviation();
        let half = if deviation < 0.0 { self.expected - self.low } else { self.high - self.expected };
        // A band that ends at its expected value (zero refunds) has the width of its other side.
        let half = if half > 0.0 { half } else { (self.high - self.low).max(f64::MIN_POSITIVE) };
        (deviation / half).clamp(-1e6, 1e6)
    }

    pub fn holds(&self) -> bool {
        (self.low..=self.high).contains(&self.observed)
    }

    /// ln(observed / expected); `None` where there is no ratio.
    pub(super) fn log_change(&self) -> Option<f64> {
        (self.observed > 0.0 && self.expected > 0.0).then(|| (self.observed / self.expected).ln())
    }
}

/// A part of the shop: a platform, country, product or campaign.
#[derive(Debug, Clone, PartialEq)]
pub struct PartBand {
    pub dimension: Dimension,
    pub value: String,
    pub gauge: Gauge,
    pub band: Band,
}

/// What is known of one day.
#[derive(Debug, Clone, PartialEq)]
pub struct DayEvidence {
    pub day: Date,
    pub whole: BTreeMap<Gauge, Band>,
    pub parts: Vec<PartBand>,
    /// What is left of gross revenue after goods, fees and shipping, as a rule; `None` where no cost is known.
    pub contribution: Option<f64>,
}

impl DayEvidence {
    pub fn band(&self, gauge: Gauge) -> Option<&Band> {
        self.whole.get(&gauge)
    }

    /// The gauge's [departure](Band::departure); 0 where it is not known.
    pub(super) fn departure(&self, gauge: Gauge) -> f64 {
        self.band(gauge).map_or(0.0, Band::departure)
    }

    pub(super) fn deviation(&self, gauge: Gauge) -> f64 {
        self.band(gauge).map_or(0.0, Band::deviation)
    }

    pub(super) fn parts_of(&self, dimension: Dimension, gauge: Gauge) -> impl Iterator<Item = &PartBand> {
        self.parts.iter().filter(move |part| part.dimension == dimension && part.gauge == gauge)
    }

    pub(super) fn part(&self, dimension: Dimension, value: &str, gauge: Gauge) -> Option<&Band> {
        self.parts_of(dimension, gauge).find(|part| part.value == value).map(|part| &part.band)
    }
}
