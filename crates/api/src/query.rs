//! Query strings, read strictly: what is not understood is refused or at least said.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpRequest, dev::Payload, http::header::HeaderMap};
use domain::page::PageRequest;
use serde::{Deserialize, Deserializer, de};
use utoipa::{
    IntoParams, PartialSchema, ToSchema,
    openapi::{KnownFormat, RefOr, Schema, SchemaFormat, Type, schema::ObjectBuilder},
};
use validator::{Validate, ValidationError, ValidationErrors};

use crate::{
    error::ApiError,
    input::{self, Form, Input},
    warnings::{MAX_NAME_CHARS, Warnings, note_unknown},
};

/// The parameters of a request, read into `T` and checked.
pub struct Query<T> {
    pub params: T,
    /// Of what was clamped, and of unknown parameters.
    pub warnings: Warnings,
}

impl<T: Input> FromRequest for Query<T> {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let read = pairs(request.query_string()).and_then(|pairs| read(pairs.iter(), is_strict(request.headers())));
        ready(read.map(|(params, warnings)| Self { params, warnings }))
    }
}

/// Those of an endpoint that has none.
#[derive(Debug, Deserialize, Validate, IntoParams)]
pub struct NoParams {}

impl Input for NoParams {}

/// Those of a plain list.
#[derive(Debug, Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Paging {
    #[validate(nested)]
    #[param(inline, required = false)]
    limit: Limit<25, 100>,
    /// `next_cursor` of the page before.
    #[param(minimum = 1)]
    cursor: Option<i64>,
}

impl Input for Paging {}

impl Paging {
    pub fn page(&self) -> PageRequest {
        self.limit.page(self.cursor)
    }

    pub const fn cursor(&self) -> Option<i64> {
        self.cursor
    }

    /// Whether the client leaves the length of a page open: then a file has all rows.
    pub fn is_unlimited(&self) -> bool {
        self.limit.requested().is_none()
    }
}

macro_rules! clamped {
    ($($(#[$doc:meta])* $name:ident, $what:literal;)+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub struct $name<const DEFAULT: i64, const MAX: i64, const MIN: i64 = 1>(Option<i64>);

            impl<const DEFAULT: i64, const MAX: i64, const MIN: i64> $name<DEFAULT, MAX, MIN> {
                /// What is to be applied.
                pub fn get(self) -> i64 {
                    self.requested().unwrap_or(DEFAULT)
                }

                /// The same, if the client says so.
                pub fn requested(self) -> Option<i64> {
                    self.0.map(|requested| requested.min(MAX))
                }
            }

            impl<'de, const DEFAULT: i64, const MAX: i64, const MIN: i64> Deserialize<'de> for $name<DEFAULT, MAX, MIN> {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let read = Option::deserialize(deserializer).map(Self);
                    read.map_err(|_| de::Error::custom(format_args!("must be a whole number from {MIN} to {MAX}")))
                }
            }

            impl<const DEFAULT: i64, const MAX: i64, const MIN: i64> Validate for $name<DEFAULT, MAX, MIN> {
                /// Finds what is below the minimum, and what is over the maximum and is clamped unless handling is strict.
                fn validate(&self) -> Result<(), ValidationErrors> {
                    let outside = self.0.filter(|requested| !(MIN..=MAX).contains(requested));
                    let Some(requested) = outside else { return Ok(()) };
                    let mut error = ValidationError::new(if requested < MIN { "range" } else { "clamped" });
                    error.add_param("min".into(), &MIN);
                    error.add_param("max".into(), &MAX);
                    error.add_param("requested".into(), &requested);
                    error.add_param("applied".into(), &MAX);
                    let mut errors = ValidationErrors::new();
                    errors.add("value", error);
                    Err(errors)
                }
            }

            impl<const DEFAULT: i64, const MAX: i64, const MIN: i64> PartialSchema for $name<DEFAULT, MAX, MIN> {
                fn schema() -> RefOr<Schema> {
                    let description = format!(concat!($what, ", {} unless said; more than {} is read as {}."), DEFAULT, MAX, MAX);
                    let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(MIN));
                    let number = number.format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)));
                    #[expect(deprecated, reason = "a parameter has one example, and is given this one")]
                    number.description(Some(description)).example(Some(DEFAULT.into())).into()
                }
            }

            impl<const DEFAULT: i64, const MAX: i64, const MIN: i64> ToSchema for $name<DEFAULT, MAX, MIN> {}
        )+
    };
}

clamped! {
    /// How many rows to give.
    Limit, "Rows per page";
    /// How many days to look back.
    Days, "How many days to look back, today included";
    /// How many full days to look back.
    FullDays, "How many full days to look back, today left out";
    /// How many hours to look back.
    Hours, "How many hours to look back";
}

impl<const DEFAULT: i64, const MAX: i64> Limit<DEFAULT, MAX> {
    pub fn page(self, cursor: Option<i64>) -> PageRequest {
        PageRequest { limit: self.get(), cursor }
    }
}

/// Whether the client asks to be refused rather than corrected (RFC 7240, `Prefer: handling=strict`).
pub fn is_strict(headers: &HeaderMap) -> bool {
    let lines = headers.get_all("prefer").filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split([',', ';'])).any(|preference| {
        preference.split_once('=').is_some_and(|(name, value)| {
            name.trim().eq_ignore_ascii_case("handling")
                && value.trim().trim_matches('"').eq_ignore_ascii_case("strict")
        })
    })
}

/// The parameters `name=value&…`. Fails on what is not percent-encoded UTF-8 or holds U+0000.
pub fn pairs(query: &str) -> Result<Vec<(String, String)>, ApiError> {
    let mut pairs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = decode(name).ok_or_else(|| undecodable(name))?;
        let value = decode(value).ok_or_else(|| undecodable(&name))?;
        pairs.push((name, value));
    }
    Ok(pairs)
}

/// Reads parameters into `T`.
pub fn read<'a, T: Input>(
    pairs: impl Iterator<Item = &'a (String, String)> + Clone,
    strict: bool,
) -> Result<(T, Warnings), ApiError> {
    let (params, unknown) = input::read::<T>(Form::Parameter, pairs.map(|(name, value)| (&**name, &**value)))?;
    let mut warnings = input::clamped(&params, strict)?;
    note_unknown(unknown.iter().map(String::as_str), "unknown_parameter", strict, &mut warnings)?;
    Ok((params, warnings))
}

fn undecodable(name: &str) -> ApiError {
    let shown: String = name.chars().take(MAX_NAME_CHARS).collect();
    ApiError::parameter(&shown, "is not percent-encoded UTF-8 without U+0000")
}

/// Decodes a name or value of a form-encoded query: `+` is a space.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex_digit(rest.next()?)? << 4 | hex_digit(rest.next()?)?,
            b'+' => b' ',
            other => other,
        });
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::{error::Code, warnings::MAX_UNKNOWN};

    #[derive(Debug, Deserialize, Validate)]
    struct Sample {
        #[validate(nested)]
        limit: Limit<25, 100>,
        #[validate(nested)]
        days: Days<7, 90>,
    }

    impl Input for Sample {}

    fn query(text: &str, strict: bool) -> Result<(Sample, Warnings), ApiError> {
        pairs(text).and_then(|pairs| read(pairs.iter(), strict))
    }

    #[rstest]
    #[case("limit=5", Some(5))]
    #[case("limit=0005", Some(5))]
    #[case("limit=%35", Some(5))]
    #[case("x=1", None)]
    fn numbers_are_plain_digits(#[case] text: &str, #[case] expected: Option<i64>) {
        assert_eq!(query(text, false).unwrap().0.limit.requested(), expected);
    }

    #[rstest]
    #[case("limit=")]
    #[case("limit")]
    #[case("limit=0")]
    #[case("limit=-1")]
    #[case("limit=+5")]
    #[case("limit=%2B5")]
    #[case("limit=%205")]
    #[case("limit=5%20")]
    #[case("limit=1e2")]
    #[case("limit=1.0")]
    #[case("limit=0x10")]
    #[case("limit=1_000")]
    #[case("limit=9223372036854775808")]
    #[case("limit=٣")]
    #[case("limit=1&limit=1")]
    #[case("limit=1&limi%74=2")]
    fn other_numbers_are_refused_by_name(#[case] text: &str) {
        let error = query(text, false).unwrap_err();
        assert_eq!((error.code, error.body("r").param.as_deref()), (Code::InvalidParameter, Some("limit")));
    }

    #[test]
    fn a_refused_number_is_told_what_is_allowed() {
        let told = |text| query(text, false).unwrap_err().body("r").message;
        assert_eq!(told("limit=0"), "`limit` must be a whole number from 1 to 100.");
        assert_eq!(told("days=week"), "`days` must be a whole number from 1 to 90.");
    }

    #[rstest]
    #[case("a=%")]
    #[case("a=%f")]
    #[case("a=%zz")]
    #[case("a=%00")]
    #[case("a=%ff%fe")]
    #[case("a=%c3")]
    #[case("a=%ed%a0%80")]
    #[case("a=%+1")]
    fn what_cannot_be_decoded_is_refused_even_when_unknown(#[case] text: &str) {
        assert_eq!(query(text, false).unwrap_err().body("r").param.as_deref(), Some("a"));
    }

    #[test]
    fn over_the_maximum_is_clamped_and_said() {
        let (sample, warnings) = query("limit=9223372036854775807&days=90", false).unwrap();
        assert_eq!((sample.limit.get(), sample.days.get(), warnings.len()), (100, 90, 1));
        assert_eq!(
            (warnings[0].code, warnings[0].requested, warnings[0].applied),
            ("limit_clamped", Some(i64::MAX), Some(100))
        );
    }

    #[test]
    fn strict_handling_refuses_what_would_be_corrected() {
        let refused = |text| query(text, true).unwrap_err().body("r");
        assert_eq!(refused("limit=101").message, "`limit` must be at most 100.");
        assert_eq!(refused("days=91").message, "`days` must be at most 90.");
        assert_eq!(refused("foo=1").param.as_deref(), Some("foo"));
        assert_eq!(query("", true).unwrap().0.days.get(), 7);
    }

    #[test]
    fn unknown_names_are_listed_once_cut_and_not_without_end() {
        let text = (0..100).map(|i| format!("p{i}=1&p{i}=2")).collect::<Vec<_>>().join("&");
        let (_, warnings) = query(&text, false).unwrap();
        assert_eq!((warnings.len(), warnings[1].param.as_str()), (MAX_UNKNOWN, "p1"));
        let (_, long) = query(&"é".repeat(1_000), false).unwrap();
        assert_eq!(long[0].param, "é".repeat(64));
    }

    #[rstest]
    #[case("handling=strict", true)]
    #[case("respond-async, Handling=\"strict\"; x=1", true)]
    #[case("handling=lenient", false)]
    #[case("strict", false)]
    fn strict_handling_is_a_preference(#[case] prefer: &str, #[case] strict: bool) {
        let request = actix_web::test::TestRequest::get().insert_header(("prefer", prefer)).to_http_request();
        assert_eq!(is_strict(request.headers()), strict);
    }

    proptest! {
        #[test]
        fn a_text_survives_encoding(text in "[^\0]*") {
            let encoded: String = text.bytes().map(|b| format!("%{b:02x}")).collect();
            prop_assert_eq!(decode(&encoded), Some(text));
        }

        #[test]
        fn no_query_makes_the_parser_panic(text in ".*") {
            let _ = query(&text, false);
        }
    }
}
