//! Windows of days that a person looks at, and what they are compared with.

use rust_decimal::Decimal;
use time::{Date, Duration};

use crate::{metrics::ratios, profit::DayRange};

text_enum!(
    /// How many days are looked at.
    Period { Week = "7d", Month = "30d", Quarter = "90d", Year = "12m" }
);

impl Period {
    pub const fn days(self) -> i64 {
        match self {
            Self::Week => 7,
            Self::Month => 30,
            Self::Quarter => 90,
            Self::Year => 365,
        }
    }

    /// The complete days of the period.
    pub fn before(self, today: Date) -> DayRange {
        complete_days(self.days(), today)
    }
}

/// So many complete days: they end with the day before `today`, which is not over yet.
pub fn complete_days(days: i64, today: Date) -> DayRange {
    DayRange { first: shifted(today, -days), last: shifted(today, -1) }
}

text_enum!(
    /// What a window is compared with.
    Comparison {
        /// The same number of days right before.
        Before = "before",
        /// The nearest window before that has the same weekdays.
        Weekdays = "weekdays",
        /// The same weekdays a year, that is 364 days, before; of a longer window the nearest that ends before it.
        Year = "year",
        Nothing = "none",
    }
);

/// Days of 52 weeks: a year before, on the same weekdays.
const YEAR_OF_WEEKS: i64 = 364;

impl Comparison {
    /// By how many days the window is moved back.
    pub const fn days_back(self, window: i64) -> Option<i64> {
        match self {
            Self::Before => Some(window),
            Self::Weekdays => Some(whole_weeks(window)),
            Self::Year if window > YEAR_OF_WEEKS => Some(whole_weeks(window)),
            Self::Year => Some(YEAR_OF_WEEKS),
            Self::Nothing => None,
        }
    }

    /// What `range` is compared with.
    pub fn of(self, range: DayRange) -> Option<DayRange> {
        let back = self.days_back(days(range))?;
        Some(DayRange { first: shifted(range.first, -back), last: shifted(range.last, -back) })
    }
}

/// The days of as many weeks as take up so many days.
const fn whole_weeks(days: i64) -> i64 {
    (days + 6) / 7 * 7
}

/// Days of a range, both ends included.
pub fn days(range: DayRange) -> i64 {
    (range.last - range.first).whole_days() + 1
}

/// The day a number of days later, or earlier; the calendar's end where there is none.
pub fn shifted(day: Date, by: i64) -> Date {
    let end = if by < 0 { Date::MIN } else { Date::MAX };
    day.checked_add(Duration::days(by)).unwrap_or(end)
}

/// How a figure differs from what it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// As a share of the amount before: 0.1 is a tenth more.
    Relative(Decimal),
    /// The difference of two shares.
    Points(Decimal),
}

impl Change {
    /// From `before` to `now` as a share of `before`; `None` where that says nothing: nothing before, or less than nothing.
    pub fn relative(now: Decimal, before: Decimal) -> Option<Self> {
        ratios::quotient(now - before, before).map(Self::Relative)
    }

    pub const fn amount(self) -> Decimal {
        match self {
            Self::Relative(amount) | Self::Points(amount) => amount,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rust_decimal::dec;
    use time::macros::date;

    use super::*;

    const TODAY: Date = date!(2026 - 11 - 22);

    #[test]
    fn a_period_ends_with_the_last_day_that_is_over() {
        let range = Period::Month.before(TODAY);
        assert_eq!((range.first, range.last), (date!(2026 - 10 - 23), date!(2026 - 11 - 21)));
        assert_eq!(days(range), 30);
    }

    #[test]
    fn thirty_days_are_compared_with_like_weekdays_five_weeks_before() {
        let range = Period::Month.before(TODAY);
        let with = |comparison: Comparison| comparison.of(range).map(|range| (range.first, range.last));
        assert_eq!(with(Comparison::Before), Some((date!(2026 - 09 - 23), date!(2026 - 10 - 22))));
        assert_eq!(with(Comparison::Weekdays), Some((date!(2026 - 09 - 18), date!(2026 - 10 - 17))));
        assert_eq!(with(Comparison::Year), Some((date!(2025 - 10 - 24), date!(2025 - 11 - 22))));
        assert_eq!(with(Comparison::Nothing), None);
    }

    #[test]
    fn a_year_is_compared_with_one_that_ends_before_it() {
        let range = Period::Year.before(TODAY);
        assert_eq!((range.first, range.last), (date!(2025 - 11 - 22), date!(2026 - 11 - 21)));
        let before = Comparison::Year.of(range).unwrap();
        assert_eq!((before.first, before.last), (date!(2024 - 11 - 16), date!(2025 - 11 - 15)));
        assert_eq!(Comparison::Year.days_back(364), Some(364));
    }

    #[test]
    fn a_change_from_nothing_or_less_says_nothing() {
        assert_eq!(Change::relative(dec!(110), dec!(100)), Some(Change::Relative(dec!(0.1))));
        assert_eq!(Change::relative(dec!(1), dec!(0)), None);
        assert_eq!(Change::relative(dec!(1), dec!(-5)), None);
    }

    proptest! {
        #[test]
        fn like_weekdays_are_alike_and_do_not_overlap(length in 1i64..400, first in 0i64..3000) {
            let first = shifted(date!(2020 - 01 - 01), first);
            let range = DayRange { first, last: shifted(first, length - 1) };
            for (comparison, most_between) in [(Comparison::Weekdays, 7), (Comparison::Year, 7_i64.max(365 - length))] {
                let before = comparison.of(range).unwrap();
                prop_assert_eq!(before.first.weekday(), range.first.weekday());
                prop_assert_eq!(days(before), length);
                prop_assert!(before.last < range.first);
                prop_assert!((range.first - before.last).whole_days() <= most_between);
            }
        }
    }
}
