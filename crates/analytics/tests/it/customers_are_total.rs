//! Any account, however odd: a figure or a named reason, never a panic and never a number that is none.

use analytics::customers::{
    Clock, History, Models, Options, Past, bgnbd, churn, gamma_gamma, ltv,
    rfm::{self, Activity, Segment},
};
use proptest::{collection::vec, prelude::*};
use time::{Date, Duration, Month};

fn today() -> Date {
    Date::from_calendar_date(2026, Month::March, 29).unwrap()
}

/// Floats with the odd ones at a fair share.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -10.0..200.0_f64,
        1 => any::<f64>(),
        1 => prop::sample::select(vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE]),
    ]
}

fn count() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 0..6_u32, 2 => 6..400_u32, 1 => Just(1_000_000), 1 => Just(u32::MAX)]
}

fn summary() -> impl Strategy<Value = bgnbd::Summary> {
    (count(), number(), number()).prop_map(|(x, t_x, age)| bgnbd::Summary::new(x, t_x, age))
}

fn params() -> impl Strategy<Value = bgnbd::Params> {
    prop::array::uniform4(-6.9..9.2_f64).prop_map(|logs| {
        let [r, alpha, a, b] = logs.map(f64::exp);
        bgnbd::Params::new(r, alpha, a, b).unwrap()
    })
}

fn history() -> impl Strategy<Value = History> {
    let days =
        (-900..30_i64, -900..30_i64).prop_map(|(f, l)| (today() + Duration::days(f), today() + Duration::days(l)));
    (count(), count(), prop::option::weighted(0.9, days), number())
        .prop_map(|(orders, purchase_days, active, spend)| History { orders, purchase_days, active, spend })
}

fn finite_and_not_negative(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn figures_of_a_customer(params in params(), customer in summary(), weeks in number(), value in number(), rate in number()) {
        let expected = params.expected_purchases(&customer, weeks);
        prop_assert!(finite_and_not_negative(expected));
        let longer = params.expected_purchases(&customer, weeks + 1.0);
        prop_assert!(longer >= expected * (1.0 - 1e-9), "{longer} in a week more, {expected} before");
        prop_assert!((0.0..=1.0).contains(&params.p_alive(&customer)));
        prop_assert!(params.log_likelihood(&customer).is_finite());
        prop_assert!((0.0..=1.0).contains(&churn::probability(expected, params.shape(&customer))));
        prop_assert!(finite_and_not_negative(ltv::estimate(&params, &customer, value, 52.0, rate)));
    }

    #[test]
    fn churn_of_any_two_numbers(expected in number(), shape in number()) {
        prop_assert!((0.0..=1.0).contains(&churn::probability(expected, shape)));
    }

    #[test]
    fn fits_of_any_customers(customers in vec(summary(), 1..150), spends in vec((count(), number()), 0..150)) {
        let fit = bgnbd::fit(&customers).unwrap();
        prop_assert!(fit.log_likelihood.is_finite());
        let spends: Vec<_> = spends.into_iter().map(|(purchases, mean)| gamma_gamma::Spend { purchases, mean }).collect();
        if let Ok(fit) = gamma_gamma::fit(&spends) {
            prop_assert!(fit.log_likelihood.is_finite());
            prop_assert!(finite_and_not_negative(fit.params.population_mean()));
            prop_assert!(spends.iter().all(|s| finite_and_not_negative(fit.params.expected_value(s))));
        }
    }

    /// Equal customers are equal, whoever else comes in whatever order.
    #[test]
    fn segments_ignore_the_order(customers in vec((0..6_u32, 0..400_u32, 0..5_i32), 1..80), turn in 0..80_usize) {
        let customers: Vec<_> = customers
            .into_iter()
            .map(|(orders, days_since_last, spend)| Activity { orders, days_since_last, spend: f64::from(spend) })
            .collect();
        let mut turned = customers.clone();
        turned.rotate_left(turn % customers.len());
        turned.reverse();
        let (here, there) = (rfm::place(&customers), rfm::place(&turned));
        for (customer, place) in customers.iter().zip(&here) {
            let same = turned.iter().zip(&there).filter(|(other, _)| *other == customer);
            prop_assert!(same.into_iter().all(|(_, p)| p == place));
        }
        let counted: usize = rfm::count(&here).iter().map(|(_, n)| n).sum();
        prop_assert_eq!(counted, customers.len());
    }
}

proptest! {
    // Each fits seven models.
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn scores_of_any_account(
        histories in vec(history(), 0..60),
        buyers in vec(number(), 0..800),
        age in 0..60_i64,
        rate in number(),
    ) {
        let models = today() - Duration::days(age);
        let before: Vec<History> = histories.iter().rev().copied().collect();
        let clock = Clock::of(&buyers, today());
        let past = Past { clock, earlier: Some((&before, today() - Duration::days(182))) };
        let scores = Models::fit(&histories, models, &past).score(&histories, today(), &Options { annual_rate: rate });
        prop_assert_eq!(scores.len(), histories.len());
        for (customer, history) in scores.iter().zip(&histories) {
            let prospect = history.orders == 0 || history.active.is_none();
            prop_assert_eq!(customer.segment == Segment::Prospect, prospect);
            prop_assert!(!prospect || customer.churn_score.is_none());
            prop_assert!(customer.churn_score.is_none_or(|c| (0.0..=1.0).contains(&c)));
            prop_assert!(finite_and_not_negative(customer.ltv_estimate));
            prop_assert!(finite_and_not_negative(customer.expected_purchases));
        }
    }
}
