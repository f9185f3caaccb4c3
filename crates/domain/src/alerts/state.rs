//! Where a rule stands, and what an observation makes of it.

use rust_decimal::Decimal;
use time::{Duration, OffsetDateTime};

use super::Terms;

/// Where a rule stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleState {
    /// Whether the next value beyond the threshold fires.
    pub armed: bool,
    /// What was last seen; `None` when there was nothing to see.
    pub last_value: Option<Decimal>,
    pub last_fired_at: Option<OffsetDateTime>,
}

impl RuleState {
    /// Nothing seen yet, ready to fire.
    pub const NEW: Self = Self { armed: true, last_value: None, last_fired_at: None };
}

/// The state after an observation at `now`, and whether the rule fires.
///
/// An armed rule fires at the first value beyond its threshold and is then disarmed, however long the value stays
/// there; a value on the other side arms it again. A value that is not known changes neither. Within the cooldown after
/// it last fired a rule does not fire; it stays armed, and fires then if the value is still beyond the threshold.
pub fn step(terms: &Terms, state: RuleState, observed: Option<Decimal>, now: OffsetDateTime) -> (RuleState, bool) {
    let Some(value) = observed else { return (RuleState { last_value: None, ..state }, false) };
    let seen = RuleState { last_value: Some(value), ..state };
    if !terms.comparator().holds(value, terms.threshold()) {
        return (RuleState { armed: true, ..seen }, false);
    }
    let quiet_until = state.last_fired_at.map(|fired| fired + Duration::hours(terms.cooldown_hours()));
    if !state.armed || quiet_until.is_some_and(|until| now < until) {
        return (seen, false);
    }
    (RuleState { armed: false, last_fired_at: Some(now), ..seen }, true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use rust_decimal::dec;
    use time::macros::datetime;

    use super::{super::*, *};
    use crate::metrics::Metric;

    const START: OffsetDateTime = datetime!(2026-03-01 00:00 UTC);

    fn terms(comparator: Comparator, threshold: Decimal, cooldown_hours: i64) -> Terms {
        Terms::new(UncheckedTerms {
            name: "rule".into(),
            metric: Watched::Figure(Metric::Orders),
            comparator,
            threshold,
            window_hours: 1,
            severity: Severity::High,
            cooldown_hours,
        })
        .unwrap()
    }

    /// The hours at which the rule fires when it sees these values, one an hour.
    fn fires(terms: &Terms, values: &[Option<Decimal>]) -> Vec<usize> {
        let mut state = RuleState::NEW;
        let mut hours = Vec::new();
        for (hour, value) in values.iter().enumerate() {
            let now = START + Duration::hours(i64::try_from(hour).unwrap());
            let (next, fired) = step(terms, state, *value, now);
            state = next;
            assert_eq!(state.last_value, *value);
            if fired {
                assert_eq!(state.last_fired_at, Some(now));
                hours.push(hour);
            }
        }
        hours
    }

    #[rstest]
    #[case(Comparator::Gt, [false, false, true])]
    #[case(Comparator::Gte, [false, true, true])]
    #[case(Comparator::Lt, [true, false, false])]
    #[case(Comparator::Lte, [true, true, false])]
    fn comparators_differ_at_the_threshold(#[case] comparator: Comparator, #[case] holds: [bool; 3]) {
        assert_eq!([dec!(4.99), dec!(5.00), dec!(5.01)].map(|value| comparator.holds(value, dec!(5))), holds);
    }

    #[test]
    fn a_crossing_fires_once_and_again_after_recovery() {
        let values = [4, 5, 6, 7, 6, 5, 6].map(|n| Some(Decimal::from(n)));
        assert_eq!(fires(&terms(Comparator::Gt, dec!(5), 0), &values), [2, 6]);
    }

    #[test]
    fn what_is_not_known_neither_fires_nor_arms() {
        let values = [Some(dec!(9)), None, Some(dec!(9)), None, Some(dec!(1)), None, Some(dec!(9))];
        assert_eq!(fires(&terms(Comparator::Gt, dec!(5), 0), &values), [0, 6]);
    }

    #[test]
    fn within_the_cooldown_it_waits_and_then_fires_if_it_still_holds() {
        let values = [9, 1, 9, 9, 9, 9, 1, 9].map(|n| Some(Decimal::from(n)));
        assert_eq!(fires(&terms(Comparator::Gt, dec!(5), 4), &values), [0, 4]);
        let recovered = [9, 1, 9, 1, 1].map(|n| Some(Decimal::from(n)));
        assert_eq!(fires(&terms(Comparator::Gt, dec!(5), 4), &recovered), [0]);
    }

    proptest! {
        #[test]
        fn between_two_firings_there_is_a_recovery_and_the_cooldown(
            values in proptest::collection::vec(proptest::option::of(0i64..10), 0..60), cooldown in 0i64..6,
        ) {
            let values: Vec<Option<Decimal>> = values.into_iter().map(|value| value.map(Decimal::from)).collect();
            let fired = fires(&terms(Comparator::Gte, dec!(5), cooldown), &values);
            for pair in fired.windows(2) {
                let between = &values[pair[0] + 1..pair[1]];
                prop_assert!(between.iter().flatten().any(|value| *value < dec!(5)));
                prop_assert!(pair[1] - pair[0] >= usize::try_from(cooldown).unwrap());
            }
            let first = values.iter().position(|value| value.is_some_and(|value| value >= dec!(5)));
            prop_assert_eq!(fired.first().copied(), first);
        }
    }

    #[rstest]
    #[case(Change { name: Some(" ".into()), ..Change::default() }, "name")]
    #[case(Change { name: Some("x".repeat(121)), ..Change::default() }, "name")]
    #[case(Change { name: Some("a\0".into()), ..Change::default() }, "name")]
    #[case(Change { name: Some("a\nb".into()), ..Change::default() }, "name")]
    #[case(Change { threshold: Some(dec!(1000000000000)), ..Change::default() }, "threshold")]
    #[case(Change { threshold: Some(dec!(0.0000001)), ..Change::default() }, "threshold")]
    #[case(Change { metric: Some(Watched::Figure(Metric::Profit)), ..Change::default() }, "window_hours")]
    #[case(Change { cooldown_hours: Some(721), ..Change::default() }, "cooldown_hours")]
    fn terms_that_cannot_be_are_refused_by_field(#[case] change: Change, #[case] field: &str) {
        assert_eq!(change.apply(&terms(Comparator::Gt, dec!(5), 1)).unwrap_err().field(), field);
    }
}
