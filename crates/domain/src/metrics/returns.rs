//! What ads bring for what they cost.

use rust_decimal::{Decimal, prelude::ToPrimitive};

/// Standard normal quantile of 80 %.
const Z: f64 = 0.841_621_233_572_914_3;

/// What an order is worth in a shop, and how much orders differ.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OrderValue {
    /// Gross, of the orders above 0, in the account's currency; 0 without any. It is for statistics: what is shown is the
    /// [`average_order_value`](super::ratios::average_order_value).
    pub mean: f64,
    /// The squared coefficient of variation; 0 where all are worth the same.
    pub spread: f64,
}

impl OrderValue {
    /// Of so many orders, the sum of what they are worth, and the sum of its squares.
    pub fn of(orders: i64, total: f64, squares: f64) -> Self {
        let count = orders.to_f64().unwrap_or_default();
        if count <= 0.0 || total <= 0.0 {
            return Self::default();
        }
        // Of orders that are all alike, rounding may leave less than 0.
        Self { mean: total / count, spread: (count * squares / (total * total) - 1.0).max(0.0) }
    }
}

/// Sales per unit of spend, as a platform claims them: the 20 % quantile, the mean and the 80 % quantile of what the same spend
/// brings again, `low ≤ expected ≤ high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Return {
    pub low: f64,
    pub expected: f64,
    pub high: f64,
}

impl Return {
    /// Of purchases and what they were worth. `None` without spend, and where nothing was bought in a shop that has no orders to
    /// tell what a purchase would be worth.
    ///
    /// Purchases are Poisson, with the exact limits of their mean (Garwood, Biometrika 28, 1936); amounts that differ leave as
    /// much information as fewer purchases, `purchases / (1 + spread)`.
    pub fn of(purchases: i64, revenue: Decimal, spend: Decimal, order: OrderValue) -> Option<Self> {
        let (revenue, spend) = (revenue.to_f64()?.max(0.0), spend.to_f64()?);
        // Some purchases are no whole number, so that there is revenue without one.
        let purchases = purchases.max(i64::from(revenue > 0.0)).to_f64()?;
        let worth = if purchases > 0.0 { revenue / purchases } else { order.mean };
        if spend <= 0.0 || worth <= 0.0 {
            return None;
        }
        let alike = 1.0 + order.spread.max(0.0);
        let of = |purchases: f64| purchases * worth / spend;
        let (low, high) = (gamma_quantile(purchases / alike, -Z), gamma_quantile((purchases + 1.0) / alike, Z));
        let expected = of(purchases);
        Some(Self { low: of(low * alike).min(expected), expected, high: of(high * alike).max(expected) })
    }
}

/// The quantile of a gamma distribution of scale 1 that belongs to a standard normal one (Wilson and Hilferty, PNAS 17, 1931);
/// within 2 % here from a shape of 1 on.
fn gamma_quantile(shape: f64, z: f64) -> f64 {
    if shape <= 0.0 {
        return 0.0;
    }
    let root = 1.0 - 1.0 / (9.0 * shape) + z / (3.0 * shape.sqrt());
    shape * root.max(0.0).powi(3)
}

/// Sales per unit of spend from which on ads earn more than they cost; `contribution_share` is what
/// [`contribution_share`](super::contribution::contribution_share) gives. `None` where a sale leaves nothing.
pub fn break_even(contribution_share: f64) -> Option<f64> {
    (contribution_share > 0.0).then(|| 1.0 / contribution_share)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rust_decimal::dec;

    use super::*;

    /// Quantiles of the gamma distribution by R: `qgamma(p, shape)`.
    #[rstest]
    #[case(0.5, Z, 0.8212)]
    #[case(1.0, Z, 1.6094)]
    #[case(5.0, Z, 6.7210)]
    #[case(5.0, -Z, 3.0895)]
    #[case(20.0, -Z, 16.1725)]
    #[case(100.0, Z, 108.3044)]
    fn quantiles_are_those_of_the_gamma_distribution(#[case] shape: f64, #[case] z: f64, #[case] quantile: f64) {
        let found = gamma_quantile(shape, z);
        assert!((found / quantile - 1.0).abs() < 0.02, "{found}");
    }

    #[rstest]
    // 10 and 30: a variance of 100.
    #[case(2, 40.0, 1_000.0, OrderValue { mean: 20.0, spread: 0.25 })]
    #[case(4, 20.0, 100.0, OrderValue { mean: 5.0, spread: 0.0 })]
    #[case(0, 0.0, 0.0, OrderValue::default())]
    fn how_much_orders_differ_is_told_by_their_sums(
        #[case] orders: i64,
        #[case] total: f64,
        #[case] squares: f64,
        #[case] value: OrderValue,
    ) {
        assert_eq!(OrderValue::of(orders, total, squares), value);
    }

    fn of(purchases: i64, revenue: Decimal, spread: f64) -> Option<Return> {
        Return::of(purchases, revenue, dec!(100), OrderValue { mean: 50.0, spread })
    }

    #[test]
    fn the_range_is_that_of_the_mean_of_so_many_purchases() {
        let Return { low, expected, high } = of(5, dec!(250), 0.0).unwrap();
        // Five are 50 each: limits of 3.09 and 7.91 purchases for 100.
        assert!((expected - 2.5).abs() < 1e-9 && (low - 1.545).abs() < 0.02 && (high - 3.953).abs() < 0.02);
        let uneven = of(5, dec!(250), 1.0).unwrap();
        assert!(uneven.low < low && uneven.high > high && (uneven.expected - 2.5).abs() < 1e-9);
    }

    #[test]
    fn without_a_purchase_the_most_is_told_by_what_orders_are_worth() {
        let Return { low, expected, high } = of(0, dec!(0), 0.0).unwrap();
        // 1.61 purchases of 50 for 100.
        assert!(low.abs() < 1e-9 && expected.abs() < 1e-9 && (high - 0.805).abs() < 0.02, "{high}");
        assert_eq!(Return::of(0, dec!(0), dec!(100), OrderValue::default()), None);
        assert_eq!(Return::of(3, dec!(90), dec!(0), OrderValue::default()), None);
    }

    #[test]
    fn revenue_of_a_part_of_a_purchase_counts_as_one() {
        assert!(of(0, dec!(30), 0.0).unwrap().expected > 0.29);
    }

    #[test]
    fn a_sale_that_leaves_a_quarter_pays_for_ads_from_four_on() {
        assert_eq!(break_even(0.25), Some(4.0));
        assert_eq!((break_even(0.0), break_even(-0.1)), (None, None));
    }
}
