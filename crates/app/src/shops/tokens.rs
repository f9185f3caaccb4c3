//! Access tokens for use: renewed in time, by one process at a time, and stored before they are first used.

use std::time::Duration;

use domain::{
    AccountId, IntegrationId, StoreError,
    integrations::RevokeReason,
    sealing::{Binding, SealError, Sealer},
    shops::{
        Access, RefreshError, Secret, ShopError, Tokens,
        connections::Revocation,
        tokens::{RefreshLease, SealedTokens, StoredTokens, access_binding, refresh_binding},
    },
};
use time::OffsetDateTime;
use tokio::time::{sleep, timeout};

use super::{NotConfigured, Ports};
use crate::outage;

/// How long a process may take to renew a token. Longer than [`ANSWER_WITHIN`] and all of [`PAUSES`], so that no two
/// processes ever send the same refresh token.
const LEASE_SECONDS: i64 = 120;
/// How long the platform has to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(40);
/// The pauses between attempts to store new tokens: the old ones are used up by then, so losing the new ones may cost the
/// connection.
const PAUSES: [Duration; 6] = [
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(10),
    Duration::from_secs(20),
];

/// The right to act for a shop now.
#[derive(Debug, Clone)]
pub struct Held {
    pub access: Access,
    /// Of the tokens: what is learnt of them says nothing of later ones.
    pub generation: i64,
    /// `None`: the access token does not expire.
    pub expires_at: Option<OffsetDateTime>,
}

/// Why there is no access.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// There is no such connection, or it has ended.
    #[error("the connection has ended")]
    Ended,
    /// Another process is renewing the token: try again in a moment.
    #[error("the token is being renewed")]
    Busy,
    /// The platform did not renew the token, and did not refuse either.
    #[error(transparent)]
    Shop(#[from] ShopError),
    #[error(transparent)]
    NotConfigured(#[from] NotConfigured),
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Seals what a platform gave for the connection `id`.
pub fn seal(
    sealer: &dyn Sealer,
    account: AccountId,
    id: IntegrationId,
    tokens: &Tokens,
) -> Result<SealedTokens, SealError> {
    let seal = |binding, secret: &Secret| sealer.seal(binding, secret.expose().as_bytes());
    let refresh = tokens.refresh.as_ref().map(|secret| seal(refresh_binding(account, id), secret)).transpose()?;
    Ok(SealedTokens {
        access: seal(access_binding(account, id), &tokens.access)?,
        access_expires_at: tokens.access_expires_at,
        refresh,
        refresh_expires_at: tokens.refresh_expires_at,
    })
}

fn open(sealer: &dyn Sealer, binding: Binding, sealed: &[u8]) -> Result<Secret, SealError> {
    String::from_utf8(sealer.open(binding, sealed)?).map(Secret::new).map_err(|_| SealError::Forged)
}

impl Ports {
    /// Access to a shop, with a token that is renewed when 80 % of its life are over.
    pub(crate) async fn access(&self, account: AccountId, id: IntegrationId) -> Result<Held, AccessError> {
        let stored = self.tokens.find(account, id).await?.ok_or(AccessError::Ended)?;
        let tokens = self.opened(account, id, &stored)?;
        let (lifetime, now) = (self.connectors.get(stored.provider)?.reader.timing().token_lifetime, self.now());
        let held = held(&stored, &tokens);
        if !tokens.is_due(lifetime, now) {
            return Ok(held);
        }
        let is_good = tokens.access_expires_at.is_none_or(|ends| now < ends);
        match self.renew(account, id, &stored, &tokens).await {
            // What is not over yet is used until the renewal succeeds.
            Err(AccessError::Busy | AccessError::Shop(_)) if is_good => Ok(held),
            renewed => renewed,
        }
    }

    /// Access with other tokens than those of `generation`, which the platform did not accept.
    pub(crate) async fn access_after(
        &self,
        account: AccountId,
        id: IntegrationId,
        generation: i64,
    ) -> Result<Held, AccessError> {
        let stored = self.tokens.find(account, id).await?.ok_or(AccessError::Ended)?;
        let tokens = self.opened(account, id, &stored)?;
        if stored.generation != generation {
            return Ok(held(&stored, &tokens));
        }
        self.renew(account, id, &stored, &tokens).await
    }

    fn opened(&self, account: AccountId, id: IntegrationId, stored: &StoredTokens) -> Result<Tokens, SealError> {
        let SealedTokens { access, access_expires_at, refresh, refresh_expires_at } = &stored.tokens;
        let refresh = refresh.as_ref().map(|sealed| open(&*self.sealer, refresh_binding(account, id), sealed));
        Ok(Tokens {
            access: open(&*self.sealer, access_binding(account, id), access)?,
            access_expires_at: *access_expires_at,
            refresh: refresh.transpose()?,
            refresh_expires_at: *refresh_expires_at,
            scopes: stored.scopes.clone(),
        })
    }

    /// Exchanges the refresh token. A reply that is lost leaves it in place: it is sent again with the next attempt, which
    /// the platform may or may not forgive.
    async fn renew(
        &self,
        account: AccountId,
        id: IntegrationId,
        stored: &StoredTokens,
        tokens: &Tokens,
    ) -> Result<Held, AccessError> {
        let Some(refresh) = &tokens.refresh else {
            self.refused(account, id, stored).await?;
            return Err(AccessError::Ended);
        };
        let auth = self.connectors.get(stored.provider)?.auth.clone();
        let lease = self.tokens.lease(account, id, stored.generation, LEASE_SECONDS).await?.ok_or(AccessError::Busy)?;
        let answer = timeout(ANSWER_WITHIN, auth.refresh(&stored.shop_id, refresh, self.now())).await;
        let late = || RefreshError::Unavailable(ShopError::Unavailable("no answer in time".to_owned()));
        match answer.unwrap_or_else(|_| Err(late())) {
            Ok(renewed) => self.keep(lease, stored, &renewed).await,
            Err(RefreshError::Refused) => {
                self.refused(account, id, stored).await?;
                Err(AccessError::Ended)
            }
            Err(RefreshError::Unavailable(error)) => {
                count_failure(stored, "unavailable");
                tracing::warn!(%error, "a token could not be renewed; it will be tried again");
                self.tokens.release(lease).await?;
                Err(error.into())
            }
        }
    }

    async fn keep(&self, lease: RefreshLease, stored: &StoredTokens, tokens: &Tokens) -> Result<Held, AccessError> {
        let sealed = seal(&*self.sealer, lease.account, lease.integration, tokens)?;
        let mut pauses = PAUSES.into_iter();
        loop {
            match self.tokens.renew(lease, sealed.clone(), tokens.scopes.clone()).await {
                Ok(true) => break,
                Ok(false) => return Err(AccessError::Busy),
                Err(error) => match pauses.next() {
                    Some(pause) => {
                        outage::warn(&error, "new tokens could not be stored; trying again");
                        sleep(pause).await;
                    }
                    None => {
                        count_failure(stored, "not_stored");
                        return Err(error.into());
                    }
                },
            }
        }
        let renewed =
            StoredTokens { generation: stored.generation + 1, scopes: tokens.scopes.clone(), ..stored.clone() };
        Ok(held(&renewed, tokens))
    }

    /// The platform took the permission back.
    pub(super) async fn refused(
        &self,
        account: AccountId,
        id: IntegrationId,
        stored: &StoredTokens,
    ) -> Result<(), StoreError> {
        count_failure(stored, "refused");
        self.end(account, id, RevokeReason::TokenExpired, Some(stored.generation)).await
    }

    /// Ends a connection here: the tokens are forgotten, receivers are told.
    pub(super) async fn end(
        &self,
        account: AccountId,
        id: IntegrationId,
        reason: RevokeReason,
        generation: Option<i64>,
    ) -> Result<(), StoreError> {
        let ended =
            self.connections.revoke(account, id, Revocation { reason, generation, now: self.now() }, None).await?;
        tracing::info!(integration = id.0, %reason, ?ended, "a connection to a shop ended");
        Ok(())
    }
}

fn held(stored: &StoredTokens, tokens: &Tokens) -> Held {
    let StoredTokens { shop_id, shop, generation, .. } = stored;
    let access = Access {
        shop_id: shop_id.clone(),
        shop: shop.clone(),
        token: tokens.access.clone(),
        scopes: tokens.scopes.clone(),
    };
    Held { access, generation: *generation, expires_at: tokens.access_expires_at }
}

fn count_failure(stored: &StoredTokens, reason: &'static str) {
    let provider = stored.provider.as_str();
    metrics::counter!("shop_token_refresh_failures_total", "provider" => provider, "reason" => reason).increment(1);
}
