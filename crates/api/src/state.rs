//! What the handlers work with: the ports and the settings.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use app::{
    shops::{Connectors, Ports, connect::ConnectService},
    social::profiles::{ProfileNetworks, ProfileService},
    status::StatusPages,
};
use domain::{
    accounts::AccountStore,
    ads::AdStore,
    ai::AiAccess,
    alerts::AlertStore,
    anomalies::AnomalyStore,
    as_of::AsOfStore,
    creatives::CreativeStore,
    credits::{CreditAmount, CreditLedger, TransactionLog, auto_topup::AutoTopupStore},
    customers::CustomerStore,
    health::Health,
    idempotency::AnswerStore,
    insights::InsightStore,
    integrations::IntegrationStore,
    inventory::InventoryStore,
    keys::KeyStore,
    metric_days::MetricDayStore,
    payments::PriceList,
    positions::RecentWrites,
    profit::ProfitStore,
    rate_limit::RateLimiter,
    reorder::ReorderStore,
    risks::RiskStore,
    sealing::Sealer,
    shops::{
        authorizations::AuthorizationStore,
        connections::ConnectionStore,
        inbox::Inbox,
        sync::{SyncRunStore, SyncStore},
        tokens::TokenStore,
    },
    social::{
        channels::SocialInbox,
        conversations::ConversationStore,
        profiles::ProfileConnections,
        replies::{HookLog, ProfileStore},
        settings::SettingsStore,
        templates::TemplateStore,
    },
    tracking::{EventStore, Geolocator},
    usage::UsageStore,
    webhooks::{WebhookStore, address::AllowList, log::DeliveryLog, replay::ReplayStore, settings::WebhookSettings},
};
use time::OffsetDateTime;

use ::web::client::Network;

/// Every port that an endpoint needs, and the settings.
#[derive(Clone)]
pub struct State {
    pub keys: Arc<dyn KeyStore>,
    pub health: Arc<dyn Health>,
    /// What the public pages are made from, for all threads.
    pub status: Arc<StatusPages>,
    pub credits: Arc<dyn CreditLedger>,
    pub transactions: Arc<dyn TransactionLog>,
    pub auto_topup: Arc<dyn AutoTopupStore>,
    pub usage: Arc<dyn UsageStore>,
    pub ai_access: Arc<dyn AiAccess>,
    /// What is for sale.
    pub prices: Arc<PriceList>,
    /// Takes what the payment gateway reports; `None` without a gateway.
    pub payment_service: Option<app::payments::PaymentService>,
    pub customers: Arc<dyn CustomerStore>,
    pub integrations: Arc<dyn IntegrationStore>,
    /// What shops are connected with.
    pub shops: ConnectService,
    pub sync_runs: Arc<dyn SyncRunStore>,
    /// Where hooks of shop platforms go.
    pub inbox: Arc<dyn Inbox>,
    pub webhooks: Arc<dyn WebhookStore>,
    pub webhook_settings: Arc<dyn WebhookSettings>,
    pub delivery_log: Arc<dyn DeliveryLog>,
    pub replays: Arc<dyn ReplayStore>,
    /// What a test delivery is made with.
    pub deliveries: app::deliveries::Ports,
    pub insights: Arc<dyn InsightStore>,
    /// What insights on demand are made with.
    pub text_generator: app::ai::InsightTextGenerator,
    /// Credits that a model's vote on a comment costs; `None` where there is no model.
    pub vote_price: Option<CreditAmount>,
    pub events: Arc<dyn EventStore>,
    pub anomalies: Arc<dyn AnomalyStore>,
    pub metric_days: Arc<dyn MetricDayStore>,
    pub profit: Arc<dyn ProfitStore>,
    pub inventory: Arc<dyn InventoryStore>,
    pub reorder: Arc<dyn ReorderStore>,
    pub risks: Arc<dyn RiskStore>,
    pub ads: Arc<dyn AdStore>,
    pub creatives: Arc<dyn CreativeStore>,
    /// Where results as of past days are.
    pub as_of: Arc<dyn AsOfStore>,
    pub alerts: Arc<dyn AlertStore>,
    /// First answers to what is sent again.
    pub answers: Arc<dyn AnswerStore>,
    pub conversations: Arc<dyn ConversationStore>,
    pub reply_templates: Arc<dyn TemplateStore>,
    pub social_settings: Arc<dyn SettingsStore>,
    /// The app that networks send hooks to; `None`: there is none.
    pub social_app: Option<Arc<dyn SocialInbox>>,
    /// Where those hooks go.
    pub social_hooks: Arc<dyn HookLog>,
    /// What profiles are connected with.
    pub profiles: ProfileService,
    pub geolocator: Arc<dyn Geolocator>,
    pub sealer: Arc<dyn Sealer>,
    pub limiter: Arc<dyn RateLimiter>,
    /// Told of every write before it is answered.
    pub writes: Arc<dyn RecentWrites>,
    /// What time it is, in UTC.
    pub clock: fn() -> OffsetDateTime,
    pub settings: Settings,
}

/// What the handlers work with beside the ports of the database.
pub struct Parts {
    pub keys: Arc<dyn KeyStore>,
    /// Remembers the last answers, so all threads share it.
    pub status: Arc<StatusPages>,
    pub prices: Arc<PriceList>,
    pub payment_service: Option<app::payments::PaymentService>,
    /// The platforms that shops can be connected on.
    pub connectors: Connectors,
    /// Where those send owners back to.
    pub redirect_uri: String,
    pub deliveries: app::deliveries::Ports,
    pub text_generator: app::ai::InsightTextGenerator,
    /// Credits that a model's vote on a comment costs; `None` where there is no model.
    pub vote_price: Option<CreditAmount>,
    pub events: Arc<dyn EventStore>,
    /// The app that networks send hooks to.
    pub social_app: Option<Arc<dyn SocialInbox>>,
    /// The networks that profiles can be connected on.
    pub social_networks: Option<ProfileNetworks>,
    pub geolocator: Arc<dyn Geolocator>,
    pub sealer: Arc<dyn Sealer>,
    pub limiter: Arc<dyn RateLimiter>,
    pub clock: fn() -> OffsetDateTime,
    pub settings: Settings,
}

impl State {
    /// Every port of the database on one store. The only place that makes them: a new one is a field above and a line here.
    pub fn of<S>(store: &Arc<S>, parts: Parts) -> Self
    where
        S: Health + CreditLedger + TransactionLog + AutoTopupStore + UsageStore + AiAccess + CustomerStore,
        S: IntegrationStore + WebhookStore + WebhookSettings + DeliveryLog + ReplayStore + InsightStore + AnomalyStore,
        S: AccountStore + AuthorizationStore + ConnectionStore + TokenStore + SyncStore + SyncRunStore + Inbox,
        S: AnswerStore + ConversationStore + TemplateStore + SettingsStore + HookLog,
        S: ProfileConnections + ProfileStore,
        S: MetricDayStore
            + ProfitStore
            + InventoryStore
            + ReorderStore
            + RiskStore
            + AdStore
            + CreativeStore
            + AsOfStore
            + AlertStore
            + RecentWrites
            + 'static,
    {
        let Parts {
            keys,
            status,
            prices,
            payment_service,
            connectors,
            redirect_uri,
            deliveries,
            text_generator,
            vote_price,
            events,
            social_app,
            social_networks,
            geolocator,
            sealer,
            limiter,
            clock,
            settings,
        } = parts;
        let shops = Ports::of(store, connectors, sealer.clone(), Arc::new(clock));
        let profiles = ProfileService {
            ports: shops.clone(),
            connections: store.clone(),
            profiles: store.clone(),
            networks: social_networks,
            redirect_uri: redirect_uri.clone(),
        };
        Self {
            keys,
            health: store.clone(),
            status,
            credits: store.clone(),
            transactions: store.clone(),
            auto_topup: store.clone(),
            usage: store.clone(),
            ai_access: store.clone(),
            prices,
            payment_service,
            customers: store.clone(),
            integrations: store.clone(),
            shops: ConnectService { ports: shops, redirect_uri },
            sync_runs: store.clone(),
            inbox: store.clone(),
            webhooks: store.clone(),
            webhook_settings: store.clone(),
            delivery_log: store.clone(),
            replays: store.clone(),
            deliveries,
            insights: store.clone(),
            text_generator,
            vote_price,
            events,
            anomalies: store.clone(),
            metric_days: store.clone(),
            profit: store.clone(),
            inventory: store.clone(),
            reorder: store.clone(),
            risks: store.clone(),
            ads: store.clone(),
            creatives: store.clone(),
            as_of: store.clone(),
            alerts: store.clone(),
            answers: store.clone(),
            conversations: store.clone(),
            reply_templates: store.clone(),
            social_settings: store.clone(),
            social_app,
            social_hooks: store.clone(),
            profiles,
            geolocator,
            sealer,
            limiter,
            writes: store.clone(),
            clock,
            settings,
        }
    }
}

/// How the edge behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Requests per minute and key. Refused requests of an address have the same limit, requests of an address to
    /// public endpoints [`PUBLIC_FACTOR`] times as much.
    pub rate_limit_per_minute: u32,
    /// KiB of events that a key may have stored in a minute; `None` means 128 for each request that
    /// it may make.
    pub event_kib_per_minute: Option<u32>,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<Network>,
    /// Loopback receivers that the operator lets webhooks go to; empty in production.
    pub webhook_allow_loopback: AllowList,
    /// Where a browser that opens `/` is sent: the address of the dashboard.
    pub dashboard: Option<String>,
    /// Shown by `/status`.
    pub region: String,
    /// Shown by `/status`.
    pub env: String,
    /// Shown by `/status`.
    pub commit: String,
    /// Since when the process runs.
    pub started: Instant,
    /// Connections of clients at once, over all threads. Beyond them new ones wait to be accepted.
    pub connections: usize,
    /// How long the first head of a connection may take to arrive.
    pub head_timeout: Duration,
    /// How long the body of a request may take to arrive.
    pub body_timeout: Duration,
    /// Set when the process is about to stop: every answer then asks the client to open its next connection elsewhere.
    pub draining: Arc<AtomicBool>,
    /// How long a shutdown waits for requests in flight.
    pub shutdown_timeout: Duration,
    /// A database that takes longer to answer is reported as slow.
    pub slow_after: Duration,
}

/// How many times the requests of a key an address may make to public endpoints.
pub const PUBLIC_FACTOR: u32 = 5;

/// KiB of events that go with each request a key may make: twice what the body of a single event may have. The windows
/// of the two budgets need not begin together, so a minute of this one may see two minutes' worth of requests; even then
/// only batches can use it up.
pub const EVENT_KIB_PER_REQUEST: u32 = 128;

impl Settings {
    /// KiB of events that a key may have stored in a minute.
    pub fn event_kib(&self) -> u32 {
        self.event_kib_per_minute.unwrap_or(self.rate_limit_per_minute.saturating_mul(EVENT_KIB_PER_REQUEST))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            rate_limit_per_minute: 60,
            event_kib_per_minute: None,
            trusted_proxies: Vec::new(),
            webhook_allow_loopback: AllowList::default(),
            dashboard: None,
            region: "local".to_owned(),
            env: "development".to_owned(),
            commit: "unknown".to_owned(),
            started: Instant::now(),
            connections: 25_000,
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(10),
            draining: Arc::default(),
            shutdown_timeout: Duration::from_secs(30),
            slow_after: domain::health::SLOW_AFTER,
        }
    }
}
