//! `/incidents`: the list, one of them, and what is told while the database is away.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicI64, Ordering},
};

use api::State;
use app::status::StatusPages;
use domain::{
    StoreError,
    incidents::{Incident, MockIncidentStore, Severity, Status, Update},
    uptime::{Component, MockProbeStore},
};
use rstest::rstest;
use serde_json::{Value, json};
use time::{Duration, macros::datetime};

use crate::support::{BOTH, NOW, Service, without_database};

fn incident(id: i64, severity: Severity, resolved: bool) -> Incident {
    let started_at = datetime!(2026-05-02 10:00 UTC) - Duration::days(40 * (9 - id));
    Incident {
        id: domain::IncidentId(id),
        title: "Delayed syncs".to_owned(),
        severity,
        status: if resolved { Status::Resolved } else { Status::Monitoring },
        components: vec![Component::Jobs],
        automatic: true,
        started_at,
        identified_at: None,
        monitoring_at: Some(started_at + Duration::minutes(40)),
        resolved_at: resolved.then(|| started_at + Duration::HOUR),
        updates: vec![Update {
            id: domain::IncidentUpdateId(12),
            status: Status::Monitoring,
            body: "The queue is draining.".to_owned(),
            created_at: started_at + Duration::minutes(40),
        }],
    }
}

fn all() -> Vec<Incident> {
    vec![incident(9, Severity::Minor, false), incident(8, Severity::Critical, true), incident(5, Severity::Major, true)]
}

fn with(incidents: MockIncidentStore) -> State {
    let pages = StatusPages::new(Arc::new(MockProbeStore::new()), Arc::new(incidents));
    State { status: Arc::new(pages), ..without_database() }
}

fn service() -> Service {
    let mut incidents = MockIncidentStore::new();
    incidents.expect_all().times(1).returning(|| Ok(all()));
    Service::start(with(incidents))
}

fn shown() -> Value {
    json!({
        "id": 9, "title": "Delayed syncs", "severity": "minor", "status": "monitoring", "components": ["jobs"],
        "automatic": true, "started_at": "2026-05-02T10:00:00Z", "identified_at": null,
        "monitoring_at": "2026-05-02T10:40:00Z", "resolved_at": null, "duration_seconds": null,
        "updates": [{
            "id": 12, "status": "monitoring", "body": "The queue is draining.", "created_at": "2026-05-02T10:40:00Z"
        }]
    })
}

#[test]
fn incidents_are_shown_to_everyone_and_no_key_is_looked_up() {
    let service = service();
    let answer = service.get("/api/v1/incidents?limit=1", BOTH);
    let names = ["cache-control", "age", "access-control-allow-origin", "x-ratelimit-limit", "x-ratelimit-remaining"];
    let headers = names.map(|name| answer.header(name));
    let kept = "public, max-age=60, stale-if-error=3600";
    assert_eq!((answer.status, headers), (200, [Some(kept), Some("0"), Some("*"), Some("300"), Some("299")]));
    assert!(answer.header("etag").is_some());
    assert_eq!(
        answer.json(),
        json!({
            "data": [shown()], "status": {"indicator": "minor", "description": "Minor issues"},
            "pagination": {"limit": 1, "next_cursor": 9, "has_more": true},
            "generated_at": "2026-05-02T12:00:30Z", "api_version": "v1"
        })
    );
    let next = service.get("/api/v1/incidents?limit=1&cursor=9", BOTH).json();
    assert_eq!((&next["data"][0]["id"], &next["data"][0]["duration_seconds"]), (&json!(8), &json!(3_600)));
    assert_eq!(next["pagination"]["has_more"], json!(false));
}

#[rstest]
#[case("", &[9, 8])]
#[case("?days=365", &[9, 8, 5])]
#[case("?days=1000", &[9, 8, 5])]
#[case("?status=open", &[9])]
#[case("?status=resolved&days=365", &[8, 5])]
#[case("?status=all&severity=critical", &[8])]
#[case("?severity=major&days=1", &[])]
fn filters_choose_and_the_indicator_stays(#[case] query: &str, #[case] ids: &[i64]) {
    let body = service().send("GET", &format!("/api/v1/incidents{query}"), &[], None).json();
    let found: Vec<i64> = body["data"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect();
    assert_eq!((found.as_slice(), &body["status"]["indicator"]), (ids, &json!("minor")));
    assert_eq!(body.get("warnings").is_some(), query.contains("1000"));
}

#[rstest]
#[case("status=closed", "status")]
#[case("severity=none", "severity")]
#[case("days=0", "days")]
#[case("cursor=x", "cursor")]
#[case("cursor=0", "cursor")]
#[case("limit=-1", "limit")]
fn other_values_are_refused_by_name(#[case] query: &str, #[case] param: &str) {
    let state = with(MockIncidentStore::new());
    let answer = Service::start(state).send("GET", &format!("/api/v1/incidents?{query}"), &[], None);
    assert_eq!((answer.error(), &answer.json()["param"]), ((400, "invalid_parameter".into()), &json!(param)));
}

#[test]
fn one_is_found_by_its_number_and_others_are_not_there() {
    let service = service();
    let mut expected = shown();
    expected["generated_at"] = json!("2026-05-02T12:00:30Z");
    expected["api_version"] = json!("v1");
    assert_eq!(service.get("/api/v1/incidents/9", BOTH).json(), expected);
    for id in ["7", "0", "-9", "x", "9.0", "9223372036854775808"] {
        let answer = service.send("GET", &format!("/api/v1/incidents/{id}"), &[], None);
        assert_eq!(answer.error(), (404, "not_found".into()), "{id}");
    }
}

#[test]
fn without_incidents_all_is_well() {
    let mut incidents = MockIncidentStore::new();
    incidents.expect_all().returning(|| Ok(Vec::new()));
    let body = Service::start(with(incidents)).send("GET", "/api/v1/incidents", &[], None).json();
    let status = json!({"indicator": "none", "description": "All systems operational"});
    assert_eq!((&body["data"], &body["status"]), (&json!([]), &status));
}

/// Seconds that the clock of this file's service is ahead.
static AHEAD: AtomicI64 = AtomicI64::new(0);

#[test]
fn while_the_database_is_away_the_last_incidents_are_told_with_their_age() {
    let away = Arc::new(AtomicBool::new(true));
    let is_away = away.clone();
    let mut incidents = MockIncidentStore::new();
    incidents.expect_all().returning(move || match is_away.load(Ordering::SeqCst) {
        true => Err(StoreError::Unavailable("gone".into())),
        false => Ok(all()),
    });
    let clock = || NOW + Duration::seconds(AHEAD.load(Ordering::SeqCst));
    let service = Service::start(State { clock, ..with(incidents) });
    let at = |seconds: i64, path: &str| {
        AHEAD.store(seconds, Ordering::SeqCst);
        service.send("GET", path, &[], None)
    };
    assert_eq!(at(0, "/api/v1/incidents").error(), (503, "no_db".into()));
    away.store(false, Ordering::SeqCst);
    let first = at(10, "/api/v1/incidents");
    away.store(true, Ordering::SeqCst);
    let kept = at(3_610, "/api/v1/incidents");
    assert_eq!((kept.status, kept.header("age"), &kept.body), (200, Some("3600"), &first.body));
    let one = at(3_611, "/api/v1/incidents/8");
    assert_eq!((one.status, one.header("age")), (200, Some("3601")));
}
