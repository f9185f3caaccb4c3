//! Schemas of texts that are one of a list.

use domain::{
    accounts::{Plan, Platform},
    ai, alerts, anomalies, credits, customers,
    events::ActorKind,
    freshness::Source,
    insights, integrations, inventory,
    jobs::JobName,
    reorder, usage,
    webhooks::{delivery::DeliveryState, replay::ReplayState},
};
use serde_json::{Value, json};
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

fn one_of(names: &'static [&'static str]) -> Object {
    let schema = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names.iter().copied()));
    schema.examples(names.first().map(|name| json!(name))).build()
}

fn one_of_or_null(names: &'static [&'static str]) -> Object {
    let values = names.iter().map(|name| json!(name)).chain([Value::Null]);
    let schema = ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Null]));
    schema.enum_values(Some(values)).examples(names.first().map(|name| json!(name))).build()
}

/// Null when nothing sells.
pub fn velocity_class() -> Object {
    one_of_or_null(inventory::VelocityClass::NAMES)
}

/// Null until the run has ended.
pub fn run_outcome() -> Object {
    one_of_or_null(ai::Outcome::NAMES)
}

/// Null when nothing is paused.
pub fn pauser() -> Object {
    one_of_or_null(ActorKind::NAMES)
}

macro_rules! schemas {
    ($($function:ident => $names:expr;)+) => {
        $(pub fn $function() -> Object { one_of($names) })+
    };
}

schemas! {
    plan => Plan::NAMES;
    overall_status => &["operational", "degraded", "outage"];
    database_status => &["ok", "slow", "down"];
    format => crate::csv::FORMATS;
    flag => crate::query::FLAGS;
    transaction_kind => credits::TransactionKind::NAMES;
    usage_period => usage::Period::NAMES;
    platform => Platform::NAMES;
    segment => customers::Segment::NAMES;
    integration_status => integrations::Status::NAMES;
    severity => insights::Severity::NAMES;
    category => insights::Category::NAMES;
    insight_status => insights::Status::NAMES;
    anomaly_kind => anomalies::Kind::NAMES;
    direction => anomalies::Direction::NAMES;
    trend => inventory::Trend::NAMES;
    inventory_status => inventory::Status::NAMES;
    reorder_status => reorder::Status::NAMES;
    job => JobName::NAMES;
    source => Source::NAMES;
    delivery_state => DeliveryState::NAMES;
    replay_state => ReplayState::NAMES;
    insight_source => insights::Source::NAMES;
    run_state => ai::RunState::NAMES;
    comparator => alerts::Comparator::NAMES;
}
