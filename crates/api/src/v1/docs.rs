//! `/docs`: the document as a page, from files that are compiled in.

use std::sync::{Arc, LazyLock};

use actix_web::{
    HttpResponse,
    http::header::{self, HeaderValue},
    web,
};
use utoipa_swagger_ui::Config;

use crate::{
    error::{ApiError, Code},
    respond::{Cache, Reply},
};

/// Nothing is loaded from elsewhere, and no script runs that is not a file of ours.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Seconds that the files may be kept.
const MAX_AGE: u32 = 300;

/// Where the page finds the document.
const OPENAPI_PATH: &str = "/api/v1/openapi.json";

static CONFIG: LazyLock<Arc<Config<'static>>> =
    LazyLock::new(|| Arc::new(Config::from(OPENAPI_PATH).try_it_out_enabled(true).persist_authorization(false)));

/// The files are asked for relative to the page, so it lives below a slash.
#[utoipa::path(get, path = "/docs", security(()), extensions(("x-internal" = json!(true))))]
pub async fn redirect() -> HttpResponse {
    HttpResponse::PermanentRedirect().insert_header((header::LOCATION, "/docs/")).finish()
}

/// A file of the page; the page itself without a name.
#[utoipa::path(get, path = "/docs/{file:.*}", security(()), extensions(("x-internal" = json!(true))))]
pub async fn file(name: web::Path<String>) -> Result<Reply, ApiError> {
    let file = utoipa_swagger_ui::serve(&name, Arc::clone(&CONFIG)).map_err(|error| ApiError::internal(&error))?;
    let file = file.ok_or(ApiError::new(Code::NotFound))?;
    let reply = Reply::bytes(content_type(&name), file.bytes.into_owned(), Cache::Public(MAX_AGE));
    Ok(reply
        .header("content-security-policy", HeaderValue::from_static(POLICY))
        .header("referrer-policy", HeaderValue::from_static("no-referrer")))
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        None | Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("png") => "image/png",
        Some("map") => "application/json",
        Some(_) => "application/octet-stream",
    }
}
