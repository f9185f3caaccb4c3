//! Connected shops.

use async_trait::async_trait;
use time::{Duration, OffsetDateTime};

use crate::{
    AccountId, IntegrationId, StoreError,
    accounts::Platform,
    page::{Page, PageRequest},
};

/// A connection without a sync for longer than this is stale.
pub const STALE_AFTER: Duration = Duration::hours(24);

text_enum!(
    /// The state of a connection.
    Status { Connected = "connected", Stale = "stale", Revoked = "revoked", NeverSynced = "never_synced" }
);

/// A connection to a shop. Provider tokens are never part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integration {
    pub id: IntegrationId,
    pub provider: Platform,
    /// Host name of the store.
    pub shop: String,
    /// Permissions on the provider's side, by the provider's names.
    pub scopes: Vec<String>,
    pub connected_at: OffsetDateTime,
    pub revoked_at: Option<OffsetDateTime>,
    pub last_sync_at: Option<OffsetDateTime>,
}

impl Integration {
    /// The state at `now`; staleness is a matter of time, so it is not stored.
    pub fn status(&self, now: OffsetDateTime) -> Status {
        match (self.revoked_at, self.last_sync_at) {
            (Some(_), _) => Status::Revoked,
            (None, None) => Status::NeverSynced,
            (None, Some(at)) if now - at > STALE_AFTER => Status::Stale,
            (None, Some(_)) => Status::Connected,
        }
    }
}

/// How many connections are in each state, over the whole account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    pub total: i64,
    pub connected: i64,
    pub stale: i64,
    pub revoked: i64,
    pub never_synced: i64,
}

/// A connection as it is to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    pub provider: Platform,
    pub shop: String,
    pub scopes: Vec<String>,
    pub connected_at: OffsetDateTime,
    pub last_sync_at: Option<OffsetDateTime>,
    pub revoked_at: Option<OffsetDateTime>,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait IntegrationStore: Send + Sync {
    /// Records a connection; one of the same provider and shop takes on its state and keeps its id.
    async fn connect(&self, account: AccountId, connection: Connection) -> Result<(), StoreError>;
    /// Newest first, and the totals over all of them, as of `now`.
    async fn page(
        &self,
        account: AccountId,
        page: PageRequest,
        now: OffsetDateTime,
    ) -> Result<(Page<Integration>, Totals), StoreError>;
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-05-02 12:00 UTC);

    #[rstest]
    #[case(None, None, Status::NeverSynced)]
    #[case(None, Some(datetime!(2026-05-01 12:00 UTC)), Status::Connected)]
    #[case(None, Some(datetime!(2026-05-01 11:59:59 UTC)), Status::Stale)]
    #[case(Some(NOW), Some(NOW), Status::Revoked)]
    fn status_follows_from_the_dates(
        #[case] revoked_at: Option<OffsetDateTime>,
        #[case] last_sync_at: Option<OffsetDateTime>,
        #[case] status: Status,
    ) {
        let integration = Integration {
            id: IntegrationId(1),
            provider: Platform::Shopify,
            shop: "demo.myshopify.com".into(),
            scopes: vec![],
            connected_at: NOW,
            revoked_at,
            last_sync_at,
        };
        assert_eq!(integration.status(NOW), status);
    }
}
