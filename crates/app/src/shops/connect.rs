//! Connecting a shop, and disconnecting it.
//!
//! An authorization is begun by a user of an account, and only that user completes it, in the same session of the dashboard
//! if it was begun in one: otherwise an attacker could send an owner a link whose end is a connection of the owner's shop to
//! the attacker's account (login CSRF, RFC 6749, section 10.12).

use std::time::Duration;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    AccountId, IntegrationId, StoreError,
    accounts::{Account, Platform},
    audit::Entry,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    imports::CountryCode,
    integrations::{BuyerData, Integration, RevokeReason},
    sealing::SealError,
    shops::{
        Access, Authorization, AuthorizeError, Callback, CompleteError, Grant, Secret, ShopError, ShopInfo,
        authorizations::{Initiator, PendingAuthorization, STATE_LIFETIME, StateHash, url_binding, verifier_binding},
        connections::{ConnectError, Description, NewConnection, Revocation, Revoked},
    },
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tokio::time::timeout;
use tracing::{Instrument, Span};
use url::form_urlencoded;

use super::{Connector, NotConfigured, Ports, tokens};

/// Bytes of a callback's query.
pub const MAX_QUERY: usize = 8_192;
/// How long the platform has to take the permission back.
const REVOKED_WITHIN: Duration = Duration::from_secs(10);

/// Connects shops for the owners of accounts.
#[derive(Clone)]
pub struct ConnectService {
    pub ports: Ports,
    /// Where platforms send owners back to, as it is registered with each app.
    pub redirect_uri: String,
}

/// For whom a shop is connected.
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
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why no connection was made.
#[derive(Debug, thiserror::Error)]
pub enum CompleteFailure {
    #[error(transparent)]
    NotConfigured(#[from] NotConfigured),
    /// The state is unknown, used, expired, or of another initiator, account or provider.
    #[error("the authorization is unknown, used, expired or somebody else's")]
    InvalidState,
    #[error(transparent)]
    Platform(#[from] CompleteError),
    /// The shop's currency is not the account's.
    #[error("the shop's currency is {shop}, the account's is {account}")]
    CurrencyMismatch { shop: domain::money::Currency, account: domain::money::Currency },
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Seal(#[from] SealError),
}

impl From<StoreError> for CompleteFailure {
    fn from(error: StoreError) -> Self {
        Self::Connect(error.into())
    }
}

impl From<ShopError> for CompleteFailure {
    fn from(error: ShopError) -> Self {
        Self::Platform(error.into())
    }
}

/// Whether a connection is to be read at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// It is due now.
    Due,
    /// The connection has ended.
    Ended,
    /// The account has no such connection.
    Unknown,
}

impl ConnectService {
    /// Begins an authorization for the owner, under a key once.
    ///
    /// # Errors
    /// [`AuthorizeFailure`].
    pub async fn authorize(
        &self,
        owner: &Owner,
        provider: Platform,
        shop: Option<&str>,
        random: Randomness,
        key: Option<IdempotencyKey>,
    ) -> Result<Idempotent<Begun>, AuthorizeFailure> {
        let account = owner.account;
        let Some(key) = key else {
            let (begun, _) = self.begun(owner, provider, shop, random).await?;
            return Ok(Idempotent { value: begun, replayed: false });
        };
        if let Some(answer) = self.ports.answers.claim(account, &key, self.ports.now()).await? {
            let kept = serde_json::from_value(answer).map_err(|_| IdempotencyError::Superseded)?;
            return Ok(Idempotent { value: self.opened(account, kept)?, replayed: true });
        }
        match self.begun(owner, provider, shop, random).await {
            Ok((value, hash)) => {
                let answer = self.kept(account, &value, hash)?;
                self.ports.answers.answered(account, &key, answer, self.ports.now()).await?;
                Ok(Idempotent { value, replayed: false })
            }
            Err(refused) => {
                self.ports.answers.failed(account, &key).await?;
                Err(refused)
            }
        }
    }

    fn kept(&self, account: AccountId, begun: &Begun, hash: StateHash) -> Result<serde_json::Value, AuthorizeFailure> {
        let row = hash.row();
        let sealed_url = self.ports.sealer.seal(url_binding(account, row), begun.url.as_bytes())?;
        let kept = KeptBegun { row, sealed_url, state_expires_at: begun.state_expires_at };
        Ok(serde_json::to_value(kept).map_err(|error| StoreError::Internal(error.into()))?)
    }

    fn opened(&self, account: AccountId, kept: KeptBegun) -> Result<Begun, AuthorizeFailure> {
        let KeptBegun { row, sealed_url, state_expires_at } = kept;
        let url = self.ports.sealer.open(url_binding(account, row), &sealed_url)?;
        Ok(Begun { url: String::from_utf8(url).map_err(|_| SealError::Forged)?, state_expires_at })
    }

    async fn begun(
        &self,
        owner: &Owner,
        provider: Platform,
        shop: Option<&str>,
        random: Randomness,
    ) -> Result<(Begun, StateHash), AuthorizeFailure> {
        let (account, now) = (self.account(owner.account).await?, self.ports.now());
        let auth = &self.ports.connectors.for_mode(provider, account.mode)?.auth;
        let authorization = Authorization {
            state: Secret::new(URL_SAFE_NO_PAD.encode(random.state)),
            redirect_uri: self.redirect_uri.clone(),
            shop: auth.shop_name(shop)?,
            verifier: Secret::new(URL_SAFE_NO_PAD.encode(random.verifier)),
            country: country(&account),
        };
        let url = auth.authorize_url(&authorization)?;
        let hash = StateHash::of(&authorization.state);
        let binding = verifier_binding(owner.account, hash.row());
        let state_expires_at = now + STATE_LIFETIME;
        let pending = PendingAuthorization {
            by: owner.by.clone(),
            provider,
            shop: authorization.shop,
            redirect_uri: authorization.redirect_uri,
            sealed_verifier: self.ports.sealer.seal(binding, authorization.verifier.expose().as_bytes())?,
            expires_at: state_expires_at,
        };
        self.ports.authorizations.begin(owner.account, hash, pending, now).await?;
        Ok((Begun { url, state_expires_at }, hash))
    }

    /// Makes the connection that the query of a callback stands for, if the owner began it; under a key once.
    ///
    /// # Errors
    /// [`CompleteFailure`].
    pub async fn complete(
        &self,
        owner: &Owner,
        provider: Platform,
        query: &str,
        key: Option<IdempotencyKey>,
        note: Option<Entry>,
    ) -> Result<Idempotent<Integration>, CompleteFailure> {
        let answers = &self.ports.answers;
        if let Some(key) = &key
            && let Some(answer) = answers.claim(owner.account, key, self.ports.now()).await?
        {
            let value = serde_json::from_value(answer).map_err(|_| IdempotencyError::Superseded)?;
            return Ok(Idempotent { value, replayed: true });
        }
        let span = tracing::error_span!("connect_shop", account_id = owner.account.0, %provider);
        let made = self.completed(owner, provider, query, key.clone(), note).instrument(span).await;
        if let (Err(_), Some(key)) = (&made, &key) {
            answers.failed(owner.account, key).await?;
        }
        Ok(Idempotent { value: made?, replayed: false })
    }

    async fn completed(
        &self,
        owner: &Owner,
        provider: Platform,
        query: &str,
        key: Option<IdempotencyKey>,
        note: Option<Entry>,
    ) -> Result<Integration, CompleteFailure> {
        let account = self.account(owner.account).await?;
        let connector = self.ports.connectors.for_mode(provider, account.mode)?;
        let callback = callback(query);
        let authorization = self.taken(owner, provider, &callback, country(&account)).await?;
        let grant = connector.auth.complete(&callback, &authorization, self.ports.now()).await?;
        let info = shop(connector, &grant).await?;
        // What is spent on ads is converted; sales are not.
        if provider.is_shop() && info.currency != account.currency {
            return Err(CompleteFailure::CurrencyMismatch { shop: info.currency, account: account.currency });
        }
        let id = self.ports.connections.reserve(owner.account, provider, &info.shop).await?;
        let new = NewConnection {
            id,
            provider,
            shop_id: info.shop_id.clone(),
            shop: info.shop.clone(),
            description: description(&info, grant.tokens.scopes.clone()),
            tokens: tokens::seal(&*self.ports.sealer, owner.account, id, &grant.tokens)?,
            key,
            note,
        };
        let made = self.ports.connections.connect(owner.account, new, self.ports.now()).await?;
        tracing::info!(integration = id.0, "a shop was connected");
        Ok(made)
    }

    /// The authorization of the callback's state, which is used up.
    async fn taken(
        &self,
        owner: &Owner,
        provider: Platform,
        callback: &Callback,
        country: Option<CountryCode>,
    ) -> Result<Authorization, CompleteFailure> {
        let state = callback.one("state").ok_or(CompleteFailure::InvalidState)?;
        let state = Secret::new(state.to_owned());
        let (hash, now) = (StateHash::of(&state), self.ports.now());
        let pending = self.ports.authorizations.take(owner.account, &owner.by, provider, hash, now).await?;
        let pending = pending.ok_or(CompleteFailure::InvalidState)?;
        let verifier = self.ports.sealer.open(verifier_binding(owner.account, hash.row()), &pending.sealed_verifier)?;
        let verifier = String::from_utf8(verifier).map_err(|_| SealError::Forged)?;
        Ok(Authorization {
            state,
            redirect_uri: pending.redirect_uri,
            shop: pending.shop,
            verifier: Secret::new(verifier),
            country,
        })
    }

    /// Gives the permission back to the platform, as far as that can be done, and forgets it here. False when the account has
    /// no such connection; one that has ended stays as it is.
    ///
    /// # Errors
    /// Trouble with the database; then nothing is forgotten.
    pub async fn disconnect(
        &self,
        account: AccountId,
        id: IntegrationId,
        note: Option<Entry>,
    ) -> Result<bool, StoreError> {
        let Some(integration) = self.ports.integrations.find(account, id).await? else { return Ok(false) };
        if integration.revoked_at.is_none() {
            let given_back = timeout(REVOKED_WITHIN, self.give_back(account, &integration)).await;
            if let Err(reason) = given_back.unwrap_or_else(|_| Err("no answer in time".to_owned())) {
                tracing::warn!(integration = id.0, reason, "the platform did not take a permission back");
            }
        }
        let revocation = Revocation { reason: RevokeReason::Manual, generation: None, now: self.ports.now() };
        Ok(self.ports.connections.revoke(account, id, revocation, note).await? != Revoked::Unknown)
    }

    async fn give_back(&self, account: AccountId, integration: &Integration) -> Result<(), String> {
        let connector = self.ports.connectors.get(integration.provider).map_err(|error| error.to_string())?;
        let held = self.ports.access(account, integration.id).await.map_err(|error| error.to_string())?;
        connector.auth.revoke(&held.access).await.map_err(|error| error.to_string())
    }

    /// Asks for a connection to be read now.
    ///
    /// # Errors
    /// Trouble with the database.
    pub async fn sync(&self, account: AccountId, id: IntegrationId, note: Option<Entry>) -> Result<Asked, StoreError> {
        if self.ports.syncs.hint(account, id, note, self.ports.now()).await? {
            return Ok(Asked::Due);
        }
        let known = self.ports.integrations.find(account, id).await?;
        Ok(if known.is_some() { Asked::Ended } else { Asked::Unknown })
    }

    async fn account(&self, id: AccountId) -> Result<Account, StoreError> {
        let found = self.ports.accounts.find(id).await?;
        found.ok_or_else(|| StoreError::Internal("there is no such account".into()))
    }
}

/// The shop that was granted access to. Its name is not known before.
async fn shop(connector: &Connector, grant: &Grant) -> Result<ShopInfo, ShopError> {
    let access = Access {
        shop_id: grant.shop_id.clone(),
        shop: grant.shop_id.clone(),
        token: grant.tokens.access.clone(),
        scopes: grant.tokens.scopes.clone(),
    };
    Ok(connector.reader.shop(&access).instrument(Span::current()).await?.0)
}

/// What a shop says of itself, as it is kept.
pub(super) fn description(info: &ShopInfo, scopes: Vec<String>) -> Description {
    Description {
        scopes,
        missing_scopes: info.missing_scopes.clone(),
        history_from: info.history_from,
        buyer_data: if info.shows_buyers { BuyerData::Full } else { BuyerData::Withheld },
    }
}

/// The country whose site of a platform the owner knows.
fn country(account: &Account) -> Option<CountryCode> {
    account.holiday_country.or(account.locale.region)
}

/// A callback's query, decoded. One that is longer than any platform's is none.
fn callback(query: &str) -> Callback {
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
