//! What the pages work with: the ports and the settings.

use std::{sync::Arc, time::Duration};

use ::web::client::Network;
use app::{shops::connect::ConnectService, status::StatusPages};
use domain::{
    anomalies::AnomalyStore,
    credits::CreditLedger,
    customers::CustomerStore,
    incidents::IncidentStore,
    insights::InsightStore,
    integrations::IntegrationStore,
    inventory::InventoryStore,
    jobs::{JobRequests, JobStore},
    metric_days::MetricDayStore,
    profit::ProfitStore,
    reorder::ReorderStore,
    risks::RiskStore,
    sessions::{LinkStore, SessionStore, Token},
    shops::sync::SyncRunStore,
    uploads::{FileImporter, UploadStore},
    uptime::ProbeStore,
};
use time::OffsetDateTime;
use url::Url;

/// Every port that a page needs, and the settings.
#[derive(Clone)]
pub struct State {
    pub sessions: Arc<dyn SessionStore>,
    pub links: Arc<dyn LinkStore>,
    pub anomalies: Arc<dyn AnomalyStore>,
    pub credits: Arc<dyn CreditLedger>,
    pub customers: Arc<dyn CustomerStore>,
    pub insights: Arc<dyn InsightStore>,
    pub integrations: Arc<dyn IntegrationStore>,
    pub inventory: Arc<dyn InventoryStore>,
    pub jobs: Arc<dyn JobStore>,
    pub job_requests: Arc<dyn JobRequests>,
    pub metric_days: Arc<dyn MetricDayStore>,
    pub profit: Arc<dyn ProfitStore>,
    pub reorder: Arc<dyn ReorderStore>,
    pub risks: Arc<dyn RiskStore>,
    pub sync_runs: Arc<dyn SyncRunStore>,
    pub uploads: Arc<dyn UploadStore>,
    /// How the service fares.
    pub status: Arc<StatusPages>,
    /// What shops are connected with.
    pub shops: ConnectService,
    /// Shows the beginning of files.
    pub files: Arc<dyn FileImporter>,
    /// What time it is, in UTC.
    pub clock: fn() -> OffsetDateTime,
    /// A new secret from the system's generator.
    pub token: fn() -> Token,
    pub settings: Settings,
}

/// What the pages work with beside the ports of the database.
pub struct Parts {
    pub shops: ConnectService,
    pub files: Arc<dyn FileImporter>,
    pub clock: fn() -> OffsetDateTime,
    pub token: fn() -> Token,
    pub settings: Settings,
}

impl State {
    /// Every port of the database on one store. The only place that makes them: a new one is a field above and a line here.
    pub fn of<S>(store: &Arc<S>, parts: Parts) -> Self
    where
        S: SessionStore + LinkStore + CreditLedger + InsightStore + IntegrationStore + InventoryStore + 'static,
        S: AnomalyStore + CustomerStore + MetricDayStore + ProfitStore + ReorderStore + RiskStore + SyncRunStore,
        S: JobStore + JobRequests + UploadStore + ProbeStore + IncidentStore,
    {
        let Parts { shops, files, clock, token, settings } = parts;
        Self {
            sessions: store.clone(),
            links: store.clone(),
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
            sync_runs: store.clone(),
            jobs: store.clone(),
            job_requests: store.clone(),
            uploads: store.clone(),
            status: Arc::new(StatusPages::new(store.clone(), store.clone())),
            shops,
            files,
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
