//! Insights on demand from outside: the real binary, a provider that goes wrong in every way, a worker that is killed.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use domain::jobs::JobName;
use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Service, run};

/// Far above what any wait here takes.
const PATIENCE: Duration = Duration::from_secs(90);

/// A process that is killed when it is dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The provider that goes wrong when told to.
struct Provider {
    _process: Killed,
    address: String,
}

impl Provider {
    fn start(service: &Service, arguments: &[&str]) -> Self {
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
        // Whoever closes the pipe makes the next line of the log an error.
        std::thread::spawn(move || lines.count());
        Self { _process: Killed(child), address }
    }

    async fn fault(&self, fault: &str) {
        let url = format!("http://{}/dev/fault/{fault}", self.address);
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        assert_eq!(client.put(url).send().await.unwrap().status(), 204);
    }

    async fn calls(&self) -> Value {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        client.get(format!("http://{}/dev/calls", self.address)).send().await.unwrap().json().await.unwrap()
    }

    fn settings(&self) -> Vec<(String, String)> {
        [
            ("LLM_BASE_URL", format!("http://{}/v1", self.address)),
            ("LLM_MODEL", "dev".to_owned()),
            ("LLM_KEY", "sk-hunter2".to_owned()),
            ("LLM_TIMEOUT_SECONDS", "2".to_owned()),
            ("LLM_INPUT_USD", "1.5".to_owned()),
            ("LLM_OUTPUT_USD", "6".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }
}

/// A worker that has done its first round of jobs: the next is months away.
async fn worker(service: &Service, provider: &Provider) -> Killed {
    let mut command: Command = service.api(&["work"]);
    command.envs(provider.settings()).env("JOBS_CRON", "0 0 1 1 *").stdout(Stdio::null()).stderr(Stdio::null());
    let worker = Killed(command.spawn().unwrap());
    let sql = service.db.client().await.unwrap();
    let left = "SELECT count(*) FROM accounts a CROSS JOIN unnest($1::text[]) AS j(job) WHERE NOT EXISTS (
        SELECT FROM job_runs r WHERE r.account_id = a.id AND r.job = j.job AND r.state = 'done')";
    let settled = async {
        while sql.query_one(left, &[&JobName::NAMES]).await.unwrap().get::<_, i64>(0) > 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(PATIENCE, settled).await.expect("the jobs were not done");
    worker
}

/// A service whose accounts may ask the provider, and something to tell about the first of them.
async fn start(arguments: &[&str]) -> (Service, Provider) {
    let plain = Service::start().await;
    let provider = Provider::start(&plain, arguments);
    let settings = provider.settings();
    let mut settings: Vec<(&str, &str)> =
        settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    settings.push(("RATE_LIMIT_PER_MINUTE", "100000"));
    drop(plain);
    (Service::start_with(&settings).await, provider)
}

/// Another product is sold out: a fact that no insight has yet.
async fn sell_out(service: &Service, sku: &str) {
    let sql = service.db.client().await.unwrap();
    let account = service.account;
    let text = format!(
        "WITH p AS (INSERT INTO products (account_id, sku, name, created_at) VALUES ({account}, '{sku}', 'p', now())
            RETURNING account_id, id)
         INSERT INTO inventory_items (account_id, product_id, sku, product_name, current_stock, units_sold_30d,
            units_sold_7d, avg_daily_units_30d, avg_daily_units_7d, trend, status, computed_at)
         SELECT account_id, id, '{sku}', 'p', 0, 9, 0, 0, 0, 'stable', 'critical', now() FROM p"
    );
    sql.batch_execute(&text).await.unwrap();
}

async fn generate(service: &Service, key: &str) -> Value {
    let answer = service.process.request(Method::POST, "/api/v1/insights/generate").bearer_auth(key).send().await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), 202);
    let location = answer.headers()["location"].to_str().unwrap().to_owned();
    let job: Value = answer.json().await.unwrap();
    assert_eq!(location, format!("/api/v1/insights/jobs/{}", job["id"]));
    job
}

async fn ended(service: &Service, key: &str, job: &Value) -> Value {
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

async fn balance(service: &Service, key: &str) -> i64 {
    service.process.json("/api/v1/credits", key).await["balance"].as_i64().unwrap()
}

#[tokio::test]
async fn a_model_that_goes_wrong_costs_nothing_and_says_nothing() {
    let (service, provider) = start(&["--slow-seconds", "20"]).await;
    let key = service.key(service.account, "read,write");
    let _worker = worker(&service, &provider).await;
    let before = balance(&service, &key).await;
    let faults = [
        ("html", "failed", "not_json"),
        ("half_json", "failed", "truncated"),
        ("empty", "failed", "empty"),
        ("slow", "failed", "timeout"),
        ("rate_limited", "failed", "rate_limited"),
        ("server_error", "failed", "server_error"),
        ("unauthorized", "failed", "rejected"),
        ("missing", "failed", "malformed"),
        ("invented", "refused", "`987654`"),
        ("causal", "refused", "because"),
    ];
    for (number, (fault, outcome, reason)) in faults.into_iter().enumerate() {
        provider.fault(fault).await;
        sell_out(&service, &format!("SKU {number}")).await;
        let job = generate(&service, &key).await;
        let job = ended(&service, &key, &job).await;
        assert_eq!(
            (&job["outcome"], &job["refunded"], &job["credits"]),
            (&json!(outcome), &json!(true), &json!(5)),
            "{fault}"
        );
        assert!(job["reason"].as_str().unwrap().contains(reason), "{fault}: {job}");
        let insights = service.process.json("/api/v1/insights?status=open", &key).await;
        assert_eq!(insights["data"].as_array().unwrap().len(), 1, "{fault}");
        assert_eq!(insights["data"][0]["source"], "rules", "{fault}");
        assert!(!insights.to_string().contains("987654"));
        assert_eq!(balance(&service, &key).await, before, "{fault}");
    }
    for (number, fault) in ["none", "no_usage", "no_schema", "rate_limited_once"].into_iter().enumerate() {
        provider.fault(fault).await;
        sell_out(&service, &format!("SKU {number} again")).await;
        let job = generate(&service, &key).await;
        let job = ended(&service, &key, &job).await;
        assert_eq!((&job["outcome"], &job["refunded"]), (&json!("worded"), &json!(false)), "{fault}: {job}");
        let insights = service.process.json("/api/v1/insights?status=open", &key).await;
        assert_eq!(insights["data"][0]["source"], "model", "{fault}");
        let action = insights["data"][0]["suggested_action"].as_str().unwrap();
        assert!(action.starts_with("Please: "), "{action}");
    }
    assert_eq!(balance(&service, &key).await, before - 4 * 5);
    let job = generate(&service, &key).await;
    let job = ended(&service, &key, &job).await;
    assert_eq!((&job["outcome"], &job["refunded"]), (&json!("nothing_new"), &json!(true)), "nothing is worded twice");

    let sql = service.db.client().await.unwrap();
    let exact = "SELECT count(*) FROM ai_calls WHERE NOT estimated AND cost_usd = 0.0027 AND prompt_tokens = 1000";
    assert_eq!(sql.query_one(exact, &[]).await.unwrap().get::<_, i64>(0), 7, "1000 × 1.5 and 200 × 6 per million");
    let asked = provider.calls().await;
    assert!(asked["last"]["messages"][1]["content"].as_str().unwrap().contains("\\\"SKU 0\\\""));
}

#[tokio::test]
async fn a_worker_that_is_killed_in_a_call_leaves_a_run_that_is_refunded() {
    let (service, provider) = start(&["--fault", "slow", "--slow-seconds", "60"]).await;
    let key = service.key(service.account, "read,write");
    let before = balance(&service, &key).await;
    let first = worker(&service, &provider).await;
    sell_out(&service, "MUG").await;
    let job = generate(&service, &key).await;
    let asked = async {
        while provider.calls().await["count"] == 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asked).await.expect("the provider was not asked");
    drop(first);
    assert_eq!(balance(&service, &key).await, before - 5);
    let sql = service.db.client().await.unwrap();
    sql.execute("UPDATE ai_runs SET lease_until = now() - interval '1 second' WHERE state = 'running'", &[])
        .await
        .unwrap();
    let _second = worker(&service, &provider).await;
    let job = ended(&service, &key, &job).await;
    assert!(["interrupted", "failed"].contains(&job["outcome"].as_str().unwrap()), "{job}");
    assert_eq!((&job["refunded"], balance(&service, &key).await), (&json!(true), before));
}

#[tokio::test]
async fn who_is_paused_or_has_no_credits_is_refused_and_a_sandbox_calls_nobody() {
    let (service, provider) = start(&[]).await;
    let key = service.key(service.account, "read,write");
    let post = async |key: &str, idempotency: &str| {
        let request = service.process.request(Method::POST, "/api/v1/insights/generate").bearer_auth(key);
        let answer = request.header("idempotency-key", idempotency).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
    };
    let account = service.account.to_string();
    run(&mut service.api(&["ai", "pause", &account, "--reason", "disputed invoice", "--by", "ana"]));
    let (status, refused) = post(&key, "k1").await;
    assert_eq!((status, &refused["error"]), (402, &json!("payment_required")));
    let shown: Value = serde_json::from_str(&run(&mut service.api(&["ai", "status", &account, "--json"]))).unwrap();
    assert_eq!(
        (&shown["access"], &shown["pause"]["by"], &shown["critical_usd"]),
        (&json!("paused"), &json!("ana"), &json!("50"))
    );
    run(&mut service.api(&["ai", "resume", &account]));
    run(&mut service.api(&["ai", "limits", &account, "--warning", "1.5", "--auto-pause", "false"]));

    let sql = service.db.client().await.unwrap();
    let rows = "SELECT count(*) FROM credit_transactions WHERE account_id = $1 AND kind <> 'grant'";
    assert_eq!(sql.query_one(rows, &[&service.account]).await.unwrap().get::<_, i64>(0), 0);
    let (status, job) = post(&key, "k1").await;
    assert_eq!((status, &job["state"]), (202, &json!("queued")), "a refusal is not remembered under the key");
    let (_, again) = post(&key, "k1").await;
    assert_eq!(again["id"], job["id"]);
    assert_eq!(balance(&service, &key).await, 495);

    let poor = service.key(service.stranger, "read,write");
    sql.batch_execute(&format!(
        "UPDATE credit_balances SET balance = 4 WHERE account_id = {0};
         INSERT INTO credit_transactions (account_id, kind, amount, balance_after, created_at)
         VALUES ({0}, 'adjustment', -496, 4, now())",
        service.stranger
    ))
    .await
    .unwrap();
    let (status, refused) = post(&poor, "k2").await;
    assert_eq!((status, &refused["error"]), (402, &json!("insufficient_credits")));
    assert_eq!(balance(&service, &poor).await, 4);

    let sandbox = service.account + 1;
    let test_key = service.key(sandbox, "read,write");
    assert!(test_key.starts_with("svc_test_"));
    let (status, job) = post(&test_key, "k3").await;
    assert_eq!((status, &job["credits"]), (202, &json!(0)));
    let _worker = worker(&service, &provider).await;
    assert_eq!(ended(&service, &test_key, &job).await["outcome"], "rules");
    assert_eq!(provider.calls().await["count"], 0, "neither the sandbox nor a shop with nothing to tell asks anyone");
}
