//! Subscriptions.

use std::sync::{Arc, Mutex};

use api::State;
use domain::{
    SubscriptionId,
    events::EventKind,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    sealing::{Binding, MockSealer},
    webhooks::{CreateError, Created, MockWebhookStore, NewSubscription, Subscription},
};
use mockall::predicate::eq;
use rstest::rstest;
use serde_json::json;
use time::macros::datetime;

use crate::support::{ACCOUNT, Answer, BOTH, NOW, Service, bearer, state};

const BODY: &str = r#"{"url":"https://hooks.example.com/a?b=c","events":["credits.low","credits.low"]}"#;

fn subscription(id: i64) -> Subscription {
    Subscription {
        id: SubscriptionId(id),
        url: "https://hooks.example.com/a?b=c".into(),
        events: vec!["credits.low".into()],
        active: true,
        disabled_reason: None,
        last_fired_at: None,
        last_status: None,
        fail_count: 0,
        trouble_count: 0,
        total_fired: 0,
        total_failed: 0,
        created_at: NOW,
    }
}

/// Seals by writing the binding in front.
fn sealer() -> MockSealer {
    let mark = |binding: Binding| format!("{binding}: ");
    let mut sealer = MockSealer::new();
    sealer.expect_seal().returning(move |binding, secret| Ok([mark(binding).as_bytes(), secret].concat()));
    sealer.expect_open().returning(move |binding, sealed| {
        Ok(sealed.strip_prefix(mark(binding).as_bytes()).expect("sealed for another row").to_vec())
    });
    sealer
}

/// What the store was given to create.
type Recorded = Arc<Mutex<Vec<(NewSubscription, Option<IdempotencyKey>)>>>;

fn service() -> (Service, Recorded) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let mut webhooks = MockWebhookStore::new();
    webhooks.expect_reserve_id().returning(|| Ok(SubscriptionId(31)));
    let keep = Arc::clone(&kept);
    webhooks.expect_create().withf(|account, _, _| *account == ACCOUNT).returning(move |_, new, key| {
        keep.lock().unwrap().push((new.clone(), key));
        let subscription = Subscription { url: new.url, events: new.events, ..subscription(new.id.0) };
        Ok(Idempotent { value: Created { subscription, sealed_secret: new.sealed_secret }, replayed: false })
    });
    (start(webhooks), kept)
}

fn start(webhooks: MockWebhookStore) -> Service {
    Service::start(State { webhooks: Arc::new(webhooks), sealer: Arc::new(sealer()), ..state() })
}

#[test]
fn a_subscription_is_created_and_its_secret_shown_once() {
    let (service, kept) = service();
    let answer = service.post("/api/v1/webhooks", BODY);
    let mut body = answer.json();
    let secret = body["secret"].take().as_str().unwrap().to_owned();
    assert!(body["warning"].take().is_string());
    assert_eq!(
        body,
        json!({
            "id": 31, "url": "https://hooks.example.com/a?b=c", "events": ["credits.low"], "active": true,
            "created_at": "2026-05-02T12:00:30Z", "secret": null, "warning": null, "api_version": "v1"
        })
    );
    // whsec_ and base64 of 32 bytes.
    let encoded = secret.strip_prefix("whsec_").unwrap();
    assert_eq!((encoded.len(), encoded.ends_with('=')), (44, true));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let sealed = kept.lock().unwrap()[0].0.sealed_secret.clone();
    assert_eq!(sealed, format!("webhook_secret of row 31 of account 7: {secret}").into_bytes());
    let other = service.post("/api/v1/webhooks", BODY).json()["secret"].as_str().unwrap().to_owned();
    assert_ne!(other, secret);
}

#[test]
fn without_events_it_is_every_event() {
    let (service, kept) = service();
    for body in [r#"{"url":"https://hooks.example.com/"}"#, r#"{"url":"https://hooks.example.com/","events":null}"#] {
        assert_eq!(service.post("/api/v1/webhooks", body).json()["events"], json!(["*"]));
    }
    assert_eq!(kept.lock().unwrap()[0].0.events, ["*"]);
}

#[rstest]
#[case(r#"{}"#, "missing_parameter", "url", None)]
#[case(r#"{"url":null}"#, "missing_parameter", "url", None)]
#[case(r#"{"url":1}"#, "invalid_webhook_url", "url", Some("malformed"))]
#[case(r#"{"url":["https://example.com/"]}"#, "invalid_webhook_url", "url", Some("malformed"))]
#[case(r#"{"url":"http://example.com/"}"#, "invalid_webhook_url", "url", Some("not_https"))]
#[case(r#"{"url":"https://127.0.0.1/"}"#, "invalid_webhook_url", "url", Some("private_host"))]
#[case(r#"{"url":"https://metadata.google.internal./"}"#, "invalid_webhook_url", "url", Some("private_host"))]
#[case(r#"{"url":"https://user@example.com/"}"#, "invalid_webhook_url", "url", Some("credentials_in_url"))]
#[case(r#"{"url":"https://example.com:22/"}"#, "invalid_webhook_url", "url", Some("port_not_allowed"))]
#[case(r#"{"url":"https://example.com/\u0000"}"#, "invalid_webhook_url", "url", Some("malformed"))]
#[case(r#"{"url":"https://hooks.example.com/","events":"*"}"#, "invalid_parameter", "events", None)]
#[case(r#"{"url":"https://hooks.example.com/","events":[]}"#, "invalid_parameter", "events", None)]
#[case(r#"{"url":"https://hooks.example.com/","events":[1]}"#, "invalid_parameter", "events", None)]
#[case(r#"{"url":"https://hooks.example.com/","events":["credits.*"]}"#, "unknown_event", "events", None)]
fn a_faulty_field_is_named(#[case] body: &str, #[case] code: &str, #[case] param: &str, #[case] reason: Option<&str>) {
    let answer = Service::start(state()).post("/api/v1/webhooks", body);
    assert_eq!(answer.error(), (400, code.to_owned()));
    assert_eq!((answer.json()["param"].as_str(), answer.json()["reason"].as_str()), (Some(param), reason));
    let allowed = answer.json()["allowed"].clone();
    assert_eq!(allowed[0] == "*" && allowed[1] == EventKind::NAMES[0], code == "unknown_event", "{allowed}");
}

#[test]
fn an_idempotency_key_is_handed_on_with_a_hash_of_query_and_body() {
    let (service, kept) = service();
    let send = |target: &str, body: &str, key: &str| {
        assert_eq!(service.post_with(target, body, &[("Idempotency-Key", key)]).status, 200);
    };
    send("/api/v1/webhooks", BODY, "one");
    send("/api/v1/webhooks", BODY, "one");
    send("/api/v1/webhooks?x=1", BODY, "one");
    send("/api/v1/webhooks", &format!("{BODY} "), "one");
    let kept = kept.lock().unwrap();
    let keys: Vec<&IdempotencyKey> = kept.iter().map(|(_, key)| key.as_ref().unwrap()).collect();
    assert_eq!((keys[0].path.as_str(), keys[0].key.as_str()), ("/api/v1/webhooks", "one"));
    assert_eq!(keys[0], keys[1]);
    assert_ne!(keys[0].request_hash, keys[2].request_hash);
    assert_ne!(keys[0].request_hash, keys[3].request_hash);
}

#[test]
fn a_replay_gives_the_first_answer_with_the_first_secret() {
    let mut webhooks = MockWebhookStore::new();
    webhooks.expect_reserve_id().returning(|| Ok(SubscriptionId(32)));
    webhooks.expect_create().returning(|_, _, _| {
        let sealed_secret = b"webhook_secret of row 31 of account 7: whsec_first".to_vec();
        Ok(Idempotent { value: Created { subscription: subscription(31), sealed_secret }, replayed: true })
    });
    let answer = start(webhooks).post_with("/api/v1/webhooks", BODY, &[("Idempotency-Key", "one")]);
    assert_eq!((answer.status, answer.header("idempotent-replayed")), (200, Some("true")));
    assert_eq!((&answer.json()["id"], &answer.json()["secret"]), (&json!(31), &json!("whsec_first")));
}

#[rstest]
#[case(CreateError::LimitReached, 409, "webhook_limit_reached")]
#[case(CreateError::Idempotency(IdempotencyError::Reused), 409, "idempotency_key_reused")]
#[case(CreateError::Idempotency(IdempotencyError::InProgress), 409, "idempotency_in_progress")]
#[case(CreateError::Idempotency(IdempotencyError::Superseded), 409, "idempotency_key_superseded")]
fn what_the_store_refuses_is_a_conflict(#[case] refused: CreateError, #[case] status: u16, #[case] code: &str) {
    let refused = Mutex::new(Some(refused));
    let mut webhooks = MockWebhookStore::new();
    webhooks.expect_reserve_id().returning(|| Ok(SubscriptionId(1)));
    webhooks.expect_create().returning(move |_, _, _| Err(refused.lock().unwrap().take().unwrap()));
    let answer = start(webhooks).post("/api/v1/webhooks", BODY);
    assert_eq!(answer.error(), (status, code.to_owned()));
    // One that goes on is over soon; the others stay.
    assert_eq!(answer.header("retry-after"), (code == "idempotency_in_progress").then_some("1"));
}

#[test]
fn an_idempotency_key_is_visible_ascii() {
    let service = Service::start(state());
    for key in ["", "a b", "é", &"k".repeat(256)] {
        let answer = service.post_with("/api/v1/webhooks", BODY, &[("Idempotency-Key", key)]);
        assert_eq!(answer.error(), (400, "invalid_idempotency_key".into()), "{key}");
    }
    let twice = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")];
    assert_eq!(service.post_with("/api/v1/webhooks", BODY, &twice).error(), (400, "invalid_idempotency_key".into()));
}

#[test]
fn subscriptions_are_listed_without_their_secrets() {
    let mut webhooks = MockWebhookStore::new();
    webhooks.expect_list().with(eq(ACCOUNT)).returning(|_| {
        let failed = Subscription {
            active: false,
            disabled_reason: Some("failing".into()),
            last_fired_at: Some(datetime!(2026-05-01 0:00 UTC)),
            last_status: Some(0),
            fail_count: 3,
            total_fired: 5,
            total_failed: 4,
            ..subscription(8)
        };
        Ok(vec![subscription(9), failed])
    });
    let service = start(webhooks);
    let answer = service.get("/api/v1/webhooks", BOTH);
    let url = "https://hooks.example.com/a?b=c";
    assert_eq!(
        answer.json(),
        json!({
            "data": [
                {"id": 9, "url": url, "events": ["credits.low"], "active": true, "last_fired_at": null, "last_status": null,
                 "fail_count": 0, "total_fired": 0, "total_failed": 0, "created_at": "2026-05-02T12:00:30Z", "disabled_reason": null},
                {"id": 8, "url": url, "events": ["credits.low"], "active": false, "last_fired_at": "2026-05-01T00:00:00Z",
                 "last_status": 0, "fail_count": 3, "total_fired": 5, "total_failed": 4, "created_at": "2026-05-02T12:00:30Z",
                 "disabled_reason": "failing"}
            ],
            "pagination": {"limit": 25, "next_cursor": null, "has_more": false}, "api_version": "v1"
        })
    );
    let page = service.get("/api/v1/webhooks?limit=1", BOTH).json();
    assert_eq!(page["pagination"], json!({"limit": 1, "next_cursor": 9, "has_more": true}));
    assert_eq!(service.get("/api/v1/webhooks?cursor=9", BOTH).json()["data"][0]["id"], 8);
}

fn delete(service: Service, target: &str, body: Option<&[u8]>) -> Answer {
    service.send("DELETE", target, &[("Authorization", &bearer(BOTH))], body)
}

#[test]
fn a_revocation_is_answered_with_ok_alone() {
    let mut webhooks = MockWebhookStore::new();
    webhooks
        .expect_revoke()
        .with(eq(ACCOUNT), eq(SubscriptionId(31)), eq(None), eq(NOW))
        .returning(|_, _, _, _| Ok(true));
    let answer = delete(start(webhooks), "/api/v1/webhooks?id=31&foo=1", Some(b"{\"x\":1}"));
    assert_eq!((answer.status, answer.text().as_str()), (200, "{\"ok\":true}"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

#[rstest]
#[case("", (400, "missing_parameter"))]
#[case("?ID=1", (400, "missing_parameter"))]
#[case("?id=abc", (400, "invalid_parameter"))]
#[case("?id=0", (400, "invalid_parameter"))]
#[case("?id=1&id=1", (400, "invalid_parameter"))]
#[case("?id=9223372036854775808", (400, "invalid_parameter"))]
#[case("?id=2147483648", (404, "webhook_not_found"))]
fn what_cannot_be_revoked(#[case] query: &str, #[case] expected: (u16, &str)) {
    let mut webhooks = MockWebhookStore::new();
    webhooks.expect_revoke().returning(|_, _, _, _| Ok(false));
    let answer = delete(start(webhooks), &format!("/api/v1/webhooks{query}"), None);
    assert_eq!(answer.error(), (expected.0, expected.1.to_owned()));
}
