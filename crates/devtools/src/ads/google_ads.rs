//! A fake of the Google Ads API, as strict as the real one, with one person. Beside `/_stub` of all fakes it has:
//!
//! ```text
//! GET  /_stub/ledger   {"currency", "days": {DAY: {"spend", "impressions", "clicks", "purchases", "revenue"}}}: what a
//!                      reader must come to, from what happened and not from what was answered. Purchases are rounded by
//!                      campaign and day, as parts of one are attributed to several ads
//! POST /_stub/act      {"action": "attribute", "of", "day", "purchases", "revenue"}: adds purchases that are attributed late to
//!                      an ad, or to a campaign of which no ads are told
//!                      {"action": "credit", "of", "day", "spend"}: that much of the spend is not charged, as clicks were invalid
//!                      {"action": "rename", "campaign", "name"}, {"action": "remove", "ad"}
//! ```
//!
//! Every third campaign is one of Performance Max, of which no ads are told.

mod args;
mod gaql;
mod http;
mod oauth;
mod results;
mod world;

use std::{
    net::TcpListener,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use actix_web::dev::Server;
use secrecy::SecretString;
use serde_json::{Value, json};
use time::OffsetDateTime;

pub use self::{
    args::GoogleAdsArgs,
    world::{PAGE, Seed},
};
use self::{oauth::Grants, world::World};
use crate::shops::{Common, Stub, ledger::Truth};

/// The app that the stub knows.
#[derive(Debug, Clone)]
pub struct GoogleAdsConfig {
    pub client_id: String,
    pub client_secret: SecretString,
    /// Where people may be sent back to.
    pub redirect_uris: Vec<String>,
    pub seed: Seed,
}

struct Inner {
    world: World,
    grants: Grants,
}

struct Shared {
    config: GoogleAdsConfig,
    common: Common,
    inner: Mutex<Inner>,
}

/// The stub; cloning shares it.
#[derive(Clone)]
pub struct GoogleAds(Arc<Shared>);

/// A refusal: status and body.
#[derive(Debug)]
struct Refused {
    status: u16,
    body: Value,
}

impl Refused {
    /// As all of Google's APIs refuse.
    fn plain(status: u16, name: &str, message: &str, details: Value) -> Self {
        let error = json!({ "code": status, "message": message, "status": name, "details": details });
        Self { status, body: json!({ "error": error }) }
    }

    /// As this API does, with `details` of its own.
    fn detailed(status: u16, (kind, code): (&str, &str), message: &str, details: Value) -> Self {
        let name = match status {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            429 => "RESOURCE_EXHAUSTED",
            _ => "INVALID_ARGUMENT",
        };
        let mut failure = json!({ "errorCode": { kind: code }, "message": message });
        if let Some(failure) = failure.as_object_mut().filter(|_| !details.is_null()) {
            failure.insert("details".to_owned(), details);
        }
        let details = json!([{
            "@type": "type.googleapis.com/google.ads.googleads.v25.errors.GoogleAdsFailure",
            "errors": [failure], "requestId": "AbCdEfGhIjKlMnOpQrStUv",
        }]);
        Self::plain(status, name, "Request contains an invalid argument.", details)
    }

    fn failure(status: u16, error: (&str, &str), message: &str) -> Self {
        Self::detailed(status, error, message, Value::Null)
    }

    fn query(code: &str, message: &str) -> Self {
        Self::failure(400, ("queryError", code), message)
    }

    /// As the endpoints of tokens refuse (RFC 6749, 5.2).
    fn oauth(status: u16, error: &str) -> Self {
        Self { status, body: json!({ "error": error, "error_description": "Bad Request" }) }
    }
}

impl GoogleAds {
    /// Its clock runs on from the instant of the seed.
    pub fn new(config: GoogleAdsConfig) -> Self {
        let common = Common::running_from(config.seed.now);
        let inner = Inner { world: World::new(&config.seed), grants: Grants::default() };
        Self(Arc::new(Shared { config, common, inner: Mutex::new(inner) }))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.0.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.world.go_on(self.now());
        inner
    }

    fn now(&self) -> OffsetDateTime {
        self.0.common.clock.now()
    }

    /// The server on `listener`, not yet running: await it.
    ///
    /// # Errors
    /// When the listener cannot be used.
    pub fn server(&self, listener: TcpListener) -> std::io::Result<Server> {
        http::server(self.clone(), listener)
    }
}

impl Stub for GoogleAds {
    fn common(&self) -> &Common {
        &self.0.common
    }

    fn faults(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("decline", "the person does not agree"),
            ("expire", "at once: access tokens end, and are renewed"),
            ("revoke", "at once: no token is good any more, as when the person takes the access back"),
            ("suspend", "the ad account is not enabled"),
        ]
    }

    fn act(&self, name: &str, _: u64) -> bool {
        let grants = &mut self.inner().grants;
        match name {
            "expire" => grants.expire(),
            "revoke" => grants.revoke(),
            _ => return false,
        }
        true
    }

    /// What is sold there is not known.
    fn truth(&self, _: Option<&str>) -> Option<Truth> {
        None
    }
}
