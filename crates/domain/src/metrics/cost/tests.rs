use proptest::prelude::*;
use rstest::rstest;
use rust_decimal::dec;

use super::*;

const ASSUMED: Assumptions =
    Assumptions { fee_rate: dec!(0.03), fee_fixed: dec!(0.30), shipping_per_order: dec!(4), cogs_ratio: dec!(0.5) };

fn goods(category: Option<&str>, revenue: Decimal, cost: Option<Decimal>) -> Goods {
    Goods { category: category.map(str::to_owned), revenue, cost_of_the_day: cost, ..Goods::default() }
}

fn cogs(goods: &[Goods]) -> (Decimal, Decimal) {
    let costs = of_day(&[], goods, &ASSUMED);
    (costs.cogs, costs.basis.cogs_covered_revenue)
}

fn fees(orders: &PlatformOrders) -> Decimal {
    of_day(std::slice::from_ref(orders), &[], &ASSUMED).fees
}

#[test]
fn a_day_without_anything_costs_nothing() {
    assert_eq!(of_day(&[], &[], &ASSUMED), Costs::default());
}

#[rstest]
#[case(Some(dec!(3)), Some(dec!(4)), Some(dec!(5)), dec!(3))]
#[case(None, Some(dec!(4)), Some(dec!(5)), dec!(4))]
#[case(None, None, Some(dec!(5)), dec!(5))]
#[case(None, None, None, dec!(30))]
fn the_cost_of_the_day_goes_before_a_later_one_and_that_before_the_catalogue(
    #[case] cost_of_the_day: Option<Decimal>,
    #[case] later_cost: Option<Decimal>,
    #[case] catalogue_cost: Option<Decimal>,
    #[case] expected: Decimal,
) {
    let goods = Goods { category: None, revenue: dec!(60), cost_of_the_day, later_cost, catalogue_cost };
    let covered = if cost_of_the_day.or(later_cost).or(catalogue_cost).is_some() { dec!(60) } else { dec!(0) };
    assert_eq!(cogs(&[goods]), (expected, covered));
}

#[test]
fn goods_without_a_cost_cost_what_those_of_their_category_do() {
    // Mugs cost 30 of 60 and 6 of 20: 0.45. A hat has the account's 0.5, and so have goods without a category.
    let mugs = [goods(Some("mugs"), dec!(60), Some(dec!(30))), goods(Some("mugs"), dec!(20), Some(dec!(6)))];
    let others = [goods(Some("mugs"), dec!(10), None), goods(Some("hats"), dec!(8), None), goods(None, dec!(2), None)];
    assert_eq!(cogs(&[mugs, [others[0].clone(), others[1].clone()]].concat()), (dec!(44.5), dec!(80)));
    assert_eq!(cogs(&others), (dec!(10), dec!(0)));
    // Given away, they say nothing about what others of the category cost.
    let given_away = goods(Some("hats"), dec!(0), Some(dec!(7)));
    assert_eq!(cogs(&[given_away, others[1].clone()]), (dec!(11), dec!(0)));
    assert_eq!(cogs(&[goods(None, dec!(4), Some(dec!(1))), others[2].clone()]), (dec!(2), dec!(4)));
}

#[test]
fn fees_are_those_stated_then_those_of_the_platform_then_those_assumed() {
    let unstated =
        PlatformOrders { unstated_fees_revenue: dec!(50), unstated_fees_orders: 2, ..PlatformOrders::default() };
    assert_eq!(fees(&unstated), dec!(2.1), "50 × 0.03 + 2 × 0.30");
    let stated = PlatformOrders { stated_fees: dec!(4.40), stated_fees_revenue: dec!(88), ..PlatformOrders::default() };
    assert_eq!(fees(&stated), dec!(4.4));
    let both = PlatformOrders { unstated_fees_revenue: dec!(20), unstated_fees_orders: 1, ..stated };
    assert_eq!(fees(&both), dec!(5.4), "4.40, and 5 % of 20");
    let few = PlatformOrders { stated_fees: dec!(0.33), stated_fees_revenue: dec!(1), ..unstated.clone() };
    assert_eq!(fees(&few), dec!(2.43), "0.33, and of the others 2.10: 33 % of one order are not theirs");
    let of_nothing = PlatformOrders { stated_fees: dec!(1), ..unstated };
    assert_eq!(fees(&of_nothing), dec!(3.1), "orders of nothing tell no rate");
}

#[test]
fn every_order_without_stated_shipping_costs_what_is_assumed() {
    let orders =
        PlatformOrders { stated_shipping: dec!(7.5), unstated_shipping_orders: 2, ..PlatformOrders::default() };
    let costs = of_day(&[orders.clone(), orders], &[], &ASSUMED);
    assert_eq!((costs.shipping, costs.basis.shipping_estimated_orders), (dec!(31), 4));
}

/// Six units of 10 are taken back from a customer who ordered four of them on the same day; a unit costs 3.
fn cancellation() -> Refunded {
    Refunded { units: 6, amount: dec!(60), ordered_units: 4, cost_of_the_day: Some(dec!(3)), ..Refunded::default() }
}

fn returned(returns_fees: bool, refunded: &Refunded) -> Costs {
    of_day(
        &[PlatformOrders { refunded: vec![refunded.clone()], returns_fees, ..PlatformOrders::default() }],
        &[],
        &ASSUMED,
    )
}

#[rstest]
#[case::what_was_ordered_that_day(cancellation(), 4, dec!(12))]
#[case::all_of_an_order_that_is_named(Refunded { names_order: true, ..cancellation() }, 6, dec!(18))]
#[case::fewer_than_were_ordered(Refunded { ordered_units: 9, ..cancellation() }, 6, dec!(18))]
#[case::nothing_of_an_earlier_purchase(Refunded { ordered_units: 0, ..cancellation() }, 0, dec!(0))]
#[case::nothing_by_a_cancellation_taken_back(Refunded { units: -6, amount: dec!(-60), names_order: true, ..cancellation() }, 0, dec!(0))]
#[case::at_a_ratio_where_no_cost_is_known(Refunded { cost_of_the_day: None, ..cancellation() }, 4, dec!(20))]
fn goods_that_came_back_take_their_cost_back(#[case] refunded: Refunded, #[case] units: i64, #[case] cost: Decimal) {
    let Costs { cogs, fees, basis, .. } = returned(false, &refunded);
    assert_eq!((basis.returned_units, basis.returned_cogs, cogs), (units, cost, -cost));
    assert_eq!((fees, basis.returned_fees), (dec!(0), dec!(0)), "the platform keeps its fees");
    assert_eq!(basis.is_estimated(), units > 0);
}

#[test]
fn an_order_cancelled_on_its_day_leaves_no_loss() {
    // 6 at 10 without a known cost, ordered and cancelled: neither goods nor fees are left of them.
    let sold = [goods(Some("mugs"), dec!(60), None)];
    let refunded = Refunded {
        units: 6,
        amount: dec!(60),
        ordered_units: 6,
        category: Some("mugs".to_owned()),
        ..Refunded::default()
    };
    let orders = PlatformOrders {
        stated_fees: dec!(3),
        stated_fees_revenue: dec!(60),
        refunded: vec![refunded],
        returns_fees: true,
        ..PlatformOrders::default()
    };
    let costs = of_day(std::slice::from_ref(&orders), &sold, &ASSUMED);
    assert_eq!((costs.cogs, costs.fees), (dec!(0), dec!(0)));
    assert_eq!((costs.basis.returned_cogs, costs.basis.returned_fees), (dec!(30), dec!(3)));
    let kept = of_day(&[PlatformOrders { returns_fees: false, ..orders }], &sold, &ASSUMED);
    assert_eq!((kept.cogs, kept.fees, kept.basis.returned_fees), (dec!(0), dec!(3), dec!(0)));
}

#[test]
fn fees_come_back_at_the_rate_of_the_day_else_the_accounts_without_the_fixed_part() {
    let orders = PlatformOrders { returns_fees: true, refunded: vec![cancellation()], ..PlatformOrders::default() };
    assert_eq!(fees(&orders), dec!(-1.2), "3 % of the 40 for what came back");
    let stated = PlatformOrders { stated_fees: dec!(10), stated_fees_revenue: dec!(100), ..orders };
    assert_eq!(fees(&stated), dec!(6), "10, less 10 % of 40");
    let of_a_trifle = PlatformOrders { stated_fees: dec!(12), stated_fees_revenue: dec!(5), ..stated };
    assert_eq!(fees(&of_a_trifle), dec!(-28), "12, less 40 and not 240 %");
}

#[test]
fn what_is_too_large_is_cut_and_does_not_panic() {
    let huge = PlatformOrders {
        stated_fees: Decimal::MAX,
        stated_fees_revenue: dec!(0.000001),
        unstated_fees_revenue: Decimal::MAX,
        unstated_fees_orders: i64::MAX,
        stated_shipping: Decimal::MAX,
        unstated_shipping_orders: 1,
        ..PlatformOrders::default()
    };
    let goods = [goods(Some("a"), dec!(0.000001), Some(Decimal::MAX)), goods(Some("a"), Decimal::MAX, None)];
    let costs = of_day(&[huge], &goods, &ASSUMED);
    let largest = dec!(1_000_000_000_000_000);
    assert_eq!((costs.fees, costs.shipping, costs.cogs), (largest, largest, largest));
    let all = Refunded { names_order: true, units: i64::MAX, cost_of_the_day: Some(Decimal::MAX), ..cancellation() };
    assert_eq!(returned(false, &all).cogs, -largest);
}

#[test]
fn the_golden_text_tells_rules_apart() {
    let text = golden();
    assert_eq!(text, golden());
    let days: std::collections::BTreeSet<&str> = text.split_terminator(';').collect();
    assert!(days.len() > 40, "{} different days of 64", days.len());
}

fn cents() -> impl Strategy<Value = Decimal> {
    (0i64..1_000_000).prop_map(|cents| Decimal::new(cents, 2))
}

fn any_goods() -> impl Strategy<Value = Goods> {
    (0usize..4, cents(), [0, 1, 2].map(|_| proptest::option::of(cents()))).prop_map(|(category, revenue, costs)| {
        let [cost_of_the_day, later_cost, catalogue_cost] = costs;
        let category = ["a", "b", "c"].get(category).map(|name| (*name).to_owned());
        Goods { category, revenue, cost_of_the_day, later_cost, catalogue_cost }
    })
}

fn any_orders() -> impl Strategy<Value = PlatformOrders> {
    ([0, 1, 2, 3].map(|_| cents()), 0i64..5, 0i64..5).prop_map(|([a, b, c, d], unstated_fees_orders, unstated)| {
        PlatformOrders {
            stated_fees: a,
            stated_fees_revenue: b,
            unstated_fees_revenue: if unstated_fees_orders == 0 { Decimal::ZERO } else { c },
            unstated_fees_orders,
            stated_shipping: d,
            unstated_shipping_orders: unstated,
            ..PlatformOrders::default()
        }
    })
}

fn any_refunded() -> impl Strategy<Value = Refunded> {
    let numbers = (any::<bool>(), -3i64..20, 0i64..20, cents(), 0usize..4);
    (numbers, [0, 1, 2].map(|_| proptest::option::of(cents()))).prop_map(|(numbers, costs)| {
        let (names_order, units, ordered_units, price, category) = numbers;
        let [cost_of_the_day, later_cost, catalogue_cost] = costs;
        Refunded {
            names_order,
            units,
            amount: price * Decimal::from(units),
            ordered_units,
            category: ["a", "b", "c"].get(category).map(|name| (*name).to_owned()),
            cost_of_the_day,
            later_cost,
            catalogue_cost,
        }
    })
}

proptest! {
    #[test]
    fn what_is_stated_is_never_estimated_away(
        orders in proptest::collection::vec(any_orders(), 0..4), goods in proptest::collection::vec(any_goods(), 0..12),
    ) {
        let costs = of_day(&orders, &goods, &ASSUMED);
        prop_assert!(costs.fees >= orders.iter().map(|platform| platform.stated_fees).sum());
        prop_assert!(costs.shipping >= orders.iter().map(|platform| platform.stated_shipping).sum());
        prop_assert!(costs.cogs >= goods.iter().filter_map(Goods::known_cost).sum());
        prop_assert_eq!(costs.basis.goods_revenue, goods.iter().map(|goods| goods.revenue).sum());
        prop_assert!(costs.basis.cogs_covered_revenue <= costs.basis.goods_revenue);
        // Where everything is stated nothing rests on what the account assumes.
        let other = Assumptions { fee_rate: dec!(9), fee_fixed: dec!(9), shipping_per_order: dec!(9), cogs_ratio: dec!(9) };
        if !costs.basis.is_estimated() {
            prop_assert_eq!(of_day(&orders, &goods, &other), costs);
        }
    }

    #[test]
    fn neither_the_order_of_the_facts_nor_one_of_nothing_matters(
        mut goods in proptest::collection::vec(any_goods(), 0..12), turn in 0usize..12,
    ) {
        let whole = of_day(&[], &goods, &ASSUMED);
        if !goods.is_empty() {
            let middle = turn % goods.len();
            goods.rotate_left(middle);
            let nothing = |cost: Option<Decimal>| cost.map(|_| Decimal::ZERO);
            let first = goods[0].clone();
            goods.push(Goods {
                revenue: Decimal::ZERO,
                cost_of_the_day: nothing(first.cost_of_the_day),
                later_cost: nothing(first.later_cost),
                catalogue_cost: nothing(first.catalogue_cost),
                ..first
            });
        }
        prop_assert_eq!(of_day(&[], &goods, &ASSUMED), whole);
    }

    #[test]
    fn what_came_back_is_taken_off_and_nothing_else_changes(
        orders in any_orders(), goods in proptest::collection::vec(any_goods(), 0..6),
        refunded in proptest::collection::vec(any_refunded(), 0..6), returns_fees: bool,
    ) {
        let sold = of_day(std::slice::from_ref(&orders), &goods, &ASSUMED);
        let with = PlatformOrders { refunded: refunded.clone(), returns_fees, ..orders };
        let Costs { cogs, fees, shipping, basis } = of_day(&[with], &goods, &ASSUMED);
        prop_assert!(basis.returned_cogs >= Decimal::ZERO && basis.returned_fees >= Decimal::ZERO);
        prop_assert_eq!((cogs, fees, shipping), (sold.cogs - basis.returned_cogs, sold.fees - basis.returned_fees, sold.shipping));
        prop_assert!(returns_fees || basis.returned_fees.is_zero());
        let most: i64 = refunded.iter().map(|line| line.units.max(0)).sum();
        prop_assert!((0..=most).contains(&basis.returned_units));
        prop_assert!(basis.returned_units > 0 || basis.returned_cogs.is_zero());
        let expected = Basis { returned_units: basis.returned_units, returned_cogs: basis.returned_cogs,
            returned_fees: basis.returned_fees, ..sold.basis };
        prop_assert_eq!(basis, expected);
    }
}
