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
    use domain::{
        metrics::Components,
        periods::Comparison,
        profit::{Basis, DayRange, Snapshot},
    };
    use proptest::prelude::*;
    use rust_decimal::{Decimal, dec, prelude::ToPrimitive};
    use time::{Duration, macros::date};

    use super::*;
    use crate::{
        pages::{figures::sums, window::Window},
        text::tests::writer,
    };

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

    /// Days with profits and losses, on some of which more was given back than came in.
    fn any_day() -> impl Strategy<Value = Components> {
        (proptest::collection::vec(0i64..200_000, 7), 0i64..20).prop_map(|(cents, orders)| {
            let money = |at: usize| Decimal::new(cents[at], 2);
            Components {
                gross_revenue: if orders == 0 { dec!(0) } else { money(0) },
                refunds: money(1) / dec!(2),
                ad_spend: money(2) / dec!(5),
                cogs_estimate: money(3) / dec!(4),
                fees_estimate: money(4) / dec!(20),
                shipping_estimate: money(5) / dec!(20),
                extra_expenses: money(6) / dec!(50),
                purchase_count: orders,
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn every_figure_is_what_its_definition_says(days in proptest::collection::vec(any_day(), 1..40)) {
            let first = date!(2026 - 03 - 01);
            let snapshots: Vec<Snapshot> = days
                .iter()
                .zip(0..)
                .map(|(day, number)| Snapshot {
                    date: first + Duration::days(number),
                    components: *day,
                    basis: Basis::default(),
                    lacks_rates: false,
                })
                .collect();
            let now = sums(&snapshots, DayRange { first, last: snapshots[days.len() - 1].date });
            let query = Query { window: Window::USUAL, compare: Comparison::Nothing, metric: Metric::Profit };
            let shown: Vec<Option<f64>> = all(&writer("en"), query, &now, None)
                .into_iter()
                .map(|figure| figure.fact.value.map(|value| value.parse().unwrap()))
                .collect();

            let sum = |of: fn(&Components) -> Decimal| days.iter().map(of).sum::<Decimal>();
            let (gross, ads) = (sum(|day| day.gross_revenue), sum(|day| day.ad_spend));
            let net = gross - sum(|day| day.refunds);
            let costs = sum(|day| day.cogs_estimate + day.fees_estimate + day.shipping_estimate + day.extra_expenses);
            let profit = net - costs - ads;
            let orders: i64 = days.iter().map(|day| day.purchase_count).sum();
            let quotient = |part: Decimal, whole: Decimal| (whole > dec!(0)).then(|| part / whole);
            let defined = [
                Some(profit),
                Some(net),
                Some(orders.into()),
                quotient(gross, orders.into()),
                quotient(profit * dec!(100), net),
                Some(ads),
            ];
            prop_assert_eq!(shown.len(), defined.len());
            for (shown, defined) in shown.into_iter().zip(defined.map(|value| value.and_then(|value| value.to_f64()))) {
                let is_same = match (shown, defined) {
                    (Some(shown), Some(defined)) => (shown - defined).abs() < 0.006,
                    (shown, defined) => shown == defined,
                };
                prop_assert!(is_same, "{shown:?} {defined:?}: {days:?}");
            }
        }
    }
}
