//! Hooks that were received and are still to be acted on.

use async_trait::async_trait;
use time::{Duration, OffsetDateTime};

use super::hooks::{Hook, Topic};
use crate::{AccountId, InboxId, IntegrationId, StoreError, accounts::Platform};

/// How long hooks are kept at most: done or not, those of platforms that sign none until they are done.
pub const KEEP: Duration = Duration::days(30);

/// Hooks of a connection that wait at most, of a platform that signs none: anybody could send more. Those of the topic [`AGAIN`]
/// are none of them.
pub const MAX_UNSIGNED: i64 = 1_000;
/// Topic of what this service has itself read again, since the platform failed to show an order whole. Nothing else tells of it.
pub const AGAIN: &str = "orders/again";
/// How long hooks of such a platform that name nothing are gathered: they are one.
pub const GATHERED: Duration = Duration::seconds(10);

/// What became of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// It is stored.
    Stored,
    /// The same hook was stored before.
    Duplicate,
    /// Nobody is connected to the shop: it is dropped. A privacy request also reaches accounts that were connected to it.
    UnknownShop,
    /// Nobody here acts on its topic: it is dropped.
    Unneeded,
    /// [`MAX_UNSIGNED`] wait: it is dropped, and what it tells of found by polling.
    TooMany,
}

/// A connection for which hooks wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    pub account: AccountId,
    pub integration: IntegrationId,
}

/// A hook that is to be acted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxEntry {
    pub id: InboxId,
    /// The platform's name of the topic.
    pub topic_name: String,
    pub topic: Topic,
    pub received_at: OffsetDateTime,
    /// How often it was taken, this time included.
    pub attempts: i64,
}

impl InboxEntry {
    /// Whether it is lost for good when it is given up: polling does not find it.
    pub fn is_ours(&self) -> bool {
        self.topic_name == AGAIN
    }
}

/// Hooks of a connection that one process acts on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    pub account: AccountId,
    pub integration: IntegrationId,
    /// In the order in which they were received.
    pub entries: Vec<InboxEntry>,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Stores a hook for the connection of its shop. Of a platform that signs none, only so many, and those that name nothing as
    /// one that is due when its [`GATHERED`] are over.
    async fn receive(&self, provider: Platform, hook: Hook, now: OffsetDateTime) -> Result<Received, StoreError>;
    /// Connections for which hooks wait that may be acted on at `now`, the longest waiting first, at most `limit`. Of all
    /// accounts.
    async fn waiting(&self, now: OffsetDateTime, limit: i64) -> Result<Vec<Waiting>, StoreError>;
    /// Takes a connection's hooks, the oldest first, at most `limit`, until `until`. Empty while another process has some of
    /// them.
    async fn take(
        &self,
        waiting: Waiting,
        now: OffsetDateTime,
        until: OffsetDateTime,
        limit: i64,
    ) -> Result<Taken, StoreError>;
    /// Keeps hooks that were taken until `until`. Those that are done or put back stay as they are.
    async fn hold(&self, account: AccountId, ids: &[InboxId], until: OffsetDateTime) -> Result<(), StoreError>;
    /// Marks hooks as done, or removes those of a platform that signs none. Repeating it changes nothing.
    async fn done(&self, account: AccountId, ids: &[InboxId], now: OffsetDateTime) -> Result<(), StoreError>;
    /// Puts hooks that could not be acted on back, until `until`.
    async fn postpone(&self, account: AccountId, ids: &[InboxId], until: OffsetDateTime) -> Result<(), StoreError>;
    /// Removes hooks that were received before `before`, of all accounts; returns how many.
    async fn prune(&self, before: OffsetDateTime) -> Result<u64, StoreError>;
}
