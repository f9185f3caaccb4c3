//! Shops on other people's platforms: connecting them, keeping their tokens, reading them, taking their hooks.
//!
//! Connectors translate ([`domain::shops`]); everything that an account is concerned with is decided here, once for all
//! platforms.

pub(crate) mod authorizations;
pub mod catalogues;
pub mod connect;
mod copies;
mod documents;
mod imports;
pub mod inbox;
pub mod receive;
pub mod sync;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod tokens;
mod turn;
mod unknown_orders;
mod windows;

use std::{collections::BTreeMap, sync::Arc};

use domain::{
    AccountId, StoreError,
    accounts::{AccountStore, Mode, Platform},
    idempotency::AnswerStore,
    integrations::{Integration, IntegrationStore},
    page::PageRequest,
    sealing::Sealer,
    shops::{
        ShopAuth, ShopReader, authorizations::AuthorizationStore, connections::ConnectionStore, hooks::HookVerifier,
        sync::SyncStore, tokens::TokenStore,
    },
    social::channels::SocialReplies,
};
use time::OffsetDateTime;

use crate::deliveries::Clock;

/// What knows a platform.
#[derive(Clone)]
pub struct Connector {
    pub auth: Arc<dyn ShopAuth>,
    pub reader: Arc<dyn ShopReader>,
    /// `None`: the platform sends no hooks.
    pub verifier: Option<Arc<dyn HookVerifier>>,
    /// Answers what people ask there. `None`: it has no such thing.
    pub replies: Option<Arc<dyn SocialReplies>>,
    /// Whether it leads to a stand-in instead of the platform.
    pub is_stand_in: bool,
}

/// The platforms that this service has an app with.
#[derive(Clone, Default)]
pub struct Connectors(Arc<BTreeMap<Platform, Connector>>);

impl Connectors {
    pub fn new(connectors: impl IntoIterator<Item = Connector>) -> Self {
        let by_platform = connectors.into_iter().map(|connector| (connector.auth.platform(), connector));
        Self(Arc::new(by_platform.collect()))
    }

    pub fn get(&self, platform: Platform) -> Result<&Connector, NotConfigured> {
        self.0.get(&platform).ok_or(NotConfigured::NoApp)
    }

    /// The connector that an account of that mode may use: behind a sandbox there is no real platform.
    ///
    /// # Errors
    /// [`NotConfigured`].
    pub fn for_mode(&self, platform: Platform, mode: Mode) -> Result<&Connector, NotConfigured> {
        let connector = self.get(platform)?;
        if mode == Mode::Test && !connector.is_stand_in {
            return Err(NotConfigured::Sandbox);
        }
        Ok(connector)
    }

    /// All of them, by platform.
    pub fn iter(&self) -> impl Iterator<Item = &Connector> {
        self.0.values()
    }

    /// Whether there is no platform at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Why a platform cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotConfigured {
    #[error("this service has no app on the platform")]
    NoApp,
    #[error("a sandbox account connects to stand-ins only, and this service uses the real platform")]
    Sandbox,
}

/// What connections are kept with.
#[derive(Clone)]
pub struct Ports {
    pub connectors: Connectors,
    pub accounts: Arc<dyn AccountStore>,
    pub integrations: Arc<dyn IntegrationStore>,
    pub authorizations: Arc<dyn AuthorizationStore>,
    pub connections: Arc<dyn ConnectionStore>,
    pub tokens: Arc<dyn TokenStore>,
    pub syncs: Arc<dyn SyncStore>,
    pub answers: Arc<dyn AnswerStore>,
    pub sealer: Arc<dyn Sealer>,
    pub clock: Clock,
}

impl Ports {
    /// All ports of the database on one store.
    pub fn of<S>(store: &Arc<S>, connectors: Connectors, sealer: Arc<dyn Sealer>, clock: Clock) -> Self
    where
        S: AccountStore
            + IntegrationStore
            + AuthorizationStore
            + ConnectionStore
            + TokenStore
            + SyncStore
            + AnswerStore
            + 'static,
    {
        Self {
            connectors,
            accounts: store.clone(),
            integrations: store.clone(),
            authorizations: store.clone(),
            connections: store.clone(),
            tokens: store.clone(),
            syncs: store.clone(),
            answers: store.clone(),
            sealer,
            clock,
        }
    }

    pub(crate) fn now(&self) -> OffsetDateTime {
        (self.clock)()
    }

    /// The connections of an account that come first in its list, ended ones included: one or a few per platform.
    async fn all_of(&self, account: AccountId) -> Result<Vec<Integration>, StoreError> {
        let page = PageRequest { limit: 100, cursor: None };
        Ok(self.integrations.page(account, page, self.now()).await?.0.items)
    }
}
