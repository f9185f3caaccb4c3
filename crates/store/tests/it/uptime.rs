//! Probes: stored once, summed up by minute, and removed after their time.

use domain::uptime::{Component, Minute, Outcome, Probe, ProbeStore, Tally, minute_of};
use store::Retention;
use time::{Duration, OffsetDateTime, macros::datetime};

use crate::database::fresh;

const NOON: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

fn probe(minute: i64, source: &str, outcome: Outcome, latency_ms: Option<i64>) -> Probe {
    let minute = NOON + Duration::minutes(minute);
    Probe { component: Component::Api, minute, source: source.to_owned(), outcome, latency_ms }
}

#[tokio::test]
async fn a_minute_is_the_sum_of_its_sources_and_the_first_probe_of_each_counts() {
    let db = fresh().await;
    let of_others = Probe { component: Component::Jobs, ..probe(0, "a", Outcome::Degraded, None) };
    let first = [
        probe(0, "a", Outcome::Up, Some(10)),
        probe(0, "b", Outcome::Up, Some(21)),
        probe(0, "c", Outcome::Down, None),
        of_others,
        probe(1, "external", Outcome::Down, None),
        probe(2, "a", Outcome::Up, Some(5)),
    ];
    db.store.record(&first).await.unwrap();
    db.store.record(&[probe(0, "a", Outcome::Down, None), probe(1, "a", Outcome::Up, Some(7))]).await.unwrap();
    let minute = |component, number, tally| Minute { component, minute: NOON + Duration::minutes(number), tally };
    let none = Tally::default();
    let expected = [
        minute(Component::Api, 0, Tally { up: 2, down: 1, latency_ms: Some(16), ..none }),
        minute(Component::Jobs, 0, Tally { degraded: 1, ..none }),
        minute(Component::Api, 1, Tally { up: 1, down: 1, down_outside: true, latency_ms: Some(7), ..none }),
    ];
    assert_eq!(db.store.minutes(NOON, NOON + Duration::minutes(2)).await.unwrap(), expected);
    assert_eq!(db.store.first().await.unwrap(), Some(NOON));
}

#[tokio::test]
async fn more_probes_than_a_statement_takes_are_stored_together() {
    let db = fresh().await;
    assert_eq!(db.store.first().await.unwrap(), None);
    let day: Vec<Probe> = (0..1_440).map(|minute| probe(minute, "a", Outcome::Up, None)).collect();
    db.store.record(&day).await.unwrap();
    db.store.record(&[]).await.unwrap();
    assert_eq!(db.store.minutes(NOON, NOON + Duration::days(1)).await.unwrap().len(), 1_440);
}

#[tokio::test]
async fn a_clock_may_be_a_little_ahead_of_the_databases() {
    let db = fresh().await;
    let begins = minute_of(OffsetDateTime::now_utc() + Duration::MINUTE);
    let seen =
        [begins, begins + Duration::minutes(2)].map(|minute| Probe { minute, ..probe(0, "a", Outcome::Up, None) });
    db.store.record(&seen).await.unwrap();
    let stored = db.store.minutes(begins, begins + Duration::HOUR).await.unwrap();
    assert_eq!(stored.iter().map(|seen| seen.minute).collect::<Vec<_>>(), [begins]);
}

#[tokio::test]
async fn probes_are_kept_for_ninety_days() {
    let db = fresh().await;
    let all = [probe(-1, "a", Outcome::Up, None), probe(0, "a", Outcome::Up, None)];
    db.store.record(&all).await.unwrap();
    let retention = Retention { track_months: 12, delivery_months: 3 };
    db.store.maintain_at(NOON + Duration::days(90), retention).await.unwrap();
    assert_eq!(db.store.first().await.unwrap(), Some(NOON));
}
