//! Whatever the series holds, demand, stock and reorder answer with finite numbers or a named insufficiency.

use analytics::demand::{
    Category, DemandModel, Sales, StoreRhythm, classify, clean, croston, syntetos_boylan, teunter_syntetos_babai,
};
use analytics::reorder::{ServiceGoal, SupplyTerms, suggest};
use analytics::stock::{ExpectedDemand, trend};
use proptest::prelude::*;
use time::{Date, Month};

fn last_day() -> Date {
    Date::from_calendar_date(2024, Month::March, 31).unwrap()
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => (0u32..50).prop_map(f64::from),
        6 => Just(0.0),
        1 => any::<f64>(),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(-7.0),
        1 => Just(1e308),
    ]
}

fn any_series() -> impl Strategy<Value = Vec<Option<f64>>> {
    prop_oneof![
        proptest::collection::vec(proptest::option::weighted(0.9, any_number()), 0..500),
        (0usize..500).prop_map(|n| vec![Some(0.0); n]),
        (0usize..500).prop_map(|n| vec![None; n]),
        (1usize..500, 0usize..500).prop_map(|(n, at)| {
            let mut one_sale = vec![Some(0.0); n];
            one_sale[at % n] = Some(3.0);
            one_sale
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_answer_is_finite(
        units in any_series(),
        totals in any_series(),
        stock in any_number(),
        on_order in any_number(),
        terms in (any_number(), any_number(), any_number(), any_number(), any_number()),
        category in any_series(),
    ) {
        let rhythm = StoreRhythm::fit(&totals, last_day());
        let plain: Vec<f64> = units.iter().flatten().copied().map(|u| u.min(1e9)).collect();
        for smoothed in [croston(&plain, terms.0), syntetos_boylan(&plain, 0.1), teunter_syntetos_babai(&plain, 0.1, terms.1)] {
            prop_assert!(smoothed.is_finite() && smoothed >= 0.0);
        }
        let category = Category::of([Sales::of(&category), Sales { units: &units, sold_before: true }]);
        let _class = classify(&clean(&units));
        let _trend = trend(&units);
        let Ok(model) = DemandModel::fit(Sales::of(&units), Some(&category), &rhythm) else {
            prop_assert!(units.iter().flatten().all(|u| !u.is_finite()) || units.len() > 365);
            return Ok(());
        };
        let forecast = model.forecast(28);
        prop_assert_eq!(forecast.daily_mean.len(), 28);
        prop_assert!(forecast.daily_mean.iter().all(|u| u.is_finite() && *u >= 0.0));
        prop_assert!(forecast.dispersion.is_finite() && forecast.dispersion > 0.0);
        let expected = ExpectedDemand::of(&model);
        let (month, century) = (expected.until(28), expected.until(36_500));
        prop_assert!(month.is_finite() && century.is_finite() && month <= century);
        prop_assert_eq!(month > 0.0, model.level() != 0.0);
        let (soonest, latest) = expected.range_of_days(stock, 7.0, 36_500);
        prop_assert!((0.0..=7.0).contains(&soonest) && (7.0..=36_500.0).contains(&latest));
        let service = ServiceGoal::Newsvendor { underage: terms.3, overage: terms.4 };
        let supply = SupplyTerms {
            lead_time_days: terms.0,
            lead_time_sd: terms.1,
            review_days: terms.2,
            pack_size: 6,
            minimum_order: 10,
            service,
        };
        let order = suggest(&model, stock, on_order, &supply);
        prop_assert_eq!(order.quantity % 6, 0);
        prop_assert!(order.quantity == 0 || order.quantity >= 10);
        prop_assert!((0.0..=1.0).contains(&order.confidence));
        prop_assert!(order.reorder_point <= order.order_up_to);
        for number in [order.safety_stock, order.daily_demand, order.expected_demand, order.demand_sd, order.service_level] {
            prop_assert!(number.is_finite());
        }
    }
}
