//! What the fields of a body ask of one another and of the configuration, which the types of single fields cannot say.

use domain::payments::PriceList;
use serde_json::{Value, json};
use utoipa::{
    Modify,
    openapi::{OpenApi, RefOr, Schema, schema::AllOf},
};

/// Adds the conditions to the schemas that they are about.
pub struct Conditions;

impl Modify for Conditions {
    fn modify(&self, document: &mut OpenApi) {
        add(document, "AutoTopupSettings", switched_on());
        add(document, "NewAlertRule", json!({"anyOf": windows()}));
        // Either may be left as it is.
        let unchanged =
            ["metric", "window_hours"].map(|field| json!({"type": "object", "properties": {field: {"type": "null"}}}));
        let either = [windows().as_slice(), &unchanged].concat();
        add(document, "AlertRuleChange", json!({"anyOf": either}));
        add(document, "ReplyTemplateChange", approval());
        add(document, "ConversationReply", reply());
    }
}

/// Adds what can be asked for where these prices hold.
pub struct Prices<'a>(pub &'a PriceList);

impl Modify for Prices<'_> {
    fn modify(&self, document: &mut OpenApi) {
        add(document, "AutoTopupSettings", for_sale(&self.0.sizes()));
    }
}

/// Has the schema `name` ask for `condition` as well.
fn add(document: &mut OpenApi, name: &str, condition: Value) {
    let schemas = document.components.as_mut().map(|components| &mut components.schemas);
    let condition: Option<Schema> = serde_json::from_value(condition).ok();
    let (Some(schema), Some(condition)) = (schemas.and_then(|schemas| schemas.get_mut(name)), condition) else {
        return;
    };
    if let RefOr::T(Schema::AllOf(all)) = schema {
        all.items.push(RefOr::T(condition));
    } else {
        let items = vec![std::mem::take(schema), RefOr::T(condition)];
        *schema = RefOr::T(Schema::AllOf(AllOf { items, ..AllOf::default() }));
    }
}

/// Who approves is named, and nobody else.
fn approval() -> Value {
    json!({"anyOf": [
        {"type": "object", "required": ["state", "approved_by"], "properties": {
            "state": {"type": "string", "enum": ["approved"]}, "approved_by": {"type": "string"},
        }},
        {"type": "object", "properties": {
            "state": {"type": ["string", "null"], "enum": ["retired", null]}, "approved_by": {"type": "null"},
        }},
    ]})
}

/// A template goes with one action, and words with another one, which takes them.
fn reply() -> Value {
    let of = |actions: &[&str], required: &[&str], template: Value, message: Value| {
        json!({"type": "object", "required": required, "properties": {
            "action": {"type": "string", "enum": actions}, "template_id": template, "message": message,
        }})
    };
    let (none, number, text) =
        (json!({"type": "null"}), json!({"type": ["integer", "null"]}), json!({"type": "string"}));
    json!({"anyOf": [
        of(&["approve"], &["action"], number, none.clone()),
        of(&["skip", "hold"], &["action"], none.clone(), none.clone()),
        of(&["send"], &["action", "message"], none, text),
    ]})
}

/// Switching on takes a threshold and an amount.
fn switched_on() -> Value {
    let number = json!({"type": "integer"});
    json!({"anyOf": [
        {"type": "object", "properties": {"enabled": {"type": "boolean", "enum": [false]}}},
        {"type": "object", "required": ["threshold", "top_up_amount"], "properties": {"threshold": number, "top_up_amount": number}},
    ]})
}

/// An amount is the size of a pack, and fits into the cap of a month.
fn for_sale(sizes: &[i64]) -> Value {
    let unset = json!({"type": "object", "properties": {"top_up_amount": {"type": "null"}}});
    let packs = sizes.iter().map(|size| {
        let amount = json!({"type": "integer", "enum": [size]});
        let cap = json!({"type": ["integer", "null"], "minimum": size});
        json!({"type": "object", "properties": {"top_up_amount": amount, "monthly_cap": cap}})
    });
    json!({"anyOf": std::iter::once(unset).chain(packs).collect::<Vec<_>>()})
}

/// A window is no finer than what is known of the metric.
fn windows() -> [Value; 4] {
    let of = |metrics: &str, window: Value| {
        let metric = json!({"type": "string", "pattern": format!("^({metrics})$")});
        json!({"type": "object", "properties": {"metric": metric, "window_hours": window}})
    };
    [
        of("revenue|orders|refunds|aov", json!({"type": "integer", "maximum": 2160})),
        of("event:.*", json!({"type": "integer", "maximum": 168})),
        of("ad_spend|roas|profit|margin", json!({"type": "integer", "multipleOf": 24, "maximum": 2160})),
        of("stockouts", json!({"type": "integer", "enum": [24]})),
    ]
}
