//! The figures of a window beside those that it is compared with.

use domain::metrics::{Metric, Sums};

use super::{METRICS, Query};
use crate::{
    pages::figures::{change, moved, name, shown, value},
    text::Writer,
    views::figures::{Fact, Figure},
};

/// The figures that can be chosen.
pub fn all(writer: &Writer, query: Query, now: &Sums, before: Option<&Sums>) -> Vec<Figure> {
    let figure = |metric: &Metric| {
        let metric = *metric;
        let current = metric.of(now);
        let old = before.and_then(|before| metric.of(before));
        let before_text = |old| writer.message("from-before").text("before", shown(writer, metric, old)).say();
        Figure {
            address: Query { metric, ..query }.address(),
            is_chosen: metric == query.metric,
            fact: Fact {
                name: name(writer, metric),
                text: current.map_or_else(|| "–".to_owned(), |current| shown(writer, metric, current)),
                value: current.map(|current| value(writer, metric, current)),
                change: before
                    .and_then(|before| change(metric, now, before))
                    .map(|change| moved(writer, metric, change)),
                below: old.map(before_text),
            },
        }
    };
    METRICS.iter().map(figure).collect()
}

#[cfg(test)]
mod tests {
    use domain::{metrics::Components, periods::Comparison};
    use rust_decimal::{Decimal, dec};

    use super::*;
    use crate::{pages::window::Window, text::tests::writer};

    fn of(revenue: Decimal, ads: Decimal, orders: i64) -> Sums {
        let components =
            Components { gross_revenue: revenue, ad_spend: ads, purchase_count: orders, ..Components::default() };
        Sums { components, ..Sums::default() }
    }

    #[test]
    fn direction_and_judgement_are_two_things() {
        let query = Query { window: Window::USUAL, compare: Comparison::Before, metric: Metric::Profit };
        let (now, before) = (of(dec!(1100), dec!(120), 10), of(dec!(1000), dec!(100), 0));
        let figures = all(&writer("en"), query, &now, Some(&before));
        let class =
            |index: usize| figures[index].fact.change.as_ref().map(|change| (change.class, change.text.as_str()));
        // Profit, net revenue, orders, average order, margin, ad spend.
        assert_eq!(class(1), Some(("up good", "10.0%")));
        assert_eq!(class(5), Some(("up bad", "20.0%")));
        // From nothing, a change says nothing.
        assert_eq!(class(2), None);
        assert_eq!(class(4), Some(("down bad", "0.9 points")));
        assert_eq!((figures[3].fact.text.as_str(), figures[3].fact.value.as_deref()), ("110.00", Some("110")));
    }

    #[test]
    fn what_has_no_value_is_a_dash() {
        let query = Query { window: Window::USUAL, compare: Comparison::Nothing, metric: Metric::Profit };
        let figures = all(&writer("en"), query, &of(dec!(0), dec!(0), 0), None);
        assert_eq!((figures[3].fact.text.as_str(), figures[3].fact.value.as_deref()), ("–", None));
    }
}
