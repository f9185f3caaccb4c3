//! AI access on the admin listener.

use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Process, Service, api, free_port};

/// A process, and where operators reach it.
struct Operated {
    service: Service,
    process: Process,
    admin: String,
}

impl Operated {
    async fn start() -> Self {
        let service = Service::start().await;
        let admin = format!("127.0.0.1:{}", free_port());
        let mut command = api(&service.db.url(), &service.folder);
        let process =
            Process::start(command.arg("serve").env("BAS_ADMIN_LISTEN", &admin).env("BAS_ADMIN_HOSTS", "metrics.svc"));
        Self { service, process, admin }
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut request = client.request(method, format!("http://{}{path}", self.admin));
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap_or_default())
    }

    async fn change(&self, account: i64, what: &str, body: Value) -> (u16, Value) {
        self.ask(Method::POST, &format!("/accounts/{account}/ai/{what}"), Some(body)).await
    }

    async fn access(&self, account: i64) -> (u16, Value) {
        self.ask(Method::GET, &format!("/accounts/{account}/ai"), None).await
    }
}

#[tokio::test]
async fn an_operator_pauses_and_resumes_and_it_is_written_down() {
    let operated = Operated::start().await;
    let account = operated.service.account;
    let key = operated.service.key(account, "read,write");
    let usage = async || operated.process.json("/api/v1/usage", &key).await;
    let (status, access) = operated.access(account).await;
    assert_eq!(status, 200);
    assert_eq!(
        (&access["access"], &access["pause"], &access["warning_usd"], &access["critical_usd"]),
        (&json!("active"), &Value::Null, &json!("20"), &json!("50"))
    );
    let shown = usage().await;
    assert_eq!(shown["ai_access"], json!({"paused": false, "paused_at": null, "reason": null, "by_kind": null}));
    assert_eq!(
        shown["limits"],
        json!({"low_balance": 100, "requests_per_minute": 60, "ai_warning_usd": 20, "ai_critical_usd": 50,
            "ai_auto_pause": true})
    );
    assert_eq!((&shown["ai_cost"]["cost_usd"], &shown["ai_cost"]["requests"]), (&json!(0), &json!(0)));

    let pause = json!({"reason": "disputed invoice", "by": "ana"});
    assert_eq!(operated.change(account, "pause", pause.clone()).await, (200, json!({"changed": true})));
    assert_eq!(operated.change(account, "pause", pause).await, (200, json!({"changed": false})));
    let (_, access) = operated.access(account).await;
    assert_eq!((&access["access"], &access["pause"]["by"]), (&json!("paused"), &json!("ana")));
    let access = &usage().await["ai_access"];
    assert_eq!(
        (&access["paused"], &access["reason"], &access["by_kind"]),
        (&json!(true), &json!("disputed invoice"), &json!("admin"))
    );
    let refused = operated.process.request(Method::POST, "/api/v1/insights/generate").bearer_auth(&key);
    let refused = refused.send().await.unwrap();
    assert_eq!(refused.status(), 402);
    assert_eq!(refused.json::<Value>().await.unwrap()["error"], "payment_required");

    assert_eq!(
        operated.change(account, "resume", json!({"by": "bo", "reason": "settled"})).await,
        (200, json!({"changed": true}))
    );
    assert_eq!(operated.change(account, "resume", json!({"by": "bo"})).await, (200, json!({"changed": false})));
    assert_eq!(usage().await["ai_access"]["paused"], false);

    let sql = operated.service.db.client().await.unwrap();
    let rows = "SELECT concat_ws(':', action, done_by, reason) FROM ai_access_log WHERE account_id = $1 ORDER BY id";
    let audit: Vec<String> = sql.query(rows, &[&account]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(audit, ["pause:ana:disputed invoice", "resume:bo:settled"]);
    let rows = "SELECT body FROM events WHERE account_id = $1 ORDER BY id";
    let events = sql.query(rows, &[&account]).await.unwrap();
    let events: Vec<Value> = events.iter().map(|row| serde_json::from_slice(row.get(0)).unwrap()).collect();
    assert_eq!((&events[0]["event"], &events[0]["data"]["by"]), (&json!("ai.paused"), &json!("ana")));
    assert_eq!((&events[1]["event"], &events[1]["data"]["by"]), (&json!("ai.resumed"), &json!("bo")));
    assert_eq!(events.len(), 2);
}

/// A page in an operator's browser, whose name has come to resolve to the listener, or that sends a form there.
#[tokio::test]
async fn a_page_of_somebody_else_reaches_nothing() {
    let operated = Operated::start().await;
    let account = operated.service.account;
    let (client, own) = (reqwest::Client::builder().no_proxy().build().unwrap(), operated.admin.as_str());
    let ask = async |method: Method, path: &str, host: &str, origin: Option<&str>| {
        let mut request = client.request(method, format!("http://{own}{path}")).header("host", host);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        let request = request.header("content-type", "application/json").body(r#"{"reason":"x"}"#);
        request.send().await.unwrap().status().as_u16()
    };
    let pause = format!("/accounts/{account}/ai/pause");
    let reads = ["/live", "/ready", "/metrics", &format!("/accounts/{account}/ai"), "/nothing"];
    for path in reads {
        assert_eq!(ask(Method::GET, path, "evil.example", None).await, 421, "{path}");
    }
    for (host, origin, status) in [
        ("evil.example", Some("https://evil.example"), 421),
        ("evil.example", None, 421),
        (own, Some("https://evil.example"), 403),
        (own, Some("null"), 403),
        (own, Some("http://localhost:1"), 403),
    ] {
        assert_eq!(ask(Method::POST, &pause, host, origin).await, status, "{host} {origin:?}");
    }
    assert_eq!(operated.access(account).await.1["access"], "active");
    let port = own.rsplit_once(':').unwrap().1;
    for host in [own, "localhost", &format!("localhost:{port}"), "10.0.0.7:9090", "metrics.svc:9090"] {
        assert_eq!(ask(Method::GET, "/live", host, None).await, 200, "{host}");
    }
    assert_eq!(ask(Method::POST, &pause, own, Some(&format!("http://{own}"))).await, 200);
    assert_eq!(operated.access(account).await.1["access"], "paused");
}

#[tokio::test]
async fn what_an_operator_gets_wrong_is_refused_and_changes_nothing() {
    let operated = Operated::start().await;
    let account = operated.service.account;
    let wrong = [
        json!({"by": "ana"}),
        json!({"reason": " ", "by": "ana"}),
        json!({"reason": "x\u{7}", "by": "ana"}),
        json!({"reason": "x".repeat(1_000)}),
        json!({"reason": "x", "by": ""}),
        json!({"reason": "x", "who": "ana"}),
        json!({"reason": 7}),
        json!([]),
    ];
    for body in wrong {
        let (status, _) = operated.change(account, "pause", body.clone()).await;
        assert_eq!(status, 400, "{body}");
    }
    assert_eq!(operated.change(account, "resume", json!({"by": "\n"})).await.0, 400);
    for path in ["999999", "x", "0", "-1", "9223372036854775808"] {
        let (status, refused) = operated.ask(Method::GET, &format!("/accounts/{path}/ai"), None).await;
        assert!(status == 404 && refused["error"].is_string(), "{path}: {status} {refused}");
    }
    assert_eq!(operated.change(999_999, "pause", json!({"reason": "x"})).await.0, 404);
    assert_eq!(operated.access(account).await.1["access"], "active");
    // The API does not lead there.
    let path = format!("/accounts/{account}/ai/pause");
    let key = operated.service.key(account, "read,write");
    let outside = operated.process.post(&path, &key, &json!({"reason": "x"})).await;
    assert_eq!(outside.status(), 404);
}
