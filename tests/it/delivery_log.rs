//! The log of deliveries is of a bounded size, whatever receivers answer and however often a delivery is sent.

use serde_json::{Value, json};

use crate::service::Service;

/// A hundred deliveries of the subscription with 200 attempts each, answered by what takes most room in JSON: control
/// characters, and a header of bytes that are no text.
const FILL: &str = "
    WITH made AS (
        INSERT INTO deliveries (account_id, subscription_id, event_id, id, state, due_at, attempts, created_at)
        SELECT $1, $2, n, gen_random_uuid(), 'delivered', now(), 200, now() - interval '1 day'
        FROM generate_series(1, 100) AS n RETURNING id
    ), answer AS MATERIALIZED (
        SELECT substring(decode(repeat('0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 529), 'hex'), 1, 16384)
            AS bytes
    )
    INSERT INTO delivery_attempts (account_id, delivery_id, number, started_at, status, total_us, answer, location)
    SELECT $1, made.id, n, now() - interval '1 hour' + n * interval '1 s', 302, 1000, answer.bytes, repeat(chr(65533), 2048)
    FROM made, answer, generate_series(1, 200) AS n";

/// 8 MB.
const BUDGET: usize = 8_000_000;

#[tokio::test]
async fn an_answer_has_a_byte_budget_whatever_receivers_answered() {
    let service = Service::start().await;
    let key = service.key(service.account, "read,write");
    let body = json!({ "url": "https://example.com/hook" });
    let created: Value = service.process.post("/api/v1/webhooks", &key, &body).await.json().await.unwrap();
    let id = created["id"].as_i64().unwrap();
    service.db.client().await.unwrap().execute(FILL, &[&service.account, &id]).await.unwrap();

    let path = format!("/api/v1/webhooks/{id}/deliveries");
    let read = async |path: &str| {
        let response = service.process.get(path, &key).await;
        assert_eq!(response.status(), 200, "{path}");
        let bytes = response.bytes().await.unwrap();
        assert!(bytes.len() < BUDGET, "{} bytes", bytes.len());
        serde_json::from_slice::<Value>(&bytes).unwrap()
    };
    let page = read(&format!("{path}?limit=100")).await;
    let deliveries = page["data"].as_array().unwrap();
    assert_eq!(deliveries.len(), 100);
    let numbers = |delivery: &Value| {
        delivery["attempts"].as_array().unwrap().iter().map(|a| a["number"].clone()).collect::<Vec<_>>()
    };
    for delivery in deliveries {
        assert_eq!(numbers(delivery), [196, 197, 198, 199, 200]);
        assert_eq!((&delivery["attempts_made"], &delivery["attempts_kept"]), (&json!(200), &json!(50)));
        let attempt = &delivery["attempts"][0];
        assert_eq!((attempt["answer"].as_str().unwrap().len(), &attempt["answer_truncated"]), (1_024, &json!(true)));
    }
    let one = read(&format!("{path}/{}", deliveries[0]["id"].as_str().unwrap())).await;
    assert_eq!(numbers(&one), (151..=200).collect::<Vec<_>>());
    let attempt = &one["attempts"][0];
    assert_eq!((attempt["answer"].as_str().unwrap().len(), &attempt["answer_truncated"]), (16_384, &json!(false)));
}
