//! Query strings, read strictly: what is not understood is refused or at least said.

use std::{
    future::{Ready, ready},
    str::FromStr,
};

use actix_web::{FromRequest, HttpRequest, dev::Payload, http::header::HeaderMap};
use domain::{error::UnknownValue, page::PageRequest};

use crate::{
    error::ApiError,
    names::FLAGS,
    warnings::{MAX_NAME_CHARS, Warning, Warnings, note_unknown},
};

/// The parameters of a request. Each known one is taken by name; [`Query::finish`] deals with what is left.
#[derive(Debug, Default)]
pub struct Query {
    pairs: Vec<(String, String)>,
    strict: bool,
    warnings: Warnings,
}

impl FromRequest for Query {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Self::parse(request.query_string(), is_strict(request.headers())))
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

impl Query {
    /// Reads `name=value&…`. Fails on what is not percent-encoded UTF-8 or holds U+0000.
    pub fn parse(query: &str, strict: bool) -> Result<Self, ApiError> {
        let mut pairs = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode(name).ok_or_else(|| undecodable(name))?;
            let value = decode(value).ok_or_else(|| undecodable(&name))?;
            pairs.push((name, value));
        }
        Ok(Self { pairs, strict, warnings: Warnings::new() })
    }

    /// The value of a parameter that may be given once.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, ApiError> {
        let mut found = None;
        let mut again = false;
        self.pairs.retain_mut(|(key, value)| {
            let taken = key == name;
            if taken {
                again |= found.replace(std::mem::take(value)).is_some();
            }
            !taken
        });
        if again { Err(ApiError::parameter(name, "is given more than once")) } else { Ok(found) }
    }

    /// A value of an enumeration.
    pub fn one_of<T: FromStr<Err = UnknownValue>>(&mut self, name: &str) -> Result<Option<T>, ApiError> {
        let parse = |text: String| text.parse().map_err(|unknown| ApiError::unknown_value(name, &unknown));
        self.text(name)?.map(parse).transpose()
    }

    /// A whole number of at least 1, in plain decimal digits.
    pub fn positive(&mut self, name: &str) -> Result<Option<i64>, ApiError> {
        self.text(name)?.map(|text| parse_positive(name, &text)).transpose()
    }

    /// A switch, off unless said.
    pub fn flag(&mut self, name: &str) -> Result<bool, ApiError> {
        match self.text(name)?.as_deref() {
            None | Some("0" | "false") => Ok(false),
            Some("1" | "true") => Ok(true),
            Some(_) => Err(ApiError::unknown_value(name, &UnknownValue { allowed: FLAGS })),
        }
    }

    /// How many rows to give: `default` without the parameter, at most `max`.
    pub fn limit(&mut self, default: i64, max: i64) -> Result<i64, ApiError> {
        Ok(self.clamped("limit", "limit_clamped", max)?.unwrap_or(default))
    }

    /// How many rows to give, when the client says so.
    pub fn limit_if_given(&mut self, max: i64) -> Result<Option<i64>, ApiError> {
        self.clamped("limit", "limit_clamped", max)
    }

    /// How many days to look back: `default` without the parameter, at most `max`.
    pub fn days(&mut self, default: i64, max: i64) -> Result<i64, ApiError> {
        Ok(self.clamped("days", "days_clamped", max)?.unwrap_or(default))
    }

    /// `limit` and `cursor`.
    pub fn page(&mut self, default: i64, max: i64) -> Result<PageRequest, ApiError> {
        Ok(PageRequest { limit: self.limit(default, max)?, cursor: self.positive("cursor")? })
    }

    fn clamped(&mut self, name: &str, code: &'static str, max: i64) -> Result<Option<i64>, ApiError> {
        let Some(requested) = self.positive(name)? else { return Ok(None) };
        if requested <= max {
            return Ok(Some(requested));
        }
        if self.strict {
            return Err(ApiError::parameter(name, &format!("must be at most {max}")));
        }
        self.warnings.push(Warning { code, param: name.to_owned(), requested: Some(requested), applied: Some(max) });
        Ok(Some(max))
    }

    /// Ends the reading: parameters that nobody took are warned about, or refused under strict handling.
    pub fn finish(mut self) -> Result<Warnings, ApiError> {
        let unknown = self.pairs.iter().map(|(name, _)| name.as_str());
        note_unknown(unknown, "unknown_parameter", self.strict, &mut self.warnings)?;
        Ok(self.warnings)
    }
}

/// Reads the whole number that the parameter `name` is.
pub fn parse_positive(name: &str, text: &str) -> Result<i64, ApiError> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let number = if digits { text.parse::<i64>().ok().filter(|n| *n >= 1) } else { None };
    number.ok_or_else(|| ApiError::parameter(name, &format!("must be a whole number from 1 to {}", i64::MAX)))
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
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::{error::Code, warnings::MAX_UNKNOWN};

    fn query(text: &str) -> Query {
        Query::parse(text, false).unwrap()
    }

    #[rstest]
    #[case("limit=5", Some(5))]
    #[case("limit=0005", Some(5))]
    #[case("limit=%35", Some(5))]
    #[case("x=1", None)]
    fn numbers_are_plain_digits(#[case] text: &str, #[case] expected: Option<i64>) {
        assert_eq!(query(text).positive("limit").unwrap(), expected);
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
        let error = query(text).limit(25, 100).unwrap_err();
        assert_eq!((error.code, error.body("r").param.as_deref()), (Code::InvalidParameter, Some("limit")));
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
        assert_eq!(Query::parse(text, false).unwrap_err().body("r").param.as_deref(), Some("a"));
    }

    #[test]
    fn over_the_maximum_is_clamped_and_said() {
        let mut query = query("limit=9223372036854775807");
        assert_eq!(query.limit(25, 100).unwrap(), 100);
        let warnings = query.finish().unwrap();
        assert_eq!(
            (warnings[0].code, warnings[0].requested, warnings[0].applied),
            ("limit_clamped", Some(i64::MAX), Some(100))
        );
    }

    #[test]
    fn strict_handling_refuses_what_would_be_corrected() {
        assert!(Query::parse("limit=101", true).unwrap().limit(25, 100).is_err());
        assert!(Query::parse("days=91", true).unwrap().days(7, 90).is_err());
        assert!(Query::parse("foo=1", true).unwrap().finish().is_err());
    }

    #[test]
    fn unknown_names_are_listed_once_cut_and_not_without_end() {
        let text = (0..100).map(|i| format!("p{i}=1&p{i}=2")).collect::<Vec<_>>().join("&");
        let warnings = query(&text).finish().unwrap();
        assert_eq!((warnings.len(), warnings[1].param.as_str()), (MAX_UNKNOWN, "p1"));
        let long = query(&"é".repeat(1_000)).finish().unwrap();
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
            let _ = Query::parse(&text, false);
        }
    }
}
