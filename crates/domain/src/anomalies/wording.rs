//! The cause of an anomaly in words, from its drivers alone.

use super::{
    Cause, Direction, Driver,
    drivers::{OTHER, chain},
};
use crate::daily::Dimension;

/// From this many times what was expected on, a ratio says more than percent.
const MANY_TIMES: f64 = 3.0;
/// From this many times on, the figure says more of how little was expected than of what came.
const BEYOND_COMPARISON: f64 = 100.0;

/// Why a metric was not what was expected, in one sentence without its full stop. `expected` is that of the metric.
pub fn cause(cause: Cause, expected: f64, drivers: &[Driver]) -> String {
    if cause == Cause::ClosedDay {
        return format!("the shop sold nothing that day, where about {expected:.0} orders are usual");
    }
    let told: Vec<String> = chain(drivers).map(|driver| format!("{} {}", named(driver), compared(driver))).collect();
    let share: f64 = chain(drivers).map(|driver| driver.share).product();
    format!("{} ({:.0} % of the difference)", told.join(", as "), 100.0 * share)
}

/// "sales on shopify were", with the verb that the metric takes.
fn named(driver: &Driver) -> String {
    let (words, verb) = words(&driver.metric);
    let part = driver.dimension.zip(driver.part.as_deref()).map_or_else(String::new, |(by, part)| within(by, part));
    format!("{words}{part} {verb}")
}

fn within(dimension: Dimension, part: &str) -> String {
    let part = if part == OTHER { "others" } else { part };
    match dimension {
        Dimension::Platform => format!(" on {part}"),
        Dimension::Product => format!(" of {part}"),
        Dimension::Country => format!(" in {part}"),
        Dimension::Campaign => {
            let (platform, campaign) = part.split_once('/').unwrap_or(("", part));
            format!(" for the campaign {campaign} on {platform}")
        }
        Dimension::CountryPlatform => {
            let (country, platform) = part.split_once('/').unwrap_or((part, ""));
            format!(" in {country} on {platform}")
        }
    }
}

fn compared(driver: &Driver) -> String {
    let Driver { observed, expected, direction, .. } = driver;
    let side = match direction {
        Direction::Down => "below",
        Direction::Up => "above",
    };
    let ratio = observed / expected;
    match () {
        () if *expected <= 0.0 || !ratio.is_finite() || ratio >= BEYOND_COMPARISON => {
            format!("far {side} what was expected")
        }
        () if ratio >= MANY_TIMES => format!("{ratio:.1} times what was expected"),
        () => format!("{:.0} % {side} what was expected", 100.0 * (ratio - 1.0).abs()),
    }
}

/// How a driver is called, and the verb that goes with it.
fn words(metric: &str) -> (&'static str, &'static str) {
    match metric {
        "gross_revenue" => ("sales", "were"),
        "net_revenue" => ("sales after refunds", "were"),
        "orders" => ("orders", "were"),
        "units" => ("units sold", "were"),
        "visitors" => ("visits", "were"),
        "ad_clicks" => ("clicks on ads", "were"),
        "visitors_per_click" => ("visits per click on ads", "were"),
        "clicks_per_spend" => ("clicks for the money spent on ads", "were"),
        "share_of_visitors" => ("the share of visits", "was"),
        "orders_per_visitor_of_all" => ("orders per visit to the shop", "were"),
        "conversion" => ("the part of visits that became orders", "was"),
        "customers" => ("customers who bought", "were"),
        "new_customers" => ("new customers", "were"),
        "returning_customers" => ("returning customers", "were"),
        "orders_per_customer" => ("orders per customer", "were"),
        "units_per_order" => ("units per order", "were"),
        "price_per_unit" => ("the average price of a unit", "was"),
        "aov" => ("the average order", "was"),
        "refunds" => ("refunds", "were"),
        "refund_rate" => ("the part of sales that was refunded", "was"),
        "cogs" => ("the cost of what was sold", "was"),
        "fees" => ("fees", "were"),
        "shipping" => ("shipping costs", "were"),
        "ad_spend" => ("spending on ads", "was"),
        "extra_expenses" => ("other expenses", "were"),
        "cogs_per_gross_revenue" => ("the cost of goods per sale", "was"),
        "fees_per_gross_revenue" => ("fees per sale", "were"),
        "shipping_per_gross_revenue" => ("shipping costs per sale", "were"),
        _ => ("another figure", "was"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn driver(level: u8, metric: &str, part: Option<(Dimension, &str)>, share: f64, was: (f64, f64)) -> Driver {
        let (observed, expected) = was;
        Driver {
            level,
            metric: metric.into(),
            dimension: part.map(|(dimension, _)| dimension),
            part: part.map(|(_, part)| part.into()),
            effect: -100.0 * share,
            share,
            observed,
            expected,
            direction: if observed < expected { Direction::Down } else { Direction::Up },
        }
    }

    #[rstest]
    #[case(&[driver(1, "conversion", None, 0.97, (0.012, 0.03)), driver(1, "visitors", None, 0.03, (9.0, 10.0))],
        "the part of visits that became orders was 60 % below what was expected (97 % of the difference)")]
    #[case(&[driver(1, "visitors", None, 0.8, (50.0, 100.0)), driver(2, "ad_clicks", None, 1.0, (10.0, 40.0))],
        "visits were 50 % below what was expected, as clicks on ads were 75 % below what was expected (80 % of the difference)")]
    #[case(&[driver(1, "orders", Some((Dimension::CountryPlatform, "BR/shopify")), 0.95, (0.0, 40.0))],
        "orders in BR on shopify were 100 % below what was expected (95 % of the difference)")]
    #[case(&[driver(1, "ad_spend", Some((Dimension::Campaign, "google/Shopping")), 1.0, (400.0, 100.0))],
        "spending on ads for the campaign Shopping on google was 4.0 times what was expected (100 % of the difference)")]
    #[case(&[driver(1, "refunds", None, 1.0, (8_509_000.0, 0.1))],
        "refunds were far above what was expected (100 % of the difference)")]
    fn a_cause_is_the_way_to_it(#[case] drivers: &[Driver], #[case] said: &str) {
        assert_eq!(cause(Cause::Traffic, 100.0, drivers), said);
    }

    #[test]
    fn a_closed_day_is_said_to_be_one() {
        let said = "the shop sold nothing that day, where about 44 orders are usual";
        assert_eq!(cause(Cause::ClosedDay, 44.2, &[]), said);
    }
}
