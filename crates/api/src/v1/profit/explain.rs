//! How each figure of a day came about.

use std::collections::BTreeMap;

use domain::{
    money::Currency,
    profit::{Assumptions, Basis, Components, Explained, Snapshot},
    texts::Texts,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::respond::JsonDecimal;

/// A figure, the formula it follows from, and what went into it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ProfitExplanation)]
pub struct Explanation {
    #[schema(value_type = String, example = "net_revenue")]
    figure: Explained,
    #[schema(example = "gross_revenue - refunds")]
    formula: String,
    /// The names in the formula with their values; empty where it sums up rows of the shop.
    #[schema(value_type = BTreeMap<String, f64>, example = json!({"gross_revenue": 1530.00, "refunds": 45.90}))]
    inputs: BTreeMap<&'static str, JsonDecimal>,
    /// Whether a part of the figure is assumed rather than stated by the shop.
    #[schema(example = false)]
    estimated: bool,
}

/// Explains the figures of a day, in the order in which the day lists them. Rates are those that the account assumes now.
pub fn day(snapshot: &Snapshot, assumed: &Assumptions, currency: Currency, texts: &Texts) -> Vec<Explanation> {
    let Snapshot { components, basis, .. } = snapshot;
    let money = |amount| JsonDecimal::money(amount, currency);
    let Basis {
        goods_revenue,
        cogs_covered_revenue,
        fees_estimated_orders,
        shipping_estimated_orders,
        returned_units,
        returned_cogs,
        returned_fees,
    } = *basis;
    let Assumptions { fee_rate, fee_fixed, shipping_per_order, cogs_ratio } = *assumed;
    let [gross, refunds, ads, cogs, fees, shipping, extra] = named(components, currency);
    let net = ("net_revenue", money(components.net_revenue()));
    let operational = ("operational_profit", money(components.operational_profit()));
    let profit = ("final_profit", money(components.final_profit()));
    let covered = ("cogs_covered_revenue", money(cogs_covered_revenue));
    let without_fees = ("fees_estimated_orders", count(fees_estimated_orders));
    let without_shipping = ("shipping_estimated_orders", count(shipping_estimated_orders));
    let [returned_units, returned_cogs] =
        [("returned_units", count(returned_units)), ("returned_cogs", money(returned_cogs))];
    let returned_fees = ("returned_fees", money(returned_fees));
    let purchases = ("purchase_count", count(components.purchase_count));
    let [fee_rate, cogs_ratio] = [("fee_rate", fee_rate), ("cogs_ratio", cogs_ratio)].map(|(n, r)| (n, rate(r)));
    let [fee_fixed, per_order] =
        [("fee_fixed", fee_fixed), ("shipping_per_order", shipping_per_order)].map(|(n, a)| (n, money(a)));
    vec![
        figure(Explained::GrossRevenue, texts, [purchases]),
        figure(Explained::Refunds, texts, []),
        figure(Explained::AdSpend, texts, []),
        figure(
            Explained::CogsEstimate,
            texts,
            [("goods_revenue", money(goods_revenue)), covered, cogs_ratio, returned_units, returned_cogs],
        )
        .estimated(basis.cogs_is_estimated()),
        figure(Explained::FeesEstimate, texts, [purchases, without_fees, fee_rate, fee_fixed, returned_fees])
            .estimated(basis.fees_are_estimated()),
        figure(Explained::ShippingEstimate, texts, [purchases, without_shipping, per_order])
            .estimated(basis.shipping_is_estimated()),
        figure(Explained::ExtraExpenses, texts, []),
        figure(Explained::NetRevenue, texts, [gross, refunds]),
        figure(Explained::OperationalProfit, texts, [net, cogs, fees, shipping]).estimated(basis.is_estimated()),
        figure(Explained::FinalProfit, texts, [operational, ads, extra]).estimated(basis.is_estimated()),
        figure(Explained::MarginPct, texts, [profit, net]).estimated(basis.is_estimated()),
        figure(Explained::PurchaseCount, texts, []),
    ]
}

impl Explanation {
    fn estimated(self, estimated: bool) -> Self {
        Self { estimated, ..self }
    }
}

/// A name and its value.
type Input = (&'static str, JsonDecimal);

/// The sums among the components, by the names that a day gives them.
fn named(components: &Components, currency: Currency) -> [Input; 7] {
    [
        ("gross_revenue", components.gross_revenue),
        ("refunds", components.refunds),
        ("ad_spend", components.ad_spend),
        ("cogs_estimate", components.cogs_estimate),
        ("fees_estimate", components.fees_estimate),
        ("shipping_estimate", components.shipping_estimate),
        ("extra_expenses", components.extra_expenses),
    ]
    .map(|(name, amount)| (name, JsonDecimal::money(amount, currency)))
}

fn figure<const N: usize>(figure: Explained, texts: &Texts, inputs: [Input; N]) -> Explanation {
    Explanation { figure, formula: figure.formula(texts), inputs: inputs.into_iter().collect(), estimated: false }
}

fn count(number: i64) -> JsonDecimal {
    JsonDecimal(number.into())
}

fn rate(share: rust_decimal::Decimal) -> JsonDecimal {
    JsonDecimal(share.normalize())
}
