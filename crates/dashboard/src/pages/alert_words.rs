//! Alert rules in words.

use domain::{
    alerts::{Rule, Terms, Watched},
    metrics::Unit,
};
use rust_decimal::Decimal;

use crate::{text::Writer, views::rows::Badge};

/// What is watched.
pub fn watched(writer: &Writer, metric: &Watched) -> String {
    match metric {
        Watched::Event(name) => writer.message("watch-event-of").text("name", name).say(),
        _ => writer.say(&format!("watch-{metric}")),
    }
}

/// A value of what is watched, as a rule sees it.
pub fn value(writer: &Writer, metric: &Watched, value: Decimal) -> String {
    match metric.unit() {
        Unit::Money => format!("{} {}", writer.exact(value), writer.currency),
        Unit::Share => writer.percent(value / Decimal::ONE_HUNDRED, 2),
        Unit::Ratio => writer.number(value, value.normalize().scale().clamp(2, 4)),
        Unit::Count => writer.number(value, value.normalize().scale()),
    }
}

/// When a rule fires.
pub fn condition(writer: &Writer, terms: &Terms) -> String {
    writer
        .message(format!("condition-{}", terms.comparator()))
        .text("metric", watched(writer, terms.metric()))
        .text("threshold", value(writer, terms.metric(), terms.threshold()))
        .count("hours", terms.window_hours())
        .say()
}

/// Where a rule stands.
pub fn standing(writer: &Writer, rule: &Rule) -> Badge {
    let (class, sign, id) = match (rule.active, rule.last_evaluated_at, rule.state.armed) {
        (false, ..) => ("", "✕", "alert-off"),
        (true, None, _) => ("", "○", "alert-new"),
        (true, Some(_), true) => ("good", "✓", "alert-armed"),
        (true, Some(_), false) => ("bad", "!", "alert-beyond"),
    };
    Badge { class, text: format!("{sign} {}", writer.say(id)) }
}

#[cfg(test)]
mod tests {
    use domain::{
        alerts::{Comparator, UncheckedTerms},
        insights::Severity,
    };
    use rust_decimal::dec;

    use super::*;
    use crate::text::tests::writer;

    fn terms(metric: &str, threshold: Decimal, window_hours: i64) -> Terms {
        Terms::new(UncheckedTerms {
            name: "rule".into(),
            metric: metric.parse().unwrap(),
            comparator: Comparator::Lt,
            threshold,
            window_hours,
            severity: Severity::High,
            cooldown_hours: 1,
        })
        .unwrap()
    }

    #[test]
    fn a_condition_has_its_unit_and_its_window() {
        let said = |metric, threshold, hours| condition(&writer("en"), &terms(metric, threshold, hours));
        assert_eq!(said("orders", dec!(5), 24), "Orders below 5 in 24 hours");
        assert_eq!(said("profit", dec!(-1250.5), 48), "Profit below \u{2212}1,250.50 USD in 48 hours");
        assert_eq!(said("margin", dec!(12.5), 24), "Margin below 12.50% in 24 hours");
        assert_eq!(said("event:checkout", dec!(3), 1), "Events “checkout” below 3 in 1 hour");
    }
}
