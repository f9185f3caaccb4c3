//! Exact decimals and whole numbers as shops write them.

use domain::imports::{MAX_DECIMALS, MAX_QUANTITY};
use rust_decimal::Decimal;

/// Digits in front of the point: an amount is below 10^12.
const MAX_DIGITS: usize = 12;

const NOT_A_NUMBER: &str = "refused-not-a-number";
const AMBIGUOUS: &str = "refused-ambiguous";

/// What separates the decimals of a file's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecimalMark {
    /// The point; commas separate thousands, but where one can only separate decimals (`12,5`).
    Point,
    /// The comma; points separate thousands.
    Comma,
    /// The point, as far as is known: a comma is taken where it can mean only one thing (`1,234.50`, `12,5`).
    PerhapsPoint,
    /// Both occur, or nothing shows which: each is taken where it can mean only one thing.
    Either,
}

/// Decimals that a rate of exchange may have.
const RATE_DECIMALS: usize = 10;

/// Reads an amount.
pub(super) fn decimal(text: &str, mark: DecimalMark) -> Result<Decimal, &'static str> {
    number(text, mark, MAX_DECIMALS as usize, "refused-decimals-of-amount")
}

/// Reads a rate of exchange: small currencies need more decimals than amounts have.
pub(super) fn rate(text: &str, mark: DecimalMark) -> Result<Decimal, &'static str> {
    number(text, mark, RATE_DECIMALS, "refused-decimals-of-rate")
}

fn number(text: &str, mark: DecimalMark, decimals: usize, too_many: &'static str) -> Result<Decimal, &'static str> {
    let (negative, digits) = unsigned(text);
    let (whole, fraction) = split(digits, mark)?;
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > decimals {
        return Err(too_many);
    }
    let mut mantissa: i128 = 0;
    let mut whole_digits = 0;
    for byte in whole.bytes().filter(u8::is_ascii_digit) {
        whole_digits += usize::from(whole_digits > 0 || byte != b'0');
        if whole_digits > MAX_DIGITS {
            return Err("refused-too-large");
        }
        mantissa = mantissa * 10 + i128::from(byte - b'0');
    }
    for byte in fraction.bytes() {
        mantissa = mantissa * 10 + i128::from(byte - b'0');
    }
    let scale = u32::try_from(fraction.len()).unwrap_or_default();
    // 12 digits and 10 decimals fit.
    Decimal::try_from_i128_with_scale(if negative { -mantissa } else { mantissa }, scale).map_err(|_| NOT_A_NUMBER)
}

/// What separates decimals, as a number shows that can be read in one way only.
pub(super) fn evidence(text: &str) -> Option<DecimalMark> {
    let (_, digits) = unsigned(text);
    let (whole, _) = split(digits, DecimalMark::Either).ok()?;
    let behind = digits.get(whole.len()..).unwrap_or_default().chars().next();
    // Without decimals: what separates thousands does not separate decimals.
    match behind.or(whole.chars().find(|c| !c.is_ascii_digit()).map(other))? {
        '.' => Some(DecimalMark::Point),
        _ => Some(DecimalMark::Comma),
    }
}

fn other(mark: char) -> char {
    if mark == ',' { '.' } else { ',' }
}

/// Whether there is a minus, and what follows the sign.
fn unsigned(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..).unwrap_or_default()),
        Some(b'+') => (false, text.get(1..).unwrap_or_default()),
        _ => (false, text),
    }
}

/// Cuts into the digits in front of the point (thousands separators may be among them) and those behind it.
fn split(text: &str, mark: DecimalMark) -> Result<(&str, &str), &'static str> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let points = text.bytes().filter(|byte| *byte == b'.').count();
    let commas = text.bytes().filter(|byte| *byte == b',').count();
    if digits == 0 || digits + points + commas != text.len() {
        return Err(NOT_A_NUMBER);
    }
    let point = match (points, commas) {
        (0, 0) => None,
        (_, _) if mark == DecimalMark::Comma => (commas > 0).then_some(','),
        (1, 0) if matches!(mark, DecimalMark::Point | DecimalMark::PerhapsPoint) => Some('.'),
        (1, 0) => lone(text, '.')?,
        (0, 1) if mark == DecimalMark::Point => lone(text, ',').unwrap_or_default(),
        (0, 1) => lone(text, ',')?,
        (0, _) | (_, 0) => None,
        // The separator that comes last is the decimal point.
        _ if text.rfind('.') > text.rfind(',') => Some('.'),
        _ => Some(','),
    };
    let (whole, fraction) = match point {
        Some(point) => text.rsplit_once(point).unwrap_or((text, "")),
        None => (text, ""),
    };
    let thousands_ok = match (whole.contains('.'), whole.contains(',')) {
        (false, false) => true,
        (true, false) => point != Some('.') && is_grouped(whole, '.'),
        (false, true) => point != Some(',') && is_grouped(whole, ','),
        (true, true) => false,
    };
    if thousands_ok { Ok((whole, fraction)) } else { Err(NOT_A_NUMBER) }
}

/// A mark that is the only one: of decimals, unless exactly three digits follow one to three others.
fn lone(text: &str, mark: char) -> Result<Option<char>, &'static str> {
    let (before, behind) = text.split_once(mark).unwrap_or((text, ""));
    if behind.len() == 3 && (1..=3).contains(&before.len()) && !before.starts_with('0') {
        return Err(AMBIGUOUS);
    }
    Ok(Some(mark))
}

/// One to three digits, then groups of three.
fn is_grouped(text: &str, separator: char) -> bool {
    let mut groups = text.split(separator);
    groups.next().is_some_and(|first| (1..=3).contains(&first.len())) && groups.all(|group| group.len() == 3)
}

/// Reads a whole number of at most 10^9; decimals must be zeros.
pub(super) fn whole(text: &str, mark: DecimalMark) -> Result<i64, &'static str> {
    let number = decimal(text, mark)?;
    let whole = i64::try_from(number).map_err(|_| NOT_A_NUMBER)?;
    if Decimal::from(whole) != number {
        Err("refused-not-whole")
    } else if whole.abs() > MAX_QUANTITY {
        Err("refused-above")
    } else {
        Ok(whole)
    }
}

/// Whether a spreadsheet saved a long number by its first digits, as in `2.00001E+15`: many numbers have the same.
pub(super) fn is_rounded(text: &str) -> bool {
    let Some((digits, exponent)) = text.split_once("E+") else { return false };
    let is_number = |text: &str, marks: &[u8]| {
        text.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
            && text.bytes().all(|byte| byte.is_ascii_digit() || marks.contains(&byte))
    };
    is_number(digits, b".,") && is_number(exponent, b"")
}

/// What spreadsheets write where a formula fails, such as one that looks up a SKU: in English, Spanish and Portuguese.
const FORMULA_ERRORS: [&str; 22] = [
    "#N/A",
    "#REF!",
    "#VALUE!",
    "#NAME?",
    "#DIV/0!",
    "#NULL!",
    "#NUM!",
    "#SPILL!",
    "#CALC!",
    "#N/D",
    "#¡REF!",
    "#¡VALOR!",
    "#VALOR!",
    "#¿NOMBRE?",
    "#NOME?",
    "#¡DIV/0!",
    "#¡NULO!",
    "#¡NUM!",
    "#NÚM!",
    "#NULO!",
    "#ERROR!",
    "#ERRO!",
];

/// Whether a text says no more than that a formula failed: it would be one SKU, order or customer for all of them.
pub(super) fn is_formula_error(text: &str) -> bool {
    FORMULA_ERRORS.contains(&text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("2.55", "2.55")]
    #[case("-11062.06", "-11062.06")]
    #[case("+5", "5")]
    #[case(".5", "0.5")]
    #[case("5.", "5")]
    #[case("0.001000000", "0.001")]
    #[case("007", "7")]
    #[case("1.234", "1.234")]
    #[case("1,234.50", "1234.5")]
    #[case("1.234,50", "1234.5")]
    #[case("1,234", "1234")]
    #[case("-12,990", "-12990")]
    #[case("1,234,567", "1234567")]
    #[case("1.234.567", "1234567")]
    #[case("12,5", "12.5")]
    #[case("0,125", "0.125")]
    #[case("1234,567", "1234.567")]
    #[case("999999999999.999999", "999999999999.999999")]
    #[case("-0", "0")]
    fn reads_amounts(#[case] text: &str, #[case] value: &str) {
        assert_eq!(decimal(text, DecimalMark::Point), Ok(value.parse().unwrap()));
    }

    #[rstest]
    #[case("12,5", "12.5")]
    #[case("1,234", "1.234")]
    #[case("1.234", "1234")]
    #[case("1.234,5", "1234.5")]
    #[case("7", "7")]
    fn reads_amounts_with_a_decimal_comma(#[case] text: &str, #[case] value: &str) {
        assert_eq!(decimal(text, DecimalMark::Comma), Ok(value.parse().unwrap()));
    }

    #[rstest]
    #[case("")]
    #[case("-")]
    #[case(".")]
    #[case("NaN")]
    #[case("inf")]
    #[case("1e5")]
    #[case("0x10")]
    #[case("1 000")]
    #[case("--1")]
    #[case("1.2.3")]
    #[case("12,34,567")]
    #[case("1,23.4")]
    #[case("£2")]
    #[case("١")]
    #[case("1000000000000")]
    #[case("0.1234567")]
    #[case("1.234,567.8")]
    fn refuses_what_is_no_amount(#[case] text: &str) {
        assert!(decimal(text, DecimalMark::Point).is_err(), "{text}");
    }

    #[rstest]
    #[case("12.5", "12.5")]
    #[case("12,5", "12.5")]
    #[case("1.234,5", "1234.5")]
    #[case("1,234.5", "1234.5")]
    #[case("0.125", "0.125")]
    #[case("7", "7")]
    fn where_both_marks_occur_each_number_is_read_by_itself(#[case] text: &str, #[case] value: &str) {
        assert_eq!(decimal(text, DecimalMark::Either), Ok(value.parse().unwrap()));
    }

    #[rstest]
    #[case("1.234")]
    #[case("-1,234")]
    fn where_both_marks_occur_what_could_be_thousands_is_refused(#[case] text: &str) {
        assert_eq!(decimal(text, DecimalMark::Either), Err(AMBIGUOUS));
    }

    #[test]
    fn a_point_that_is_only_supposed_makes_no_thousands_of_a_comma() {
        let [point, comma] = ["1.234", "1,234"].map(|text| decimal(text, DecimalMark::PerhapsPoint));
        assert_eq!((point, comma), (Ok(Decimal::new(1_234, 3)), Err(AMBIGUOUS)));
    }

    #[rstest]
    #[case("12.5", Some(DecimalMark::Point))]
    #[case("-1,234.50", Some(DecimalMark::Point))]
    #[case("1,234,567", Some(DecimalMark::Point))]
    #[case("1234.567", Some(DecimalMark::Point))]
    #[case("5.", Some(DecimalMark::Point))]
    #[case("+12,5", Some(DecimalMark::Comma))]
    #[case("1.234,50", Some(DecimalMark::Comma))]
    #[case("1.234.567", Some(DecimalMark::Comma))]
    #[case("0,125", Some(DecimalMark::Comma))]
    #[case("1,234", None)]
    #[case("1.234", None)]
    #[case("1234", None)]
    #[case("1.2.3", None)]
    #[case("", None)]
    #[case("R$ 12,5", None)]
    fn a_number_may_show_its_mark(#[case] text: &str, #[case] mark: Option<DecimalMark>) {
        assert_eq!(evidence(text), mark);
    }

    #[rstest]
    #[case("6", Ok(6))]
    #[case("-6.00", Ok(-6))]
    #[case("1000000000", Ok(1_000_000_000))]
    #[case("6.5", Err("refused-not-whole"))]
    #[case("1000000001", Err("refused-above"))]
    #[case("six", Err(NOT_A_NUMBER))]
    fn reads_whole_numbers(#[case] text: &str, #[case] value: Result<i64, &'static str>) {
        assert_eq!(whole(text, DecimalMark::Point), value);
    }

    #[rstest]
    #[case("2.00001E+15", true)]
    #[case("2,00001E+15", true)]
    #[case("5E+12", true)]
    #[case("2000012345678901", false)]
    #[case("E+12", false)]
    #[case("5E+", false)]
    #[case("SIZE+12", false)]
    #[case("5E12", false)]
    #[case("5E+12-RED", false)]
    #[case("", false)]
    fn a_number_may_have_been_rounded(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(is_rounded(text), expected);
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_again(mantissa in -999_999_999_999_999_999i64..=999_999_999_999_999_999) {
            let amount = Decimal::new(mantissa, 6);
            prop_assert_eq!(decimal(&amount.to_string(), DecimalMark::Point), Ok(amount));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,12}") {
            for mark in [DecimalMark::Point, DecimalMark::Comma, DecimalMark::PerhapsPoint, DecimalMark::Either] {
                let _ = decimal(&text, mark);
            }
            let _ = evidence(&text);
        }
    }
}
