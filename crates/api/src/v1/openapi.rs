//! `GET /api/v1/openapi.json`: the description of the API. Open to everyone.

use std::sync::OnceLock;

use actix_web::{HttpRequest, web};

use crate::{
    csv::as_header,
    endpoint::Table,
    error::{ApiError, Code},
    openapi::served,
    query::{NoParams, Query},
    respond::{Cache, JSON, Reply},
    state::State,
};

/// How long clients and proxies may keep the document, seconds.
const MAX_AGE: u32 = 300;

/// The document as JSON, made when it is first asked for: it depends on nothing but the program and the prices.
#[derive(Debug, Default)]
pub struct Served(OnceLock<Result<String, String>>);

/// This document.
///
/// Gives the OpenAPI 3.1 document of this API, with the amounts that are for sale here. Needs no key.
#[utoipa::path(
    get, path = "/api/v1/openapi.json", tag = "service", operation_id = "get_openapi",
    responses((status = 200, description = "The document.", content_type = "application/json", body = Object)),
    security(()),
    extensions(("x-errors" = json!([Code::InvalidParameter])), ("x-max-age" = json!(MAX_AGE)))
)]
pub async fn get(
    request: HttpRequest,
    query: Query<NoParams>,
    state: web::Data<State>,
    document: web::Data<Served>,
) -> Result<Reply, ApiError> {
    let table = request.app_data::<&'static Table>().ok_or(ApiError::new(Code::InternalError))?;
    let make = || served(table, &state.prices).to_json().map_err(|error| error.to_string());
    let document = document.0.get_or_init(make);
    let document = document.as_ref().map_err(|error| ApiError::internal(error))?;
    let reply = Reply::bytes(JSON, document.clone().into_bytes(), Cache::Public(MAX_AGE));
    // The document is OpenAPI's, which has no field for them.
    let warnings = as_header(&query.warnings).filter(|_| !query.warnings.is_empty());
    Ok(warnings.into_iter().fold(reply, |reply, warnings| reply.header("x-warnings", warnings)))
}
