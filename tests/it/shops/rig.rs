//! A service, fake platforms, and an owner who connects their shops.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use reqwest::StatusCode;
use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::platform::{Platform, REDIRECT};
use crate::service::{Process, Service, api, free_port};

/// Far above what a back-fill takes on a busy machine.
const READ_WITHIN: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(50);
/// Windows of changes end so long before the platform's present, or less.
const LAG_SECONDS: i64 = 180;

pub fn worker(service: &Service, settings: &[(String, String)]) -> Process {
    let settings = settings.iter().map(|(name, value)| (name, value));
    Process::start(api(&service.db.url(), &service.folder).arg("work").envs(settings))
}

/// The service with an account whose shops are on the platforms.
pub struct Rig {
    pub service: Service,
    /// Reads shops, and acts on their hooks.
    worker: Process,
    pub platforms: Vec<Platform>,
    pub key: String,
    pub settings: Vec<(String, String)>,
}

impl Rig {
    pub async fn start(platform: Platform) -> Self {
        Self::start_all(vec![platform]).await
    }

    pub async fn start_all(platforms: Vec<Platform>) -> Self {
        let address = format!("127.0.0.1:{}", free_port());
        let mut settings: Vec<_> = platforms.iter().flat_map(|platform| platform.settings.clone()).collect();
        let own = [
            ("BAS_RATE_LIMIT_PER_MINUTE", "100000".to_owned()),
            ("BAS_SHOPS_NICE_RATIO", "0".to_owned()),
            ("BAS_LISTEN", address.clone()),
            ("BAS_HOOKS_URL", format!("http://{address}")),
            ("BAS_INTEGRATION_REDIRECT_URL", REDIRECT.to_owned()),
        ];
        settings.extend(own.map(|(name, value)| (name.to_owned(), value)));
        let borrowed: Vec<_> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let service = Service::start_with(&borrowed).await;
        let currency = platforms[0].currency;
        let sql = service.db.client().await.unwrap();
        let home = "UPDATE accounts SET currency = $1, country = 'AR'";
        sql.execute(home, &[&currency]).await.unwrap();
        let key = service.key(service.account, "read,write");
        let worker = worker(&service, &settings);
        let rig = Self { service, worker, platforms, key, settings };
        for platform in &rig.platforms {
            platform.notify(Some(&rig.hooks_of(platform))).await;
        }
        rig
    }

    /// Where the hooks of a platform go.
    pub fn hooks_of(&self, platform: &Platform) -> String {
        format!("http://{}/hooks/{}", self.service.process.address(), platform.name)
    }

    /// The first platform, of most rigs the only one.
    pub fn platform(&self) -> &Platform {
        &self.platforms[0]
    }

    /// Connects the first platform's shop; the connection's id.
    pub async fn connect(&self) -> i64 {
        self.connect_to(self.platform()).await
    }

    /// Connects a shop as its owner does; the connection's id.
    pub async fn connect_to(&self, platform: &Platform) -> i64 {
        let base = format!("/api/v1/integrations/{}", platform.name);
        let post = async |path: &str, body: Value| {
            let answer = self.service.process.post(&format!("{base}/{path}"), &self.key, &body).await;
            let (status, answer) = (answer.status(), answer.json::<Value>().await.unwrap());
            assert!(status.is_success(), "{path}: {status} {answer}");
            answer
        };
        let begun = post("authorize", json!({ "shop": platform.shop })).await;
        let query = platform.agree(begun["url"].as_str().unwrap()).await;
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

    /// Whether the whole history of the platform was read, and what happened meanwhile.
    pub fn has_history(platform: &Platform, connection: &Value) -> bool {
        let oldest = OffsetDateTime::now_utc() - time::Duration::days(platform.history_days);
        let oldest = oldest.date().to_string();
        let reached = connection["backfilled_from"].as_str().is_some_and(|from| from < oldest.as_str());
        reached && connection["last_sync_at"].is_string()
    }

    /// Waits until the whole history of the first platform was read.
    pub async fn wait_for_history(&self, id: i64) {
        self.wait_for_history_of(self.platform(), id).await;
    }

    pub async fn wait_for_history_of(&self, platform: &Platform, id: i64) {
        self.wait(id, |connection| Self::has_history(platform, connection)).await;
    }

    /// Asks for the first platform's shop to be read; the platform's present, up to which it has to be.
    pub async fn ask_for_sync(&self, id: i64) -> OffsetDateTime {
        self.ask_for_sync_of(self.platform(), id).await
    }

    /// Asks for a shop to be read whose token may be found revoked before: then this is refused.
    pub async fn ask_for_last_sync(&self, id: i64) {
        let status = self.post_sync(id).await;
        assert!(matches!(status.as_u16(), 200 | 409), "{status}");
    }

    pub async fn post_sync(&self, id: i64) -> StatusCode {
        let path = format!("/api/v1/integrations/{id}/sync");
        self.service.process.post(&path, &self.key, &json!({})).await.status()
    }

    async fn ask_for_sync_of(&self, platform: &Platform, id: i64) -> OffsetDateTime {
        let present = platform.passes(LAG_SECONDS).await;
        assert_eq!(self.post_sync(id).await, StatusCode::OK);
        // Platforms say their present in whole seconds.
        present.replace_nanosecond(0).unwrap()
    }

    /// Waits until the shop was read up to an instant of the platform.
    pub async fn wait_for_sync(&self, id: i64, present: OffsetDateTime) {
        self.wait(id, |connection| Self::is_read_to(present, connection)).await;
    }

    pub fn is_read_to(present: OffsetDateTime, connection: &Value) -> bool {
        let read_to = connection["last_sync_at"].as_str().map(|at| OffsetDateTime::parse(at, &Rfc3339).unwrap());
        read_to.is_some_and(|at| at >= present) && connection["last_error"].is_null()
    }

    /// Has the first platform's shop read once more, with all that happened up to now.
    pub async fn sync(&self, id: i64) {
        self.sync_of(self.platform(), id).await;
    }

    pub async fn sync_of(&self, platform: &Platform, id: i64) {
        let present = self.ask_for_sync_of(platform, id).await;
        self.wait_for_sync(id, present).await;
    }

    /// Has the shop read as it is read every night.
    pub async fn sync_at_night(&self, id: i64) {
        let sql = self.service.db.client().await.unwrap();
        let nightly =
            "UPDATE sync_streams SET cursor_at = now() - interval '1 day' WHERE stream IN ('catalogue', 'reread')";
        sql.execute(nightly, &[]).await.unwrap();
        self.sync(id).await;
        self.until("what is read at night", async || {
            let open = "SELECT count(*) FROM sync_streams WHERE cursor_at < now() - interval '1 hour'
                AND stream IN ('catalogue', 'reread')";
            sql.query_one(open, &[]).await.unwrap().get::<_, i64>(0) == 0
        })
        .await;
    }

    /// Waits until the hooks about orders that were taken in are acted on: a run does not wait for it, and while it lasts they
    /// are put back. Those about the catalogue are put back for longer.
    pub async fn wait_for_hooks(&self) {
        let sql = self.service.db.client().await.unwrap();
        self.until("the hooks are acted on", async || {
            let open = "SELECT count(*) FROM provider_inbox
                WHERE processed_at IS NULL AND topic ->> 'topic' = 'order'";
            sql.query_one(open, &[]).await.unwrap().get::<_, i64>(0) == 0
        })
        .await;
    }

    /// Waits until an order is no more, of which a hook tells.
    pub async fn wait_for_end_of(&self, order: u64) {
        let sql = self.service.db.client().await.unwrap();
        self.until("the order is gone", async || {
            let left = "SELECT count(*) FROM orders WHERE account_id = $1 AND external_id = $2";
            let left = sql.query_one(left, &[&self.service.account, &order.to_string()]).await.unwrap();
            left.get::<_, i64>(0) == 0
        })
        .await;
    }

    /// Kills the worker where it stands, and starts another one. The leases of the dead one, of jobs too, are taken for over,
    /// since they last for minutes.
    pub async fn kill(&mut self) {
        nix::sys::signal::kill(self.worker.pid(), Signal::SIGKILL).unwrap();
        self.worker = worker(&self.service, &self.settings);
        let sql = self.service.db.client().await.unwrap();
        sql.batch_execute(
            "UPDATE integration_syncs SET lease_until = now(); UPDATE provider_inbox SET lease_until = NULL;
             UPDATE integration_tokens SET lease_until = NULL; UPDATE job_runs SET lease_until = now();
             UPDATE job_requests SET lease_until = NULL",
        )
        .await
        .unwrap();
    }

    /// Runs all jobs of the night; those that a worker is running at the moment after it.
    pub async fn night(&self) {
        let account = self.service.account.to_string();
        self.until("the jobs of the night", async || {
            let ended = self.service.api(&["jobs", "run", "all", "--account", &account, "--json"]).output().unwrap();
            let reports: Value = serde_json::from_slice(&ended.stdout).unwrap();
            let is = |report: &Value, outcome: &str| report["outcome"] == outcome;
            let mut reports = reports.as_array().unwrap().iter();
            assert!(reports.clone().all(|report| is(report, "done") || is(report, "skipped")), "{ended:?}");
            reports.all(|report| is(report, "done"))
        })
        .await;
    }
}
