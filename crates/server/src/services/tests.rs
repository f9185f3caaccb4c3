//! Each background task is made to panic, and does its work again afterwards.

use std::net::SocketAddr;

use actix_web::{App, HttpResponse, HttpServer, web};
use delivery::seal::KeyRing;
use domain::{
    AccountId, UserId,
    accounts::{AccountStore, NewUser, Plan},
    keys::Scope,
};
use reqwest::StatusCode;
use secrecy::SecretString;
use serde_json::{Value, json};
use testkit::TestDb;
use tokio::{net::TcpStream, sync::Notify};

use super::*;
use crate::{commands::keys, config::undisturbed};

/// Far above what any wait here takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Every task that runs for as long as the process does. One that is missing here is not known to come back.
const TASKS: [&str; 19] = [
    "ai",
    "alerts",
    "auto_topup",
    "deliveries",
    "delivery_listener",
    "erasures",
    "exports",
    "key_uses",
    "mails",
    "metrics_upkeep",
    "probes",
    "redis_link",
    "replica_watcher",
    "revocation_listener",
    "scheduler",
    "shop_hooks",
    "shop_sync",
    "social",
    "uploads",
];

async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let looked = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looked).await.unwrap_or_else(|_| panic!("{what} did not come about"));
}

/// Everything in one process, with a standby, a Redis, a gateway and a receiver that are not there.
fn everything(db: &TestDb) -> Config {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let secret = |text: &str| Some(SecretString::from(text));
    let nobody = "127.0.0.1:9";
    Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        admin_listen: free,
        dashboard_listen: "127.0.0.1:0".parse().unwrap(),
        database_url: secret(&db.url()),
        meta_app_secret: secret("app secret"),
        meta_verify_token: secret("token"),
        meta_base_url: format!("http://{nobody}"),
        database_read_url: secret(&db.url()),
        redis_url: secret(&format!("redis://{nobody}")),
        smtp_url: secret(&format!("smtp://{nobody}")),
        mail_from: "Example <hello@example.com>".to_owned(),
        payment_gateway_url: format!("http://{nobody}"),
        payment_gateway_key: secret("key"),
        payment_webhook_secret: secret("secret"),
        webhook_allow_loopback: nobody.to_owned(),
        alerts_interval_seconds: 1,
        rate_limit_per_minute: 1_000_000,
        // The account is made after the start: where the first look at the accounts has missed it, the next is near.
        jobs_cron: "* * * * *".to_owned(),
        ..undisturbed()
    }
}

/// A running process from outside.
struct Outside {
    sql: tokio_postgres::Client,
    http: reqwest::Client,
    api: SocketAddr,
    admin: SocketAddr,
    account: i64,
    key: String,
}

impl Outside {
    async fn get(&self, path: &str) -> Value {
        let answer = self.http.get(format!("http://{}/api/v1/{path}", self.api)).bearer_auth(&self.key).send().await;
        let answer = answer.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        answer.json().await.unwrap()
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let request = self.http.post(format!("http://{}/api/v1/{path}", self.api)).bearer_auth(&self.key).json(&body);
        let answer = request.send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        answer.json().await.unwrap()
    }

    async fn operator(&self, path: &str) -> (StatusCode, String) {
        let answer = self.http.get(format!("http://{}/{path}", self.admin)).send().await.unwrap();
        (answer.status(), answer.text().await.unwrap())
    }

    async fn number(&self, sql: &str) -> i64 {
        self.sql.query_one(sql, &[]).await.unwrap().get(0)
    }

    /// Each kind of work is done again. `round` distinguishes the calls.
    async fn works(&self, round: u32) {
        let name = format!("round_{round}");
        // Alerts, and by the event that they make, deliveries.
        self.post("track", json!({ "event": name })).await;
        let rule = json!({
            "name": name, "metric": format!("event:{name}"), "comparator": "gte", "threshold": 1, "window_hours": 1,
            "severity": "critical", "cooldown_hours": 0
        });
        self.post("alerts", rule).await;
        let attempted = format!(
            "SELECT count(*) FROM deliveries d JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id
             WHERE d.attempts > 0 AND convert_from(e.body, 'UTF8') LIKE '%{name}%'"
        );
        until("an attempt to deliver", async || self.number(&attempted).await == 1).await;
        // AI runs.
        let run = self.post("insights/generate", json!({})).await;
        let ended = format!("SELECT count(*) FROM ai_runs WHERE id = {} AND finished_at IS NOT NULL", run["id"]);
        until("the end of an AI run", async || self.number(&ended).await == 1).await;
        // Automatic top-ups: this one is canceled, for they are off.
        let due = "INSERT INTO auto_topups (account_id, credits, due_at, created_at) VALUES ($1, 500, now(), now())";
        self.sql.execute(due, &[&self.account]).await.unwrap();
        let waits = "SELECT count(*) FROM auto_topups WHERE state = 'pending'";
        until("the end of a top-up", async || self.number(waits).await == 0).await;
        // Probes.
        until("a probe", async || self.number("SELECT count(*) FROM status_probes").await > 0).await;
        // Jobs.
        until("the runs of the jobs", async || self.number("SELECT count(*) FROM job_runs").await > 0).await;
        // Keys are held in memory, which only who hears of revocations may do: a change behind its back does not show.
        let mut plans = ["free", "pro"].into_iter().cycle();
        until("a key that is held", async || {
            self.get("me").await;
            let plan = plans.next().unwrap();
            self.sql.execute("UPDATE accounts SET plan = $1", &[&plan]).await.unwrap();
            self.get("me").await["plan"] != plan
        })
        .await;
    }
}

async fn check(outside: &Outside, supervisor: &Supervisor) {
    let faults = &supervisor.faults;
    until("a start of all tasks", async || faults.names() == TASKS).await;
    outside.works(1).await;
    assert_eq!(outside.operator("ready").await.0, StatusCode::OK);
    outside.sql.batch_execute("DELETE FROM job_runs; DELETE FROM status_probes").await.unwrap();
    // The listener of deliveries alone, then again along with the deliveries, to which it belongs.
    faults.kill("delivery_listener");
    until("its restart", async || faults.starts("delivery_listener") == 2).await;
    TASKS.iter().for_each(|task| faults.kill(task));
    for task in TASKS {
        let starts = if task == "delivery_listener" { 3 } else { 2 };
        until(task, async || faults.starts(task) == starts).await;
    }
    outside.works(2).await;
    assert_eq!(outside.operator("ready").await.0, StatusCode::OK, "one panic is none too many");
    for start in [3, 4] {
        faults.kill("alerts");
        until("a restart", async || faults.starts("alerts") == start).await;
    }
    let (status, said) = outside.operator("ready").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(said.contains("alerts"), "{said}");
    let (_, metrics) = outside.operator("metrics").await;
    for (task, panics) in [("alerts", 3), ("scheduler", 1), ("redis_link", 1), ("batch_writer", 0)] {
        let line = format!("background_task_panics_total{{task=\"{task}\"}} {panics}");
        assert!(metrics.lines().any(|found| found == line), "{line}: {metrics}");
    }
    outside.works(3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_background_task_comes_back_after_a_panic_and_does_its_work() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let db = TestDb::new().await.unwrap();
    let (config, supervisor) = (everything(&db), Supervisor::default());
    let stop = CancellationToken::new();
    let database = Database::own(&config, &stop).unwrap();
    let ring = Arc::new(KeyRing::parse(&KeyRing::generate_entry("test").unwrap()).unwrap());
    let roles = Roles { http: true, work: true };
    let ended = run_supervised(&supervisor, &config, &database, ring, roles, &stop, async |store, address| {
        let user = NewUser {
            id: UserId::generate(std::iter::repeat(7)),
            name: "shop".to_owned(),
            currency: "EUR".parse().unwrap(),
            timezone: "Europe/Madrid".parse().unwrap(),
            locale: domain::texts::Locale::ENGLISH,
            plan: Plan::Free,
            now: OffsetDateTime::now_utc(),
        };
        let account = AccountStore::create(store, user).await?.first().unwrap().id;
        let scopes = vec![Scope::Read, Scope::Write];
        let (key, _) = keys::create(store, AccountId(account.0), None, scopes, None, "test".to_owned()).await?;
        let outside = Outside {
            sql: db.client().await?,
            http: reqwest::Client::builder().no_proxy().build()?,
            api: address.unwrap().api,
            admin: config.admin_listen,
            account: account.0,
            key: key.expose().to_owned(),
        };
        let subscription = json!({ "url": "http://127.0.0.1:9/", "events": ["alert.fired"] });
        outside.post("webhooks", subscription).await;
        check(&outside, &supervisor).await;
        anyhow::bail!("all was seen")
    });
    assert_eq!(ended.await.unwrap_err().to_string(), "all was seen");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_one_listener_ends_its_last_request_no_other_takes_new_ones() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (came, answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let serve = || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, came, answer) = (listener.local_addr().unwrap(), came.clone(), answer.clone());
        let slow = move || {
            let (came, answer) = (came.clone(), answer.clone());
            async move {
                came.notify_one();
                answer.notified().await;
                HttpResponse::Ok().finish()
            }
        };
        let server = HttpServer::new(move || App::new().default_service(web::to(slow.clone())));
        (server.workers(1).disable_signals().listen(listener).unwrap().run(), address)
    };
    let ((busy, of_busy), (idle, of_idle)) = (serve(), serve());
    let handles = [busy.handle(), idle.handle()];
    let serving = tokio::spawn(futures_util::future::join(busy, idle));
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = tokio::spawn(client.get(format!("http://{of_busy}/")).send());
    came.notified().await;
    let stopping = tokio::spawn(async move { stop_all(&handles).await });
    until("the end of the idle listener", async || TcpStream::connect(of_idle).await.is_err()).await;
    assert!(!stopping.is_finished(), "the request is still waiting");
    answer.notify_one();
    assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::OK);
    stopping.await.unwrap();
    let (first, second) = serving.await.unwrap();
    first.unwrap();
    second.unwrap();
}
