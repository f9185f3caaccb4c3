//! How long a stock lasts.
//!
//! Demand is an estimate, so these are numbers of statistics. It is handed in as a function that never decreases: the
//! units expected to be sold from tomorrow up to and including a day (1 = tomorrow), 0 for day 0.

use time::{Date, Duration};

use crate::inventory::Status;

/// Days of stock are cut to a century: enough for "never" and still a date.
pub const FARTHEST_DAYS: u32 = 36_500;
/// Days ahead that the velocity is the mean of.
const VELOCITY_DAYS: u32 = 28;

/// An item is critical when its stock lasts for this many days or less, and when it is out of stock.
pub const CRITICAL_DAYS: u32 = 7;
/// An item is low when its stock lasts for this many days or less.
pub const LOW_DAYS: u32 = 21;
/// An item is overstocked when its stock lasts for more days than these.
pub const OVERSTOCKED_DAYS: u32 = 120;

/// Units a day: the mean expected of the next 28 days. `None` when nothing is expected to sell.
pub fn velocity(demand_until: impl Fn(u32) -> f64) -> Option<f64> {
    let velocity = demand_until(VELOCITY_DAYS) / f64::from(VELOCITY_DAYS);
    (velocity > 0.0).then_some(velocity)
}

/// Days until the expected demand has used `stock` up, with the fraction of the last day; at most [`FARTHEST_DAYS`]. A
/// stock that is negative, or no number, lasts 0 days. `None` when nothing is expected to sell, as for [`velocity`].
pub fn days_of_stock(stock: f64, demand_until: impl Fn(u32) -> f64) -> Option<f64> {
    velocity(&demand_until)?;
    let stock = stock.max(0.0);
    // Invariant: the stock outlasts the days before `low`, and not those up to `high` (or the farthest).
    let (mut low, mut high) = (0, FARTHEST_DAYS);
    while low < high {
        let middle = low + (high - low) / 2;
        if demand_until(middle + 1) < stock {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let before = demand_until(low);
    let of_day = demand_until(low + 1) - before;
    let days = f64::from(low) + if of_day > 0.0 { (stock - before) / of_day } else { 0.0 };
    Some(days.min(f64::from(FARTHEST_DAYS)))
}

/// The day on which the last unit is expected to leave, counted from the last full day: today at the earliest. `None` when
/// there is no such date.
pub fn stockout_date(last_full_day: Date, days_of_stock: f64) -> Option<Date> {
    last_full_day.checked_add(Duration::days(days_of_stock.ceil().max(1.0) as i64))
}

/// Whether there is nothing left of an item. Its status is then critical.
pub const fn is_out_of_stock(current_stock: i64) -> bool {
    current_stock <= 0
}

/// Whether an item is out of stock that would sell: it did within 30 days.
pub const fn is_stockout(current_stock: i64, units_sold_30d: i64) -> bool {
    is_out_of_stock(current_stock) && units_sold_30d > 0
}

/// How urgent an item is; of one that is in stock and does not sell, nothing is.
pub fn status(current_stock: i64, days_of_stock: Option<f64>) -> Status {
    match days_of_stock {
        _ if is_out_of_stock(current_stock) => Status::Critical,
        Some(days) if days <= CRITICAL_DAYS.into() => Status::Critical,
        Some(days) if days <= LOW_DAYS.into() => Status::Low,
        Some(days) if days > OVERSTOCKED_DAYS.into() => Status::Overstocked,
        _ => Status::Ok,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::macros::date;

    use super::*;

    /// Ten units every day.
    fn steady(day: u32) -> f64 {
        10.0 * f64::from(day)
    }

    /// Seven units on every seventh day.
    fn weekly(day: u32) -> f64 {
        7.0 * f64::from(day / 7)
    }

    #[rstest]
    #[case(45.0, 4.5)]
    #[case(40.0, 4.0)]
    #[case(1.0, 0.1)]
    #[case(0.0, 0.0)]
    #[case(-3.0, 0.0)]
    #[case(f64::NAN, 0.0)]
    #[case(7_300.0, 730.0)]
    #[case(364_999.0, 36_499.9)]
    #[case(365_001.0, 36_500.0)]
    #[case(f64::INFINITY, 36_500.0)]
    fn a_steady_seller_lasts_stock_over_velocity(#[case] stock: f64, #[case] days: f64) {
        assert_eq!(velocity(steady), Some(10.0));
        let found = days_of_stock(stock, steady).unwrap();
        assert!((found - days).abs() < 1e-9, "{found}");
    }

    #[rstest]
    #[case(7.0, 7.0)]
    #[case(8.0, 13.0 + 1.0 / 7.0)]
    #[case(3.5, 6.5)]
    fn a_stock_lasts_over_days_without_demand(#[case] stock: f64, #[case] days: f64) {
        assert_eq!(velocity(weekly), Some(1.0));
        assert_eq!(days_of_stock(stock, weekly), Some(days));
    }

    #[test]
    fn what_does_not_sell_has_no_days_of_stock() {
        assert_eq!((velocity(|_| 0.0), days_of_stock(5.0, |_| 0.0), days_of_stock(0.0, |_| 0.0)), (None, None, None));
    }

    #[rstest]
    #[case(10, Some(7.0), Status::Critical)]
    #[case(10, Some(7.1), Status::Low)]
    #[case(10, Some(21.0), Status::Low)]
    #[case(10, Some(120.0), Status::Ok)]
    #[case(10, Some(120.5), Status::Overstocked)]
    #[case(10, None, Status::Ok)]
    #[case(0, None, Status::Critical)]
    #[case(-1, Some(200.0), Status::Critical)]
    fn the_status_follows_from_the_days(#[case] stock: i64, #[case] days: Option<f64>, #[case] expected: Status) {
        assert_eq!(status(stock, days), expected);
    }

    #[rstest]
    #[case(0.0, Some(date!(2026 - 03 - 02)))]
    #[case(4.5, Some(date!(2026 - 03 - 06)))]
    #[case(5.0, Some(date!(2026 - 03 - 06)))]
    #[case(36_500.0, Some(date!(2126 - 02 - 05)))]
    fn the_last_unit_leaves_on_a_day(#[case] days: f64, #[case] expected: Option<Date>) {
        assert_eq!(stockout_date(date!(2026 - 03 - 01), days), expected);
        assert_eq!(stockout_date(Date::MAX, days), None);
    }

    #[rstest]
    #[case(0, 1, true)]
    #[case(-4, 2, true)]
    #[case(0, 0, false)]
    #[case(1, 9, false)]
    fn an_item_is_a_stockout_when_nothing_is_left_of_what_sells(
        #[case] current_stock: i64,
        #[case] units_sold_30d: i64,
        #[case] expected: bool,
    ) {
        assert_eq!(is_stockout(current_stock, units_sold_30d), expected);
    }
}
