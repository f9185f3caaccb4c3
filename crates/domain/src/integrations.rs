//! Connected shops.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};

use crate::{
    AccountId, IntegrationId, StoreError,
    accounts::Platform,
    page::{Page, PageRequest},
};

/// A connection without a sync for longer than this is stale.
pub const STALE_AFTER: Duration = Duration::hours(24);

/// How long an owner is asked to connect again what the platform ended: who has not by then has left it.
const RECONNECTED_WITHIN: Duration = Duration::days(30);

text_enum!(
    /// The state of a connection.
    Status { Connected = "connected", Stale = "stale", Revoked = "revoked", NeverSynced = "never_synced" }
);

text_enum!(
    /// Whether the platform shows who the buyers are.
    BuyerData { Full = "full", Withheld = "withheld" }
);

text_enum!(
    /// What only one of an account's connections may say, as a product has it once over all shops.
    Fact { Stock = "stock", Cost = "cost" }
);

text_enum!(
    /// Why a connection ended.
    RevokeReason {
        /// The owner disconnected the shop here.
        Manual = "manual",
        /// The app was removed from the shop there.
        Uninstalled = "uninstalled",
        /// The platform refuses the token, or to renew it.
        TokenExpired = "token_expired",
    }
);

text_enum!(
    /// What keeps a connection from being read, as `integration.broken` and `last_error` name it.
    ErrorCode {
        /// The token is not accepted.
        TokenRefused = "token_refused",
        /// A permission is missing.
        PermissionLost = "permission_lost",
        /// The shop or the app is suspended on the platform.
        Blocked = "blocked",
        /// The platform answers, but not with what was asked for.
        NotDelivering = "not_delivering",
        /// The platform does not answer.
        Unreachable = "unreachable",
    }
);

/// Why the last run of a connection failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastError {
    pub code: ErrorCode,
    /// A sentence for the owner, without personal data.
    pub message: String,
    pub at: OffsetDateTime,
}

/// A connection to a shop. Provider tokens are never part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Integration {
    pub id: IntegrationId,
    pub provider: Platform,
    /// Host name of the store.
    pub shop: String,
    /// Permissions on the provider's side, by the provider's names.
    pub scopes: Vec<String>,
    pub connected_at: OffsetDateTime,
    pub revoked_at: Option<OffsetDateTime>,
    /// The end of the last window that was stored and reached its present.
    pub last_sync_at: Option<OffsetDateTime>,
    /// Permissions that are needed and were not granted.
    pub missing_scopes: Vec<String>,
    /// Orders before this cannot be read.
    pub history_from: Option<OffsetDateTime>,
    /// Orders from this on have been read: the back-fill goes on before it. `None` before its first window.
    pub backfilled_from: Option<OffsetDateTime>,
    pub buyer_data: BuyerData,
    /// `None` once every stream was read again.
    pub last_error: Option<LastError>,
    /// The platform has suspended the shop or the app.
    pub suspended: bool,
    /// What this connection alone says for the account.
    pub owner_of: Vec<Fact>,
    pub revoke_reason: Option<RevokeReason>,
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

    /// Whether the owner has to connect the shop again: the platform took the permission back.
    pub fn reconnect_needed(&self) -> bool {
        self.revoke_reason == Some(RevokeReason::TokenExpired)
    }

    /// Whether the owner is asked to at `now`.
    pub fn is_to_reconnect(&self, now: OffsetDateTime) -> bool {
        self.reconnect_needed() && self.revoked_at.is_some_and(|ended| now - ended < RECONNECTED_WITHIN)
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

/// A connection as it is to be recorded, where there is no access to the shop.
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
    /// Records a connection without access to the shop; one of the same provider and shop takes on its state and keeps its
    /// id.
    async fn record(&self, account: AccountId, connection: Connection) -> Result<(), StoreError>;
    async fn find(&self, account: AccountId, id: IntegrationId) -> Result<Option<Integration>, StoreError>;
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
        let integration = Integration { revoked_at, last_sync_at, ..example() };
        assert_eq!(integration.status(NOW), status);
    }

    #[rstest]
    #[case(Some(RevokeReason::TokenExpired), true)]
    #[case(Some(RevokeReason::Uninstalled), false)]
    #[case(None, false)]
    fn only_a_token_that_was_refused_asks_for_a_new_connection(
        #[case] revoke_reason: Option<RevokeReason>,
        #[case] needed: bool,
    ) {
        assert_eq!(Integration { revoke_reason, ..example() }.reconnect_needed(), needed);
    }

    fn example() -> Integration {
        Integration {
            id: IntegrationId(1),
            provider: Platform::Shopify,
            shop: "demo.myshopify.com".into(),
            scopes: vec![],
            connected_at: NOW,
            revoked_at: None,
            last_sync_at: None,
            missing_scopes: vec![],
            history_from: None,
            backfilled_from: None,
            buyer_data: BuyerData::Full,
            last_error: None,
            suspended: false,
            owner_of: vec![],
            revoke_reason: None,
        }
    }
}
