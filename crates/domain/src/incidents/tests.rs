use proptest::prelude::*;
use rstest::rstest;
use time::macros::datetime;

use super::{
    automation::{CurrentIncident, Step, Watch},
    wording::Occasion,
    *,
};
use crate::{
    IncidentId,
    page::PageRequest,
    texts::{Locale, Texts},
    uptime::Outcome,
};

const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

fn incident(id: i64, severity: Severity, status: Status, days_ago: i64) -> Incident {
    let started_at = NOW - Duration::days(days_ago);
    Incident {
        id: IncidentId(id),
        title: "x".to_owned(),
        severity,
        status,
        components: vec![Component::Jobs],
        automatic: true,
        started_at,
        identified_at: None,
        monitoring_at: None,
        resolved_at: (status == Status::Resolved).then(|| started_at + Duration::HOUR),
        updates: Vec::new(),
    }
}

fn minute(number: usize) -> OffsetDateTime {
    NOW + Duration::minutes(i64::try_from(number).unwrap())
}

/// What the probes do, minute by minute, as letters: `u`p, `s`low, `d`own, and `-` for a minute without a look. The steps
/// taken, each with the number of minutes at whose end it was, and the incident as it is then.
fn play(component: Component, minutes: &str) -> (Vec<(usize, String)>, Vec<Incident>) {
    let (mut watch, mut taken, mut incidents) = (Watch::default(), Vec::new(), Vec::<Incident>::new());
    for (number, letter) in (1..).zip(minutes.chars()) {
        watch = watch.then(match letter {
            'u' => Some(Outcome::Up),
            's' => Some(Outcome::Degraded),
            'd' => Some(Outcome::Down),
            _ => None,
        });
        let standing = incidents.last().cloned().map_or(CurrentIncident::Nothing, CurrentIncident::Automatic);
        match watch.step(component, standing, minute(number)) {
            Step::Nothing => {}
            Step::Open { severity, started_at } => {
                let id = i64::try_from(incidents.len()).unwrap();
                let status = Status::Investigating;
                incidents.push(Incident { started_at, ..incident(id, severity, status, 0) });
                taken.push((number, format!("open {severity}")));
            }
            Step::Change(changed, occasion) => {
                taken.push((number, format!("{occasion:?} {} {}", changed.status, changed.severity)));
                *incidents.last_mut().unwrap() = changed;
            }
        }
    }
    (taken, incidents)
}

fn steps(component: Component, minutes: &str) -> Vec<(usize, String)> {
    play(component, minutes).0
}

fn expected(steps: &[(usize, &str)]) -> Vec<(usize, String)> {
    steps.iter().map(|(minute, step)| (*minute, (*step).to_owned())).collect()
}

#[rstest]
#[case(Component::Api, "ddudd-dd", &[])]
#[case(Component::Api, "uddd", &[(4, "open major")])]
#[case(Component::Database, "ddddddddddd", &[(3, "open major"), (10, "Raised investigating critical")])]
#[case(Component::Jobs, "dddd", &[])]
#[case(Component::Jobs, "dddddddddddd", &[(5, "open minor")])]
#[case(Component::Webhooks, "ssssssssssssss", &[])]
#[case(Component::Api, "ssdssdssdssdsss", &[(15, "open minor")])]
#[case(Component::Api, "sssssssssssssssddd", &[(15, "open minor"), (18, "Raised investigating major")])]
fn so_many_bad_minutes_on_end_open_an_incident(
    #[case] component: Component,
    #[case] minutes: &str,
    #[case] taken: &[(usize, &str)],
) {
    assert_eq!(steps(component, minutes), expected(taken));
}

#[test]
fn it_is_watched_after_five_good_minutes_and_over_after_fifteen_more() {
    let minutes = format!("dddd{}", "u".repeat(20));
    let (taken, incidents) = play(Component::Api, &minutes);
    let monitoring = "Monitoring monitoring major";
    assert_eq!(taken, expected(&[(3, "open major"), (9, monitoring), (24, "Resolved resolved major")]));
    let [incident] = incidents.as_slice() else { panic!("{incidents:?}") };
    let times = (incident.started_at, incident.monitoring_at, incident.resolved_at);
    assert_eq!(times, (minute(0), Some(minute(9)), Some(minute(24))));
    assert_eq!(incident.duration(), Some(Duration::minutes(24)));
}

#[test]
fn a_relapse_goes_back_and_severity_does_not_fall() {
    let minutes = format!("{}uuuuu{}{}", "d".repeat(10), "d".repeat(3), "u".repeat(20));
    let taken = [
        (3, "open major"),
        (10, "Raised investigating critical"),
        (15, "Monitoring monitoring critical"),
        (18, "Again investigating critical"),
        (23, "Monitoring monitoring critical"),
        (38, "Resolved resolved critical"),
    ];
    assert_eq!(steps(Component::Api, &minutes), expected(&taken));
}

#[rstest]
#[case(27, 50, "Again investigating major", 1)]
#[case(28, 51, "open major", 2)]
fn one_that_comes_back_within_half_an_hour_is_the_same(
    #[case] good: usize,
    #[case] at: usize,
    #[case] last: &str,
    #[case] count: usize,
) {
    // It ends with minute 23; the third bad minute after that is noticed 30 minutes later, or 31.
    let minutes = format!("ddd{}{}ddd", "u".repeat(20), "u".repeat(good));
    let (taken, incidents) = play(Component::Api, &minutes);
    assert_eq!((taken.last(), incidents.len()), (Some(&(at + 3, last.to_owned())), count));
    assert!(incidents.last().unwrap().resolved_at.is_none());
}

#[test]
fn what_a_person_has_in_hand_is_left_alone() {
    let watch = Watch { down: 100, bad: 100, good: 0 };
    assert_eq!(watch.step(Component::Api, CurrentIncident::InHand, NOW), Step::Nothing);
}

proptest! {
    /// Whatever happens, an incident takes three bad minutes and its end twenty good ones.
    #[test]
    fn single_minutes_do_nothing(minutes in "[usd-]{1,200}") {
        let (taken, incidents) = play(Component::Api, &minutes);
        let ends_with = |number: usize, count: usize, wanted: &str| {
            number >= count && minutes[number - count..number].chars().all(|letter| wanted.contains(letter))
        };
        for (number, step) in &taken {
            if step.starts_with("open") || step.starts_with("Again") || step.starts_with("Raised") {
                prop_assert!(ends_with(*number, 3, "ds"), "{step} after {number} of {minutes}");
            }
            if step.starts_with("Resolved") {
                prop_assert!(ends_with(*number, 20, "u"), "{step} after {number} of {minutes}");
            }
        }
        prop_assert!(incidents.iter().rev().skip(1).all(|past| past.resolved_at.is_some()));
    }
}

#[rstest]
#[case(Status::Investigating, Status::Monitoring, 0, true)]
#[case(Status::Investigating, Status::Resolved, 0, true)]
#[case(Status::Monitoring, Status::Monitoring, 0, true)]
#[case(Status::Monitoring, Status::Identified, 0, false)]
#[case(Status::Identified, Status::Investigating, 0, false)]
#[case(Status::Resolved, Status::Investigating, 24, true)]
#[case(Status::Resolved, Status::Investigating, 25, false)]
#[case(Status::Resolved, Status::Monitoring, 1, false)]
fn a_person_moves_it_forward_or_takes_it_up_again_within_a_day(
    #[case] from: Status,
    #[case] to: Status,
    #[case] hours: i64,
    #[case] allowed: bool,
) {
    let mut found = incident(1, Severity::Minor, from, 3);
    found.resolved_at = (from == Status::Resolved).then(|| NOW - Duration::hours(hours));
    let before = found.clone();
    let change = Change { status: Some(to), severity: Some(Severity::Major), body: "x".to_owned() };
    match found.change(&change, NOW) {
        Ok(()) => {
            assert!(allowed);
            assert_eq!((found.status, found.severity, found.automatic), (to, Severity::Major, false));
            assert_eq!(found.resolved_at.is_some(), to == Status::Resolved);
        }
        Err(InvalidTransition { from: refused, to: wanted }) => {
            assert!(!allowed);
            assert_eq!((refused, wanted, found), (from, to, before));
        }
    }
}

#[rstest]
#[case("", "b", InvalidText::Title)]
#[case("  ", "b", InvalidText::Title)]
#[case("a\nb", "b", InvalidText::Title)]
#[case("a", " \n", InvalidText::Body)]
#[case("a", "a\u{0}", InvalidText::Body)]
fn what_is_no_text_is_refused(#[case] title: &str, #[case] body: &str, #[case] error: InvalidText) {
    let new = |title: &str, body: &str, components: &[Component]| NewIncident {
        title: title.to_owned(),
        severity: Severity::Minor,
        components: components.to_vec(),
        status: Status::Investigating,
        body: body.to_owned(),
    };
    assert_eq!(new(title, body, &[Component::Api]).checked(), Err(error));
    assert_eq!(new("a", "b", &[]).checked(), Err(InvalidText::Components));
    let longest = new(&"é".repeat(200), &"é\n".repeat(2_000), &[Component::Jobs, Component::Api, Component::Jobs]);
    assert_eq!(longest.clone().checked().unwrap().components, [Component::Api, Component::Jobs]);
    assert_eq!(NewIncident { title: "é".repeat(201), ..longest.clone() }.checked(), Err(InvalidText::Title));
    let change = |body: String| Change { status: None, severity: None, body };
    assert_eq!(change("é".repeat(4_001)).checked(), Err(InvalidText::Body));
}

fn book() -> Book {
    let incidents = vec![
        incident(6, Severity::Critical, Status::Resolved, 1),
        incident(5, Severity::Minor, Status::Monitoring, 2),
        incident(4, Severity::Major, Status::Investigating, 200),
        incident(3, Severity::Minor, Status::Resolved, 90),
        incident(2, Severity::Minor, Status::Resolved, 91),
    ];
    Book::new(NOW, incidents)
}

#[rstest]
#[case(Shown::All, None, 90, &[6, 5, 4, 3])]
#[case(Shown::All, None, 365, &[6, 5, 4, 3, 2])]
#[case(Shown::Open, None, 1, &[5, 4])]
#[case(Shown::Resolved, None, 90, &[6, 3])]
#[case(Shown::All, Some(Severity::Minor), 90, &[5, 3])]
#[case(Shown::Open, Some(Severity::Critical), 90, &[])]
fn a_filter_never_hides_an_open_incident_for_its_age(
    #[case] shown: Shown,
    #[case] severity: Option<Severity>,
    #[case] days: i64,
    #[case] ids: &[i64],
) {
    let filter = Filter { shown, severity, days };
    let book = book();
    let page = book.page(filter, PageRequest { limit: 100, cursor: None });
    assert_eq!(page.items.iter().map(|incident| incident.id.0).collect::<Vec<_>>(), ids);
    // Two by two it is the same.
    let (mut walked, mut cursor) = (Vec::new(), None);
    loop {
        let page = book.page(filter, PageRequest { limit: 2, cursor });
        walked.extend(page.items.iter().map(|incident| incident.id.0));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(walked, ids);
}

#[test]
fn the_worst_of_those_that_go_on_counts() {
    assert_eq!(book().worst_open(), Some(Severity::Major));
    assert_eq!(Book::new(NOW, Vec::new()).worst_open(), None);
    assert_eq!(book().find(IncidentId(3)).map(|found| found.id), Some(IncidentId(3)));
    assert_eq!(book().find(IncidentId(7)), None);
}

#[test]
fn texts_tell_nothing_but_the_component() {
    let english = Texts::of(Locale::ENGLISH);
    for severity in Severity::ALL {
        let titles: Vec<String> =
            Component::ALL.iter().map(|component| wording::title(*component, *severity, &english)).collect();
        assert!(
            titles
                .iter()
                .all(|title| title.len() <= MAX_TITLE_CHARS && titles.iter().filter(|t| *t == title).count() == 1)
        );
    }
    let over = wording::body(Occasion::Resolved, &english);
    assert!(over.contains("20 minutes"), "{over}");
}
