//! What is seen, and what is told of it when Postgres was away for minutes.

use std::sync::atomic::{AtomicBool, Ordering};

use app::status::StatusPages;
use domain::{
    incidents::{Filter, Incident, Severity, Shown, Status as IncidentStatus},
    page::PageRequest,
    uptime::{Checks, ComponentUptime, Gap, Latency, Record, Report, Share, Status},
};
use rust_decimal::{Decimal, dec};
use store::{Connect, PoolOptions};
use time::macros::datetime;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

#[test]
fn an_answer_of_the_status_says_how_the_api_is() {
    let cases = [
        ("{\"status\":\"operational\"}", Outcome::Up),
        ("{\"status\":\"degraded\"}", Outcome::Degraded),
        ("{\"status\":\"outage\"}", Outcome::Down),
        ("<html>operational</html>", Outcome::Down),
        ("", Outcome::Down),
    ];
    for (answer, expected) in cases {
        assert_eq!(outcome(answer.as_bytes()), expected, "{answer}");
    }
}

#[test]
fn jobs_are_late_when_a_dead_run_is_left_alone_and_when_none_is_run_for_a_day() {
    let cases = [(0.0, 0.0, true), (599.0, 90_599.0, true), (600.0, 0.0, false), (0.0, 90_600.0, false)];
    for (oldest_abandoned_seconds, idle_seconds, expected) in cases {
        let overdue = Overdue { neglected_subscriptions: 0, oldest_abandoned_seconds, idle_seconds };
        assert_eq!(jobs_are_in_time(&overdue, 300.0), expected, "{overdue:?}");
    }
}

#[test]
fn a_listener_on_all_addresses_is_reached_on_this_machine() {
    let cases = [("0.0.0.0:8080", "127.0.0.1:8080"), ("[::]:8080", "[::1]:8080"), ("10.1.2.3:80", "10.1.2.3:80")];
    for (listener, expected) in cases {
        assert_eq!(reachable(listener.parse().unwrap()), expected.parse().unwrap());
    }
}

#[test]
fn the_next_look_is_at_the_next_minute() {
    assert_eq!(until_next_minute(datetime!(2026-11-20 11:00:59.25 UTC)), Duration::from_millis(750));
    assert_eq!(until_next_minute(datetime!(2026-11-20 11:00 UTC)), Duration::from_secs(60));
}

/// Ten in the morning; minutes are counted from there.
const TEN: OffsetDateTime = datetime!(2026-11-20 10:00 UTC);

fn minute(number: i64) -> OffsetDateTime {
    TEN + time::Duration::minutes(number)
}

/// A process whose clock and database are the test's, and which answers `/status` by whether that is there.
struct World {
    prober: Prober,
    pages: StatusPages,
    is_up: Arc<AtomicBool>,
}

impl World {
    async fn new(store: &Arc<Store>) -> Self {
        let is_up = Arc::new(AtomicBool::new(true));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let eyes = Eyes::new(store.clone(), listener.local_addr().ok(), Duration::from_secs(300)).unwrap();
        tokio::spawn(answer(listener, is_up.clone()));
        let prober = Prober::new("a".to_owned(), Arc::new(eyes), store.clone(), store.clone());
        Self { prober, pages: StatusPages::new(store.clone(), store.clone()), is_up }
    }

    /// Looks in each of the minutes, 12 seconds after it began.
    async fn look(&self, minutes: std::ops::Range<i64>) {
        for number in minutes {
            self.prober.minute(minute(number) + time::Duration::seconds(12)).await;
        }
    }

    /// The figures of an hour, and how old they are.
    async fn figures(&self, number: i64) -> (Report, i64) {
        let record = self.pages.record(minute(number)).await.unwrap();
        (record.value.report(1), record.age.whole_seconds())
    }
}

async fn answer(listener: tokio::net::TcpListener, is_up: Arc<AtomicBool>) {
    while let Ok((mut client, _)) = listener.accept().await {
        let mut request = [0; 1_024];
        let _ = client.read(&mut request).await;
        let status = if is_up.load(Ordering::SeqCst) { "operational" } else { "outage" };
        let _ = client.write_all(format!("HTTP/1.1 200 OK\r\n\r\n{{\"status\":\"{status}\"}}").as_bytes()).await;
    }
}

/// Both shares of a component, and how it stands.
fn uptime_of(report: &Report, component: Component) -> (Status, Option<Decimal>, Decimal) {
    let found = report.components.iter().find(|seen| seen.component == component).unwrap();
    let ComponentUptime { status, share: Share { uptime, coverage }, .. } = *found;
    (status, uptime, coverage)
}

#[tokio::test(flavor = "multi_thread")]
async fn minutes_without_postgres_are_told_as_they_were() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = testkit::reachable_folder().unwrap();
    let root = folder.path().join("cluster");
    let cluster = testkit::cluster(&root, true).unwrap();
    let connect = Connect::parse(&cluster.url()).unwrap();
    store::migrate(&connect).await.unwrap();
    let store = Arc::new(Store::connect(&connect, PoolOptions::default()).unwrap());
    let world = World::new(&store).await;

    world.look(0..10).await;
    let (before, age) = world.figures(10).await;
    assert_eq!((before.checks, age), (Checks { up: 10, degraded: 0, down: 0, missing: 0 }, 0));
    assert_eq!(before.share, Share { uptime: Some(dec!(100)), coverage: dec!(100) });

    // Seven minutes without Postgres: nothing can be stored, and the last figures are told.
    cluster.stop().unwrap();
    world.is_up.store(false, Ordering::SeqCst);
    world.look(10..14).await;
    assert_eq!(world.figures(14).await, (before, 240));
    world.look(14..17).await;
    let _cluster = testkit::cluster(&root, true).unwrap();
    world.is_up.store(true, Ordering::SeqCst);
    world.look(17..20).await;
    // Three minutes in which the process was not there at all.
    world.look(23..24).await;

    let (report, age) = world.figures(24).await;
    assert_eq!((report.since, report.until, age), (minute(-36), minute(24), 0));
    assert_eq!(report.checks, Checks { up: 14, degraded: 0, down: 7, missing: 3 });
    // 14 of 21 are 66.666…; 21 of 24 are 87.5.
    let share = Share { uptime: Some(dec!(66.66)), coverage: dec!(87.5) };
    assert_eq!(report.share, share);
    assert_eq!(report.gaps, [Gap { from: minute(20), to: minute(23) }]);
    assert!(matches!(report.latency, Latency { avg: Some(_), p50: Some(_), p95: Some(_) }));
    let of_hour = report.series.first().map(|hour| (hour.begins, hour.uptime, hour.checks, hour.down));
    assert_eq!(of_hour, Some((minute(-36), share.uptime, 21, 7)));
    for component in [Component::Api, Component::Database] {
        assert_eq!(uptime_of(&report, component), (Status::Operational, share.uptime, share.coverage), "{component}");
    }
    // Only the database knows what is due: while it was away nobody could look. 14 of 24 are 58.333….
    for component in [Component::Jobs, Component::Webhooks] {
        let expected = (Status::Operational, Some(dec!(100)), dec!(58.33));
        assert_eq!(uptime_of(&report, component), expected, "{component}");
    }
    assert_eq!(uptime_of(&report, Component::Social), (Status::Unknown, None, Decimal::ZERO));
    assert_eq!(Record::window(minute(24)).1, minute(24));

    // Each of the two that were down has an incident, from the first minute that it was; a gap does not mend it.
    let told = async |number| {
        let book = world.pages.incidents(minute(number)).await.unwrap().value;
        let filter = Filter { shown: Shown::All, severity: None, days: 1 };
        let all = book.page(filter, PageRequest { limit: 10, cursor: None }).items;
        let shown = |incident: &&Incident| {
            let updates: Vec<_> = incident.updates.iter().map(|update| (update.status, update.created_at)).collect();
            (incident.components.clone(), incident.severity, incident.started_at, updates)
        };
        let mut shown: Vec<_> = all.iter().map(shown).collect();
        shown.sort_by_key(|(components, ..)| components.clone());
        shown
    };
    let investigating = (IncidentStatus::Investigating, minute(13));
    let both = |updates: &[_]| {
        [Component::Api, Component::Database]
            .map(|component| (vec![component], Severity::Major, minute(10), updates.to_vec()))
    };
    assert_eq!(told(24).await, both(&[investigating]));
    world.look(24..45).await;
    let (monitoring, resolved) = ((IncidentStatus::Monitoring, minute(28)), (IncidentStatus::Resolved, minute(43)));
    assert_eq!(told(45).await, both(&[resolved, monitoring, investigating]));
}
