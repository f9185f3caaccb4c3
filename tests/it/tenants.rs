//! What belongs to one account never shows in another's answers.

use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Service, run};

const ORDERS: &str = "order_id,sku,name,quantity,date,unit_price,customer_id,email
1001,MUG,Blue mug,2,2026-03-01 10:00:00,10.50,c1,ana@example.com
1001,CUP,Cup,1,2026-03-01 10:00:00,5.25,c1,ana@example.com
1002,MUG,Blue mug,1,2026-03-02 09:30:00,10.50,c2,luis@example.com
";

/// Imports the file for the account and runs the jobs as of the day after.
fn fill(service: &Service, account: i64) {
    let file = service.folder.path().join("orders.csv");
    std::fs::write(&file, ORDERS).unwrap();
    let account = account.to_string();
    run(&mut service.api(&["import", "orders", file.to_str().unwrap(), "--account", &account]));
    run(&mut service.api(&["jobs", "run", "all", "--account", &account, "--clock", "2026-03-03"]));
}

#[tokio::test]
async fn an_import_shows_in_its_own_account_alone() {
    let service = Service::start().await;
    fill(&service, service.account);
    let (mine, theirs) = (service.key(service.account, "read"), service.key(service.stranger, "read"));

    let customers = service.process.json("/api/v1/customers", &mine).await;
    let names: Vec<_> = customers["data"].as_array().unwrap().iter().map(|c| c["email"].clone()).collect();
    assert_eq!(names, ["luis@example.com", "ana@example.com"]);
    assert_eq!(customers["data"][1]["revenue_total"], json!(26.25));
    assert_eq!(customers["data"][1]["orders_count"], json!(1));

    for path in [
        "customers",
        "integrations",
        "webhooks",
        "insights",
        "anomalies?days=90",
        "profit?days=365",
        "risks",
        "ads",
        "creatives",
        "metrics?metric=orders",
    ] {
        let listed = service.process.json(&format!("/api/v1/{path}"), &theirs).await;
        assert_eq!(listed["data"], json!([]), "{path}");
    }
    for path in ["inventory", "reorder"] {
        let listed = service.process.json(&format!("/api/v1/{path}"), &theirs).await;
        assert_eq!(listed["items"], json!([]), "{path}");
    }
    let csv = service.process.get("/api/v1/customers?format=csv", &theirs).await.text().await.unwrap();
    assert_eq!(csv.lines().count(), 1);
}

#[tokio::test]
async fn the_profit_of_a_day_is_the_sum_of_its_orders_to_the_cent() {
    let service = Service::start().await;
    fill(&service, service.account);
    let sql = service.db.client().await.unwrap();
    let rows = sql
        .query(
            "SELECT snapshot_date::text, gross_revenue::text, purchase_count FROM profit_snapshots
             WHERE account_id = $1 AND gross_revenue > 0 ORDER BY snapshot_date",
            &[&service.account],
        )
        .await
        .unwrap();
    let rows: Vec<(String, String, i64)> = rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    assert_eq!(
        rows,
        [("2026-03-01".to_owned(), "26.250000".to_owned(), 1), ("2026-03-02".to_owned(), "10.500000".to_owned(), 1)]
    );
}

#[tokio::test]
async fn another_accounts_webhook_cannot_be_seen_or_revoked() {
    let service = Service::start().await;
    let mine = service.key(service.account, "read,write");
    let theirs = service.key(service.stranger, "read,write");
    let created: Value = service
        .process
        .post("/api/v1/webhooks", &mine, &json!({"url": "https://example.com/hook"}))
        .await
        .json()
        .await
        .unwrap();
    let id = created["id"].as_i64().unwrap();
    let secret = created["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_"));
    let revoke = async |key: &str| {
        let path = format!("/api/v1/webhooks?id={id}");
        let response = service.process.request(Method::DELETE, &path).bearer_auth(key).send().await.unwrap();
        (response.status().as_u16(), response.json::<Value>().await.unwrap())
    };
    let (status, body) = revoke(&theirs).await;
    assert_eq!((status, &body["error"]), (404, &json!("webhook_not_found")));
    let listed = service.process.get("/api/v1/webhooks", &mine).await.text().await.unwrap();
    assert!(listed.contains("https://example.com/hook") && !listed.contains("whsec_"), "{listed}");
    assert_eq!(revoke(&mine).await, (200, json!({"ok": true})));
    assert_eq!(revoke(&mine).await.0, 404);
    // At rest the secret is sealed.
    let sql = service.db.client().await.unwrap();
    let stored: Vec<u8> = sql.query_one("SELECT sealed_secret FROM webhook_subscriptions", &[]).await.unwrap().get(0);
    assert!(!String::from_utf8_lossy(&stored).contains(secret.trim_start_matches("whsec_")));
}

#[tokio::test]
async fn a_repeated_post_with_a_key_happens_once() {
    let service = Service::start().await;
    let key = service.key(service.account, "write");
    let send = async |url: &str| {
        let request = service.process.request(Method::POST, "/api/v1/webhooks").bearer_auth(&key);
        let response = request.header("idempotency-key", "k1").json(&json!({ "url": url })).send().await.unwrap();
        let replayed = response.headers().contains_key("idempotent-replayed");
        (response.status().as_u16(), replayed, response.text().await.unwrap())
    };
    let first = send("https://example.com/a").await;
    let again = send("https://example.com/a").await;
    assert_eq!((first.0, first.1, again.0, again.1), (200, false, 200, true));
    assert_eq!(first.2, again.2, "a replay gives the first answer, secret and all");
    let (status, _, body) = send("https://example.com/b").await;
    assert_eq!(status, 409);
    assert!(body.contains("idempotency_key_reused"), "{body}");
}
