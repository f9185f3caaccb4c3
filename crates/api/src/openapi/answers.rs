//! The errors and headers that operations have in common, added to each by what it is.

use std::collections::BTreeMap;

use serde_json::json;
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
const WITH_BODY: [Code; 5] =
    [Code::InvalidJson, Code::InvalidBody, Code::MissingParameter, Code::RequestTimeout, Code::PayloadTooLarge];
const POST: [Code; 3] = [Code::InvalidIdempotencyKey, Code::IdempotencyKeyReused, Code::IdempotencyInProgress];
const CREATE_WEBHOOK: [Code; 5] = [
    Code::IdempotencyKeySuperseded,
    Code::InvalidWebhookUrl,
    Code::UnknownEvent,
    Code::WebhookLimitReached,
    Code::UnsupportedMediaType,
];
const REVOKE_WEBHOOK: [Code; 2] = [Code::MissingParameter, Code::WebhookNotFound];
const CHANGE_REORDER: [Code; 3] = [Code::NotFound, Code::InvalidTransition, Code::UnsupportedMediaType];
const ROTATE: [Code; 3] = [Code::WebhookNotFound, Code::IdempotencyKeySuperseded, Code::UnsupportedMediaType];
const START_REPLAY: [Code; 3] = [Code::WebhookNotFound, Code::ReplayRunning, Code::UnsupportedMediaType];
const EVENTS_OF_WEBHOOK: [Code; 3] = [Code::WebhookNotFound, Code::UnknownEvent, Code::UnsupportedMediaType];
const RESEND: [Code; 3] = [Code::NotFound, Code::WebhookNotFound, Code::InvalidTransition];
const GENERATE: [Code; 5] = [
    Code::PaymentRequired,
    Code::InsufficientCredits,
    Code::InvalidJson,
    Code::InvalidBody,
    Code::UnsupportedMediaType,
];
const CREATE_ALERT: [Code; 3] = [Code::IdempotencyKeySuperseded, Code::AlertLimitReached, Code::UnsupportedMediaType];
const CHANGE_ALERT: [Code; 2] = [Code::NotFound, Code::UnsupportedMediaType];
const TRACK: [Code; 8] = [
    Code::InvalidEvent,
    Code::InvalidProps,
    Code::PropsTooLarge,
    Code::InvalidVisitorId,
    Code::InvalidSessionId,
    Code::InvalidUrl,
    Code::InvalidTimestamp,
    Code::UnsupportedMediaType,
];

/// Every code that the operation can answer with.
fn codes(method: &HttpMethod, operation: &Operation) -> Vec<Code> {
    let id = operation.operation_id.as_deref().unwrap_or_default();
    match id {
        "get_status" => return Vec::new(),
        "get_openapi" => return vec![Code::RateLimitExceeded, Code::InternalError],
        _ => {}
    }
    let scope = if *method == HttpMethod::Get { Code::ScopeRead } else { Code::ScopeWrite };
    let mut codes: Vec<Code> = KEYED.into_iter().chain([scope]).collect();
    if operation.request_body.is_some() {
        codes.extend(WITH_BODY);
    }
    if *method == HttpMethod::Post {
        codes.extend(POST);
    }
    match id {
        "create_webhook" => codes.extend(CREATE_WEBHOOK),
        "revoke_webhook" => codes.extend(REVOKE_WEBHOOK),
        "change_reorder" => codes.extend(CHANGE_REORDER),
        "track_event" => codes.extend(TRACK),
        "track_events" => codes.push(Code::UnsupportedMediaType),
        "change_webhook" => codes.extend(EVENTS_OF_WEBHOOK),
        "test_webhook" => {
            codes.extend(EVENTS_OF_WEBHOOK);
            codes.push(Code::IdempotencyKeySuperseded);
        }
        "list_deliveries" => codes.push(Code::WebhookNotFound),
        "rotate_webhook" => codes.extend(ROTATE),
        "start_replay" => codes.extend(START_REPLAY),
        "resend_delivery" => codes.extend(RESEND),
        "generate_insights" => codes.extend(GENERATE),
        "change_insight" => codes.extend(CHANGE_REORDER),
        "get_delivery" => codes.extend([Code::WebhookNotFound, Code::NotFound]),
        "get_replay" | "get_alert" | "delete_alert" | "get_insight_job" => codes.push(Code::NotFound),
        "create_alert" => codes.extend(CREATE_ALERT),
        "change_alert" => codes.extend(CHANGE_ALERT),
        "cancel_replay" => codes.extend([Code::NotFound, Code::InvalidTransition]),
        "verify_delivery" | "set_auto_topup" => codes.push(Code::UnsupportedMediaType),
        _ => {}
    }
    codes
}

impl Modify for Errors {
    fn modify(&self, document: &mut OpenApi) {
        define_headers(document);
        for item in document.paths.paths.values_mut() {
            for (method, operation) in operations(item) {
                for response in operation.responses.responses.values_mut() {
                    if let RefOr::T(response) = response {
                        add_headers(response);
                    }
                }
                if method == HttpMethod::Get {
                    operation.responses.responses.insert("304".to_owned(), unchanged().into());
                }
                let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
                for code in codes(&method, operation) {
                    by_status.entry(code.status().as_u16()).or_default().push(code);
                }
                for (status, codes) in by_status {
                    operation.responses.responses.insert(status.to_string(), error(&codes).into());
                }
            }
        }
    }
}

/// The operations of a path, each with its method.
pub fn operations(item: &mut PathItem) -> impl Iterator<Item = (HttpMethod, &mut Operation)> {
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
