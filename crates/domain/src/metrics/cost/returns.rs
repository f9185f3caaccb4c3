//! What comes back with refunds and cancellations: goods, and fees where the platform returns them.
//!
//! Money given back does not say that goods came back. Units count as come back where the document says which order it
//! takes back, or where the same customer ordered the product on the same day: that is a cancellation, nothing was used.
//! A return of what was bought earlier, by a document that does not name the order, gives back money alone.

use rust_decimal::Decimal;

use super::{Goods, quotient};

/// What the documents of one kind, dated on one day, take back of a product from a customer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refunded {
    /// The documents name the order that they take back.
    pub names_order: bool,
    /// Units that the documents take back; below 0 where they take more cancellations back than they make.
    pub units: i64,
    /// The money for these units.
    pub amount: Decimal,
    /// Units of the product that the same customer ordered on the same day.
    pub ordered_units: i64,
    pub category: Option<String>,
    /// Unit costs by where they are known from, as in [`Goods`].
    pub cost_of_the_day: Option<Decimal>,
    pub later_cost: Option<Decimal>,
    pub catalogue_cost: Option<Decimal>,
}

impl Refunded {
    /// Units that came back: none, or at most as many as the documents take back.
    pub fn returned_units(&self) -> i64 {
        let most = if self.names_order { i64::MAX } else { self.ordered_units };
        self.units.min(most).max(0)
    }

    /// The units that came back, with the money given back for them as their revenue.
    pub(super) fn goods(&self) -> Goods {
        let units = Decimal::from(self.returned_units());
        let revenue = quotient(self.amount.max(Decimal::ZERO).saturating_mul(units), self.units.into());
        let cost = |unit_cost: Option<Decimal>| unit_cost.map(|unit_cost| unit_cost.saturating_mul(units));
        Goods {
            category: self.category.clone(),
            revenue: revenue.unwrap_or_default(),
            cost_of_the_day: cost(self.cost_of_the_day),
            later_cost: cost(self.later_cost),
            catalogue_cost: cost(self.catalogue_cost),
        }
    }
}
