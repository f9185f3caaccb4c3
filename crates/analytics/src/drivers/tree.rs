//! The fixed tree: which metrics are derived from which, and along which identities a metric is split.

use serde::{Deserialize, Serialize};

use super::facts::Part;

/// A metric, of the whole business or of one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub metric: String,
    pub part: Option<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Derivation {
    Quotient,
    /// Of a part by the whole.
    QuotientByWhole,
    Difference,
}

/// A metric that two others determine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Derived {
    name: &'static str,
    pub of: &'static str,
    derivation: Derivation,
    pub by: &'static str,
}

impl Derived {
    /// Whether the metric is the first one where the second is unknown: what a business never had was never taken off.
    pub fn goes_without(&self) -> bool {
        self.derivation == Derivation::Difference
    }

    /// Whether the second is that of the whole business, whatever part the first is of.
    pub fn is_by_whole(&self) -> bool {
        self.derivation == Derivation::QuotientByWhole
    }

    /// `None` where a quotient has nothing to divide by.
    pub fn value(&self, of: f64, by: f64) -> Option<f64> {
        let value = match self.derivation {
            Derivation::Quotient | Derivation::QuotientByWhole if by > 0.0 => of / by,
            Derivation::Quotient | Derivation::QuotientByWhole => return None,
            Derivation::Difference => of - by,
        };
        value.is_finite().then_some(value)
    }
}

const fn quotient(name: &'static str, of: &'static str, by: &'static str) -> Derived {
    Derived { name, of, derivation: Derivation::Quotient, by }
}

const fn by_whole(name: &'static str, of: &'static str, by: &'static str) -> Derived {
    Derived { name, of, derivation: Derivation::QuotientByWhole, by }
}

const fn difference(name: &'static str, of: &'static str, by: &'static str) -> Derived {
    Derived { name, of, derivation: Derivation::Difference, by }
}

const DERIVED: &[Derived] = &[
    quotient("aov", "gross_revenue", "orders"),
    quotient("conversion", "orders", "visitors"),
    quotient("visitors_per_click", "visitors", "ad_clicks"),
    quotient("clicks_per_spend", "ad_clicks", "ad_spend"),
    quotient("orders_per_customer", "orders", "customers"),
    quotient("units_per_order", "units", "orders"),
    quotient("price_per_unit", "gross_revenue", "units"),
    quotient("refund_rate", "refunds", "gross_revenue"),
    quotient("roas", "gross_revenue", "ad_spend"),
    quotient("cac", "ad_spend", "new_customers"),
    quotient("margin", "final_profit", "net_revenue"),
    quotient("costs_per_net_revenue", "costs", "net_revenue"),
    quotient("costs_per_gross_revenue", "costs", "gross_revenue"),
    quotient("net_per_gross_revenue", "net_revenue", "gross_revenue"),
    quotient("cogs_per_unit", "cogs", "units"),
    quotient("shipping_per_order", "shipping", "orders"),
    quotient("cogs_per_gross_revenue", "cogs", "gross_revenue"),
    quotient("fees_per_gross_revenue", "fees", "gross_revenue"),
    quotient("shipping_per_gross_revenue", "shipping", "gross_revenue"),
    quotient("ad_spend_per_gross_revenue", "ad_spend", "gross_revenue"),
    quotient("extra_expenses_per_gross_revenue", "extra_expenses", "gross_revenue"),
    by_whole("orders_per_visitor_of_all", "orders", "visitors"),
    by_whole("share_of_visitors", "visitors", "visitors"),
    difference("costs", "net_revenue", "final_profit"),
    difference("returning_customers", "customers", "new_customers"),
    difference("net_revenue", "gross_revenue", "refunds"),
    difference("revenue_after_goods", "net_revenue", "cogs"),
    difference("revenue_after_fees", "revenue_after_goods", "fees"),
    difference("operational_profit", "revenue_after_fees", "shipping"),
    difference("profit_after_ads", "operational_profit", "ad_spend"),
    difference("final_profit", "profit_after_ads", "extra_expenses"),
];

/// What an owner can look at and change. What is not named here (profit, revenue, orders) is a sum or a count of such: it
/// restates a deviation and causes none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lever {
    Price,
    Traffic,
    Conversion,
    /// How many bought: known where visits are not measured.
    Customers,
    /// How much is bought at once.
    Basket,
    Refund,
    Cost,
}

/// The lever that a metric is, if it is one.
pub(super) fn lever(metric: &str) -> Option<Lever> {
    match metric {
        "price_per_unit" => Some(Lever::Price),
        "visitors" | "ad_clicks" | "visitors_per_click" | "share_of_visitors" => Some(Lever::Traffic),
        "conversion" => Some(Lever::Conversion),
        "customers" => Some(Lever::Customers),
        "units_per_order" | "orders_per_customer" | "aov" => Some(Lever::Basket),
        "refunds" | "refund_rate" => Some(Lever::Refund),
        "cogs"
        | "fees"
        | "shipping"
        | "ad_spend"
        | "extra_expenses"
        | "clicks_per_spend"
        | "cogs_per_unit"
        | "shipping_per_order"
        | "cogs_per_gross_revenue"
        | "fees_per_gross_revenue"
        | "shipping_per_gross_revenue" => Some(Lever::Cost),
        _ => None,
    }
}

/// Whether a metric, of the whole business, only says again what it is to explain: how many bought is how many orders there
/// were, and a rate of refunds is refunds.
pub(super) fn restates(metric: &str, explained: &str) -> bool {
    let counts = ["orders", "units", "customers", "new_customers", "conversion"];
    match metric {
        "customers" => counts.contains(&explained),
        "refunds" => explained == "refund_rate",
        _ => metric == explained,
    }
}

/// What the parts of a metric add up in, and the metrics that must be known by part for it. Volumes add up as they are; of a
/// conversion each part has the orders that it brought per visitor of the whole business.
pub(super) fn summed(metric: &str) -> (&str, Vec<&str>) {
    match metric {
        "conversion" => ("orders_per_visitor_of_all", vec!["orders", "visitors"]),
        volume => (volume, vec![volume]),
    }
}

/// How a metric follows from two others, if it does.
pub(super) fn derived(metric: &str) -> Option<Derived> {
    DERIVED.iter().find(|d| d.name == metric).copied()
}

/// What the ingredients of a metric are combined by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Combined {
    /// Product of powers: the ingredients' signs are exponents.
    Product,
    /// Sum: the ingredients' signs are signs.
    Sum,
}

/// metric = offset + combination of ingredients, each with the sign +1 or −1. A sum goes without the ingredients that a
/// business does not have, such as ad spend; a product needs them all.
#[derive(Debug)]
pub(super) struct Identity {
    metric: &'static str,
    pub combined: Combined,
    /// 0 but for sums of shares.
    pub offset: f64,
    pub ingredients: &'static [(&'static str, f64)],
    /// Whether it tells what a part brought to the whole: its ingredients are then those of the part, whatever was weighed
    /// of the whole.
    pub is_inward: bool,
    /// What goes with the first ingredient at a usual rate: it is told by what it departs from that rate, and the first
    /// ingredient by what is left of it at that rate (a flexible budget, as accountants say). Costs that fall because less
    /// was sold are then no gain beside the loss.
    pub flexed: &'static [Flexed],
}

/// A cost that goes with an amount, or with what is counted beside that amount: at another price as many units cost as much.
#[derive(Debug)]
pub(super) struct Flexed {
    pub cost: &'static str,
    pub counted: Option<&'static str>,
}

const fn product(metric: &'static str, ingredients: &'static [(&'static str, f64)]) -> Identity {
    Identity { metric, combined: Combined::Product, offset: 0.0, ingredients, is_inward: false, flexed: &[] }
}

const fn sum(metric: &'static str, ingredients: &'static [(&'static str, f64)]) -> Identity {
    Identity { metric, combined: Combined::Sum, offset: 0.0, ingredients, is_inward: false, flexed: &[] }
}

/// What is left of one.
const fn rest(metric: &'static str, ingredients: &'static [(&'static str, f64)]) -> Identity {
    Identity { metric, combined: Combined::Sum, offset: 1.0, ingredients, is_inward: false, flexed: &[] }
}

/// In order of preference: of several identities of a metric the first one whose ingredients are all known is used.
const IDENTITIES: &[Identity] = &[
    Identity {
        flexed: &[
            Flexed { cost: "cogs", counted: Some("units") },
            Flexed { cost: "fees", counted: None },
            Flexed { cost: "shipping", counted: Some("orders") },
        ],
        ..sum(
            "final_profit",
            &[
                ("gross_revenue", 1.0),
                ("refunds", -1.0),
                ("cogs", -1.0),
                ("fees", -1.0),
                ("shipping", -1.0),
                ("ad_spend", -1.0),
                ("extra_expenses", -1.0),
            ],
        )
    },
    // Refunds leave the costs as they are: told by costs per net revenue alone, every cost would seem to have risen.
    rest("margin", &[("costs_per_net_revenue", -1.0)]),
    product("costs_per_net_revenue", &[("costs_per_gross_revenue", 1.0), ("net_per_gross_revenue", -1.0)]),
    rest("net_per_gross_revenue", &[("refund_rate", -1.0)]),
    sum(
        "costs_per_gross_revenue",
        &[
            ("cogs_per_gross_revenue", 1.0),
            ("fees_per_gross_revenue", 1.0),
            ("shipping_per_gross_revenue", 1.0),
            ("ad_spend_per_gross_revenue", 1.0),
            ("extra_expenses_per_gross_revenue", 1.0),
        ],
    ),
    // At a lower price goods and shipping take a larger part of it without being dearer.
    product("cogs_per_gross_revenue", &[("cogs_per_unit", 1.0), ("price_per_unit", -1.0)]),
    product("shipping_per_gross_revenue", &[("shipping_per_order", 1.0), ("aov", -1.0)]),
    // These do not go with what is sold: a day that sold little shows in them without any cost being higher.
    product("ad_spend_per_gross_revenue", &[("ad_spend", 1.0), ("gross_revenue", -1.0)]),
    product("extra_expenses_per_gross_revenue", &[("extra_expenses", 1.0), ("gross_revenue", -1.0)]),
    sum("net_revenue", &[("gross_revenue", 1.0), ("refunds", -1.0)]),
    product(
        "gross_revenue",
        &[("visitors", 1.0), ("conversion", 1.0), ("units_per_order", 1.0), ("price_per_unit", 1.0)],
    ),
    product(
        "gross_revenue",
        &[("customers", 1.0), ("orders_per_customer", 1.0), ("units_per_order", 1.0), ("price_per_unit", 1.0)],
    ),
    product("gross_revenue", &[("orders", 1.0), ("units_per_order", 1.0), ("price_per_unit", 1.0)]),
    product("gross_revenue", &[("visitors", 1.0), ("conversion", 1.0), ("aov", 1.0)]),
    product("gross_revenue", &[("orders", 1.0), ("aov", 1.0)]),
    product("orders", &[("visitors", 1.0), ("conversion", 1.0)]),
    product("orders", &[("customers", 1.0), ("orders_per_customer", 1.0)]),
    product("units", &[("orders", 1.0), ("units_per_order", 1.0)]),
    product("aov", &[("units_per_order", 1.0), ("price_per_unit", 1.0)]),
    product("visitors", &[("ad_clicks", 1.0), ("visitors_per_click", 1.0)]),
    product("ad_clicks", &[("ad_spend", 1.0), ("clicks_per_spend", 1.0)]),
    product("roas", &[("gross_revenue", 1.0), ("ad_spend", -1.0)]),
    product("cac", &[("ad_spend", 1.0), ("new_customers", -1.0)]),
    Identity {
        is_inward: true,
        ..product("orders_per_visitor_of_all", &[("share_of_visitors", 1.0), ("conversion", 1.0)])
    },
    product("conversion", &[("orders", 1.0), ("visitors", -1.0)]),
    product("refund_rate", &[("refunds", 1.0), ("gross_revenue", -1.0)]),
    sum("customers", &[("new_customers", 1.0), ("returning_customers", 1.0)]),
];

/// Identities of a metric, the preferred one first.
pub(super) fn identities(metric: &str) -> impl Iterator<Item = &'static Identity> {
    IDENTITIES.iter().filter(move |identity| identity.metric == metric)
}
