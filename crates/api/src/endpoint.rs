//! Endpoints as their handlers declare them, and the table of all of them.
//!
//! `#[utoipa::path]` on a handler is the one declaration of its path, method, scope and errors. What utoipa has no word for are
//! extensions of the operation: `x-errors`, the codes that the handler answers with beside those of every operation;
//! `x-unlimited`, never refused for its number of requests; `x-signed`, open to senders who sign what they send;
//! `x-max-age`, for how many seconds anyone may keep an answer; `x-since`, the month of the release that brought it; and
//! `x-internal`, not in the published document.

use std::collections::HashMap;

use ::web::panics;
use actix_web::{
    Error, HttpResponse, Resource, Route,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    guard,
    http::{Method, header},
    middleware::{Next, from_fn},
    web::{self, ServiceConfig},
};
use domain::keys::Scope;
use serde_json::Value;
use utoipa::openapi::{
    HttpMethod, OpenApi,
    path::{Operation, PathItem},
};

use crate::error::{ApiError, Code};

/// A table with a line per handler, as `module::function`.
macro_rules! endpoints {
    ($($module:ident :: $handler:ident),+ $(,)?) => {
        [$({
            #[derive(utoipa::OpenApi)]
            #[openapi(paths($module::$handler))]
            struct Described;
            $crate::endpoint::Endpoint::new(
                <Described as utoipa::OpenApi>::openapi(),
                |route| route.to($module::$handler),
            )
        }),+].into_iter().flatten()
    };
}
pub(crate) use endpoints;

/// A handler and what it declares.
pub struct Endpoint {
    path: &'static str,
    method: HttpMethod,
    access: Access,
    /// Of this operation alone.
    document: OpenApi,
    handle: fn(Route) -> Route,
}

/// Whom a path is open to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Holders of a key with this scope.
    Key(Scope),
    /// Everyone, browsers of other sites included. One that is unlimited is never refused for the number of requests.
    Public { unlimited: bool },
    /// Other systems, which sign what they send.
    Signed,
}

/// The extension `name` of an operation.
pub fn extension<'a>(operation: &'a Operation, name: &str) -> Option<&'a Value> {
    operation.extensions.as_ref()?.get(name)
}

/// Whether an operation is left out of the published document.
pub fn is_internal(operation: &Operation) -> bool {
    extension(operation, "x-internal").is_some()
}

impl Access {
    /// What an operation declares. One that declares nothing is open to no one but the holders of a key.
    pub fn of(method: &HttpMethod, operation: &Operation) -> Self {
        let requirements = serde_json::to_value(&operation.security).unwrap_or_default();
        if requirements == serde_json::json!([{}]) {
            if extension(operation, "x-signed").is_some() {
                return Self::Signed;
            }
            return Self::Public { unlimited: extension(operation, "x-unlimited").is_some() };
        }
        let scope = requirements.pointer("/0/api_key/0").and_then(Value::as_str).and_then(|name| name.parse().ok());
        Self::Key(scope.unwrap_or_else(|| scope_of(*method == HttpMethod::Get)))
    }
}

const fn scope_of(reads: bool) -> Scope {
    if reads { Scope::Read } else { Scope::Write }
}

impl Endpoint {
    /// The one operation that `document` describes.
    pub fn new(document: OpenApi, handle: fn(Route) -> Route) -> Option<Self> {
        let (path, item) = document.paths.paths.first_key_value()?;
        let (method, operation) = operations(item).next()?;
        let access = Access::of(&method, operation);
        Some(Self { path: path.clone().leak(), method, access, document, handle })
    }

    fn route(&self) -> Route {
        // HEAD is answered as GET is, without the body.
        let route = match self.method {
            HttpMethod::Get => web::route().guard(guard::Any(guard::Get()).or(guard::Head())),
            HttpMethod::Put => web::put(),
            HttpMethod::Patch => web::patch(),
            HttpMethod::Delete => web::delete(),
            _ => web::post(),
        };
        (self.handle)(route)
    }
}

/// The operations of a path, each with its method.
pub fn operations(item: &PathItem) -> impl Iterator<Item = (HttpMethod, &Operation)> {
    let PathItem { get, post, put, patch, delete, .. } = item;
    let methods = [
        (HttpMethod::Get, get),
        (HttpMethod::Post, post),
        (HttpMethod::Put, put),
        (HttpMethod::Patch, patch),
        (HttpMethod::Delete, delete),
    ];
    methods.into_iter().filter_map(|(method, operation)| operation.as_ref().map(|operation| (method, operation)))
}

/// A path with what is served there.
struct Path {
    endpoints: Vec<Endpoint>,
    /// As the header `Allow` lists the methods.
    allow: &'static str,
}

/// Every endpoint, by path.
pub struct Table {
    /// In the order in which a request is held against them.
    paths: Vec<(&'static str, Path)>,
    by_name: HashMap<&'static str, usize>,
}

/// What the table says about the path of a request.
#[derive(Clone, Copy)]
pub struct Matched<'a> {
    /// The path as it goes into logs and metrics: one of the table, so that clients cannot make up labels.
    pub label: &'static str,
    path: Option<&'a Path>,
}

impl Matched<'_> {
    /// Whom a request by `method` needs to come from. Of a path or a method that does not exist only the holder of a key
    /// learns that.
    pub fn access(&self, method: &Method) -> Access {
        let reads = matches!(*method, Method::GET | Method::HEAD);
        let name = if reads { "GET" } else { method.as_str() };
        let endpoints = self.path.map_or(&[] as &[_], |path| path.endpoints.as_slice());
        let declared = endpoints.iter().find(|endpoint| method_name(&endpoint.method) == name);
        let open = endpoints.iter().find(|endpoint| !matches!(endpoint.access, Access::Key(_)));
        declared.or(open).map_or(Access::Key(scope_of(reads)), |endpoint| endpoint.access)
    }
}

/// As it stands in a request.
pub const fn method_name(method: &HttpMethod) -> &'static str {
    match method {
        HttpMethod::Get => "GET",
        HttpMethod::Put => "PUT",
        HttpMethod::Patch => "PATCH",
        HttpMethod::Delete => "DELETE",
        _ => "POST",
    }
}

/// Whether a path is one of a pattern, in which parts in braces stand for any part, and `{…:.*}` for all that follow.
fn fits(pattern: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    for known in pattern.split('/') {
        if known.ends_with(":.*}") {
            return parts.next().is_some();
        }
        if !parts.next().is_some_and(|part| known == part || known.starts_with('{')) {
            return false;
        }
    }
    parts.next().is_none()
}

impl Table {
    /// The table of these endpoints. Requests are held against them in the order given, against patterns last.
    pub fn new(endpoints: impl IntoIterator<Item = Endpoint>) -> Self {
        let mut paths: Vec<(&'static str, Path)> = Vec::new();
        for endpoint in endpoints {
            match paths.iter_mut().find(|(path, _)| *path == endpoint.path) {
                Some((_, known)) => known.endpoints.push(endpoint),
                None => paths.push((endpoint.path, Path { endpoints: vec![endpoint], allow: "" })),
            }
        }
        for (_, path) in &mut paths {
            path.allow = allow(&path.endpoints).leak();
        }
        paths.sort_by_key(|(path, _)| path.contains('{'));
        let by_name = paths.iter().enumerate().map(|(at, (path, _))| (*path, at)).collect();
        Self { paths, by_name }
    }

    /// What there is at `path`: the one that handlers are found by, with what was percent-encoded decoded.
    pub fn find(&self, path: &str) -> Matched<'_> {
        let exact = self.by_name.get(path).and_then(|at| self.paths.get(*at));
        let found = exact.or_else(|| self.paths.iter().find(|(known, _)| fits(known, path)));
        Matched { label: found.map_or("unmatched", |(label, _)| label), path: found.map(|(_, path)| path) }
    }

    /// What every endpoint declares.
    pub fn documents(&self) -> impl Iterator<Item = &OpenApi> {
        self.paths.iter().flat_map(|(_, path)| &path.endpoints).map(|endpoint| &endpoint.document)
    }

    /// The paths, in the order in which a request is held against them.
    pub fn paths(&self) -> impl Iterator<Item = &'static str> {
        self.paths.iter().map(|(path, _)| *path)
    }

    /// Mounts the routes.
    pub fn configure(&self, config: &mut ServiceConfig) {
        for (path, known) in &self.paths {
            config.service(resource(path, known.endpoints.iter(), known.allow).wrap(from_fn(survive)));
        }
        config.default_service(web::to(not_found));
    }

    /// What holders of a key read at these paths.
    pub fn reads(&self, paths: &[&str]) -> impl Iterator<Item = Resource> {
        let asked = self.paths.iter().filter(|(path, _)| paths.contains(path));
        asked.map(|(path, known)| {
            let reads = known.endpoints.iter().filter(|endpoint| endpoint.access == Access::Key(Scope::Read));
            resource(path, reads.filter(|endpoint| endpoint.method == HttpMethod::Get), "GET, HEAD")
        })
    }
}

fn allow(endpoints: &[Endpoint]) -> String {
    let serves = |method: &HttpMethod| endpoints.iter().any(|endpoint| endpoint.method == *method);
    let all = [HttpMethod::Get, HttpMethod::Post, HttpMethod::Put, HttpMethod::Patch, HttpMethod::Delete];
    let methods = all.iter().filter(|method| serves(method)).map(|method| match method {
        HttpMethod::Get => "GET, HEAD",
        other => method_name(other),
    });
    methods.chain(["OPTIONS"]).collect::<Vec<_>>().join(", ")
}

/// A resource that says what it allows.
fn resource<'a>(path: &str, endpoints: impl Iterator<Item = &'a Endpoint>, allow: &'static str) -> Resource {
    let options = move || async move { HttpResponse::NoContent().insert_header((header::ALLOW, allow)).finish() };
    let refuse = move || async move {
        let mut response = HttpResponse::from_error(ApiError::new(Code::MethodNotAllowed));
        response.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static(allow));
        response
    };
    endpoints
        .map(Endpoint::route)
        .fold(web::resource(path), Resource::route)
        .route(web::method(Method::OPTIONS).to(options))
        .default_service(web::to(refuse))
}

async fn not_found() -> Result<HttpResponse, ApiError> {
    Err(ApiError::new(Code::NotFound))
}

/// A panic ends its own request and no other.
pub async fn survive(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    panics::survive(request, next, |cause| ApiError::internal(&cause)).await
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/a/{id}", "/a/7", true)]
    #[case("/a/{id}", "/a", false)]
    #[case("/a/{id}", "/a/7/b", false)]
    #[case("/a/{id}/b", "/a/7/c", false)]
    #[case("/a/{rest:.*}", "/a/", true)]
    #[case("/a/{rest:.*}", "/a/b/c", true)]
    #[case("/a/{rest:.*}", "/a", false)]
    fn a_part_in_braces_stands_for_any(#[case] pattern: &str, #[case] path: &str, #[case] expected: bool) {
        assert_eq!(fits(pattern, path), expected);
    }

    #[rstest]
    #[case("/api/v1/me", "GET", "/api/v1/me", Access::Key(Scope::Read))]
    #[case("/api/v1/me", "POST", "/api/v1/me", Access::Key(Scope::Write))]
    #[case("/api/v1/webhooks/7", "PATCH", "/api/v1/webhooks/{id}", Access::Key(Scope::Write))]
    #[case("/api/v1/webhooks/verify", "POST", "/api/v1/webhooks/verify", Access::Key(Scope::Write))]
    #[case("/api/v1/status", "HEAD", "/api/v1/status", Access::Public { unlimited: true })]
    #[case("/api/v1/status", "PUT", "/api/v1/status", Access::Public { unlimited: true })]
    #[case("/api/v1/openapi.json", "GET", "/api/v1/openapi.json", Access::Public { unlimited: false })]
    #[case("/docs/a/b.js", "GET", "/docs/{file:.*}", Access::Public { unlimited: false })]
    #[case("/hooks/payments/rebill", "POST", "/hooks/payments/{gateway}", Access::Signed)]
    #[case("/hooks/shopify", "POST", "/hooks/{provider}", Access::Signed)]
    #[case("/hooks/a/b", "POST", "unmatched", Access::Key(Scope::Write))]
    #[case("/api/v1/nothing", "GET", "unmatched", Access::Key(Scope::Read))]
    fn a_path_is_open_to_whom_its_handler_says(
        #[case] path: &str,
        #[case] method: Method,
        #[case] label: &str,
        #[case] access: Access,
    ) {
        let found = crate::v1::TABLE.find(path);
        assert_eq!((found.label, found.access(&method)), (label, access));
    }
}
