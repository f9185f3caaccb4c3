//! What requests have in common: the values of filters, and headers.

use utoipa::{
    IntoParams, Modify,
    openapi::{
        HttpMethod, OpenApi, RefOr, Required, Schema, Type,
        path::{Operation, Parameter, ParameterBuilder, ParameterIn},
        schema::{ObjectBuilder, SchemaType},
    },
};

use super::answers::{is_unconditional, operations_mut};
use crate::csv::{self, FormatParam};

/// Tidies the parameters and adds the request headers.
pub struct Parameters;

impl Modify for Parameters {
    fn modify(&self, document: &mut OpenApi) {
        for item in document.paths.paths.values_mut() {
            for (method, operation) in operations_mut(item) {
                let (has_file, headers) = (has_file(operation), headers(&method, operation));
                let parameters = operation.parameters.get_or_insert_default();
                if has_file {
                    parameters.extend(FormatParam::into_params(|| Some(ParameterIn::Query)).into_iter().map(RefOr::T));
                }
                for parameter in parameters.iter_mut() {
                    if let RefOr::T(parameter) = parameter {
                        tidy(parameter);
                    }
                }
                parameters.extend(headers.into_iter().map(RefOr::T));
            }
        }
    }
}

/// A parameter is absent and never null, and what its type says about it is said of the parameter.
fn tidy(parameter: &mut Parameter) {
    if let Some(RefOr::T(Schema::OneOf(either))) = &mut parameter.schema
        && !either.items.is_empty()
    {
        parameter.schema = Some(either.items.swap_remove(0));
    }
    let Some(RefOr::T(Schema::Object(schema))) = &mut parameter.schema else { return };
    if let SchemaType::Array(types) = &mut schema.schema_type {
        types.retain(|kind| *kind != Type::Null);
        if let [kind] = types.as_slice() {
            schema.schema_type = SchemaType::Type(kind.clone());
        }
    }
    let description = schema.description.take();
    if parameter.description.as_ref().is_none_or(String::is_empty) {
        parameter.description = description;
    }
    if let Some(example) = schema.example.take() {
        *parameter = ParameterBuilder::from(parameter.clone()).example(Some(example)).build();
    }
}

/// Whether its rows are to be had as a file.
fn has_file(operation: &Operation) -> bool {
    let mut answers = operation.responses.responses.values();
    answers.any(|answer| matches!(answer, RefOr::T(answer) if answer.content.contains_key(csv::MEDIA_TYPE)))
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
    let conditional = !is_unconditional(method, operation);
    let mut headers = Vec::new();
    if conditional {
        headers.push(header(
            "Prefer",
            "`handling=strict` refuses what would otherwise be corrected or ignored.",
            text(),
        ));
    }
    if conditional && *method == HttpMethod::Get {
        headers.push(header("If-None-Match", "The `ETag` of an earlier answer: 304 if it still holds.", text()));
    }
    if *method == HttpMethod::Post {
        let key = text().min_length(Some(1)).max_length(Some(255)).pattern(Some("^[!-~]+$"));
        let description = "Makes the write happen once however often it is sent, for 24 hours.";
        headers.push(header("Idempotency-Key", description, key));
    }
    headers
}
