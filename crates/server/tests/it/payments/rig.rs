//! A service, a worker and a gateway that know each other.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use app::payments::PaymentService;
use connectors::payments::{Rebill, RebillConfig};
use domain::{
    AccountId,
    credits::{CreditAmount, CreditLedger, Debit, FeatureName, OperationKey, Transaction},
    payments::PriceList,
};
use nix::sys::signal::Signal;
use reqwest::{Method, Response};
use ring::hmac;
use serde_json::{Map, Value, json};
use store::Store;
use time::OffsetDateTime;
use tokio_postgres::Client;

use crate::service::{Process, Service, api};

/// Far above what any wait here takes.
const PATIENCE: Duration = Duration::from_secs(60);
pub const GATEWAY_KEY: &str = "gateway-key";
pub const WEBHOOK_SECRET: &str = "webhook-secret";
const PACKS: &str = "small:500:9.00:USD, big:5000:80.00:USD";
const PLANS: &str = "pro:month:3000:49.00:USD, scale:year:9000:490.00:USD";
pub const HOOK: &str = "/hooks/payments/rebill";

pub struct Rig {
    pub service: Service,
    pub gateway: Process,
    worker: Option<Process>,
    settings: Vec<(&'static str, String)>,
    pub sql: Client,
    pub store: Store,
    /// Reads and writes.
    pub key: String,
}

impl Rig {
    pub async fn start() -> Self {
        Self::start_with(&[("BAS_RATE_LIMIT_PER_MINUTE", "100000")]).await
    }

    pub async fn start_with(more: &[(&'static str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = api("postgres://nobody@127.0.0.1:1/none", &folder);
        command.args(["dev", "gateway", "--at", "127.0.0.1:0"]);
        command.env("BAS_PAYMENT_GATEWAY_KEY", GATEWAY_KEY).env("BAS_PAYMENT_WEBHOOK_SECRET", WEBHOOK_SECRET);
        command.env("BAS_CREDIT_PACKS", PACKS).env("BAS_PLANS", PLANS);
        let gateway = Process::start(&mut command);
        let mut settings = vec![
            ("BAS_PAYMENT_GATEWAY_URL", format!("http://{}", gateway.address())),
            ("BAS_PAYMENT_GATEWAY_KEY", GATEWAY_KEY.to_owned()),
            ("BAS_PAYMENT_WEBHOOK_SECRET", WEBHOOK_SECRET.to_owned()),
            ("BAS_CREDIT_PACKS", PACKS.to_owned()),
            ("BAS_PLANS", PLANS.to_owned()),
            ("BAS_AUTO_TOPUP_COOLDOWN_SECONDS", "1".to_owned()),
        ];
        settings.extend(more.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let shown: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let service = Service::start_with(&shown).await;
        let (sql, store) = (service.db.client().await.unwrap(), service.db.store().unwrap());
        let key = service.key(service.account, "read,write");
        let mut rig = Self { service, gateway, worker: None, settings, sql, store, key };
        rig.start_worker();
        let url = format!("http://{}{HOOK}", rig.service.process.address());
        rig.gateway_put("/dev/notify", json!({ "url": url })).await;
        rig
    }

    fn start_worker(&mut self) {
        let mut command = api(&self.service.db.url(), &self.service.folder);
        command.arg("work").envs(self.settings());
        self.worker = Some(Process::start(&mut command));
    }

    pub fn stop_worker(&mut self, signal: Signal) {
        self.worker.take().unwrap().end(signal);
    }

    /// What a process that knows the gateway is started with.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.settings.iter().map(|(name, value)| (*name, value.as_str()))
    }

    async fn gateway_put(&self, path: &str, body: Value) {
        let answer = self.gateway.request(Method::PUT, path).json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 204, "{path}");
    }

    pub async fn faults(&self, faults: Value) {
        self.gateway_put("/dev/faults", faults).await;
    }

    /// What takes payments where these lists are for sale.
    pub fn payment_service(&self, packs: &str, plans: &str) -> PaymentService {
        let store = Arc::new(self.store.clone());
        let gateway = Rebill::new(RebillConfig {
            base_url: format!("http://{}", self.gateway.address()).parse().unwrap(),
            api_key: GATEWAY_KEY.into(),
            webhook_secret: WEBHOOK_SECRET.into(),
        });
        PaymentService {
            gateway: Arc::new(gateway.unwrap()),
            payments: store.clone(),
            accounts: store,
            prices: Arc::new(PriceList::parse(packs, plans).unwrap()),
        }
    }

    /// A person pays; gives the payment's id.
    pub async fn pay(&self, account: i64, item: &str, more: Value) -> String {
        let mut body = json!({ "account_id": account, "item": item, "email": "payer@example.com" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = self.gateway.request(Method::POST, "/dev/checkout").json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 201);
        let payment: Value = answer.json().await.unwrap();
        payment["id"].as_str().unwrap().to_owned()
    }

    pub async fn set_status(&self, payment: &str, status: &str) {
        let path = format!("/dev/payments/{payment}");
        let answer = self.gateway.request(Method::POST, &path).json(&json!({ "status": status })).send().await.unwrap();
        assert_eq!(answer.status(), 200);
    }

    /// Every payment that the gateway has.
    pub async fn payments(&self) -> Vec<Value> {
        let answer = self.gateway.request(Method::GET, "/dev/payments").send().await.unwrap();
        answer.json().await.unwrap()
    }

    /// Notifies as the gateway does, signed now.
    pub async fn notify(&self, payment: &str) -> (u16, Value) {
        let body = json!({ "event": "payment.updated", "payment": { "id": payment } }).to_string();
        let signature = signature(WEBHOOK_SECRET, OffsetDateTime::now_utc().unix_timestamp(), &body);
        self.post(HOOK, &[&signature], body).await
    }

    pub async fn post(&self, path: &str, signatures: &[&str], body: String) -> (u16, Value) {
        let mut request = self.service.process.request(Method::POST, path).body(body);
        for signature in signatures {
            request = request.header("x-rebill-signature", *signature);
        }
        let answer: Response = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap_or_default())
    }

    pub async fn debit(&self, amount: i64, key: &str) -> Transaction {
        self.debit_of(self.service.account, amount, key).await
    }

    pub async fn debit_of(&self, account: i64, amount: i64, key: &str) -> Transaction {
        let debit = Debit {
            account: AccountId(account),
            amount: CreditAmount::new(amount).unwrap(),
            feature: FeatureName::new("chat").unwrap(),
            key: OperationKey::new(key).unwrap(),
            meta: Map::new(),
        };
        self.store.debit(debit, OffsetDateTime::now_utc()).await.unwrap()
    }

    pub async fn credits(&self) -> Value {
        self.service.process.json("/api/v1/credits", &self.key).await
    }

    /// Waits until the account's credits are as wanted, and gives them.
    pub async fn until(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let credits = self.credits().await;
            if wanted(&credits) {
                return credits;
            }
            assert!(start.elapsed() < PATIENCE, "{what} never came: {credits}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Kind and amount of every row of the ledger but the grant at the start.
    pub async fn ledger(&self) -> Vec<(String, i64)> {
        let rows = self
            .sql
            .query(
                "SELECT kind, amount FROM credit_transactions WHERE account_id = $1 AND kind <> 'grant' ORDER BY id",
                &[&self.service.account],
            )
            .await
            .unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    }

    /// The bodies of the account's events.
    pub async fn events(&self) -> Vec<Value> {
        let rows = self
            .sql
            .query("SELECT body FROM events WHERE account_id = $1 ORDER BY id", &[&self.service.account])
            .await
            .unwrap();
        rows.iter().map(|row| serde_json::from_slice(row.get::<_, &[u8]>(0)).unwrap()).collect()
    }
}

/// The documented scheme, written down a second time.
pub fn signature(secret: &str, timestamp: i64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, format!("{timestamp}.{body}").as_bytes());
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={timestamp},v1={hex}")
}

/// The names of events.
pub fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}
