//! The way from gross revenue to final profit.

use rust_decimal::Decimal;

use super::{Components, Explained};

/// A step of the way, in the account's currency, not rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub figure: Explained,
    /// 0 for a sum; for a cost, what was left before it.
    pub from: Decimal,
    /// What is left; below 0 where costs exceed what came in.
    pub to: Decimal,
}

impl Step {
    const fn sum(figure: Explained, sum: Decimal) -> Self {
        Self { figure, from: Decimal::ZERO, to: sum }
    }

    fn cost(figure: Explained, left: Decimal, cost: Decimal) -> Self {
        Self { figure, from: left, to: left - cost }
    }

    /// The figure's value; of a cost, what it takes away.
    pub fn amount(&self) -> Decimal {
        if self.is_cost() { self.from - self.to } else { self.to }
    }

    /// Whether the step takes away from what was left, rather than saying what that is.
    pub const fn is_cost(&self) -> bool {
        !matches!(
            self.figure,
            Explained::GrossRevenue | Explained::NetRevenue | Explained::OperationalProfit | Explained::FinalProfit
        )
    }
}

/// From gross revenue by way of net revenue and operational profit to final profit. Every cost begins where the step before it
/// ends, and every sum after them is what they leave.
pub fn steps(components: &Components) -> [Step; 10] {
    let Components {
        gross_revenue,
        refunds,
        ad_spend,
        cogs_estimate,
        fees_estimate,
        shipping_estimate,
        extra_expenses,
        purchase_count: _,
    } = *components;
    let (net, operational) = (components.net_revenue(), components.operational_profit());
    let goods = Step::cost(Explained::CogsEstimate, net, cogs_estimate);
    let fees = Step::cost(Explained::FeesEstimate, goods.to, fees_estimate);
    [
        Step::sum(Explained::GrossRevenue, gross_revenue),
        Step::cost(Explained::Refunds, gross_revenue, refunds),
        Step::sum(Explained::NetRevenue, net),
        goods,
        fees,
        Step::cost(Explained::ShippingEstimate, fees.to, shipping_estimate),
        Step::sum(Explained::OperationalProfit, operational),
        Step::cost(Explained::AdSpend, operational, ad_spend),
        Step::cost(Explained::ExtraExpenses, components.profit_after_ads(), extra_expenses),
        Step::sum(Explained::FinalProfit, components.final_profit()),
    ]
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;

    use super::*;

    #[test]
    fn every_step_begins_where_the_one_before_it_ends() {
        let components = Components {
            gross_revenue: dec!(1000),
            refunds: dec!(100),
            ad_spend: dec!(450),
            cogs_estimate: dec!(400),
            fees_estimate: dec!(29),
            shipping_estimate: dec!(50),
            extra_expenses: dec!(31),
            purchase_count: 8,
        };
        let steps = steps(&components);
        let ends = steps.map(|step| (step.from, step.to));
        let expected = [
            (dec!(0), dec!(1000)),
            (dec!(1000), dec!(900)),
            (dec!(0), dec!(900)),
            (dec!(900), dec!(500)),
            (dec!(500), dec!(471)),
            (dec!(471), dec!(421)),
            (dec!(0), dec!(421)),
            (dec!(421), dec!(-29)),
            (dec!(-29), dec!(-60)),
            (dec!(0), dec!(-60)),
        ];
        assert_eq!(ends, expected);
        let costs: Vec<_> = steps.iter().filter(|step| step.is_cost()).map(Step::amount).collect();
        assert_eq!(costs, [dec!(100), dec!(400), dec!(29), dec!(50), dec!(450), dec!(31)]);
        let sums: Vec<_> = steps.iter().filter(|step| !step.is_cost()).map(Step::amount).collect();
        assert_eq!(sums, [dec!(1000), dec!(900), dec!(421), dec!(-60)]);
    }
}
