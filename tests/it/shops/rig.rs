//! A service, a fake platform, and an owner who connects a shop.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use reqwest::{Method, redirect};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::service::{Process, Service, api, free_port, run};

/// Far above what a back-fill takes on a busy machine.
const READ_WITHIN: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(50);
/// Where owners are sent back to; nobody listens there, as the test takes the query from the redirect.
const REDIRECT: &str = "http://127.0.0.1:9/connected";
const SECRET: &str = "dev-secret";

/// A fake platform.
pub struct Platform {
    pub name: &'static str,
    process: Process,
    client: reqwest::Client,
    /// The settings by which the service finds it.
    pub settings: Vec<(String, String)>,
    /// The shop's host name, where the platform has to be told it.
    shop: Option<&'static str>,
    /// Currency, zone and country of the shop.
    home: (&'static str, &'static str, &'static str),
    /// Days that its history goes back at least.
    history_days: i64,
    _folder: TempDir,
}

/// Currency, zone and country of most shops.
const EUROPE: (&str, &str, &str) = ("EUR", "Europe/Madrid", "ES");

impl Platform {
    /// A Tiendanube whose store has the account's currency and zone.
    pub fn tiendanube(orders: u32) -> Self {
        Self::tiendanube_back_to(orders, REDIRECT)
    }

    /// The same with another address that owners are sent back to.
    pub fn tiendanube_back_to(orders: u32, redirect: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let orders = orders.to_string();
        let mut command = api("", &folder);
        command.args(["dev", "tiendanube", "--at", "127.0.0.1:0", "--unlimited", "--local-hooks", "--days", "300"]);
        command.args(["--orders", &orders, "--currency", "EUR", "--timezone", "Europe/Madrid"]);
        command.args(["--redirect-uri", redirect, "--client-id", "1234", "--client-secret", SECRET]);
        let process = Process::start(&mut command);
        let settings = [
            ("BAS_TIENDANUBE_CLIENT_ID", "1234".to_owned()),
            ("BAS_TIENDANUBE_CLIENT_SECRET", SECRET.to_owned()),
            ("BAS_TIENDANUBE_USER_AGENT", "Example (hello@example.com)".to_owned()),
            ("BAS_TIENDANUBE_BASE_URL", format!("http://{}", process.address())),
        ];
        Self::new("tiendanube", process, settings, folder)
    }

    /// A Shopify with one shop.
    pub fn shopify(orders: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (orders, shop) = (orders.to_string(), "example.myshopify.com");
        let mut command = api("", &folder);
        command.args(["dev", "shopify", "--at", "127.0.0.1:0", "--unlimited", "--days", "300", "--orders", &orders]);
        command.args(["--shop", shop, "--client-id", "dev-client", "--client-secret", SECRET]);
        let process = Process::start(&mut command);
        let settings = [
            ("BAS_SHOPIFY_CLIENT_ID", "dev-client".to_owned()),
            ("BAS_SHOPIFY_CLIENT_SECRET", SECRET.to_owned()),
            ("BAS_SHOPIFY_BASE_URL", format!("http://{}", process.address())),
        ];
        Self { shop: Some(shop), ..Self::new("shopify", process, settings, folder) }
    }

    /// A Mercado Libre with one seller, in Argentina.
    pub fn mercadolibre(orders: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let orders = orders.to_string();
        let mut command = api("", &folder);
        command.args(["dev", "mercadolibre", "--at", "127.0.0.1:0", "--unlimited", "--days", "300"]);
        command.args([
            "--orders",
            &orders,
            "--redirect-uri",
            REDIRECT,
            "--client-id",
            "1234",
            "--client-secret",
            SECRET,
        ]);
        let process = Process::start(&mut command);
        let settings = [
            ("BAS_MERCADOLIBRE_CLIENT_ID", "1234".to_owned()),
            ("BAS_MERCADOLIBRE_CLIENT_SECRET", SECRET.to_owned()),
            ("BAS_MERCADOLIBRE_BASE_URL", format!("http://{}", process.address())),
        ];
        let home = ("ARS", "America/Argentina/Buenos_Aires", "AR");
        Self { home, history_days: 360, ..Self::new("mercadolibre", process, settings, folder) }
    }

    fn new<const N: usize>(
        name: &'static str,
        process: Process,
        settings: [(&str, String); N],
        folder: TempDir,
    ) -> Self {
        let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let client = reqwest::Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
        Self { name, process, client, settings, shop: None, home: EUROPE, history_days: 700, _folder: folder }
    }

    /// Asks the fake for what only it has.
    pub async fn ask(&self, path: &str) -> Value {
        let answer = self.process.request(Method::GET, &format!("/_stub/{path}")).send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        answer.json().await.unwrap()
    }

    /// Something happens on the platform.
    pub async fn happens(&self, path: &str, what: &Value) -> Value {
        let answer = self.process.request(Method::POST, &format!("/_stub/{path}")).json(what).send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert!(status.is_success(), "{path} {what}: {status} {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// The requests that it had.
    pub async fn requests(&self) -> usize {
        self.ask("log").await.as_array().unwrap().len()
    }

    /// The owner reads the page and agrees; the query that they are sent back with.
    async fn agree(&self, url: &str) -> String {
        let target = self.agreed(url).await;
        let (page, query) = target.split_once('?').unwrap();
        assert_eq!(page, REDIRECT);
        query.to_owned()
    }

    /// The owner reads the page and agrees; the address that they are sent to.
    pub async fn agreed(&self, url: &str) -> String {
        let page = self.client.get(url).send().await.unwrap();
        // Some take the visit for consent, some show a page first.
        let answer = match page.status().as_u16() {
            302 => page,
            200 => self.client.post(url).send().await.unwrap(),
            other => panic!("{url}: {other}"),
        };
        answer.headers()["location"].to_str().unwrap().to_owned()
    }
}

/// A process that reads shops.
pub fn worker(service: &Service, settings: &[(String, String)]) -> Process {
    let settings = settings.iter().map(|(name, value)| (name, value));
    Process::start(api(&service.db.url(), &service.folder).arg("work").envs(settings))
}

/// The service with an account whose shop is on the platform.
pub struct Rig {
    pub service: Service,
    /// Reads shops, and acts on their hooks.
    worker: Process,
    pub platform: Platform,
    pub key: String,
    settings: Vec<(String, String)>,
}

impl Rig {
    pub async fn start(platform: Platform) -> Self {
        let address = format!("127.0.0.1:{}", free_port());
        let mut settings = platform.settings.clone();
        let own = [
            ("BAS_RATE_LIMIT_PER_MINUTE", "100000".to_owned()),
            ("BAS_LISTEN", address.clone()),
            ("BAS_HOOKS_URL", format!("http://{address}")),
            ("BAS_INTEGRATION_REDIRECT_URL", REDIRECT.to_owned()),
        ];
        settings.extend(own.map(|(name, value)| (name.to_owned(), value)));
        let borrowed: Vec<_> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let service = Service::start_with(&borrowed).await;
        let (currency, zone, country) = platform.home;
        let sql = service.db.client().await.unwrap();
        let home = "UPDATE accounts SET currency = $1, timezone = $2, country = $3";
        sql.execute(home, &[&currency, &zone, &country]).await.unwrap();
        let key = service.key(service.account, "read,write");
        let worker = worker(&service, &settings);
        Self { service, worker, platform, key, settings }
    }

    /// Connects the shop as its owner does; the connection's id.
    pub async fn connect(&self) -> i64 {
        let base = format!("/api/v1/integrations/{}", self.platform.name);
        let post = async |path: &str, body: Value| {
            let answer = self.service.process.post(&format!("{base}/{path}"), &self.key, &body).await;
            let (status, answer) = (answer.status(), answer.json::<Value>().await.unwrap());
            assert!(status.is_success(), "{path}: {status} {answer}");
            answer
        };
        let begun = post("authorize", json!({ "shop": self.platform.shop })).await;
        let query = self.platform.agree(begun["url"].as_str().unwrap()).await;
        let made = post("complete", json!({ "query": query })).await;
        made["id"].as_i64().unwrap()
    }

    pub async fn connection(&self, id: i64) -> Value {
        self.service.process.json(&format!("/api/v1/integrations/{id}"), &self.key).await
    }

    /// Waits until something holds.
    pub async fn until(&self, what: &str, mut holds: impl AsyncFnMut() -> bool) {
        let begun = Instant::now();
        while !holds().await {
            assert!(begun.elapsed() < READ_WITHIN, "not in time: {what}");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits until the connection is as `wanted`.
    pub async fn wait(&self, id: i64, wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let connection = self.connection(id).await;
            if wanted(&connection) {
                return connection;
            }
            if begun.elapsed() > READ_WITHIN {
                let path = format!("/api/v1/integrations/{id}/runs");
                panic!("{connection}\n{}", self.service.process.json(&path, &self.key).await);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits until the whole history was read, and what happened meanwhile.
    pub async fn wait_for_history(&self, id: i64) {
        let oldest = time::OffsetDateTime::now_utc() - time::Duration::days(self.platform.history_days);
        let oldest = oldest.date().to_string();
        self.wait(id, |connection| {
            let reached = connection["backfilled_from"].as_str().is_some_and(|from| from < oldest.as_str());
            reached && connection["last_sync_at"].is_string()
        })
        .await;
    }

    /// Has the shop read once more, with all that happened up to now.
    pub async fn sync(&self, id: i64) {
        let before = self.connection(id).await["last_sync_at"].clone();
        // Windows end a little before the platform's present.
        self.platform.happens("clock", &json!({ "advance_seconds": 180 })).await;
        let path = format!("/api/v1/integrations/{id}/sync");
        let answer = self.service.process.post(&path, &self.key, &json!({})).await;
        assert_eq!(answer.status(), 200);
        self.wait(id, |connection| connection["last_sync_at"] != before && connection["last_error"].is_null()).await;
    }

    /// Kills the worker where it stands, and starts another one. The lease of the dead one is taken for over, since it lasts
    /// for minutes.
    pub async fn kill(&mut self) {
        nix::sys::signal::kill(self.worker.pid(), Signal::SIGKILL).unwrap();
        self.worker = worker(&self.service, &self.settings);
        let sql = self.service.db.client().await.unwrap();
        sql.execute("UPDATE integration_syncs SET lease_until = now()", &[]).await.unwrap();
    }

    /// Runs all jobs of the night.
    pub fn night(&self) {
        let account = self.service.account.to_string();
        let printed = run(&mut self.service.api(&["jobs", "run", "all", "--account", &account, "--json"]));
        let reports: Value = serde_json::from_str(&printed).unwrap();
        assert!(reports.as_array().unwrap().iter().all(|report| report["outcome"] == "done"), "{printed}");
    }
}
