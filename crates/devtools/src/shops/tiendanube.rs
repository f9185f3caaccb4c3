//! A fake Tiendanube, as strict as the real one, with one store. Beside `/_stub` of all fakes it has:
//!
//! ```text
//! PUT  /_stub/app             {"redirect_uri"}: where owners are sent back to, as it is set with the platform's partners
//! GET  /_stub/hooks           what is subscribed to, and what is still to be sent
//! POST /_stub/orders          {"variants": [id], "quantity", "customer", "storefront", "paid"}: a new order
//! POST /_stub/orders/{id}     "pay", "cancel", "refund", {"refund_part": {"amount", "told"}}, "edit", "void", "delete"
//! POST /_stub/privacy         "redact_shop", {"redact_customer": id}, {"data_request": id}
//! ```

mod api;
mod args;
mod delivery;
mod gate;
mod oauth;
mod seed;
mod shop;
mod store;
mod truth;
mod view;

use std::{
    collections::HashMap,
    net::TcpListener,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use actix_web::{
    App, HttpServer,
    dev::Server,
    middleware::from_fn,
    web::{self, Data},
};
use secrecy::SecretString;
use time::OffsetDateTime;

pub use self::{args::TiendanubeArgs, seed::Seed};
use self::{delivery::Queue, store::Store};
use super::{Common, Stub, ledger::Truth};

/// The app that the stub knows, and how it behaves.
#[derive(Debug, Clone)]
pub struct TiendanubeConfig {
    pub client_id: String,
    pub client_secret: SecretString,
    pub redirect_uri: String,
    /// What owners grant.
    pub scopes: Vec<String>,
    /// Whether hooks may go to addresses of this machine, which the platform refuses.
    pub takes_local_hooks: bool,
    /// Requests that a store's bucket holds, and how many drain per second.
    pub bucket: Bucket,
    pub seed: Seed,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    pub size: f64,
    pub drain: f64,
}

impl Bucket {
    /// The platform's, on its smaller plans.
    pub const PLATFORM: Self = Self { size: 40.0, drain: 2.0 };
    /// So large that no client notices it.
    pub const LIFTED: Self = Self { size: 1e6, drain: 1e6 };
}

/// The scopes that an app like ours asks for.
pub fn default_scopes() -> Vec<String> {
    ["read_orders", "read_products", "read_customers"].map(str::to_owned).to_vec()
}

/// A code that was given out.
struct Code {
    until: OffsetDateTime,
    is_used: bool,
}

struct Inner {
    store: Store,
    redirect_uri: String,
    codes: HashMap<String, Code>,
    /// The only token that is good.
    token: Option<String>,
    /// Numbers of codes, tokens and subscriptions.
    issued: u64,
    is_suspended: bool,
    /// Requests in the bucket, and when they were counted.
    bucket: (f64, Instant),
    queue: Queue,
}

impl Inner {
    fn next(&mut self) -> u64 {
        self.issued += 1;
        self.issued
    }
}

/// The stub; cloning shares it.
#[derive(Clone)]
pub struct Tiendanube(Arc<Shared>);

struct Shared {
    config: TiendanubeConfig,
    common: Common,
    inner: Mutex<Inner>,
}

impl Tiendanube {
    /// Its clock runs on from the instant of the seed.
    pub fn new(config: TiendanubeConfig) -> Self {
        let common = Common::running_from(config.seed.now);
        let inner = Inner {
            store: config.seed.store(),
            redirect_uri: config.redirect_uri.clone(),
            codes: HashMap::new(),
            token: None,
            issued: 0,
            is_suspended: false,
            bucket: (0.0, Instant::now()),
            queue: Queue::default(),
        };
        Self(Arc::new(Shared { config, common, inner: Mutex::new(inner) }))
    }

    fn config(&self) -> &TiendanubeConfig {
        &self.0.config
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> OffsetDateTime {
        self.0.common.clock.now()
    }

    /// The number of the store.
    pub fn store_id(&self) -> u64 {
        self.inner().store.id
    }

    /// The server on `listener`, not yet running: await it. While it runs, hooks are sent.
    ///
    /// # Errors
    /// When the listener cannot be used.
    pub fn server(&self, listener: TcpListener) -> std::io::Result<Server> {
        let stub = Data::new(self.clone());
        let server = HttpServer::new(move || {
            App::new()
                .app_data(stub.clone())
                .app_data(web::PayloadConfig::new(1 << 20))
                .wrap(from_fn(gate::around))
                .configure(super::routes::<Self>)
                .configure(shop::routes)
                .configure(oauth::routes)
                .configure(api::routes)
        });
        #[expect(clippy::disallowed_methods, reason = "the hooks of a platform for development")]
        tokio::spawn(delivery::run(Arc::downgrade(&self.0)));
        Ok(server.workers(1).listen(listener)?.disable_signals().shutdown_timeout(1).run())
    }
}

impl Stub for Tiendanube {
    fn common(&self) -> &Common {
        &self.0.common
    }

    fn faults(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("list_shrinks", "an order leaves a list after its first page was read, as one does that changes"),
            ("hook_refused", "a subscription to hooks of an event is refused"),
            ("suspend", "at once: the store does not pay, and every call is answered with 402"),
            ("resume", "at once: it pays again"),
            ("revoke", "at once: the token is dead, and nobody is told"),
            ("uninstall", "at once: the owner removes the app"),
        ]
    }

    fn act(&self, name: &str, _: u64) -> bool {
        let app = self.config().client_id.clone();
        let mut inner = self.inner();
        let event = match name {
            "suspend" => {
                inner.is_suspended = true;
                "app/suspended"
            }
            "resume" => {
                inner.is_suspended = false;
                "app/resumed"
            }
            "revoke" => {
                inner.token = None;
                return true;
            }
            "uninstall" => {
                inner.token = None;
                "app/uninstalled"
            }
            _ => return false,
        };
        delivery::tell(self, &mut inner, event, &app);
        true
    }

    fn truth(&self, shop: Option<&str>) -> Option<Truth> {
        let inner = self.inner();
        shop.is_none_or(|shop| shop == inner.store.host).then(|| truth::of(&inner.store, self.now()))
    }
}
