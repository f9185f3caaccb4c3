//! What the rule makes of days that between them take every way through it: another rule gives another text.

use std::fmt::Write;

use rust_decimal::{Decimal, dec};

use super::{Costs, Goods, PlatformOrders, Refunded, of_day};
use crate::profit::{Assumptions, Basis};

const ASSUMED: Assumptions =
    Assumptions { fee_rate: dec!(0.031), fee_fixed: dec!(0.37), shipping_per_order: dec!(4.1), cogs_ratio: dec!(0.43) };

/// Stands for the rule. Results that were made while it gave another text were made by another rule.
pub fn golden() -> String {
    let mut text = String::new();
    for case in 0..64 {
        let Costs { cogs, fees, shipping, basis } = of_day(&orders(case), &goods(case), &ASSUMED);
        let Basis {
            goods_revenue,
            cogs_covered_revenue,
            fees_estimated_orders,
            shipping_estimated_orders,
            returned_units,
            returned_cogs,
            returned_fees,
        } = basis;
        let _ = write!(
            text,
            "{cogs} {fees} {shipping} {goods_revenue} {cogs_covered_revenue} {fees_estimated_orders} \
             {shipping_estimated_orders} {returned_units} {returned_cogs} {returned_fees};"
        );
    }
    text
}

/// Whether a bit of the number of the case is set, and an amount of its own for it.
fn amount(case: i64, bit: u32) -> Option<Decimal> {
    (case >> bit & 1 == 1).then(|| Decimal::new(1_013 + 17 * case + 131 * i64::from(bit), 2))
}

fn orders(case: i64) -> [PlatformOrders; 3] {
    let stated = PlatformOrders {
        stated_fees: dec!(3.3),
        stated_fees_revenue: amount(case, 0).unwrap_or_default(),
        unstated_fees_revenue: dec!(71.3),
        unstated_fees_orders: 3,
        stated_shipping: amount(case, 1).unwrap_or_default(),
        unstated_shipping_orders: case % 5,
        refunded: refunded(case),
        returns_fees: case % 2 == 0,
    };
    let free = PlatformOrders { unstated_shipping_orders: 1, ..PlatformOrders::default() };
    let of_a_trifle = PlatformOrders {
        stated_fees: dec!(9.1),
        stated_fees_revenue: dec!(7.3),
        refunded: refunded(case + 1),
        returns_fees: true,
        ..PlatformOrders::default()
    };
    [stated, free, of_a_trifle]
}

/// Documents that name their order and others, over more units than were ordered and over fewer.
fn refunded(case: i64) -> Vec<Refunded> {
    let units = case % 7 - 1;
    let line = Refunded {
        names_order: case % 3 == 0,
        units,
        amount: Decimal::new(773 * units, 2),
        ordered_units: case % 4,
        category: amount(case, 5).map(|_| "of its own".to_owned()),
        ..Refunded::default()
    };
    let known = Refunded {
        cost_of_the_day: amount(case, 2),
        later_cost: amount(case, 3),
        catalogue_cost: amount(case, 4),
        ..line.clone()
    };
    vec![line, known]
}

fn goods(case: i64) -> [Goods; 3] {
    let category = amount(case, 5).map(|_| "of its own".to_owned());
    let [cost_of_the_day, later_cost, catalogue_cost] = [2, 3, 4].map(|bit| amount(case, bit));
    let known = Goods { category: category.clone(), revenue: dec!(37.7), cost_of_the_day, later_cost, catalogue_cost };
    let unknown = Goods { category, revenue: dec!(11.9), ..Goods::default() };
    let other = Goods { category: Some("other".to_owned()), revenue: dec!(5.3), ..Goods::default() };
    [known, unknown, other]
}
