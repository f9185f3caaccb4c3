//! Cause inference as its callers see it.

use proptest::prelude::*;
use rstest::rstest;
use time::{Duration, macros::date};

use super::*;

/// A number in −1 … 1 that looks random and is the same on every run.
fn noise(seed: u64, i: usize) -> f64 {
    let mut x = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.wrapping_mul(0xd1b5_4a32_d192_ed03);
    x ^= x >> 31;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 27;
    (x % 20_001) as f64 / 10_000.0 - 1.0
}

fn dates(n: usize) -> Vec<Date> {
    (0..n).map(|i| date!(2024 - 01 - 01) + Duration::days(i as i64)).collect()
}

const DAYS: usize = 100;

/// A shop of about 1,000 visitors, 3 % conversion, 2 units an order, 25 a unit; each varies by up to 8 %. `today`
/// multiplies visitors, conversion, units per order and price on the last day.
fn shop(today: [f64; 4]) -> Facts {
    let factor = |k: usize, i: usize| if i + 1 == DAYS { today[k] } else { 1.0 };
    let series = |k: usize, usual: f64| -> Vec<f64> {
        (0..DAYS).map(|i| usual * (1.0 + 0.08 * noise(k as u64, i)) * factor(k, i)).collect()
    };
    let visitors = series(0, 1000.0);
    let times = |a: &[f64], b: Vec<f64>| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a * b).collect() };
    let orders = times(&visitors, series(1, 0.03));
    let units = times(&orders, series(2, 2.0));
    let revenue = times(&units, series(3, 25.0));
    let mut facts = Facts::new(dates(DAYS));
    let known = |v: &[f64]| v.iter().copied().map(Some).collect::<Vec<_>>();
    facts.metric("visitors", known(&visitors));
    facts.metric("orders", known(&orders));
    facts.metric("units", known(&units));
    facts.metric("gross_revenue", known(&revenue));
    facts
}

/// To twelve digits of the largest number that entered: where the drivers are far larger than what they make up, it is theirs.
fn sums_to_the_deviation(breakdown: &Breakdown) -> bool {
    let terms = breakdown.contributions.iter().flat_map(|c| [c.contribution, c.expected, c.observed]);
    let size = terms.chain([breakdown.expected, breakdown.observed, 1.0]).fold(0.0, |a: f64, x| a.max(x.abs()));
    let sum: f64 = breakdown.contributions.iter().map(|c| c.contribution).sum();
    (sum - (breakdown.observed - breakdown.expected)).abs() <= 1e-12 * size
}

#[rstest]
#[case([0.5, 1.0, 1.0, 1.0], "visitors", Direction::Down)]
#[case([1.0, 0.4, 1.0, 1.0], "conversion", Direction::Down)]
#[case([1.0, 1.0, 2.5, 1.0], "units_per_order", Direction::Up)]
#[case([1.0, 1.0, 1.0, 0.5], "price_per_unit", Direction::Down)]
fn names_the_driver_that_changed(#[case] today: [f64; 4], #[case] driver: &str, #[case] direction: Direction) {
    let found = explain(&shop(today), "gross_revenue", None).unwrap();
    let cause = found.cause().unwrap();
    assert_eq!((cause.metric.as_str(), cause.direction), (driver, direction));
    assert!(cause.share > 0.7 && cause.confidence > 0.8 && cause.modz.abs() > 3.5, "{cause:?}");
    assert!(found.breakdowns.iter().all(sums_to_the_deviation));
}

#[test]
fn shares_of_a_product_are_those_of_the_logarithms() {
    // Constant history: expected 100 orders at 50; observed 50 orders at 25. ln ½ each: half the deviation each.
    let mut facts = Facts::new(dates(31));
    let with = |usual: f64, last: f64| -> Vec<Option<f64>> {
        (0..31).map(|i| Some(if i == 30 { last } else { usual })).collect()
    };
    facts.metric("orders", with(100.0, 50.0));
    facts.metric("gross_revenue", with(5000.0, 1250.0));
    let found = explain(&facts, "gross_revenue", None).unwrap();
    let split = &found.breakdowns[0];
    for contribution in &split.contributions {
        assert!((contribution.share - 0.5).abs() < 1e-9, "{contribution:?}");
        assert!((contribution.contribution + 1875.0).abs() < 1e-6);
    }
}

#[test]
fn an_ordinary_day_has_no_cause_and_says_so() {
    let found = explain(&shop([1.0; 4]), "gross_revenue", None).unwrap();
    assert_eq!(found.cause(), None);
    assert!(!found.breakdowns.is_empty());
}

#[test]
fn two_equal_drivers_are_not_one_cause() {
    let found = explain(&shop([0.6, 1.0, 1.0, 0.6]), "gross_revenue", None).unwrap();
    let shares: Vec<f64> = found.breakdowns[0].contributions.iter().take(2).map(|c| c.share).collect();
    assert!((shares[0] - shares[1]).abs() < 0.3, "{shares:?}");
    assert!(found.cause().is_none_or(|c| c.confidence < 0.8), "{:?}", found.cause());
}

#[test]
fn contributions_add_up_to_what_the_detector_reported() {
    let found = explain(&shop([0.5, 1.0, 1.0, 1.0]), "gross_revenue", Some(1700.0)).unwrap();
    assert_eq!(found.expected, 1700.0);
    assert!(found.breakdowns.iter().all(sums_to_the_deviation));
    let expected: f64 = found.breakdowns[0].contributions.iter().map(|c| c.expected).product();
    assert!((expected - 1700.0).abs() < 1e-6, "the expected drivers multiply to the expected whole");
}

#[test]
fn an_outage_is_the_first_factor_that_fell_to_nothing() {
    let facts = shop([0.0, 1.0, 1.0, 1.0]);
    let found = explain(&facts, "gross_revenue", None).unwrap();
    let cause = found.cause().unwrap();
    assert_eq!((cause.metric.as_str(), cause.observed), ("visitors", 0.0));
    assert!((cause.share - 1.0).abs() < 1e-9);
}

#[test]
fn goes_on_inside_the_winner_and_across_dimensions() {
    let mut facts = shop([0.35, 1.0, 1.0, 1.0]);
    let visitors: Vec<f64> = facts.series("visitors", None).unwrap().into_iter().flatten().collect();
    // 0.8 clicks a visitor, 2 clicks per unit of spend, spent on two campaigns of which one stops.
    let clicks: Vec<_> = visitors.iter().enumerate().map(|(i, v)| 0.8 * v * (1.0 + 0.02 * noise(8, i))).collect();
    let spend: Vec<_> = clicks.iter().enumerate().map(|(i, c)| 0.5 * c * (1.0 + 0.02 * noise(9, i))).collect();
    let spring: Vec<_> = spend.iter().enumerate().map(|(i, s)| if i + 1 == DAYS { 0.0 } else { 0.65 * s }).collect();
    let brand: Vec<_> = spend.iter().zip(&spring).map(|(all, spring)| all - spring).collect();
    let known = |v: Vec<f64>| v.into_iter().map(Some).collect::<Vec<_>>();
    facts.metric("ad_clicks", known(clicks)).metric("ad_spend", known(spend));
    for (name, values) in [("spring", spring), ("brand", brand)] {
        let campaign = Part::of("campaign", name);
        facts.part(campaign, "ad_spend", known(values));
    }
    let found = explain(&facts, "gross_revenue", None).unwrap();
    let chain: Vec<&str> = found.chain.iter().map(|c| c.metric.as_str()).collect();
    assert_eq!(chain, ["visitors", "ad_clicks", "ad_spend", "ad_spend"], "{found:#?}");
    assert_eq!(found.cause().unwrap().part.as_ref().unwrap().value, "spring");
    assert!(found.chain.windows(2).all(|w| w[1].confidence <= w[0].confidence));
}

#[test]
fn profit_falls_by_what_a_cost_rose() {
    let mut facts = shop([1.0; 4]);
    let constant =
        |usual: f64| -> Vec<Option<f64>> { (0..DAYS).map(|i| Some(usual * (1.0 + 0.02 * noise(30, i)))).collect() };
    facts.metric("refunds", constant(20.0)).metric("cogs", constant(600.0));
    facts.metric("fees", constant(40.0)).metric("shipping", constant(90.0));
    facts.metric("extra_expenses", constant(10.0));
    let mut spend = constant(200.0);
    spend[DAYS - 1] = Some(2200.0);
    facts.metric("ad_spend", spend);
    let found = explain(&facts, "final_profit", None).unwrap();
    assert_eq!(found.cause().unwrap().metric, "ad_spend");
    assert_eq!(found.cause().unwrap().direction, Direction::Up);
    assert!(found.breakdowns.iter().all(sums_to_the_deviation));
}

#[test]
fn conversion_is_split_into_orders_and_visitors_and_leads_on_from_there() {
    // Visitors double, orders stay: a robot, no loss of interest.
    let found = explain(&shop([2.0, 0.5, 1.0, 1.0]), "conversion", None).unwrap();
    assert_eq!(found.cause().unwrap().metric, "visitors", "{found:#?}");
    // Orders halve with the visitors of always, all of them in one of two countries.
    let mut facts = shop([1.0, 0.5, 1.0, 1.0]);
    let orders: Vec<f64> = facts.series("orders", None).unwrap().into_iter().flatten().collect();
    let home: Vec<f64> = (0..DAYS).map(|i| 12.0 * (1.0 + 0.08 * noise(40, i))).collect();
    let abroad: Vec<f64> = orders.iter().zip(&home).map(|(all, home)| all - home).collect();
    for (country, values) in [("AR", home), ("BR", abroad)] {
        let part = Part::of("country", country);
        facts.part(part, "orders", values.into_iter().map(Some).collect());
    }
    let found = explain(&facts, "conversion", None).unwrap();
    let chain: Vec<_> = found.chain.iter().map(|c| (c.metric.as_str(), c.part.as_ref().map(|p| &*p.value))).collect();
    assert_eq!(chain, [("orders", Some("BR"))], "{found:#?}");
    assert!(found.breakdowns.iter().all(sums_to_the_deviation));
}

/// About `usual` a day, varying by up to 8 %, `factor` times as much on the last day.
fn steady(usual: f64, seed: u64, factor: f64) -> Vec<f64> {
    let today = |i: usize| if i + 1 == DAYS { factor } else { 1.0 };
    (0..DAYS).map(|i| usual * (1.0 + 0.08 * noise(seed, i)) * today(i)).collect()
}

fn added(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

fn known(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}

fn path(found: &Explanation) -> Vec<String> {
    let place = |part: &Part| format!("{}={}", part.dimension, part.value);
    let places = |c: &Cause| c.part.iter().flat_map(|part| part.path()).map(place).collect::<Vec<_>>().join(",");
    found.chain.iter().map(|c| format!("{}[{}]", c.metric, places(c))).collect()
}

#[test]
fn a_part_is_split_into_the_parts_within_it() {
    let (shopify, market) = (steady(60.0, 50, 0.2), steady(40.0, 51, 1.0));
    let (home, abroad) = (steady(50.0, 52, 1.0), added(&shopify, &market));
    let mut facts = Facts::new(dates(DAYS));
    facts.metric("orders", known(&added(&home, &abroad)));
    let brazil = Part::of("country", "BR");
    facts.part(Part::of("country", "AR"), "orders", known(&home)).part(brazil.clone(), "orders", known(&abroad));
    for (platform, orders) in [("shopify", &shopify), ("mercadolibre", &market)] {
        facts.part(Part::of("platform", platform).within(brazil.clone()), "orders", known(orders));
    }
    let found = explain(&facts, "orders", None).unwrap();
    assert_eq!(path(&found), ["orders[country=BR]", "orders[country=BR,platform=shopify]"], "{found:#?}");
    assert!(found.breakdowns.iter().all(sums_to_the_deviation));
    // Without a name for what is left, the parts within do not cover the part.
    let mut partly = facts.clone();
    partly.part(Part::of("platform", "mercadolibre").within(brazil), "orders", known(&steady(20.0, 53, 1.0)));
    let found = explain(&partly, "orders", None).unwrap();
    assert!(found.breakdowns.iter().all(sums_to_the_deviation));
}

#[rstest]
// All of the shop sells four times as much, nine tenths of it at home.
#[case::everywhere(45.0, 4.2, 5.0, 3.6, None)]
#[case::nearly_all_of_it(45.0, 0.4, 5.0, 0.8, None)]
#[case::nearly_all_of_it_alone(45.0, 0.4, 5.0, 1.0, Some("orders[country=BR]"))]
#[case::nearly_all_of_it_to_nothing(45.0, 0.0, 5.0, 0.8, Some("orders[country=BR]"))]
#[case::all_of_it_to_nothing(45.0, 0.0, 5.0, 0.0, None)]
#[case::the_larger_one(30.0, 0.4, 20.0, 1.0, Some("orders[country=BR]"))]
#[case::one_against_the_others(45.0, 0.3, 15.0, 1.4, Some("orders[country=BR]"))]
#[case::one_much_further(30.0, 0.3, 20.0, 0.8, Some("orders[country=BR]"))]
#[case::one_a_little_further(30.0, 0.4, 20.0, 0.6, None)]
fn a_part_that_went_as_the_whole_is_no_cause(
    #[case] home: f64,
    #[case] at_home: f64,
    #[case] others: f64,
    #[case] elsewhere: f64,
    #[case] cause: Option<&str>,
) {
    let home = steady(home, 54, at_home);
    let others: Vec<f64> = (0..DAYS).map(|i| if i + 1 == DAYS { others * elsewhere } else { others }).collect();
    let mut facts = Facts::new(dates(DAYS));
    facts.metric("orders", known(&added(&home, &others)));
    facts.part(Part::of("country", "BR"), "orders", known(&home));
    facts.part(Part::of("country", "PT"), "orders", known(&others));
    let found = explain(&facts, "orders", None).unwrap();
    assert_eq!(path(&found).first().map(String::as_str), cause, "{found:#?}");
    assert!(found.breakdowns.iter().all(sums_to_the_deviation));
}

#[test]
fn a_platform_that_sold_nothing_is_why_fewer_visitors_bought() {
    let mut facts = shop([1.0, 0.6, 1.0, 1.0]);
    let orders: Vec<f64> = facts.series("orders", None).unwrap().into_iter().flatten().collect();
    let silent = steady(12.0, 56, 0.0);
    let others: Vec<f64> = orders.iter().zip(&silent).map(|(all, silent)| all - silent).collect();
    for (platform, orders) in [("mercadolibre", silent), ("shopify", others)] {
        facts.part(Part::of("platform", platform), "orders", known(&orders));
    }
    let found = explain(&facts, "orders", None).unwrap();
    assert_eq!(path(&found), ["orders[platform=mercadolibre]"], "{found:#?}");
    assert!(found.breakdowns.iter().all(sums_to_the_deviation));
}

#[test]
fn a_platform_that_sold_nothing_is_named_before_the_only_country_that_it_sells_in() {
    let [silent, here, there] =
        [(12.0, 56, 0.0), (18.0, 61, 1.0), (15.0, 62, 1.0)].map(|(n, seed, f)| steady(n, seed, f));
    let others = added(&here, &there);
    let mut facts = Facts::new(dates(DAYS));
    facts.metric("orders", known(&added(&silent, &others)));
    for (dimension, value, orders) in [
        ("platform", "mercadolibre", &silent),
        ("platform", "shopify", &others),
        ("country", "MX", &silent),
        ("country", "BR", &here),
        ("country", "PT", &there),
    ] {
        facts.part(Part::of(dimension, value), "orders", known(orders));
    }
    let found = explain(&facts, "orders", None).unwrap();
    assert_eq!(path(&found), ["orders[platform=mercadolibre]"], "{found:#?}");
}

#[test]
fn a_campaign_that_is_all_of_its_platform_is_named_itself() {
    let (social, search) = (steady(15.0, 57, 6.0), steady(25.0, 58, 1.0));
    let mut facts = Facts::new(dates(DAYS));
    facts.metric("ad_spend", known(&added(&social, &search)));
    for (platform, campaign, spend) in [("meta", "meta/Social", &social), ("google", "google/Search", &search)] {
        facts.part(Part::of("platform", platform), "ad_spend", known(spend));
        facts.part(Part::of("campaign", campaign), "ad_spend", known(spend));
    }
    let found = explain(&facts, "ad_spend", None).unwrap();
    assert_eq!(path(&found), ["ad_spend[campaign=meta/Social]"], "{found:#?}");
}

#[test]
fn a_conversion_is_traced_to_the_country_where_it_fell() {
    let (here, there) = (steady(500.0, 60, 1.0), steady(500.0, 61, 1.0));
    let orders = |visitors: &[f64], seed: u64, factor: f64| -> Vec<f64> {
        visitors.iter().zip(steady(0.04, seed, factor)).map(|(visitors, rate)| visitors * rate).collect()
    };
    let (bought_here, bought_there) = (orders(&here, 62, 1.0), orders(&there, 63, 0.3));
    let mut facts = Facts::new(dates(DAYS));
    facts.metric("visitors", known(&added(&here, &there)));
    facts.metric("orders", known(&added(&bought_here, &bought_there)));
    for (country, visitors, orders) in [("AR", &here, &bought_here), ("BR", &there, &bought_there)] {
        facts.part(Part::of("country", country), "visitors", known(visitors));
        facts.part(Part::of("country", country), "orders", known(orders));
    }
    for metric in ["orders", "conversion"] {
        let found = explain(&facts, metric, None).unwrap();
        assert_eq!(path(&found).last().map(String::as_str), Some("conversion[country=BR]"), "{found:#?}");
        assert!(found.breakdowns.iter().all(sums_to_the_deviation), "{found:#?}");
    }
}

#[test]
fn a_margin_falls_by_the_share_of_a_cost_that_rose() {
    let mut facts = shop([1.0; 4]);
    let revenue: Vec<f64> = facts.series("gross_revenue", None).unwrap().into_iter().flatten().collect();
    let share = |usual: f64, seed: u64, last: f64| -> Vec<Option<f64>> {
        let factor = |i: usize| if i + 1 == DAYS { last } else { 1.0 + 0.05 * noise(seed, i) };
        revenue.iter().enumerate().map(|(i, r)| Some(r * usual * factor(i))).collect()
    };
    // No ads, no other expenses: the identity goes without them.
    facts.metric("cogs", share(0.4, 31, 1.0)).metric("fees", share(0.03, 32, 1.0));
    facts.metric("shipping", share(0.1, 33, 2.5));
    let found = explain(&facts, "margin", None).unwrap();
    assert_eq!(path(&found), ["shipping_per_gross_revenue[]", "shipping_per_order[]"], "{found:#?}");
    assert!(found.breakdowns.iter().all(sums_to_the_deviation));
    let profit = explain(&facts, "final_profit", None).unwrap();
    assert!(!profit.breakdowns.is_empty() && profit.breakdowns.iter().all(sums_to_the_deviation));
}

#[test]
fn costs_that_fall_with_the_takings_are_no_cause_of_a_loss() {
    let mut facts = shop([0.2, 1.0, 1.0, 1.0]);
    let revenue: Vec<f64> = facts.series("gross_revenue", None).unwrap().into_iter().flatten().collect();
    // Almost all of the takings is cost, steadier than the takings are: their fall stands out more.
    let goods = revenue.iter().enumerate().map(|(i, r)| Some(r * 0.55 + 10.0 * noise(35, i))).collect();
    let shipping = revenue.iter().enumerate().map(|(i, r)| Some(r * 0.1 + 2.0 * noise(36, i))).collect();
    facts.metric("cogs", goods).metric("shipping", shipping);
    let found = explain(&facts, "final_profit", None).unwrap();
    let chain: Vec<&str> = found.chain.iter().map(|c| c.metric.as_str()).collect();
    assert!(chain == ["visitors"], "{found:#?}");
    assert!(found.breakdowns.iter().all(sums_to_the_deviation));
}

#[rstest]
#[case(0.1)]
#[case(0.5)]
fn another_price_is_no_cost_of_what_was_sold(#[case] price: f64) {
    let mut facts = shop([1.0, 1.0, 1.0, price]);
    let at = |facts: &Facts, count: &str, each: f64, seed: u64| -> Vec<Option<f64>> {
        let counted = facts.series(count, None).unwrap().into_iter().flatten();
        counted.enumerate().map(|(i, n)| Some(n * each * (1.0 + 0.02 * noise(seed, i)))).collect()
    };
    // As many units and orders cost as much, whatever they were sold for.
    let (goods, shipping) = (at(&facts, "units", 10.0, 37), at(&facts, "orders", 4.0, 38));
    facts.metric("cogs", goods).metric("shipping", shipping);
    let found = explain(&facts, "final_profit", None).unwrap();
    assert_eq!(path(&found), ["price_per_unit[]"], "{found:#?}");
    assert!(found.breakdowns.iter().all(sums_to_the_deviation) && levels_add_up(&found), "{found:#?}");
    let of_costs = found.levels[0].iter().filter(|driver| ["cogs", "shipping"].contains(&driver.metric.as_str()));
    for cost in of_costs {
        assert!(cost.share < 0.1 && (cost.observed - cost.expected).abs() < 0.1 * cost.observed, "{cost:?}");
    }
    let found = explain(&facts, "margin", None).unwrap();
    assert_eq!(path(&found), ["cogs_per_gross_revenue[]", "price_per_unit[]"], "{found:#?}");
    assert!(found.breakdowns.iter().all(sums_to_the_deviation) && levels_add_up(&found), "{found:#?}");
}

#[test]
fn a_margin_falls_by_refunds_although_every_cost_takes_a_larger_part_of_what_is_left() {
    let mut facts = shop([1.0; 4]);
    let revenue: Vec<f64> = facts.series("gross_revenue", None).unwrap().into_iter().flatten().collect();
    let of_revenue = |usual: f64, seed: u64, last: f64| -> Vec<Option<f64>> {
        let factor = |i: usize| if i + 1 == DAYS { last } else { 1.0 + 0.05 * noise(seed, i) };
        revenue.iter().enumerate().map(|(i, r)| Some(r * usual * factor(i))).collect()
    };
    facts.metric("cogs", of_revenue(0.4, 31, 1.0)).metric("shipping", of_revenue(0.1, 33, 1.0));
    facts.metric("refunds", of_revenue(0.04, 34, 8.0));
    let found = explain(&facts, "margin", None).unwrap();
    let chain: Vec<&str> = found.chain.iter().map(|c| c.metric.as_str()).collect();
    assert!(chain == ["refund_rate"], "{found:#?}");
    assert!(found.breakdowns.iter().all(sums_to_the_deviation));
}

#[test]
fn parts_that_do_not_cover_the_whole_leave_a_rest() {
    let mut facts = shop([0.5, 1.0, 1.0, 1.0]);
    let third: Vec<_> = facts.series("gross_revenue", None).unwrap().iter().map(|v| v.map(|v| v / 3.0)).collect();
    facts.part(Part::of("country", "DE"), "gross_revenue", third);
    let found = explain(&facts, "gross_revenue", None).unwrap();
    let by_country = found.breakdowns.iter().find(|b| b.by == By::Dimension("country".into())).unwrap();
    let names: Vec<&str> = by_country.contributions.iter().map(|c| c.part.as_ref().unwrap().value.as_str()).collect();
    assert!(names.contains(&"(other)") && names.contains(&"DE"), "{names:?}");
    assert!(sums_to_the_deviation(by_country));
}

#[test]
fn the_rest_of_a_dimension_is_no_cause() {
    let mut facts = Facts::new(dates(40));
    let refunds = |usual: f64| (0..40).map(move |i| Some(if i == 39 { 10.0 * usual } else { usual + noise(1, i) }));
    facts.metric("refunds", refunds(50.0).collect());
    facts.part(Part::of("country", "DE"), "refunds", refunds(2.0).collect());
    let found = explain(&facts, "refunds", None).unwrap();
    let first = found.breakdowns.first().unwrap().contributions.first().unwrap();
    assert!(first.part.as_ref().unwrap().value == "(other)" && first.share > 0.9 && first.modz > 5.0, "{first:?}");
    assert_eq!(found.cause(), None);
}

#[test]
fn too_little_history_and_unknown_metrics_are_refused() {
    let mut facts = Facts::new(dates(10));
    facts.metric("orders", vec![Some(5.0); 10]);
    assert_eq!(explain(&facts, "orders", None), Err(Insufficient::History { days: 9, needed: 14 }));
    assert_eq!(explain(&facts, "gross_revenue", None), Err(Insufficient::Value));
    assert_eq!(explain(&Facts::new(vec![]), "orders", None), Err(Insufficient::Value));
}

#[test]
fn a_metric_without_drivers_is_explained_by_nothing() {
    let mut facts = Facts::new(dates(40));
    facts.metric("refunds", (0..40).map(|i| Some(if i == 39 { 500.0 } else { 50.0 + noise(1, i) })).collect());
    let found = explain(&facts, "refunds", None).unwrap();
    assert!(found.breakdowns.is_empty() && found.cause().is_none());
}

/// What the job asks for.
const METRICS: [&str; 15] = [
    "gross_revenue",
    "net_revenue",
    "orders",
    "units",
    "customers",
    "new_customers",
    "aov",
    "refunds",
    "refund_rate",
    "ad_spend",
    "roas",
    "cac",
    "conversion",
    "final_profit",
    "margin",
];

/// Whether every level sums to what it splits, in the unit of the explained metric, and its shares to 1.
fn levels_add_up(found: &Explanation) -> bool {
    let mut whole = found.observed - found.expected;
    found.levels.iter().all(|level| {
        let contributions = || level.iter().map(|c| c.contribution);
        let size = contributions().chain([found.expected, found.observed, 1.0]).fold(0.0, |a: f64, x| a.max(x.abs()));
        let adds_up = (contributions().sum::<f64>() - whole).abs() <= 1e-9 * size;
        let shares: f64 = level.iter().map(|c| c.share).sum();
        let shared = (shares - 1.0).abs() <= 1e-9 || level.iter().all(|c| c.share == 0.0);
        whole = level.first().map_or(0.0, |c| c.contribution);
        adds_up && shared && level.iter().all(|c| (0.0..=1.0 + 1e-9).contains(&c.share))
    })
}

fn any_value() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        5 => (0.0..1e4_f64).prop_map(Some),
        1 => (-1e4..0.0_f64).prop_map(Some),
        1 => Just(Some(0.0)),
        1 => Just(None),
        1 => proptest::num::f64::ANY.prop_map(Some),
        1 => Just(Some(1e15)),
    ]
}

fn all_finite(e: &Explanation) -> bool {
    let contribution =
        |c: &Contribution| [c.expected, c.observed, c.contribution, c.share, c.modz].iter().all(|x| x.is_finite());
    let breakdown = |b: &Breakdown| {
        b.contributions.iter().all(contribution) && (0.0..=1.0).contains(&b.confidence) && b.expected.is_finite()
    };
    let cause = |c: &Cause| [c.share, c.modz, c.expected, c.observed].iter().all(|x| x.is_finite());
    [e.expected, e.observed, e.z_score].iter().all(|x| x.is_finite())
        && e.breakdowns.iter().all(breakdown)
        && e.chain.iter().all(cause)
}

proptest! {
    #[test]
    fn any_facts_give_finite_numbers_that_add_up_or_a_reason(
        columns in proptest::collection::vec(proptest::collection::vec(any_value(), 0..60), 9),
        days in 0_usize..60,
        expected in proptest::option::of(proptest::num::f64::ANY),
    ) {
        let mut facts = Facts::new(dates(days));
        let names = ["gross_revenue", "orders", "units", "customers", "refunds", "ad_spend", "ad_clicks", "visitors", "cogs"];
        for (name, values) in names.iter().zip(&columns) {
            facts.metric(name, values.clone());
            facts.part(Part::of("country", "DE"), name, values.clone());
        }
        for metric in METRICS {
            if let Ok(found) = explain(&facts, metric, expected) {
                prop_assert!(all_finite(&found), "{found:?}");
                prop_assert!(found.breakdowns.iter().all(sums_to_the_deviation), "{found:?}");
                prop_assert!(levels_add_up(&found), "{found:?}");
            }
        }
    }

    #[test]
    fn any_split_of_a_regular_shop_adds_up(factors in [0.1..5.0_f64, 0.1..5.0, 0.1..5.0, 0.1..5.0]) {
        let found = explain(&shop(factors), "gross_revenue", None).unwrap();
        for breakdown in &found.breakdowns {
            let sum: f64 = breakdown.contributions.iter().map(|c| c.contribution).sum();
            prop_assert!((sum - (breakdown.observed - breakdown.expected)).abs() <= 1e-9);
            let shares: f64 = breakdown.contributions.iter().map(|c| c.share).sum();
            prop_assert!((shares - 1.0).abs() <= 1e-9);
        }
    }

    /// A cause is a lever or a part of the business, never a sum or a count that says the same in other words.
    #[test]
    fn no_cause_restates_what_it_explains(
        seed in 0..1_000_u64,
        changed in 0..9_usize,
        factor in prop_oneof![0.05..0.6_f64, 1.8..6.0_f64],
        measures_visits in any::<bool>(),
    ) {
        let facts = books(seed, changed, factor, measures_visits);
        let sums = ["final_profit", "operational_profit", "net_revenue", "gross_revenue", "costs_per_net_revenue",
            "costs_per_gross_revenue", "net_per_gross_revenue", "orders", "units", "new_customers", "returning_customers"];
        for metric in METRICS {
            let Ok(found) = explain(&facts, metric, None) else { continue };
            for cause in &found.chain {
                let restates = cause.part.is_none() && (sums.contains(&&*cause.metric) || cause.metric == metric);
                prop_assert!(!restates, "{metric} because of {cause:?}");
                prop_assert!(cause.share <= 1.0 + 1e-9, "{metric} because of {cause:?}");
                prop_assert!(cause.lever().is_some() || cause.part.is_some());
            }
            prop_assert!(levels_add_up(&found), "{found:#?}");
            let is_possible = found.levels.iter().flatten().all(|driver| driver.expected >= 0.0);
            prop_assert!(is_possible, "none of these figures was ever negative: {found:#?}");
            let named = found.levels.iter().zip(&found.chain).all(|(level, cause)| level[0].metric == cause.metric);
            prop_assert!(named, "the cause is the first of its level: {found:#?}");
        }
    }
}

/// A shop whose books are kept to the cent; on the last day one of its nine levers is multiplied.
fn books(seed: u64, changed: usize, factor: f64, measures_visits: bool) -> Facts {
    let lever = |k: usize, usual: f64| -> Vec<f64> {
        steady(usual, seed.wrapping_mul(31).wrapping_add(k as u64), if k == changed { factor } else { 1.0 })
    };
    let times = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a * b).collect() };
    let (visitors, conversion) = (lever(0, 2000.0), lever(1, 0.03));
    let orders: Vec<f64> = times(&visitors, &conversion).into_iter().map(f64::round).collect();
    let units = times(&orders, &lever(2, 2.0));
    let revenue = times(&units, &lever(3, 25.0));
    let mut facts = Facts::new(dates(DAYS));
    if measures_visits {
        facts.metric("visitors", known(&visitors));
    }
    let customers: Vec<f64> = orders.iter().map(|orders| (0.95 * orders).round()).collect();
    let new: Vec<f64> = customers.iter().map(|customers| (0.3 * customers).round()).collect();
    facts.metric("orders", known(&orders)).metric("units", known(&units)).metric("gross_revenue", known(&revenue));
    facts.metric("customers", known(&customers)).metric("new_customers", known(&new));
    facts
        .metric("cogs", known(&times(&revenue, &lever(4, 0.4))))
        .metric("fees", known(&times(&revenue, &lever(5, 0.03))));
    facts.metric("refunds", known(&lever(6, 90.0))).metric("ad_spend", known(&lever(7, 250.0)));
    facts.metric("shipping", known(&times(&orders, &lever(8, 4.0))));
    for (platform, share) in [("shopify", 0.7), ("mercadolibre", 0.3)] {
        let part = |all: &[f64]| known(&all.iter().map(|all| share * all).collect::<Vec<f64>>());
        facts.part(Part::of("platform", platform), "orders", part(&orders));
        facts.part(Part::of("platform", platform), "gross_revenue", part(&revenue));
    }
    facts
}

#[test]
fn a_loss_is_told_by_the_lever_whatever_costs_went_along_with_the_sales() {
    let found = explain(&books(7, 1, 0.3, true), "final_profit", None).unwrap();
    assert_eq!(path(&found).first().map(String::as_str), Some("conversion[]"), "{found:#?}");
    let level = &found.levels[0];
    assert!(level[0].share > 0.8 && level.iter().all(|c| c.share <= 1.0), "{level:#?}");
    // Goods cost less because less was sold; at what was sold they cost what they always do.
    let goods = level.iter().find(|c| c.metric == "cogs").unwrap();
    assert!(goods.share < 0.1 && (goods.observed - goods.expected).abs() < 0.2 * goods.observed, "{goods:?}");
}

#[test]
fn what_several_costs_are_measured_by_is_one_driver() {
    // On ordinary days ads and other expenses, each per sale, are opened down to the sales.
    let mut opened = 0;
    for seed in 0..20 {
        let mut facts = books(seed, usize::MAX, 1.0, true);
        facts.metric("extra_expenses", known(&steady(40.0, 70, 1.0)));
        let found = explain(&facts, "margin", None).unwrap();
        assert!(levels_add_up(&found), "{found:#?}");
        let mut drivers: Vec<_> = found.levels[0].iter().map(|driver| (&*driver.metric, &driver.part)).collect();
        opened += usize::from(drivers.iter().any(|(metric, _)| *metric == "visitors"));
        let count = drivers.len();
        drivers.sort_unstable();
        drivers.dedup();
        assert_eq!(drivers.len(), count, "{:#?}", found.levels);
    }
    assert!(opened > 0);
}

#[test]
fn a_cost_is_never_expected_to_be_negative_however_much_more_profit_is() {
    let mut facts = shop([1.0; 4]);
    let refunds: Vec<f64> = (0..DAYS).map(|i| 300.0 * noise(71, i).abs()).collect();
    facts.metric("refunds", known(&refunds)).metric("cogs", known(&steady(600.0, 72, 1.0)));
    let usual = explain(&facts, "final_profit", None).unwrap().expected;
    let found = explain(&facts, "final_profit", Some(usual + 3000.0)).unwrap();
    let split = &found.breakdowns[0];
    assert!(sums_to_the_deviation(split) && levels_add_up(&found), "{found:#?}");
    assert!(split.contributions.iter().all(|driver| driver.expected >= 0.0), "{split:#?}");
    // Half of it would be that refunds were expected at far less than nothing; the sales take that half too.
    let refunded = split.contributions.iter().find(|driver| driver.metric == "refunds").unwrap();
    assert_eq!(refunded.expected, 0.0);
    assert!((refunded.contribution + refunded.observed).abs() < 1e-6, "{refunded:?}");
}

#[test]
fn who_bought_is_no_cause_of_how_many_bought() {
    let found = explain(&books(11, 1, 0.2, false), "orders", None).unwrap();
    assert!(found.chain.iter().all(|cause| cause.metric != "customers"), "{found:#?}");
    // Of the takings it says that fewer bought, and not that they bought less; with no place to name it is all there is.
    let found = explain(&shop_without_visits(0.2), "gross_revenue", None).unwrap();
    assert_eq!(path(&found), ["customers[]"], "{found:#?}");
}

fn shop_without_visits(today: f64) -> Facts {
    let customers = steady(60.0, 21, today);
    let orders: Vec<f64> = customers.iter().zip(steady(1.1, 22, 1.0)).map(|(c, per)| c * per).collect();
    let units: Vec<f64> = orders.iter().zip(steady(2.0, 23, 1.0)).map(|(o, per)| o * per).collect();
    let revenue: Vec<f64> = units.iter().zip(steady(20.0, 24, 1.0)).map(|(u, price)| u * price).collect();
    let mut facts = Facts::new(dates(DAYS));
    facts.metric("customers", known(&customers)).metric("orders", known(&orders)).metric("units", known(&units));
    facts.metric("gross_revenue", known(&revenue));
    facts
}
