//! An alert rule from its creation over HTTP to the event, through the worker.

use std::{process::Stdio, time::Duration};

use reqwest::Method;
use serde_json::{Value, json};

use crate::service::Service;

/// Far above what any wait here takes.
const PATIENCE: Duration = Duration::from_secs(60);

struct Worker(std::process::Child);

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until the rule shows what `done` asks for.
async fn until(service: &Service, key: &str, id: i64, done: impl Fn(&Value) -> bool) -> Value {
    let looked = async {
        loop {
            let rule = service.process.json(&format!("/api/v1/alerts/{id}"), key).await;
            if done(&rule) {
                return rule;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looked).await.expect("the rule was not evaluated")
}

/// The worker's first act is to make the partitions that events go to.
async fn months_are_made(service: &Service) {
    let sql = service.db.client().await.unwrap();
    let made = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'delivery_attempts'::regclass";
    let looked = async {
        while sql.query_one(made, &[]).await.unwrap().get::<_, i64>(0) < 2 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looked).await.expect("the worker made no partitions");
}

#[tokio::test]
async fn a_tracked_event_that_crosses_a_threshold_fires_once() {
    let service = Service::start().await;
    let mut work = service.api(&["work"]);
    work.env("BAS_ALERTS_INTERVAL_SECONDS", "1").stdout(Stdio::null()).stderr(Stdio::null());
    let _worker = Worker(work.spawn().unwrap());
    months_are_made(&service).await;
    let key = service.key(service.account, "read,write");
    let track = async |name: &str| {
        let answer = service.process.post("/api/v1/track", &key, &json!({"event": name})).await;
        assert_eq!(answer.status(), 200);
    };
    track("sign_up").await;
    let rule = json!({
        "name": "Sign-ups", "metric": "event:sign_up", "comparator": "gte", "threshold": 2, "window_hours": 1,
        "severity": "critical", "cooldown_hours": 0
    });
    let created: Value = service.process.post("/api/v1/alerts", &key, &rule).await.json().await.unwrap();
    let id = created["id"].as_i64().unwrap();
    let seen = until(&service, &key, id, |rule| rule["last_value"] == json!(1)).await;
    assert_eq!((&seen["armed"], &seen["last_fired_at"]), (&json!(true), &json!(null)));
    track("sign_up").await;
    let fired = until(&service, &key, id, |rule| !rule["last_fired_at"].is_null()).await;
    assert_eq!((&fired["armed"], &fired["last_value"]), (&json!(false), &json!(2)));
    track("sign_up").await;
    until(&service, &key, id, |rule| rule["last_value"] == json!(3)).await;

    let sql = service.db.client().await.unwrap();
    let rows = sql.query("SELECT account_id, body FROM events", &[]).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.get::<_, i64>(0)).collect::<Vec<_>>(), [service.account]);
    assert_eq!(
        serde_json::from_slice::<Value>(rows[0].get(1)).unwrap(),
        json!({"event": "alert.fired", "data": {
            "rule_id": id, "rule_name": "Sign-ups", "severity": "critical", "metric": "event:sign_up", "observed": 2,
            "threshold": 2, "comparator": "gte", "window_hours": 1
        }})
    );
    let theirs = service.key(service.stranger, "read,write");
    assert_eq!(service.process.json("/api/v1/alerts", &theirs).await["data"], json!([]));
    for method in [Method::GET, Method::DELETE] {
        let path = format!("/api/v1/alerts/{id}");
        let answer = service.process.request(method, &path).bearer_auth(&theirs).send().await.unwrap();
        assert_eq!(answer.status(), 404);
    }
}
