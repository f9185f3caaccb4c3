//! Authorizations that were begun and not completed: what the `state` of OAuth (RFC 6749, section 10.12) is bound to.

use async_trait::async_trait;
use ring::digest::{SHA256, digest};
use time::{Duration, OffsetDateTime};

use super::Secret;
use crate::{AccountId, SessionId, StoreError, UserId, accounts::Platform, sealing::Binding, social::Channel};

/// How long a state is good.
pub const STATE_LIFETIME: Duration = Duration::minutes(10);
/// Authorizations that an account may have under way; the oldest give way to new ones.
pub const MAX_PENDING: i64 = 10;

/// The SHA-256 digest of a state. The state itself is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateHash(pub [u8; 32]);

impl StateHash {
    pub fn of(state: &Secret) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, state.expose().as_bytes()).as_ref());
        Self(hash)
    }

    /// The number of the authorization, which is the beginning of the digest: what its sealed verifier is bound to.
    pub fn row(&self) -> i64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        i64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

/// What the sealed code verifier of an authorization is bound to, by [`StateHash::row`].
#[must_use]
pub const fn verifier_binding(account: AccountId, row: i64) -> Binding {
    Binding { purpose: "oauth_verifier", account, row }
}

/// What the sealed address of an authorization is bound to, by [`StateHash::row`]: it holds the state.
#[must_use]
pub const fn url_binding(account: AccountId, row: i64) -> Binding {
    Binding { purpose: "oauth_url", account, row }
}

/// Who begins an authorization, and alone completes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initiator {
    pub user: UserId,
    /// The session of the dashboard; `None` for one that is begun by a key or on the command line.
    pub session: Option<SessionId>,
}

/// An authorization that was begun. Nobody but its initiator completes it, and only for its provider and shop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingAuthorization {
    pub by: Initiator,
    pub provider: Platform,
    /// Where it is not for a shop or an ad account, but for a profile: the profile's channel.
    pub channel: Option<Channel>,
    /// The shop that is to be connected, where the platform was told it; the number of the profile, where it was named.
    pub shop: Option<String>,
    pub redirect_uri: String,
    /// The code verifier of PKCE, bound by [`verifier_binding`].
    pub sealed_verifier: Vec<u8>,
    pub expires_at: OffsetDateTime,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait AuthorizationStore: Send + Sync {
    /// Keeps an authorization under its state. The account's expired ones go, and the oldest beyond [`MAX_PENDING`].
    async fn begin(
        &self,
        account: AccountId,
        state: StateHash,
        authorization: PendingAuthorization,
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Takes the authorization away: of two callbacks with the same state one gets it. `None` when there is none, or it has
    /// expired, is another initiator's or provider's, or is for a profile.
    async fn take(
        &self,
        account: AccountId,
        by: &Initiator,
        provider: Platform,
        state: StateHash,
        now: OffsetDateTime,
    ) -> Result<Option<PendingAuthorization>, StoreError>;
    /// Likewise for a profile, whose channel the authorization says.
    async fn take_profile(
        &self,
        account: AccountId,
        by: &Initiator,
        state: StateHash,
        now: OffsetDateTime,
    ) -> Result<Option<PendingAuthorization>, StoreError>;
    /// Removes expired ones of all accounts; returns how many.
    async fn prune(&self, now: OffsetDateTime) -> Result<u64, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verifier_opens_for_no_other_state() {
        let state = |text: &str| StateHash::of(&Secret::new(text.into()));
        // SHA-256 of "abc", from FIPS 180-2, appendix B.1, begins with ba7816bf 8f01cfea.
        assert_eq!(state("abc").row().to_be_bytes(), [0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea]);
        assert_ne!(state("abc").row(), state("abd").row());
    }
}
