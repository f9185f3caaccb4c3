//! The description of the API.

use domain::accounts::Plan;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

/// A text that is one of `names`.
fn names(names: &'static [&'static str]) -> Object {
    let builder = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names.iter().copied()));
    match names.first() {
        Some(first) => builder.examples([serde_json::json!(first)]).build(),
        None => builder.build(),
    }
}

pub fn plan() -> Object {
    names(Plan::NAMES)
}

pub fn overall() -> Object {
    names(&["operational", "degraded", "outage"])
}

pub fn database() -> Object {
    names(&["ok", "slow", "down"])
}
