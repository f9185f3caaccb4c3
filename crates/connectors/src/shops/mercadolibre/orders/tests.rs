use proptest::prelude::*;
use time::macros::datetime;

use super::*;

#[test]
fn filters_are_of_full_hours() {
    let window = Window { from: datetime!(2026-11-24 10:59:59 -3), until: datetime!(2026-11-24 14:00:01 UTC) };
    let hours = hours(window).unwrap();
    assert_eq!(hours.from, datetime!(2026-11-24 13:00 UTC));
    assert_eq!(hours.until, datetime!(2026-11-24 15:00 UTC));
}

#[test]
fn an_hour_cannot_be_halved_and_may_be_full() {
    let at = |minutes| datetime!(2026-11-24 10:00 UTC) + time::Duration::minutes(minutes);
    let most = |from, until| most(hours(Window { from: at(from), until: at(until) }).unwrap());
    assert_eq!(most(0, 60), 10_000);
    assert_eq!(most(15, 30), 10_000);
    assert_eq!(most(0, 61), 8_000);
}

proptest! {
    #[test]
    fn the_hours_hold_the_window(from in 0_i64..2_000_000_000, length in 0_i64..10_000_000) {
        let at = |seconds| OffsetDateTime::from_unix_timestamp(seconds).unwrap();
        let window = Window { from: at(from), until: at(from + length) };
        let hours = hours(window).unwrap();
        prop_assert!(hours.from <= window.from && window.until <= hours.until);
        prop_assert!(window.from - hours.from < time::Duration::HOUR && hours.until - window.until < time::Duration::HOUR);
        prop_assert_eq!(hours.from.unix_timestamp() % 3600 + hours.until.unix_timestamp() % 3600, 0);
    }
}
