//! What a rule sees: the facts of its window, and what they come to.

use rust_decimal::Decimal;
use time::{Date, Duration, OffsetDateTime};

use super::{Rule, RuleState, Terms, Watched, step, watched::Resolution};
use crate::{
    daily::DayTotals,
    events::{AlertFired, Amount},
    metrics::{Components, Metric, Sums, stock::is_stockout},
    money::Currency,
    profit::DayRange,
    tracking::EventName,
    zone::Zone,
};

/// The time, or the state of things, that a rule looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Window {
    /// Orders and refunds after `since`, up to and including `until`.
    Orders { since: OffsetDateTime, until: OffsetDateTime },
    /// Tracked events of a name, in the same way.
    Events { name: EventName, since: OffsetDateTime, until: OffsetDateTime },
    /// Full days.
    Days(DayRange),
    /// The inventory as it was computed last.
    Inventory,
}

/// What is known of a [`Window`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Facts {
    Orders {
        gross_revenue: Decimal,
        orders: i64,
        refunds: Decimal,
        /// Whether the account ever had an order.
        any_order: bool,
    },
    Events {
        count: i64,
        /// Whether the account ever tracked an event.
        any_event: bool,
    },
    Days {
        days: Vec<DayTotals>,
        /// Whether the account had an order up to the last day of the window.
        any_order: bool,
        /// Whether ad spend has come in for the last day of the window or a later one, or it is known that there was none.
        spend_is_complete: bool,
    },
    Inventory {
        /// Stock and units sold in 30 days of the items whose status is critical.
        critical: Vec<(i64, i64)>,
        any_item: bool,
    },
}

/// What came of the evaluation of a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// As it is shown; `None` when there is nothing to tell it from.
    pub observed: Option<Decimal>,
    /// Where the rule stands from now on.
    pub state: RuleState,
    /// What receivers are told, if the rule fires.
    pub fired: Option<AlertFired>,
}

/// What `rule` makes of the facts of its window at `now`.
pub fn evaluate(rule: &Rule, facts: &Facts, currency: Currency, now: OffsetDateTime) -> Evaluation {
    let terms = &rule.terms;
    let observed = observe(terms.metric(), facts).and_then(|value| terms.metric().shown(value, currency));
    let (state, fires) = step(terms, rule.state, observed, now);
    let fired = observed.filter(|_| fires).map(|value| event(rule.id.0, terms, value));
    Evaluation { observed, state, fired }
}

impl Terms {
    /// What a rule of these terms looks at at `now`.
    pub fn window(&self, zone: &Zone, now: OffsetDateTime) -> Window {
        let since = now - Duration::hours(self.window_hours());
        match (self.metric(), self.metric().resolution()) {
            (Watched::Event(name), _) => Window::Events { name: name.clone(), since, until: now },
            (_, Resolution::Instants { .. }) => Window::Orders { since, until: now },
            (_, Resolution::Days) => {
                let last = zone.day_of(now).previous_day().unwrap_or(Date::MIN);
                let back = Duration::days(self.window_hours() / 24 - 1);
                Window::Days(DayRange { first: last.checked_sub(back).unwrap_or(Date::MIN), last })
            }
            (_, Resolution::Current) => Window::Inventory,
        }
    }
}

/// The value of what is watched. Nothing sold says nothing before the first order, nor do events or stock before there are
/// any: nothing is connected yet. What is paid until then is a loss all the same. Ad spend that has not come in yet is not spend
/// of nothing.
pub(super) fn observe(watched: &Watched, facts: &Facts) -> Option<Decimal> {
    match (watched, facts) {
        (Watched::Figure(metric), Facts::Orders { gross_revenue, orders, refunds, any_order: true }) => {
            let (gross_revenue, refunds, purchase_count) = (*gross_revenue, *refunds, *orders);
            let components = Components { gross_revenue, refunds, purchase_count, ..Components::default() };
            metric.of(&Sums { components, ..Sums::default() })
        }
        (Watched::Figure(metric), Facts::Days { days, any_order, spend_is_complete }) => {
            let is_known = match metric {
                Metric::AdSpend | Metric::Roas | Metric::Cac => *spend_is_complete,
                Metric::Profit => *any_order || days.iter().any(|day| day.components() != Components::default()),
                _ => *any_order,
            };
            if is_known { metric.of(&Sums::of_days(days)) } else { None }
        }
        (Watched::Event(_), Facts::Events { count, any_event: true }) => Some((*count).into()),
        (Watched::Stockouts, Facts::Inventory { critical, any_item: true }) => {
            let stockouts = critical.iter().filter(|(stock, sold)| is_stockout(*stock, *sold)).count();
            Some(stockouts.into())
        }
        _ => None,
    }
}

fn event(rule_id: i64, terms: &Terms, observed: Decimal) -> AlertFired {
    AlertFired {
        rule_id,
        rule_name: terms.name().to_owned(),
        severity: terms.severity(),
        metric: terms.metric().to_string(),
        observed: Amount(observed),
        threshold: Amount(terms.threshold()),
        comparator: terms.comparator(),
        window_hours: terms.window_hours(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rust_decimal::dec;
    use time::macros::{date, datetime};

    use super::{super::*, *};

    /// 23:00 on 2 March in São Paulo.
    const NOW: OffsetDateTime = datetime!(2026-03-03 02:00 UTC);

    fn terms(metric: &str, window_hours: i64) -> Terms {
        Terms::new(UncheckedTerms {
            name: "rule".into(),
            metric: metric.parse().unwrap(),
            comparator: Comparator::Lt,
            threshold: dec!(0),
            window_hours,
            severity: Severity::High,
            cooldown_hours: 0,
        })
        .unwrap()
    }

    fn observed(metric: &str, facts: &Facts) -> Option<Decimal> {
        observe(&metric.parse().unwrap(), facts)
    }

    #[rstest]
    #[case("aov", 2, Window::Orders { since: NOW - Duration::hours(2), until: NOW })]
    #[case("event:x", 1, Window::Events { name: EventName::parse("x".into()).unwrap(), since: NOW - Duration::HOUR, until: NOW })]
    #[case("profit", 48, Window::Days(DayRange { first: date!(2026 - 02 - 28), last: date!(2026 - 03 - 01) }))]
    #[case("stockouts", 24, Window::Inventory)]
    fn a_rule_looks_at_what_its_metric_is_known_by(#[case] metric: &str, #[case] hours: i64, #[case] window: Window) {
        assert_eq!(terms(metric, hours).window(&"America/Sao_Paulo".parse().unwrap(), NOW), window);
    }

    #[test]
    fn nothing_is_seen_before_there_is_anything() {
        let orders = |any_order| Facts::Orders { gross_revenue: dec!(0), orders: 0, refunds: dec!(0), any_order };
        for (metric, known) in [("revenue", Some(dec!(0))), ("orders", Some(dec!(0))), ("aov", None)] {
            assert_eq!((observed(metric, &orders(true)), observed(metric, &orders(false))), (known, None), "{metric}");
        }
        let days = |any_order, spend_is_complete| Facts::Days { days: vec![], any_order, spend_is_complete };
        for (metric, known) in [("profit", Some(dec!(0))), ("margin", None)] {
            assert_eq!((observed(metric, &days(true, false)), observed(metric, &days(false, true))), (known, None));
        }
        assert_eq!(
            (observed("ad_spend", &days(true, false)), observed("ad_spend", &days(true, true))),
            (None, Some(dec!(0)))
        );
        assert_eq!((observed("roas", &days(true, false)), observed("roas", &days(true, true))), (None, None));
    }

    #[test]
    fn before_the_first_order_visits_are_no_profit_and_what_is_paid_is_a_loss() {
        let day = DayTotals { visitors: 9, ..DayTotals::quiet(date!(2026 - 03 - 01)) };
        let facts = |day| Facts::Days { days: vec![day], any_order: false, spend_is_complete: false };
        assert_eq!(observed("profit", &facts(day)), None);
        assert_eq!(observed("profit", &facts(DayTotals { extra_expenses: dec!(50), ..day })), Some(dec!(-50)));
    }

    #[test]
    fn a_loss_over_negative_net_revenue_has_no_margin() {
        let day = DayTotals { refunds: dec!(100), ad_spend: dec!(50), ..DayTotals::quiet(date!(2026 - 03 - 01)) };
        let facts = Facts::Days { days: vec![day], any_order: true, spend_is_complete: true };
        assert_eq!((observed("profit", &facts), observed("margin", &facts)), (Some(dec!(-150)), None));
    }

    #[test]
    fn products_without_stock_that_sell_are_stockouts() {
        let facts = |any_item| Facts::Inventory { critical: vec![(0, 3), (0, 0), (-1, 1), (5, 9)], any_item };
        assert_eq!((observed("stockouts", &facts(true)), observed("stockouts", &facts(false))), (Some(dec!(2)), None));
    }
}
