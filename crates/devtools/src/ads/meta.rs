//! A fake of Meta's Marketing API, as strict as the real one, with one person. Beside `/_stub`
//! of all fakes it has:
//!
//! ```text
//! GET  /_stub/ledger   {"currency", "days": {DAY: {"spend", "impressions", "clicks", "purchases", "revenue"}}}: what a
//!                      reader must come to, from what happened and not from what was answered
//! POST /_stub/act      {"action": "attribute", "ad", "day", "purchases", "revenue"}: adds purchases that are attributed late
//!                      {"action": "withdraw", "ad", "day"}: none of the ad's purchases of that day is one
//!                      {"action": "rename", "campaign", "name"}, {"action": "archive", "ad"}
//! ```

mod args;
mod http;
mod insights;
mod world;

use std::{
    collections::HashMap,
    net::TcpListener,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use actix_web::dev::Server;
use secrecy::SecretString;
use serde_json::Value;
use time::OffsetDateTime;

use self::world::World;
pub use self::{args::MetaArgs, world::Seed};
use crate::{
    graph::oauth::{App, Grants},
    shops::{Common, Stub, ledger::Truth},
};

/// The app that the stub knows.
#[derive(Debug, Clone)]
pub struct MetaConfig {
    pub client_id: String,
    pub client_secret: SecretString,
    /// Where people may be sent back to.
    pub redirect_uris: Vec<String>,
    pub seed: Seed,
}

impl MetaConfig {
    fn app(&self) -> App<'_> {
        App { id: &self.client_id, secret: &self.client_secret, redirect_uris: &self.redirect_uris }
    }
}

/// A report that is being made.
struct Report {
    rows: Vec<Value>,
    ready_at: Instant,
    is_failed: bool,
}

struct Inner {
    world: World,
    grants: Grants,
    reports: HashMap<String, Report>,
}

struct Shared {
    config: MetaConfig,
    common: Common,
    inner: Mutex<Inner>,
}

/// The stub; cloning shares it.
#[derive(Clone)]
pub struct Meta(Arc<Shared>);

impl Meta {
    /// Its clock runs on from the instant of the seed.
    pub fn new(config: MetaConfig) -> Self {
        let common = Common::running_from(config.seed.now);
        let inner = Inner { world: World::new(&config.seed), grants: Grants::default(), reports: HashMap::new() };
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

impl Stub for Meta {
    fn common(&self) -> &Common {
        &self.0.common
    }

    fn faults(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("too_much", "figures of more than `value` days, or 1, are refused as too many"),
            ("report_fails", "a report ends without figures"),
            ("decline", "the person does not agree"),
            ("revoke", "at once: no token is good any more, as after a new password"),
        ]
    }

    fn act(&self, name: &str, _: u64) -> bool {
        let is_known = name == "revoke";
        if is_known {
            self.inner().grants.revoke();
        }
        is_known
    }

    /// What is sold there is not known.
    fn truth(&self, _: Option<&str>) -> Option<Truth> {
        None
    }
}
