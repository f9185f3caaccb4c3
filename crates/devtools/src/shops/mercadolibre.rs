//! Mercado Libre for development: one seller in Argentina, made of a number.
//!
//! Refused or done as Mercado Libre does: PKCE and the registered `redirect_uri`; refresh tokens that work once; filters of
//! orders that drop minutes or are ignored when misspelt; cancelled orders and those of more than a year ago not found;
//! pages beyond 10,000; multigets of more than 20; scans that go on after five minutes or with another `scroll_id`; an order
//! that is asked for within two seconds of its notification; a second answer to a question; too many calls, without headers.
//! A notification that is lost is kept for two days.
//!
//! Beside what all fakes have:
//!
//! ```text
//! PUT  /_stub/notify                 {"url": "http://127.0.0.1:8080/hooks/mercadolibre"}; null: nowhere
//! POST /_stub/forge                  sends notifications that are not Mercado Libre's
//! POST /_stub/orders                 {"orders": 1}: a purchase; its orders
//! POST /_stub/orders/{id}/cancel
//! POST /_stub/orders/{id}/refund     {"amount": "10.00"}: money without goods
//! POST /_stub/orders/{id}/return     {"units": 1, "low_cost": false}
//! POST /_stub/orders/{id}/account    the money goes into the buyer's account; the order stays paid
//! GET  /_stub/questions              what was asked, and really answered by whom
//! POST /_stub/questions              {"text": "¿Hay stock?"}: a buyer asks; its number
//! POST /_stub/questions/{id}/answer  {"text": "Sí"}: the seller answers on the platform itself
//! POST /_stub/questions/{id}/{deed}  ban, delete, close, review, release
//! ```

mod answer;
mod catalogue;
mod changes;
mod hooks;
mod http;
mod oauth;
mod questions;
mod sales;
mod seed;
mod seller;

use std::{
    net::TcpListener,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use actix_web::dev::Server;
use domain::{accounts::Platform, zone::Zone};
use time::{Duration, OffsetDateTime};

pub use self::{catalogue::CAMPAIGNS, changes::Change, oauth::App, questions::Deed};
use self::{catalogue::Scans, hooks::Hooks, oauth::Grants, questions::Questions, seed::Random, seller::Seller};
use super::{
    Common, Stub,
    clock::Clock,
    ledger::{ProductTruth, StockDays, Truth},
};

/// Calls a second that are answered, and at once after a pause.
const RATE: f64 = 20.0;

/// The faults that only this platform has.
const FAULTS: &[(&str, &str)] = &[
    ("lag", "the search finds orders `value` seconds after they changed"),
    ("revoke", "the seller takes the grant back"),
    ("expire", "access tokens end now; the refresh token works"),
    ("suspend", "the app is blocked when `value` is above 0"),
    ("lost_refresh", "tokens are issued, but the answer with them is lost"),
    ("answer_lost", "a question is answered, the connection breaks off before the reply"),
    ("answer_error", "a question is answered, the reply is the status `value`, or 500"),
    ("answer_unwritten", "a question is not answered, the reply is the status `value`, or 500"),
    ("answer_slow", "a question is answered, the reply waits `value` milliseconds"),
    ("answer_lag", "the answer to a question is shown after `value` seconds"),
];

/// How the shop is made.
#[derive(Debug, Clone)]
pub struct Config {
    pub app: App,
    pub seed: u64,
    pub orders: u64,
    /// Over so many days before the present.
    pub days: u64,
    /// Whether too many calls are refused.
    pub is_limited: bool,
    /// Where the platform's clock stands; `None`: at the real time, running.
    pub now: Option<OffsetDateTime>,
    pub notify: Option<String>,
    /// The zone whose days the ledger has: the platform's sellers have none.
    pub zone: Zone,
}

struct State {
    seller: Seller,
    grants: Grants,
    scans: Scans,
    questions: Questions,
    random: Random,
    lag: Duration,
    /// What is left to be asked, and since when.
    rate: (f64, Instant),
}

/// The platform; cloning shares it.
#[derive(Clone)]
pub struct Mercadolibre(Arc<Inner>);

struct Inner {
    app: App,
    is_limited: bool,
    zone: Zone,
    common: Common,
    hooks: Hooks,
    state: Mutex<State>,
}

impl Mercadolibre {
    /// # Errors
    /// When no HTTP client can be set up.
    pub fn new(config: Config) -> anyhow::Result<Self> {
        let Config { app, seed, orders, days, is_limited, now, notify, zone } = config;
        let clock = now.map_or_else(Clock::default, Clock::stopped);
        let seller = seed::seller(seed, orders, days, clock.now().truncate_to_second());
        let state = State {
            seller,
            grants: Grants::default(),
            scans: Scans::default(),
            questions: Questions::default(),
            random: Random(seed ^ u64::MAX),
            lag: Duration::ZERO,
            rate: (RATE, Instant::now()),
        };
        let common = Common { clock, ..Common::default() };
        let hooks = Hooks::new()?;
        hooks.send_to(notify);
        Ok(Self(Arc::new(Inner { app, is_limited, zone, common, hooks, state: Mutex::new(state) })))
    }

    fn open(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> OffsetDateTime {
        self.0.common.clock.now().truncate_to_second()
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
    /// Whether there is a call left.
    fn takes_call(&mut self) -> bool {
        let (level, since) = self.rate;
        let now = Instant::now();
        let level = (level + now.duration_since(since).as_secs_f64() * RATE).min(RATE);
        self.rate = (if level >= 1.0 { level - 1.0 } else { level }, now);
        level >= 1.0
    }
}

impl Stub for Mercadolibre {
    fn common(&self) -> &Common {
        &self.0.common
    }

    fn faults(&self) -> &'static [(&'static str, &'static str)] {
        FAULTS
    }

    fn act(&self, name: &str, value: u64) -> bool {
        match name {
            "lag" => self.open().lag = Duration::seconds(i64::try_from(value).unwrap_or(i64::MAX)),
            "revoke" => self.open().grants.revoke(),
            "expire" => self.open().grants.expire(),
            "suspend" => self.open().grants.is_blocked = value > 0,
            _ => return false,
        }
        true
    }

    fn truth(&self, shop: Option<&str>) -> Option<Truth> {
        let state = self.open();
        let seller = &state.seller;
        if shop.is_some_and(|shop| shop != seller.host()) {
            return None;
        }
        let zone = &self.0.zone;
        let stock = seller.stock();
        let mut products = std::collections::BTreeMap::new();
        for offer in seller.offers.iter().filter(|offer| !offer.is_closed && offer.currency == seller::CURRENCY) {
            let sku = offer.true_sku().to_ascii_lowercase();
            let name = offer.color.map_or_else(|| offer.title.clone(), |color| format!("{} · {color}", offer.title));
            products.entry(sku.clone()).or_insert(ProductTruth {
                name: Some(name),
                price: Some(offer.price),
                cost: None,
                stock: stock.get(&sku).copied(),
                on_order: None,
            });
        }
        let days = StockDays::from([(zone.day_of(self.now()), stock)]);
        let currency = seller::CURRENCY.parse().ok()?;
        Some(Truth::new(Platform::Mercadolibre, seller.host(), (currency, zone), seller.truth(), products, days))
    }
}
