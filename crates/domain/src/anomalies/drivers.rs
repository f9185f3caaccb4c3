//! What a deviation is made of, and which part of it an owner can act on.

use serde::{Deserialize, Serialize};

use super::Direction;
use crate::{
    daily::Dimension,
    metrics::{Metric, Unit},
};

text_enum!(
    /// What an owner can look at and change, or the one event that explains every metric of a day.
    Cause {
        Platform = "platform",
        Country = "country",
        Product = "product",
        Campaign = "campaign",
        Price = "price",
        Traffic = "traffic",
        Conversion = "conversion",
        /// How many bought, where visits are not measured.
        Customers = "customers",
        /// How much is bought at once.
        Basket = "basket",
        Refund = "refund",
        Cost = "cost",
        /// The shop sold nothing that day, and nothing else was wrong.
        ClosedDay = "closed_day",
    }
);

/// One driver's part in a deviation. Every number is finite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Driver {
    /// 1: the drivers that the deviation itself is made of. Each further level splits the first driver of the one before.
    pub level: u8,
    /// In the terms of cause inference, such as `visitors` or `price_per_unit`.
    pub metric: String,
    /// What it is a part of the business by; `None` for all of the business.
    pub dimension: Option<Dimension>,
    /// The value of the dimension as daily sums have it, such as `BR/shopify`; [`OTHER`] for all that are not named.
    pub part: Option<String>,
    /// In the unit of the metric that deviated. The effects of level 1 sum to observed − expected, those of a further level
    /// to the effect of the driver that it splits.
    pub effect: f64,
    /// 0 to 1: the part of all effects in the direction of the deviation that is this one's; 0 for what went against it.
    /// Those of a level sum to 1.
    pub share: f64,
    /// In the driver's own unit.
    pub observed: f64,
    pub expected: f64,
    /// Which way the driver itself went.
    pub direction: Direction,
}

/// The rest of a dimension.
pub const OTHER: &str = "(other)";

/// The first driver of each level. Where the cause is known this is the way to it.
pub fn chain(drivers: &[Driver]) -> impl Iterator<Item = &Driver> {
    let is_first = |at: usize, driver: &Driver| at == 0 || drivers.get(at - 1).is_some_and(|d| d.level != driver.level);
    drivers.iter().enumerate().filter(move |(at, driver)| is_first(*at, driver)).map(|(_, driver)| driver)
}

/// What the value of a metric or of one of its drivers counts.
pub fn unit(metric: &str) -> Unit {
    match metric {
        "cogs" | "fees" | "shipping" | "extra_expenses" | "price_per_unit" | "cogs_per_unit" | "shipping_per_order" => {
            Unit::Money
        }
        "visitors" | "ad_clicks" | "returning_customers" => Unit::Count,
        "share_of_visitors"
        | "orders_per_visitor_of_all"
        | "cogs_per_gross_revenue"
        | "fees_per_gross_revenue"
        | "shipping_per_gross_revenue"
        | "ad_spend_per_gross_revenue"
        | "extra_expenses_per_gross_revenue"
        | "costs_per_gross_revenue"
        | "costs_per_net_revenue"
        | "net_per_gross_revenue" => Unit::Share,
        _ => metric.parse::<Metric>().map_or(Unit::Ratio, Metric::unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_is_shown_in_its_own_unit() {
        let yen = "JPY".parse().unwrap();
        let shown = |metric: &str, value| unit(metric).rounded(value, yen);
        assert_eq!((shown("price_per_unit", 2_554.684_4), shown("cogs", 0.4)), (2_555.0, 0.0));
        assert_eq!((shown("profit", -700.5), shown("cogs_per_gross_revenue", 0.412_36)), (-700.0, 0.4124));
        assert_eq!((shown("units_per_order", 1.234_56), shown("visitors", 12.5)), (1.2346, 12.5));
    }
}
