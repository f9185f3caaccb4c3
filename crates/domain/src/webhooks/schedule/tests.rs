use proptest::prelude::*;
use rstest::rstest;
use time::macros::datetime;

use super::*;

const NOW: OffsetDateTime = datetime!(2026-03-01 12:00:00 UTC);

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn eight_attempts_spread_over_28_hours() {
    let waits: Vec<_> = (1..=9).map(|made| wait_after_failure(made, 0.0, None)).collect();
    let expected = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map(|s| Some(secs(s)));
    assert_eq!(waits[..7], expected);
    assert_eq!(waits[7..], [None, None]);
    assert_eq!(waits.iter().flatten().count() as u32, MAX_ATTEMPTS - 1);
    assert_eq!(waits.iter().flatten().sum::<Duration>(), secs(99_305));
}

#[rstest]
#[case(2, 0.5, None, 330)]
#[case(1, f64::NAN, None, 6)]
#[case(1, 0.0, Some(120), 120)]
#[case(2, 0.5, Some(120), 330)]
#[case(1, 0.0, Some(86_400), 86_400)]
#[case(1, 0.0, Some(86_401), 86_400)]
#[case(7, 0.0, Some(u64::MAX), 86_400)]
fn retry_after_lengthens_up_to_a_day(
    #[case] made: u32,
    #[case] jitter: f64,
    #[case] retry_after: Option<u64>,
    #[case] wait: u64,
) {
    assert_eq!(wait_after_failure(made, jitter, retry_after.map(secs)), Some(secs(wait)));
}

proptest! {
    #[test]
    fn jitter_is_never_early_and_at_most_a_fifth(made in 1u32..8, jitter in 0.0..1.0f64) {
        let plain = wait_after_failure(made, 0.0, None).unwrap();
        let wait = wait_after_failure(made, jitter, None).unwrap();
        prop_assert!(wait >= plain && wait <= plain + plain / 5);
    }

    #[test]
    fn no_number_panics(made: u32, jitter: f64, retry_after: u64) {
        if let Some(wait) = wait_after_failure(made, jitter, Some(secs(retry_after))) {
            prop_assert!(wait >= secs(5) && wait <= MAX_RETRY_AFTER);
        }
    }

    #[test]
    fn no_retry_after_panics(value in "\\PC{0,40}|[0-9]{1,30}|[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} 08:49:37 GMT") {
        if let Some(wait) = parse_retry_after(&value, NOW) {
            prop_assert!(wait <= MAX_RETRY_AFTER);
        }
    }
}

#[rstest]
#[case("120", Some(120))]
#[case(" 120\t", Some(120))]
#[case("0", Some(0))]
#[case("86401", Some(86_400))]
#[case("99999999999999999999999", Some(86_400))]
#[case("Sun, 01 Mar 2026 12:02:00 GMT", Some(120))]
#[case("Sun, 01 Mar 2026 12:00:00 GMT", Some(0))]
#[case("Thu, 01 Mar 2096 12:00:00 GMT", Some(86_400))]
#[case("Fri, 31 Dec 9999 23:59:59 GMT", Some(86_400))]
#[case("Sunday, 01-Mar-26 12:02:00 GMT", Some(120))]
#[case("Sun Mar  1 12:02:00 2026", Some(120))]
#[case("Sun, 01 Mar 2026 11:59:59 GMT", None)]
#[case("Sun, 01 Mar 2026 12:02:00 +0000", None)]
#[case("Sun, 32 Mar 2026 12:02:00 GMT", None)]
#[case("-5", None)]
#[case("+5", None)]
#[case("1.5", None)]
#[case("1e3", None)]
#[case("soon", None)]
#[case("", None)]
#[case("１２", None)]
fn retry_after_is_seconds_or_a_date(#[case] value: &str, #[case] wait: Option<u64>) {
    assert_eq!(parse_retry_after(value, NOW), wait.map(secs));
}

#[rstest]
#[case(Some(500), 5, 10, 2, Some(DisabledReason::Failing))]
#[case(None, 30, 400, 50, Some(DisabledReason::Failing))]
#[case(Some(500), 4, 400, 50, None)]
#[case(Some(500), 5, 9, 2, None)]
#[case(Some(500), 5, 10, 1, None)]
#[case(Some(410), 0, 1, 1, Some(DisabledReason::Gone))]
#[case(Some(404), 0, 1, 1, None)]
fn a_subscription_is_given_up_when_all_three_limits_are_met(
    #[case] status: Option<u16>,
    #[case] days: i64,
    #[case] attempts: u32,
    #[case] deliveries: u32,
    #[case] disabled: Option<DisabledReason>,
) {
    let run = FailureRun { since: NOW - time::Duration::days(days), attempts, deliveries };
    assert_eq!(disabled_by(status, run, NOW), disabled);
    // A second short of five days is not enough.
    if days == 5 {
        assert_eq!(disabled_by(status, run, NOW - time::Duration::SECOND), None);
    }
}
