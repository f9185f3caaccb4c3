//! A comment from the signed hook to the queue of people, and what nobody signed or may see is refused.

use std::{io::Write, process::Stdio, time::Duration};

use reqwest::Method;
use ring::hmac;
use serde_json::{Value, json};

use crate::service::{Process, Service};

/// Far above what any wait here takes.
const PATIENCE: Duration = Duration::from_secs(60);
pub const SECRET: &str = "app secret";
pub const PROFILE: &str = "17841400000000001";

/// The settings of the app that hooks come from.
pub const APP: [(&str, &str); 2] = [("BAS_META_APP_SECRET", SECRET), ("BAS_META_VERIFY_TOKEN", "token")];

async fn start() -> Service {
    Service::start_with(&APP).await
}

/// A worker whose network is away.
pub fn work(service: &Service) -> Process {
    work_with(service, &[])
}

/// The same, with more settings.
pub fn work_with(service: &Service, settings: &[(&str, &str)]) -> Process {
    let mut work = service.api(&["work"]);
    work.envs(settings.iter().copied());
    work.env("BAS_META_APP_SECRET", SECRET).env("BAS_META_VERIFY_TOKEN", "token");
    Process::start(work.env("BAS_META_BASE_URL", "http://127.0.0.1:9"))
}

pub fn connect(service: &Service, account: i64, profile: &str) -> bool {
    let account = account.to_string();
    let args = ["social", "connect", "--account", &account, "--channel", "instagram", "--profile", profile];
    let mut command = service.api(&args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"EAAB-token\n").unwrap();
    child.wait().unwrap().success()
}

pub fn comment(id: &str, text: &str) -> String {
    let value = json!({"id": id, "text": text, "from": {"id": "1000001", "username": "ana"}, "media": {"id": "18"}});
    let entry = json!({"id": PROFILE, "changes": [{"field": "comments", "value": value}]});
    json!({"object": "instagram", "entry": [entry]}).to_string()
}

pub async fn hook(service: &Service, body: &str, secret: &str) -> u16 {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), body.as_bytes());
    let signature: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let request = service.process.request(Method::POST, "/hooks/social/meta");
    let request = request.header("x-hub-signature-256", format!("sha256={signature}")).body(body.to_owned());
    request.send().await.unwrap().status().as_u16()
}

pub async fn send(service: &Service, method: Method, path: &str, key: &str, body: Value) -> (u16, Value) {
    let answer = service.process.request(method, path).bearer_auth(key).json(&body).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// The conversation that began with a comment, once it shows what `done` asks for.
pub async fn until(service: &Service, key: &str, comment: &str, done: impl Fn(&Value) -> bool) -> Value {
    let looked = async {
        loop {
            let listed = service.process.json("/api/v1/conversations", key).await;
            let found = listed["data"].as_array().unwrap().iter().find(|row| row["external_id"] == comment).cloned();
            if let Some(found) = found.filter(|found| done(found)) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looked).await.expect("the comment was not decided about")
}

#[tokio::test]
async fn a_comment_becomes_a_conversation_that_waits_for_a_person() {
    let service = start().await;
    let (key, stranger) = (service.key(service.account, "read,write"), service.key(service.stranger, "read,write"));
    assert!(connect(&service, service.account, PROFILE));
    assert!(!connect(&service, service.stranger, PROFILE), "the profile is another account's");
    assert!(!connect(&service, service.account, "shop"), "no number");
    let template =
        json!({"name": "Prices", "category": "price_question", "language": "es", "variations": ["¡Hola {username}!"]});
    let (status, made) = send(&service, Method::POST, "/api/v1/reply-templates", &key, template).await;
    assert_eq!((status, &made["state"]), (200, &json!("draft")), "{made}");
    let path = format!("/api/v1/reply-templates/{}", made["id"]);
    let approve = json!({"state": "approved", "approved_by": "Ana"});
    assert_eq!(send(&service, Method::PATCH, &path, &stranger, approve.clone()).await.0, 404);
    assert_eq!(send(&service, Method::PATCH, &path, &key, approve).await.1["approved_version"], json!(1));

    let _worker = work(&service);
    assert_eq!(hook(&service, &comment("1", "¿Cuánto cuesta?"), SECRET).await, 200);
    assert_eq!(hook(&service, &comment("1", "¿Cuánto cuesta?"), SECRET).await, 200);
    assert_eq!(hook(&service, &comment("9", "forged"), "another secret").await, 401);
    let found = until(&service, &key, "1", |row| !row["auto_reply"].is_null()).await;
    assert_eq!(
        (&found["auto_reply"]["state"], &found["auto_reply"]["message"]),
        (&json!("dry_run"), &json!("¡Hola ana!"))
    );
    assert_eq!((&found["category"], &found["messages_count"]), (&json!("price_question"), &json!(1)));

    let (status, _) = send(&service, Method::PUT, "/api/v1/social/settings", &key, json!({"mode": "approve"})).await;
    assert_eq!(status, 200);
    assert_eq!(hook(&service, &comment("2", "precio por favor"), SECRET).await, 200);
    let held = until(&service, &key, "2", |row| !row["auto_reply"].is_null()).await;
    assert_eq!(
        (&held["auto_reply"]["state"], &held["auto_reply"]["reason"]),
        (&json!("held"), &json!("needs_approval"))
    );
    let path = format!("/api/v1/conversations/{}", held["id"]);
    for (method, path) in [
        (Method::PATCH, path.clone()),
        (Method::POST, format!("{path}/reply")),
        (Method::POST, format!("{path}/judgement")),
    ] {
        let body = json!({"status": "closed", "action": "skip", "correct": true});
        assert_eq!(send(&service, method, &path, &stranger, body).await.0, 404, "{path}");
    }
    assert_eq!(service.process.get(&path, &stranger).await.status(), 404);
    assert_eq!(service.process.json("/api/v1/conversations", &stranger).await["data"], json!([]));
    for row in [&held, &found] {
        let path = format!("/api/v1/conversations/{}/judgement", row["id"]);
        let contradicted = json!({"correct": true, "category": "spam"});
        let refused = send(&service, Method::POST, &path, &key, contradicted).await;
        assert_eq!((refused.0, &refused.1["param"]), (400, &json!("category")));
        let same = json!({"correct": true, "category": row["category"]});
        assert_eq!(send(&service, Method::POST, &path, &key, same).await.0, 200);
        let judged = send(&service, Method::POST, &path, &key, json!({"correct": true})).await;
        assert_eq!((judged.0, &judged.1["auto_reply"]["judged_correct"]), (200, &json!(true)));
    }
    let skipped = send(&service, Method::POST, &format!("{path}/reply"), &key, json!({"action": "skip"})).await;
    assert_eq!((skipped.0, &skipped.1["auto_reply"]["state"]), (200, &json!("skipped")));
    let again = send(&service, Method::POST, &format!("{path}/reply"), &key, json!({"action": "skip"})).await;
    assert_eq!((again.0, &again.1["error"]), (409, &json!("invalid_transition")));
    let whole = service.process.json(&path, &key).await;
    assert_eq!(whole["messages"][0]["body"], json!("precio por favor"));
    let gate = service.process.json("/api/v1/social/settings", &key).await["auto_gate"].clone();
    assert_eq!((&gate["judged"], &gate["ready"]), (&json!(1), &json!(false)), "that of the dry run");
}

#[tokio::test]
async fn without_an_app_there_is_no_hook() {
    let service = Service::start().await;
    assert_eq!(hook(&service, "{}", SECRET).await, 404);
}
