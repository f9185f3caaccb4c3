//! The shop's days: numbered from its first one, each with its instants and how busy it is.

use domain::zone::Zone;
use time::{Date, Duration, Month, OffsetDateTime, PrimitiveDateTime, Time};

use super::draw::Draw;

/// Days of the shop's history before the day on which it is loaded for the first time.
pub const HISTORY_DAYS: usize = 730;

/// Thousandths of an average day, for the middle of each month: a quiet summer, a strong end of the year.
const MONTHS: [i64; 12] = [930, 930, 960, 980, 1_010, 1_000, 980, 990, 1_000, 1_030, 1_080, 1_090];
/// Thousandths of an average day, Monday to Sunday.
const WEEKDAYS: [i64; 7] = [1_090, 1_060, 1_020, 1_000, 960, 870, 1_000];
/// Thousandths of the first day's demand at the end of the history, and in a straight line on both sides of it.
const GROWTH: (i64, i64) = (1_000, 5_000);
/// Which hours people buy in, as shares of 1,000 from midnight on.
const HOURS: [u64; 24] = [14, 8, 5, 4, 4, 6, 12, 22, 36, 48, 55, 57, 56, 54, 54, 55, 57, 60, 63, 68, 78, 80, 64, 40];
const DAY_SECONDS: i64 = 86_400;

/// Days from the first one to the one that holds the instant up to which the shop is wanted.
#[derive(Debug, Clone)]
pub(super) struct Calendar {
    first: Date,
    zone: Zone,
    /// Unix seconds at which each day starts, and at which the last one ends.
    starts: Vec<i64>,
    /// The instant up to which things happened, in Unix seconds.
    pub(super) until: i64,
}

impl Calendar {
    /// Days 0 to that of `until`; `opening` is day [`HISTORY_DAYS`].
    pub(super) fn new(opening: Date, zone: &Zone, until: OffsetDateTime) -> Self {
        let first = opening.saturating_sub(days(HISTORY_DAYS));
        let last = (zone.day_of(until) - first).whole_days().max(0);
        let starts = (0..=last + 1)
            .map(|day| zone.start_of(first.saturating_add(Duration::days(day))).unix_timestamp())
            .collect();
        Self { first, zone: zone.clone(), starts, until: until.unix_timestamp() }
    }

    /// How many days there are, the last one begun and perhaps not over.
    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub(super) fn date(&self, day: usize) -> Date {
        self.first.saturating_add(days(day))
    }

    /// The number of a date; days before the first are the first.
    pub(super) fn number(&self, date: Date) -> usize {
        usize::try_from((date - self.first).whole_days()).unwrap_or_default()
    }

    /// When the day starts, in Unix seconds.
    pub(super) fn start(&self, day: usize) -> i64 {
        self.starts.get(day).copied().unwrap_or(i64::MAX)
    }

    /// The instant of a time of day given in seconds since midnight.
    pub(super) fn at(&self, day: usize, seconds: i64) -> i64 {
        let clock = Time::MIDNIGHT + Duration::seconds(seconds.clamp(0, DAY_SECONDS - 1));
        // Two years of orders: days without a clock change need no look-up.
        if self.start(day + 1).saturating_sub(self.start(day)) == DAY_SECONDS {
            return self.start(day) + seconds.clamp(0, DAY_SECONDS - 1);
        }
        self.zone.instant_of(PrimitiveDateTime::new(self.date(day), clock)).unix_timestamp()
    }

    /// How much of the day is over, in millionths.
    pub(super) fn elapsed(&self, day: usize) -> i64 {
        let (start, end) = (self.start(day), self.start(day + 1));
        let length = end.saturating_sub(start).max(1);
        (self.until.saturating_sub(start).clamp(0, length)) * 1_000_000 / length
    }

    /// How busy the day is, in thousandths of an average day: by weekday and season.
    pub(super) fn weight(&self, day: usize) -> i64 {
        let date = self.date(day);
        let weekday = usize::from(date.weekday().number_days_from_monday());
        season(date) * WEEKDAYS.get(weekday).copied().unwrap_or(1_000) / 1_000
    }
}

/// Demand that the shop's growth makes, in thousandths of the first day's.
pub(super) fn growth(day: usize) -> i64 {
    let day = i64::try_from(day).unwrap_or(i64::MAX / 10_000);
    GROWTH.0 + (GROWTH.1 - GROWTH.0) * day / HISTORY_DAYS as i64
}

/// In a straight line from the middle of a month to that of the next.
fn season(date: Date) -> i64 {
    let month = |month: Month| MONTHS.get(usize::from(u8::from(month)) - 1).copied().unwrap_or(1_000);
    let (here, day) = (month(date.month()), i64::from(date.day()));
    let (other, distance) =
        if day < 15 { (month(date.month().previous()), 15 - day) } else { (month(date.month().next()), day - 15) };
    (here * (30 - distance) + other * distance) / 30
}

/// A time of day, in seconds since midnight, when people are about.
pub(super) fn time_of_day(draw: &mut Draw) -> i64 {
    let mut left = draw.below(HOURS.iter().sum());
    let mut hour = 0;
    for share in HOURS {
        if left < share {
            break;
        }
        left -= share;
        hour += 1;
    }
    hour * 3_600 + draw.between(0, 3_599)
}

fn days(count: usize) -> Duration {
    Duration::days(i64::try_from(count).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use time::macros::{date, datetime};

    use super::*;

    #[test]
    fn hours_share_a_thousand() {
        assert_eq!(HOURS.iter().sum::<u64>(), 1_000);
    }

    #[test]
    fn days_are_numbered_from_two_years_before_the_opening() {
        let zone = "America/Argentina/Buenos_Aires".parse().unwrap();
        let calendar = Calendar::new(date!(2026 - 05 - 02), &zone, datetime!(2026-05-02 15:00 UTC));
        assert_eq!(calendar.date(0), date!(2024 - 05 - 02));
        assert_eq!((calendar.len(), calendar.number(date!(2026 - 05 - 02))), (731, 730));
        assert_eq!(calendar.start(730), datetime!(2026-05-02 03:00 UTC).unix_timestamp());
        // Noon in Buenos Aires.
        assert_eq!(calendar.elapsed(730), 500_000);
        assert_eq!(calendar.elapsed(729), 1_000_000);
    }

    #[test]
    fn a_time_of_day_is_told_by_the_clock_on_the_day_of_a_clock_change() {
        let zone = "Europe/Madrid".parse().unwrap();
        let calendar = Calendar::new(date!(2026 - 03 - 30), &zone, datetime!(2026-03-30 12:00 UTC));
        let day = calendar.number(date!(2026 - 03 - 29));
        assert_eq!(calendar.at(day, 23 * 3_600), datetime!(2026-03-29 21:00 UTC).unix_timestamp());
        assert_eq!(calendar.at(day, 0), datetime!(2026-03-28 23:00 UTC).unix_timestamp());
    }

    #[test]
    fn seasons_meet_at_the_ends_of_months() {
        assert_eq!(season(date!(2026 - 01 - 15)), 930);
        assert_eq!(season(date!(2026 - 12 - 15)), 1_090);
        assert_eq!(season(date!(2025 - 12 - 31)), (1_090 * 14 + 930 * 16) / 30);
    }
}
