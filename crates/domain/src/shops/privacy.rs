//! Privacy requests that a platform passes on, and what is done about them.

use async_trait::async_trait;
use rust_decimal::Decimal;
use serde::Serialize;
use time::{Duration, OffsetDateTime};

use super::hooks::PrivacyRequest;
use crate::{
    AccountId, InboxId, IntegrationId, PrivacyRequestId, StoreError,
    accounts::Platform,
    audit::Entry,
    social::{Author, Channel},
};

/// The time within which a request has to be done.
pub const TIME_LIMIT: Duration = Duration::days(30);

text_enum!(
    /// What is asked for.
    RequestKind { Data = "data", RedactCustomer = "redact_customer", RedactShop = "redact_shop" }
);

/// A request of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRequest {
    pub id: PrivacyRequestId,
    pub account: AccountId,
    pub integration: IntegrationId,
    pub provider: Platform,
    pub kind: RequestKind,
    /// The platform's identifier of the customer; forgotten with the customer.
    pub customer: Option<String>,
    pub received_at: OffsetDateTime,
    pub due_at: OffsetDateTime,
    pub done_at: Option<OffsetDateTime>,
    /// Customers that were forgotten.
    pub customers: i64,
    /// Orders that lost their buyer.
    pub orders: i64,
}

/// A request that is to be logged, as a hook brought it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRequest {
    /// The hook: the same one again is the same request.
    pub hook: InboxId,
    pub request: PrivacyRequest,
    pub received_at: OffsetDateTime,
}

/// What was done about a request to forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Redacted {
    pub customers: i64,
    pub orders: i64,
}

/// An order of a customer, as it is handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CustomerOrder {
    #[serde(rename = "number")]
    pub external_id: String,
    #[serde(with = "time::serde::rfc3339")]
    pub placed_at: OffsetDateTime,
    pub gross: Decimal,
}

/// A refund of a customer, as it is handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CustomerRefund {
    #[serde(rename = "number")]
    pub external_id: String,
    #[serde(with = "time::serde::rfc3339")]
    pub refunded_at: OffsetDateTime,
    pub amount: Decimal,
}

/// What a customer wrote or was answered, as it is handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CustomerMessage {
    pub channel: Channel,
    pub author: Author,
    #[serde(with = "time::serde::rfc3339")]
    pub sent_at: OffsetDateTime,
    pub text: String,
}

/// Everything that is kept about a customer, as it is handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CustomerData {
    #[serde(rename = "platform")]
    pub source: Platform,
    #[serde(rename = "customer")]
    pub external_id: String,
    pub email: Option<String>,
    pub name: Option<String>,
    pub city: Option<String>,
    pub country: Option<String>,
    #[serde(rename = "known_since", with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    /// Oldest first, as all that follows.
    pub orders: Vec<CustomerOrder>,
    pub refunds: Vec<CustomerRefund>,
    pub messages: Vec<CustomerMessage>,
}

#[async_trait]
pub trait PrivacyStore: Send + Sync {
    /// Logs a request of a connection, ended ones too. Repeating it gives the same request.
    async fn log(
        &self,
        account: AccountId,
        integration: IntegrationId,
        request: NewRequest,
    ) -> Result<PrivacyRequestId, StoreError>;
    /// Does a request to forget, and marks it as done: who is to be forgotten is removed with what was computed of them, and
    /// does not come back with a later import; their orders keep their money and lose their buyer. `None` when the
    /// account has no such request, or it asks for data. Repeating it changes nothing.
    async fn redact(
        &self,
        account: AccountId,
        id: PrivacyRequestId,
        now: OffsetDateTime,
    ) -> Result<Option<Redacted>, StoreError>;
    /// Forgets a customer whom the shop itself asks to forget, as [`Self::redact`] does. Repeating it changes nothing.
    async fn forget(
        &self,
        account: AccountId,
        source: Platform,
        customer: &str,
        note: Entry,
        now: OffsetDateTime,
    ) -> Result<Redacted, StoreError>;
    /// Marks a request for data as answered. False when there is none that is open.
    async fn answered(&self, account: AccountId, id: PrivacyRequestId, now: OffsetDateTime)
    -> Result<bool, StoreError>;
    /// What is kept about a customer; `None` when nothing is.
    async fn data_of(
        &self,
        account: AccountId,
        source: Platform,
        customer: &str,
    ) -> Result<Option<CustomerData>, StoreError>;
    /// Requests of all accounts that are not done, the first due first: this is for the operator.
    async fn open(&self) -> Result<Vec<LoggedRequest>, StoreError>;
}
