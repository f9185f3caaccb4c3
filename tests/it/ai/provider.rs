//! A service and a worker with a language model that fails on demand, and facts for it to write about.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Stdio},
    time::Duration,
};

use reqwest::Method;
use serde_json::Value;

use crate::service::Service;

/// The secret that the service shows the provider.
pub const KEY: &str = "sk-hunter2";

const JOBS: [&str; 8] = [
    "customer_metrics",
    "profit_snapshots",
    "inventory_velocity",
    "smart_reorder",
    "anomaly_detection",
    "insight_generation",
    "risk_assessment",
    "creative_winners",
];

/// Far above what any wait here takes.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// A process that is killed when it is dropped.
pub struct Killed(pub Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The provider that fails on demand.
pub struct Provider {
    _process: Killed,
    address: String,
}

impl Provider {
    pub fn start(service: &Service, arguments: &[&str]) -> Self {
        let mut command = service.api(&["dev", "llm", "--at", "127.0.0.1:0"]);
        let mut child = command.args(arguments).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().unwrap().unwrap();
            if let Ok(entry) = serde_json::from_str::<Value>(&line)
                && entry["message"] == "ready"
            {
                break entry["address"].as_str().unwrap().to_owned();
            }
        };
        // With the pipe closed the next line of the log would be an error.
        std::thread::spawn(move || lines.count());
        Self { _process: Killed(child), address }
    }

    pub async fn fault(&self, fault: &str) {
        let url = format!("http://{}/dev/fault/{fault}", self.address);
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        assert_eq!(client.put(url).send().await.unwrap().status(), 204);
    }

    pub async fn calls(&self) -> Value {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        client.get(format!("http://{}/dev/calls", self.address)).send().await.unwrap().json().await.unwrap()
    }

    pub fn settings(&self) -> Vec<(String, String)> {
        [
            ("BAS_LLM_BASE_URL", format!("http://{}/v1", self.address)),
            ("BAS_LLM_MODEL", "dev".to_owned()),
            ("BAS_LLM_KEY", KEY.to_owned()),
            ("BAS_LLM_TIMEOUT_SECONDS", "2".to_owned()),
            ("BAS_LLM_INPUT_USD", "1.5".to_owned()),
            ("BAS_LLM_OUTPUT_USD", "6".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }
}

/// Another product is out of stock: a fact that no insight has yet.
pub async fn sell_out(service: &Service, account: i64, sku: &str) {
    let sql = service.db.client().await.unwrap();
    let text = format!(
        "WITH p AS (INSERT INTO products (account_id, sku, name, created_at) VALUES ({account}, '{sku}', 'p', now())
            RETURNING account_id, id)
         INSERT INTO inventory_items (account_id, product_id, sku, product_name, current_stock, units_sold_30d,
            units_sold_7d, avg_daily_units_30d, avg_daily_units_7d, trend, status, computed_at)
         SELECT account_id, id, '{sku}', 'p', 0, 9, 0, 0, 0, 'stable', 'critical', now() FROM p"
    );
    sql.batch_execute(&text).await.unwrap();
}

pub async fn balance(service: &Service, key: &str) -> i64 {
    service.process.json("/api/v1/credits", key).await["balance"].as_i64().unwrap()
}

/// A worker that has done its first round of jobs: the next is months away.
pub async fn worker(service: &Service, provider: &Provider) -> Killed {
    worker_that_logs(service, provider, "off", Stdio::null()).await
}

/// The same, with a log.
pub async fn worker_that_logs(service: &Service, provider: &Provider, filter: &str, log: Stdio) -> Killed {
    let mut command = service.api(&["work"]);
    command.envs(provider.settings()).env("BAS_JOBS_CRON", "0 0 1 1 *").env("BAS_LOG", filter);
    command.stdout(Stdio::null()).stderr(log);
    let worker = Killed(command.spawn().unwrap());
    let sql = service.db.client().await.unwrap();
    let left = "SELECT (SELECT count(*) FROM accounts) * cardinality($1::text[]) - (
        SELECT count(DISTINCT (account_id, job)) FROM job_runs WHERE job = ANY ($1) AND state = 'done')";
    let settled = async {
        while sql.query_one(left, &[&JOBS.as_slice()]).await.unwrap().get::<_, i64>(0) > 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(PATIENCE, settled).await.expect("the jobs were not done");
    worker
}

/// A service whose accounts may ask the provider, and something to tell about the first of them.
pub async fn start(arguments: &[&str]) -> (Service, Provider) {
    let plain = Service::start().await;
    let provider = Provider::start(&plain, arguments);
    let settings = provider.settings();
    let mut settings: Vec<(&str, &str)> =
        settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    settings.push(("BAS_RATE_LIMIT_PER_MINUTE", "100000"));
    drop(plain);
    (Service::start_with(&settings).await, provider)
}

pub async fn generate(service: &Service, key: &str) -> Value {
    let answer = service.process.request(Method::POST, "/api/v1/insights/generate").bearer_auth(key).send().await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), 202);
    let location = answer.headers()["location"].to_str().unwrap().to_owned();
    let job: Value = answer.json().await.unwrap();
    assert_eq!(location, format!("/api/v1/insights/jobs/{}", job["id"]));
    job
}

pub async fn ended(service: &Service, key: &str, job: &Value) -> Value {
    let path = format!("/api/v1/insights/jobs/{}", job["id"]);
    let looked = async {
        loop {
            let job = service.process.json(&path, key).await;
            if !job["outcome"].is_null() {
                return job;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looked).await.expect("the job did not end")
}
