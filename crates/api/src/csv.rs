//! Lists as CSV files, streamed. A list has a file when its handler takes its parameters as a [`Listing`] and declares the
//! answer [`Csv`] beside the one in JSON; the parameter `format` and the columns are described from that.

use std::{
    future::{Ready, ready},
    marker::PhantomData,
};

use ::web::csv::{Row, header_row, rows};
use actix_web::{
    Either, FromRequest, HttpRequest, HttpResponse,
    dev::Payload,
    http::header::{self, HeaderValue},
};
use domain::{StoreError, error::Chain, page::Page};
use futures_util::{StreamExt, stream, stream::BoxStream};
use serde::{Deserialize, Serialize};
use time::Date;
use utoipa::{
    IntoParams, PartialSchema, ToSchema,
    openapi::{RefOr, Schema, Type, schema::ObjectBuilder},
};
use validator::Validate;

use crate::{
    error::ApiError,
    freshness::FreshnessBody,
    input::Input,
    names,
    query::{is_strict, pairs, read},
    respond::{Cache, Reply, date, prefers},
    streams::Streaming,
    warnings::{Warning, Warnings},
};

/// Declares the row of a file: its fields are the columns.
macro_rules! file_row {
    ($($field:ident: $type:ty),+ $(,)?) => {
        /// A row of the file.
        pub(super) struct FileRow { $($field: $type),+ }

        ::web::row!(FileRow { $($field),+ });
    };
}

pub(crate) use file_row;

pub const MEDIA_TYPE: &str = "text/csv";
const CONTENT_TYPE: &str = "text/csv; charset=utf-8";

/// In which form a list is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Json,
    Csv,
}

/// What every list takes that has a file.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FormatParam {
    /// `json`, or `csv` for a file; `Accept: text/csv` does the same.
    #[param(value_type = names::FormatName, inline, required = false)]
    format: Option<Format>,
}

impl Input for FormatParam {}

/// The parameters of a list that has a file, read into `T` and checked.
pub struct Listing<T> {
    pub params: T,
    /// As `format` says, else the header `Accept`.
    pub format: Format,
    /// Of what was clamped, and of unknown parameters.
    pub warnings: Warnings,
}

impl<T: Input> FromRequest for Listing<T> {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(listing(request))
    }
}

fn listing<T: Input>(request: &HttpRequest) -> Result<Listing<T>, ApiError> {
    let strict = is_strict(request.headers());
    let pairs = pairs(request.query_string())?;
    let (of_format, others): (Vec<_>, Vec<_>) = pairs.iter().partition(|(name, _)| name == "format");
    let (FormatParam { format }, _) = read(of_format.into_iter(), strict)?;
    let (params, mut warnings) = read::<T>(others.into_iter(), strict)?;
    let preferred = || if prefers(request.headers(), MEDIA_TYPE) { Format::Csv } else { Format::Json };
    let format = format.unwrap_or_else(preferred);
    let ignored = if format == Format::Csv { params.not_in_files() } else { None };
    match ignored {
        Some(name) if strict => return Err(ApiError::parameter(name, "is for JSON alone")),
        ignored => warnings.extend(ignored.map(|name| Warning::about("parameter_ignored", name))),
    }
    Ok(Listing { params, format, warnings })
}

/// The answer of a list as a file, in the description.
pub struct Csv<R>(PhantomData<R>);

impl<R: Row> PartialSchema for Csv<R> {
    fn schema() -> RefOr<Schema> {
        let description = format!("The columns are `{}`.", R::COLUMNS.join("`, `"));
        ObjectBuilder::new().schema_type(Type::String).description(Some(description)).into()
    }
}

impl<R: Row> ToSchema for Csv<R> {}

/// What a file says in its headers besides the rows.
pub struct CsvMetadata<'a> {
    /// Of the file, before its date.
    pub name: &'static str,
    pub day: Date,
    /// Of computed figures.
    pub freshness: Option<FreshnessBody>,
    pub warnings: &'a Warnings,
}

impl CsvMetadata<'_> {
    fn headers(&self) -> Vec<(&'static str, HeaderValue)> {
        let Self { name, day, freshness, warnings } = self;
        let file = format!("attachment; filename=\"{name}-{}.csv\"", date(*day));
        let file = HeaderValue::from_str(&file).unwrap_or(HeaderValue::from_static("attachment"));
        let mut headers = vec![("content-disposition", file), ("vary", HeaderValue::from_static("Accept"))];
        headers.extend(freshness.as_ref().and_then(as_header).map(|value| ("x-freshness", value)));
        headers.extend(as_header(warnings).filter(|_| !warnings.is_empty()).map(|value| ("x-warnings", value)));
        headers
    }
}

/// What JSON answers carry in their body, as a header: in ASCII, as clients read other bytes in different ways, if at all.
pub fn as_header(value: &impl Serialize) -> Option<HeaderValue> {
    let mut ascii = String::new();
    for letter in serde_json::to_string(value).ok()?.chars() {
        if matches!(letter, ' '..='~') {
            ascii.push(letter);
        } else {
            // It can only be within a text.
            ascii.extend(letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    HeaderValue::try_from(ascii).ok()
}

/// A list as a file: the page `one` if it is asked for, else `all` rows, as [`stream`] gives them, if there is `room` for them.
pub async fn file<R, T, E>(
    about: &CsvMetadata<'_>,
    row: impl Fn(T) -> R + 'static,
    one: Option<impl Future<Output = Result<Page<T>, E>>>,
    all: impl AsyncFnOnce() -> Result<BoxStream<'static, Result<T, StoreError>>, E>,
    room: impl FnOnce() -> Result<Option<Streaming>, ApiError>,
) -> Result<Either<Reply, HttpResponse>, ApiError>
where
    R: Row + 'static,
    T: 'static,
    ApiError: From<E>,
{
    let Some(one) = one else {
        let streaming = room()?;
        return Ok(Either::Right(stream(about, all().await?, row, streaming)));
    };
    let Page { items, next_cursor } = one.await?;
    let rows: Vec<R> = items.into_iter().map(row).collect();
    page(about, &rows, next_cursor).map(Either::Left)
}

/// One page as a file.
pub fn page<R: Row>(about: &CsvMetadata<'_>, page: &[R], next_cursor: Option<i64>) -> Result<Reply, ApiError> {
    let parts = [header_row::<R>(), rows(page)];
    let parts = parts.into_iter().collect::<Result<Vec<_>, _>>().map_err(|error| ApiError::internal(&error))?;
    let mut headers = about.headers();
    headers.extend(next_cursor.map(|cursor| ("x-next-cursor", cursor.into())));
    let reply = Reply::bytes(CONTENT_TYPE, parts.concat(), Cache::Validate);
    Ok(headers.into_iter().fold(reply, |reply, (name, value)| reply.header(name, value)))
}

/// Rows per piece of a streamed file.
const ROWS_PER_CHUNK: usize = 128;

/// All rows as a file, written while they are read; without a place among the streams its headers alone. When reading fails
/// midway the connection breaks off, so that half a file never passes for a whole one.
pub fn stream<R, T>(
    about: &CsvMetadata<'_>,
    found: BoxStream<'static, Result<T, StoreError>>,
    row: impl Fn(T) -> R + 'static,
    streaming: Option<Streaming>,
) -> HttpResponse
where
    R: Row + 'static,
    T: 'static,
{
    // The server reads the body of an answer to HEAD to its end, and drops it.
    let pieces = if streaming.is_some() { usize::MAX } else { 0 };
    // The rows are read when the handler has ended.
    let span = tracing::Span::current();
    let chunks = found.ready_chunks(ROWS_PER_CHUNK).map(move |chunk| {
        // Counted until the last piece has been taken, or the client is gone.
        let _under_way = &streaming;
        let chunk: Vec<R> =
            chunk.into_iter().map(|found| found.map(&row)).collect::<Result<_, _>>().map_err(|error| {
                span.in_scope(|| tracing::error!(error = %Chain(&error), "a stream broke off"));
                std::io::Error::other("the stream broke off")
            })?;
        rows(&chunk)
    });
    let mut response = HttpResponse::Ok();
    response.content_type(CONTENT_TYPE).insert_header((header::CACHE_CONTROL, Cache::Validate.header()));
    for header in about.headers() {
        response.append_header(header);
    }
    response.append_header((header::VARY, "Accept-Encoding"));
    response.streaming(stream::once(async { header_row::<R>() }).chain(chunks).take(pieces))
}
