//! Lists as CSV (RFC 4180), streamed.

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::header::{self, HeaderMap, HeaderValue},
    web::Bytes,
};
use csv::{Terminator, WriterBuilder};
use domain::{StoreError, error::Chain};
use futures_util::{StreamExt, stream, stream::BoxStream};
use serde::{Deserialize, Serialize};
use time::Date;

use crate::{
    error::ApiError,
    freshness::FreshnessBody,
    respond::{Cache, Warnings, date},
    streams::Streaming,
};

/// In which form a list is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Json,
    Csv,
}

/// The `format` that is asked for, or else what the header `Accept` says.
pub fn format(asked: Option<Format>, request: &HttpRequest) -> Format {
    asked.unwrap_or_else(|| if prefers(request.headers(), "text/csv") { Format::Csv } else { Format::Json })
}

/// Whether a client prefers this media type to JSON: it must be named, and not be wanted less.
pub fn prefers(headers: &HeaderMap, media_type: &str) -> bool {
    let weight = |wanted: &str| -> f32 {
        let lines = headers.get_all(header::ACCEPT).filter_map(|line| line.to_str().ok());
        let range = lines.flat_map(|line| line.split(',')).find_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(wanted));
            named.then(|| parts.find_map(|part| part.strip_prefix("q=")?.parse().ok()).unwrap_or(1.0))
        });
        range.unwrap_or(0.0)
    };
    let wanted = weight(media_type);
    wanted > 0.0 && wanted >= weight("application/json")
}

/// A row of a table.
pub trait Row {
    /// The header row: the names of the JSON fields, in their order.
    const COLUMNS: &'static [&'static str];
    /// As many cells as there are columns.
    fn cells(&self) -> Vec<String>;
}

/// A cell with a text that came from outside. A spreadsheet would take one that starts like a formula for a formula.
pub fn text(value: &str) -> String {
    if value.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{value}") } else { value.to_owned() }
}

/// A text that may be missing.
pub fn optional(value: Option<&str>) -> String {
    value.map(text).unwrap_or_default()
}

/// Rows in one piece.
fn encode<'a>(rows: impl Iterator<Item = &'a [String]>) -> Result<Bytes, std::io::Error> {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    for row in rows {
        writer.write_record(row)?;
    }
    writer.into_inner().map(Bytes::from).map_err(|error| std::io::Error::other(error.to_string()))
}

fn header_row<R: Row>() -> Result<Bytes, std::io::Error> {
    let names: Vec<String> = R::COLUMNS.iter().map(|name| (*name).to_owned()).collect();
    encode(std::iter::once(names.as_slice()))
}

/// What a file says in its headers besides the rows.
pub struct CsvMetadata<'a> {
    /// Of the file, before its date.
    pub name: &'static str,
    pub day: Date,
    /// Of computed figures.
    pub freshness: Option<FreshnessBody>,
    pub warnings: &'a Warnings,
}

fn response(about: &CsvMetadata<'_>) -> HttpResponseBuilder {
    let CsvMetadata { name, day, freshness, warnings } = about;
    let mut response = HttpResponse::Ok();
    let file = format!("attachment; filename=\"{name}-{}.csv\"", date(*day));
    response
        .insert_header((header::CONTENT_TYPE, "text/csv; charset=utf-8"))
        .insert_header((header::CONTENT_DISPOSITION, file))
        .insert_header((header::CACHE_CONTROL, Cache::Validate.header()))
        .append_header((header::VARY, "Accept, Accept-Encoding"));
    if let Some(value) = freshness.as_ref().and_then(json) {
        response.insert_header(("x-freshness", value));
    }
    if !warnings.is_empty()
        && let Some(value) = json(warnings)
    {
        response.insert_header(("x-warnings", value));
    }
    response
}

/// What JSON answers carry in their body, as a header.
fn json(value: &impl Serialize) -> Option<HeaderValue> {
    HeaderValue::from_bytes(&serde_json::to_vec(value).ok()?).ok()
}

/// One page as a file.
pub fn page<R: Row>(about: &CsvMetadata<'_>, rows: &[R], next_cursor: Option<i64>) -> Result<HttpResponse, ApiError> {
    let cells: Vec<Vec<String>> = rows.iter().map(Row::cells).collect();
    let parts = [header_row::<R>(), encode(cells.iter().map(Vec::as_slice))];
    let parts = parts.into_iter().collect::<Result<Vec<_>, _>>().map_err(|error| ApiError::internal(&error))?;
    let mut response = response(about);
    if let Some(cursor) = next_cursor {
        response.insert_header(("x-next-cursor", cursor.to_string()));
    }
    Ok(response.body(parts.concat()))
}

/// Rows per piece of a streamed file.
const ROWS_PER_CHUNK: usize = 128;

/// All rows as a file, written while they are read. When reading fails midway the connection breaks off, so that half a
/// file never passes for a whole one.
pub fn stream<R, T>(
    about: &CsvMetadata<'_>,
    rows: BoxStream<'static, Result<T, StoreError>>,
    row: impl Fn(T) -> R + 'static,
    streaming: Streaming,
) -> HttpResponse
where
    R: Row + 'static,
    T: 'static,
{
    // The rows are read when the handler has ended.
    let span = tracing::Span::current();
    let chunks = rows.ready_chunks(ROWS_PER_CHUNK).map(move |chunk| {
        // Counted until the last piece has been taken, or the client is gone.
        let _under_way = &streaming;
        let cells = chunk.into_iter().map(|found| found.map(|found| row(found).cells()));
        let cells: Vec<Vec<String>> = cells.collect::<Result<_, _>>().map_err(|error| {
            span.in_scope(|| tracing::error!(error = %Chain(&error), "a stream broke off"));
            std::io::Error::other("the stream broke off")
        })?;
        encode(cells.iter().map(Vec::as_slice))
    });
    response(about).streaming(stream::once(async { header_row::<R>() }).chain(chunks))
}
