//! Who calls: the API key in the header `Authorization` and what it opens, or a member who is logged in to the dashboard.

use std::{
    future::{Ready, ready},
    net::IpAddr,
    rc::Rc,
};

use actix_web::{
    FromRequest, HttpMessage, HttpRequest,
    dev::Payload,
    http::header::{self, HeaderMap},
};
use domain::{
    AccountId, UserId,
    accounts::Mode,
    keys::{ApiKey, InvalidKey, KeyHash, KeyRecord, KeyRefused, KeyStore},
    money::Currency,
    sessions::Session,
    texts::Locale,
    zone::Zone,
};
use time::OffsetDateTime;

use crate::error::{ApiError, Code};

/// Whose figures are asked for. A handler that takes it is only reached with one.
#[derive(Debug, Clone)]
pub enum Caller {
    /// The holder of a valid key.
    Key(Rc<KeyRecord>),
    /// A member who looks at the account in the dashboard: reads what its panels name.
    Member(Rc<Session>),
}

impl Caller {
    /// # Errors
    /// [`Code::MissingAuthorization`] for who has none.
    pub fn key(&self) -> Result<&KeyRecord, ApiError> {
        match self {
            Self::Key(key) => Ok(key),
            Self::Member(_) => Err(ApiError::new(Code::MissingAuthorization)),
        }
    }

    pub fn account(&self) -> AccountId {
        match self {
            Self::Key(key) => key.account_id,
            Self::Member(session) => session.account.id,
        }
    }

    /// Whose account it is.
    pub fn user(&self) -> &UserId {
        match self {
            Self::Key(key) => &key.user_id,
            Self::Member(session) => &session.account.user_id,
        }
    }

    pub fn mode(&self) -> Mode {
        match self {
            Self::Key(key) => key.mode,
            Self::Member(session) => session.account.mode,
        }
    }

    pub fn currency(&self) -> Currency {
        match self {
            Self::Key(key) => key.profile.currency,
            Self::Member(session) => session.account.currency,
        }
    }

    /// Of texts, where the request does not ask for another.
    pub fn locale(&self) -> Locale {
        match self {
            Self::Key(key) => key.profile.locale,
            Self::Member(session) => session.account.locale,
        }
    }

    pub fn zone(&self) -> &Zone {
        match self {
            Self::Key(key) => &key.profile.timezone,
            Self::Member(session) => &session.account.timezone,
        }
    }
}

impl FromRequest for Caller {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        // Without a caller the edge let no one in: a keyed handler that is reached otherwise must not answer.
        ready(request.extensions().get::<Self>().cloned().ok_or(ApiError::new(Code::MissingAuthorization)))
    }
}

/// Where the request came from, as far as can be known.
#[derive(Debug, Clone, Copy)]
pub struct ClientAddress(pub IpAddr);

impl FromRequest for ClientAddress {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(request.extensions().get::<Self>().copied().ok_or(ApiError::new(Code::InternalError)))
    }
}

/// The key that the headers hold.
pub fn token(headers: &HeaderMap) -> Result<ApiKey, ApiError> {
    let mut values = headers.get_all(header::AUTHORIZATION);
    let Some(value) = values.next() else { return Err(ApiError::new(Code::MissingAuthorization)) };
    let malformed = ApiError::new(Code::InvalidTokenFormat);
    if values.next().is_some() {
        // A proxy and this service might each believe another one.
        return Err(malformed.message("Send one Authorization header."));
    }
    let Some((scheme, token)) = value.to_str().ok().and_then(|text| text.split_once(' ')) else {
        return Err(malformed);
    };
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(malformed.message("The scheme must be Bearer."));
    }
    token.trim_matches(' ').parse().map_err(|invalid| match invalid {
        InvalidKey::Prefix => malformed,
        InvalidKey::Checksum => ApiError::new(Code::KeyNotFound),
    })
}

/// The stored key of that hash, if it is valid at `now`.
pub async fn authenticate(hash: KeyHash, keys: &dyn KeyStore, now: OffsetDateTime) -> Result<KeyRecord, ApiError> {
    let record = keys.find(hash).await?.ok_or(ApiError::new(Code::KeyNotFound))?;
    record.check(now).map_err(|refused| match refused {
        KeyRefused::Revoked => ApiError::new(Code::KeyRevoked),
        KeyRefused::Expired => ApiError::new(Code::KeyExpired),
    })?;
    keys.note_use(hash, now);
    Ok(record)
}
