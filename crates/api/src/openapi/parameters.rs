//! What requests have in common: the values of filters, and headers.

use utoipa::{
    Modify,
    openapi::{
        HttpMethod, Object, OpenApi, RefOr, Required, Schema, Type,
        path::{Operation, Parameter, ParameterBuilder, ParameterIn},
        schema::ObjectBuilder,
    },
};

use super::answers::operations_mut;
use crate::{endpoint::Access, names};

/// Lists the values of filters and adds the request headers.
pub struct Parameters;

impl Modify for Parameters {
    fn modify(&self, document: &mut OpenApi) {
        for item in document.paths.paths.values_mut() {
            for (method, operation) in operations_mut(item) {
                let id = operation.operation_id.clone().unwrap_or_default();
                let parameters = operation.parameters.get_or_insert_default();
                for parameter in parameters.iter_mut() {
                    let RefOr::T(parameter) = parameter else { continue };
                    if let Some(values) = values(&id, &parameter.name) {
                        parameter.schema = Some(RefOr::T(Schema::Object(values)));
                    }
                }
                let headers = headers(&method, operation);
                operation.parameters.get_or_insert_default().extend(headers.into_iter().map(RefOr::T));
            }
        }
    }
}

/// The schema of a filter of the operation `id`.
fn values(id: &str, parameter: &str) -> Option<Object> {
    Some(match (id, parameter) {
        ("list_customers", "source") => names::platform(),
        ("list_customers" | "list_profit" | "list_credit_transactions", "format") => names::format(),
        ("list_credit_transactions", "kind") => names::transaction_kind(),
        ("list_insights", "status") => names::insight_status(),
        ("list_insights", "category") => names::category(),
        (_, "severity") => names::severity(),
        ("list_inventory", "status") => names::inventory_status(),
        ("list_deliveries", "state") => names::delivery_state(),
        ("list_reorder", "status") => names::reorder_status(),
        ("track_event" | "track_events", "dry_run") | ("list_profit", "explain") => names::flag(),
        _ => return None,
    })
}

fn headers(method: &HttpMethod, operation: &Operation) -> Vec<Parameter> {
    let header = |name: &str, description: &str, schema: ObjectBuilder| {
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some(description))
            .schema(Some(schema.build()))
            .build()
    };
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let keyed = matches!(Access::of(method, operation), Access::Key(_));
    let mut headers = Vec::new();
    if keyed {
        headers.push(header(
            "Prefer",
            "`handling=strict` refuses what would otherwise be corrected or ignored.",
            text(),
        ));
    }
    if *method == HttpMethod::Get {
        headers.push(header("If-None-Match", "The `ETag` of an earlier answer: 304 if it still holds.", text()));
    }
    if *method == HttpMethod::Post {
        let key = text().min_length(Some(1)).max_length(Some(255)).pattern(Some("^[!-~]+$"));
        let description = "Makes the write happen once however often it is sent, for 24 hours.";
        headers.push(header("Idempotency-Key", description, key));
    }
    headers
}
