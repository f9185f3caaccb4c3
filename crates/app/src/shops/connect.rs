//! Connecting a shop, and disconnecting it.

use std::time::Duration;

use domain::{
    AccountId, IntegrationId, StoreError,
    accounts::{Account, Platform},
    audit::Entry,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    imports::CountryCode,
    integrations::{BuyerData, Integration, RevokeReason},
    sealing::SealError,
    shops::{
        Access, Authorization, Callback, CompleteError, Grant, ShopAuth, ShopError, ShopInfo,
        authorizations::StateHash,
        connections::{ConnectError, Description, NewConnection, Revocation, Revoked},
    },
};
use tokio::time::timeout;
use tracing::{Instrument, Span};

pub use super::authorizations::{AuthorizeFailure, Begun, Owner, Randomness};
use super::{
    Connector, NotConfigured, Ports,
    authorizations::{callback, state_of},
    tokens,
};

/// How long the platform has to take the permission back.
const REVOKED_WITHIN: Duration = Duration::from_secs(10);

/// Connects shops for the owners of accounts.
#[derive(Clone)]
pub struct ConnectService {
    pub ports: Ports,
    /// Where platforms send owners back to, as it is registered with each app.
    pub redirect_uri: String,
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
    /// No platform is behind the connection: it is one of the demo shop.
    Demo,
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
        self.ports.begun_once(owner.account, key, self.begun(owner, provider, shop, random)).await
    }

    async fn begun(
        &self,
        owner: &Owner,
        provider: Platform,
        shop: Option<&str>,
        random: Randomness,
    ) -> Result<(Begun, StateHash), AuthorizeFailure> {
        let account = self.ports.account(owner.account).await?;
        let auth = &self.ports.connectors.for_mode(provider, account.mode)?.auth;
        let (redirect_uri, shop) = (self.redirect_uri.clone(), auth.shop_name(shop)?);
        if self.has_another(owner.account, &**auth, shop.as_deref()).await? {
            return Err(AuthorizeFailure::AlreadyConnected);
        }
        let authorization = random.authorization(redirect_uri, shop, country(&account));
        let url = auth.authorize_url(&authorization)?;
        self.ports.begin(owner, provider, None, authorization, url).await
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
        let span = tracing::error_span!("connect_shop", account_id = owner.account.0, %provider);
        let work = self.completed(owner, provider, query, key.clone(), note).instrument(span);
        self.ports.completed_once(owner.account, key.as_ref(), work).await
    }

    async fn completed(
        &self,
        owner: &Owner,
        provider: Platform,
        query: &str,
        key: Option<IdempotencyKey>,
        note: Option<Entry>,
    ) -> Result<Integration, CompleteFailure> {
        let account = self.ports.account(owner.account).await?;
        let connector = self.ports.connectors.for_mode(provider, account.mode)?;
        let callback = callback(query);
        let authorization = self.taken(owner, provider, &callback, country(&account)).await?;
        // Before the code is exchanged: a token that nobody keeps would stay at the platform.
        if self.has_another(owner.account, &*connector.auth, authorization.shop.as_deref()).await? {
            return Err(ConnectError::AlreadyConnected.into());
        }
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

    /// Whether the account is connected to another shop of a platform than the one that is named.
    async fn has_another(
        &self,
        account: AccountId,
        auth: &dyn ShopAuth,
        named: Option<&str>,
    ) -> Result<bool, StoreError> {
        if named.is_none() {
            return Ok(false);
        }
        let known = self.ports.all_of(account).await?;
        let mut known = known.iter().filter(|known| known.provider == auth.platform() && known.revoked_at.is_none());
        Ok(known.any(|known| auth.shop_name(Some(known.shop.as_str())).ok().flatten().as_deref() != named))
    }

    /// The authorization of the callback's state, which is used up.
    async fn taken(
        &self,
        owner: &Owner,
        provider: Platform,
        callback: &Callback,
        country: Option<CountryCode>,
    ) -> Result<Authorization, CompleteFailure> {
        let (state, hash) = state_of(callback).ok_or(CompleteFailure::InvalidState)?;
        let now = self.ports.now();
        let pending = self.ports.authorizations.take(owner.account, &owner.by, provider, hash, now).await?;
        let pending = pending.ok_or(CompleteFailure::InvalidState)?;
        Ok(self.ports.begun_before(owner.account, state, pending, country)?)
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

    /// Asks for a connection to be read now; under a key once.
    ///
    /// # Errors
    /// [`IdempotencyError`].
    pub async fn sync(
        &self,
        account: AccountId,
        id: IntegrationId,
        key: Option<IdempotencyKey>,
        note: Option<Entry>,
    ) -> Result<Idempotent<Asked>, IdempotencyError> {
        let asked = self.ports.syncs.ask(account, id, key, note, self.ports.now()).await?;
        let value = if asked.value {
            Asked::Due
        } else {
            match self.ports.integrations.find(account, id).await? {
                Some(Integration { revoked_at: None, .. }) => Asked::Demo,
                Some(_) => Asked::Ended,
                None => Asked::Unknown,
            }
        };
        Ok(Idempotent { value, replayed: asked.replayed })
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
        buyer_data: if info.shows_buyers == Some(false) { BuyerData::Withheld } else { BuyerData::Full },
    }
}

/// The country whose site of a platform the owner knows.
fn country(account: &Account) -> Option<CountryCode> {
    account.holiday_country.or(account.locale.region)
}
