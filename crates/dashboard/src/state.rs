//! What the pages work with: the ports and the settings.

use std::{sync::Arc, time::Duration};

use ::web::client::Network;
use app::{log_in::LogIn, passwords::Passwords, second_factor::SecondFactors};
use domain::{
    anomalies::AnomalyStore,
    audit::AuditLog,
    credits::CreditLedger,
    customers::CustomerStore,
    insights::InsightStore,
    integrations::IntegrationStore,
    inventory::InventoryStore,
    log_in::{CredentialStore, MailLinkStore, SecondFactorStore},
    mail::{MailQueue, Outbox},
    metric_days::MetricDayStore,
    people::PersonStore,
    profit::ProfitStore,
    reorder::ReorderStore,
    risks::RiskStore,
    sealing::Sealer,
    sessions::{LinkStore, SessionStore, Token},
    throttle::ThrottleStore,
};
use time::OffsetDateTime;
use url::Url;

/// Every port that a page needs, and the settings.
#[derive(Clone)]
pub struct State {
    pub sessions: Arc<dyn SessionStore>,
    pub links: Arc<dyn LinkStore>,
    pub people: Arc<dyn PersonStore>,
    pub mail_links: Arc<dyn MailLinkStore>,
    pub mails: Arc<dyn MailQueue>,
    pub audit: Arc<dyn AuditLog>,
    pub log_in: LogIn,
    /// Where mails are put aside, on a developer's machine.
    pub outbox: Option<Arc<dyn Outbox>>,
    pub anomalies: Arc<dyn AnomalyStore>,
    pub credits: Arc<dyn CreditLedger>,
    pub customers: Arc<dyn CustomerStore>,
    pub insights: Arc<dyn InsightStore>,
    pub integrations: Arc<dyn IntegrationStore>,
    pub inventory: Arc<dyn InventoryStore>,
    pub metric_days: Arc<dyn MetricDayStore>,
    pub profit: Arc<dyn ProfitStore>,
    pub reorder: Arc<dyn ReorderStore>,
    pub risks: Arc<dyn RiskStore>,
    /// What time it is, in UTC.
    pub clock: fn() -> OffsetDateTime,
    /// A new secret from the system's generator.
    pub token: fn() -> Token,
    pub settings: Settings,
}

/// What the pages work with beside the ports of the database.
pub struct Parts {
    pub sealer: Arc<dyn Sealer>,
    pub passwords: Passwords,
    pub outbox: Option<Arc<dyn Outbox>>,
    pub clock: fn() -> OffsetDateTime,
    pub token: fn() -> Token,
    pub settings: Settings,
}

impl State {
    /// Every port of the database on one store. The only place that makes them: a new one is a field above and a line here.
    pub fn of<S>(store: &Arc<S>, parts: Parts) -> Self
    where
        S: SessionStore + LinkStore + CreditLedger + InsightStore + IntegrationStore + InventoryStore + 'static,
        S: AuditLog + CredentialStore + MailLinkStore + MailQueue + PersonStore + SecondFactorStore + ThrottleStore,
        S: AnomalyStore + CustomerStore + MetricDayStore + ProfitStore + ReorderStore + RiskStore,
    {
        let Parts { sealer, passwords, outbox, clock, token, settings } = parts;
        let factors = SecondFactors { store: store.clone(), sealer, passwords: passwords.clone(), token };
        let log_in = LogIn {
            credentials: store.clone(),
            throttles: store.clone(),
            sessions: store.clone(),
            audit: store.clone(),
            mails: store.clone(),
            factors,
            passwords,
            token,
        };
        Self {
            sessions: store.clone(),
            links: store.clone(),
            people: store.clone(),
            mail_links: store.clone(),
            mails: store.clone(),
            audit: store.clone(),
            log_in,
            outbox,
            anomalies: store.clone(),
            credits: store.clone(),
            customers: store.clone(),
            insights: store.clone(),
            integrations: store.clone(),
            inventory: store.clone(),
            metric_days: store.clone(),
            profit: store.clone(),
            reorder: store.clone(),
            risks: store.clone(),
            clock,
            token,
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
    /// Whether mails are sent, or put aside.
    pub has_mail: bool,
    /// Whether anybody may sign up.
    pub is_open: bool,
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
