//! What the service sends: a webhook for each event.

use domain::events::{Event, EventKind};
use serde_json::json;
use utoipa::{
    Modify,
    openapi::{
        ContentBuilder, HttpMethod, OpenApi, PathItem, PathsBuilder, RefOr, Required, ResponseBuilder, Schema, Type,
        path::{OperationBuilder, Parameter, ParameterBuilder, ParameterIn},
        request_body::RequestBodyBuilder,
        schema::ObjectBuilder,
    },
};

use crate::respond::JSON;

/// Adds the webhooks.
pub struct Deliveries;

impl Modify for Deliveries {
    fn modify(&self, document: &mut OpenApi) {
        let paths =
            EventKind::ALL.iter().fold(PathsBuilder::new(), |paths, kind| paths.path(kind.as_str(), delivery(*kind)));
        document.webhooks = Some(paths.build());
    }
}

fn delivery(kind: EventKind) -> PathItem {
    let sent = if kind.is_catalogued() {
        "Sent to subscriptions that name the event or `*`."
    } else {
        "Sent to subscriptions that name the event; `*` does not include it."
    };
    let sample = json!({ "event": kind.as_str(), "data": Event::sample(kind) });
    let body = ContentBuilder::new().schema(Some(body(kind))).example(Some(sample)).build();
    let request = RequestBodyBuilder::new().content(JSON, body).required(Some(Required::True)).build();
    let taken =
        ResponseBuilder::new().description("Any 2xx: the delivery is taken. Anything else is tried again.").build();
    let operation = OperationBuilder::new()
        .operation_id(Some(format!("on_{}", kind.as_str().replace('.', "_"))))
        .tag("webhooks")
        .summary(Some(format!("Delivery of {kind}")))
        .description(Some(sent))
        .request_body(Some(request))
        .response("2XX", taken)
        .security(utoipa::openapi::SecurityRequirement::default());
    let operation = headers().into_iter().fold(operation, OperationBuilder::parameter);
    PathItem::new(HttpMethod::Post, operation)
}

fn headers() -> [Parameter; 9] {
    let header = |name: &str, required: Required, description: &str, kind: Type| {
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .required(required)
            .description(Some(description))
            .schema(Some(ObjectBuilder::new().schema_type(kind).build()))
            .build()
    };
    [
        header(
            "x-svc-signature",
            Required::True,
            "HMAC-SHA256 in 64 lower-case hex digits over timestamp, dot and the exact body; the \
            key is the secret without `whsec_`.",
            Type::String,
        ),
        header(
            "x-svc-signature-previous",
            Required::False,
            "The same by the secret before a rotation, while that is valid.",
            Type::String,
        ),
        header("x-svc-timestamp", Required::True, "Unix seconds, fresh at every attempt.", Type::Integer),
        header(
            "x-svc-delivery-id",
            Required::True,
            "The same at every attempt: receivers de-duplicate by it.",
            Type::String,
        ),
        header("x-svc-event-id", Required::True, "Rises, with rare exceptions, as events are written.", Type::Integer),
        header("x-svc-attempt", Required::True, "From 1, counted on by resends.", Type::Integer),
        header("webhook-id", Required::True, "Of Standard Webhooks: the delivery id.", Type::String),
        header("webhook-timestamp", Required::True, "Of Standard Webhooks: the timestamp.", Type::Integer),
        header(
            "webhook-signature",
            Required::True,
            "Of Standard Webhooks: `v1,` and the base64 of HMAC-SHA256 over id, dot, timestamp, dot and the exact body; the \
            key is the secret without `whsec_`, base64-decoded. After a rotation two, separated by a space.",
            Type::String,
        ),
    ]
}

/// The schema of the body of a delivery.
fn body(kind: EventKind) -> Schema {
    let event = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([kind.as_str()]));
    // Every payload's schema is one that this type can hold; a test compares them.
    let data: RefOr<Schema> = serde_json::from_value(kind.data_schema()).unwrap_or_default();
    let body = ObjectBuilder::new().property("event", event).property("data", data).required("event").required("data");
    Schema::Object(body.build())
}
