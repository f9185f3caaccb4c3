//! Making and ending connections.

use async_trait::async_trait;
use time::OffsetDateTime;

use super::tokens::SealedTokens;
use crate::{
    AccountId, IntegrationId, StoreError,
    accounts::Platform,
    audit::Entry,
    idempotency::IdempotencyKey,
    integrations::{BuyerData, Integration, RevokeReason},
};

/// What a shop says of itself and of our permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Permissions that were granted, by the provider's names.
    pub scopes: Vec<String>,
    /// Permissions that are needed and were not granted.
    pub missing_scopes: Vec<String>,
    pub history_from: Option<OffsetDateTime>,
    pub buyer_data: BuyerData,
}

/// A connection that is to be made. Its tokens are sealed before they reach the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewConnection {
    /// From [`ConnectionStore::reserve`]: the sealed tokens are bound to it.
    pub id: IntegrationId,
    pub provider: Platform,
    /// The platform's number of the shop, or its host name for Shopify.
    pub shop_id: String,
    /// Host name of the shop.
    pub shop: String,
    pub description: Description,
    pub tokens: SealedTokens,
    /// The key of the request, claimed at [`AnswerStore`](crate::idempotency::AnswerStore): the connection is recorded under
    /// it in the same transaction.
    pub key: Option<IdempotencyKey>,
    /// For the audit log, where a person connects it.
    pub note: Option<Entry>,
}

/// Why a connection was not made.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("the account is connected to another shop of this platform")]
    AlreadyConnected,
    #[error("the shop is connected to another account")]
    ConnectedElsewhere,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A connection that is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revocation {
    pub reason: RevokeReason,
    /// Only while the tokens have this generation: what was learnt of older ones says nothing of a shop that was connected
    /// again since.
    pub generation: Option<i64>,
    pub now: OffsetDateTime,
}

/// What became of a revocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revoked {
    /// It ended now.
    Now,
    /// It had ended before, or was connected again since; nothing changed.
    Unchanged,
    /// The account has no such connection.
    Unknown,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ConnectionStore: Send + Sync {
    /// The id of the account's connection to the shop, or for a new one an id that no other has or will get.
    async fn reserve(&self, account: AccountId, provider: Platform, shop: &str) -> Result<IntegrationId, StoreError>;
    /// Makes a connection, or makes one of the same shop again, with the event of it. It is due to be read at once. The first
    /// connection of an account owns its stock, the first whose platform knows costs owns these.
    ///
    /// # Errors
    /// [`ConnectError`].
    async fn connect(
        &self,
        account: AccountId,
        connection: NewConnection,
        now: OffsetDateTime,
    ) -> Result<Integration, ConnectError>;
    /// Ends a connection, with the events of it: its tokens are forgotten, its leases void, and what it owned passes to the
    /// oldest of the others that can say it. `note` is for the audit log, where a person ends it.
    async fn revoke(
        &self,
        account: AccountId,
        id: IntegrationId,
        revocation: Revocation,
        note: Option<Entry>,
    ) -> Result<Revoked, StoreError>;
    /// Notes whether the platform has suspended the shop; one that goes on is due at once. False where that is known
    /// already, or the connection has ended.
    async fn suspend(
        &self,
        account: AccountId,
        id: IntegrationId,
        suspended: bool,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError>;
    /// Notes what a shop that is connected says of itself.
    async fn describe(&self, account: AccountId, id: IntegrationId, description: Description)
    -> Result<(), StoreError>;
}
