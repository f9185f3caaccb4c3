//! How much of an account's work waits, and by which programs it is done.

use async_trait::async_trait;
use time::OffsetDateTime;

use crate::{AccountId, StoreError};

text_enum!(
    /// Where work waits.
    Queue {
        /// Events on their way to webhooks.
        Deliveries = "deliveries",
        /// Deliveries whose webhook is switched off.
        Held = "held",
        /// Hooks of shop platforms.
        Inbox = "inbox",
        /// Files to be imported.
        Uploads = "uploads",
        Exports = "exports",
        /// Automatic top-ups.
        TopUps = "top_ups",
    }
);

/// Deliveries of a webhook that are counted of each kind: with millions of them the count would not be there in time.
pub const MOST_COUNTED: i64 = 10_000;

/// What waits in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    pub queue: Queue,
    /// Of deliveries, [`MOST_COUNTED`] of a webhook at most.
    pub waiting: i64,
    /// Since when the first of them could have been worked on; `None` where none could.
    pub due_since: Option<OffsetDateTime>,
}

/// The program and the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions {
    pub program: &'static str,
    /// The newest migration that has run.
    pub schema: String,
    /// As the server says it, such as `17.2`.
    pub database: String,
}

#[async_trait]
pub trait QueueStore: Send + Sync {
    /// Every queue, in their order.
    async fn depths(&self, account: AccountId, now: OffsetDateTime) -> Result<Vec<Depth>, StoreError>;
    async fn versions(&self) -> Result<Versions, StoreError>;
}
