//! Batches of custom events.

use std::sync::{Arc, Mutex};

use api::{Settings, State};
use domain::{
    idempotency::Idempotent,
    tracking::{MockEventStore, NewEvent, Refusal},
};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{ACCOUNT, BOTH, NOW, Service, state};

const PATH: &str = "/api/v1/track/batch";

type Recorded = Arc<Mutex<Vec<Vec<Result<NewEvent, Refusal>>>>>;

/// A service that keeps what it is to store, and gives ids from 100.
fn service() -> (Service, Recorded) {
    let kept = Recorded::default();
    let keep = Arc::clone(&kept);
    let mut events = MockEventStore::new();
    events.expect_insert_batch().withf(|account, _, _, now| *account == ACCOUNT && *now == NOW).returning(
        move |_, batch, _, _| {
            let fates =
                (100..).zip(&batch).map(|(id, event)| event.clone().map(|_| domain::TrackingEventId(id))).collect();
            keep.lock().unwrap().push(batch);
            Ok(Idempotent { value: fates, replayed: false })
        },
    );
    (Service::start(State { events: Arc::new(events), ..state() }), kept)
}

#[test]
fn every_event_has_an_answer_and_one_that_is_refused_stops_no_other() {
    let (service, kept) = service();
    let body = json!({"events": [
        {"event": "a", "props": {"n": 1}, "ip": "203.0.113.9"},
        {"event": "no good"},
        {"event": "b", "timestamp": "2020-01-01T00:00:00Z"},
        ["event", "c"],
        {"event": "d", "colour": "red"},
        {"props": {}},
    ]});
    let answer = service.post(PATH, &body.to_string());
    assert_eq!((answer.status, answer.header("cache-control")), (200, Some("no-store")));
    let answer = answer.json();
    assert_eq!((&answer["ok"], &answer["accepted"], &answer["refused"]), (&json!(true), &json!(2), &json!(4)));
    let told: Vec<(Value, Value, Value)> = answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| (result["index"].clone(), result["event_id"].clone(), result["error"].clone()))
        .collect();
    let expected = [
        (json!(0), json!(100), Value::Null),
        (json!(1), Value::Null, json!("invalid_event")),
        (json!(2), Value::Null, json!("invalid_timestamp")),
        (json!(3), Value::Null, json!("invalid_body")),
        (json!(4), json!(104), Value::Null),
        (json!(5), Value::Null, json!("missing_parameter")),
    ];
    assert_eq!(told, expected);
    assert_eq!(answer["results"][1]["param"], "event");
    assert_eq!(answer["results"][4]["warnings"][0]["param"], "colour");
    let batch = kept.lock().unwrap().remove(0);
    let names: Vec<Option<&str>> =
        batch.iter().map(|event| event.as_ref().ok().map(|event| event.name.as_str())).collect();
    assert_eq!(names, [Some("a"), None, None, None, Some("d"), None]);
    assert_eq!(batch[0].as_ref().unwrap().location.city.as_deref(), Some("Santos"));
}

#[test]
fn a_key_has_a_budget_of_bytes_that_single_events_never_use_up() {
    let mut events = MockEventStore::new();
    events.expect_insert().returning(|_, _, _| Ok(Idempotent { value: domain::TrackingEventId(1), replayed: false }));
    events
        .expect_stored_under()
        .returning(|_, key, _| Ok((key.key == "k").then(|| vec![Ok(domain::TrackingEventId(1))])));
    events.expect_insert_batch().returning(|_, batch, _, _| {
        Ok(Idempotent {
            value: batch.into_iter().map(|event| event.map(|_| domain::TrackingEventId(1))).collect(),
            replayed: false,
        })
    });
    let settings = Settings { rate_limit_per_minute: 20, ..Settings::default() };
    let service = Service::start(State { events: Arc::new(events), settings, ..state() });
    // 128 KiB for each request: two batches of 1 MiB use up more than half, the third the rest; it is taken whole.
    let event = json!({"event": "a", "props": {"text": "x".repeat(8_000)}});
    let batch = json!({ "events": vec![event.clone(); 129] }).to_string();
    assert!((1_000_000..=1_024 * 1_024).contains(&batch.len()), "{}", batch.len());
    let taken = [(); 3].map(|()| service.post(PATH, &batch).status);
    assert_eq!(taken, [200; 3]);
    for (path, body) in [(PATH, batch.as_str()), ("/api/v1/track", &event.to_string())] {
        let refused = service.post(path, body);
        assert_eq!(refused.error(), (429, "rate_limit_exceeded".into()));
        assert!(refused.json()["message"].as_str().unwrap().contains("2560 KiB"), "{}", refused.text());
        assert_eq!(refused.header("retry-after"), refused.header("x-ratelimit-reset"));
        assert_eq!(
            (refused.header("x-ratelimit-limit"), refused.header("x-ratelimit-remaining")),
            (Some("20"), Some("0"))
        );
    }
    assert_eq!(service.post(&format!("{PATH}?dry_run=1"), &batch).status, 200, "what is not stored costs nothing");
    assert_eq!(service.get("/api/v1/me", BOTH).header("x-ratelimit-remaining"), Some("13"));
    for (path, body) in [(PATH, batch.as_str()), ("/api/v1/track", &event.to_string())] {
        let replay = service.post_with(path, body, &[("Idempotency-Key", "k")]);
        assert_eq!((replay.status, replay.header("idempotent-replayed")), (200, Some("true")), "it is stored already");
        assert_eq!(service.post_with(path, body, &[("Idempotency-Key", "another")]).status, 429);
    }

    let mut events = MockEventStore::new();
    events.expect_insert().returning(|_, _, _| Ok(Idempotent { value: domain::TrackingEventId(1), replayed: false }));
    let settings = Settings { rate_limit_per_minute: 20, ..Settings::default() };
    let service = Service::start(State { events: Arc::new(events), settings, ..state() });
    let largest = json!({"event": "a", "unknown": "x".repeat(65_000)}).to_string();
    let statuses = [(); 20].map(|()| service.post("/api/v1/track", &largest).status);
    assert_eq!(statuses, [200; 20]);
}

#[test]
fn strict_handling_refuses_the_event_with_the_unknown_field_only() {
    let (service, _) = service();
    let body = r#"{"events":[{"event":"a","colour":1},{"event":"b"}]}"#;
    let answer = service.post_with(PATH, body, &[("Prefer", "handling=strict")]).json();
    assert_eq!((&answer["results"][0]["error"], &answer["results"][1]["ok"]), (&json!("invalid_body"), &json!(true)));
}

#[rstest]
#[case(json!({}), "missing_parameter")]
#[case(json!({"events": null}), "missing_parameter")]
#[case(json!({"events": []}), "invalid_parameter")]
#[case(json!({"events": {"event": "a"}}), "invalid_parameter")]
#[case(json!({"events": vec![json!({"event": "a"}); 501]}), "invalid_parameter")]
#[case(json!([{"event": "a"}]), "invalid_body")]
fn a_batch_that_is_none_is_refused_as_a_whole(#[case] body: Value, #[case] code: &str) {
    let (service, kept) = service();
    let answer = service.post(PATH, &body.to_string());
    assert_eq!(answer.error(), (400, code.to_owned()));
    assert!(kept.lock().unwrap().is_empty());
}

#[test]
fn five_hundred_events_fit_and_more_than_a_mebibyte_does_not() {
    let (service, kept) = service();
    let event = json!({"event": "a", "props": {"text": "x".repeat(1_900)}});
    let answer = service.post(PATH, &json!({"events": vec![event.clone(); 500]}).to_string());
    assert_eq!(answer.json()["accepted"], 500);
    assert_eq!(kept.lock().unwrap()[0].len(), 500);
    let large = json!({"events": vec![event; 500], "more": "x".repeat(100_000)}).to_string();
    let answer = service.post(PATH, &large);
    assert_eq!(answer.error(), (413, "payload_too_large".to_owned()));
    assert_eq!(answer.json()["message"], "The body is larger than 1024 KiB.");
    // A single event has no more room than before.
    let answer = service.post("/api/v1/track", &large);
    assert_eq!(answer.json()["message"], "The body is larger than 64 KiB.");
}

#[test]
fn a_dry_run_says_what_would_be_and_stores_nothing() {
    let (service, kept) = service();
    let answer = service.post("/api/v1/track/batch?dry_run=1", r#"{"events":[{"event":"a"},{"event":""}]}"#).json();
    assert_eq!((&answer["dry_run"], &answer["accepted"], &answer["refused"]), (&json!(true), &json!(1), &json!(1)));
    assert_eq!((&answer["results"][0]["ok"], &answer["results"][0]["event_id"]), (&json!(true), &Value::Null));
    assert!(kept.lock().unwrap().is_empty());
}

#[test]
fn a_replay_repeats_what_the_first_request_was_told() {
    let mut events = MockEventStore::new();
    let refusal = Refusal { code: "invalid_event".to_owned(), message: "As before.".to_owned(), param: None };
    let told = vec![Ok(domain::TrackingEventId(7)), Err(refusal)];
    events
        .expect_insert_batch()
        .withf(|_, _, key, _| key.as_ref().is_some_and(|key| key.path == PATH && key.key == "k"))
        .returning(move |_, _, _, _| Ok(Idempotent { value: told.clone(), replayed: true }));
    let service = Service::start(State { events: Arc::new(events), ..state() });
    let body = r#"{"events":[{"event":"a"},{"event":"b"}]}"#;
    let answer = service.post_with(PATH, body, &[("Idempotency-Key", "k")]);
    assert_eq!(answer.header("idempotent-replayed"), Some("true"));
    let answer = answer.json();
    assert_eq!((&answer["accepted"], &answer["results"][1]["message"]), (&json!(1), &json!("As before.")));
}
