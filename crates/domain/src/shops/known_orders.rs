//! Orders of a platform that are stored.

use async_trait::async_trait;
use time::OffsetDateTime;

use crate::{AccountId, IntegrationId, StoreError, accounts::Platform};

/// A place among an account's orders: by when they were placed, then by when they were first stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub placed_at: OffsetDateTime,
    pub number: i64,
}

impl Position {
    /// Before every order that was placed at `since` or later.
    pub const fn before(since: OffsetDateTime) -> Self {
        Self { placed_at: since, number: 0 }
    }
}

/// An order that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownOrder {
    /// The platform's identifier.
    pub external_id: String,
    pub position: Position,
}

#[async_trait]
pub trait KnownOrders: Send + Sync {
    /// The orders that the connection gave and that come after `after`, in their order, at most `limit`.
    async fn orders_after(
        &self,
        account: AccountId,
        integration: IntegrationId,
        after: Position,
        limit: i64,
    ) -> Result<Vec<KnownOrder>, StoreError>;

    /// Those of the platform's orders by `ids` that are stored.
    async fn known(&self, account: AccountId, source: Platform, ids: &[String]) -> Result<Vec<String>, StoreError>;
}
