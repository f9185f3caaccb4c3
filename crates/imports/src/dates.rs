//! Dates and instants in the formats that exports use.

use domain::{imports::DateOrder, instants, zone::Zone};
use time::{Date, Duration, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

/// Years that a date may lie in: what lies outside is a typing error or a placeholder.
const YEARS: std::ops::RangeInclusive<i32> = 1970..=2100;

/// What a text says, as far as it says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    date: Date,
    time: Time,
    offset: Option<UtcOffset>,
}

impl Moment {
    /// The instant in whole seconds; a text without an offset means the zone's clock. An offset or a zone can move a day
    /// at the edge of the years out of them.
    pub fn instant(&self, zone: &Zone) -> Result<OffsetDateTime, &'static str> {
        let local = PrimitiveDateTime::new(self.date, self.time);
        let instant = match self.offset {
            Some(offset) => local.assume_offset(offset),
            None => zone.instant_of(local),
        };
        instants::check(instant).map_err(|_| OUTSIDE)
    }

    /// The calendar day: as it is written, or the zone's day when an offset is given.
    pub fn day(&self, zone: &Zone) -> Result<Date, &'static str> {
        if self.offset.is_some() { self.instant(zone).map(|instant| zone.day_of(instant)) } else { Ok(self.date) }
    }
}

const OUTSIDE: &str = "refused-outside";
/// How far ahead a date may lie of what has happened: clocks differ, and a file may be of another zone than it says.
pub(super) const AHEAD: Duration = Duration::DAY;
pub(super) const FUTURE: &str = "refused-future";
const NOT_A_DATE: &str = "refused-not-a-date";
const UNDECIDED: &str = "refused-undecided";

/// Reads a date, with or without a time of day and an offset, or Unix seconds or milliseconds.
pub(super) fn moment(text: &str, order: Option<DateOrder>) -> Result<Moment, &'static str> {
    if text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return from_digits(text);
    }
    let end_of_date = text.find([' ', 'T', 't']).unwrap_or(text.len());
    let (date, rest) = text.split_at(end_of_date);
    let date = read_date(date, order)?;
    let (time, offset) = match rest.get(1..).map(str::trim) {
        None | Some("") => (Time::MIDNIGHT, None),
        Some(clock) => read_clock(clock)?,
    };
    Ok(Moment { date, time, offset })
}

/// Which order a date shows that it is in; `None` when it could be both, or is read in one order whatever the file's.
pub(super) fn evidence(text: &str) -> Option<DateOrder> {
    let (separator, [first, second, _]) = numbers(text.split([' ', 'T', 't']).next()?)?;
    let order = if separator == b'.' { None } else { only_order(first, second) };
    order.filter(|order| moment(text, Some(*order)).is_ok())
}

/// Whether a text is one date as day/month and another one as month/day.
pub(super) fn is_ambiguous(text: &str) -> bool {
    moment(text, None) == Err(UNDECIDED) && moment(text, Some(DateOrder::DayMonthYear)).is_ok()
}

/// The one order in which two numbers are a day and a month.
fn only_order(first: i64, second: i64) -> Option<DateOrder> {
    match (first, second) {
        (13..=31, 1..=12) => Some(DateOrder::DayMonthYear),
        (1..=12, 13..=31) => Some(DateOrder::MonthDayYear),
        _ => None,
    }
}

/// `20261231`, or seconds or milliseconds since 1970.
fn from_digits(text: &str) -> Result<Moment, &'static str> {
    let number: i64 = text.parse().map_err(|_| NOT_A_DATE)?;
    let seconds = match text.len() {
        8 => {
            let date = calendar(number / 10_000, number / 100 % 100, number % 100)?;
            return Ok(Moment { date, time: Time::MIDNIGHT, offset: None });
        }
        9 | 10 => number,
        13 => number / 1_000,
        _ => return Err(NOT_A_DATE),
    };
    let instant = OffsetDateTime::from_unix_timestamp(seconds).map_err(|_| NOT_A_DATE)?;
    within_years(instant.date())?;
    Ok(Moment { date: instant.date(), time: instant.time(), offset: Some(UtcOffset::UTC) })
}

/// Three numbers with one kind of separator between them.
fn numbers(text: &str) -> Option<(u8, [i64; 3])> {
    let separator = *text.as_bytes().iter().find(|byte| !byte.is_ascii_digit())?;
    let mut parts = text.split(char::from(separator));
    let mut number = || {
        let part = parts.next().filter(|part| (1..=4).contains(&part.len()))?;
        if part.bytes().all(|byte| byte.is_ascii_digit()) { part.parse().ok() } else { None }
    };
    let numbers = [number()?, number()?, number()?];
    (matches!(separator, b'-' | b'/' | b'.') && parts.next().is_none()).then_some((separator, numbers))
}

fn read_date(text: &str, order: Option<DateOrder>) -> Result<Date, &'static str> {
    let (separator, [first, second, third]) = numbers(text).ok_or(NOT_A_DATE)?;
    if text.bytes().take_while(u8::is_ascii_digit).count() == 4 {
        return calendar(first, second, third);
    }
    if text.bytes().rev().take_while(u8::is_ascii_digit).count() != 4 {
        return Err("refused-no-year");
    }
    match order {
        // 31.12.2026 is written where the day comes first.
        _ if separator == b'.' => calendar(third, second, first),
        Some(DateOrder::DayMonthYear) => calendar(third, second, first),
        Some(DateOrder::MonthDayYear) => calendar(third, first, second),
        Some(DateOrder::YearMonthDay) => Err("refused-not-year-first"),
        // The file shows no order, but this date can be read in one way only.
        None if first == second || only_order(first, second) == Some(DateOrder::DayMonthYear) => {
            calendar(third, second, first)
        }
        None if only_order(first, second) == Some(DateOrder::MonthDayYear) => calendar(third, first, second),
        None => Err(UNDECIDED),
    }
}

fn calendar(year: i64, month: i64, day: i64) -> Result<Date, &'static str> {
    let month = u8::try_from(month).ok().and_then(|month| Month::try_from(month).ok());
    let month = month.ok_or("refused-no-month")?;
    let (year, day) = (i32::try_from(year).unwrap_or(i32::MAX), u8::try_from(day).unwrap_or(u8::MAX));
    let date = Date::from_calendar_date(year, month, day).map_err(|_| "refused-no-day")?;
    within_years(date)?;
    Ok(date)
}

fn within_years(date: Date) -> Result<(), &'static str> {
    if YEARS.contains(&date.year()) { Ok(()) } else { Err(OUTSIDE) }
}

const NOT_A_TIME: &str = "refused-not-a-time";

/// `8:26`, `08:26:00.123`, with ` AM`/` p. m.`, and with `Z`, ` UTC`, `+01`, `+0100` or `-03:00` behind it.
fn read_clock(text: &str) -> Result<(Time, Option<UtcOffset>), &'static str> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(text.len());
    let (clock, rest) = text.split_at(end);
    let mut parts = clock.split(':');
    let mut hour = clock_number(parts.next())?;
    let minute = clock_number(parts.next())?;
    let second = match parts.next() {
        // Fractions of a second are dropped.
        Some(second) => clock_number(second.split('.').next())?,
        None => 0,
    };
    if parts.next().is_some() {
        return Err(NOT_A_TIME);
    }
    let rest = rest.trim();
    let rest = match half_of_day(rest) {
        Some(_) if !(1..=12).contains(&hour) => return Err(NOT_A_TIME),
        Some((is_afternoon, rest)) => {
            hour = hour % 12 + if is_afternoon { 12 } else { 0 };
            rest
        }
        None => rest,
    };
    let time = Time::from_hms(hour, minute, second).map_err(|_| NOT_A_TIME)?;
    Ok((time, read_offset(rest)?))
}

/// Whether it is the afternoon, where a text begins with `AM`, `pm` or, as in Spanish, `p. m.`; and what follows.
fn half_of_day(text: &str) -> Option<(bool, &str)> {
    let is_afternoon = text.starts_with(['P', 'p']);
    let rest = behind_dot(text.strip_prefix(['A', 'a', 'P', 'p'])?).strip_prefix(['M', 'm'])?;
    Some((is_afternoon, behind_dot(rest)))
}

fn behind_dot(text: &str) -> &str {
    text.strip_prefix('.').unwrap_or(text).trim_start()
}

fn clock_number(part: Option<&str>) -> Result<u8, &'static str> {
    let part = part.filter(|part| (1..=2).contains(&part.len())).ok_or(NOT_A_TIME)?;
    part.parse().map_err(|_| NOT_A_TIME)
}

fn read_offset(text: &str) -> Result<Option<UtcOffset>, &'static str> {
    const NOT_AN_OFFSET: &str = "refused-not-an-offset";
    let (sign, digits) = match text.split_at_checked(1) {
        None => return Ok(None),
        Some(("+", digits)) => (1, digits),
        Some(("-", digits)) => (-1, digits),
        _ if matches!(text, "Z" | "z" | "UTC" | "GMT") => return Ok(Some(UtcOffset::UTC)),
        _ => return Err(NOT_AN_OFFSET),
    };
    let digits = digits.replace(':', "");
    if !matches!(digits.len(), 2 | 4) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NOT_AN_OFFSET);
    }
    let number: i8 = digits.get(..2).and_then(|hours| hours.parse().ok()).ok_or(NOT_AN_OFFSET)?;
    let minutes: i8 =
        digits.get(2..).filter(|rest| !rest.is_empty()).map_or(Ok(0), str::parse).map_err(|_| NOT_AN_OFFSET)?;
    if number > 14 || minutes > 59 {
        return Err(NOT_AN_OFFSET);
    }
    UtcOffset::from_hms(sign * number, sign * minutes, 0).map(Some).map_err(|_| NOT_AN_OFFSET)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use time::macros::{date, datetime};

    use super::*;

    const DMY: Option<DateOrder> = Some(DateOrder::DayMonthYear);
    const MDY: Option<DateOrder> = Some(DateOrder::MonthDayYear);

    #[rstest]
    #[case("2010-07-01 08:26:00", None, datetime!(2010-07-01 07:26 UTC))]
    #[case("2010-07-01T08:26", None, datetime!(2010-07-01 07:26 UTC))]
    #[case("2010-07-01T08:26:59.999Z", None, datetime!(2010-07-01 08:26:59 UTC))]
    #[case("2010-07-01 08:26:00 -0300", None, datetime!(2010-07-01 11:26 UTC))]
    #[case("2010-07-01T08:26:00+05:30", None, datetime!(2010-07-01 02:56 UTC))]
    #[case("2010-07-01 08:26:00 UTC", None, datetime!(2010-07-01 08:26 UTC))]
    #[case("2010-12-01", None, datetime!(2010-12-01 00:00 UTC))]
    #[case("2010/12/01", None, datetime!(2010-12-01 00:00 UTC))]
    #[case("20101201", None, datetime!(2010-12-01 00:00 UTC))]
    #[case("1291191960", None, datetime!(2010-12-01 08:26 UTC))]
    #[case("1291191960123", None, datetime!(2010-12-01 08:26 UTC))]
    #[case("12/1/2010 8:26", MDY, datetime!(2010-12-01 08:26 UTC))]
    #[case("1/12/2010 8:26", DMY, datetime!(2010-12-01 08:26 UTC))]
    #[case("12/1/2010 8:26 PM", MDY, datetime!(2010-12-01 20:26 UTC))]
    #[case("12/1/2010 12:05:09 am", MDY, datetime!(2010-12-01 00:05:09 UTC))]
    #[case("1/12/2010 8:26 p. m.", DMY, datetime!(2010-12-01 20:26 UTC))]
    #[case("1/12/2010 12:05:09 a.\u{a0}m.", DMY, datetime!(2010-12-01 00:05:09 UTC))]
    #[case("1/12/2010 8:26 p.m. -03:00", DMY, datetime!(2010-12-01 23:26 UTC))]
    #[case("01-12-2010", DMY, datetime!(2010-12-01 00:00 UTC))]
    #[case("31.12.2010", None, datetime!(2010-12-31 00:00 UTC))]
    #[case("31/12/2010", None, datetime!(2010-12-31 00:00 UTC))]
    #[case("12/31/2010", None, datetime!(2010-12-31 00:00 UTC))]
    #[case("12/12/2010", None, datetime!(2010-12-12 00:00 UTC))]
    #[case("2010-12-31", DMY, datetime!(2010-12-31 00:00 UTC))]
    fn reads_instants(#[case] text: &str, #[case] order: Option<DateOrder>, #[case] instant: OffsetDateTime) {
        let london: Zone = "Europe/London".parse().unwrap();
        assert_eq!(moment(text, order).unwrap().instant(&london), Ok(instant));
    }

    #[rstest]
    #[case("")]
    #[case("yesterday")]
    #[case("2010-13-01")]
    #[case("2010-02-30")]
    #[case("2010-12-01 25:00")]
    #[case("2010-12-01 08")]
    #[case("2010-12-01 08:26:00:00")]
    #[case("2010-12-01 13:00 PM")]
    #[case("2010-12-01 13:00 p. m.")]
    #[case("2010-12-01 08:26 p")]
    #[case("2010-12-01 08:26 p. x.")]
    #[case("2010-12-01 08:26 CEST")]
    #[case("2010-12-01 08:26 +99:00")]
    #[case("2010-12/01")]
    #[case("0001-01-01")]
    #[case("9999-12-31")]
    #[case("1/2/10")]
    #[case("99999999999")]
    #[case("2010-12-01-05")]
    #[case("٢٠١٠-12-01")]
    fn refuses_what_is_no_date(#[case] text: &str) {
        assert!(moment(text, DMY).is_err(), "{text}");
    }

    #[test]
    fn an_undecided_date_is_refused_and_a_contradiction_too() {
        assert_eq!(moment("1/2/2010", None), Err(UNDECIDED));
        assert!(moment("12/31/2010", DMY).is_err());
        assert!(moment("31/12/2010", MDY).is_err());
        assert!(moment("31/12/2010", Some(DateOrder::YearMonthDay)).is_err());
    }

    #[rstest]
    #[case("13/1/2010 8:00", DMY)]
    #[case("1/13/2010", MDY)]
    #[case("1/2/2010", None)]
    #[case("2010-12-13", None)]
    #[case("31.12.2010", None)]
    #[case("13/1/10", None)]
    #[case("31/2/2010", None)]
    #[case("5/5/2010", None)]
    #[case("junk", None)]
    fn a_date_may_show_its_order(#[case] text: &str, #[case] order: Option<DateOrder>) {
        assert_eq!(evidence(text), order);
    }

    #[test]
    fn an_offset_or_a_zone_moves_no_instant_before_1970() {
        let tokyo: Zone = "Asia/Tokyo".parse().unwrap();
        assert_eq!(moment("1970-01-01T00:00:00+01:00", None).unwrap().instant(&tokyo), Err(OUTSIDE));
        assert_eq!(moment("1970-01-01T00:00:00+01:00", None).unwrap().day(&tokyo), Err(OUTSIDE));
        assert_eq!(moment("1970-01-01 08:59", None).unwrap().instant(&tokyo), Err(OUTSIDE));
        assert_eq!(moment("1970-01-01 09:00", None).unwrap().instant(&tokyo), Ok(OffsetDateTime::UNIX_EPOCH));
    }

    #[test]
    fn a_day_is_as_written_unless_there_is_an_offset() {
        let zone: Zone = "America/Sao_Paulo".parse().unwrap();
        assert_eq!(moment("2026-03-01 01:00", None).unwrap().day(&zone), Ok(date!(2026 - 03 - 01)));
        assert_eq!(moment("2026-03-01 01:00Z", None).unwrap().day(&zone), Ok(date!(2026 - 02 - 28)));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[0-9/.:TZ +é-]{0,24}") {
            let _ = moment(&text, DMY);
            let _ = evidence(&text);
        }
    }
}
