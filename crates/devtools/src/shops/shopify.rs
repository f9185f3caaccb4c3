//! A fake Shopify. The path of every address begins with the shop's host name; the rest is the platform's.
//!
//! ```text
//! GET  /{shop}/admin/oauth/authorize              sends back to redirect_uri, signed, as if the owner had agreed
//! POST /{shop}/admin/oauth/access_token
//! POST /{shop}/admin/api/{version}/graphql.json
//! POST /_stub/act                                 {"action": sell | sell_gift_card | sell_with_gift_card | edit |
//!                                                 refund | exchange | cancel | pay | delete | data_request |
//!                                                 redact_customer | redact_shop, "id": of the order or the customer}
//! ```

mod bulk;
mod catalogue;
mod hooks;
mod http;
mod oauth;
mod orders;
pub mod query;
mod server;
mod shop;
mod view;

use std::{
    collections::HashMap,
    net::TcpListener,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use actix_web::dev::Server;
use apollo_compiler::{Schema, validation::Valid};
use domain::{money::Currency, zone::Zone};
use secrecy::SecretString;
use time::OffsetDateTime;

pub use self::shop::Seed;
use self::{
    bulk::{Bulk, Made},
    hooks::Notifier,
    oauth::Pairs,
    shop::Shop,
};
use super::{Common, Stub, clock::Clock, ledger::Truth};

/// Versions that are answered.
const VERSIONS: [&str; 3] = ["2026-01", "2026-04", "2026-07"];

/// How the platform and its shop are.
#[derive(Debug, Clone)]
pub struct ShopifyStubConfig {
    pub client_id: String,
    pub client_secret: SecretString,
    /// Host name of the only shop.
    pub shop: String,
    /// Its currency and zone.
    pub home: (Currency, Zone),
    pub seed: Seed,
    /// Granted, whatever is asked for. `None`: what is asked for.
    pub scopes: Option<Vec<String>>,
    /// Whether the app may see who buys.
    pub shows_buyers: bool,
    /// So long search does not know of a change.
    pub index_lag: Duration,
    /// So long a bulk operation takes. With none, what it writes is made before it is asked for.
    pub bulk_takes: Duration,
    /// Points of the bucket, and what comes back per second.
    pub rate: (f64, f64),
    /// Where the clock stands. `None`: it runs.
    pub at: Option<OffsetDateTime>,
}

impl ShopifyStubConfig {
    /// As the platform is on its smallest plan.
    pub fn new(client_id: String, client_secret: SecretString, shop: String, home: (Currency, Zone)) -> Self {
        Self {
            client_id,
            client_secret,
            shop,
            home,
            seed: Seed::default(),
            scopes: None,
            shows_buyers: true,
            index_lag: Duration::from_secs(5),
            bulk_takes: Duration::from_secs(2),
            rate: (2_000.0, 100.0),
            at: None,
        }
    }
}

/// A fake Shopify; cloning shares it.
#[derive(Clone)]
pub struct ShopifyStub(Arc<Inner>);

struct Inner {
    common: Common,
    config: ShopifyStubConfig,
    schema: Valid<Schema>,
    shop: Mutex<State>,
    notifier: Notifier,
    /// Orders as bulk operations write them, by their numbers, where that is made beforehand.
    lines_made: OnceLock<HashMap<u64, Made>>,
}

/// What changes.
struct State {
    shop: Shop,
    pairs: Pairs,
    /// What was granted with the pair.
    scopes: Vec<String>,
    bucket: Bucket,
    bulks: Vec<Bulk>,
    subscriptions: Vec<Subscription>,
    is_suspended: bool,
    next_id: u64,
}

#[derive(Clone, PartialEq, Eq)]
struct Subscription {
    id: u64,
    topic: String,
    uri: String,
}

/// The points that are left, in real time.
struct Bucket {
    level: f64,
    cap: f64,
    restore: f64,
    at: Instant,
}

impl Bucket {
    fn level(&mut self) -> f64 {
        let now = Instant::now();
        self.level = (self.level + now.duration_since(self.at).as_secs_f64() * self.restore).min(self.cap);
        self.at = now;
        self.level
    }
}

impl ShopifyStub {
    /// # Errors
    /// When the schema cannot be read, or no HTTP client set up.
    pub fn new(config: ShopifyStubConfig) -> anyhow::Result<Self> {
        let clock = config.at.map_or_else(Clock::default, Clock::stopped);
        let shop = Shop::new(&config.shop, &config.seed, config.home.clone(), clock.now());
        let (cap, restore) = config.rate;
        let state = State {
            shop,
            pairs: Pairs::default(),
            scopes: Vec::new(),
            bucket: Bucket { level: cap, cap, restore, at: Instant::now() },
            bulks: Vec::new(),
            subscriptions: Vec::new(),
            is_suspended: false,
            next_id: 0,
        };
        let is_instant = config.bulk_takes.is_zero();
        let stub = Self(Arc::new(Inner {
            notifier: Notifier::new(config.client_secret.clone())?,
            common: Common { clock, ..Common::default() },
            schema: query::schema()?,
            shop: Mutex::new(state),
            config,
            lines_made: OnceLock::new(),
        }));
        if is_instant {
            stub.make_lines()?;
        }
        Ok(stub)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.shop.lock().unwrap_or_else(PoisonError::into_inner)
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

impl State {
    fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}

impl Stub for ShopifyStub {
    fn common(&self) -> &Common {
        &self.0.common
    }

    fn faults(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("truncate", "the file of a bulk operation ends in the middle of a line"),
            ("object_count", "a bulk operation says that it has `value` objects more"),
            ("bulk_failed", "a bulk operation fails with an internal error"),
            ("bulk_timeout", "a bulk operation fails as it takes too long"),
            ("hook_refused", "a subscription to hooks of a topic is refused"),
            ("revoke", "at once: every token is dead"),
            ("uninstall", "at once: the owner removes the app"),
            ("suspend", "at once: the shop is suspended, and answered with 402"),
            ("resume", "at once: it is no longer"),
        ]
    }

    fn act(&self, name: &str, _: u64) -> bool {
        let mut state = self.lock();
        match name {
            "revoke" => state.pairs = Pairs::default(),
            "uninstall" => {
                state.pairs = Pairs::default();
                drop(state);
                self.notify_uninstalled();
            }
            "suspend" => state.is_suspended = true,
            "resume" => state.is_suspended = false,
            _ => return false,
        }
        true
    }

    fn truth(&self, shop: Option<&str>) -> Option<Truth> {
        let state = self.lock();
        shop.is_none_or(|host| host == state.shop.host).then(|| state.shop.truth())
    }
}
