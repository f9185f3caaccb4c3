//! An error is found by the id of its request.

use serde_json::{Value, json};

use crate::service::Service;

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
