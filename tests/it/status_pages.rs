//! What operators tell, by command and on the admin listener, and what everyone reads of it.

use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::service::{Service, free_port, run};

struct Told {
    service: Service,
    admin: String,
}

impl Told {
    async fn start() -> Self {
        let admin = format!("127.0.0.1:{}", free_port());
        Self { service: Service::start_with(&[("BAS_ADMIN_LISTEN", &admin)]).await, admin }
    }

    /// What the admin listener answers.
    async fn send(&self, method: Method, path: &str, body: Value) -> (u16, Value) {
        let url = format!("http://{}{path}", self.admin);
        let answer = Client::new().request(method, url).json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap_or_default())
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.send(Method::POST, path, body).await
    }

    async fn patch(&self, path: &str, body: Value) -> (u16, Value) {
        self.send(Method::PATCH, path, body).await
    }

    /// One incident that a command printed.
    fn command(&self, arguments: &[&str]) -> Value {
        let printed = run(&mut self.service.api(&[&["incidents"], arguments, &["--json"]].concat()));
        serde_json::from_str::<Value>(&printed).unwrap()[0].take()
    }
}

#[tokio::test]
async fn what_operators_tell_is_read_by_everyone() {
    let told = Told::start().await;
    let opened = json!({"title": "Slow imports", "severity": "minor", "components": ["jobs"], "body": "We look."});
    let (status, first) = told.post("/incidents", opened).await;
    assert_eq!((status, &first["status"]), (200, &json!("investigating")), "{first}");
    let path = format!("/incidents/{}", first["id"]);
    let (status, changed) = told.patch(&path, json!({"status": "identified", "body": "A disk is full."})).await;
    assert_eq!((status, changed["updates"].as_array().map(Vec::len)), (200, Some(2)), "{changed}");
    let back = told.patch(&path, json!({"status": "investigating", "body": "x"})).await;
    assert_eq!((back.0, &back.1["error"]), (409, &json!("invalid_transition")));
    assert_eq!(told.patch("/incidents/999", json!({"body": "x"})).await.0, 404);

    let arguments =
        ["create", "--title", "No answers", "--severity", "critical", "--component", "api", "--body", "Oh."];
    let second = told.command(&arguments);
    let id = second["id"].to_string();
    told.command(&["update", &id, "--severity", "major", "--body", "Better."]);
    let resolved = told.command(&["resolve", &id, "--body", "Over."]);
    assert_eq!((&resolved["status"], &resolved["severity"]), (&json!("resolved"), &json!("major")));

    let page = told.service.process.json("/api/v1/incidents", "svc_live_nonsense").await;
    let rows = page["data"].as_array().unwrap();
    let titles: Vec<&Value> = rows.iter().map(|row| &row["title"]).collect();
    assert_eq!(titles, ["No answers", "Slow imports"], "{page}");
    let bodies: Vec<&Value> = rows[1]["updates"].as_array().unwrap().iter().map(|update| &update["body"]).collect();
    assert_eq!(bodies, ["A disk is full.", "We look."]);
    assert_eq!(page["status"], json!({"indicator": "minor", "description": "Minor issues"}));
}

#[tokio::test]
async fn a_prober_outside_has_its_say() {
    let told = Told::start().await;
    let probe = json!({"component": "api", "outcome": "down", "latency_ms": 10_000});
    assert_eq!(told.post("/probes", probe).await, (200, json!({"stored": true})));
    let sql = told.service.db.client().await.unwrap();
    let stored = "SELECT component, outcome, latency_ms FROM status_probes WHERE source = 'external'";
    let row = sql.query_one(stored, &[]).await.unwrap();
    let found: (String, String, i64) = (row.get(0), row.get(1), row.get(2));
    assert_eq!(found, ("api".to_owned(), "down".to_owned(), 10_000));
    let late = json!({"component": "api", "outcome": "up", "at": "2020-01-01T00:00:00Z"});
    let (status, refused) = told.post("/probes", late).await;
    assert_eq!(
        (status, refused),
        (400, json!({"error": "invalid_body", "message": "at: must be of the last 24 hours"}))
    );
}

#[tokio::test]
async fn what_cannot_be_told_is_refused() {
    let told = Told::start().await;
    for (path, body) in [
        ("/incidents", json!({"title": "", "severity": "minor", "components": ["api"], "body": "x"})),
        ("/incidents", json!({"title": "x", "severity": "none", "components": ["api"], "body": "x"})),
        ("/incidents", json!({"title": "x", "severity": "minor", "components": [], "body": "x"})),
        ("/incidents", json!({"title": "x", "severity": "minor", "components": ["api"], "body": "x", "draft": true})),
        ("/incidents", json!({"title": "x", "severity": "minor", "components": ["api"], "body": "a\u{0}"})),
        ("/probes", json!({"component": "shop", "outcome": "up"})),
        ("/probes", json!({"component": "api", "outcome": "up", "latency_ms": -1})),
        ("/probes", json!({"component": "api", "outcome": "up", "at": "yesterday"})),
        // Not even where each value would do for the field at its place.
        ("/incidents", json!(["x", "minor", ["api"], "investigating", "x"])),
        ("/probes", json!(["api", "up", 1, null])),
        ("/probes", json!("up")),
    ] {
        let (status, refused) = told.post(path, body.clone()).await;
        let is_told = refused["error"] == "invalid_body" && refused["message"].is_string();
        assert!(status == 400 && is_told, "{path} {body}: {status} {refused}");
    }
    let twice = r#"{"component":"api","outcome":"up","outcome":"down"}"#;
    let request =
        Client::new().post(format!("http://{}/probes", told.admin)).header("content-type", "application/json");
    let answer = request.body(twice).send().await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap()["error"].take()),
        (400, "invalid_body".into())
    );
    let (status, refused) = told.patch("/incidents/1", json!(["identified", "minor", "x"])).await;
    assert_eq!((status, &refused["error"]), (400, &json!("invalid_body")));
    let page = told.service.process.json("/api/v1/incidents", "").await;
    assert_eq!(page["data"], json!([]));
}
