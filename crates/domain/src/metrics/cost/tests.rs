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

#[test]
fn what_is_too_large_is_cut_and_does_not_panic() {
    let huge = PlatformOrders {
        stated_fees: Decimal::MAX,
        stated_fees_revenue: dec!(0.000001),
        unstated_fees_revenue: Decimal::MAX,
        unstated_fees_orders: i64::MAX,
        stated_shipping: Decimal::MAX,
        unstated_shipping_orders: 1,
    };
    let goods = [goods(Some("a"), dec!(0.000001), Some(Decimal::MAX)), goods(Some("a"), Decimal::MAX, None)];
    let costs = of_day(&[huge], &goods, &ASSUMED);
    assert_eq!((costs.fees, costs.shipping, costs.cogs), (Decimal::MAX, Decimal::MAX, Decimal::MAX));
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
}
