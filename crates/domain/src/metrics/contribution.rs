//! What selling one more unit brings.

use rust_decimal::{Decimal, prelude::ToPrimitive};

use crate::daily::DayTotals;

/// What orders cost besides the goods, as it was on some days.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OrderCosts {
    /// Fees, before any were given back, in parts of gross revenue.
    pub fee_share: f64,
    /// Shipping in parts of gross revenue: what is dear carries more of a parcel that it shares with what is cheap.
    pub shipping_share: f64,
}

impl OrderCosts {
    /// Nothing where nothing was sold.
    pub fn of(days: &[DayTotals]) -> Self {
        let sum =
            |figure: fn(&DayTotals) -> Decimal| days.iter().map(figure).sum::<Decimal>().to_f64().unwrap_or_default();
        let revenue = sum(|day| day.gross_revenue);
        let share = |costs: f64| if revenue > 0.0 { costs / revenue } else { 0.0 };
        Self {
            fee_share: share(sum(|day| day.fees + day.basis.returned_fees)),
            shipping_share: share(sum(|day| day.shipping)),
        }
    }

    /// Price less unit cost, fees and shipping; below 0 where each sale costs more than it brings.
    pub fn unit_contribution(&self, price: f64, unit_cost: f64) -> f64 {
        price * (1.0 - self.fee_share - self.shipping_share) - unit_cost
    }
}

/// What is left of gross revenue after goods, fees and shipping, in parts of it; `None` without revenue, and where no cost is
/// known.
pub fn contribution_share<'a>(days: impl IntoIterator<Item = &'a DayTotals>) -> Option<f64> {
    let (gross, costs) = days.into_iter().fold((Decimal::ZERO, Decimal::ZERO), |(gross, costs), day| {
        (gross + day.gross_revenue, costs + day.order_costs())
    });
    let is_known = gross > Decimal::ZERO && costs > Decimal::ZERO;
    is_known.then(|| (gross - costs).checked_div(gross))??.to_f64()
}

/// What a unit was sold at, discounts taken off; its list price where nothing was sold.
pub fn mean_price(revenue: Decimal, units: i64, list_price: Option<Decimal>) -> Option<Decimal> {
    if units > 0 { revenue.checked_div(units.into()) } else { list_price }
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;
    use time::macros::date;

    use super::*;

    #[test]
    fn a_unit_brings_its_price_less_all_that_it_costs() {
        let day = DayTotals {
            gross_revenue: dec!(200),
            fees: dec!(10),
            shipping: dec!(30),
            units: 10,
            ..DayTotals::quiet(date!(2026 - 03 - 01))
        };
        let costs = OrderCosts::of(&[day]);
        // 20 less 5 % of fees, 15 % of shipping and 12 of cost.
        assert!((costs.unit_contribution(20.0, 12.0) - 4.0).abs() < 1e-9);
        assert!((costs.unit_contribution(10.0, 12.0) + 4.0).abs() < 1e-9);
    }

    #[test]
    fn an_accessory_does_not_carry_half_of_a_parcel() {
        // A lamp of 60 and a cable of 1 in one order: 5 % of fees and 6.10 of shipping.
        let day = DayTotals {
            gross_revenue: dec!(61),
            fees: dec!(3.05),
            shipping: dec!(6.10),
            units: 2,
            ..DayTotals::quiet(date!(2026 - 03 - 01))
        };
        assert!((OrderCosts::of(&[day]).unit_contribution(1.0, 0.1) - 0.75).abs() < 1e-9);
    }

    #[test]
    fn fees_that_were_given_back_are_not_saved_on_the_next_sale() {
        let mut day = DayTotals { gross_revenue: dec!(200), fees: dec!(4), ..DayTotals::quiet(date!(2026 - 03 - 01)) };
        day.basis.returned_fees = dec!(6);
        assert!((OrderCosts::of(&[day]).fee_share - 0.05).abs() < 1e-9);
    }

    #[test]
    fn what_is_left_of_revenue_is_known_where_sales_and_their_costs_are() {
        let day = |gross_revenue, cogs| DayTotals {
            gross_revenue,
            cogs,
            fees: cogs / dec!(10),
            ..DayTotals::quiet(date!(2026 - 03 - 01))
        };
        // 300 less 150 and 15.
        assert_eq!(contribution_share(&[day(dec!(200), dec!(100)), day(dec!(100), dec!(50))]), Some(0.45));
        assert_eq!(contribution_share(&[day(dec!(200), dec!(0))]), None);
        assert_eq!(contribution_share(&[day(dec!(0), dec!(10))]), None);
        assert_eq!(contribution_share(&[]), None);
    }

    #[test]
    fn where_nothing_was_sold_only_the_goods_cost() {
        assert_eq!(OrderCosts::of(&[]), OrderCosts::default());
        assert!((OrderCosts::default().unit_contribution(20.0, 12.0) - 8.0).abs() < 1e-9);
    }
}
