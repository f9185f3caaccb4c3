//! The account's time zone: which calendar day an instant belongs to.

use std::{fmt, str::FromStr};

use time::{Date, OffsetDateTime};

/// An IANA time zone, such as `America/Sao_Paulo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(jiff::tz::TimeZone);

/// A text is not the name of a time zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a time zone is an IANA name, such as Europe/London")]
pub struct UnknownZone;

impl Zone {
    pub const fn utc() -> Self {
        Self(jiff::tz::TimeZone::UTC)
    }

    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The calendar day of `instant` in this zone.
    pub fn day_of(&self, instant: OffsetDateTime) -> Date {
        let local = self.0.to_datetime(to_timestamp(instant));
        to_date(local.date())
    }

    /// The wall-clock time of `instant` in this zone.
    pub fn local(&self, instant: OffsetDateTime) -> OffsetDateTime {
        let offset = self.0.to_offset(to_timestamp(instant)).seconds();
        time::UtcOffset::from_whole_seconds(offset).map_or(instant, |offset| instant.to_offset(offset))
    }

    /// The first instant of `day` in this zone (the later side of a gap, the earlier side of a fold).
    pub fn start_of(&self, day: Date) -> OffsetDateTime {
        let civil = jiff::civil::Date::new(
            i16::try_from(day.year()).unwrap_or(i16::MAX),
            i8::try_from(u8::from(day.month())).unwrap_or(1),
            i8::try_from(day.day()).unwrap_or(1),
        );
        civil
            .and_then(|date| date.to_zoned(self.0.clone()))
            .ok()
            .and_then(|zoned| OffsetDateTime::from_unix_timestamp(zoned.timestamp().as_second()).ok())
            .unwrap_or_else(|| day.midnight().assume_utc())
    }

    /// The instant that `local` (a wall-clock time without zone) means here; ambiguous times take the earlier one.
    pub fn instant_of(&self, local: time::PrimitiveDateTime) -> OffsetDateTime {
        let (date, clock) = (local.date(), local.time());
        let civil = jiff::civil::DateTime::new(
            i16::try_from(date.year()).unwrap_or(i16::MAX),
            i8::try_from(u8::from(date.month())).unwrap_or(1),
            i8::try_from(date.day()).unwrap_or(1),
            i8::try_from(clock.hour()).unwrap_or(0),
            i8::try_from(clock.minute()).unwrap_or(0),
            i8::try_from(clock.second()).unwrap_or(0),
            i32::try_from(clock.nanosecond()).unwrap_or(0),
        );
        civil
            .and_then(|datetime| self.0.to_ambiguous_timestamp(datetime).compatible())
            .ok()
            .and_then(|timestamp| OffsetDateTime::from_unix_timestamp_nanos(timestamp.as_nanosecond()).ok())
            .unwrap_or_else(|| local.assume_utc())
    }
}

fn to_timestamp(instant: OffsetDateTime) -> jiff::Timestamp {
    jiff::Timestamp::from_nanosecond(instant.unix_timestamp_nanos()).unwrap_or_default()
}

fn to_date(date: jiff::civil::Date) -> Date {
    u8::try_from(date.month())
        .ok()
        .and_then(|month| time::Month::try_from(month).ok())
        .and_then(|month| Date::from_calendar_date(i32::from(date.year()), month, u8::try_from(date.day()).ok()?).ok())
        .unwrap_or(Date::MIN)
}

impl FromStr for Zone {
    type Err = UnknownZone;
    fn from_str(name: &str) -> Result<Self, UnknownZone> {
        let zone = jiff::tz::TimeZone::get(name).map_err(|_| UnknownZone)?;
        // Only names are accepted that the database, which cuts days too, knows as well.
        if zone.iana_name().is_some() { Ok(Self(zone)) } else { Err(UnknownZone) }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::macros::{date, datetime};

    use super::*;

    #[rstest]
    #[case("America/Sao_Paulo", datetime!(2026-03-01 02:59:59 UTC), date!(2026-02-28))]
    #[case("America/Sao_Paulo", datetime!(2026-03-01 03:00 UTC), date!(2026-03-01))]
    #[case("Europe/London", datetime!(2026-07-01 23:30 UTC), date!(2026-07-02))]
    #[case("UTC", datetime!(2026-07-01 23:30 UTC), date!(2026-07-01))]
    fn an_instant_belongs_to_its_local_day(#[case] zone: &str, #[case] instant: OffsetDateTime, #[case] day: Date) {
        assert_eq!(zone.parse::<Zone>().unwrap().day_of(instant), day);
    }

    #[test]
    fn a_day_of_a_clock_change_has_23_or_25_hours() {
        let london: Zone = "Europe/London".parse().unwrap();
        let hours = |day: Date| (london.start_of(day.next_day().unwrap()) - london.start_of(day)).whole_hours();
        assert_eq!((hours(date!(2026 - 03 - 29)), hours(date!(2026 - 10 - 25))), (23, 25));
    }

    #[test]
    fn an_unknown_name_is_refused() {
        assert_eq!("Mars/Olympus".parse::<Zone>(), Err(UnknownZone));
    }
}
