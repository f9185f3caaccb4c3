//! `/status`, `/health` and `/me`.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use api::{Settings, State};
use domain::{
    StoreError,
    health::{MockHealth, Requirement, Schema},
};
use serde_json::{Value, json};

use crate::support::{BOTH, READ, Service, bearer, health, state, without_database};

#[test]
fn the_status_is_shown_to_everyone() {
    let answer = Service::start(state()).send("GET", "/api/v1/status", &[("Authorization", "Bearer nonsense")], None);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("cache-control"), Some("public, max-age=15"));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    let mut report = answer.json();
    assert!(report["meta"]["check_total_ms"].take().is_number());
    assert_eq!(
        report,
        json!({
            "status": "operational", "api_version": "v1",
            "checks": {"database": {"status": "ok", "latency_ms": 0.4}, "schema": {"status": "ok"}},
            "meta": {"region": "eu-test", "env": "test", "commit": "abc1234", "check_total_ms": null},
            "ts": "2026-05-02T12:00:30Z"
        })
    );
}

#[test]
fn unknown_parameters_of_public_endpoints_are_noted_or_refused_and_health_is_never_refused() {
    let service = Service::start(state());
    let get = |path: &str, prefer: &str| service.send("GET", &format!("{path}?_=1"), &[("Prefer", prefer)], None);
    let noted = json!([{"code": "unknown_parameter", "param": "_"}]);
    for path in ["/api/v1/status", "/api/v1/openapi.json"] {
        let refused = get(path, "handling=strict");
        assert_eq!((refused.error(), &refused.json()["param"]), ((400, "invalid_parameter".into()), &json!("_")));
    }
    for (path, prefer) in [("status", "x"), ("health", "x"), ("health", "handling=strict")] {
        let answer = get(&format!("/api/v1/{path}"), prefer);
        assert_eq!((answer.status, &answer.json()["warnings"]), (200, &noted), "{path} {prefer}");
    }
    // A document of another standard says nothing of ours.
    let document = get("/api/v1/openapi.json", "x");
    assert_eq!((document.status, document.json().get("warnings")), (200, None));
    assert_eq!(document.header("x-warnings"), Some(noted.to_string().as_str()));
    assert_eq!(service.send("GET", "/api/v1/health?a=%zz&a=", &[], None).status, 200);
}

#[test]
fn an_outage_is_reported_in_full_with_503() {
    let mut health = MockHealth::new();
    health.expect_ping().returning(|| Err(StoreError::Unavailable("connection to 10.1.2.3 refused".into())));
    let answer =
        Service::start(api::State { health: Arc::new(health), ..state() }).send("GET", "/api/v1/status", &[], None);
    assert_eq!(answer.error(), (503, "no_db".to_owned()));
    assert_eq!((answer.header("cache-control"), answer.header("retry-after")), (Some("no-store"), Some("5")));
    let report = answer.json();
    assert_eq!(report["status"], "outage");
    assert_eq!(
        report["checks"],
        json!({"database": {"status": "down", "latency_ms": null}, "schema": {"status": "unknown"}})
    );
    assert!(!answer.text().contains("10.1.2.3"));
}

#[test]
fn a_slow_database_degrades_the_service() {
    let health = health(Duration::from_millis(251), Schema::Current);
    let report = Service::start(api::State { health, ..state() }).send("GET", "/api/v1/status", &[], None).json();
    assert_eq!((&report["status"], &report["checks"]["database"]["status"]), (&json!("degraded"), &json!("slow")));
}

#[test]
fn a_schema_that_does_not_fit_is_an_outage_and_a_newer_one_that_fits_is_none() {
    let report = |schema: Schema| {
        let health = health(Duration::from_millis(1), schema);
        let answer = Service::start(api::State { health, ..state() }).send("GET", "/api/v1/status", &[], None);
        let report = answer.json();
        let error = report.get("error").cloned().unwrap_or_default();
        (answer.status, report["status"].clone(), error, report["checks"].clone())
    };
    let checks = |schema: &str| json!({"database": {"status": "ok", "latency_ms": 1.0}, "schema": {"status": schema}});
    let requirement = Requirement { migration: "20990101000000".into(), minimum: "9.0.0".parse().unwrap() };
    let too_new = Schema::TooNew { requirement, own: "1.0.0".parse().unwrap() };
    for (schema, shown) in [(Schema::Outdated { missing: vec!["m".into()] }, "outdated"), (too_new, "too_new")] {
        assert_eq!(report(schema), (503, json!("outage"), json!("no_db"), checks(shown)));
    }
    let newer = Schema::Newer { unknown: vec!["20990101000000".into()] };
    assert_eq!(report(newer), (200, json!("operational"), Value::Null, checks("ok")));
}

#[test]
fn a_database_that_does_not_answer_counts_as_down() {
    struct Stuck;
    #[async_trait::async_trait]
    impl domain::health::Health for Stuck {
        async fn ping(&self) -> Result<Duration, StoreError> {
            std::future::pending().await
        }

        async fn schema(&self) -> Result<Schema, StoreError> {
            std::future::pending().await
        }
    }
    let answer =
        Service::start(api::State { health: Arc::new(Stuck), ..state() }).send("GET", "/api/v1/status", &[], None);
    assert_eq!(answer.error(), (503, "no_db".to_owned()));
}

#[test]
fn the_database_is_asked_once_for_many_who_ask() {
    let mut health = MockHealth::new();
    health.expect_ping().times(1).returning(|| Ok(Duration::from_millis(1)));
    health.expect_schema().times(1).returning(|| Ok(Schema::Current));
    let service = Service::start(api::State { health: Arc::new(health), ..state() });
    for _ in 0..5 {
        assert_eq!(service.send("GET", "/api/v1/status", &[], None).status, 200);
    }
}

/// A process that was started a day ago.
fn a_day_old() -> State {
    let state = without_database();
    let started = Instant::now().checked_sub(Duration::from_secs(86_400)).unwrap();
    State { settings: Settings { started, ..state.settings }, ..state }
}

#[test]
fn health_says_that_the_process_answers_and_asks_nothing() {
    let answer = Service::start(a_day_old()).get("/api/v1/health", BOTH);
    let mut report = answer.json();
    assert!((86_400..90_000).contains(&report["uptime_seconds"].take().as_u64().unwrap()));
    let expected = json!({"status": "ok", "version": "0.2.0", "uptime_seconds": null, "api_version": "v1"});
    assert_eq!((answer.status, report), (200, expected));
    let headers = ["content-type", "cache-control", "vary", "etag", "access-control-allow-origin"];
    let shown = headers.map(|name| answer.header(name));
    assert_eq!(shown, [Some("application/json"), Some("no-store"), Some("Accept"), None, Some("*")]);
}

#[test]
fn health_is_told_in_the_drafts_format_to_those_who_name_it() {
    let service = Service::start(a_day_old());
    let kind = |accept: &str| {
        let answer = service.send("GET", "/api/v1/health", &[("Accept", accept)], None);
        (answer.header("content-type").unwrap().to_owned(), answer.json())
    };
    let drafted = json!({"status": "pass", "version": "1", "releaseId": "0.2.0", "api_version": "v1"});
    for accept in ["application/health+json", "text/html, Application/Health+JSON;q=0.4, */*;q=0.1"] {
        assert_eq!(kind(accept), ("application/health+json".to_owned(), drafted.clone()), "{accept}");
    }
    for accept in
        ["*/*", "application/*", "application/health+json;q=0", "application/health+json;q=0.5, application/json"]
    {
        assert_eq!(kind(accept).0, "application/json", "{accept}");
    }
}

#[test]
fn health_is_never_refused_and_shows_what_is_left_to_public_requests() {
    let state = a_day_old();
    let draining = Arc::new(AtomicBool::new(true));
    let settings = Settings { rate_limit_per_minute: 1, draining, ..state.settings };
    let service = Service::start(State { settings, ..state });
    for left in ["4", "3", "2", "1", "0", "0", "0"] {
        let answer = service.send("GET", "/api/v1/health", &[("Authorization", &bearer(BOTH))], None);
        let limits = ["x-ratelimit-limit", "x-ratelimit-remaining"].map(|name| answer.header(name));
        assert_eq!((answer.status, limits), (200, [Some("5"), Some(left)]));
    }
    assert_eq!(service.send("GET", "/api/v1/openapi.json", &[], None).status, 429, "they count for other endpoints");
    assert_eq!(service.send("HEAD", "/api/v1/health", &[], None).status, 200);
}

#[test]
fn the_owner_of_the_key_is_shown() {
    let service = Service::start(state());
    assert_eq!(
        service.get("/api/v1/me", BOTH).json(),
        json!({
            "user_id": "user_0123456789abcdefghijABCD", "scopes": ["read", "write"],
            "profile": {"plan": "pro", "currency": "BRL", "timezone": "America/Sao_Paulo", "language": "en", "country": null,
                "created_at": "2026-01-15T09:30:00Z"},
            "api_version": "v1"
        })
    );
    assert_eq!(service.get("/api/v1/me", READ).json()["scopes"], json!(["read"]));
}
