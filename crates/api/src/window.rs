//! Windows of days that end today.

use domain::{profit::DayRange, zone::Zone};
use time::{Date, Duration, OffsetDateTime};

/// The `days` dates that end with the day of `now` in `zone`.
pub fn ending_today(zone: &Zone, now: OffsetDateTime, days: i64) -> DayRange {
    let last = zone.day_of(now);
    let first = last.checked_sub(Duration::days(days.saturating_sub(1))).unwrap_or(Date::MIN);
    DayRange { first, last }
}

/// The `days` dates that end with the day before that of `now` in `zone`.
pub fn before_today(zone: &Zone, now: OffsetDateTime, days: i64) -> DayRange {
    let day_before = |day: Date| day.previous_day().unwrap_or(Date::MIN);
    let DayRange { first, last } = ending_today(zone, now, days);
    DayRange { first: day_before(first), last: day_before(last) }
}

#[cfg(test)]
mod tests {
    use time::macros::{date, datetime};

    use super::*;

    #[test]
    fn days_are_dates_of_the_zone_today_included() {
        let zone: Zone = "America/Sao_Paulo".parse().unwrap();
        let range = ending_today(&zone, datetime!(2026-03-01 02:59 UTC), 30);
        assert_eq!((range.first, range.last), (date!(2026 - 01 - 30), date!(2026 - 02 - 28)));
        assert_eq!(ending_today(&zone, datetime!(2026-03-01 03:00 UTC), 1).first, date!(2026 - 03 - 01));
    }

    #[test]
    fn full_days_end_with_the_day_before() {
        let zone: Zone = "America/Sao_Paulo".parse().unwrap();
        let range = before_today(&zone, datetime!(2026-03-02 02:59 UTC), 2);
        assert_eq!((range.first, range.last), (date!(2026 - 02 - 27), date!(2026 - 02 - 28)));
    }
}
