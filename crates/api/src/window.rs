//! Windows of days: that end today, yesterday or with a day before, or as a request says.

use domain::{instants, profit::DayRange, zone::Zone};
use serde::{Deserialize, Deserializer, de};
use time::{Date, Duration, OffsetDateTime};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{KnownFormat, RefOr, Schema, SchemaFormat, Type, schema::ObjectBuilder},
};

use crate::{
    error::{ApiError, Code},
    input::YEARS,
};

/// Reads a day of a query.
///
/// # Errors
/// What it has to look like.
pub fn day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
    let text = String::deserialize(deserializer)?;
    instants::parse_day(&text).map_err(|_| de::Error::custom("must be a date such as 2026-05-01"))
}

/// The schema of such a day.
pub fn schema_of_day(what: &str) -> RefOr<Schema> {
    of_day().description(Some(what)).into()
}

fn of_day() -> ObjectBuilder {
    let day = ObjectBuilder::new().schema_type(Type::String).pattern(Some(YEARS));
    day.format(Some(SchemaFormat::KnownFormat(KnownFormat::Date)))
}

/// A day of a window.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub struct Day(#[serde(deserialize_with = "day")] pub Date);

impl PartialSchema for Day {
    fn schema() -> RefOr<Schema> {
        of_day().into()
    }
}

impl ToSchema for Day {}

/// The last day of a window.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub struct Until(#[serde(deserialize_with = "day")] Date);

impl Until {
    /// The `days` dates that end with it, or with the last day of `newest` where it is not said.
    ///
    /// # Errors
    /// When it is after that.
    pub fn window(until: Option<Self>, newest: DayRange, days: i64) -> Result<DayRange, ApiError> {
        match until {
            None => Ok(newest),
            Some(Self(last)) if last <= newest.last => Ok(ending(last, days)),
            Some(_) => Err(ApiError::parameter("until", &format!("must not be after {}", newest.last))),
        }
    }
}

impl PartialSchema for Until {
    fn schema() -> RefOr<Schema> {
        schema_of_day("The last day of the window, where it is an earlier one.")
    }
}

impl ToSchema for Until {}

/// The `days` dates that end with `last`.
pub fn ending(last: Date, days: i64) -> DayRange {
    let first = last.checked_sub(Duration::days(days.saturating_sub(1))).unwrap_or(Date::MIN);
    DayRange { first, last }
}

/// The `days` dates that end with the day of `now` in `zone`.
pub fn ending_today(zone: &Zone, now: OffsetDateTime, days: i64) -> DayRange {
    ending(zone.day_of(now), days)
}

/// The `days` dates that end with the day before that of `now` in `zone`.
pub fn before_today(zone: &Zone, now: OffsetDateTime, days: i64) -> DayRange {
    ending(zone.day_of(now).previous_day().unwrap_or(Date::MIN), days)
}

/// The days from `from` to `to`, both or neither of which are given: then nothing is. At most `most` of them.
///
/// # Errors
/// What is wrong with either.
pub fn between(from: Option<Day>, to: Option<Day>, most: i64) -> Result<Option<DayRange>, ApiError> {
    let missing = |name: &'static str, other: &str| {
        Err(ApiError::new(Code::MissingParameter).message(format!("`{name}` is required with `{other}`.")).param(name))
    };
    match (from, to) {
        (None, None) => Ok(None),
        (Some(_), None) => missing("to", "from"),
        (None, Some(_)) => missing("from", "to"),
        (Some(Day(first)), Some(Day(last))) if last < first => {
            Err(ApiError::parameter("to", &format!("must not be before `from`, {first}")))
        }
        (Some(Day(first)), Some(Day(last))) if (last - first).whole_days() >= most => {
            let fault = format!("must be one of the {most} days that begin with `from`, {first}");
            Err(ApiError::parameter("to", &fault))
        }
        (Some(Day(first)), Some(Day(last))) => Ok(Some(DayRange { first, last })),
    }
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
    fn a_window_that_is_asked_for_has_both_ends_and_is_not_too_long() {
        let day = |text: &str| Some(Day(domain::instants::parse_day(text).unwrap()));
        let fault = |from, to| {
            let error = between(from, to, 90).unwrap_err();
            (error.code, error.body("r").param.unwrap())
        };
        assert!(between(None, None, 90).unwrap().is_none());
        assert!(between(day("2026-01-01"), day("2026-03-31"), 90).unwrap().is_some(), "90 days");
        assert_eq!(fault(day("2026-01-01"), day("2026-04-01")), (Code::InvalidParameter, "to".to_owned()), "91 days");
        assert_eq!(fault(day("2026-01-02"), day("2026-01-01")), (Code::InvalidParameter, "to".to_owned()));
        assert_eq!(fault(day("2026-01-02"), None), (Code::MissingParameter, "to".to_owned()));
        assert_eq!(fault(None, day("2026-01-02")), (Code::MissingParameter, "from".to_owned()));
    }

    #[test]
    fn full_days_end_with_the_day_before() {
        let zone: Zone = "America/Sao_Paulo".parse().unwrap();
        let range = before_today(&zone, datetime!(2026-03-02 02:59 UTC), 2);
        assert_eq!((range.first, range.last), (date!(2026 - 02 - 27), date!(2026 - 02 - 28)));
    }

    #[test]
    fn a_window_ends_with_the_day_that_is_asked_for_if_it_is_over() {
        let newest = DayRange { first: date!(2026 - 02 - 27), last: date!(2026 - 02 - 28) };
        let window = |until| Until::window(until, newest, 2).map(|range| (range.first, range.last)).ok();
        assert_eq!(window(None), Some((newest.first, newest.last)));
        assert_eq!(window(Some(Until(date!(2026 - 01 - 01)))), Some((date!(2025 - 12 - 31), date!(2026 - 01 - 01))));
        assert_eq!(window(Some(Until(newest.last))), Some((newest.first, newest.last)));
        assert_eq!(window(Some(Until(date!(2026 - 03 - 01)))), None);
    }
}
