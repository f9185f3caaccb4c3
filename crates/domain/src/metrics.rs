//! The figures of a shop: one formula each, for all that show it, judge it or alert on it.
//!
//! The store adds up facts ([`Sums`]); what follows from them is computed here and nowhere else. A figure that cannot be
//! told has no value: a ratio whose denominator is not above zero, or one that does not fit a decimal.

pub mod contribution;
pub mod cost;
pub mod profit;
pub mod ratios;
pub mod returns;
pub mod stock;

#[cfg(test)]
mod tests;

use rust_decimal::{
    Decimal,
    prelude::{FromPrimitive, ToPrimitive},
};

pub use profit::Components;

use crate::{
    daily::DayTotals,
    money::{self, Currency},
};

/// The sums that every metric follows from, over a day or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sums {
    pub components: Components,
    pub units: i64,
    pub new_customers: i64,
    /// Different known customers who ordered. `None` over several days: who ordered on two of them is one customer.
    pub customers: Option<i64>,
    /// Different visitors. `None` over several days, for the same reason.
    pub visitors: Option<i64>,
}

impl Sums {
    /// What the days add up to.
    pub fn of_days(days: &[DayTotals]) -> Self {
        let mut sums = Self::default();
        for day in days {
            sums.components += day.components();
            sums.units += day.units;
            sums.new_customers += day.new_customers;
        }
        sums
    }
}

impl From<&DayTotals> for Sums {
    fn from(day: &DayTotals) -> Self {
        Self {
            components: day.components(),
            units: day.units,
            new_customers: day.new_customers,
            customers: Some(day.customers),
            visitors: Some(day.visitors),
        }
    }
}

text_enum!(
    /// A figure of a shop over a time.
    Metric {
        GrossRevenue = "gross_revenue",
        NetRevenue = "net_revenue",
        Orders = "orders",
        Units = "units",
        Customers = "customers",
        NewCustomers = "new_customers",
        Aov = "aov",
        Refunds = "refunds",
        RefundRate = "refund_rate",
        AdSpend = "ad_spend",
        Roas = "roas",
        Cac = "cac",
        Conversion = "conversion",
        Profit = "profit",
        Margin = "margin",
    }
);

/// What a metric's value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// An amount in the account's currency.
    Money,
    /// A number of things.
    Count,
    /// Money per money.
    Ratio,
    /// A part of a whole; 1 is all of it. Shown in percent.
    Share,
}

impl Unit {
    /// A value as it is shown: an amount half-even to the minor unit of its currency, anything else with four decimals.
    pub fn rounded(self, value: f64, currency: Currency) -> f64 {
        let decimals = if self == Self::Money { currency.exponent() } else { 4 };
        // What is too large for a decimal has no decimals.
        let Some(exact) = Decimal::from_f64(value) else { return value };
        let rounded = money::round(exact, decimals);
        if rounded.is_zero() { 0.0 } else { rounded.to_f64().unwrap_or(value) }
    }
}

impl Metric {
    pub const fn unit(self) -> Unit {
        match self {
            Self::GrossRevenue
            | Self::NetRevenue
            | Self::Aov
            | Self::Refunds
            | Self::AdSpend
            | Self::Cac
            | Self::Profit => Unit::Money,
            Self::Orders | Self::Units | Self::Customers | Self::NewCustomers => Unit::Count,
            Self::Roas => Unit::Ratio,
            Self::RefundRate | Self::Conversion | Self::Margin => Unit::Share,
        }
    }

    /// The metric's value in its [`unit`](Self::unit), exact but for the division of a ratio; `None` where the sums do not
    /// tell it.
    pub fn of(self, sums: &Sums) -> Option<Decimal> {
        let Sums { components, units, new_customers, customers, visitors } = *sums;
        let Components { gross_revenue, refunds, ad_spend, purchase_count: orders, .. } = components;
        match self {
            Self::GrossRevenue => Some(gross_revenue),
            Self::NetRevenue => Some(components.net_revenue()),
            Self::Orders => Some(orders.into()),
            Self::Units => Some(units.into()),
            Self::Customers => customers.map(Decimal::from),
            Self::NewCustomers => Some(new_customers.into()),
            Self::Aov => ratios::average_order_value(gross_revenue, orders),
            Self::Refunds => Some(refunds),
            Self::RefundRate => ratios::refund_rate(refunds, gross_revenue),
            Self::AdSpend => Some(ad_spend),
            Self::Roas => ratios::return_on_ad_spend(gross_revenue, ad_spend),
            Self::Cac => ratios::cost_per_new_customer(ad_spend, new_customers),
            Self::Conversion => ratios::conversion(orders, visitors?),
            Self::Profit => Some(components.final_profit()),
            Self::Margin => components.margin(),
        }
    }

    /// [`of`](Self::of) a day, as a number for statistics.
    pub fn measured(self, day: &DayTotals) -> Option<f64> {
        self.of(&Sums::from(day))?.to_f64().filter(|value| value.is_finite())
    }

    /// A value [as it is shown](Unit::rounded).
    pub fn rounded(self, value: f64, currency: Currency) -> f64 {
        self.unit().rounded(value, currency)
    }

    /// How the metric is called in a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::GrossRevenue => "gross revenue",
            Self::NetRevenue => "net revenue",
            Self::Orders => "orders",
            Self::Units => "units sold",
            Self::Customers => "customers who ordered",
            Self::NewCustomers => "new customers",
            Self::Aov => "average order value",
            Self::Refunds => "refunds",
            Self::RefundRate => "refund rate",
            Self::AdSpend => "ad spend",
            Self::Roas => "return on ad spend",
            Self::Cac => "cost per new customer",
            Self::Conversion => "conversion",
            Self::Profit => "profit",
            Self::Margin => "margin",
        }
    }
}
