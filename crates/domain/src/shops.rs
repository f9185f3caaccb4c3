//! Shops on other people's platforms: what a connector does, and in which terms.
//!
//! A connector translates between a platform's API and these types; it stores nothing and decides nothing about an
//! account. `app` keeps the cursors, leases and tokens, and gives what was read to the same import that a file takes.

pub mod authorizations;
pub mod connections;
pub mod hooks;
pub mod inbox;
pub mod known_orders;
pub mod privacy;
mod reader;
pub mod sync;
pub mod tokens;

#[cfg(feature = "mock")]
pub use reader::MockShopReader;
pub use reader::{
    AdSpend, AdTiming, Calls, OrderBatch, Product, ProductBatch, Purpose, Refund, Refused, ShopOrder, ShopReader,
    ShopStream, Stock, Timing, Voided, Window,
};

use std::fmt;

use async_trait::async_trait;
use time::{Duration, OffsetDateTime};

use crate::{accounts::Platform, imports::CountryCode, money::Currency, zone::Zone};

/// A text that no log, error or debug output shows: a token, a code, a verifier.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself, to send or to seal it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What the platform gave to act for a shop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    pub access: Secret,
    /// `None`: it does not expire.
    pub access_expires_at: Option<OffsetDateTime>,
    /// `None`: the access token cannot be renewed, and need not be.
    pub refresh: Option<Secret>,
    pub refresh_expires_at: Option<OffsetDateTime>,
    /// What was granted, which may be less than was asked for.
    pub scopes: Vec<String>,
}

impl Tokens {
    /// Whether the access token is to be renewed at `now`: 80 % of its life of `lifetime` are over.
    pub fn is_due(&self, lifetime: Duration, now: OffsetDateTime) -> bool {
        self.refresh.is_some() && self.access_expires_at.is_some_and(|ends| ends - now <= lifetime / 5)
    }
}

/// A shop, and the right to act for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The platform's number of the shop or seller; for Shopify the host name, which is how its API is addressed.
    pub shop_id: String,
    /// Host name of the shop.
    pub shop: String,
    pub token: Secret,
    /// Scopes granted with the token.
    pub scopes: Vec<String>,
}

/// What the authorization that is about to begin is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorization {
    /// Random, single use; comes back with the callback.
    pub state: Secret,
    /// Where the platform sends the owner back to.
    pub redirect_uri: String,
    /// The shop that is to be connected, where the platform has to know it before (Shopify's host name).
    pub shop: Option<String>,
    /// The code verifier of PKCE (RFC 7636), 43 characters; its S256 challenge is sent where the platform takes one.
    pub verifier: Secret,
    /// The country of the account: Mercado Libre and Tiendanube have an address per country.
    pub country: Option<CountryCode>,
}

/// Why an authorization cannot begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthorizeError {
    /// The platform needs the shop's name first.
    #[error("the shop's host name is needed, such as example.myshopify.com")]
    ShopRequired,
    /// No host name of a shop on this platform.
    #[error("no shop of this platform has that name")]
    InvalidShop,
    /// The platform has no site in the country.
    #[error("the platform has no site in that country")]
    UnsupportedCountry,
}

/// The query that the platform sent the owner back with, decoded, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback(pub Vec<(String, Secret)>);

impl Callback {
    /// The value of a key that is there exactly once: parsers differ in what they take of a repeated one.
    pub fn one(&self, key: &str) -> Option<&str> {
        let mut values = self.0.iter().filter(|(name, _)| name == key);
        match (values.next(), values.next()) {
            (Some((_, value)), None) => Some(value.expose()),
            _ => None,
        }
    }

    /// The code that the owner's consent is exchanged with (RFC 6749, 4.1.2): visible ASCII, at most `max` characters.
    ///
    /// # Errors
    /// [`CompleteError::Denied`] when the owner did not agree, [`CompleteError::Malformed`] when there is no such code.
    pub fn code(&self, max: usize) -> Result<&str, CompleteError> {
        if self.one("error").is_some() {
            return Err(CompleteError::Denied("the owner did not agree".to_owned()));
        }
        let is_code = |code: &&str| (1..=max).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_graphic());
        self.one("code").filter(is_code).ok_or(CompleteError::Malformed("code"))
    }
}

/// What a callback was exchanged for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub shop_id: String,
    pub tokens: Tokens,
}

/// Why a callback brings no connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompleteError {
    /// The owner refused, or the platform did.
    #[error("the platform refused: {0}")]
    Denied(String),
    /// The owner reaches these, and has not said which is meant.
    #[error("the platform refused: who agreed reaches several ad accounts; name one as `shop`: {}", .0.join(", "))]
    SeveralAccounts(Vec<String>),
    /// A parameter is missing, repeated or malformed; its name.
    #[error("the parameter `{0}` of the callback is missing, repeated or malformed")]
    Malformed(&'static str),
    /// The signature is wrong, or too old.
    #[error("the callback is not signed by the platform")]
    Forged,
    /// The callback is of another shop than the one that the authorization was begun for.
    #[error("the callback is of another shop")]
    OtherShop,
    #[error(transparent)]
    Shop(#[from] ShopError),
}

impl CompleteError {
    /// Whether the platform did not do its part, so that it is worth to begin again.
    pub const fn is_trouble_there(&self) -> bool {
        matches!(self, Self::Shop(ShopError::Throttled(_) | ShopError::Unavailable(_) | ShopError::Malformed(_)))
    }
}

/// Why a call to a platform failed. Texts hold no token, address or e-mail.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShopError {
    /// The token is not (or no longer) accepted. Renewing it may help once.
    #[error("the platform no longer accepts the token")]
    Unauthorized,
    /// The shop or the app's subscription there is suspended; the token stays good.
    #[error("the shop is suspended by the platform")]
    Suspended,
    /// The token lacks a permission; the platform's name of it.
    #[error("the permission `{0}` is missing")]
    MissingScope(String),
    /// Too many calls; not before the given instant.
    #[error("the platform asks for a pause until {0}")]
    Throttled(OffsetDateTime),
    /// What was asked for is not there (yet).
    #[error("the platform does not know what was asked for")]
    NotFound,
    /// More records than the platform gives for one query: ask for a shorter window.
    #[error("the window holds more than the platform gives at once")]
    TooMany,
    /// The platform refuses the request as such; asking again will not help.
    #[error("the platform refuses the request: {0}")]
    Rejected(String),
    /// No answer, or one that says that the platform has trouble.
    #[error("the platform cannot be reached: {0}")]
    Unavailable(String),
    /// An answer that cannot be understood; the field.
    #[error("the platform's answer cannot be read: {0}")]
    Malformed(String),
}

/// Why a token could not be renewed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefreshError {
    /// The platform refuses the refresh token for good: the owner has to connect again.
    #[error("the platform refuses the refresh token")]
    Refused,
    /// Nothing was decided: to be tried again with the same refresh token.
    #[error(transparent)]
    Unavailable(ShopError),
}

/// A shop, or an ad account, as its platform describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShopInfo {
    pub shop_id: String,
    /// Host name of the shop, or the platform's name of the ad account; the same for ever, as orders are kept under it.
    pub shop: String,
    pub currency: Currency,
    /// The clock of its days.
    pub timezone: Option<Zone>,
    pub country: Option<CountryCode>,
    /// Orders before this cannot be read.
    pub history_from: Option<OffsetDateTime>,
    /// Whether the platform shows who the buyers are. `None`: that could not be asked, and what is known stays.
    pub shows_buyers: Option<bool>,
    /// Permissions that the app needs and were not granted.
    pub missing_scopes: Vec<String>,
}

/// An app as it is registered with a platform: gets, renews and gives back the right to act for a shop.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ShopAuth: Send + Sync {
    /// Which platform it is.
    fn platform(&self) -> Platform;

    /// The shop's name in its one form, where the platform has to be told it before.
    ///
    /// # Errors
    /// [`AuthorizeError`].
    #[expect(clippy::needless_lifetimes, reason = "the mock needs the lifetime's name")]
    fn shop_name<'a>(&self, given: Option<&'a str>) -> Result<Option<String>, AuthorizeError>;

    /// Where the owner is sent to grant access.
    ///
    /// # Errors
    /// [`AuthorizeError`].
    fn authorize_url(&self, authorization: &Authorization) -> Result<String, AuthorizeError>;

    /// Checks a callback and exchanges its code. The caller has checked that the state is the authorization's.
    ///
    /// # Errors
    /// [`CompleteError`].
    async fn complete(
        &self,
        callback: &Callback,
        authorization: &Authorization,
        now: OffsetDateTime,
    ) -> Result<Grant, CompleteError>;

    /// Exchanges a refresh token for new tokens, after which the old ones are not to be used.
    ///
    /// # Errors
    /// [`RefreshError`].
    async fn refresh(&self, shop_id: &str, refresh: &Secret, now: OffsetDateTime) -> Result<Tokens, RefreshError>;

    /// Gives the access back, where the platform has a call for it. A token that is dead already counts as given back.
    ///
    /// # Errors
    /// [`ShopError`].
    async fn revoke(&self, access: &Access) -> Result<(), ShopError>;
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", Secret::new("shpat_1".into())), "Secret(…)");
    }

    #[test]
    fn a_repeated_parameter_counts_as_missing() {
        let value = |text: &str| Secret::new(text.into());
        let callback =
            Callback(vec![("code".into(), value("1")), ("shop".into(), value("a")), ("shop".into(), value("b"))]);
        assert_eq!(callback.one("code"), Some("1"));
        assert_eq!(callback.one("shop"), None);
        assert_eq!(callback.one("state"), None);
    }

    #[test]
    fn a_token_is_renewed_after_80_percent_of_its_life() {
        let tokens = Tokens {
            access: Secret::new("a".into()),
            access_expires_at: Some(datetime!(2026-11-24 13:00 UTC)),
            refresh: Some(Secret::new("r".into())),
            refresh_expires_at: None,
            scopes: vec![],
        };
        let due = |at| tokens.is_due(Duration::HOUR, at);
        assert!(!due(datetime!(2026-11-24 12:47:59 UTC)));
        assert!(due(datetime!(2026-11-24 12:48 UTC)));
        assert!(due(datetime!(2026-11-24 14:00 UTC)));
        let lasting = Tokens { refresh: None, ..tokens.clone() };
        assert!(!lasting.is_due(Duration::HOUR, datetime!(2026-11-24 14:00 UTC)));
    }
}
