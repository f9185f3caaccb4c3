//! A whole example for every answer, put together from the examples of its fields.

use std::collections::HashSet;

use serde_json::{Map, Value};
use utoipa::{
    Modify,
    openapi::{Content, OpenApi, RefOr, Schema, schema::SchemaType},
};

use super::answers::operations_mut;
use crate::respond::JSON;

/// Says that null fields are still there, and adds the examples.
pub struct Examples;

impl Modify for Examples {
    fn modify(&self, document: &mut OpenApi) {
        let requests = requests(document);
        let Some(components) = &mut document.components else { return };
        for (name, schema) in &mut components.schemas {
            if !requests.contains(name) {
                require_nullable(schema);
            }
        }
        let schemas = serde_json::to_value(&components.schemas).unwrap_or_default();
        for item in document.paths.paths.values_mut() {
            for (_, operation) in operations_mut(item) {
                let responses = &mut operation.responses.responses;
                let status = if responses.contains_key("200") { "200" } else { "202" };
                let Some(RefOr::T(answer)) = responses.get_mut(status) else { continue };
                let Some(RefOr::T(content)) = answer.content.get_mut(JSON) else { continue };
                let schema = serde_json::to_value(&content.schema).unwrap_or_default();
                content.example = Some(example(&schema, &schemas));
            }
        }
    }
}

/// The schemas of bodies of requests: absent fields may be absent there.
fn requests(document: &mut OpenApi) -> HashSet<String> {
    let mut names = HashSet::new();
    for item in document.paths.paths.values_mut() {
        for (_, operation) in operations_mut(item) {
            let Some(RefOr::T(body)) = &operation.request_body else { continue };
            names.extend(body.content.values().filter_map(|content| match content {
                RefOr::T(Content { schema: Some(RefOr::Ref(target)), .. }) => {
                    target.ref_location.rsplit('/').next().map(str::to_owned)
                }
                _ => None,
            }));
        }
    }
    names
}

/// A field without a value is null, never left out.
fn require_nullable(schema: &mut RefOr<Schema>) {
    let RefOr::T(Schema::Object(object)) = schema else { return };
    let nullable = object.properties.iter().filter(|(_, property)| {
        matches!(property, RefOr::T(Schema::Object(field))
            if matches!(&field.schema_type, SchemaType::Array(types) if types.contains(&utoipa::openapi::Type::Null)))
            || matches!(property, RefOr::T(Schema::Array(field))
                if matches!(&field.schema_type, SchemaType::Array(types) if types.contains(&utoipa::openapi::Type::Null)))
    });
    let missing: Vec<String> =
        nullable.map(|(name, _)| name.clone()).filter(|name| !object.required.contains(name)).collect();
    object.required.extend(missing);
}

/// The example that a schema gives, or the one that follows from its parts.
fn example(schema: &Value, schemas: &Value) -> Value {
    let own = schema.get("example").or_else(|| schema.get("examples")?.get(0));
    if let Some(example) = own {
        return example.clone();
    }
    let reference = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    if let Some(target) = reference.and_then(|name| schemas.get(name)) {
        return example(target, schemas);
    }
    if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
        let fields = parts.iter().filter_map(|part| example(part, schemas).as_object().cloned()).flatten();
        return fields.collect::<Map<_, _>>().into();
    }
    let required = schema.get("required").and_then(Value::as_array);
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let listed = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
        let fields = properties.iter().filter(|(name, _)| listed(name));
        return fields.map(|(name, field)| (name.clone(), example(field, schemas))).collect::<Map<_, _>>().into();
    }
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "array" => {
            Value::Array(schema.get("items").map(|item| example(item, schemas)).into_iter().collect())
        }
        Some(Value::String(kind)) if kind == "integer" || kind == "number" => 1.into(),
        Some(Value::String(kind)) if kind == "boolean" => true.into(),
        Some(Value::String(kind)) if kind == "string" => "text".into(),
        Some(Value::String(kind)) if kind == "object" => Map::new().into(),
        _ => Value::Null,
    }
}
