//! A suggestion in words.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The numbers that a suggestion came from. Units are those of the item, days whole ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Basis {
    pub on_hand: i64,
    pub on_order: i64,
    pub lead_time_days: i64,
    pub review_days: i64,
    /// Units expected to sell per day over lead time and review period.
    pub daily_demand: f64,
    /// Units expected to sell over lead time and review period.
    pub expected_demand: f64,
    /// What the order-up-to level holds beyond the expected demand; below 0 where half of the cases are to be covered.
    pub safety_stock: f64,
    /// Order when what is on hand and on order falls to this.
    pub reorder_point: i64,
    /// Units to have on hand and on order after ordering.
    pub order_up_to: i64,
    /// Probability, 0 to 1, aimed at that `order_up_to` covers lead time and review period.
    pub service_level: f64,
    pub pack_size: i64,
    pub min_order_qty: i64,
}

/// A suggestion in words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reason<'a> {
    pub quantity: i64,
    /// Probability, 0 to 1, that `order_up_to` covers the demand, as measured.
    pub confidence: f64,
    pub basis: &'a Basis,
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quantity, confidence, basis } = self;
        let Basis { daily_demand, on_hand, on_order, lead_time_days, review_days, .. } = basis;
        let daily = if *daily_demand >= 10.0 { format!("{daily_demand:.0}") } else { format!("{daily_demand:.1}") };
        write!(f, "Sells about {daily} a day; {on_hand} in stock")?;
        if *on_order > 0 {
            write!(f, " and {on_order} on order")?;
        }
        write!(
            f,
            ". Until an order placed {review_days} days from now would arrive ({lead_time_days} days later) about {:.0} \
             are expected to sell, and {} cover it with a probability of {:.0} %. Order {quantity}",
            basis.expected_demand,
            basis.order_up_to,
            100.0 * confidence,
        )?;
        match (basis.pack_size > 1, basis.min_order_qty > 1) {
            (true, true) => write!(f, " (packs of {}, at least {}).", basis.pack_size, basis.min_order_qty),
            (true, false) => write!(f, " (packs of {}).", basis.pack_size),
            (false, true) => write!(f, " (at least {}).", basis.min_order_qty),
            (false, false) => f.write_str("."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Basis, Reason};

    const PLAIN: Basis = Basis {
        daily_demand: 3.42,
        on_hand: 20,
        on_order: 0,
        lead_time_days: 14,
        review_days: 7,
        expected_demand: 71.8,
        safety_stock: 24.2,
        reorder_point: 70,
        order_up_to: 96,
        service_level: 0.95,
        pack_size: 1,
        min_order_qty: 1,
    };

    fn reason(basis: &Basis) -> String {
        Reason { quantity: 76, confidence: 0.92, basis }.to_string()
    }

    #[test]
    fn a_reason_names_the_numbers_it_used() {
        assert_eq!(
            reason(&PLAIN),
            "Sells about 3.4 a day; 20 in stock. Until an order placed 7 days from now would arrive (14 days later) about \
             72 are expected to sell, and 96 cover it with a probability of 92 %. Order 76."
        );
    }

    #[test]
    fn what_is_on_order_and_how_it_is_packed_is_said() {
        let reason = reason(&Basis { on_order: 10, pack_size: 12, min_order_qty: 24, daily_demand: 12.6, ..PLAIN });
        assert!(reason.starts_with("Sells about 13 a day; 20 in stock and 10 on order."), "{reason}");
        assert!(reason.ends_with("Order 76 (packs of 12, at least 24)."), "{reason}");
    }
}
