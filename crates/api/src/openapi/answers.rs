//! The errors and headers that operations have in common, added to each by what it is.

use std::collections::BTreeMap;

use domain::keys::Scope;
use serde_json::{Value, json};
use utoipa::{
    Modify,
    openapi::{
        ContentBuilder, HeaderBuilder, HttpMethod, OpenApi, Ref, RefOr, ResponseBuilder, Type,
        example::ExampleBuilder,
        path::{Operation, PathItem},
        response::Response,
        schema::ObjectBuilder,
    },
};

use crate::{
    endpoint::{Access, extension},
    error::{ApiError, Code},
    respond::JSON,
};

/// Adds every error that an operation can answer with.
pub struct Errors;

const KEYED: [Code; 10] = [
    Code::MissingAuthorization,
    Code::InvalidTokenFormat,
    Code::KeyNotFound,
    Code::KeyRevoked,
    Code::KeyExpired,
    Code::RateLimitExceeded,
    Code::InternalError,
    Code::NoDb,
    Code::Overloaded,
    Code::InvalidParameter,
];
const WITH_BODY: [Code; 6] = [
    Code::InvalidJson,
    Code::InvalidBody,
    Code::MissingParameter,
    Code::RequestTimeout,
    Code::PayloadTooLarge,
    Code::UnsupportedMediaType,
];
const POST: [Code; 3] = [Code::InvalidIdempotencyKey, Code::IdempotencyKeyReused, Code::IdempotencyInProgress];

/// Every code that the operation can answer with.
fn codes(method: &HttpMethod, operation: &Operation) -> Vec<Code> {
    let own = extension(operation, "x-errors").and_then(Value::as_array).into_iter().flatten();
    let own = own.filter_map(|name| Code::ALL.iter().copied().find(|code| name == code.as_str()));
    let scope = match Access::of(method, operation) {
        Access::Public { unlimited: true } => return own.collect(),
        Access::Public { unlimited: false } | Access::Signed => {
            return [Code::RateLimitExceeded, Code::InternalError].into_iter().chain(own).collect();
        }
        Access::Key(Scope::Read) => Code::ScopeRead,
        Access::Key(Scope::Write) => Code::ScopeWrite,
    };
    let mut codes: Vec<Code> = KEYED.into_iter().chain([scope]).collect();
    if operation.request_body.is_some() {
        codes.extend(WITH_BODY);
    }
    if *method == HttpMethod::Post {
        codes.extend(POST);
    }
    codes.extend(own);
    codes
}

impl Modify for Errors {
    fn modify(&self, document: &mut OpenApi) {
        define_headers(document);
        for item in document.paths.paths.values_mut() {
            for (method, operation) in operations_mut(item) {
                for response in operation.responses.responses.values_mut() {
                    if let RefOr::T(response) = response {
                        add_headers(response);
                    }
                }
                if method == HttpMethod::Get && !is_unconditional(&method, operation) {
                    operation.responses.responses.insert("304".to_owned(), unchanged().into());
                }
                let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
                for code in codes(&method, operation) {
                    by_status.entry(code.status().as_u16()).or_default().push(code);
                }
                operation.extensions = None;
                for (status, codes) in by_status {
                    operation.responses.responses.insert(status.to_string(), error(&codes).into());
                }
            }
        }
    }
}

/// Whether it answers in full whatever `Prefer` and `If-None-Match` say, as `/health` does, which is neither refused nor kept.
pub fn is_unconditional(method: &HttpMethod, operation: &Operation) -> bool {
    let is_public = matches!(Access::of(method, operation), Access::Public { .. });
    is_public && extension(operation, "x-max-age").is_none()
}

/// The operations of a path, each with its method.
pub fn operations_mut(item: &mut PathItem) -> impl Iterator<Item = (HttpMethod, &mut Operation)> {
    let PathItem { get, post, put, patch, delete, .. } = item;
    let methods = [
        (HttpMethod::Get, get),
        (HttpMethod::Post, post),
        (HttpMethod::Put, put),
        (HttpMethod::Patch, patch),
        (HttpMethod::Delete, delete),
    ];
    methods.into_iter().filter_map(|(method, operation)| operation.as_mut().map(|operation| (method, operation)))
}

/// An answer that holds one of `codes`, which all have the same status.
fn error(codes: &[Code]) -> Response {
    let list = codes.iter().map(|code| format!("`{}`: {}", code.as_str(), code.message())).collect::<Vec<_>>();
    let mut content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Error")));
    for code in codes {
        let body = json!(ApiError::new(*code).body("0198d0c0a7e17c3f9a5f3f8b1d2c4e6a"));
        content = content.examples_from_iter([(code.as_str(), ExampleBuilder::new().value(Some(body)).build())]);
    }
    let mut response = ResponseBuilder::new().description(list.join("\n\n")).content(JSON, content.build()).build();
    add_headers(&mut response);
    response
}

/// What `If-None-Match` can lead to.
fn unchanged() -> Response {
    let mut response = ResponseBuilder::new()
        .description("What the client has is still right. Free of quota, up to ten times the limit.")
        .build();
    add_headers(&mut response);
    response
}

/// The headers of every answer: name, type and meaning.
const HEADERS: [(&str, Type, &str); 4] = [
    ("X-Request-Id", Type::String, "The name of the request in logs; the client's own if it sent one."),
    ("X-RateLimit-Limit", Type::Integer, "Requests per window of 60 seconds."),
    ("X-RateLimit-Remaining", Type::Integer, "Requests left in the window."),
    ("X-RateLimit-Reset", Type::Integer, "Seconds until the window ends, 1 to 60."),
];

fn add_headers(response: &mut Response) {
    for (name, ..) in HEADERS {
        let reference = Ref::new(format!("#/components/headers/{name}"));
        response.headers.insert(name.to_owned(), RefOr::Ref(reference));
    }
}

fn define_headers(document: &mut OpenApi) {
    let components = document.components.get_or_insert_with(Default::default);
    for (name, kind, description) in HEADERS {
        let schema = ObjectBuilder::new().schema_type(kind).build();
        let header = HeaderBuilder::new().schema(Some(schema)).description(Some(description)).build();
        components.headers.insert(name.to_owned(), RefOr::T(header));
    }
}
