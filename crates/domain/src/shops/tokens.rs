//! Tokens at rest, and who may renew them.
//!
//! A token is renewed by one process at a time, which holds a lease meanwhile and no lock, and what it got is committed
//! before it is used. The tokens before stay until then.

use async_trait::async_trait;
use time::OffsetDateTime;

use crate::{AccountId, IntegrationId, StoreError, accounts::Platform, sealing::Binding};

/// What a connection's sealed access token is bound to.
#[must_use]
pub const fn access_binding(account: AccountId, id: IntegrationId) -> Binding {
    Binding { purpose: "shop_access_token", account, row: id.0 }
}

/// What a connection's sealed refresh token is bound to.
#[must_use]
pub const fn refresh_binding(account: AccountId, id: IntegrationId) -> Binding {
    Binding { purpose: "shop_refresh_token", account, row: id.0 }
}

/// [`super::Tokens`], sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedTokens {
    pub access: Vec<u8>,
    /// `None`: it does not expire.
    pub access_expires_at: Option<OffsetDateTime>,
    pub refresh: Option<Vec<u8>>,
    pub refresh_expires_at: Option<OffsetDateTime>,
}

/// The tokens of a connection, and what they are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTokens {
    pub provider: Platform,
    /// The platform's number of the shop, or its host name for Shopify.
    pub shop_id: String,
    /// Host name of the shop.
    pub shop: String,
    /// Granted permissions.
    pub scopes: Vec<String>,
    pub tokens: SealedTokens,
    /// Rises with every renewal and every new connection of the shop.
    pub generation: i64,
}

/// The right to renew the tokens of a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefreshLease {
    pub account: AccountId,
    pub integration: IntegrationId,
    pub generation: i64,
    /// Rises with every lease: a renewal with an older number touches no row.
    pub number: i64,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// `None` when the account has no such connection, or it has ended.
    async fn find(&self, account: AccountId, id: IntegrationId) -> Result<Option<StoredTokens>, StoreError>;
    /// Takes the right to renew the tokens of the generation, for `lease_seconds` of the database's clock. `None` when
    /// another process has it, the tokens were renewed meanwhile, or the connection has ended.
    async fn lease(
        &self,
        account: AccountId,
        id: IntegrationId,
        generation: i64,
        lease_seconds: i64,
    ) -> Result<Option<RefreshLease>, StoreError>;
    /// Puts new tokens and the permissions granted with them in the place of those that were leased, and gives the lease
    /// back. False when the lease is another's by now or the connection has ended: nothing was stored.
    async fn renew(&self, lease: RefreshLease, tokens: SealedTokens, scopes: Vec<String>) -> Result<bool, StoreError>;
    /// Gives a lease back without new tokens.
    async fn release(&self, lease: RefreshLease) -> Result<(), StoreError>;
}
