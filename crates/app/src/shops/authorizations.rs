//! Authorizations: begun by a user of an account, and completed by that user alone, in the same session of the dashboard if
//! it was begun in one: otherwise an attacker could send an owner a link whose end is a connection of the owner's shop to the
//! attacker's account (login CSRF, RFC 6749, section 10.12).

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    AccountId, StoreError,
    accounts::{Account, Platform},
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    imports::CountryCode,
    sealing::SealError,
    shops::{
        Authorization, AuthorizeError, Callback, Secret,
        authorizations::{Initiator, PendingAuthorization, STATE_LIFETIME, StateHash, url_binding, verifier_binding},
    },
    social::Channel,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use time::OffsetDateTime;
use url::form_urlencoded;

use super::{NotConfigured, Ports};

/// Bytes of a callback's query.
const MAX_QUERY: usize = 8_192;

/// For whom a shop, an ad account or a profile is connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    pub account: AccountId,
    pub by: Initiator,
}

/// Random bytes of a new authorization.
pub struct Randomness {
    pub state: [u8; 32],
    /// Of the code verifier of PKCE.
    pub verifier: [u8; 32],
}

/// An authorization that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// Where the owner grants access.
    pub url: String,
    pub state_expires_at: OffsetDateTime,
}

/// An authorization that was begun under an idempotency key, as it is kept: its address, sealed, and what that is bound to.
#[derive(Serialize, Deserialize)]
struct KeptBegun {
    row: i64,
    sealed_url: Vec<u8>,
    #[serde(with = "time::serde::timestamp::nanoseconds")]
    state_expires_at: OffsetDateTime,
}

/// Why an authorization was not begun.
#[derive(Debug, thiserror::Error)]
pub enum AuthorizeFailure {
    #[error(transparent)]
    NotConfigured(#[from] NotConfigured),
    #[error(transparent)]
    Refused(#[from] AuthorizeError),
    /// The shop that is named could not be connected.
    #[error("the account is connected to another shop of this platform")]
    AlreadyConnected,
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Randomness {
    /// An authorization of these bytes.
    pub(crate) fn authorization(
        self,
        redirect_uri: String,
        shop: Option<String>,
        country: Option<CountryCode>,
    ) -> Authorization {
        Authorization {
            state: Secret::new(URL_SAFE_NO_PAD.encode(self.state)),
            redirect_uri,
            shop,
            verifier: Secret::new(URL_SAFE_NO_PAD.encode(self.verifier)),
            country,
        }
    }
}

impl Ports {
    /// Keeps an authorization that is about to begin, for a shop or for a profile of a channel.
    pub(crate) async fn begin(
        &self,
        owner: &Owner,
        provider: Platform,
        channel: Option<Channel>,
        authorization: Authorization,
        url: String,
    ) -> Result<(Begun, StateHash), AuthorizeFailure> {
        let now = self.now();
        let hash = StateHash::of(&authorization.state);
        let binding = verifier_binding(owner.account, hash.row());
        let state_expires_at = now + STATE_LIFETIME;
        let pending = PendingAuthorization {
            by: owner.by.clone(),
            provider,
            channel,
            shop: authorization.shop,
            redirect_uri: authorization.redirect_uri,
            sealed_verifier: self.sealer.seal(binding, authorization.verifier.expose().as_bytes())?,
            expires_at: state_expires_at,
        };
        self.authorizations.begin(owner.account, hash, pending, now).await?;
        Ok((Begun { url, state_expires_at }, hash))
    }

    /// Begins what `work` begins; under a key once.
    pub(crate) async fn begun_once(
        &self,
        account: AccountId,
        key: Option<IdempotencyKey>,
        work: impl Future<Output = Result<(Begun, StateHash), AuthorizeFailure>>,
    ) -> Result<Idempotent<Begun>, AuthorizeFailure> {
        let Some(key) = key else {
            let (begun, _) = work.await?;
            return Ok(Idempotent { value: begun, replayed: false });
        };
        if let Some(answer) = self.answers.claim(account, &key, self.now()).await? {
            let kept = serde_json::from_value(answer).map_err(|_| IdempotencyError::Superseded)?;
            return Ok(Idempotent { value: self.again(account, kept)?, replayed: true });
        }
        match work.await {
            Ok((value, hash)) => {
                let answer = self.kept(account, &value, hash)?;
                self.answers.answered(account, &key, answer, self.now()).await?;
                Ok(Idempotent { value, replayed: false })
            }
            Err(refused) => {
                self.answers.failed(account, &key).await?;
                Err(refused)
            }
        }
    }

    /// Completes what `work` completes, which records its answer itself; under a key once.
    pub(crate) async fn completed_once<T: DeserializeOwned, E: From<IdempotencyError> + From<StoreError>>(
        &self,
        account: AccountId,
        key: Option<&IdempotencyKey>,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<Idempotent<T>, E> {
        if let Some(key) = key
            && let Some(answer) = self.answers.claim(account, key, self.now()).await?
        {
            let value = serde_json::from_value(answer).map_err(|_| IdempotencyError::Superseded)?;
            return Ok(Idempotent { value, replayed: true });
        }
        let made = work.await;
        if let (Err(_), Some(key)) = (&made, key) {
            self.answers.failed(account, key).await?;
        }
        Ok(Idempotent { value: made?, replayed: false })
    }

    fn kept(&self, account: AccountId, begun: &Begun, hash: StateHash) -> Result<serde_json::Value, AuthorizeFailure> {
        let row = hash.row();
        let sealed_url = self.sealer.seal(url_binding(account, row), begun.url.as_bytes())?;
        let kept = KeptBegun { row, sealed_url, state_expires_at: begun.state_expires_at };
        Ok(serde_json::to_value(kept).map_err(|error| StoreError::Internal(error.into()))?)
    }

    fn again(&self, account: AccountId, kept: KeptBegun) -> Result<Begun, AuthorizeFailure> {
        let KeptBegun { row, sealed_url, state_expires_at } = kept;
        let url = self.sealer.open(url_binding(account, row), &sealed_url)?;
        Ok(Begun { url: String::from_utf8(url).map_err(|_| SealError::Forged)?, state_expires_at })
    }

    /// The authorization as it was begun.
    pub(crate) fn begun_before(
        &self,
        account: AccountId,
        state: Secret,
        pending: PendingAuthorization,
        country: Option<CountryCode>,
    ) -> Result<Authorization, SealError> {
        let binding = verifier_binding(account, StateHash::of(&state).row());
        let verifier = self.sealer.open(binding, &pending.sealed_verifier)?;
        let verifier = Secret::new(String::from_utf8(verifier).map_err(|_| SealError::Forged)?);
        Ok(Authorization { state, redirect_uri: pending.redirect_uri, shop: pending.shop, verifier, country })
    }

    pub(crate) async fn account(&self, id: AccountId) -> Result<Account, StoreError> {
        let found = self.accounts.find(id).await?;
        found.ok_or_else(|| StoreError::Internal("there is no such account".into()))
    }
}

/// The state of a callback, and what it is kept under.
pub(crate) fn state_of(callback: &Callback) -> Option<(Secret, StateHash)> {
    let state = Secret::new(callback.one("state")?.to_owned());
    let hash = StateHash::of(&state);
    Some((state, hash))
}

/// A callback's query, decoded. One that is longer than any platform's is none.
pub(crate) fn callback(query: &str) -> Callback {
    let query = query.strip_prefix('?').unwrap_or(query);
    if query.len() > MAX_QUERY {
        return Callback(Vec::new());
    }
    let pairs = form_urlencoded::parse(query.as_bytes());
    Callback(pairs.map(|(name, value)| (name.into_owned(), Secret::new(value.into_owned()))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded_in_its_order_and_a_long_one_is_none() {
        let read = callback("?code=a%2Bb+c&state=s&code=2");
        let names: Vec<_> = read.0.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
        assert_eq!(names, [("code", "a+b c"), ("state", "s"), ("code", "2")]);
        assert_eq!(callback(&"a".repeat(MAX_QUERY + 1)), Callback(Vec::new()));
    }
}
