//! Instants and days as they are accepted from outside: between [`EARLIEST`] and [`LATEST`].
//!
//! In between every instant has a day in every time zone, can be moved by any span that the program adds or takes away, and
//! is one the database can hold. What lies outside is a typing error at best.

use time::{
    Date, OffsetDateTime, UtcOffset,
    format_description::well_known::Rfc3339,
    macros::{datetime, format_description},
};

/// The first instant that is accepted.
pub const EARLIEST: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;
/// The last one.
pub const LATEST: OffsetDateTime = datetime!(2999-12-31 23:59:59.999_999_999 UTC);

/// A text is no instant, or no day, that is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInstant {
    #[error("is not written as it must be")]
    Form,
    #[error("must lie between 1970-01-01 and 2999-12-31 UTC")]
    Range,
}

/// Reads an RFC 3339 instant; the result is in UTC.
///
/// # Errors
/// [`InvalidInstant`].
pub fn parse(text: &str) -> Result<OffsetDateTime, InvalidInstant> {
    check(OffsetDateTime::parse(text, &Rfc3339).map_err(|_| InvalidInstant::Form)?)
}

/// Reads an instant of an HTTP header, to the second: in the form that is sent today (`Sun, 06 Nov 1994 08:49:37 GMT`) or in one
/// of the two obsolete ones that a recipient has to know as well (RFC 9110, 5.6.7). It may lie outside of the bounds.
pub fn parse_http(text: &str) -> Option<OffsetDateTime> {
    httpdate::parse_http_date(text).ok().map(OffsetDateTime::from)
}

/// Reads a day such as `2026-05-01`.
///
/// # Errors
/// [`InvalidInstant`].
pub fn parse_day(text: &str) -> Result<Date, InvalidInstant> {
    let day = Date::parse(text, format_description!("[year]-[month]-[day]")).map_err(|_| InvalidInstant::Form)?;
    if (EARLIEST.date()..=LATEST.date()).contains(&day) { Ok(day) } else { Err(InvalidInstant::Range) }
}

/// The instant in UTC, if it is accepted.
///
/// # Errors
/// [`InvalidInstant::Range`]: also for one that, in UTC, lies beyond the years that the type can hold.
pub fn check(instant: OffsetDateTime) -> Result<OffsetDateTime, InvalidInstant> {
    instant
        .checked_to_offset(UtcOffset::UTC)
        .filter(|instant| (EARLIEST..=LATEST).contains(instant))
        .ok_or(InvalidInstant::Range)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use time::macros::date;

    use super::*;

    #[rstest]
    #[case("1970-01-01T00:00:00Z", EARLIEST)]
    #[case("1969-12-31T23:59:59-00:01", datetime!(1970-01-01 00:00:59 UTC))]
    #[case("2999-12-31T23:59:59.999999999Z", LATEST)]
    #[case("3000-01-01T00:00:00+00:01", datetime!(2999-12-31 23:59 UTC))]
    #[case("2026-05-01t12:00:00+05:30", datetime!(2026-05-01 06:30 UTC))]
    fn an_instant_within_is_read_in_utc(#[case] text: &str, #[case] instant: OffsetDateTime) {
        assert_eq!(parse(text), Ok(instant));
        assert!(parse(text).unwrap().offset().is_utc());
    }

    #[rstest]
    #[case("9999-12-31T23:59:59-23:59")]
    #[case("0000-01-01T00:00:00+23:59")]
    #[case("1970-01-01T00:00:00+00:01")]
    #[case("1969-12-31T23:59:59.999Z")]
    #[case("3000-01-01T00:00:00Z")]
    #[case("2999-12-31T23:59:59-00:01")]
    fn an_instant_outside_is_refused(#[case] text: &str) {
        assert_eq!(parse(text), Err(InvalidInstant::Range));
    }

    #[rstest]
    #[case("")]
    #[case("2026-05-01")]
    #[case("2026-05-01 12:00")]
    #[case("2026-02-30T00:00:00Z")]
    #[case("+2026-05-01T00:00:00Z")]
    #[case("-0001-01-01T00:00:00Z")]
    #[case("12026-01-01T00:00:00Z")]
    fn what_is_no_instant_is_refused(#[case] text: &str) {
        assert_eq!(parse(text), Err(InvalidInstant::Form));
    }

    #[rstest]
    #[case::today("Sun, 06 Nov 1994 08:49:37 GMT")]
    #[case::rfc_850("Sunday, 06-Nov-94 08:49:37 GMT")]
    #[case::asctime("Sun Nov  6 08:49:37 1994")]
    fn a_header_has_one_of_three_forms(#[case] text: &str) {
        assert_eq!(parse_http(text), Some(datetime!(1994-11-06 08:49:37 UTC)));
    }

    #[rstest]
    #[case("Sun, 06 Nov 1994 08:49:37 +0000")]
    #[case("Mon, 06 Nov 1994 08:49:37 GMT")]
    #[case("1994-11-06T08:49:37Z")]
    #[case("")]
    fn a_header_of_another_form_is_no_instant(#[case] text: &str) {
        assert_eq!(parse_http(text), None);
    }

    #[test]
    fn days_have_the_same_bounds() {
        assert_eq!(parse_day("1970-01-01"), Ok(date!(1970 - 01 - 01)));
        assert_eq!(parse_day("2999-12-31"), Ok(date!(2999 - 12 - 31)));
        assert_eq!(parse_day("1969-12-31"), Err(InvalidInstant::Range));
        assert_eq!(parse_day("3000-01-01"), Err(InvalidInstant::Range));
        assert_eq!(parse_day("-0001-01-01"), Err(InvalidInstant::Range));
        assert_eq!(parse_day("2026-5-1"), Err(InvalidInstant::Form));
    }

    fn rfc3339() -> impl Strategy<Value = String> {
        let year = prop_oneof![0..=9_999i32, Just(0), Just(1969), Just(1970), Just(2999), Just(3000), Just(9_999)];
        let date = (year, 1..=12u8, 1..=31u8).prop_map(|(year, month, day)| format!("{year:04}-{month:02}-{day:02}"));
        let clock = (0..=23u8, 0..=59u8, 0..=60u8, "(\\.[0-9]{1,9})?")
            .prop_map(|(hour, minute, second, fraction)| format!("{hour:02}:{minute:02}:{second:02}{fraction}"));
        let offset = prop_oneof![Just("Z".to_owned()), "[+-](0[0-9]|1[0-9]|2[0-3]):[0-5][0-9]"];
        (date, clock, offset).prop_map(|(date, clock, offset)| format!("{date}T{clock}{offset}"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_096))]

        /// Another library is asked for the same instant: what is accepted is that instant, and what is not lies outside.
        #[test]
        fn any_instant_is_the_same_or_refused(text in rfc3339()) {
            let Ok(told) = text.parse::<jiff::Timestamp>() else {
                // No such day, or beyond the years of that library.
                prop_assert!(parse(&text).is_err(), "{text}");
                return Ok(());
            };
            let inside = (0..32_503_680_000).contains(&told.as_nanosecond().div_euclid(1_000_000_000));
            match parse(&text) {
                // They tell a leap second differently, by less than one.
                Ok(read) => {
                    prop_assert!(inside, "{text}");
                    prop_assert!((read.unix_timestamp_nanos() - told.as_nanosecond()).abs() <= 1_000_000_000, "{text}");
                }
                Err(InvalidInstant::Range) => prop_assert!(!inside, "{text}"),
                Err(InvalidInstant::Form) => prop_assert!(text.contains(":60"), "{text}"),
            }
        }

        #[test]
        fn no_text_panics(text in "[0-9TtZz:.+-]{0,40}") {
            let _ = (parse(&text), parse_day(&text));
        }

        #[test]
        fn no_header_panics(text in "(Sun|Sunday),? [0-9]{2}[ -](Feb|Nov)[ -][0-9]{2,4} [0-9:]{8}( GMT)?|Sun Feb [ 0-9]{2} [0-9:]{8} [0-9]{4}|\\PC{0,40}") {
            let _ = parse_http(&text);
        }
    }
}
