//! What the pages work with: the ports and the settings.

use std::{sync::Arc, time::Duration};

use ::web::client::Network;
use app::{
    ai::InsightTextGenerator, deliveries::Ports, log_in::LogIn, passwords::Passwords, payments::PaymentService,
    second_factor::SecondFactors, shops::connect::ConnectService, social::profiles::ProfileService,
    status::StatusPages,
};
use domain::{
    accounts::{AccountStore, Mode},
    ads::AdStore,
    alerts::AlertStore,
    anomalies::AnomalyStore,
    audit::AuditLog,
    creatives::CreativeStore,
    credits::{CreditAmount, CreditLedger, TransactionLog, auto_topup::AutoTopupStore},
    customers::CustomerStore,
    daily::DailyStore,
    erasure::ErasureStore,
    exports::ExportStore,
    idempotency::AnswerStore,
    incidents::IncidentStore,
    insights::InsightStore,
    integrations::IntegrationStore,
    inventory::InventoryStore,
    jobs::{JobRequests, JobStore},
    keys::{ApiKey, KeyStore},
    log_in::{CredentialStore, MailLinkStore, SecondFactorStore},
    mail::{MailQueue, Outbox},
    metric_days::MetricDayStore,
    notes::NoteStore,
    people::PersonStore,
    profit::ProfitStore,
    queues::QueueStore,
    rate_limit::RateLimiter,
    reorder::ReorderStore,
    risks::RiskStore,
    sealing::Sealer,
    sessions::{LinkStore, SessionStore, Token},
    shops::{privacy::PrivacyStore, sync::SyncRunStore},
    social::{conversations::ConversationStore, settings::SettingsStore, templates::TemplateStore},
    throttle::ThrottleStore,
    uploads::{FileImporter, UploadStore},
    uptime::ProbeStore,
    usage::UsageStore,
    visits::VisitStore,
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
    pub people: Arc<dyn PersonStore>,
    pub mail_links: Arc<dyn MailLinkStore>,
    pub mails: Arc<dyn MailQueue>,
    pub audit: Arc<dyn AuditLog>,
    pub log_in: LogIn,
    /// Where mails are put aside, on a developer's machine.
    pub outbox: Option<Arc<dyn Outbox>>,
    pub accounts: Arc<dyn AccountStore>,
    pub ads: Arc<dyn AdStore>,
    pub alerts: Arc<dyn AlertStore>,
    pub anomalies: Arc<dyn AnomalyStore>,
    /// Which forms were sent.
    pub answers: Arc<dyn AnswerStore>,
    pub auto_top_up: Arc<dyn AutoTopupStore>,
    pub conversations: Arc<dyn ConversationStore>,
    pub creatives: Arc<dyn CreativeStore>,
    pub credits: Arc<dyn CreditLedger>,
    pub customers: Arc<dyn CustomerStore>,
    pub privacy: Arc<dyn PrivacyStore>,
    pub daily: Arc<dyn DailyStore>,
    pub delivery_log: Arc<dyn DeliveryLog>,
    pub erasures: Arc<dyn ErasureStore>,
    pub exports: Arc<dyn ExportStore>,
    pub insights: Arc<dyn InsightStore>,
    /// What insights are asked for with.
    pub text_generator: InsightTextGenerator,
    pub integrations: Arc<dyn IntegrationStore>,
    pub inventory: Arc<dyn InventoryStore>,
    pub jobs: Arc<dyn JobStore>,
    pub job_requests: Arc<dyn JobRequests>,
    pub keys: Arc<dyn KeyStore>,
    pub metric_days: Arc<dyn MetricDayStore>,
    pub notes: Arc<dyn NoteStore>,
    pub profit: Arc<dyn ProfitStore>,
    pub queues: Arc<dyn QueueStore>,
    pub reorder: Arc<dyn ReorderStore>,
    pub replays: Arc<dyn ReplayStore>,
    pub reply_templates: Arc<dyn TemplateStore>,
    pub risks: Arc<dyn RiskStore>,
    pub social_settings: Arc<dyn SettingsStore>,
    pub transactions: Arc<dyn TransactionLog>,
    pub usage: Arc<dyn UsageStore>,
    /// What credits are sold by; none where nothing is for sale.
    pub payments: Option<PaymentService>,
    pub sync_runs: Arc<dyn SyncRunStore>,
    pub uploads: Arc<dyn UploadStore>,
    /// How the service fares.
    pub status: Arc<StatusPages>,
    /// What shops are connected with, and profiles.
    pub shops: ConnectService,
    pub profiles: ProfileService,
    /// Shows the beginning of files.
    pub files: Arc<dyn FileImporter>,
    pub visits: Arc<dyn VisitStore>,
    pub webhooks: Arc<dyn WebhookStore>,
    pub webhook_settings: Arc<dyn WebhookSettings>,
    /// What deliveries are made with.
    pub deliveries: Ports,
    /// Counts the requests of a person.
    pub limiter: Arc<dyn RateLimiter>,
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
    pub sealer: Arc<dyn Sealer>,
    pub passwords: Passwords,
    pub text_generator: InsightTextGenerator,
    pub outbox: Option<Arc<dyn Outbox>>,
    pub shops: ConnectService,
    pub profiles: ProfileService,
    pub payments: Option<PaymentService>,
    pub files: Arc<dyn FileImporter>,
    pub deliveries: Ports,
    pub limiter: Arc<dyn RateLimiter>,
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
        S: AuditLog + CredentialStore + MailLinkStore + MailQueue + PersonStore + SecondFactorStore + ThrottleStore,
        S: AdStore
            + CreativeStore
            + AnomalyStore
            + CustomerStore
            + PrivacyStore
            + MetricDayStore
            + ProfitStore
            + ReorderStore
            + RiskStore
            + SyncRunStore
            + KeyStore
            + AlertStore
            + DailyStore,
        S: JobStore + JobRequests + UploadStore + ProbeStore + IncidentStore,
        S: AccountStore
            + NoteStore
            + QueueStore
            + AutoTopupStore
            + ErasureStore
            + ExportStore
            + TransactionLog
            + UsageStore,
        S: ConversationStore + TemplateStore + SettingsStore,
        S: AnswerStore + VisitStore + WebhookStore + WebhookSettings + DeliveryLog + ReplayStore,
    {
        let Parts {
            sealer,
            passwords,
            text_generator,
            outbox,
            shops,
            profiles,
            payments,
            files,
            deliveries,
            limiter,
            clock,
            token,
            key,
            secret,
            settings,
        } = parts;
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
            privacy: store.clone(),
            mail_links: store.clone(),
            mails: store.clone(),
            audit: store.clone(),
            log_in,
            outbox,
            accounts: store.clone(),
            ads: store.clone(),
            alerts: store.clone(),
            anomalies: store.clone(),
            answers: store.clone(),
            auto_top_up: store.clone(),
            conversations: store.clone(),
            creatives: store.clone(),
            credits: store.clone(),
            customers: store.clone(),
            daily: store.clone(),
            delivery_log: store.clone(),
            erasures: store.clone(),
            exports: store.clone(),
            insights: store.clone(),
            text_generator,
            integrations: store.clone(),
            inventory: store.clone(),
            keys: store.clone(),
            metric_days: store.clone(),
            notes: store.clone(),
            profit: store.clone(),
            queues: store.clone(),
            reorder: store.clone(),
            replays: store.clone(),
            reply_templates: store.clone(),
            risks: store.clone(),
            social_settings: store.clone(),
            transactions: store.clone(),
            usage: store.clone(),
            payments,
            sync_runs: store.clone(),
            jobs: store.clone(),
            job_requests: store.clone(),
            uploads: store.clone(),
            status: Arc::new(StatusPages::new(store.clone(), store.clone())),
            shops,
            profiles,
            files,
            visits: store.clone(),
            webhooks: store.clone(),
            webhook_settings: store.clone(),
            deliveries,
            limiter,
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
    /// Whether mails are sent, or put aside.
    pub has_mail: bool,
    /// Whether anybody may sign up.
    pub is_open: bool,
    /// Countries whose public holidays are known.
    pub holiday_countries: Vec<&'static str>,
    /// Credits that a model's vote on a comment costs; `None` where there is no model.
    pub vote_price: Option<CreditAmount>,
    /// Receivers on this machine that webhooks may be sent to.
    pub webhook_allow_loopback: AllowList,
    /// Requests per minute and key: a person may make as many at least.
    pub rate_limit_per_minute: u32,
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
