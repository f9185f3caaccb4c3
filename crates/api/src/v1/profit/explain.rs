//! How each figure of a day came about.

use std::collections::BTreeMap;

use domain::{
    money::Currency,
    profit::{
        Assumptions, Explained, Snapshot,
        explain::{self, Value},
    },
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
    let input = |(name, value): (&'static str, Value)| {
        let number = match value {
            Value::Money(amount) => JsonDecimal::money(amount, currency),
            Value::Count(count) => JsonDecimal(count.into()),
            Value::Rate(share) => JsonDecimal(share.normalize()),
            Value::Percent(percent) => JsonDecimal::percent(percent),
        };
        (name, number)
    };
    let explained = explain::day(snapshot, assumed).into_iter().map(|one| Explanation {
        figure: one.figure,
        formula: one.figure.formula(texts),
        inputs: one.inputs.into_iter().map(input).collect(),
        estimated: one.is_estimated,
    });
    explained.collect()
}
