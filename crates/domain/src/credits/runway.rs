//! How long the credits last at the pace of late.

use rust_decimal::Decimal;

/// The pace is the mean over this number of days.
pub const USE_DAYS: i64 = 14;

/// Days that a balance lasts when `used` credits (debits less refunds) went in the last [`USE_DAYS`] days; `None` where
/// nothing went.
pub fn days_left(balance: i64, used: i64) -> Option<Decimal> {
    let of_days = Decimal::from(balance.max(0)) * Decimal::from(USE_DAYS);
    (used > 0).then(|| of_days / Decimal::from(used))
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;

    use super::*;

    #[test]
    fn a_balance_lasts_as_long_as_it_did_lately() {
        assert_eq!(days_left(69, 140), Some(dec!(6.9)));
        assert_eq!(days_left(0, 140), Some(dec!(0)));
        assert_eq!(days_left(500, 0), None);
        // More was given back than taken.
        assert_eq!(days_left(500, -20), None);
    }

    #[test]
    fn the_largest_balance_can_be_counted() {
        assert!(days_left(i64::MAX, 1).is_some());
    }
}
