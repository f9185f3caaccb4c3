//! `GET /api/v1/openapi.json`: the description of the API. Open to everyone.

use std::sync::OnceLock;

use actix_web::HttpRequest;

use crate::{
    endpoint::Table,
    error::{ApiError, Code},
    openapi::document,
    respond::{Cache, JSON, Reply},
};

/// How long clients and proxies may keep the document, seconds.
const MAX_AGE: u32 = 300;

/// Made once: it depends on nothing but the program.
static DOCUMENT: OnceLock<Result<String, String>> = OnceLock::new();

/// This document.
///
/// Gives the OpenAPI 3.1 document of this API. Needs no key.
#[utoipa::path(
    get, path = "/api/v1/openapi.json", tag = "service", operation_id = "get_openapi",
    responses((status = 200, description = "The document.", content_type = "application/json", body = Object)),
    security(()),
    extensions(("x-max-age" = json!(MAX_AGE)))
)]
pub async fn get(request: HttpRequest) -> Result<Reply, ApiError> {
    let table = request.app_data::<&'static Table>().ok_or(ApiError::new(Code::InternalError))?;
    let document = DOCUMENT.get_or_init(|| document(table).to_json().map_err(|error| error.to_string()));
    let document = document.as_ref().map_err(|error| ApiError::internal(error))?;
    Ok(Reply::bytes(JSON, document.clone().into_bytes(), Cache::Public(MAX_AGE)))
}
