use proptest::prelude::*;
use rstest::rstest;
use rust_decimal::{Decimal, dec};
use time::macros::datetime;

use super::*;

const NOW: OffsetDateTime = datetime!(2026-11-20 11:00:12.5 UTC);
const UNTIL: OffsetDateTime = datetime!(2026-11-20 11:00 UTC);

/// The tally of a single source.
fn one(outcome: Outcome, latency_ms: Option<i64>) -> Tally {
    let count = |wanted| i64::from(outcome == wanted);
    Tally {
        up: count(Outcome::Up),
        degraded: count(Outcome::Degraded),
        down: count(Outcome::Down),
        down_outside: false,
        latency_ms,
    }
}

/// What was seen of the API a number of minutes before the end of the window.
fn seen(ago: i64, outcome: Outcome, latency_ms: Option<i64>) -> Minute {
    Minute { component: Component::Api, minute: UNTIL - Duration::minutes(ago), tally: one(outcome, latency_ms) }
}

fn up(minutes: impl Iterator<Item = i64>) -> Vec<Minute> {
    minutes.map(|ago| seen(ago, Outcome::Up, Some(40))).collect()
}

#[rstest]
#[case(0, 0, 0, false, None)]
#[case(2, 0, 0, false, Some(Outcome::Up))]
#[case(1, 1, 0, false, Some(Outcome::Degraded))]
#[case(1, 0, 1, false, Some(Outcome::Degraded))]
#[case(0, 1, 2, false, Some(Outcome::Degraded))]
#[case(0, 0, 2, false, Some(Outcome::Down))]
#[case(2, 0, 1, true, Some(Outcome::Down))]
fn a_minute_is_down_for_all_sources_or_for_one_outside(
    #[case] up: i64,
    #[case] degraded: i64,
    #[case] down: i64,
    #[case] down_outside: bool,
    #[case] expected: Option<Outcome>,
) {
    assert_eq!(Tally { up, degraded, down, down_outside, latency_ms: None }.outcome(), expected);
}

#[test]
fn a_day_with_one_bad_minute_and_a_gap_is_told_as_it_was() {
    // Seven minutes without a look, one minute down, two degraded: the example of the contract.
    let mut minutes = up((11..=1_430).chain([1, 2, 3]).chain(1_434..=1_440));
    minutes.extend([seen(4, Outcome::Down, None), seen(5, Outcome::Degraded, Some(900))]);
    minutes.extend([seen(6, Outcome::Degraded, Some(901)), seen(7, Outcome::Up, Some(40))]);
    minutes.push(seen(0, Outcome::Down, None));
    minutes.push(seen(1_441, Outcome::Down, None));
    minutes.retain(|minute| minute.minute != UNTIL - Duration::minutes(10));
    let report = Record::new(NOW, Some(UNTIL - Duration::days(30)), &minutes).report(24);
    assert_eq!((report.since, report.until), (UNTIL - Duration::days(1), UNTIL));
    // 1,420 + 3 + 7 + 1 up; 8, 9 and 10 minutes ago and 1,431 to 1,433 nobody looked.
    let Checks { up, degraded, down, missing } = report.checks;
    assert_eq!((up, degraded, down, missing, report.checks.total()), (1_431, 2, 1, 6, 1_434));
    // 1,433 of 1,434 are 99.9302…; 1,434 of 1,440 are 99.58333….
    assert_eq!(report.share, Share { uptime: Some(dec!(99.93)), coverage: dec!(99.58) });
    // 1,431 times 40, 900 and 901 make 59,041 over 1,433: 41.2.
    assert_eq!(report.latency, Latency { avg: Some(41), p50: Some(40), p95: Some(40) });
    let gap = |from: i64, to: i64| Gap { from: UNTIL - Duration::minutes(from), to: UNTIL - Duration::minutes(to) };
    assert_eq!(report.gaps, [gap(1_433, 1_430), gap(10, 7)]);
    assert_eq!(report.gaps.iter().map(Gap::minutes).collect::<Vec<_>>(), [3, 3]);
    assert_eq!(report.series.len(), 24);
    let Hour { begins, uptime, checks, down, avg_latency_ms } = *report.series.last().unwrap();
    // 55 up, 2 degraded, 1 down of 57 + 1 looks: 56 of 57 are 98.2456….
    assert_eq!((begins, uptime, checks, down), (UNTIL - Duration::hours(1), Some(dec!(98.24)), 57, 1));
    // 54 times 40, 900 and 901 make 3,961 over 56: 70.7.
    assert_eq!(avg_latency_ms, Some(71));
}

#[test]
fn what_nobody_looked_at_is_neither_up_nor_down() {
    let report = Record::new(NOW, Some(UNTIL - Duration::days(30)), &[]).report(2);
    assert_eq!(report.share, Share { uptime: None, coverage: Decimal::ZERO });
    assert_eq!(report.latency, Latency::default());
    assert_eq!(report.gaps, [Gap { from: UNTIL - Duration::hours(2), to: UNTIL }]);
    assert!(report.series.iter().all(|hour| (hour.uptime, hour.checks, hour.avg_latency_ms) == (None, 0, None)));
    assert!(report.components.iter().all(|seen| seen.status == Status::Unknown));
}

#[test]
fn minutes_before_the_first_look_are_not_missing() {
    let report = Record::new(NOW, Some(UNTIL - Duration::minutes(30)), &up((1..=10).chain(16..=30))).report(168);
    assert_eq!((report.checks.total(), report.checks.missing), (25, 5));
    // 25 of 30.
    assert_eq!(report.share, Share { uptime: Some(dec!(100)), coverage: dec!(83.33) });
    assert_eq!(report.gaps.len(), 1);
    assert_eq!((report.series.len(), report.series.first().unwrap().begins), (168, UNTIL - Duration::days(7)));
}

#[rstest]
#[case(&[(1, Outcome::Up), (2, Outcome::Down)], Status::Operational)]
#[case(&[(2, Outcome::Degraded), (3, Outcome::Up)], Status::Degraded)]
#[case(&[(5, Outcome::Down)], Status::Outage)]
#[case(&[(6, Outcome::Up)], Status::Unknown)]
fn a_component_stands_as_the_last_look_of_five_minutes_found_it(
    #[case] looks: &[(i64, Outcome)],
    #[case] expected: Status,
) {
    let minutes: Vec<Minute> = looks.iter().map(|(ago, outcome)| seen(*ago, *outcome, None)).collect();
    let report = Record::new(NOW, None, &minutes).report(1);
    assert_eq!(report.components.first().map(|seen| seen.status), Some(expected));
    let names: Vec<&str> = report.components.iter().map(|seen| seen.component.as_str()).collect();
    assert_eq!(names, ["api", "database", "jobs", "webhooks", "social"]);
}

#[test]
fn a_single_bad_minute_of_a_week_shows() {
    let mut minutes = up(1..=10_079);
    minutes.push(seen(10_080, Outcome::Down, None));
    let report = Record::new(NOW, Some(UNTIL - Duration::days(90)), &minutes).report(168);
    assert_eq!(report.share, Share { uptime: Some(dec!(99.99)), coverage: dec!(100) });
}

proptest! {
    #[test]
    fn figures_add_up(looks in prop::collection::btree_map(-5..3_000_i64, 0..3_usize, 0..600), hours in 1..=48_i64,
        first in 0..4_000_i64) {
        let minutes: Vec<Minute> =
            looks.iter().map(|(ago, outcome)| seen(*ago, Outcome::ALL[*outcome], Some(ago.abs()))).collect();
        let first = looks.keys().max().map_or(first, |oldest| first.max(*oldest));
        let report = Record::new(NOW, Some(UNTIL - Duration::minutes(first)), &minutes).report(hours);
        let within: Vec<usize> = looks.iter().filter(|(ago, _)| (1..=hours * 60).contains(*ago)).map(|(_, outcome)| *outcome).collect();
        let total = i64::try_from(within.len()).unwrap();
        let bad = i64::try_from(within.iter().filter(|outcome| **outcome == 2).count()).unwrap();
        prop_assert_eq!((report.checks.total(), report.checks.down), (total, bad));
        prop_assert_eq!(total + report.checks.missing, first.min(hours * 60));
        prop_assert_eq!(report.gaps.iter().map(Gap::minutes).sum::<i64>(), report.checks.missing);
        prop_assert_eq!(report.series.iter().map(|hour| hour.checks).sum::<i64>(), total);
        prop_assert_eq!(report.series.iter().map(|hour| hour.down).sum::<i64>(), bad);
        match report.share.uptime {
            // Never above what it is, and less than a hundredth below.
            Some(shown) => {
                let exact = Decimal::from(total - bad) * dec!(100) / Decimal::from(total);
                prop_assert!(shown <= exact && exact - shown < dec!(0.01), "{shown} of {exact}");
                prop_assert_eq!(shown == dec!(100), bad == 0);
            }
            None => prop_assert_eq!(total, 0),
        }
    }
}
