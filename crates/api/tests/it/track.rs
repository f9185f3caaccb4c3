//! Custom events.

use std::sync::{Arc, Mutex};

use api::{Settings, State};
use domain::{
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    tracking::{Location, MockEventStore, NewEvent},
};
use rstest::rstest;
use serde_json::{Value, json};
use time::macros::datetime;

use crate::support::{ACCOUNT, NOW, Service, state};

type Recorded = Arc<Mutex<Vec<(NewEvent, Option<IdempotencyKey>)>>>;

fn service_with(settings: Settings) -> (Service, Recorded) {
    let kept = Recorded::default();
    let keep = Arc::clone(&kept);
    let mut events = MockEventStore::new();
    events.expect_insert().withf(|account, _, _| *account == ACCOUNT).returning(move |_, event, key| {
        keep.lock().unwrap().push((event, key));
        Ok(Idempotent { value: domain::TrackingEventId(90_210), replayed: false })
    });
    (Service::start(State { events: Arc::new(events), settings, ..state() }), kept)
}

fn service() -> (Service, Recorded) {
    service_with(Settings::default())
}

#[test]
fn an_event_is_stored_with_all_that_it_says() {
    let (service, kept) = service();
    let body = r#"{"event":"checkout.started","props":{"value":49.9,"tags":["a"]},"visitor_id":"v","session_id":"s",
        "url":"https://shop.example.com/","timestamp":"2026-05-02T08:00:00-03:00","ip":"203.0.113.9"}"#;
    let answer = service.post("/api/v1/track", body);
    assert_eq!(answer.json(), json!({"ok": true, "event_id": 90_210, "api_version": "v1"}));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let (event, key) = kept.lock().unwrap().remove(0);
    assert_eq!(event.name.as_str(), "checkout.started");
    assert_eq!(json!(event.props), json!({"value": 49.9, "tags": ["a"]}));
    assert_eq!((event.visitor_id.as_deref(), event.session_id.as_deref()), (Some("v"), Some("s")));
    assert_eq!(event.url.as_deref(), Some("https://shop.example.com/"));
    assert_eq!(
        event.location,
        Location { country: Some("BR".into()), region: Some("SP".into()), city: Some("Santos".into()) }
    );
    assert_eq!((event.occurred_at, event.received_at), (datetime!(2026-05-02 11:00 UTC), NOW));
    assert_eq!(key, None);
}

#[test]
fn numbers_are_stored_as_they_were_sent() {
    let (service, kept) = service();
    let sent =
        service.post("/api/v1/track", &body("props", r#"{"largest":9.999999999999999e20,"long":0.30000000000000004}"#));
    assert_eq!(sent.status, 200);
    let stored = kept.lock().unwrap().remove(0).0.props;
    assert_eq!(json!(stored), json!({"largest": 9.999_999_999_999_999e20, "long": 0.300_000_000_000_000_04}));
}

#[test]
fn only_the_name_is_required() {
    let (service, kept) = service();
    for body in [
        r#"{"event":"a"}"#,
        r#"{"event":"a","props":null,"visitor_id":null,"session_id":null,"url":null,"timestamp":null}"#,
    ] {
        assert_eq!(
            service.post("/api/v1/track", body).json(),
            json!({"ok": true, "event_id": 90_210, "api_version": "v1"})
        );
    }
    let event = kept.lock().unwrap().remove(0).0;
    assert_eq!(
        (event.props.len(), event.visitor_id, event.occurred_at, event.location),
        (0, None, NOW, Location::default())
    );
}

fn body(field: &str, value: &str) -> String {
    format!("{{\"event\":\"a\",\"{field}\":{value}}}")
}

#[rstest]
#[case("event", "1", "invalid_body")]
#[case("props", "[]", "invalid_props")]
#[case("props", "\"{}\"", "invalid_props")]
#[case("props", "1", "invalid_props")]
#[case("props", r#"{"a":"\u0000"}"#, "invalid_props")]
#[case("props", r#"{"a":[{"\u0000":1}]}"#, "invalid_props")]
#[case("props", r#"{"a":1e400}"#, "invalid_props")]
#[case("props", r#"{"a":"\ud83d"}"#, "invalid_json")]
#[case("visitor_id", "{}", "invalid_visitor_id")]
#[case("visitor_id", r#""a\u0000""#, "invalid_visitor_id")]
#[case("session_id", "1", "invalid_session_id")]
#[case("session_id", r#""a\u0000""#, "invalid_session_id")]
#[case("url", "1", "invalid_url")]
#[case("url", r#""a\u0000""#, "invalid_url")]
#[case("timestamp", "1", "invalid_timestamp")]
#[case("timestamp", "\"2026-05-02\"", "invalid_timestamp")]
#[case("timestamp", "\"2026-04-29T12:00:30Z\"", "invalid_timestamp")]
#[case("timestamp", "\"2026-05-02T12:05:31Z\"", "invalid_timestamp")]
#[case("ip", "\"999.1.1.1\"", "invalid_parameter")]
fn a_faulty_field_is_named(#[case] field: &str, #[case] value: &str, #[case] code: &str) {
    let answer = Service::start(state()).post("/api/v1/track", &body(field, value));
    assert_eq!(answer.error(), (400, code.to_owned()));
    assert_eq!(answer.json()["param"].as_str(), Some(field));
}

#[rstest]
#[case("{}", "missing_parameter")]
#[case(r#"{"event":null}"#, "missing_parameter")]
#[case(r#"{"event":""}"#, "invalid_event")]
#[case(r#"{"event":"a b"}"#, "invalid_event")]
#[case(r#"{"event":"abc\n"}"#, "invalid_event")]
#[case(r#"{"event":["a"]}"#, "invalid_event")]
#[case(r#"{"event":"\ud83d"}"#, "invalid_json")]
fn a_name_is_insisted_on(#[case] body: &str, #[case] code: &str) {
    assert_eq!(Service::start(state()).post("/api/v1/track", body).error(), (400, code.to_owned()));
}

#[test]
fn texts_may_be_so_long_and_no_longer() {
    let (service, _) = service();
    for (field, max, code) in [
        ("visitor_id", 128, "invalid_visitor_id"),
        ("session_id", 128, "invalid_session_id"),
        ("url", 2_048, "invalid_url"),
    ] {
        let sent = |length: usize| service.post("/api/v1/track", &body(field, &format!("\"{}\"", "é".repeat(length))));
        assert_eq!(sent(max).status, 200, "{field}");
        assert_eq!(sent(max + 1).error(), (400, code.to_owned()));
    }
}

#[test]
fn properties_are_measured_as_sent() {
    let (service, _) = service();
    let props = |bytes: usize| body("props", &format!("{{ \"a\": \"{}\" }}", "x".repeat(bytes - 11)));
    assert_eq!(service.post("/api/v1/track", &props(8_192)).status, 200);
    assert_eq!(service.post("/api/v1/track", &props(8_193)).error(), (400, "props_too_large".into()));
}

#[test]
fn properties_nested_too_deep_are_refused_at_any_depth() {
    let service = Service::start(state());
    for depth in [101, 127, 200, 1_000] {
        let props = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        assert_eq!(
            service.post("/api/v1/track", &body("props", &props)).error(),
            (400, "invalid_props".into()),
            "{depth}"
        );
    }
}

#[test]
fn properties_of_any_size_that_a_double_has_and_of_100_levels_are_taken() {
    let (service, kept) = service();
    let deep = format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100));
    for props in [r#"{"residue":5.551115123125783e-17,"least":-5e-324,"largest":1.7976931348623157e308}"#, &deep] {
        assert_eq!(service.post("/api/v1/track", &body("props", props)).status, 200, "{props}");
        let stored = kept.lock().unwrap().remove(0).0.props;
        assert_eq!(serde_json::from_str::<Value>(props).unwrap(), Value::Object(stored));
    }
}

#[test]
fn unknown_fields_are_listed_or_refused() {
    let (service, kept) = service();
    let sent = r#"{"event":"a","country":"XX","account_id":2}"#;
    let codes =
        json!([{"code": "unknown_field", "param": "account_id"}, {"code": "unknown_field", "param": "country"}]);
    assert_eq!(service.post("/api/v1/track", sent).json()["warnings"], codes);
    assert_eq!(kept.lock().unwrap()[0].0.location, Location::default());
    let strict = service.post_with("/api/v1/track", sent, &[("Prefer", "handling=strict")]);
    assert_eq!((strict.error(), strict.json()["param"].as_str()), ((400, "invalid_body".into()), Some("account_id")));
}

#[test]
fn a_dry_run_stores_nothing() {
    let service = Service::start(state());
    let answer = service.post("/api/v1/track?dry_run=1", r#"{"event":"a"}"#);
    assert_eq!(answer.json(), json!({"ok": true, "event_id": null, "dry_run": true, "api_version": "v1"}));
    assert_eq!(
        service.post("/api/v1/track?dry_run=yes", r#"{"event":"a"}"#).error(),
        (400, "invalid_parameter".into())
    );
    assert_eq!(service.post("/api/v1/track?dry_run=1", r#"{"event":"a b"}"#).error(), (400, "invalid_event".into()));
}

#[test]
fn the_place_is_that_of_the_client_behind_trusted_proxies_only() {
    let forwarded = [("X-Forwarded-For", "1.1.1.1, 203.0.113.9"), ("Forwarded", "for=1.1.1.1")];
    let trusting = Settings { trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()], ..Settings::default() };
    for (settings, country) in [(Settings::default(), None), (trusting, Some("BR"))] {
        let (service, kept) = service_with(settings);
        assert_eq!(service.post_with("/api/v1/track", r#"{"event":"a"}"#, &forwarded).status, 200);
        assert_eq!(kept.lock().unwrap()[0].0.location.country.as_deref(), country);
    }
}

#[test]
fn an_address_of_the_fourth_version_within_the_sixth_is_where_it_is() {
    let (service, kept) = service();
    assert_eq!(service.post("/api/v1/track", &body("ip", "\"::ffff:203.0.113.9\"")).status, 200);
    assert_eq!(kept.lock().unwrap()[0].0.location.country.as_deref(), Some("BR"));
}

#[test]
fn a_replay_gives_the_first_answer() {
    let mut events = MockEventStore::new();
    events
        .expect_insert()
        .withf(|_, _, key| key.as_ref().is_some_and(|key| key.path == "/api/v1/track" && key.key == "k"))
        .returning(|_, _, _| Ok(Idempotent { value: domain::TrackingEventId(5), replayed: true }));
    let service = Service::start(State { events: Arc::new(events), ..state() });
    for spelling in ["/api/v1/track", "/api/v1/%74rack", "/api/v1/t%72ack"] {
        let answer = service.post_with(spelling, r#"{"event":"a"}"#, &[("Idempotency-Key", "k")]);
        assert_eq!((answer.json()["event_id"].as_i64(), answer.header("idempotent-replayed")), (Some(5), Some("true")));
    }
}

/// Who got no answer sends the same again, when a new event of that time would be refused by now.
#[test]
fn a_replay_that_comes_late_gives_the_first_answer() {
    let mut events = MockEventStore::new();
    events
        .expect_stored_under()
        .withf(|account, key, now| *account == ACCOUNT && key.path == "/api/v1/track" && *now == NOW)
        .returning(|_, key, _| Ok((key.key == "k").then(|| vec![Ok(domain::TrackingEventId(5))])));
    let service = Service::start(State { events: Arc::new(events), ..state() });
    let late = body("timestamp", "\"2026-04-29T12:00:30Z\"");
    let answer = service.post_with("/api/v1/track", &late, &[("Idempotency-Key", "k")]);
    assert_eq!(answer.json(), json!({"ok": true, "event_id": 5, "api_version": "v1"}));
    assert_eq!(answer.header("idempotent-replayed"), Some("true"));
    let new: [&[(&str, &str)]; 2] = [&[], &[("Idempotency-Key", "another")]];
    for headers in new {
        let refused = service.post_with("/api/v1/track", &late, headers);
        assert_eq!(refused.error(), (400, "invalid_timestamp".into()));
    }
}

#[test]
fn another_request_under_a_used_key_is_a_conflict() {
    let mut events = MockEventStore::new();
    events.expect_insert().returning(|_, _, _| Err(IdempotencyError::Reused));
    let service = Service::start(State { events: Arc::new(events), ..state() });
    let answer = service.post_with("/api/v1/track", r#"{"event":"a"}"#, &[("Idempotency-Key", "k")]);
    assert_eq!(answer.error(), (409, "idempotency_key_reused".into()));
}

#[rstest]
#[case(&[], 200)]
#[case(&[("Content-Type", "")], 200)]
#[case(&[("Content-Type", "application/json; charset=utf-8")], 200)]
#[case(&[("Content-Type", "text/plain;charset=UTF-8")], 200)]
#[case(&[("Content-Type", "text/html")], 415)]
#[case(&[("Content-Type", "application/x-www-form-urlencoded")], 415)]
#[case(&[("Content-Type", "application/json; charset=utf-16")], 415)]
#[case(&[("Content-Type", "application/json"), ("Content-Type", "text/html")], 415)]
#[case(&[("Content-Encoding", "gzip")], 415)]
#[case(&[("Content-Encoding", "identity")], 200)]
fn a_wrong_media_type_is_415_and_none_is_json(#[case] headers: &[(&str, &str)], #[case] status: u16) {
    let (service, _) = service();
    assert_eq!(service.post_with("/api/v1/track", r#"{"event":"a"}"#, headers).status, status);
}

#[test]
fn a_subscription_is_not_made_from_plain_text() {
    let answer = Service::start(state()).post_with("/api/v1/webhooks", "{}", &[("Content-Type", "text/plain")]);
    assert_eq!(answer.error(), (415, "unsupported_media_type".into()));
}
