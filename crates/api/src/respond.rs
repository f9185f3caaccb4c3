//! Successful answers: envelope, caching, validators.

use actix_web::{
    HttpRequest, HttpResponse, Responder,
    body::BoxBody,
    http::{
        Method, StatusCode,
        header::{self, HeaderName, HeaderValue},
    },
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    money::Currency,
    page::{Page, PageRequest},
};
use ring::digest::{SHA256, digest};
use rust_decimal::Decimal;
use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::value::RawValue;
use time::{OffsetDateTime, format_description::BorrowedFormatItem, macros::format_description};
use utoipa::ToSchema;

use crate::{compression::plain_tag, error::ApiError, query::Warning};

/// The value of `api_version` in every answer.
pub const API_VERSION: &str = "v1";

pub const JSON: &str = "application/json";

/// Who may keep an answer, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// Nobody.
    No,
    /// The client, asking each time whether it is still right.
    Validate,
    /// Anyone, for so many seconds.
    Public(u32),
}

impl Cache {
    pub fn header(self) -> HeaderValue {
        match self {
            Self::No => HeaderValue::from_static("no-store"),
            Self::Validate => HeaderValue::from_static("private, no-cache"),
            Self::Public(seconds) => HeaderValue::from_str(&format!("public, max-age={seconds}"))
                .unwrap_or(HeaderValue::from_static("no-store")),
        }
    }
}

/// An answer with its whole body at hand.
#[derive(Debug)]
pub struct Reply {
    status: StatusCode,
    content_type: &'static str,
    body: Vec<u8>,
    cache: Cache,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Reply {
    /// What a read found: kept by the client and validated with its entity tag.
    pub fn found(body: &impl Serialize) -> Result<Self, ApiError> {
        Self::json(body, Cache::Validate)
    }

    /// What a write did.
    pub fn done(body: &impl Serialize) -> Result<Self, ApiError> {
        Self::json(body, Cache::No)
    }

    pub fn json(body: &impl Serialize, cache: Cache) -> Result<Self, ApiError> {
        let body = serde_json::to_vec(body).map_err(|error| ApiError::internal(&error))?;
        Ok(Self::bytes(JSON, body, cache))
    }

    pub const fn bytes(content_type: &'static str, body: Vec<u8>, cache: Cache) -> Self {
        Self { status: StatusCode::OK, content_type, body, cache, headers: Vec::new() }
    }

    pub const fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    pub fn header(mut self, name: &'static str, value: HeaderValue) -> Self {
        self.headers.push((HeaderName::from_static(name), value));
        self
    }
}

impl Responder for Reply {
    type Body = BoxBody;

    fn respond_to(self, request: &HttpRequest) -> HttpResponse {
        let Self { status, content_type, body, cache, headers } = self;
        let mut response = HttpResponse::build(status);
        response.insert_header((header::CACHE_CONTROL, cache.header()));
        for pair in headers {
            response.append_header(pair);
        }
        let readable = matches!(*request.method(), Method::GET | Method::HEAD);
        if readable && cache != Cache::No {
            // The tag is that of the plain body; a coding is added to it when the body is coded.
            response.append_header((header::VARY, "Accept-Encoding"));
            let tag = entity_tag(&body);
            if let Some(known) = known_tag(request, &tag) {
                return response.status(StatusCode::NOT_MODIFIED).insert_header((header::ETAG, known)).finish();
            }
            response.insert_header((header::ETAG, tag));
        }
        response.content_type(content_type).body(body)
    }
}

/// A strong tag: the beginning of the body's SHA-256.
fn entity_tag(body: &[u8]) -> String {
    let hash = digest(&SHA256, body);
    format!("\"{}\"", URL_SAFE_NO_PAD.encode(hash.as_ref().get(..16).unwrap_or_default()))
}

/// The tag by which the client already has the body, if it has. Compared weakly, as RFC 9110 asks of `If-None-Match`.
fn known_tag(request: &HttpRequest, tag: &str) -> Option<String> {
    let lines = request.headers().get_all(header::IF_NONE_MATCH).filter_map(|line| line.to_str().ok());
    for candidate in lines.flat_map(|line| line.split(',')).map(str::trim) {
        let opaque = candidate.strip_prefix("W/").unwrap_or(candidate);
        if candidate == "*" {
            return Some(tag.to_owned());
        }
        if without_coding(opaque) == tag.trim_matches('"') && opaque.len() > 2 {
            return Some(opaque.to_owned());
        }
    }
    None
}

fn without_coding(opaque: &str) -> &str {
    let Some(text) = opaque.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return "" };
    plain_tag(text)
}

/// Where a list stands and how to go on.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Pagination {
    /// Rows per page, as applied.
    #[schema(minimum = 1, example = 25)]
    pub limit: i64,
    /// Send it as `cursor` to get the next page; null on the last one.
    #[schema(example = 4711)]
    pub next_cursor: Option<i64>,
    pub has_more: bool,
}

impl Pagination {
    pub const fn new<T>(request: PageRequest, page: &Page<T>) -> Self {
        Self { limit: request.limit, next_cursor: page.next_cursor, has_more: page.next_cursor.is_some() }
    }
}

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct List<T> {
    pub data: Vec<T>,
    pub pagination: Pagination,
    #[schema(value_type = String, example = "v1")]
    pub api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    pub warnings: Warnings,
}

impl<T> List<T> {
    /// The list that `page` of `found` rows is, each shown by `body`.
    pub fn new<D>(page: PageRequest, found: Page<D>, body: impl Fn(D) -> T, warnings: Warnings) -> Self {
        let pagination = Pagination::new(page, &found);
        Self { data: found.items.into_iter().map(body).collect(), pagination, api_version: API_VERSION, warnings }
    }
}

/// Notes about a request that was answered all the same. Left out of an answer when there are none.
pub type Warnings = Vec<Warning>;

/// A number written exactly as the decimal is, never by way of a binary float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exact(pub Decimal);

impl Exact {
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
        let mut rounded = domain::money::round(amount, decimals);
        rounded.rescale(decimals);
        // A negative amount that rounds to nothing is nothing.
        if rounded.is_zero() {
            rounded.set_sign_positive(true);
        }
        Self(rounded)
    }
}

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.to_string()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl std::fmt::Display for Exact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A measured value with at most four decimals.
pub fn measure(value: f64) -> f64 {
    let scaled = (value * 10_000.0).round() / 10_000.0;
    // Too large to have decimals at all.
    if scaled.is_finite() { scaled } else { value }
}

const INSTANT: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
const DATE: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// RFC 3339 in UTC, whole seconds.
pub fn instant(at: OffsetDateTime) -> String {
    at.to_offset(time::UtcOffset::UTC).format(INSTANT).unwrap_or_default()
}

/// ISO 8601.
pub fn date(day: time::Date) -> String {
    day.format(DATE).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use rstest::rstest;
    use rust_decimal::dec;
    use time::macros::datetime;

    use super::*;

    #[rstest]
    #[case(dec!(0.125), 2, "0.12")]
    #[case(dec!(12.5), 2, "12.50")]
    #[case(dec!(-0.001), 2, "0.00")]
    #[case(dec!(1234567890123.455), 2, "1234567890123.46")]
    #[case(dec!(2.5), 0, "2")]
    #[case(dec!(0.1), 3, "0.100")]
    fn a_decimal_is_written_digit_by_digit(#[case] amount: Decimal, #[case] decimals: u32, #[case] json: &str) {
        assert_eq!(serde_json::to_string(&Exact::rounded(amount, decimals)).unwrap(), json);
    }

    #[test]
    fn instants_are_whole_seconds_in_utc() {
        assert_eq!(instant(datetime!(2026-05-01 23:59:59.999 -3)), "2026-05-02T02:59:59Z");
    }

    #[rstest]
    #[case("\"abc\"", true)]
    #[case("W/\"abc\"", true)]
    #[case("\"x\", \"abc\"", true)]
    #[case("\"abc-gzip\"", true)]
    #[case("*", true)]
    #[case("abc", false)]
    #[case("\"abcd\"", false)]
    #[case("\"\"", false)]
    #[case("\"", false)]
    fn tags_match_weakly_in_lists_and_in_any_coding(#[case] sent: &str, #[case] known: bool) {
        let request =
            actix_web::test::TestRequest::get().insert_header((header::IF_NONE_MATCH, sent)).to_http_request();
        assert_eq!(known_tag(&request, "\"abc\"").is_some(), known);
    }
}
