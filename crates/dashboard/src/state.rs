//! What the pages work with: the ports and the settings.

use std::{sync::Arc, time::Duration};

use ::web::client::Network;
use app::deliveries::Ports;
use domain::{
    accounts::Mode,
    alerts::AlertStore,
    anomalies::AnomalyStore,
    credits::CreditLedger,
    customers::CustomerStore,
    daily::DailyStore,
    insights::InsightStore,
    integrations::IntegrationStore,
    inventory::InventoryStore,
    keys::{ApiKey, KeyStore},
    metric_days::MetricDayStore,
    profit::ProfitStore,
    reorder::ReorderStore,
    risks::RiskStore,
    sessions::{LinkStore, SessionStore, Token},
    webhooks::{
        WebhookStore, address::AllowList, log::DeliveryLog, replay::ReplayStore, settings::WebhookSettings,
        signature::Secret,
    },
};
use time::OffsetDateTime;
use url::Url;

/// Every port that a page needs, and the settings.
#[derive(Clone)]
pub struct State {
    pub sessions: Arc<dyn SessionStore>,
    pub links: Arc<dyn LinkStore>,
    pub alerts: Arc<dyn AlertStore>,
    pub anomalies: Arc<dyn AnomalyStore>,
    pub credits: Arc<dyn CreditLedger>,
    pub customers: Arc<dyn CustomerStore>,
    pub daily: Arc<dyn DailyStore>,
    pub delivery_log: Arc<dyn DeliveryLog>,
    pub insights: Arc<dyn InsightStore>,
    pub integrations: Arc<dyn IntegrationStore>,
    pub inventory: Arc<dyn InventoryStore>,
    pub keys: Arc<dyn KeyStore>,
    pub metric_days: Arc<dyn MetricDayStore>,
    pub profit: Arc<dyn ProfitStore>,
    pub reorder: Arc<dyn ReorderStore>,
    pub replays: Arc<dyn ReplayStore>,
    pub risks: Arc<dyn RiskStore>,
    pub webhooks: Arc<dyn WebhookStore>,
    pub webhook_settings: Arc<dyn WebhookSettings>,
    /// What deliveries are made with.
    pub deliveries: Ports,
    /// What time it is, in UTC.
    pub clock: fn() -> OffsetDateTime,
    /// A new secret from the system's generator.
    pub token: fn() -> Token,
    /// A new API key from the same; one that is not well-formed where the system has no random bytes.
    pub key: fn(Mode) -> ApiKey,
    /// A new signing secret from the same.
    pub secret: fn() -> Option<Secret>,
    pub settings: Settings,
}

/// What the pages work with beside the ports of the database.
pub struct Parts {
    pub deliveries: Ports,
    pub clock: fn() -> OffsetDateTime,
    pub token: fn() -> Token,
    pub key: fn(Mode) -> ApiKey,
    pub secret: fn() -> Option<Secret>,
    pub settings: Settings,
}

impl State {
    /// Every port of the database on one store. The only place that makes them: a new one is a field above and a line here.
    pub fn of<S>(store: &Arc<S>, parts: Parts) -> Self
    where
        S: SessionStore + LinkStore + CreditLedger + InsightStore + IntegrationStore + InventoryStore + 'static,
        S: AnomalyStore + CustomerStore + KeyStore + MetricDayStore + ProfitStore + ReorderStore + RiskStore,
        S: WebhookStore + WebhookSettings + DeliveryLog + ReplayStore + AlertStore + DailyStore,
    {
        let Parts { deliveries, clock, token, key, secret, settings } = parts;
        Self {
            sessions: store.clone(),
            links: store.clone(),
            alerts: store.clone(),
            anomalies: store.clone(),
            credits: store.clone(),
            customers: store.clone(),
            daily: store.clone(),
            delivery_log: store.clone(),
            insights: store.clone(),
            integrations: store.clone(),
            inventory: store.clone(),
            keys: store.clone(),
            metric_days: store.clone(),
            profit: store.clone(),
            reorder: store.clone(),
            replays: store.clone(),
            risks: store.clone(),
            webhooks: store.clone(),
            webhook_settings: store.clone(),
            deliveries,
            clock,
            token,
            key,
            secret,
            settings,
        }
    }
}

/// How the face behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address that browsers know it by: links and the form of the cookie follow it, never a header of a request.
    pub public_url: Url,
    /// The address of the API, for the commands that pages print.
    pub api_url: Url,
    /// Receivers on this machine that webhooks may be sent to.
    pub webhook_allow_loopback: AllowList,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<Network>,
    /// Connections of clients at once, over all threads.
    pub connections: usize,
    /// How long a shutdown waits for requests in flight.
    pub shutdown_timeout: Duration,
}

impl Settings {
    pub fn is_secure(&self) -> bool {
        self.public_url.scheme() == "https"
    }
}
