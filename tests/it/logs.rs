//! An error is found by the id of its request.

use serde_json::{Value, json};

use crate::service::{Service, free_port};

#[tokio::test]
async fn the_cause_of_a_500_is_on_the_access_line_of_its_request() {
    let service = Service::start().await;
    let key = service.key(service.account, "read");
    let sql = service.db.client().await.unwrap();
    sql.batch_execute("ALTER TABLE customers RENAME TO mislaid").await.unwrap();
    let key_id: i64 = sql.query_one("SELECT id FROM api_keys", &[]).await.unwrap().get(0);

    let answer = service.process.get("/api/v1/customers?email=ana%40example.com", &key).await;
    assert_eq!(answer.status(), 500);
    let text = answer.text().await.unwrap();
    assert!(!text.contains("mislaid") && !text.contains("relation"), "{text}");
    let body: Value = serde_json::from_str(&text).unwrap();
    let id = body["request_id"].as_str().unwrap();

    let cause = json!("unexpected error: relation \"customers\" does not exist");
    let line = service.process.line(|line| line["request_id"] == id);
    assert_eq!((&line["message"], &line["level"]), (&json!("request"), &json!("INFO")));
    assert_eq!((&line["method"], &line["route"]), (&json!("GET"), &json!("/api/v1/customers")));
    assert_eq!((&line["status"], &line["error"], &line["cause"]), (&json!(500), &json!("internal_error"), &cause));
    assert_eq!((&line["account_id"], &line["key_id"]), (&json!(service.account), &json!(key_id)));
    assert_eq!(line["bytes"], text.len());
    assert!(line["ms"].as_f64().unwrap() > 0.0, "{line}");
    assert!(!line.to_string().contains("ana"), "{line}");

    // What is logged on the way carries the id in its span.
    let again = service.process.request(reqwest::Method::GET, "/api/v1/customers").bearer_auth(&key);
    assert_eq!(again.header("X-Request-Id", "again-and-again").send().await.unwrap().status(), 500);
    let failed = service.process.line(|line| line["spans"][0]["request_id"] == "again-and-again");
    assert_eq!((&failed["message"], &failed["level"]), (&json!("request failed"), &json!("ERROR")));
    assert_eq!(failed["cause"], cause);
    let span = &failed["spans"][0];
    assert_eq!(
        (&span["name"], &span["route"], &span["account_id"]),
        (&json!("request"), &json!("/api/v1/customers"), &json!(service.account))
    );
}

#[tokio::test]
async fn a_request_of_the_admin_listener_has_the_same_access_line() {
    let admin = format!("127.0.0.1:{}", free_port());
    let service = Service::start_with(&[("BAS_ADMIN_LISTEN", &admin)]).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let account = service.account;
    let line = |id: &str| service.process.line(|line| line["message"] == "request" && line["request_id"] == id);

    let pause = client.post(format!("http://{admin}/accounts/{account}/ai/pause?note=hunter2"));
    let pause = pause.header("X-Request-Id", "paused-by-ana").bearer_auth("hunter2");
    let answer = pause.json(&json!({"reason": "hunter2", "by": "ana"})).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["x-request-id"], "paused-by-ana");
    let bytes = answer.text().await.unwrap().len();
    let paused = line("paused-by-ana");
    assert_eq!((&paused["level"], &paused["target"]), (&json!("INFO"), &json!("web::access")));
    assert_eq!((&paused["method"], &paused["route"]), (&json!("POST"), &json!("/accounts/{account}/ai/pause")));
    assert_eq!((&paused["status"], &paused["error"], &paused["bytes"]), (&json!(200), &Value::Null, &json!(bytes)));
    assert_eq!((&paused["account_id"], &paused["key_id"]), (&json!(account), &Value::Null));
    assert!(paused["ms"].as_f64().unwrap() > 0.0, "{paused}");
    assert!(!paused.to_string().contains("hunter2"), "{paused}");

    let sql = service.db.client().await.unwrap();
    sql.batch_execute("ALTER TABLE accounts RENAME TO mislaid").await.unwrap();
    let access = format!("/accounts/{account}/ai");
    for (path, host, status, route, error) in [
        ("/live", "evil.example", 421, "/live", "wrong_host"),
        ("/hunter2", "localhost", 404, "unmatched", "not_found"),
        (access.as_str(), "localhost", 503, "/accounts/{account}/ai", "internal_error"),
    ] {
        let request = client.get(format!("http://{admin}{path}")).header("host", host);
        let answer = request.header("X-Request-Id", error).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{path}");
        let refused = line(error);
        assert_eq!(
            (&refused["status"], &refused["route"], &refused["error"]),
            (&json!(status), &json!(route), &json!(error))
        );
        assert_eq!(refused["cause"].is_string(), status == 503, "{refused}");
        assert!(!refused.to_string().contains("hunter2"), "{refused}");
    }

    // It is no traffic.
    let (_, metrics) = service.process.get_from(&admin, "/metrics").await;
    assert!(metrics.contains("background_task") && !metrics.contains("/ai/pause"), "{metrics}");
}
