//! How often a rule would have fired on days that are over.

use rust_decimal::Decimal;
use time::{Date, Duration};

use super::{Facts, RuleState, Terms, Watched, evaluation::observe, step, watched::Resolution};
use crate::{daily::DayTotals, money::Currency, profit::DayRange, zone::Zone};

/// Days that a back-test looks at.
pub const BACK_TEST_DAYS: i64 = 90;

/// A time at which the rule would have fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crossing {
    /// The last day of the window: the rule would have seen it at its end.
    pub day: Date,
    pub observed: Decimal,
}

/// The days that a back-test of `terms` over `range` needs: its windows begin before it.
pub fn needed(terms: &Terms, range: DayRange) -> DayRange {
    let before = Duration::days(terms.window_hours() / 24 - 1);
    DayRange { first: range.first.checked_sub(before).unwrap_or(Date::MIN), ..range }
}

/// When a rule of these terms would have fired, had it been armed before `range` and evaluated at the end of each of its days.
/// `days` are those of [`needed`], oldest first, without the quiet ones. The values are those of the evaluator
/// ([`super::evaluate`]), except that ads are not known to have stopped after the last day with spend. `None` where sums of
/// days cannot tell: for events, stock-outs, and windows of part of a day.
pub fn back_test(
    terms: &Terms,
    days: &[DayTotals],
    range: DayRange,
    currency: Currency,
    zone: &Zone,
) -> Option<Vec<Crossing>> {
    let is_of_days = match (terms.metric(), terms.metric().resolution()) {
        (Watched::Figure(_), Resolution::Instants { .. }) => terms.window_hours() % 24 == 0,
        (Watched::Figure(_), Resolution::Days) => true,
        _ => false,
    };
    if !is_of_days {
        return None;
    }
    let spent_until = days.iter().filter(|day| !day.ad_spend.is_zero()).map(|day| day.day).max();
    let mut state = RuleState::NEW;
    let mut crossings = Vec::new();
    let mut day = range.first;
    while day <= range.last {
        let window = needed(terms, DayRange { first: day, last: day });
        let facts = Facts::Days {
            days: days.iter().filter(|one| (window.first..=window.last).contains(&one.day)).copied().collect(),
            any_order: days.iter().any(|one| one.orders > 0 && one.day <= day),
            spend_is_complete: spent_until.is_some_and(|until| until >= day),
        };
        let observed = observe(terms.metric(), &facts).and_then(|value| terms.metric().shown(value, currency));
        let Some(next) = day.next_day() else { break };
        let (after, fires) = step(terms, state, observed, zone.start_of(next));
        state = after;
        crossings.extend(observed.filter(|_| fires).map(|observed| Crossing { day, observed }));
        day = next;
    }
    Some(crossings)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rust_decimal::dec;
    use time::macros::date;

    use super::{super::*, *};

    const RANGE: DayRange = DayRange { first: date!(2026 - 03 - 01), last: date!(2026 - 03 - 08) };

    fn terms(metric: &str, comparator: Comparator, threshold: Decimal, window_hours: i64) -> Terms {
        Terms::new(UncheckedTerms {
            name: "rule".into(),
            metric: metric.parse().unwrap(),
            comparator,
            threshold,
            window_hours,
            severity: Severity::High,
            cooldown_hours: 0,
        })
        .unwrap()
    }

    /// The days of March up to the last of these numbers of orders, each of 10.
    fn days(orders: &[i64]) -> Vec<DayTotals> {
        let day = |(index, orders): (usize, &i64)| DayTotals {
            orders: *orders,
            gross_revenue: Decimal::from(orders * 10),
            ..DayTotals::quiet(RANGE.first + Duration::days(index as i64))
        };
        orders.iter().enumerate().map(day).collect()
    }

    fn fired(terms: &Terms, days: &[DayTotals]) -> Vec<(u8, Decimal)> {
        let crossings = back_test(terms, days, RANGE, "USD".parse().unwrap(), &"UTC".parse().unwrap()).unwrap();
        crossings.iter().map(|crossing| (crossing.day.day(), crossing.observed)).collect()
    }

    #[test]
    fn a_rule_fires_once_for_each_time_below_its_threshold() {
        let days = days(&[9, 3, 2, 8, 9, 4, 9, 9]);
        assert_eq!(fired(&terms("orders", Comparator::Lt, dec!(5), 24), &days), [(2, dec!(3)), (6, dec!(4))]);
        assert_eq!(
            fired(&terms("revenue", Comparator::Gt, dec!(85), 24), &days),
            [(1, dec!(90)), (5, dec!(90)), (7, dec!(90))]
        );
    }

    #[test]
    fn a_window_of_days_is_summed_and_one_before_the_first_order_tells_nothing() {
        let days = days(&[9, 3, 2, 8, 9, 4, 9, 9]);
        assert_eq!(fired(&terms("orders", Comparator::Lte, dec!(5), 48), &days[1..]), [(2, dec!(3))]);
        let late: Vec<DayTotals> = days[4..].to_vec();
        assert_eq!(fired(&terms("orders", Comparator::Lt, dec!(1), 24), &late), []);
    }

    #[test]
    fn days_without_orders_count_as_none_once_there_were_some() {
        let mut days = days(&[9, 3, 0, 0, 9]);
        days.retain(|day| day.orders > 0);
        assert_eq!(fired(&terms("orders", Comparator::Lt, dec!(1), 24), &days), [(3, dec!(0)), (6, dec!(0))]);
    }

    #[test]
    fn spend_that_has_not_come_in_is_not_spend_of_nothing() {
        let mut days = days(&[9; 8]);
        days[1].ad_spend = dec!(30);
        assert_eq!(fired(&terms("ad_spend", Comparator::Lt, dec!(5), 24), &days), [(1, dec!(0))]);
    }

    #[rstest]
    #[case("orders", 5)]
    #[case("event:checkout", 24)]
    #[case("stockouts", 24)]
    fn what_days_do_not_tell_is_not_told(#[case] metric: &str, #[case] hours: i64) {
        let terms = terms(metric, Comparator::Gt, dec!(1), hours);
        assert_eq!(back_test(&terms, &days(&[9]), RANGE, "USD".parse().unwrap(), &"UTC".parse().unwrap()), None);
    }
}
