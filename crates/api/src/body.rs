//! Request bodies: read within limits of size and time, then read into the struct that describes it.

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    error::PayloadError,
    http::{
        Method,
        header::{self, HeaderMap},
    },
    web::{Bytes, BytesMut, Data},
};
use domain::idempotency::IdempotencyKey;
use futures_util::{FutureExt, StreamExt, future::LocalBoxFuture};
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Deserializer as _};
use serde_json::value::RawValue;
use validator::Validate;

use crate::{
    error::{ApiError, Code},
    input::{self, Form, Input, Members},
    query::is_strict,
    state::State,
    warnings::{MAX_NAME_CHARS, Warnings, note_unknown},
};

/// The largest body, bytes.
pub const MAX_BYTES: usize = 64 * 1024;
/// The largest body of a batch of events, bytes: five hundred of some 2,000 each.
pub const MAX_BATCH_BYTES: usize = 1024 * 1024;

fn too_large(max_bytes: usize) -> ApiError {
    ApiError::new(Code::PayloadTooLarge).message(format!("The body is larger than {} KiB.", max_bytes / 1024))
}

/// The body of an operation that needs none: absent, or an object.
#[derive(Deserialize, Validate)]
pub struct Nothing {}

impl Input for Nothing {
    const IS_OPTIONAL: bool = true;
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
fn check_head(headers: &HeaderMap, max_bytes: usize) -> Result<Option<String>, ApiError> {
    let unsupported = |message: &'static str| ApiError::new(Code::UnsupportedMediaType).message(message);
    let mut codings = headers.get_all(header::CONTENT_ENCODING).filter(|coding| !coding.is_empty());
    if codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(unsupported("Compressed bodies are not read."));
    }
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > max_bytes as u64) {
        return Err(too_large(max_bytes));
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

async fn read(mut payload: Payload, max_bytes: usize) -> Result<Bytes, ApiError> {
    let mut bytes = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| match error {
            PayloadError::Overflow => too_large(max_bytes),
            _ => ApiError::new(Code::InvalidBody).message("The body is broken off or wrongly encoded."),
        })?;
        if bytes.len() + chunk.len() > max_bytes {
            return Err(too_large(max_bytes));
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

    /// The JSON object that the body is, with a warning for each unknown field.
    pub fn read<T: Input>(&self) -> Result<(T, Warnings), ApiError> {
        if T::IS_OPTIONAL && self.bytes.is_empty() {
            return parse(b"{}", self.strict);
        }
        let is_json = match self.media_type.as_deref() {
            None | Some("application/json") => true,
            Some("text/plain") => T::IS_BEACON,
            Some(other) => other.starts_with("application/") && other.ends_with("+json"),
        };
        if is_json { parse(&self.bytes, self.strict) } else { Err(ApiError::new(Code::UnsupportedMediaType)) }
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
        // As it was routed: however an address is percent-encoded, it is the same.
        let path = request.match_info().as_str().to_owned();
        Ok(Some(IdempotencyKey { path, key: key.to_owned(), request_hash }))
    }
}

/// A body that is read into `T` and checked.
pub struct Json<T, const MAX: usize = MAX_BYTES> {
    pub value: T,
    /// Of a POST.
    pub key: Option<IdempotencyKey>,
    /// Of unknown fields.
    pub warnings: Warnings,
    /// The body as it was sent.
    pub upload: Upload<MAX>,
}

impl<T, const MAX: usize> Json<T, MAX> {
    /// What was sent, the idempotency key, and the warnings after `others`.
    pub fn into_parts(self, mut others: Warnings) -> (T, Option<IdempotencyKey>, Warnings) {
        others.extend(self.warnings);
        (self.value, self.key, others)
    }
}

impl<T: Input + 'static, const MAX: usize> FromRequest for Json<T, MAX> {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let upload = Upload::<MAX>::from_request(request, payload);
        let request = request.clone();
        async move {
            let upload = upload.await?;
            let key = if *request.method() == Method::POST { upload.idempotency(&request)? } else { None };
            let (value, warnings) = upload.read()?;
            Ok(Self { value, key, warnings, upload })
        }
        .boxed_local()
    }
}

/// Reads the one JSON object that `bytes` are.
pub fn parse<T: Input>(bytes: &[u8], strict: bool) -> Result<(T, Warnings), ApiError> {
    let members = members(bytes)?;
    let fields = members.iter().map(|(name, raw)| (name.as_str(), raw.get()));
    let (value, mut unknown) = input::read(Form::Json, fields)?;
    input::check(&value)?;
    unknown.sort_unstable();
    let mut warnings = Warnings::new();
    note_unknown(unknown.iter().map(String::as_str), "unknown_field", strict, &mut warnings)?;
    Ok((value, warnings))
}

/// The members of a JSON object as they were sent, none of them twice.
fn members(bytes: &[u8]) -> Result<Vec<(String, &RawValue)>, ApiError> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let members = reader.deserialize_map(Members).and_then(|members| reader.end().map(|()| members));
    let members = members.map_err(|error| {
        // What begins as something else than an object may be no JSON further on.
        if error.is_data() && serde_json::from_slice::<&RawValue>(bytes).is_ok() {
            ApiError::new(Code::InvalidBody).message("The body must be a JSON object.")
        } else {
            ApiError::new(Code::InvalidJson)
        }
    })?;
    let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    if let Some([twice, _]) = names.array_windows::<2>().find(|[a, b]| a == b) {
        let shown: String = twice.chars().take(MAX_NAME_CHARS).collect();
        return Err(ApiError::new(Code::InvalidBody)
            .message(format!("`{shown}` is given more than once."))
            .param(shown));
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use serde::Deserialize;
    use validator::Validate;

    use super::*;
    use crate::input::Number;

    #[derive(Debug, Deserialize, Validate)]
    struct Sample {
        #[validate(length(max = 3))]
        text: Option<String>,
        raw: Option<Box<RawValue>>,
        number: Option<Number>,
        many: Option<Vec<String>>,
        inner: Option<Inner>,
        inners: Option<Vec<Inner>>,
    }

    #[derive(Debug, Deserialize)]
    struct Inner {
        count: i64,
        note: Option<String>,
    }

    impl Input for Sample {
        fn fault(field: &str) -> ApiError {
            ApiError::new(if field == "text" { Code::InvalidEvent } else { Code::InvalidParameter })
        }
    }

    fn parse(body: &str) -> Result<Sample, ApiError> {
        super::parse(body.as_bytes(), false).map(|(sample, _)| sample)
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
    #[case("[1", Code::InvalidJson)]
    #[case("[1] x", Code::InvalidJson)]
    #[case("1 2", Code::InvalidJson)]
    #[case("\"open", Code::InvalidJson)]
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
        assert_eq!(super::parse::<Sample>(b"{\"a\":\"\xff\"}", false).unwrap_err().code, Code::InvalidJson);
        assert_eq!(super::parse::<Sample>(b"\xff\xfe{\0}\0", false).unwrap_err().code, Code::InvalidJson);
    }

    #[rstest]
    #[case(r#"{"text":"\ud83d"}"#, Code::InvalidJson, "text", "valid JSON")]
    #[case(r#"{"text":1}"#, Code::InvalidEvent, "text", "must be a text")]
    #[case(r#"{"text":["x"]}"#, Code::InvalidEvent, "text", "must be a text")]
    #[case(r#"{"text":{}}"#, Code::InvalidEvent, "text", "must be a text")]
    #[case(r#"{"text":"long"}"#, Code::InvalidEvent, "text", "at most 3 characters")]
    #[case(r#"{"many":"x"}"#, Code::InvalidParameter, "many", "must be an array")]
    #[case(r#"{"many":{"x":1}}"#, Code::InvalidParameter, "many", "must be an array")]
    #[case(r#"{"many":["x",1]}"#, Code::InvalidParameter, "many", "must be a text")]
    #[case(r#"{"many":["x",null]}"#, Code::InvalidParameter, "many", "must not hold null")]
    #[case(r#"{"inner":[1]}"#, Code::InvalidParameter, "inner", "must be an object")]
    #[case(r#"{"inner":1}"#, Code::InvalidParameter, "inner", "must be an object")]
    #[case(r#"{"inner":{}}"#, Code::MissingParameter, "inner", "`inner.count` is required")]
    #[case(r#"{"inner":{"count":null}}"#, Code::MissingParameter, "inner", "`inner.count` is required")]
    #[case(r#"{"inner":{"count":"x"}}"#, Code::InvalidParameter, "inner", "`inner.count` must be a whole number")]
    #[case(r#"{"inner":{"count":{}}}"#, Code::InvalidParameter, "inner", "`inner.count` must be a whole number")]
    #[case(r#"{"inner":{"count":1,"count":2}}"#, Code::InvalidParameter, "inner", "given more than once")]
    #[case(r#"{"inner":{"count":1,"note":"\ud83d"}}"#, Code::InvalidJson, "inner", "valid JSON")]
    #[case(r#"{"inners":[{"count":1},[2]]}"#, Code::InvalidParameter, "inners", "must be an object")]
    #[case(r#"{"inners":[{"count":1},null]}"#, Code::InvalidParameter, "inners", "must not hold null")]
    #[case(r#"{"inners":[{"count":1},{}]}"#, Code::MissingParameter, "inners", "`inners.count` is required")]
    #[case(r#"{"inners":[{"count":true}]}"#, Code::InvalidParameter, "inners", "`inners.count` must be a whole number")]
    fn a_fault_names_its_field_and_what_it_may_be(
        #[case] body: &str,
        #[case] code: Code,
        #[case] field: &str,
        #[case] told: &str,
    ) {
        let error = parse(body).unwrap_err();
        let answer = error.body("r");
        assert_eq!((error.code, answer.param.as_deref()), (code, Some(field)));
        assert!(answer.message.contains(told), "{}", answer.message);
    }

    #[test]
    fn unknown_fields_of_objects_are_told_as_well() {
        let body =
            br#"{"z":1,"inner":{"count":1.0,"x":{"y":1},"note":null},"inners":[{"count":1,"b":1},{"a":1,"count":2}]}"#;
        let (sample, warnings) = super::parse::<Sample>(body, false).unwrap();
        let told: Vec<_> = warnings.iter().map(|warning| warning.param.as_str()).collect();
        assert_eq!(told, ["inner.x", "inners.a", "inners.b", "z"]);
        let Sample { inner, inners, .. } = sample;
        assert_eq!(inner.map(|inner| (inner.count, inner.note)), Some((1, None)));
        assert_eq!(inners.unwrap().iter().map(|inner| inner.count).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(super::parse::<Sample>(body, true).unwrap_err().body("r").param.as_deref(), Some("inner.x"));
    }

    #[test]
    fn nesting_without_end_costs_no_stack() {
        let body = format!("{{\"raw\":{}{}}}", "[".repeat(30_000), "]".repeat(30_000));
        assert_eq!(parse(&body).unwrap().raw.unwrap().get().len(), 60_000);
        let object = format!("{{\"raw\":{}1{}}}", "{\"b\":".repeat(500), "}".repeat(500));
        let raw = parse(&object).unwrap().raw.unwrap();
        let refused = input::object::<Sample>("text", &raw).unwrap_err();
        assert_eq!((refused.code, &*refused.body("r").message), (Code::InvalidEvent, "`text` is nested too deep."));
    }

    #[test]
    fn null_is_as_good_as_absent_and_what_is_unknown_is_noted() {
        let (sample, warnings) = super::parse::<Sample>(b"{\"text\": null, \"raw\":null,\"x\":null}", false).unwrap();
        assert!(sample.text.is_none() && sample.raw.is_none() && sample.many.is_none());
        assert_eq!(warnings.iter().map(|warning| warning.param.as_str()).collect::<Vec<_>>(), ["x"]);
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
        assert_eq!(upload.read::<Sample>().is_ok(), readable);
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
        let sample = parse(&format!("{{\"number\":{sent}}}"));
        let number = sample.ok().and_then(|sample| sample.number).map(|Number(number)| number.to_string());
        assert_eq!(number, read.map(str::to_owned));
    }

    #[rstest]
    #[case("24", Some(24))]
    #[case("24.0", Some(24))]
    #[case("2.4e1", Some(24))]
    #[case("-0.0", Some(0))]
    #[case("9007199254740993.0", Some(9_007_199_254_740_993))]
    #[case("24.00000000000000000001", None)]
    #[case("1e-400", None)]
    #[case("9223372036854775808", None)]
    fn a_whole_number_is_taken_as_written(#[case] sent: &str, #[case] read: Option<i64>) {
        let sample = parse(&format!("{{\"inner\":{{\"count\":{sent}}}}}"));
        assert_eq!(sample.ok().and_then(|sample| sample.inner).map(|inner| inner.count), read);
    }

    #[test]
    fn another_charset_is_refused() {
        assert_eq!(media_type("application/json; charset=utf-16").unwrap_err().code, Code::UnsupportedMediaType);
    }

    proptest! {
        #[test]
        fn no_body_makes_the_parser_panic(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = super::parse::<Sample>(&body, false);
        }
    }
}
