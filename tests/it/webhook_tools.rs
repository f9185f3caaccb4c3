//! The commands for integrators and for the keys of secrets.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::service::{DATA_KEYS, Service, api, run};

const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const OTHER: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

fn tool(folder: &tempfile::TempDir, arguments: &[&str]) -> Command {
    let mut command = api("postgres://nobody@127.0.0.1:1/none", folder);
    command.arg("webhooks").args(arguments);
    command
}

/// Starts a listener on a free port and gives the address that it says.
fn listen(folder: &tempfile::TempDir, arguments: &[&str]) -> (Child, String) {
    listen_at(folder, "0", SECRET, arguments)
}

pub fn listen_at(folder: &tempfile::TempDir, port: &str, secret: &str, arguments: &[&str]) -> (Child, String) {
    let mut command = tool(folder, &["listen", "--secret", secret, "--port", port, "--json"]);
    let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
    let address = said.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned();
    (child, address)
}

/// The lines of JSON that a listener printed, and its exit code.
pub fn printed(child: Child) -> (Vec<Value>, Option<i32>) {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), output.status.code())
}

#[test]
fn a_sample_is_received_verified_and_answered_as_told() {
    let folder = tempfile::tempdir().unwrap();
    let (listener, address) = listen(&folder, &["--count", "2", "--status", "503,200", "--delay", "0.01"]);
    let send = || {
        let arguments = ["sample", "credits.low", "--secret", SECRET, "--to", &address, "--json"];
        let output = tool(&folder, &arguments).output().unwrap();
        let sent: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), sent)
    };
    let (first, second) = (send(), send());
    assert_eq!((first.0, &first.1["attempt"]["status"]), (Some(1), &json!(503)));
    assert_eq!((second.0, &second.1["attempt"]["status"]), (Some(0), &json!(200)));
    let (received, code) = printed(listener);
    assert_eq!((received.len(), code), (2, Some(0)));
    assert_eq!((&received[0]["event"], &received[0]["valid"]), (&json!("credits.low"), &json!(true)));
    let headers: Vec<_> =
        received[0]["signatures"].as_array().unwrap().iter().map(|verdict| verdict["header"].clone()).collect();
    assert_eq!(headers, ["x-svc-signature", "webhook-signature"]);
    assert_eq!(received[0]["body"], first.1["body"]);
    assert_eq!((&received[0]["answered"], &received[1]["answered"]), (&json!(503), &json!(200)));
}

#[test]
fn a_delivery_signed_with_another_secret_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let (listener, address) = listen(&folder, &["--count", "1"]);
    run(&mut tool(&folder, &["sample", "ai.paused", "--secret", OTHER, "--to", &address]));
    let (received, code) = printed(listener);
    assert_eq!((&received[0]["valid"], code), (&json!(false), Some(1)));
    let problem = received[0]["signatures"][0]["problem"].as_str().unwrap();
    assert!(problem.contains("another secret"), "{problem}");
}

#[test]
fn a_sample_is_printed_with_both_signatures_and_goes_nowhere_inside() {
    let folder = tempfile::tempdir().unwrap();
    let printed = run(&mut tool(&folder, &["sample", "inventory.low_stock"]));
    for part in ["x-svc-signature: ", "webhook-signature: v1,", "\n\n{\"event\":\"inventory.low_stock\","] {
        assert!(printed.contains(part), "{part:?} is not in {printed}");
    }
    let refused = tool(&folder, &["sample", "ai.paused", "--to", "http://169.254.169.254/"]).output().unwrap();
    let said = String::from_utf8(refused.stdout).unwrap();
    assert_eq!((refused.status.code(), said.contains("url_refused")), (Some(1), true), "{said}");
    let unknown = tool(&folder, &["sample", "nothing.happened"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("credits.low"));
}

#[tokio::test]
async fn secrets_are_sealed_with_the_new_key_and_the_old_one_can_go() {
    let service = Service::start().await;
    let key = service.key(service.account, "read,write");
    for path in ["a", "b"] {
        let body = json!({ "url": format!("https://example.com/{path}") });
        assert_eq!(service.process.post("/api/v1/webhooks", &key, &body).await.status(), 200);
    }
    let rotated = service.process.post("/api/v1/webhooks/1/rotate", &key, &json!({})).await;
    assert_eq!(rotated.status(), 200);
    let reseal = |keys: &str| {
        let output = service.api(&["secrets", "reseal", "--batch", "1", "--json"]).env("BAS_DATA_KEYS", keys).output();
        let output = output.unwrap();
        let counts: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), counts)
    };
    let new = format!("new:{}", DATA_KEYS.split_once(':').unwrap().1.replacen('A', "B", 4));
    let counts =
        |current, resealed| json!({"current": current, "resealed": resealed, "changed_meanwhile": 0, "unreadable": []});
    // Two subscriptions, one of which has a replaced secret too.
    assert_eq!(reseal(&format!("{new},{DATA_KEYS}")), (Some(0), counts(0, 3)));
    assert_eq!(reseal(&new), (Some(0), counts(3, 0)));
    let (code, told) = reseal(DATA_KEYS);
    assert_eq!((code, told["unreadable"].as_array().unwrap().len()), (Some(3), 3));
    assert!(told["unreadable"][0]["reason"].as_str().unwrap().contains("`new` is not configured"));
}

#[tokio::test]
async fn a_test_reaches_a_receiver_that_the_operator_allows_once_per_key() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let allowed = format!("127.0.0.1:{port}");
    let service = Service::start_with(&[("BAS_WEBHOOK_ALLOW_LOOPBACK", &allowed)]).await;
    let key = service.key(service.account, "write");
    let refused = service.process.post("/api/v1/webhooks", &key, &json!({ "url": "http://127.0.0.1:1/" })).await;
    assert_eq!(refused.json::<Value>().await.unwrap()["error"], "invalid_webhook_url");
    let url = format!("http://{allowed}/");
    let created: Value =
        service.process.post("/api/v1/webhooks", &key, &json!({ "url": url })).await.json().await.unwrap();
    let (secret, id) = (created["secret"].as_str().unwrap(), &created["id"]);

    // One delivery and one more make the two that the listener waits for.
    let (listener, _) = listen_at(&service.folder, &port.to_string(), secret, &["--count", "2"]);
    let send = async |idempotency_key: &str| {
        let request = service.process.request(reqwest::Method::POST, &format!("/api/v1/webhooks/{id}/test"));
        let request = request.bearer_auth(&key).header("idempotency-key", idempotency_key);
        let response = request.json(&json!({ "event": "anomaly.detected" })).send().await.unwrap();
        let replayed = response.headers().contains_key("idempotent-replayed");
        (replayed, response.json::<Value>().await.unwrap())
    };
    let (first, again, other) = (send("a").await, send("a").await, send("b").await);
    assert_eq!((&first.1["delivered"], &first.1["attempt"]["status"]), (&json!(true), &json!(200)));
    assert_eq!((first.0, again.0, &again.1), (false, true, &first.1));
    assert_ne!(other.1["delivery_id"], first.1["delivery_id"]);
    let (received, code) = printed(listener);
    let ids: Vec<_> = received.iter().map(|delivery| &delivery["headers"]["x-svc-delivery-id"]).collect();
    assert_eq!((ids, code), (vec![&first.1["delivery_id"], &other.1["delivery_id"]], Some(0)));
}

#[tokio::test]
async fn a_test_that_is_answered_gone_switches_the_subscription_off() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let allowed = format!("127.0.0.1:{port}");
    let service = Service::start_with(&[("BAS_WEBHOOK_ALLOW_LOOPBACK", &allowed)]).await;
    let key = service.key(service.account, "read,write");
    let new = json!({ "url": format!("http://{allowed}/") });
    let created: Value = service.process.post("/api/v1/webhooks", &key, &new).await.json().await.unwrap();
    let (secret, path) = (created["secret"].as_str().unwrap(), format!("/api/v1/webhooks/{}", created["id"]));
    let (listener, _) = listen_at(&service.folder, &port.to_string(), secret, &["--count", "1", "--status", "410"]);
    let test = json!({ "event": "anomaly.detected" });
    let tried: Value = service.process.post(&format!("{path}/test"), &key, &test).await.json().await.unwrap();
    assert_eq!(tried["attempt"]["status"], json!(410));
    printed(listener);
    let kept = service.process.json("/api/v1/webhooks", &key).await["data"][0].take();
    assert_eq!((&kept["id"], &kept["active"]), (&created["id"], &json!(false)), "{kept}");
    assert_eq!(kept["disabled_reason"], json!("gone"), "{kept}");
}
