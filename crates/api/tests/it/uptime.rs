//! `/uptime`: the figures, their window, and what is told while the database is away.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicI64, Ordering},
};

use api::State;
use app::status::StatusPages;
use domain::{
    StoreError,
    incidents::MockIncidentStore,
    uptime::{Component, Minute, MockProbeStore, Tally},
};
use rstest::rstest;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime, macros::datetime};

use crate::support::{BOTH, NOW, Service, without_database};

/// The end of the last whole minute.
const UNTIL: OffsetDateTime = datetime!(2026-05-02 12:00 UTC);

fn seen(component: Component, ago: i64, tally: Tally) -> Minute {
    Minute { component, minute: UNTIL - Duration::minutes(ago), tally }
}

/// The API was looked at for 30 minutes, 10 minutes ago it was down, and 4 and 5 minutes ago nobody looked.
fn probes() -> MockProbeStore {
    let mut probes = MockProbeStore::new();
    probes.expect_first().returning(|| Ok(Some(UNTIL - Duration::minutes(30))));
    probes.expect_minutes().withf(|since, until| (*since, *until) == (UNTIL - Duration::days(7), UNTIL)).returning(
        |_, _| {
            let up = Tally { up: 1, latency_ms: Some(40), ..Tally::default() };
            let down = Tally { down: 2, ..Tally::default() };
            let api = (1..=30).filter(|ago| ![4, 5].contains(ago));
            let mut found: Vec<Minute> =
                api.map(|ago| seen(Component::Api, ago, if ago == 10 { down } else { up })).collect();
            found.push(seen(Component::Database, 1, Tally { degraded: 1, ..Tally::default() }));
            Ok(found)
        },
    );
    probes
}

fn with(probes: MockProbeStore) -> State {
    State {
        status: Arc::new(StatusPages::new(Arc::new(probes), Arc::new(MockIncidentStore::new()))),
        ..without_database()
    }
}

#[test]
fn the_figures_are_shown_to_everyone_and_no_key_is_looked_up() {
    let answer = Service::start(with(probes())).get("/api/v1/uptime?hours=1", BOTH);
    let names = ["cache-control", "age", "access-control-allow-origin", "x-ratelimit-limit", "x-ratelimit-remaining"];
    let shown = names.map(|name| answer.header(name));
    let kept = "public, max-age=60, stale-if-error=3600";
    assert_eq!((answer.status, shown), (200, [Some(kept), Some("0"), Some("*"), Some("300"), Some("299")]));
    assert!(answer.header("etag").is_some());
    let unknown = |name: &str| json!({"name": name, "status": "unknown", "uptime_pct": null, "coverage_pct": 0});
    assert_eq!(
        answer.json(),
        json!({
            "window_hours": 1, "since": "2026-05-02T11:00:00Z", "until": "2026-05-02T12:00:00Z",
            // 27 of 28 and 28 of 30.
            "uptime_pct": 96.42, "coverage_pct": 93.33,
            "checks": {"total": 28, "up": 27, "degraded": 0, "down": 1, "missing": 2},
            "latency_ms": {"avg": 40, "p50": 40, "p95": 40},
            "components": [
                {"name": "api", "status": "operational", "uptime_pct": 96.42, "coverage_pct": 93.33},
                // 1 of 30.
                {"name": "database", "status": "degraded", "uptime_pct": 100, "coverage_pct": 3.33},
                unknown("jobs"), unknown("webhooks"), unknown("social")
            ],
            "series": [{
                "ts": "2026-05-02T11:00:00Z", "uptime_pct": 96.42, "checks": 28, "down": 1, "avg_latency_ms": 40
            }],
            "gaps": [{"from": "2026-05-02T11:55:00Z", "to": "2026-05-02T11:57:00Z", "minutes": 2}],
            "method": {
                "interval_seconds": 60, "rounding": "floor", "degraded_counts_as": "up", "missing_counts_as": "excluded"
            },
            "generated_at": "2026-05-02T12:00:30Z", "api_version": "v1"
        })
    );
}

#[rstest]
#[case("", 24, Value::Null)]
#[case("?hours=168", 168, Value::Null)]
#[case(
    "?hours=169",
    168,
    json!([{"code": "limit_clamped", "param": "hours", "requested": 169, "applied": 168}])
)]
fn the_window_is_a_day_and_a_week_at_most(#[case] query: &str, #[case] hours: usize, #[case] warnings: Value) {
    let body = Service::start(with(probes())).send("GET", &format!("/api/v1/uptime{query}"), &[], None).json();
    let series = body["series"].as_array().unwrap();
    assert_eq!((&body["window_hours"], series.len()), (&json!(hours), hours));
    assert_eq!(body.get("warnings").cloned().unwrap_or_default(), warnings);
}

#[rstest]
#[case("hours=0")]
#[case("hours=-1")]
#[case("hours=1.5")]
#[case("hours=all")]
#[case("hours=")]
#[case("hours=1&hours=1")]
fn other_windows_are_refused(#[case] query: &str) {
    let answer = Service::start(with(probes())).send("GET", &format!("/api/v1/uptime?{query}"), &[], None);
    assert_eq!((answer.error(), &answer.json()["param"]), ((400, "invalid_parameter".into()), &json!("hours")));
}

/// Seconds that the clock of this file's service is ahead.
static AHEAD: AtomicI64 = AtomicI64::new(0);

#[test]
fn while_the_database_is_away_the_last_figures_are_told_with_their_age() {
    let away = Arc::new(AtomicBool::new(true));
    let mut probes = MockProbeStore::new();
    let is_away = away.clone();
    probes.expect_first().returning(move || match is_away.load(Ordering::SeqCst) {
        true => Err(StoreError::Unavailable("gone".into())),
        false => Ok(None),
    });
    probes.expect_minutes().returning(|_, until| {
        let minute = until - Duration::MINUTE;
        let tally = Tally { up: 1, ..Tally::default() };
        Ok(vec![Minute { component: Component::Api, minute, tally }])
    });
    let clock = || NOW + Duration::seconds(AHEAD.load(Ordering::SeqCst));
    let service = Service::start(State { clock, ..with(probes) });
    let at = |seconds: i64| {
        AHEAD.store(seconds, Ordering::SeqCst);
        service.send("GET", "/api/v1/uptime", &[], None)
    };
    let nothing = at(0);
    assert_eq!((nothing.error(), nothing.header("retry-after")), ((503, "no_db".into()), Some("5")));
    away.store(false, Ordering::SeqCst);
    let first = at(10);
    assert_eq!((first.status, first.header("age")), (200, Some("0")));
    away.store(true, Ordering::SeqCst);
    for seconds in [20, 70, 1_000] {
        let kept = at(seconds);
        let age = (seconds - 10).to_string();
        assert_eq!((kept.status, kept.header("age"), &kept.body), (200, Some(age.as_str()), &first.body));
        assert_eq!(kept.header("etag"), first.header("etag"));
    }
    away.store(false, Ordering::SeqCst);
    let refreshed = at(1_010);
    assert_eq!((refreshed.status, refreshed.header("age")), (200, Some("0")));
    assert_ne!(refreshed.body, first.body);
}
