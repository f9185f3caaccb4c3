//! A suggestion in words.

use std::fmt;

/// The numbers that a suggestion came from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reason {
    pub quantity: i64,
    /// Units expected to sell per day.
    pub daily_demand: f64,
    pub on_hand: i64,
    pub on_order: i64,
    pub lead_time_days: i64,
    pub review_days: i64,
    /// Units expected to sell over lead time and review period.
    pub expected_demand: f64,
    /// Units that cover that demand with the probability `confidence`.
    pub order_up_to: i64,
    pub confidence: f64,
    pub pack_size: i64,
    pub min_order_qty: i64,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quantity, daily_demand, on_hand, on_order, lead_time_days, review_days, .. } = self;
        let daily = if *daily_demand >= 10.0 { format!("{daily_demand:.0}") } else { format!("{daily_demand:.1}") };
        write!(f, "Sells about {daily} a day; {on_hand} in stock")?;
        if *on_order > 0 {
            write!(f, " and {on_order} on order")?;
        }
        write!(
            f,
            ". Until an order placed {review_days} days from now would arrive ({lead_time_days} days later) about {:.0} \
             are expected to sell, and {} cover it with a probability of {:.0} %. Order {quantity}",
            self.expected_demand,
            self.order_up_to,
            100.0 * self.confidence,
        )?;
        match (self.pack_size > 1, self.min_order_qty > 1) {
            (true, true) => write!(f, " (packs of {}, at least {}).", self.pack_size, self.min_order_qty),
            (true, false) => write!(f, " (packs of {}).", self.pack_size),
            (false, true) => write!(f, " (at least {}).", self.min_order_qty),
            (false, false) => f.write_str("."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Reason;

    const PLAIN: Reason = Reason {
        quantity: 76,
        daily_demand: 3.42,
        on_hand: 20,
        on_order: 0,
        lead_time_days: 14,
        review_days: 7,
        expected_demand: 71.8,
        order_up_to: 96,
        confidence: 0.92,
        pack_size: 1,
        min_order_qty: 1,
    };

    #[test]
    fn a_reason_names_the_numbers_it_used() {
        assert_eq!(
            PLAIN.to_string(),
            "Sells about 3.4 a day; 20 in stock. Until an order placed 7 days from now would arrive (14 days later) about \
             72 are expected to sell, and 96 cover it with a probability of 92 %. Order 76."
        );
    }

    #[test]
    fn what_is_on_order_and_how_it_is_packed_is_said() {
        let reason = Reason { on_order: 10, pack_size: 12, min_order_qty: 24, daily_demand: 12.6, ..PLAIN }.to_string();
        assert!(reason.starts_with("Sells about 13 a day; 20 in stock and 10 on order."), "{reason}");
        assert!(reason.ends_with("Order 76 (packs of 12, at least 24)."), "{reason}");
    }
}
