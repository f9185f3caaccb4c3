//! `GET /api/v1/openapi.json`: the description of the API. Open to everyone.

use std::sync::LazyLock;

use crate::{
    error::ApiError,
    openapi::openapi,
    respond::{Cache, JSON, Reply},
};

/// How long clients and proxies may keep the document, seconds.
const MAX_AGE: u32 = 300;

/// Made once: it depends on nothing but the program.
static DOCUMENT: LazyLock<Result<String, String>> =
    LazyLock::new(|| openapi().to_json().map_err(|error| error.to_string()));

/// This document.
///
/// Gives the OpenAPI 3.1 document of this API. Needs no key.
#[utoipa::path(
    get, path = "/api/v1/openapi.json", tag = "service", operation_id = "get_openapi",
    responses((status = 200, description = "The document.", content_type = "application/json", body = Object)),
    security(())
)]
pub async fn get() -> Result<Reply, ApiError> {
    let document = DOCUMENT.as_ref().map_err(|error| ApiError::internal(error))?;
    Ok(Reply::bytes(JSON, document.clone().into_bytes(), Cache::Public(MAX_AGE)))
}
