//! What platforms write in more than one way.

use rust_decimal::{Decimal, dec};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::value::RawValue;

/// An identifier, whether it comes as a number or as a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub String);

/// Every amount that is read is below this. That is far above what can be imported, and so far below what a decimal holds that
/// neither a sum of amounts nor an amount times a quantity overflows: operators of decimals panic then.
const LARGEST: Decimal = dec!(1_000_000_000_000_000_000);

/// An amount, whether it comes as a number or as a text: read digit by digit, never by way of a binary fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount(pub Decimal);

/// A whole number, whether it comes as a number or as a text, with a fraction of zeros or without: `2`, `"2"`, `"2.0"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub i64);

/// The text of a number or a string. It cannot be used below `untagged`, `flatten` or an internal tag of serde.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    let json = raw.get();
    if json.starts_with('"') {
        return serde_json::from_str(json).map_err(|_| D::Error::custom("not a text"));
    }
    let is_number = json.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    if is_number { Ok(json.to_owned()) } else { Err(D::Error::custom("neither a number nor a text")) }
}

/// In scientific notation are written what is large and round, and what is left over from a calculation with binary fractions, such
/// as `5.68e-14`: of that, digits go that no decimal holds.
fn decimal(text: &str) -> Option<Decimal> {
    let read = Decimal::from_str_exact(text).or_else(|_| Decimal::from_scientific_lossy(text));
    read.ok().map(|decimal| decimal.normalize())
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = text(deserializer)?;
        let chars = text.chars().count();
        if (1..=domain::imports::MAX_ID_CHARS).contains(&chars) && !text.contains(char::is_control) {
            Ok(Self(text))
        } else {
            Err(D::Error::custom("no identifier"))
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let decimal = decimal(&text(deserializer)?).ok_or_else(|| D::Error::custom("no decimal"))?;
        if decimal.abs() < LARGEST { Ok(Self(decimal)) } else { Err(D::Error::custom("too large an amount")) }
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let decimal = decimal(&text(deserializer)?).filter(Decimal::is_integer);
        decimal.and_then(|whole| i64::try_from(whole).ok()).map(Self).ok_or_else(|| D::Error::custom("no whole number"))
    }
}

/// A text as it can be kept: without control characters, without space around it, at most `max` characters; `None` when
/// nothing is left.
pub fn clean(text: &str, max: usize) -> Option<String> {
    let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let cut: String = visible.trim().chars().take(max).collect();
    let cut = cut.trim_end();
    (!cut.is_empty()).then(|| cut.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("123", Some("123"))]
    #[case("\"123\"", Some("123"))]
    #[case("98765432109876543210", Some("98765432109876543210"))]
    #[case("\"\"", None)]
    #[case("null", None)]
    #[case("{}", None)]
    #[case("\"a\\u0000\"", None)]
    fn an_identifier_is_a_number_or_a_text(#[case] json: &str, #[case] expected: Option<&str>) {
        assert_eq!(serde_json::from_str::<Id>(json).ok(), expected.map(|id| Id(id.to_owned())));
    }

    #[rstest]
    #[case("\"19.90\"", Some("19.90"))]
    #[case("0.1", Some("0.1"))]
    #[case("123456789012.123456", Some("123456789012.123456"))]
    #[case("1e3", Some("1000"))]
    #[case("-2", Some("-2"))]
    #[case("5.684341886080802e-14", Some("0.000000000000056843418860808"))]
    #[case("-1.4210854715202004E-14", Some("-0.000000000000014210854715202"))]
    #[case("\"ten\"", None)]
    #[case("true", None)]
    #[case("\"0.12345678901234567890123456789\"", None)]
    #[case("-999999999999999999.99", Some("-999999999999999999.99"))]
    #[case::sums_of_it_would_overflow("1e18", None)]
    #[case("-7e28", None)]
    fn an_amount_keeps_every_digit(#[case] json: &str, #[case] expected: Option<&str>) {
        let expected = expected.map(|text| Amount(text.parse().unwrap()));
        assert_eq!(serde_json::from_str::<Amount>(json).ok(), expected);
    }

    #[rstest]
    #[case("3", Some(3))]
    #[case("\"3\"", Some(3))]
    #[case("\"1.0\"", Some(1))]
    #[case("1.5", None)]
    #[case("\"9223372036854775808\"", None)]
    fn a_count_is_whole(#[case] json: &str, #[case] expected: Option<i64>) {
        assert_eq!(serde_json::from_str::<Count>(json).ok(), expected.map(Count));
    }

    #[test]
    fn what_is_missing_is_none() {
        #[derive(Deserialize)]
        struct Record {
            price: Option<Amount>,
            id: Option<Id>,
        }
        let record: Record = serde_json::from_str(r#"{"price":null}"#).unwrap();
        assert!(record.price.is_none() && record.id.is_none());
    }

    #[test]
    fn a_text_is_cut_to_what_can_be_kept() {
        assert_eq!(clean(" a\u{0}b\n", 9).as_deref(), Some("a b"));
        assert_eq!(clean("ñandú", 3).as_deref(), Some("ñan"));
        assert_eq!(clean("\t ", 3), None);
    }
}
