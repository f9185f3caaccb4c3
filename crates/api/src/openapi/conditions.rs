//! What the fields of a body ask of one another, which the types of single fields cannot say.

use serde_json::{Value, json};
use utoipa::{
    Modify,
    openapi::{OpenApi, RefOr, Schema, schema::AllOf},
};

/// Adds the conditions to the schemas that they are about.
pub struct Conditions;

impl Modify for Conditions {
    fn modify(&self, document: &mut OpenApi) {
        let Some(components) = &mut document.components else { return };
        for (name, condition) in [("AutoTopupSettings", switched_on()), ("NewAlertRule", windows())] {
            let condition: Option<Schema> = serde_json::from_value(condition).ok();
            if let (Some(schema), Some(condition)) = (components.schemas.get_mut(name), condition) {
                let both = vec![std::mem::take(schema), RefOr::T(condition)];
                *schema = RefOr::T(Schema::AllOf(AllOf { items: both, ..AllOf::default() }));
            }
        }
    }
}

/// Switching on takes a threshold and an amount.
fn switched_on() -> Value {
    let number = json!({"type": "integer"});
    json!({"anyOf": [
        {"type": "object", "properties": {"enabled": {"type": "boolean", "enum": [false]}}},
        {"type": "object", "required": ["threshold", "top_up_amount"], "properties": {"threshold": number, "top_up_amount": number}},
    ]})
}

/// A window is no finer than what is known of the metric.
fn windows() -> Value {
    let of = |metrics: &str, window: Value| {
        let metric = json!({"type": "string", "pattern": format!("^({metrics})$")});
        json!({"type": "object", "properties": {"metric": metric, "window_hours": window}})
    };
    json!({"anyOf": [
        of("revenue|orders|refunds|aov", json!({"type": "integer", "maximum": 2160})),
        of("event:.*", json!({"type": "integer", "maximum": 168})),
        of("ad_spend|roas|profit|margin", json!({"type": "integer", "multipleOf": 24, "maximum": 2160})),
        of("stockouts", json!({"type": "integer", "enum": [24]})),
    ]})
}
