//! How each figure of a day came about.

use rust_decimal::Decimal;

use super::{Assumptions, Basis, Explained, Snapshot};

/// A figure, or what went into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// In the account's currency, not rounded.
    Money(Decimal),
    Count(i64),
    /// A part of 1.
    Rate(Decimal),
    Percent(Decimal),
}

/// A figure, and what went into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    pub figure: Explained,
    /// `None` where the day does not tell it: a margin without net revenue.
    pub value: Option<Value>,
    /// The names in the [formula](Explained::formula) with their values; empty where it sums up rows of the shop.
    pub inputs: Vec<Input>,
    /// Whether a part of the figure is assumed rather than stated by the shop.
    pub is_estimated: bool,
}

/// A name and its value.
pub type Input = (&'static str, Value);

/// Explains the figures of a day, in the order in which the day lists them. Rates are those that the account assumes now.
pub fn day(snapshot: &Snapshot, assumed: &Assumptions) -> Vec<Explanation> {
    use Value::{Count, Money, Percent, Rate};
    let Snapshot { components, basis, .. } = snapshot;
    let Basis {
        goods_revenue,
        cogs_covered_revenue,
        fees_estimated_orders,
        shipping_estimated_orders,
        returned_units,
        returned_cogs,
        returned_fees,
    } = *basis;
    let gross = ("gross_revenue", Money(components.gross_revenue));
    let refunds = ("refunds", Money(components.refunds));
    let ads = ("ad_spend", Money(components.ad_spend));
    let cogs = ("cogs_estimate", Money(components.cogs_estimate));
    let fees = ("fees_estimate", Money(components.fees_estimate));
    let shipping = ("shipping_estimate", Money(components.shipping_estimate));
    let extra = ("extra_expenses", Money(components.extra_expenses));
    let net = ("net_revenue", Money(components.net_revenue()));
    let operational = ("operational_profit", Money(components.operational_profit()));
    let profit = ("final_profit", Money(components.final_profit()));
    let purchases = ("purchase_count", Count(components.purchase_count));
    let of_goods = vec![
        ("goods_revenue", Money(goods_revenue)),
        ("cogs_covered_revenue", Money(cogs_covered_revenue)),
        ("cogs_ratio", Rate(assumed.cogs_ratio)),
        ("returned_units", Count(returned_units)),
        ("returned_cogs", Money(returned_cogs)),
    ];
    let of_fees = vec![
        purchases,
        ("fees_estimated_orders", Count(fees_estimated_orders)),
        ("fee_rate", Rate(assumed.fee_rate)),
        ("fee_fixed", Money(assumed.fee_fixed)),
        ("returned_fees", Money(returned_fees)),
    ];
    let of_shipping = vec![
        purchases,
        ("shipping_estimated_orders", Count(shipping_estimated_orders)),
        ("shipping_per_order", Money(assumed.shipping_per_order)),
    ];
    let figure = |figure, (_, value): Input, inputs, is_estimated| Explanation {
        figure,
        value: Some(value),
        inputs,
        is_estimated,
    };
    let is_estimated = basis.is_estimated();
    vec![
        figure(Explained::GrossRevenue, gross, vec![purchases], false),
        figure(Explained::Refunds, refunds, vec![], false),
        figure(Explained::AdSpend, ads, vec![], false),
        figure(Explained::CogsEstimate, cogs, of_goods, basis.cogs_is_estimated()),
        figure(Explained::FeesEstimate, fees, of_fees, basis.fees_are_estimated()),
        figure(Explained::ShippingEstimate, shipping, of_shipping, basis.shipping_is_estimated()),
        figure(Explained::ExtraExpenses, extra, vec![], false),
        figure(Explained::NetRevenue, net, vec![gross, refunds], false),
        figure(Explained::OperationalProfit, operational, vec![net, cogs, fees, shipping], is_estimated),
        figure(Explained::FinalProfit, profit, vec![operational, ads, extra], is_estimated),
        Explanation {
            figure: Explained::MarginPct,
            value: components.margin_pct().map(Percent),
            inputs: vec![profit, net],
            is_estimated,
        },
        figure(Explained::PurchaseCount, purchases, vec![], false),
    ]
}

#[cfg(test)]
pub(crate) mod tests {
    use rust_decimal::dec;
    use time::macros::date;

    use super::*;
    use crate::{
        insights::grounding::{Fact, Grounds, Said},
        profit::Components,
        texts::Texts,
    };

    fn explained() -> Vec<Explanation> {
        let components =
            Components { gross_revenue: dec!(100), refunds: dec!(10), ad_spend: dec!(5), ..Components::default() };
        let basis = Basis { fees_estimated_orders: 2, ..Basis::default() };
        let snapshot = Snapshot { date: date!(2026 - 05 - 02), components, basis, lacks_rates: false };
        let assumed = Assumptions {
            fee_rate: dec!(0.029),
            fee_fixed: dec!(0.30),
            shipping_per_order: dec!(6),
            cogs_ratio: dec!(0.4),
        };
        day(&snapshot, &assumed)
    }

    /// Every formula, and what it may rest on: names of fields, and signs, are in it as they are.
    pub(crate) fn say_all(texts: &Texts) -> Vec<Said> {
        let all = explained();
        let inputs = all.iter().flat_map(|one| one.inputs.iter().map(|(name, _)| *name));
        let names: Vec<String> =
            Explained::NAMES.iter().copied().chain(inputs).chain([" * ", " > "]).map(str::to_owned).collect();
        let said = |figure: &Explained| {
            let is_percent = *figure == Explained::MarginPct;
            let facts = if is_percent { vec![Fact::count(100), Fact::count(0)] } else { Vec::new() };
            (figure.formula(texts), Grounds { facts, names: names.clone(), cause: None })
        };
        Explained::ALL.iter().map(said).collect()
    }

    #[test]
    fn every_figure_is_explained_once_by_what_went_into_it() {
        let all = explained();
        assert_eq!(all.iter().map(|one| one.figure).collect::<Vec<_>>(), Explained::ALL);
        let of = |figure| all.iter().find(|one| one.figure == figure).unwrap();
        let profit = of(Explained::FinalProfit);
        assert_eq!((profit.value, profit.is_estimated), (Some(Value::Money(dec!(85))), true));
        assert_eq!(
            of(Explained::NetRevenue).inputs,
            [("gross_revenue", Value::Money(dec!(100))), ("refunds", Value::Money(dec!(10))),]
        );
        assert_eq!(of(Explained::FeesEstimate).inputs[1], ("fees_estimated_orders", Value::Count(2)));
        assert!(!of(Explained::CogsEstimate).is_estimated);
    }
}
