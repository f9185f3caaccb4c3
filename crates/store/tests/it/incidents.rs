//! Incidents: written by people and by probes, and read with what was told.

use std::sync::Arc;

use domain::{
    IncidentId,
    incidents::{Change, ChangeError, Incident, IncidentStore, NewIncident, Severity, Status},
    uptime::{Component, Outcome, Probe, ProbeStore, minute_of},
};
use store::Store;
use time::{Duration, OffsetDateTime, macros::datetime};

use crate::database::fresh;

const NOON: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

fn minute(number: i64) -> OffsetDateTime {
    NOON + Duration::minutes(number)
}

fn new() -> NewIncident {
    NewIncident {
        title: "Delayed imports".to_owned(),
        severity: Severity::Minor,
        components: vec![Component::Api, Component::Jobs],
        status: Status::Identified,
        body: "A disk is full.".to_owned(),
    }
}

fn to(status: Status, body: &str) -> Change {
    Change { status: Some(status), severity: None, body: body.to_owned() }
}

async fn change(store: &Store, id: IncidentId, change: Change, now: OffsetDateTime) -> Result<Incident, ChangeError> {
    IncidentStore::change(store, id, change, now).await
}

/// What the probes see in these minutes: a letter for each, `u`p or `d`own.
async fn see(store: &Store, component: Component, first: i64, letters: &str) {
    let outcome = |letter| if letter == 'd' { Outcome::Down } else { Outcome::Up };
    let probes = (first..).zip(letters.chars()).map(|(number, letter)| Probe {
        component,
        minute: minute(number),
        source: "a".to_owned(),
        outcome: outcome(letter),
        latency_ms: None,
    });
    store.record(&probes.collect::<Vec<_>>()).await.unwrap();
}

#[tokio::test]
async fn what_a_person_tells_is_read_newest_first() {
    let db = fresh().await;
    let first = db.store.open(new(), minute(0)).await.unwrap();
    let second = db.store.open(NewIncident { title: "Other".to_owned(), ..new() }, minute(1)).await.unwrap();
    let told = change(&db.store, first.id, to(Status::Monitoring, "We made room."), minute(5)).await.unwrap();
    let resolved = change(&db.store, first.id, to(Status::Resolved, "Over."), minute(9)).await.unwrap();
    assert_eq!((first.identified_at, told.monitoring_at), (Some(minute(0)), Some(minute(5))));
    assert_eq!((resolved.resolved_at, resolved.duration()), (Some(minute(9)), Some(Duration::minutes(9))));
    let bodies: Vec<&str> = resolved.updates.iter().map(|update| update.body.as_str()).collect();
    assert_eq!(bodies, ["Over.", "We made room.", "A disk is full."]);
    assert_eq!(db.store.all().await.unwrap(), [second, resolved]);
}

#[tokio::test]
async fn no_way_back_and_nothing_of_it_is_kept() {
    let db = fresh().await;
    let first = db.store.open(new(), minute(0)).await.unwrap();
    let refused = change(&db.store, first.id, to(Status::Investigating, "No."), minute(1)).await;
    assert!(matches!(refused, Err(ChangeError::Transition(_))), "{refused:?}");
    let unknown = change(&db.store, IncidentId(first.id.0 + 1), to(Status::Resolved, "No."), minute(1)).await;
    assert!(matches!(unknown, Err(ChangeError::NotFound)), "{unknown:?}");
    assert_eq!(db.store.all().await.unwrap(), [first]);
}

#[tokio::test]
async fn probes_open_and_end_an_incident_and_each_minute_is_gone_through_once() {
    let db = fresh().await;
    // Nothing is done about what was before the first time.
    see(&db.store, Component::Database, -5, "ddddd").await;
    db.store.advance(minute(0)).await.unwrap();
    assert_eq!(db.store.all().await.unwrap(), []);
    see(&db.store, Component::Database, 0, "uddd").await;
    // The minute that is not over does not count.
    db.store.advance(minute(3) + Duration::seconds(59)).await.unwrap();
    assert_eq!(db.store.all().await.unwrap(), []);
    let several = (0..8).map(|_| {
        let store = Arc::clone(&db.store);
        tokio::spawn(async move { store.advance(minute(4)).await })
    });
    for done in several.collect::<Vec<_>>() {
        done.await.unwrap().unwrap();
    }
    let all = db.store.all().await.unwrap();
    let [opened] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((opened.severity, opened.status, opened.automatic), (Severity::Major, Status::Investigating, true));
    assert_eq!((opened.started_at, opened.components.as_slice()), (minute(1), &[Component::Database][..]));
    assert_eq!(opened.title, "The database does not answer");
    assert_eq!(opened.updates.len(), 1);
    see(&db.store, Component::Database, 4, &"u".repeat(20)).await;
    db.store.advance(minute(24)).await.unwrap();
    let all = db.store.all().await.unwrap();
    let [ended] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((ended.monitoring_at, ended.resolved_at), (Some(minute(9)), Some(minute(24))));
    let told: Vec<(Status, OffsetDateTime)> =
        ended.updates.iter().map(|update| (update.status, update.created_at)).collect();
    let expected =
        [(Status::Resolved, minute(24)), (Status::Monitoring, minute(9)), (Status::Investigating, minute(4))];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_process_whose_clock_is_ahead_passes_no_minute_over() {
    let db = fresh().await;
    let now = OffsetDateTime::now_utc();
    let begun = minute_of(now - Duration::minutes(10));
    db.store.advance(begun).await.unwrap();
    let down = |minute| Probe {
        component: Component::Database,
        minute,
        source: "a".to_owned(),
        outcome: Outcome::Down,
        latency_ms: None,
    };
    let ahead = now + Duration::days(365);
    let seen = [begun, begun + Duration::MINUTE, begun + Duration::minutes(2), minute_of(ahead)].map(down);
    db.store.record(&seen).await.unwrap();
    db.store.advance(ahead).await.unwrap();
    let all = db.store.all().await.unwrap();
    assert_eq!(all.iter().map(|incident| incident.started_at).collect::<Vec<_>>(), [begun]);
    let later = db.store.minutes(now + Duration::HOUR, ahead + Duration::HOUR).await.unwrap();
    assert_eq!(later, [], "nobody has seen what is to come");
}

#[tokio::test]
async fn probes_leave_alone_what_a_person_has_in_hand() {
    let db = fresh().await;
    db.store.advance(minute(0)).await.unwrap();
    see(&db.store, Component::Api, 0, "ddd").await;
    db.store.advance(minute(3)).await.unwrap();
    let id = db.store.all().await.unwrap()[0].id;
    change(&db.store, id, to(Status::Identified, "It is the router."), minute(4)).await.unwrap();
    see(&db.store, Component::Api, 3, &format!("{}{}", "d".repeat(12), "u".repeat(40))).await;
    db.store.advance(minute(55)).await.unwrap();
    let all = db.store.all().await.unwrap();
    let [left] = all.as_slice() else { panic!("{all:?}") };
    let found = (left.status, left.severity, left.automatic, left.updates.len());
    assert_eq!(found, (Status::Identified, Severity::Major, false, 2));
}
