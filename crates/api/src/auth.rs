//! Who calls: the API key in the header `Authorization`, and what it opens.

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
    AccountId,
    keys::{ApiKey, InvalidKey, KeyHash, KeyRecord, KeyRefused, KeyStore},
    money::Currency,
    texts::Locale,
    zone::Zone,
};
use time::OffsetDateTime;

use crate::error::{ApiError, Code};

/// The holder of a valid key. A handler that takes it is only reached with one.
#[derive(Debug, Clone)]
pub struct Caller(Rc<KeyRecord>);

impl Caller {
    pub const fn new(key: Rc<KeyRecord>) -> Self {
        Self(key)
    }

    pub fn key(&self) -> &KeyRecord {
        &self.0
    }

    pub fn account(&self) -> AccountId {
        self.0.account_id
    }

    pub fn currency(&self) -> Currency {
        self.0.profile.currency
    }

    /// Of texts, where the request does not ask for another.
    pub fn locale(&self) -> Locale {
        self.0.profile.locale
    }

    pub fn zone(&self) -> &Zone {
        &self.0.profile.timezone
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
