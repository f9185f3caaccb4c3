//! Successful answers: envelope, caching, validators.

use ::web::compression::plain_tag;
use actix_web::{
    HttpRequest, HttpResponse, Responder,
    body::BoxBody,
    http::{
        Method, StatusCode,
        header::{self, HeaderMap, HeaderName, HeaderValue},
    },
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    page::{Page, PageRequest},
    texts::Texts,
};
use serde::Serialize;
use twox_hash::XxHash3_128;
use utoipa::ToSchema;

pub use crate::{
    error::API_VERSION,
    exact::{Instant, JsonDecimal, date, estimated_money, instant, round4},
    warnings::Warnings,
};
use crate::{error::ApiError, warnings::Warning};

pub const JSON: &str = "application/json";

/// Room that an answer is written into at first: a page of the default size fits.
const TYPICAL_BYTES: usize = 16_384;

/// Who may keep an answer, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// No one.
    No,
    /// The client, asking each time whether it is still right.
    Validate,
    /// Anyone, for this number of seconds.
    Public(u32),
    /// The same, and for an hour where nothing newer is to be had.
    PublicStale(u32),
}

impl Cache {
    pub fn header(self) -> HeaderValue {
        match self {
            Self::No => HeaderValue::from_static("no-store"),
            Self::Validate => HeaderValue::from_static("private, no-cache"),
            Self::Public(seconds) => text(&format!("public, max-age={seconds}")),
            Self::PublicStale(seconds) => text(&format!("public, max-age={seconds}, stale-if-error=3600")),
        }
    }
}

fn text(value: &str) -> HeaderValue {
    HeaderValue::from_str(value).unwrap_or(HeaderValue::from_static("no-store"))
}

/// An answer whose whole body is in memory.
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

    /// A list that is to be had as a file, too.
    pub fn listed(body: &impl Serialize) -> Result<Self, ApiError> {
        Ok(Self::found(body)?.header("vary", HeaderValue::from_static("Accept")))
    }

    /// What a write did.
    pub fn done(body: &impl Serialize) -> Result<Self, ApiError> {
        Self::json(body, Cache::No)
    }

    pub fn json(body: &impl Serialize, cache: Cache) -> Result<Self, ApiError> {
        let mut bytes = Vec::with_capacity(TYPICAL_BYTES);
        serde_json::to_writer(&mut bytes, body).map_err(|error| ApiError::internal(&error))?;
        Ok(Self::bytes(JSON, bytes, cache))
    }

    pub const fn bytes(content_type: &'static str, body: Vec<u8>, cache: Cache) -> Self {
        Self { status: StatusCode::OK, content_type, body, cache, headers: Vec::new() }
    }

    pub const fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Says in which language the sentences are, and that another request might get another.
    pub fn in_language(self, texts: &Texts) -> Self {
        let tag = HeaderValue::from_str(&texts.locale().tag());
        self.header("content-language", tag.unwrap_or(HeaderValue::from_static("en")))
            .header("vary", HeaderValue::from_static("Accept-Language"))
    }

    /// How long what is answered has been known.
    pub fn age(self, age: time::Duration) -> Self {
        self.header("age", age.whole_seconds().max(0).into())
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

/// A strong tag: 128 bits of XXH3 over the body. Who could make two bodies collide would fool no cache but their own.
fn entity_tag(body: &[u8]) -> String {
    format!("\"{}\"", URL_SAFE_NO_PAD.encode(XxHash3_128::oneshot(body).to_be_bytes()))
}

/// Whether the client asks for an answer only if there is nothing at all (`If-None-Match: *`), whatever it knows.
pub fn matches_anything(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::IF_NONE_MATCH).filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|candidate| candidate.trim() == "*")
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

/// Whether a client prefers this media type to JSON: it must be named, and not be wanted less than JSON, which a range such as
/// `*/*` may ask for as well.
pub fn prefers(headers: &HeaderMap, media_type: &str) -> bool {
    let weight = |wanted: &str| -> Option<f32> {
        let lines = headers.get_all(header::ACCEPT).filter_map(|line| line.to_str().ok());
        lines.flat_map(|line| line.split(',')).find_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(wanted));
            let q = |part: &str| part.strip_prefix(['q', 'Q'])?.strip_prefix('=')?.parse().ok();
            named.then(|| parts.find_map(q).unwrap_or(1.0))
        })
    };
    let json = [JSON, "application/*", "*/*"].into_iter().find_map(&weight).unwrap_or(0.0);
    weight(media_type).is_some_and(|wanted| wanted > 0.0 && wanted >= json)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

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
