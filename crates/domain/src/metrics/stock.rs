//! How long a stock lasts.
//!
//! Demand is an estimate, so these are numbers of statistics. It is handed in as a function that never decreases: the
//! units expected to be sold from tomorrow up to and including a day (1 = tomorrow), 0 for day 0.

use rust_decimal::Decimal;
use time::{Date, Duration};

use crate::{
    inventory::Status,
    money::{ratio, round},
};

/// Beyond two years a number of days tells nothing: whether the stock ever sells is then the question.
pub const FARTHEST_DAYS: u32 = 730;
/// Days ahead that the velocity is the mean of.
const VELOCITY_DAYS: u32 = 28;

/// An item is critical when its stock lasts for this many days or less, and when it is out of stock.
pub const CRITICAL_DAYS: u32 = 7;
/// An item is low when its stock lasts for this many days or less.
pub const LOW_DAYS: u32 = 21;
/// An item is overstocked when its stock lasts for more days than these.
pub const OVERSTOCKED_DAYS: u32 = 120;

/// How long a stock lasts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cover {
    /// Nothing is expected to sell.
    NoDemand,
    /// Days until the expected demand has used it up, with the fraction of the last day; at most [`FARTHEST_DAYS`].
    Days(f64),
    /// For longer than [`FARTHEST_DAYS`].
    Longer,
}

impl Cover {
    /// Of `stock` units; one that is negative, or no number, lasts 0 days.
    pub fn of(stock: f64, demand_until: impl Fn(u32) -> f64) -> Self {
        if velocity(&demand_until) <= 0.0 {
            return Self::NoDemand;
        }
        let stock = stock.max(0.0);
        if demand_until(FARTHEST_DAYS) < stock {
            return Self::Longer;
        }
        // Invariant: the stock outlasts the days before `low`, and not those up to `high`.
        let (mut low, mut high) = (0, FARTHEST_DAYS - 1);
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
        Self::Days(f64::from(low) + if of_day > 0.0 { (stock - before) / of_day } else { 0.0 })
    }

    /// To a tenth of a day, as it is shown; what follows from it is not to contradict it.
    #[must_use]
    pub fn shown(self) -> Self {
        match self {
            Self::Days(days) => Self::Days((days * 10.0).round_ties_even() / 10.0),
            Self::NoDemand | Self::Longer => self,
        }
    }

    /// The number of days, where there is one.
    pub const fn days(self) -> Option<f64> {
        match self {
            Self::Days(days) => Some(days),
            Self::NoDemand | Self::Longer => None,
        }
    }
}

/// Units a day: the mean expected of the next 28 days; 0 when nothing is expected to sell.
pub fn velocity(demand_until: impl Fn(u32) -> f64) -> f64 {
    (demand_until(VELOCITY_DAYS) / f64::from(VELOCITY_DAYS)).max(0.0)
}

/// Units a day over past days, to four decimals.
pub fn average_daily_units(units: i64, days: i64) -> Decimal {
    round(ratio(units.into(), days.into()), 4)
}

/// The day on which the last unit is expected to leave, counted from the last full day: today at the earliest. `None` when
/// there is no such date.
pub fn stockout_date(last_full_day: Date, days_of_stock: f64) -> Option<Date> {
    last_full_day.checked_add(Duration::days(days_of_stock.ceil().max(1.0) as i64))
}

/// The most units of an item that count as none: shops report what they have promised beyond their stock as less than 0.
pub const OUT_OF_STOCK: i64 = 0;

/// Whether there is nothing left of an item. Its status is then critical.
pub const fn is_out_of_stock(current_stock: i64) -> bool {
    current_stock <= OUT_OF_STOCK
}

/// Whether an item is out of stock that would sell: it did within 30 days.
pub const fn is_stockout(current_stock: i64, units_sold_30d: i64) -> bool {
    is_out_of_stock(current_stock) && units_sold_30d > 0
}

/// What is lost on units of an item that are missed for lack of stock: what each would have brought, which is nothing where it
/// sells at a loss.
pub const fn lost_on(missed_units: f64, unit_contribution: f64) -> f64 {
    missed_units * unit_contribution.max(0.0)
}

/// How urgent an item is. Of one that does not sell, it is not urgent that nothing is left, and anything left is too much.
pub fn status(current_stock: i64, cover: Cover) -> Status {
    match cover {
        Cover::NoDemand if is_out_of_stock(current_stock) => Status::Ok,
        Cover::NoDemand => Status::Overstocked,
        _ if is_out_of_stock(current_stock) => Status::Critical,
        Cover::Days(days) if days <= CRITICAL_DAYS.into() => Status::Critical,
        Cover::Days(days) if days <= LOW_DAYS.into() => Status::Low,
        Cover::Days(days) if days <= OVERSTOCKED_DAYS.into() => Status::Ok,
        Cover::Days(_) | Cover::Longer => Status::Overstocked,
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
    #[case(7_299.0, 729.9)]
    #[case(7_300.0, 730.0)]
    fn a_steady_seller_lasts_stock_over_velocity(#[case] stock: f64, #[case] days: f64) {
        assert!((velocity(steady) - 10.0).abs() < 1e-9);
        let found = Cover::of(stock, steady).days().unwrap();
        assert!((found - days).abs() < 1e-9, "{found}");
    }

    #[rstest]
    #[case(7_301.0)]
    #[case(365_000.0)]
    #[case(f64::INFINITY)]
    fn beyond_two_years_there_is_no_number_of_days(#[case] stock: f64) {
        assert_eq!(Cover::of(stock, steady), Cover::Longer);
        assert_eq!(Cover::Longer.days(), None);
        // What is shown as 7.0 days is critical, as 7 days are.
        assert_eq!((Cover::Days(7.04).shown(), Cover::Longer.shown()), (Cover::Days(7.0), Cover::Longer));
    }

    #[rstest]
    #[case(7.0, 7.0)]
    #[case(8.0, 13.0 + 1.0 / 7.0)]
    #[case(3.5, 6.5)]
    fn a_stock_lasts_over_days_without_demand(#[case] stock: f64, #[case] days: f64) {
        assert!((velocity(weekly) - 1.0).abs() < 1e-9);
        assert_eq!(Cover::of(stock, weekly), Cover::Days(days));
    }

    #[test]
    fn what_does_not_sell_has_no_days_of_stock() {
        assert_eq!((Cover::of(5.0, |_| 0.0), Cover::of(0.0, |_| 0.0)), (Cover::NoDemand, Cover::NoDemand));
        assert!(velocity(|_| 0.0).abs() < f64::EPSILON);
    }

    #[rstest]
    #[case(10, Cover::Days(7.0), Status::Critical)]
    #[case(10, Cover::Days(7.1), Status::Low)]
    #[case(10, Cover::Days(21.0), Status::Low)]
    #[case(10, Cover::Days(120.0), Status::Ok)]
    #[case(10, Cover::Days(120.5), Status::Overstocked)]
    #[case(10, Cover::Longer, Status::Overstocked)]
    #[case(10, Cover::NoDemand, Status::Overstocked)]
    #[case(0, Cover::NoDemand, Status::Ok)]
    #[case(-2, Cover::NoDemand, Status::Ok)]
    #[case(-1, Cover::Days(0.0), Status::Critical)]
    fn the_status_follows_from_the_cover(#[case] stock: i64, #[case] cover: Cover, #[case] expected: Status) {
        assert_eq!(status(stock, cover), expected);
    }

    #[rstest]
    #[case(0.0, Some(date!(2026 - 03 - 02)))]
    #[case(4.5, Some(date!(2026 - 03 - 06)))]
    #[case(5.0, Some(date!(2026 - 03 - 06)))]
    #[case(730.0, Some(date!(2028 - 02 - 29)))]
    fn the_last_unit_leaves_on_a_day(#[case] days: f64, #[case] expected: Option<Date>) {
        assert_eq!(stockout_date(date!(2026 - 03 - 01), days), expected);
        assert_eq!(stockout_date(Date::MAX, days), None);
    }

    #[rstest]
    #[case(50.0, 4.0, 200.0)]
    #[case(50.0, -4.0, 0.0)]
    #[case(0.0, 4.0, 0.0)]
    fn what_is_missed_would_have_brought_its_contribution(#[case] missed: f64, #[case] unit: f64, #[case] lost: f64) {
        assert!((lost_on(missed, unit) - lost).abs() < 1e-9);
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
