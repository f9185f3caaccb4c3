//! `GET /api/v1/index`: every endpoint; and its twin for programs that look for APIs. Open to everyone.

use std::{collections::BTreeMap, sync::OnceLock};

use actix_web::{HttpRequest, http::header::HeaderValue};
use domain::events::EventKind;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::{
    ToSchema,
    openapi::{OpenApi, RefOr, path::Operation},
};

use crate::{
    endpoint::{Access, Table, extension, is_internal, method_name, operations},
    error::{ApiError, Code},
    query::{NoParams, Query},
    respond::{API_VERSION, Cache, Reply, Warnings},
    warnings::Warning,
};

/// How long clients and proxies may keep the index, seconds.
const MAX_AGE: u32 = 300;
/// The month of the first release, whose endpoints say nothing else.
const FIRST_RELEASE: &str = "2026-11";

/// Made once: it depends on nothing but the program.
static ENDPOINTS: OnceLock<Vec<Described>> = OnceLock::new();

/// What there is.
#[derive(Debug, Serialize, ToSchema)]
struct Index {
    #[schema(value_type = String, example = "Business Analytics Service")]
    name: &'static str,
    /// Of the program.
    #[schema(value_type = String, example = "0.9.0")]
    version: &'static str,
    /// Whether the service works.
    #[schema(value_type = String, example = "/api/v1/status")]
    status_url: &'static str,
    /// The OpenAPI document.
    #[schema(value_type = String, example = "/api/v1/openapi.json")]
    openapi_url: &'static str,
    /// The document as a page.
    #[schema(value_type = String, example = "/docs/")]
    docs_url: &'static str,
    /// By path.
    #[schema(value_type = Vec<Described>)]
    endpoints: &'static [Described],
    /// The events that subscriptions may name.
    #[schema(value_type = Vec<String>, example = json!(["purchase.created", "alert.fired"]))]
    events: &'static [&'static str],
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// A path.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IndexedEndpoint)]
struct Described {
    #[schema(example = "/api/v1/profit")]
    path: String,
    #[schema(value_type = Vec<String>, example = json!(["GET"]))]
    methods: Vec<&'static str>,
    /// The scope that a key needs, by method; empty where no key is needed.
    #[schema(value_type = BTreeMap<String, String>, example = json!({"GET": "read"}))]
    scopes: BTreeMap<&'static str, &'static str>,
    /// Open to everyone.
    #[schema(example = false)]
    public: bool,
    /// Of the first method.
    summary: String,
    /// What its answers come in.
    #[schema(example = json!(["json", "csv"]))]
    formats: Vec<String>,
    /// How long anyone may keep an answer; null where only the client may, or nobody.
    #[schema(minimum = 0, example = json!(null))]
    max_age_seconds: Option<u64>,
    /// The month of the release that brought it.
    #[schema(example = "2026-11")]
    since: String,
}

/// Every endpoint.
///
/// Lists the endpoints with their methods and scopes, and the events that subscriptions may name. Needs no key.
#[utoipa::path(
    get, path = "/api/v1/index", tag = "service", operation_id = "get_index",
    responses((status = 200, description = "What there is.", body = Index)),
    security(()),
    extensions(
        ("x-errors" = json!([Code::InvalidParameter])),
        ("x-max-age" = json!(MAX_AGE)), ("x-since" = json!("2026-12"))
    )
)]
pub async fn get(request: HttpRequest, query: Query<NoParams>) -> Result<Reply, ApiError> {
    let table = request.app_data::<&'static Table>().ok_or(ApiError::new(Code::InternalError))?;
    let index = Index {
        name: "Business Analytics Service",
        version: env!("CARGO_PKG_VERSION"),
        status_url: "/api/v1/status",
        openapi_url: "/api/v1/openapi.json",
        docs_url: "/docs/",
        endpoints: ENDPOINTS.get_or_init(|| described(table)),
        events: EventKind::NAMES,
        api_version: API_VERSION,
        warnings: query.warnings,
    };
    Reply::json(&index, Cache::Public(MAX_AGE))
}

/// Where programs look for the APIs of a host (RFC 9727): the description, the page and the status of this one.
#[utoipa::path(
    get, path = "/.well-known/api-catalog", security(()), extensions(("x-internal" = json!(true)))
)]
pub async fn catalog() -> Result<Reply, ApiError> {
    let link = |href: &str, kind: &str| json!([{"href": href, "type": kind}]);
    let links = json!({"linkset": [{
        "anchor": "/api/v1/",
        "service-desc": link("/api/v1/openapi.json", "application/json"),
        "service-doc": link("/docs/", "text/html"),
        "service-meta": link("/api/v1/index", "application/json"),
        "status": link("/api/v1/status", "application/json"),
    }]});
    let body = serde_json::to_vec(&links).map_err(|error| ApiError::internal(&error))?;
    let kind = "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"";
    let link = HeaderValue::from_static("</.well-known/api-catalog>; rel=\"api-catalog\"");
    Ok(Reply::bytes(kind, body, Cache::Public(MAX_AGE)).header("link", link))
}

/// The paths of the table that are published.
fn described(table: &Table) -> Vec<Described> {
    let mut paths: BTreeMap<&str, Described> = BTreeMap::new();
    for (path, item) in table.documents().flat_map(|document: &OpenApi| &document.paths.paths) {
        for (method, operation) in operations(item).filter(|(_, operation)| !is_internal(operation)) {
            let described = paths.entry(path).or_insert_with(|| Described::new(path, operation));
            let name = method_name(&method);
            described.methods.push(name);
            if let Access::Key(scope) = Access::of(&method, operation) {
                described.scopes.insert(name, scope.as_str());
                described.public = false;
            }
            described.formats.extend(formats(operation));
            // JSON, which every other one is beside, comes first.
            described.formats.sort_by(|a, b| (a != "json", a).cmp(&(b != "json", b)));
            described.formats.dedup();
        }
    }
    paths.into_values().collect()
}

impl Described {
    fn new(path: &str, operation: &Operation) -> Self {
        Self {
            path: path.to_owned(),
            methods: Vec::new(),
            scopes: BTreeMap::new(),
            public: true,
            summary: operation.summary.clone().unwrap_or_default(),
            formats: Vec::new(),
            max_age_seconds: extension(operation, "x-max-age").and_then(Value::as_u64),
            since: extension(operation, "x-since").and_then(Value::as_str).unwrap_or(FIRST_RELEASE).to_owned(),
        }
    }
}

/// What follows the slash of the media types of answers.
fn formats(operation: &Operation) -> impl Iterator<Item = String> {
    let answers = operation.responses.responses.values().filter_map(|answer| match answer {
        RefOr::T(answer) => Some(&answer.content),
        RefOr::Ref(_) => None,
    });
    let kinds = answers.flat_map(|content| content.keys());
    kinds.filter_map(|kind| kind.split_once('/')).map(|(_, format)| format.to_owned())
}
