//! Request bodies: read within limits of size and time, then taken apart field by field.

use std::fmt;

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    error::PayloadError,
    http::header::{self, HeaderMap},
    web::{Bytes, BytesMut, Data},
};
use domain::idempotency::IdempotencyKey;
use futures_util::{FutureExt, StreamExt, future::LocalBoxFuture};
use ring::digest::{Context, SHA256};
use rust_decimal::Decimal;
use serde::{
    Deserializer as _,
    de::{MapAccess, Visitor},
};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    error::{ApiError, Code},
    query::is_strict,
    state::State,
    warnings::{Warnings, note_unknown},
};

/// The largest body, bytes.
pub const MAX_BYTES: usize = 64 * 1024;
/// The largest body of a batch of events, bytes: five hundred of some 2,000 each.
pub const MAX_BATCH_BYTES: usize = 1024 * 1024;

fn too_large(room: usize) -> ApiError {
    ApiError::new(Code::PayloadTooLarge).message(format!("The body is larger than {} KiB.", room / 1024))
}

/// Which media types besides JSON an endpoint reads as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepts {
    Json,
    /// Browsers send beacons as `text/plain`.
    JsonOrText,
}

/// A body of at most `MAX` bytes as it was sent.
#[derive(Debug)]
pub struct Upload<const MAX: usize = MAX_BYTES> {
    bytes: Bytes,
    media_type: Option<String>,
    strict: bool,
}

impl<const MAX: usize> FromRequest for Upload<MAX> {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let checked = check_head(request.headers(), MAX);
        let strict = is_strict(request.headers());
        let state = request.app_data::<Data<State>>().cloned();
        let payload = payload.take();
        async move {
            let media_type = checked?;
            let timeout = state.ok_or(ApiError::new(Code::InternalError))?.settings.body_timeout;
            // The server has no time limit for bodies of its own.
            let bytes = tokio::time::timeout(timeout, read(payload, MAX))
                .await
                .map_err(|_| ApiError::new(Code::RequestTimeout))??;
            Ok(Self { bytes, media_type, strict })
        }
        .boxed_local()
    }
}

/// Refuses a body by its headers, before any of it is read. Gives its media type.
fn check_head(headers: &HeaderMap, room: usize) -> Result<Option<String>, ApiError> {
    let unsupported = |message: &'static str| ApiError::new(Code::UnsupportedMediaType).message(message);
    let mut codings = headers.get_all(header::CONTENT_ENCODING).filter(|coding| !coding.is_empty());
    if codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(unsupported("Compressed bodies are not read."));
    }
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > room as u64) {
        return Err(too_large(room));
    }
    let mut types = headers.get_all(header::CONTENT_TYPE).filter(|value| !value.is_empty());
    match (types.next(), types.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => media_type(value.to_str().unwrap_or_default()).map(Some),
        (Some(_), Some(_)) => Err(unsupported("Send one Content-Type.")),
    }
}

/// The type without its parameters, in lower case. JSON is UTF-8, so is every other charset refused.
fn media_type(value: &str) -> Result<String, ApiError> {
    let mut parts = value.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
    let charset =
        parts.filter_map(|part| part.split_once('=')).find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    match charset.map(|(_, charset)| charset.trim().trim_matches('"').to_ascii_lowercase()) {
        None => Ok(essence),
        Some(charset) if matches!(charset.as_str(), "utf-8" | "utf8" | "us-ascii") => Ok(essence),
        Some(_) => Err(ApiError::new(Code::UnsupportedMediaType).message("The charset must be UTF-8.")),
    }
}

async fn read(mut payload: Payload, room: usize) -> Result<Bytes, ApiError> {
    let mut bytes = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| match error {
            PayloadError::Overflow => too_large(room),
            _ => ApiError::new(Code::InvalidBody).message("The body is broken off or wrongly encoded."),
        })?;
        if bytes.len() + chunk.len() > room {
            return Err(too_large(room));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}

impl<const MAX: usize> Upload<MAX> {
    /// Whether the client asks to be refused rather than corrected.
    pub const fn is_strict(&self) -> bool {
        self.strict
    }

    /// The body as it was sent.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The fields of the JSON object that the body is.
    pub fn fields(&self, accepts: Accepts) -> Result<Fields, ApiError> {
        let readable = match self.media_type.as_deref() {
            None | Some("application/json") => true,
            Some("text/plain") => accepts == Accepts::JsonOrText,
            Some(other) => other.starts_with("application/") && other.ends_with("+json"),
        };
        if !readable {
            return Err(ApiError::new(Code::UnsupportedMediaType));
        }
        Fields::parse(&self.bytes, self.strict)
    }

    /// Like [`Upload::fields`]; no body at all is an object without fields.
    pub fn fields_or_none(&self, accepts: Accepts) -> Result<Fields, ApiError> {
        if self.bytes.is_empty() {
            return Ok(Fields { fields: Vec::new(), strict: self.strict });
        }
        self.fields(accepts)
    }

    /// The request's idempotency key, if it has one.
    pub fn idempotency(&self, request: &HttpRequest) -> Result<Option<IdempotencyKey>, ApiError> {
        let mut sent = request.headers().get_all("idempotency-key");
        let Some(key) = sent.next() else { return Ok(None) };
        let key = key.to_str().ok().filter(|key| IdempotencyKey::is_valid(key) && sent.next().is_none());
        let key = key.ok_or(ApiError::new(Code::InvalidIdempotencyKey).param("Idempotency-Key"))?;
        let mut context = Context::new(&SHA256);
        context.update(request.query_string().as_bytes());
        // A query holds no NUL, so no two pairs of query and body give the same bytes.
        context.update(&[0]);
        context.update(&self.bytes);
        let mut request_hash = [0; 32];
        request_hash.copy_from_slice(context.finish().as_ref());
        Ok(Some(IdempotencyKey { path: request.path().to_owned(), key: key.to_owned(), request_hash }))
    }
}

/// The fields of a JSON object, not yet read. Each known one is taken by name; [`Fields::finish`] deals with the rest.
#[derive(Debug)]
pub struct Fields {
    fields: Vec<(String, Box<RawValue>)>,
    strict: bool,
}

/// A member of a JSON object as it was sent. It is well-formed, but its texts are not decoded yet.
pub struct Field {
    name: &'static str,
    raw: Box<RawValue>,
}

impl Fields {
    /// The fields of an object within the body.
    pub fn within(element: &RawValue, strict: bool) -> Result<Self, ApiError> {
        Self::parse(element.get().as_bytes(), strict)
    }

    pub(crate) fn parse(bytes: &[u8], strict: bool) -> Result<Self, ApiError> {
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        let members = reader.deserialize_map(Members).and_then(|members| reader.end().map(|()| members));
        let fields = members.map_err(|error| {
            if error.is_data() {
                ApiError::new(Code::InvalidBody).message("The body must be a JSON object.")
            } else {
                ApiError::new(Code::InvalidJson)
            }
        })?;
        let mut names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        if let Some([twice, _]) = names.array_windows::<2>().find(|[a, b]| a == b) {
            let shown: String = twice.chars().take(64).collect();
            return Err(ApiError::new(Code::InvalidBody)
                .message(format!("`{shown}` is given more than once."))
                .param(shown));
        }
        Ok(Self { fields, strict })
    }

    /// A field that is there and not null.
    pub fn take(&mut self, name: &'static str) -> Option<Field> {
        let at = self.fields.iter().position(|(known, _)| known == name)?;
        let (_, raw) = self.fields.swap_remove(at);
        (raw.get() != "null").then_some(Field { name, raw })
    }

    /// A text, or the error `otherwise` for any other type.
    pub fn text(&mut self, name: &'static str, otherwise: Code) -> Result<Option<String>, ApiError> {
        self.take(name).map(|field| field.text(otherwise)).transpose()
    }

    /// Ends the reading: fields that nobody took are warned about, or refused under strict handling.
    pub fn finish(self, mut warnings: Warnings) -> Result<Warnings, ApiError> {
        let mut unknown: Vec<&str> = self.fields.iter().map(|(name, _)| name.as_str()).collect();
        unknown.sort_unstable();
        note_unknown(unknown.into_iter(), "unknown_field", self.strict, &mut warnings)?;
        Ok(warnings)
    }
}

impl Field {
    /// Bytes as sent.
    pub fn len(&self) -> usize {
        self.raw.get().len()
    }

    pub fn text(&self, otherwise: Code) -> Result<String, ApiError> {
        if !self.raw.get().starts_with('"') {
            return Err(ApiError::new(otherwise).message(format!("`{}` must be a text.", self.name)).param(self.name));
        }
        self.decode(otherwise)
    }

    pub fn object(&self, otherwise: Code) -> Result<Map<String, Value>, ApiError> {
        if !self.raw.get().starts_with('{') {
            return Err(ApiError::new(otherwise)
                .message(format!("`{}` must be an object.", self.name))
                .param(self.name));
        }
        self.decode(otherwise)
    }

    pub fn flag(&self) -> Result<bool, ApiError> {
        serde_json::from_str(self.raw.get()).map_err(|_| ApiError::parameter(self.name, "must be true or false"))
    }

    /// A whole number in a range.
    pub fn integer(&self, min: i64, max: i64) -> Result<i64, ApiError> {
        let number = serde_json::from_str(self.raw.get()).ok().filter(|number| (min..=max).contains(number));
        number.ok_or_else(|| ApiError::parameter(self.name, &format!("must be a whole number from {min} to {max}")))
    }

    /// A number, exactly as it is written.
    pub fn decimal(&self) -> Result<Decimal, ApiError> {
        let text = self.raw.get();
        let number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit()).then_some(text);
        let number = number.and_then(|text| {
            text.parse().ok().filter(|_| !text.contains(['e', 'E'])).or_else(|| Decimal::from_scientific(text).ok())
        });
        number.ok_or_else(|| ApiError::parameter(self.name, "must be a number"))
    }

    /// The elements of an array, each to be read by itself.
    pub fn elements(&self) -> Result<Vec<Box<RawValue>>, ApiError> {
        serde_json::from_str(self.raw.get()).map_err(|_| ApiError::parameter(self.name, "must be an array"))
    }

    pub fn texts(&self, otherwise: Code) -> Result<Vec<String>, ApiError> {
        serde_json::from_str(self.raw.get()).map_err(|_| {
            ApiError::new(otherwise).message(format!("`{}` must be an array of texts.", self.name)).param(self.name)
        })
    }

    /// Well-formed JSON can still hold half a surrogate pair, a number beyond all floats or more levels than are read.
    fn decode<T: serde::de::DeserializeOwned>(&self, otherwise: Code) -> Result<T, ApiError> {
        serde_json::from_str(self.raw.get()).map_err(|error| {
            let text = error.to_string();
            let storable_elsewhere = text.starts_with("recursion limit") || text.starts_with("number out of range");
            let code = if storable_elsewhere { otherwise } else { Code::InvalidJson };
            ApiError::new(code).param(self.name)
        })
    }
}

/// Collects the members of an object without reading their values, so that no depth of nesting costs any stack.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, Box<RawValue>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn parse(body: &str) -> Result<Fields, ApiError> {
        Fields::parse(body.as_bytes(), false)
    }

    #[rstest]
    #[case("", Code::InvalidJson)]
    #[case("   ", Code::InvalidJson)]
    #[case("{", Code::InvalidJson)]
    #[case("{}{}", Code::InvalidJson)]
    #[case("{} x", Code::InvalidJson)]
    #[case("{'a':1}", Code::InvalidJson)]
    #[case("{\"a\":1,}", Code::InvalidJson)]
    #[case("{\"a\":NaN}", Code::InvalidJson)]
    #[case("{\"a\":01}", Code::InvalidJson)]
    #[case("{\"a\":1/* c */}", Code::InvalidJson)]
    #[case("{\"a\":\"\u{1}\"}", Code::InvalidJson)]
    #[case("\u{feff}{}", Code::InvalidJson)]
    #[case("{\"\\ud83d\":1}", Code::InvalidJson)]
    #[case("[]", Code::InvalidBody)]
    #[case("[\"a\",{}]", Code::InvalidBody)]
    #[case("null", Code::InvalidBody)]
    #[case("true", Code::InvalidBody)]
    #[case("1", Code::InvalidBody)]
    #[case("\"{}\"", Code::InvalidBody)]
    #[case("{\"a\":1,\"a\":1}", Code::InvalidBody)]
    #[case("{\"url\":1,\"\\u0075rl\":2}", Code::InvalidBody)]
    fn what_is_not_one_object_with_distinct_keys_is_refused(#[case] body: &str, #[case] code: Code) {
        assert_eq!(parse(body).unwrap_err().code, code);
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_refused() {
        assert_eq!(Fields::parse(b"{\"a\":\"\xff\"}", false).unwrap_err().code, Code::InvalidJson);
        assert_eq!(Fields::parse(b"\xff\xfe{\0}\0", false).unwrap_err().code, Code::InvalidJson);
    }

    #[rstest]
    #[case("{\"a\":\"\\ud83d\"}", Code::InvalidJson)]
    #[case("{\"a\":1}", Code::InvalidEvent)]
    #[case("{\"a\":[\"x\"]}", Code::InvalidEvent)]
    fn a_text_is_a_text(#[case] body: &str, #[case] code: Code) {
        assert_eq!(parse(body).unwrap().text("a", Code::InvalidEvent).unwrap_err().code, code);
    }

    #[test]
    fn nesting_without_end_costs_no_stack() {
        let body = format!("{{\"a\":{}{}}}", "[".repeat(30_000), "]".repeat(30_000));
        let field = parse(&body).unwrap().take("a").unwrap();
        assert_eq!(field.len(), 60_000);
        let object = format!("{{\"a\":{}1{}}}", "{\"b\":".repeat(500), "}".repeat(500));
        let error = parse(&object).unwrap().take("a").unwrap().object(Code::InvalidProps).unwrap_err();
        assert_eq!(error.code, Code::InvalidProps);
    }

    #[test]
    fn null_is_as_good_as_absent() {
        let mut fields = parse("{\"a\": null }").unwrap();
        assert!(fields.take("a").is_none());
        assert!(fields.finish(Warnings::new()).unwrap().is_empty());
    }

    #[rstest]
    #[case("application/json", true)]
    #[case("Application/JSON; charset=UTF-8", true)]
    #[case("application/problem+json", true)]
    #[case("text/plain;charset=UTF-8", false)]
    #[case("text/html", false)]
    #[case("application/x-www-form-urlencoded", false)]
    #[case("json", false)]
    fn json_is_told_by_its_media_type(#[case] value: &str, #[case] readable: bool) {
        let upload: Upload =
            Upload { bytes: Bytes::from_static(b"{}"), media_type: Some(media_type(value).unwrap()), strict: false };
        assert_eq!(upload.fields(Accepts::Json).is_ok(), readable);
    }

    #[rstest]
    #[case("5", Some("5"))]
    #[case("-0.10", Some("-0.10"))]
    #[case("1e3", Some("1000"))]
    #[case("2.5E-1", Some("0.25"))]
    #[case("\"5\"", None)]
    #[case("true", None)]
    #[case("[1]", None)]
    #[case("1e400", None)]
    #[case("99999999999999999999999999999999", None)]
    fn a_decimal_is_taken_as_written(#[case] sent: &str, #[case] read: Option<&str>) {
        let field = parse(&format!("{{\"a\":{sent}}}")).unwrap().take("a").unwrap();
        assert_eq!(field.decimal().ok().map(|number| number.to_string()), read.map(str::to_owned));
    }

    #[test]
    fn another_charset_is_refused() {
        assert_eq!(media_type("application/json; charset=utf-16").unwrap_err().code, Code::UnsupportedMediaType);
    }

    proptest! {
        #[test]
        fn no_body_makes_the_parser_panic(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Fields::parse(&body, false);
        }
    }
}
