//! What integrators do with their subscriptions and deliveries.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use api::State;
use app::deliveries::Ports;
use domain::{
    DeliveryId, EventId, ReplayId, SubscriptionId,
    events::EventKind,
    idempotency::Idempotent,
    page::Page,
    sealing::MockSealer,
    webhooks::{
        Subscription,
        attempt::{Attempt, Failure, FailureCode, MockSender, Outcome, Timings},
        delivery::{DeliveryState, Lease, Leased, MockDeliveryQueue, Next, Receiver},
        log::{Filter, LoggedAttempt, LoggedDelivery, MockDeliveryLog, Resent, TestStart},
        replay::{MockReplayStore, Replay, ReplayState, Selection, StartError},
        settings::{Change, Changed, MockWebhookSettings, Rotated, Rotation, StoredSubscription},
        signature::Secret,
    },
};
use mockall::predicate::eq;
use rstest::rstest;
use serde_json::{Value, json};
use time::macros::datetime;
use uuid::Uuid;

use crate::support::{ACCOUNT, Answer, BOTH, NOW, Service, bearer, state};

const SUBSCRIPTION: SubscriptionId = SubscriptionId(3);
const DELIVERY: DeliveryId = DeliveryId(Uuid::from_u128(0x0198_d0c0_a7e1_7c3f_9a5f_3f8b_1d2c_4e6a));

fn subscription() -> Subscription {
    Subscription {
        id: SUBSCRIPTION,
        url: "https://hooks.example.com/".into(),
        events: vec!["*".into()],
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

/// Settings that know subscription 3 of the account.
fn settings() -> MockWebhookSettings {
    let mut settings = MockWebhookSettings::new();
    settings.expect_find().returning(|account, id| {
        let kept = StoredSubscription { subscription: subscription(), sealed_secret: Vec::new(), previous: None };
        Ok((account == ACCOUNT && id == SUBSCRIPTION).then_some(kept))
    });
    settings
}

fn with_settings(settings: MockWebhookSettings) -> Service {
    Service::start(State { webhook_settings: Arc::new(settings), ..state() })
}

fn send(service: Service, method: &str, target: &str, body: &str) -> Answer {
    let headers = [("Authorization", bearer(BOTH)), ("Content-Type", "application/json".to_owned())];
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    service.send(method, target, &headers, Some(body.as_bytes()))
}

#[test]
fn a_change_is_what_the_fields_say() {
    let mut settings = settings();
    let expected = Change { events: Some(vec!["credits.low".into()]), active: Some(true), resume: true };
    settings
        .expect_change()
        .with(eq(ACCOUNT), eq(SUBSCRIPTION), eq(expected), eq(None), eq(NOW))
        .returning(|_, _, _, _, _| Ok(Some(Changed { subscription: subscription(), resumed: 12, resuming: true })));
    let body = r#"{"events":["credits.low"],"active":true,"resume":true}"#;
    let answer = send(with_settings(settings), "PATCH", "/api/v1/webhooks/3", body);
    assert_eq!((answer.status, &answer.json()["resumed"], &answer.json()["id"]), (200, &json!(12), &json!(3)));
    assert_eq!((&answer.json()["resuming"], &answer.json()["api_version"]), (&json!(true), &json!("v1")));
}

#[rstest]
#[case("/api/v1/webhooks/3", r#"{"active":"yes"}"#, (400, "invalid_parameter"))]
#[case("/api/v1/webhooks/3", r#"{"events":["nope"]}"#, (400, "unknown_event"))]
#[case("/api/v1/webhooks/3", r#"{"events":[]}"#, (400, "invalid_parameter"))]
#[case("/api/v1/webhooks/4", r#"{"active":true}"#, (404, "webhook_not_found"))]
#[case("/api/v1/webhooks/x", r#"{"active":true}"#, (404, "webhook_not_found"))]
fn a_change_that_cannot_be(#[case] target: &str, #[case] body: &str, #[case] expected: (u16, &str)) {
    let mut settings = settings();
    settings.expect_change().returning(|_, _, _, _, _| Ok(None));
    assert_eq!(send(with_settings(settings), "PATCH", target, body).error(), (expected.0, expected.1.to_owned()));
}

#[test]
fn no_events_are_refused_without_the_advice_to_leave_them_out_which_changes_nothing() {
    let answer = send(with_settings(settings()), "PATCH", "/api/v1/webhooks/3", r#"{"events":[]}"#);
    assert_eq!(answer.json()["message"], "`events` must name at least one event; `*` is all.");
}

#[rstest]
#[case("", 24)]
#[case("{}", 24)]
#[case(r#"{"overlap_hours":0}"#, 0)]
#[case(r#"{"overlap_hours":168}"#, 168)]
fn a_rotation_shows_the_new_secret_and_keeps_the_old_one_for_the_overlap(#[case] body: &str, #[case] hours: i64) {
    let mut settings = settings();
    settings.expect_rotate().times(1).returning(move |account, id, rotation, key| {
        assert_eq!((account, id, key), (ACCOUNT, SUBSCRIPTION, None));
        assert_eq!(rotation.overlap_until, NOW + time::Duration::hours(hours));
        let Rotation { sealed_secret, overlap_until, .. } = rotation;
        Ok(Some(Idempotent { value: Rotated { sealed_secret, overlap_until }, replayed: false }))
    });
    let mut sealer = MockSealer::new();
    sealer.expect_seal().returning(|_, secret| Ok(secret.iter().rev().copied().collect()));
    sealer.expect_open().returning(|_, sealed| Ok(sealed.iter().rev().copied().collect()));
    let state = State { webhook_settings: Arc::new(settings), sealer: Arc::new(sealer), ..state() };
    let answer = send(Service::start(state), "POST", "/api/v1/webhooks/3/rotate", body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(Secret::parse(answer.json()["secret"].as_str().unwrap()).is_ok());
}

#[test]
fn a_rotation_under_a_used_key_shows_what_was_put_in_place_first() {
    let mut settings = settings();
    let (first, ends) = (Secret::generate([9; 32]), datetime!(2026-05-02 20:00 UTC));
    let text = first.expose().to_owned();
    settings.expect_rotate().times(1).returning(move |_, _, _, _| {
        let value = Rotated { sealed_secret: text.as_bytes().to_vec(), overlap_until: ends };
        Ok(Some(Idempotent { value, replayed: true }))
    });
    let mut sealer = MockSealer::new();
    sealer.expect_seal().returning(|_, secret| Ok(secret.to_vec()));
    sealer.expect_open().returning(|_, sealed| Ok(sealed.to_vec()));
    let state = State { webhook_settings: Arc::new(settings), sealer: Arc::new(sealer), ..state() };
    let answer = send(Service::start(state), "POST", "/api/v1/webhooks/3/rotate", r#"{"overlap_hours":1}"#);
    let body = answer.json();
    assert_eq!(
        (&body["secret"], &body["previous_expires_at"]),
        (&json!(first.expose()), &json!("2026-05-02T20:00:00Z"))
    );
    assert_eq!(answer.header("idempotent-replayed"), Some("true"));
}

#[rstest]
#[case(r#"{"overlap_hours":169}"#)]
#[case(r#"{"overlap_hours":-1}"#)]
#[case(r#"{"overlap_hours":1.5}"#)]
#[case(r#"{"overlap_hours":"24"}"#)]
fn an_overlap_is_at_most_a_week(#[case] body: &str) {
    let answer = send(with_settings(settings()), "POST", "/api/v1/webhooks/3/rotate", body);
    assert_eq!(answer.error(), (400, "invalid_parameter".into()));
}

#[test]
fn deliveries_are_listed_with_their_attempts() {
    let mut log = MockDeliveryLog::new();
    log.expect_page()
        .withf(|account, id, filter, page| {
            let wanted = Filter {
                state: Some(DeliveryState::Pending),
                event: Some(EventKind::CreditsLow),
                since: Some(datetime!(2026-05-01 3:00 UTC)),
                until: None,
            };
            (*account, *id, *filter, page.limit, page.cursor) == (ACCOUNT, SUBSCRIPTION, wanted, 1, Some(99))
        })
        .returning(|_, _, _, _| {
            let attempt = LoggedAttempt {
                number: 1,
                started_at: NOW,
                status: None,
                failure: Some("timed_out".into()),
                message: Some("the receiver did not answer in time".into()),
                dns_us: Some(1_250),
                connect_us: None,
                tls_us: None,
                first_byte_us: None,
                total_us: 10_000_400,
                answer: vec![b'a', 0xff],
                answer_bytes: 5_000,
                location: None,
            };
            let delivery = LoggedDelivery {
                id: DELIVERY,
                event_id: EventId(98),
                event: "credits.low".into(),
                state: DeliveryState::Pending,
                next_attempt_at: Some(datetime!(2026-05-02 12:05 UTC)),
                attempts_made: 70,
                attempts_kept: 50,
                created_at: NOW,
                finished_at: None,
                attempts: vec![attempt],
            };
            Ok(Page { items: vec![delivery], next_cursor: Some(98) })
        });
    let service =
        Service::start(State { webhook_settings: Arc::new(settings()), delivery_log: Arc::new(log), ..state() });
    let answer = service.get(
        "/api/v1/webhooks/3/deliveries?state=pending&event=credits.low&since=2026-05-01T03:00:00Z&limit=1&cursor=99",
        BOTH,
    );
    assert_eq!(
        answer.json(),
        json!({
            "data": [{
                "id": DELIVERY.to_string(), "event_id": 98, "event": "credits.low", "state": "pending",
                "next_attempt_at": "2026-05-02T12:05:00Z", "attempts_made": 70, "attempts_kept": 50, "created_at": "2026-05-02T12:00:30Z",
                "finished_at": null,
                "attempts": [{
                    "number": 1, "started_at": "2026-05-02T12:00:30Z", "status": null, "error": "timed_out",
                    "message": "the receiver did not answer in time", "dns_ms": 1.25, "connect_ms": null,
                    "tls_ms": null, "first_byte_ms": null, "total_ms": 10000.4, "answer": "a\u{fffd}", "answer_truncated": true,
                    "location": null
                }]
            }],
            "pagination": {"limit": 1, "next_cursor": 98, "has_more": true}, "api_version": "v1"
        })
    );
    assert_eq!(service.get("/api/v1/webhooks/9/deliveries", BOTH).error(), (404, "webhook_not_found".into()));
    assert_eq!(service.get("/api/v1/webhooks/3/deliveries?state=x", BOTH).json()["allowed"][0], "pending");
    assert_eq!(service.get("/api/v1/webhooks/3/deliveries?since=yesterday", BOTH).json()["param"], "since");
}

#[test]
fn one_delivery_is_shown_by_its_own_path() {
    let mut log = MockDeliveryLog::new();
    log.expect_find().returning(|account, id, delivery| {
        Ok((account == ACCOUNT && id == SUBSCRIPTION && delivery == DELIVERY).then(|| logged(Vec::new())))
    });
    let service =
        Service::start(State { webhook_settings: Arc::new(settings()), delivery_log: Arc::new(log), ..state() });
    let get = |path: &str| service.get(&format!("/api/v1/webhooks/{path}"), BOTH);
    assert_eq!(
        get(&format!("3/deliveries/{DELIVERY}")).json(),
        json!({
            "id": DELIVERY.to_string(), "event_id": 5, "event": "credits.low", "state": "delivered",
            "next_attempt_at": null, "attempts_made": 1, "attempts_kept": 1, "created_at": "2026-05-02T12:00:30Z",
            "finished_at": "2026-05-02T12:00:30Z", "attempts": [], "api_version": "v1"
        })
    );
    assert_eq!(get(&format!("3/deliveries/{}", Uuid::nil())).error(), (404, "not_found".into()));
    assert_eq!(get("3/deliveries/x").error(), (404, "not_found".into()));
    assert_eq!(get(&format!("4/deliveries/{DELIVERY}")).error(), (404, "webhook_not_found".into()));
}

#[rstest]
#[case(Resent::Queued, 200, Value::Null)]
#[case(Resent::Unknown, 404, json!("not_found"))]
#[case(Resent::UnderWay, 409, json!("invalid_transition"))]
#[case(Resent::Inactive, 409, json!("invalid_transition"))]
fn a_delivery_is_sent_again_if_it_can_be(#[case] value: Resent, #[case] status: u16, #[case] error: Value) {
    let mut log = MockDeliveryLog::new();
    log.expect_resend()
        .with(eq(ACCOUNT), eq(SUBSCRIPTION), eq(DELIVERY), eq(None), eq(None), eq(NOW))
        .returning(move |_, _, _, _, _, _| Ok(Idempotent { value, replayed: false }));
    let service =
        Service::start(State { webhook_settings: Arc::new(settings()), delivery_log: Arc::new(log), ..state() });
    let answer = send(service, "POST", &format!("/api/v1/webhooks/3/deliveries/{DELIVERY}/resend"), "");
    assert_eq!((answer.status, &answer.json()["error"]), (status, &error));
    let other = send(service, "POST", "/api/v1/webhooks/3/deliveries/nonsense/resend", "");
    assert_eq!(other.error(), (404, "not_found".into()));
}

/// The mocks of deliveries and replays panic when they are called.
#[rstest]
#[case("POST", "deliveries/0198d0c0-a7e1-7c3f-9a5f-3f8b1d2c4e6a/resend")]
#[case("GET", "replay/12")]
#[case("DELETE", "replay/12")]
fn what_is_below_an_unknown_subscription_names_that(#[case] method: &str, #[case] below: &str) {
    let answer = send(with_settings(settings()), method, &format!("/api/v1/webhooks/4/{below}"), "");
    assert_eq!(answer.error(), (404, "webhook_not_found".into()));
}

fn leased() -> Leased {
    Leased {
        lease: Lease {
            receiver: Receiver { account: ACCOUNT, subscription: SUBSCRIPTION },
            event: EventId(5),
            claim: 1,
        },
        id: DELIVERY,
        attempt: 1,
        attempt_of_round: 1,
        url: "https://hooks.example.com/".into(),
        sealed_secret: Vec::new(),
        sealed_previous: None,
        body: b"{}".to_vec(),
    }
}

#[test]
fn a_test_sends_a_sample_once_and_tells_what_came_of_it() {
    let mut log = MockDeliveryLog::new();
    log.expect_start_test()
        .withf(|account, id, event, _, _, _| {
            (*account, *id, event.kind().as_str()) == (ACCOUNT, SUBSCRIPTION, "inventory.low_stock")
        })
        .returning(|_, _, _, _, _, _| Ok(TestStart::Leased(Box::new(leased()))));
    let mut sealer = MockSealer::new();
    sealer.expect_open().returning(|_, _| Ok(Secret::generate([1; 32]).expose().as_bytes().to_vec()));
    let mut sender = MockSender::new();
    sender.expect_send().times(1).returning(|_| Attempt {
        outcome: Outcome::Failed(Failure { code: FailureCode::ConnectionRefused, message: "refused".into() }),
        timings: Timings { total: Duration::from_millis(3), ..Timings::default() },
        answer: Vec::new(),
        retry_after: None,
        location: None,
    });
    let mut queue = MockDeliveryQueue::new();
    queue.expect_record().times(1).returning(|reports, _| {
        assert_eq!(reports[0].next, Next::Failed, "a test is not tried again");
        Ok(Vec::new())
    });
    let state = state();
    let deliveries = Ports {
        queue: Arc::new(queue),
        sender: Arc::new(sender),
        sealer: Arc::new(sealer),
        ..state.deliveries.clone()
    };
    let service = Service::start(State { delivery_log: Arc::new(log), deliveries, ..state });
    let answer = send(service, "POST", "/api/v1/webhooks/3/test", r#"{"event":"inventory.low_stock"}"#);
    let body = answer.json();
    assert_eq!(
        (answer.status, &body["delivered"], &body["delivery_id"]),
        (200, &json!(false), &json!(DELIVERY.to_string()))
    );
    assert_eq!((&body["attempt"]["error"], &body["attempt"]["total_ms"]), (&json!("connection_refused"), &json!(3.0)));
    let unknown = send(service, "POST", "/api/v1/webhooks/3/test", r#"{"event":"*"}"#);
    assert_eq!(unknown.error(), (400, "unknown_event".into()));
    assert_eq!(send(service, "POST", "/api/v1/webhooks/3/test", "{}").error(), (400, "missing_parameter".into()));
}

fn logged(attempts: Vec<LoggedAttempt>) -> LoggedDelivery {
    LoggedDelivery {
        id: DELIVERY,
        event_id: EventId(5),
        event: "credits.low".into(),
        state: DeliveryState::Delivered,
        next_attempt_at: None,
        attempts_made: 1,
        attempts_kept: 1,
        created_at: NOW,
        finished_at: Some(NOW),
        attempts,
    }
}

#[test]
fn a_test_under_a_used_key_sends_nothing_and_shows_the_first_attempt() {
    let attempt = LoggedAttempt {
        number: 1,
        started_at: NOW,
        status: Some(204),
        failure: None,
        message: None,
        dns_us: None,
        connect_us: None,
        tls_us: None,
        first_byte_us: None,
        total_us: 2_000,
        answer: Vec::new(),
        answer_bytes: 0,
        location: None,
    };
    let later = LoggedAttempt { number: 2, ..attempt.clone() };
    let long_ago = NOW - time::Duration::minutes(2);
    for (created_at, attempts, expected) in [
        (NOW, vec![attempt], (200, Value::Null)),
        (NOW, vec![], (409, json!("idempotency_in_progress"))),
        // The process that was to make it has ended.
        (long_ago, vec![], (409, json!("idempotency_key_superseded"))),
        // It was sent again so often that the first attempt is not kept.
        (NOW, vec![later], (409, json!("idempotency_key_superseded"))),
    ] {
        let mut log = MockDeliveryLog::new();
        log.expect_start_test()
            .withf(|_, _, _, _, key, _| key.as_ref().is_some_and(|key| key.key == "once"))
            .returning(|_, _, _, _, _, _| Ok(TestStart::Earlier(DELIVERY)));
        log.expect_find()
            .with(eq(ACCOUNT), eq(SUBSCRIPTION), eq(DELIVERY))
            .returning(move |_, _, _| Ok(Some(LoggedDelivery { created_at, ..logged(attempts.clone()) })));
        // The sender of the state refuses to be called.
        let service = Service::start(State { delivery_log: Arc::new(log), ..state() });
        let auth = bearer(BOTH);
        let headers =
            [("Authorization", auth.as_str()), ("Content-Type", "application/json"), ("Idempotency-Key", "once")];
        let body = br#"{"event":"credits.low"}"#;
        let answer = service.send("POST", "/api/v1/webhooks/3/test", &headers, Some(body));
        assert_eq!((answer.status, answer.json()["error"].clone()), expected);
        if answer.status == 200 {
            assert_eq!(
                (&answer.json()["delivered"], &answer.json()["attempt"]["total_ms"]),
                (&json!(true), &json!(2.0))
            );
            assert_eq!(answer.header("idempotent-replayed"), Some("true"));
        }
    }
}

fn replay(selection: Selection) -> Replay {
    Replay {
        id: ReplayId(12),
        selection,
        state: ReplayState::Running,
        total: 7,
        queued: 0,
        created_at: NOW,
        finished_at: None,
    }
}

#[test]
fn a_replay_is_counted_and_started_and_can_be_stopped() {
    let mut replays = MockReplayStore::new();
    replays.expect_count().times(1).returning(|_, _| Ok(7));
    replays
        .expect_start()
        .withf(|account, selection, key, _, now| {
            let span = (selection.since, selection.until) == (datetime!(2026-05-01 0:00 UTC), NOW);
            let states = [DeliveryState::Failed, DeliveryState::Delivered];
            (*account, selection.subscription, *now) == (ACCOUNT, SUBSCRIPTION, NOW)
                && span
                && selection.states == states
                && key.is_none()
        })
        .returning(|_, selection, _, _, _| Ok(Idempotent { value: replay(selection), replayed: false }));
    replays
        .expect_cancel()
        .with(eq(ACCOUNT), eq(SUBSCRIPTION), eq(ReplayId(12)), eq(NOW))
        .returning(|_, _, _, _| Ok(false));
    replays.expect_find().returning(|_, _, id| {
        let selection =
            Selection { subscription: SUBSCRIPTION, since: NOW, until: NOW, states: vec![DeliveryState::Failed] };
        Ok((id == ReplayId(12)).then(|| replay(selection)))
    });
    let service =
        Service::start(State { webhook_settings: Arc::new(settings()), replays: Arc::new(replays), ..state() });
    let body = r#"{"since":"2026-05-01T00:00:00Z","status":["failed","delivered"]"#;
    let start = |target, body: String| send(service, "POST", target, &body);
    let counted = start("/api/v1/webhooks/3/replay", format!("{body},\"dry_run\":true}}")).json();
    assert_eq!((&counted["total"], &counted["id"], &counted["state"]), (&json!(7), &Value::Null, &Value::Null));
    let started = start("/api/v1/webhooks/3/replay", format!("{body}}}")).json();
    assert_eq!((&started["id"], &started["state"], &started["total"]), (&json!(12), &json!("running"), &json!(7)));
    let other = start("/api/v1/webhooks/4/replay", format!("{body}}}"));
    assert_eq!(other.error(), (404, "webhook_not_found".into()));

    assert_eq!(service.get("/api/v1/webhooks/3/replay/12", BOTH).json()["queued"], 0);
    assert_eq!(service.get("/api/v1/webhooks/3/replay/13", BOTH).error(), (404, "not_found".into()));
    let stopped = service.send("DELETE", "/api/v1/webhooks/3/replay/12", &[("Authorization", &bearer(BOTH))], None);
    assert_eq!(stopped.error(), (409, "invalid_transition".into()));
}

#[rstest]
#[case(StartError::Running, "A replay of this subscription is running.")]
#[case(StartError::TooMany, "The account has 3 replays running, which is the limit.")]
fn a_replay_beside_too_many_others_is_a_conflict(#[case] refused: StartError, #[case] message: &str) {
    let refused = Mutex::new(Some(refused));
    let mut replays = MockReplayStore::new();
    replays.expect_start().returning(move |_, _, _, _, _| Err(refused.lock().unwrap().take().unwrap()));
    let state = State { webhook_settings: Arc::new(settings()), replays: Arc::new(replays), ..state() };
    let body = r#"{"since":"2026-05-01T00:00:00Z"}"#;
    let answer = send(Service::start(state), "POST", "/api/v1/webhooks/3/replay", body);
    assert_eq!(answer.error(), (409, "replay_running".into()));
    assert_eq!(answer.json()["message"], message);
}

#[rstest]
#[case("{}", "missing_parameter", "since")]
#[case(r#"{"since":"yesterday"}"#, "invalid_parameter", "since")]
#[case(r#"{"since":"2030-01-01T00:00:00Z"}"#, "invalid_parameter", "until")]
#[case(r#"{"since":"0000-01-01T00:00:00+23:59"}"#, "invalid_parameter", "since")]
#[case(r#"{"since":"1970-01-01T00:00:00+00:01"}"#, "invalid_parameter", "since")]
#[case(r#"{"since":"2026-01-01T00:00:00Z","until":"9999-12-31T23:59:59-23:59"}"#, "invalid_parameter", "until")]
#[case(r#"{"since":"2026-01-01T00:00:00Z","until":"3000-01-01T00:00:00Z"}"#, "invalid_parameter", "until")]
#[case(r#"{"since":"2026-01-01T00:00:00Z","status":[]}"#, "invalid_parameter", "status")]
#[case(r#"{"since":"2026-01-01T00:00:00Z","status":["lost"]}"#, "invalid_parameter", "status")]
fn a_replay_that_makes_no_sense_is_refused(#[case] body: &str, #[case] code: &str, #[case] param: &str) {
    let answer = send(with_settings(settings()), "POST", "/api/v1/webhooks/3/replay", body);
    assert_eq!((answer.error(), answer.json()["param"].as_str()), ((400, code.to_owned()), Some(param)));
    let dry_run = body.replace('}', ",\"dry_run\":true}").replace("{,", "{");
    let answer = send(with_settings(settings()), "POST", "/api/v1/webhooks/3/replay", &dry_run);
    assert_eq!((answer.error(), answer.json()["param"].as_str()), ((400, code.to_owned()), Some(param)));
}

/// The published vector of docs/webhooks.md, sent 30 s before now.
fn vector() -> Value {
    let secret = Secret::generate([7; 32]);
    let (body, at) = (r#"{"event":"credits.low","data":{}}"#, (NOW.unix_timestamp() - 30).to_string());
    json!({
        "body": body, "secret": secret.expose(),
        "headers": {
            "X-Svc-Timestamp": at, "X-Svc-Signature": secret.sign(&at, body.as_bytes()), "webhook-id": "msg_1",
            "webhook-timestamp": at, "webhook-signature": secret.sign_standard("msg_1", &at, body.as_bytes())
        }
    })
}

#[test]
fn a_right_delivery_verifies_and_a_wrong_one_is_told_why() {
    let service = Service::start(state());
    let verify = |given: &Value| service.post("/api/v1/webhooks/verify", &given.to_string()).json();
    assert_eq!(
        verify(&vector()),
        json!({
            "valid": true, "api_version": "v1", "signatures": [
                {"header": "x-svc-signature", "valid": true, "problem": null},
                {"header": "webhook-signature", "valid": true, "problem": null}
            ]
        })
    );
    let mut changed = vector();
    changed["body"] = json!(r#"{"event":"credits.low","data":{} }"#);
    let told = verify(&changed);
    assert_eq!(told["valid"], false);
    assert!(told["signatures"][0]["problem"].as_str().unwrap().contains("raw bytes"));
    let mut headless = vector();
    headless["headers"].as_object_mut().unwrap().remove("X-Svc-Timestamp");
    assert_eq!(verify(&headless)["signatures"][0]["problem"], "the header x-svc-timestamp is missing");
    let mut number = vector();
    number["headers"]["X-Svc-Timestamp"] = json!(NOW.unix_timestamp() - 30);
    assert_eq!(verify(&number)["valid"], true);
    let mut bare = vector();
    bare["headers"] = json!({});
    assert_eq!((&verify(&bare)["valid"], &verify(&bare)["signatures"]), (&json!(false), &json!([])));
    for (field, value) in [("secret", json!("secret")), ("headers", json!({"x-svc-signature": ["00"]}))] {
        let mut wrong = vector();
        wrong[field] = value;
        let answer = service.post("/api/v1/webhooks/verify", &wrong.to_string());
        assert_eq!((answer.error(), answer.json()["param"].as_str()), ((400, "invalid_parameter".into()), Some(field)));
    }
}
