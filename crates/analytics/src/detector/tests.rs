//! The detector as its callers see it.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rstest::rstest;
use time::{Date, Duration, macros::date};

use super::*;
use crate::severity::Severity;

const MONDAY: Date = date!(2024 - 01 - 01);

fn none() -> BTreeSet<Date> {
    BTreeSet::new()
}

fn day(i: i64) -> Date {
    MONDAY + Duration::days(i)
}

/// A number in −1 … 1 that looks random and is the same on every run.
fn noise(i: usize) -> f64 {
    let mut x = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 31;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 27;
    (x % 20_001) as f64 / 10_000.0 - 1.0
}

/// A shop around 1,000 a day, busy on Fridays, closed on Sundays.
fn shop(days: usize) -> Vec<Option<f64>> {
    let usual = |i: usize| match i % 7 {
        6 => 0.0,
        4 => 1500.0 * (1.0 + 0.1 * noise(i)),
        _ => 1000.0 * (1.0 + 0.1 * noise(i)),
    };
    (0..days).map(|i| Some(usual(i))).collect()
}

fn judge(values: &[Option<f64>], today: f64) -> Result<Score, Insufficient> {
    score(DailySeries { first: MONDAY, values }, today, &none())
}

fn walk(values: &[Option<f64>]) -> Vec<Anomaly> {
    scan(DailySeries { first: MONDAY, values }, &none(), MONDAY)
}

#[test]
fn a_usual_day_is_expected_within_its_interval() {
    // 91 days from a Monday: the next is a Monday.
    let score = judge(&shop(91), 1000.0).unwrap();
    assert!((900.0..1100.0).contains(&score.expected), "{score:?}");
    assert!(score.interval.low < 1000.0 && 1000.0 < score.interval.high);
    assert_eq!(score.severity(), None);
    assert_eq!(score.history_days, 90);
}

#[test]
fn the_weekday_decides_what_is_usual() {
    let friday = shop(95);
    assert!(judge(&friday, 1500.0).unwrap().severity().is_none());
    assert!(judge(&friday, 2600.0).unwrap().z_score > 3.5);
    assert!(judge(&shop(91), 2600.0 / 1.5).unwrap().z_score > 3.5);
}

#[test]
fn a_closed_day_is_no_anomaly_and_a_sale_on_it_is() {
    let sunday = shop(97);
    let closed = judge(&sunday, 0.0).unwrap();
    assert_eq!((closed.expected, closed.z_score), (0.0, 0.0));
    let open = judge(&sunday, 1000.0).unwrap();
    assert!(open.z_score > 3.5 && open.relative_change > 0.5, "{open:?}");
    let trifle = judge(&sunday, 10.0).unwrap();
    assert_eq!(trifle.severity(), None, "{trifle:?}");
}

#[test]
fn the_third_closed_sunday_of_a_new_shop_is_no_anomaly() {
    assert_eq!(judge(&shop(20), 0.0).unwrap().severity(), None);
    assert!(walk(&shop(30)).is_empty());
}

#[test]
fn both_baselines_speak_and_the_score_is_their_mean() {
    // Multiplied and divided by three: the linear baseline alone sees the one rise far more than the other fall.
    let (up, down) = (judge(&shop(91), 3000.0).unwrap(), judge(&shop(91), 1000.0 / 3.0).unwrap());
    let linear = 2000.0 / (1000.0 - 1000.0 / 3.0);
    let ratio = up.z_score / -down.z_score;
    assert!((1.0..linear).contains(&ratio), "{ratio}");
}

#[test]
fn an_outage_is_critical_and_points_down() {
    let score = judge(&shop(91), 0.0).unwrap();
    assert!(score.z_score < -8.0, "{score:?}");
    assert_eq!(score.relative_change, -1.0);
    assert_eq!(score.severity(), Some(Severity::Critical));
}

#[test]
fn short_history_is_capped_and_shorter_is_not_scored() {
    assert_eq!(judge(&shop(27), 9000.0).unwrap().severity(), Some(Severity::Medium));
    assert_eq!(judge(&shop(28), 9000.0).unwrap().severity(), Some(Severity::Critical));
    assert!(judge(&shop(14), 9000.0).is_ok());
    assert_eq!(judge(&shop(13), 9000.0), Err(Insufficient::History { days: 13, needed: 14 }));
    assert_eq!(judge(&[], 1.0), Err(Insufficient::History { days: 0, needed: 14 }));
}

#[test]
fn ratios_are_judged_like_amounts() {
    // A conversion of 2 % that halves is as surprising as takings of 2,000 that halve.
    let amounts: Vec<_> = (0..91).map(|i| Some(2000.5 * (1.0 + 0.1 * noise(i)))).collect();
    let ratios: Vec<_> = amounts.iter().map(|v| v.map(|v| v * 1e-5)).collect();
    let of_amount = judge(&amounts, 1000.0).unwrap();
    let of_ratio = judge(&ratios, 0.01).unwrap();
    assert!(of_amount.z_score < -3.5 && of_ratio.z_score < -3.5, "{of_amount:?} {of_ratio:?}");
    assert!((of_ratio.relative_change - of_amount.relative_change).abs() < 0.02);
}

#[test]
fn losses_are_judged_on_the_linear_scale() {
    let profit: Vec<_> = (0..91).map(|i| Some(100.0 * noise(i))).collect();
    assert!(judge(&profit, -1500.0).unwrap().z_score < -3.5);
    assert!(judge(&profit, 50.0).unwrap().severity().is_none());
}

#[test]
fn holidays_are_neither_learned_nor_judged() {
    let mut values = shop(91);
    let off: BTreeSet<Date> = (70..77).map(day).collect();
    for value in &mut values[70..77] {
        *value = Some(0.0);
    }
    let history = DailySeries { first: MONDAY, values: &values };
    assert_eq!(score(history, 1000.0, &off).unwrap().history_days, 83);
    let today: BTreeSet<Date> = [day(91)].into();
    assert_eq!(score(history, 0.0, &today), Err(Insufficient::Holiday));
}

#[rstest]
#[case::all_zero(vec![Some(0.0); 90])]
#[case::nearly_all_zero((0..90).map(|i| Some(if i % 10 == 0 { 50.0 } else { 0.0 })).collect())]
fn without_activity_there_is_no_usual_day(#[case] values: Vec<Option<f64>>) {
    assert!(matches!(judge(&values, 5.0), Err(Insufficient::Activity { .. })));
}

#[test]
fn an_ordinary_sale_of_a_slow_metric_is_no_anomaly() {
    // Refunds on every fifth day: zero is not a closed day, and a refund of the usual size is no event.
    let refunds: Vec<_> = (0..91).map(|i| Some(if i % 5 == 0 { 40.0 + noise(i) } else { 0.0 })).collect();
    assert_eq!(judge(&refunds, 40.0).unwrap().severity(), None);
}

#[test]
fn a_constant_series_tolerates_two_percent_steps() {
    let constant = vec![Some(100.0); 90];
    assert!(judge(&constant, 100.0).unwrap().z_score.abs() < 1e-9);
    assert_eq!(judge(&constant, 102.0).unwrap().severity(), None);
    assert!(judge(&constant, 150.0).unwrap().severity().is_some());
}

#[rstest]
#[case(f64::NAN)]
#[case(f64::INFINITY)]
#[case(-1e300)]
fn a_day_without_a_usable_value_is_not_judged(#[case] today: f64) {
    assert_eq!(judge(&shop(91), today), Err(Insufficient::Value));
}

#[test]
fn repeats_are_one_anomaly() {
    let mut values = shop(140);
    for (i, factor) in [(112, 2.5), (114, 5.0), (117, 3.0)] {
        values[i] = values[i].map(|v| v * factor);
    }
    let found = walk(&values);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].first, found[0].peak, found[0].last), (day(112), day(114), day(117)));
    assert_eq!((found[0].alarms, found[0].shape, found[0].is_up()), (3, Shape::Spike, true));
}

#[test]
fn events_far_apart_or_in_other_directions_are_told_apart() {
    let mut values = shop(140);
    for (i, factor) in [(105, 3.0), (106, 0.1), (120, 3.0)] {
        values[i] = values[i].map(|v| v * factor);
    }
    let found: Vec<_> = walk(&values).iter().map(|a| (a.first, a.is_up())).collect();
    assert_eq!(found, [(day(105), true), (day(106), false), (day(120), true)]);
}

#[rstest]
#[case::a_third_of_before(0.33)]
#[case::gone(0.0)]
#[case::doubled(2.0)]
fn a_lasting_change_is_one_shift(#[case] factor: f64) {
    let mut values = shop(200);
    for value in &mut values[112..] {
        *value = value.map(|v| v * factor);
    }
    let found = walk(&values);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].first, found[0].shape), (day(112), Shape::Shift));
    assert!(found[0].last >= day(118));
}

#[test]
fn the_way_back_from_a_shift_is_no_second_anomaly() {
    let mut values = shop(160);
    for value in &mut values[112..126] {
        *value = value.map(|v| v * 2.0);
    }
    let found = walk(&values);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].shape, Shape::Shift);
}

#[test]
fn what_goes_to_the_level_of_a_shift_again_after_it_was_back_is_another_anomaly() {
    let mut values = shop(160);
    for (day, factor) in (112..122).map(|day| (day, 2.0)).chain([(143, 2.3), (144, 2.3)]) {
        values[day] = values[day].map(|v| v * factor);
    }
    let found: Vec<_> = walk(&values).iter().map(|a| (a.first, a.shape)).collect();
    assert_eq!(found, [(day(112), Shape::Shift), (day(143), Shape::Spike)]);
}

/// Both are of one function: a value at the edge of the interval has the score of the edge, whatever the scales say.
#[test]
fn the_interval_is_that_of_the_score() {
    let heavy = |i: usize| 100.0 * (1.0 + 0.1 * noise(i)) * if i.is_multiple_of(9) { 30.0 } else { 1.0 };
    let heavy: Vec<_> = (0..91).map(|i| Some(heavy(i))).collect();
    for values in [shop(91), heavy] {
        let edges = judge(&values, 1.0).unwrap();
        let at = |value: f64| judge(&values, value).unwrap().z_score;
        assert!((at(edges.interval.high) - 2.4).abs() < 1e-6, "{edges:?}");
        assert!(at(edges.expected).abs() < 1e-6, "{edges:?}");
        // Zero is the lowest that there is of what is never below it.
        assert!(edges.interval.low == 0.0 || (at(edges.interval.low) + 2.4).abs() < 1e-6, "{edges:?}");
    }
}

#[test]
fn a_walk_never_looks_ahead() {
    let mut values = shop(140);
    values[112] = Some(9000.0);
    let early = walk(&values[..113]);
    let late = walk(&values);
    assert_eq!(early[0].score, late[0].score);
    assert_eq!(early[0].severity, Severity::Critical);
}

fn any_value() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        4 => (-1e4..1e4_f64).prop_map(Some),
        2 => Just(Some(0.0)),
        1 => Just(None),
        1 => proptest::num::f64::ANY.prop_map(Some),
        1 => Just(Some(1e15)),
        1 => Just(Some(1e-9)),
    ]
}

fn is_finite(score: &Score) -> bool {
    let Score { expected, interval, z_score, relative_change, history_days: _ } = score;
    [*expected, interval.low, interval.high, *z_score, *relative_change].iter().all(|x| x.is_finite())
}

proptest! {
    #[test]
    fn any_history_gives_finite_numbers_or_a_reason(
        values in proptest::collection::vec(any_value(), 0..130),
        today in any_value(),
    ) {
        if let Ok(score) = judge(&values, today.unwrap_or(0.0)) {
            prop_assert!(is_finite(&score), "{score:?}");
            prop_assert!(score.interval.low <= score.interval.high);
        }
        for anomaly in walk(&values) {
            prop_assert!(is_finite(&anomaly.score));
            prop_assert!(anomaly.first <= anomaly.peak && anomaly.peak <= anomaly.last);
        }
    }

    #[test]
    fn one_repeated_value_is_judged_or_refused(value in any_value(), n in 0_usize..100, today in any_value()) {
        if let Ok(score) = judge(&vec![value; n], today.unwrap_or(1.0)) {
            prop_assert!(is_finite(&score), "{score:?}");
        }
    }

    #[test]
    fn the_unit_of_money_does_not_matter(cents in 0.01..100.0_f64, today in 100.0..5000.0_f64) {
        let pounds: Vec<_> = (0..90).map(|i| Some(1000.7 * (1.0 + 0.1 * noise(i)))).collect();
        let other: Vec<_> = pounds.iter().map(|v| v.map(|v| v * cents)).collect();
        let a = judge(&pounds, today).unwrap();
        let b = judge(&other, today * cents).unwrap();
        prop_assert!((a.z_score - b.z_score).abs() < 0.05 * a.z_score.abs().max(1.0), "{a:?} {b:?}");
    }
}

#[test]
fn a_spike_within_a_shift_is_an_anomaly_of_its_own() {
    let mut values = shop(160);
    for value in &mut values[112..] {
        *value = value.map(|v| v * 0.5);
    }
    values[128] = Some(3000.0);
    let found: Vec<_> = walk(&values).iter().map(|a| (a.first, a.shape)).collect();
    assert_eq!(found, [(day(112), Shape::Shift), (day(128), Shape::Spike)]);
}
