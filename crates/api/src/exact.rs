//! Figures as they are written into answers: digit by digit, and without a detour, for a page holds hundreds of them
//! (docs/adr/0013-own-formatting.md).

pub use domain::money::round4;
use domain::money::{Currency, estimate};
use rust_decimal::Decimal;
use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeStruct},
};
use time::{OffsetDateTime, UtcOffset, format_description::BorrowedFormatItem, macros::format_description};

/// A number written exactly as the decimal is, never by way of a binary float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonDecimal(pub Decimal);

impl JsonDecimal {
    /// An amount, with all the decimals of its currency.
    pub fn money(amount: Decimal, currency: Currency) -> Self {
        Self::rounded(amount, currency.exponent())
    }

    /// A percentage, with two decimals.
    pub fn percent(value: Decimal) -> Self {
        Self::rounded(value, 2)
    }

    /// A ratio, with at most four decimals.
    pub fn ratio(value: Decimal) -> Self {
        Self(domain::money::round(value, 4).normalize())
    }

    /// Rounded half-even to `decimals` places and written with all of them.
    pub fn rounded(amount: Decimal, decimals: u32) -> Self {
        if let Some(rounded) = round_short(amount, decimals) {
            return Self(rounded);
        }
        let mut rounded = domain::money::round(amount, decimals);
        rounded.rescale(decimals);
        // A negative amount that rounds to nothing is nothing.
        if rounded.is_zero() {
            rounded.set_sign_positive(true);
        }
        Self(rounded)
    }
}

/// The same for numbers of up to 18 digits, in plain integers.
fn round_short(amount: Decimal, decimals: u32) -> Option<Decimal> {
    let digits = i64::try_from(amount.mantissa()).ok()?;
    let shift = 10_i64.checked_pow(amount.scale().abs_diff(decimals))?;
    if amount.scale() <= decimals {
        return Some(Decimal::new(digits.checked_mul(shift)?, decimals));
    }
    let (kept, rest) = (digits / shift, (digits % shift).unsigned_abs());
    let half = shift.unsigned_abs() / 2;
    let up = rest > half || (rest == half && kept % 2 != 0);
    Some(Decimal::new(if up { kept + digits.signum() } else { kept }, decimals))
}

impl Serialize for JsonDecimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut buffer = [0; BUFFER_BYTES];
        let text = write(self.0, &mut buffer).ok_or_else(|| S::Error::custom("a decimal without digits"))?;
        // What a `RawValue` of this text does, which can only be had by having the text read again.
        let mut raw = serializer.serialize_struct(RAW_VALUE, 1)?;
        raw.serialize_field(RAW_VALUE, text)?;
        raw.end()
    }
}

/// What serde_json takes for text that is JSON already; a test compares it with the library's.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// A sign, 29 digits and a point are the longest that a decimal can be.
const BUFFER_BYTES: usize = 32;

/// Writes the number into `buffer`, from its end.
fn write(number: Decimal, buffer: &mut [u8; BUFFER_BYTES]) -> Option<&str> {
    let mut rest = number.mantissa().unsigned_abs();
    let (mut at, mut left) = (BUFFER_BYTES, number.scale());
    let mut put = |byte: u8| {
        at -= 1;
        *buffer.get_mut(at)? = byte;
        Some(at)
    };
    // Long division by ten is slow beyond 64 bits, and hardly ever needed.
    while rest > u128::from(u64::MAX) {
        put(digit(rest % 10))?;
        rest /= 10;
        left = point(left, &mut put)?;
    }
    let mut rest = u64::try_from(rest).ok()?;
    loop {
        let start = put(digit((rest % 10).into()))?;
        rest /= 10;
        let before = left;
        left = point(left, &mut put)?;
        if rest == 0 && left == 0 && before != 1 {
            let start = if number.is_sign_negative() { put(b'-')? } else { start };
            return std::str::from_utf8(buffer.get(start..)?).ok();
        }
    }
}

fn digit(value: u128) -> u8 {
    b'0' + u8::try_from(value).unwrap_or(0)
}

/// Puts the point once all decimals are written.
fn point(left: u32, put: &mut impl FnMut(u8) -> Option<usize>) -> Option<u32> {
    if left == 1 {
        put(b'.')?;
    }
    Some(left.saturating_sub(1))
}

/// An estimated amount, of either sign, to the minor unit of its currency.
pub fn estimated_money(amount: f64, currency: Currency) -> JsonDecimal {
    let size = estimate(amount.abs(), currency.exponent());
    JsonDecimal::money(if amount < 0.0 { -size } else { size }, currency)
}

const INSTANT: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
const DATE: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// RFC 3339 in UTC, whole seconds.
pub fn instant(at: OffsetDateTime) -> String {
    Instant(at).write(str::to_owned)
}

/// An instant that is written as [`instant`] writes it, without a text in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instant(pub OffsetDateTime);

impl Instant {
    /// `None` for a year without four digits.
    fn digits(self) -> Option<[u8; 20]> {
        let at = self.0.to_offset(UtcOffset::UTC);
        let [y1, y2, y3, y4, m1, m2, d1, d2] = date_digits(at.date())?;
        let ([h1, h2], [n1, n2], [s1, s2]) = (two(at.hour()), two(at.minute()), two(at.second()));
        Some([y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2, b'Z'])
    }

    fn write<T>(self, to: impl FnOnce(&str) -> T) -> T {
        match self.digits().as_ref().and_then(|digits| std::str::from_utf8(digits).ok()) {
            Some(text) => to(text),
            None => to(&self.0.to_offset(UtcOffset::UTC).format(INSTANT).unwrap_or_default()),
        }
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write(|text| serializer.serialize_str(text))
    }
}

/// ISO 8601.
pub fn date(day: time::Date) -> String {
    let Some([y1, y2, y3, y4, m1, m2, d1, d2]) = date_digits(day) else {
        return day.format(DATE).unwrap_or_default();
    };
    let text = [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2];
    std::str::from_utf8(&text).unwrap_or_default().to_owned()
}

/// The digits of a date; `None` for a year without four digits.
fn date_digits(day: time::Date) -> Option<[u8; 8]> {
    let (year, month, day) = day.to_calendar_date();
    let year = u16::try_from(year).ok().filter(|year| *year <= 9_999)?;
    let ([y1, y2], [y3, y4]) = (two(u8::try_from(year / 100).ok()?), two(u8::try_from(year % 100).ok()?));
    let ([m1, m2], [d1, d2]) = (two(u8::from(month)), two(day));
    Some([y1, y2, y3, y4, m1, m2, d1, d2])
}

/// Two digits of a number below 100.
const fn two(number: u8) -> [u8; 2] {
    [b'0' + number / 10 % 10, b'0' + number % 10]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use rust_decimal::dec;
    use time::macros::{date as day, datetime};

    use super::*;

    #[rstest]
    #[case(dec!(0.125), 2, "0.12")]
    #[case(dec!(0.135), 2, "0.14")]
    #[case(dec!(-0.125), 2, "-0.12")]
    #[case(dec!(-0.135), 2, "-0.14")]
    #[case(dec!(12.5), 2, "12.50")]
    #[case(dec!(-0.001), 2, "0.00")]
    #[case(dec!(1234567890123.455), 2, "1234567890123.46")]
    #[case(dec!(2.5), 0, "2")]
    #[case(dec!(3.5), 0, "4")]
    #[case(dec!(0.1), 3, "0.100")]
    #[case(dec!(0), 2, "0.00")]
    #[case(dec!(-1005), 0, "-1005")]
    #[case(dec!(79228162514264337593543950335), 0, "79228162514264337593543950335")]
    #[case(dec!(-7.9228162514264337593543950335), 2, "-7.92")]
    #[case(dec!(123456789012345678901234.565), 2, "123456789012345678901234.56")]
    fn a_decimal_is_written_digit_by_digit(#[case] amount: Decimal, #[case] decimals: u32, #[case] json: &str) {
        assert_eq!(serde_json::to_string(&JsonDecimal::rounded(amount, decimals)).unwrap(), json);
    }

    #[rstest]
    #[case(0.125, "USD", "0.12")]
    #[case(-0.125, "USD", "-0.12")]
    #[case(0.135, "USD", "0.14")]
    #[case(1.005, "USD", "1.00")]
    #[case(2.5, "JPY", "2")]
    #[case(-0.001, "USD", "0.00")]
    #[case(-1_450.0, "USD", "-1450.00")]
    fn an_estimate_is_rounded_as_money_is(#[case] amount: f64, #[case] code: &str, #[case] json: &str) {
        let written = estimated_money(amount, code.parse().unwrap());
        assert_eq!(serde_json::to_string(&written).unwrap(), json);
    }

    #[test]
    fn instants_are_whole_seconds_in_utc() {
        assert_eq!(instant(datetime!(2026-05-01 23:59:59.999 -3)), "2026-05-02T02:59:59Z");
        assert_eq!(instant(datetime!(-0001-01-01 00:00 UTC)), "-0001-01-01T00:00:00Z");
        let written = serde_json::to_string(&Instant(datetime!(0987-06-05 04:03:02 +1))).unwrap();
        assert_eq!(written, "\"0987-06-05T03:03:02Z\"");
        assert_eq!(
            (date(day!(0987 - 06 - 05)), date(day!(2026 - 12 - 31))),
            ("0987-06-05".into(), "2026-12-31".into())
        );
    }

    proptest! {
        /// Against the library's own text of the number.
        #[test]
        fn every_decimal_is_written_as_the_library_writes_it(mantissa in any::<i128>(), scale in 0..=28u32) {
            let mantissa = mantissa >> 32;
            let number = Decimal::try_from_i128_with_scale(mantissa, scale).unwrap();
            prop_assert_eq!(serde_json::to_string(&JsonDecimal(number)).unwrap(), number.to_string());
        }

        #[test]
        fn short_numbers_are_rounded_as_long_ones_are(digits in any::<i64>(), scale in 0..=12u32, decimals in 0..=4u32) {
            let number = Decimal::new(digits, scale);
            if let Some(rounded) = round_short(number, decimals) {
                let mut expected = domain::money::round(number, decimals);
                expected.rescale(decimals);
                if !expected.is_zero() {
                    prop_assert_eq!(rounded.to_string(), expected.to_string());
                } else {
                    prop_assert!(rounded.is_zero() && rounded.is_sign_positive() && rounded.scale() == decimals);
                }
            }
        }
    }
}
