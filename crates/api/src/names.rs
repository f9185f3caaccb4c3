//! Schemas of texts that are one of a list.

use std::sync::LazyLock;

use domain::{
    accounts::{Plan, Platform},
    ads, ai, alerts, anomalies, creatives, credits, customers,
    daily::Dimension,
    events::{ActorKind, EVERY_EVENT, EventKind},
    freshness::Source,
    incidents, insights, integrations, inventory,
    jobs::JobName,
    language::Language,
    metrics::Metric,
    reorder, shops, social, stories, uptime, usage,
    webhooks::{delivery::DeliveryState, replay::ReplayState},
};
use serde_json::{Value, json};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{Object, ObjectBuilder, SchemaType, Type},
    },
};

/// The worst open incident where there is none.
pub const NO_INCIDENT: &str = "none";
/// What a switch may be.
pub const FLAGS: &[&str] = &["1", "0", "true", "false"];
/// What `format` may be.
pub const FORMATS: &[&str] = &["json", "csv"];

/// One of these texts.
pub fn one_of(names: &[&'static str]) -> Object {
    let schema = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names.iter().copied()));
    schema.examples(names.first().map(|name| json!(name))).build()
}

/// One of these texts, or null.
pub fn one_of_or_null(names: &'static [&'static str]) -> Object {
    let values = names.iter().map(|name| json!(name)).chain([Value::Null]);
    let schema = ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Null]));
    schema.enum_values(Some(values)).examples(names.first().map(|name| json!(name))).build()
}

macro_rules! types {
    ($($(#[$doc:meta])* $name:ident => $names:expr;)+) => {
        $(
            $(#[$doc])*
            pub struct $name;

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    one_of($names).into()
                }
            }

            impl ToSchema for $name {}
        )+
    };
}

types! {
    /// The name of an event.
    EventName => EventKind::NAMES;
    /// What a subscription may ask for.
    SubscribedEvent => &SUBSCRIBED;
    /// What has become of a delivery.
    DeliveryStateName => DeliveryState::NAMES;
    PlatformName => Platform::SHOP_NAMES;
    SegmentName => customers::Segment::NAMES;
    CustomerOrderName => customers::OrderBy::NAMES;
    /// What an account is connected to.
    ProviderName => Platform::NAMES;
    AdPlatformName => ads::AdPlatform::NAMES;
    AdLevelName => ads::Level::NAMES;
    AdStatusName => ads::Status::NAMES;
    AdGroupName => ads::Group::NAMES;
    CreativeStatusName => creatives::Status::NAMES;
    FormatName => FORMATS;
    Flag => FLAGS;
    TransactionKindName => credits::TransactionKind::NAMES;
    InsightStatusName => insights::Status::NAMES;
    SeverityName => insights::Severity::NAMES;
    CategoryName => insights::Category::NAMES;
    InventoryStatusName => inventory::Status::NAMES;
    ReorderStatusName => reorder::Status::NAMES;
    ShownName => incidents::Shown::NAMES;
    IncidentSeverityName => incidents::Severity::NAMES;
    ChannelName => social::Channel::NAMES;
    /// What profiles are connected on by granting access.
    ProfileChannelName => social::profiles::ProfileChannel::NAMES;
    ConversationStatusName => social::Status::NAMES;
    HandlingName => social::Handling::NAMES;
    CommentCategoryName => social::Category::NAMES;
    /// What the bot may answer by itself.
    QuestionName => &["price_question", "shipping_question", "stock_question"];
    ReplyStateName => social::ReplyState::NAMES;
    TongueName => social::Tongue::NAMES;
    TemplateStateName => social::templates::TemplateState::NAMES;
    MetricName => Metric::NAMES;
    /// What only one connection of an account says.
    FactName => integrations::Fact::NAMES;
}

/// The parameter `lang`.
pub struct LanguageName;

impl PartialSchema for LanguageName {
    fn schema() -> RefOr<Schema> {
        let mut names = one_of(Language::NAMES);
        names.description =
            Some("The language of the sentences, whatever the header `Accept-Language` says.".to_owned());
        names.into()
    }
}

impl ToSchema for LanguageName {}

/// A text of a template.
pub struct TemplateText;

impl PartialSchema for TemplateText {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
        text.max_length(Some(social::templates::MAX_VARIATION_CHARS)).into()
    }
}

impl ToSchema for TemplateText {}

/// [`EVERY_EVENT`] and the name of every event.
pub static SUBSCRIBED: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| [EVERY_EVENT].into_iter().chain(EventKind::NAMES.iter().copied()).collect());

macro_rules! schemas {
    ($schema:ident: $($function:ident => $names:expr;)+) => {
        $(pub fn $function() -> Object { $schema($names) })+
    };
}

schemas! {
    one_of_or_null:
    // Null without enough data.
    creative_metric => creatives::Metric::NAMES;
    // Null when nothing sells.
    velocity_class => inventory::VelocityClass::NAMES;
    // Null until the run has ended.
    run_outcome => ai::Outcome::INSIGHT_NAMES;
    // Null after a dry run.
    replay_state => ReplayState::NAMES;
    // Null when nothing is paused.
    pauser => ActorKind::NAMES;
    // Null when it is unknown.
    cause => anomalies::Cause::NAMES;
    // Null when nothing stands out.
    story_normal => stories::Normal::NAMES;
    // Null while it is connected.
    revoke_reason => integrations::RevokeReason::NAMES;
    // Null for all of the business.
    part_dimension => Dimension::NAMES;
    // Null leaves it as it is.
    changed_comparator => alerts::Comparator::NAMES;
    changed_severity => insights::Severity::NAMES;
    changed_conversation_status => social::Status::NAMES;
    changed_handling => social::Handling::NAMES;
    // Null where it could not be told, or leaves it as it is.
    tongue_or_null => social::Tongue::NAMES;
    comment_category_or_null => social::Category::NAMES;
    season_of_or_null => reorder::SeasonOf::NAMES;
    hold_reason => social::Reason::NAMES;
    // Null where none was asked for, or its answer does not count.
    vote_verdict => social::votes::Verdict::NAMES;
    // Null while it is connected.
    profile_end_reason => social::profiles::EndReason::NAMES;
}

schemas! {
    one_of:
    plan => Plan::NAMES;
    language => Language::NAMES;
    overall_status => &["operational", "degraded", "outage"];
    database_status => &["ok", "slow", "down"];
    schema_status => &["ok", "outdated", "too_new", "unknown"];
    transaction_kind => credits::TransactionKind::NAMES;
    usage_period => usage::Period::NAMES;
    platform => Platform::SHOP_NAMES;
    provider => Platform::NAMES;
    ad_platform => ads::AdPlatform::NAMES;
    ad_level => ads::Level::NAMES;
    ad_status => ads::Status::NAMES;
    creative_format => ads::Format::NAMES;
    creative_status => creatives::Status::NAMES;
    segment => customers::Segment::NAMES;
    integration_status => integrations::Status::NAMES;
    buyer_data => integrations::BuyerData::NAMES;
    integration_error => integrations::ErrorCode::NAMES;
    sync_stream => shops::sync::Stream::NAMES;
    sync_run_state => shops::sync::RunState::NAMES;
    severity => insights::Severity::NAMES;
    category => insights::Category::NAMES;
    insight_status => insights::Status::NAMES;
    insight_kind => insights::Kind::NAMES;
    figure_unit => insights::Value::UNITS;
    story_subject => stories::Subject::NAMES;
    story_lever => stories::LeverKind::NAMES;
    story_measure => stories::Measure::NAMES;
    story_gauge => stories::Gauge::NAMES;
    story_action => stories::Action::NAMES;
    story_phase => &["open", "over", "usual"];
    anomaly_kind => anomalies::Kind::NAMES;
    direction => anomalies::Direction::NAMES;
    metric => Metric::NAMES;
    trend => inventory::Trend::NAMES;
    inventory_status => inventory::Status::NAMES;
    reorder_status => reorder::Status::NAMES;
    job => JobName::NAMES;
    source => Source::NAMES;
    delivery_state => DeliveryState::NAMES;
    insight_source => insights::Source::NAMES;
    run_state => ai::RunState::NAMES;
    comparator => alerts::Comparator::NAMES;
    component => uptime::Component::NAMES;
    component_status => uptime::Status::NAMES;
    incident_severity => incidents::Severity::NAMES;
    incident_status => incidents::Status::NAMES;
    channel => social::Channel::NAMES;
    profile_status => social::profiles::ProfileStatus::NAMES;
    conversation_status => social::Status::NAMES;
    handling => social::Handling::NAMES;
    message_direction => social::Direction::NAMES;
    message_author => social::Author::NAMES;
    reply_state => social::ReplyState::NAMES;
    comment_category => social::Category::NAMES;
    tongue => social::Tongue::NAMES;
    template_state => social::templates::TemplateState::NAMES;
    social_mode => social::Mode::NAMES;
    weekday => social::settings::Weekday::NAMES;
    indicator => &[NO_INCIDENT, "minor", "major", "critical"];
}
