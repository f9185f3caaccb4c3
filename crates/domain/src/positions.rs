//! Who wrote what, for reads that may be answered by a copy of the database which is a moment behind.

use std::time::Duration;

use async_trait::async_trait;

use crate::AccountId;

/// Remembers that an account has just written, so that what it reads next has that write in it.
#[async_trait]
pub trait RecentWrites: Send + Sync {
    /// To be called when the write is done and before it is answered. Cannot fail: where it is not known what was
    /// written, the account reads from where everything is.
    async fn note(&self, account: AccountId);
}

/// Where several processes tell each other up to which position of the database's log an account has written.
#[async_trait]
pub trait Positions: Send + Sync {
    /// Notes a position, to be forgotten after `remembered`. A higher one that is known stays.
    async fn note(&self, account: AccountId, position: u64, remembered: Duration);
    /// The highest position noted, 0 when there is none; `None` when that cannot be found out.
    async fn last(&self, account: AccountId) -> Option<u64>;
}
