//! Resources as types, their rules, and the ports (traits) that adapters implement.
//!
//! Nothing here does I/O, reads a clock or draws randomness: instants and random bytes are arguments.
//! Values are parsed once at the edge; a value of a type from this crate is valid.

#[macro_use]
mod text_enum;

pub mod accounts;
pub mod ads;
pub mod ai;
pub mod alerts;
pub mod anomalies;
pub mod as_of;
pub mod audit;
pub mod creatives;
pub mod credits;
pub mod customer_metrics;
pub mod customers;
pub mod daily;
pub mod data_keys;
pub mod demand;
pub mod erasure;
pub mod error;
pub mod events;
pub mod exports;
pub mod freshness;
pub mod health;
pub mod idempotency;
pub mod ids;
pub mod imports;
pub mod incidents;
pub mod insights;
pub mod instants;
pub mod integrations;
pub mod inventory;
pub mod jobs;
pub mod keys;
pub mod language;
pub mod log_in;
pub mod mail;
pub mod metric_days;
pub mod metrics;
pub mod money;
pub mod notes;
pub mod page;
pub mod passwords;
pub mod payments;
pub mod people;
pub mod periods;
pub mod positions;
pub mod profit;
pub mod queues;
pub mod rate_limit;
pub mod reorder;
pub mod risks;
pub mod sealing;
pub mod search;
pub mod sessions;
pub mod shops;
pub mod social;
pub mod stories;
pub mod text;
pub mod texts;
pub mod throttle;
pub mod tracking;
pub mod uploads;
pub mod uptime;
pub mod usage;
pub mod visits;
pub mod webhooks;
pub mod zone;

pub use error::StoreError;
pub use ids::{
    AccountId, AdEntityId, AdRowId, AnomalyId, AuditId, CampaignCreativeId, ChargeId, ConversationId, CreativeId,
    CustomerId, DeliveryId, EventId, ExportId, FiringId, InboxId, IncidentId, IncidentUpdateId, InsightId,
    IntegrationId, InventoryItemId, KeyId, MailId, MessageId, NoteId, OrderId, PersonId, PrivacyRequestId, ProductId,
    ReplayId, RiskId, RuleId, RunId, SessionId, SocialAccountId, SocialHookId, StoryId, SubscriptionId, SuggestionId,
    SyncRunId, TemplateId, TrackingEventId, TransactionId, UploadId, UserId,
};
