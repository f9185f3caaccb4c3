//! Amounts of money as lines of units with a price each: what a platform gives as a sum stays that sum to the last
//! digit.

use rust_decimal::{Decimal, RoundingStrategy};

use super::{MAX_AMOUNT, MAX_DECIMALS};

/// Whether an amount is one that can be imported.
pub fn is_importable(amount: Decimal) -> bool {
    amount.abs() < MAX_AMOUNT && amount.normalize().scale() <= MAX_DECIMALS
}

/// The same of one that is 0 or more, such as a price or what was spent.
pub fn is_importable_cost(amount: Decimal) -> bool {
    amount >= Decimal::ZERO && is_importable(amount)
}

/// `total` as (units, price of a unit) so that units × price add up to exactly `total`, and the units to `quantity`. One
/// entry when the division ends within [`MAX_DECIMALS`], else two: all units but one at the price rounded down to the
/// decimals of `total`, or `decimals` if these are more, and the last one at what remains.
///
/// `None` when there is no such price of 0 or more: no units, units and money of opposite signs, or a total that cannot be
/// imported.
pub fn per_unit(total: Decimal, quantity: i64, decimals: u32) -> Option<Vec<(i64, Decimal)>> {
    let (amount, units) = match quantity {
        1.. if is_importable_cost(total) => (total, Decimal::from(quantity)),
        ..=-1 if total <= Decimal::ZERO && is_importable(total) => (-total, -Decimal::from(quantity)),
        _ => return None,
    };
    let scale = amount.scale().max(decimals).min(MAX_DECIMALS);
    let exact = (amount / units).round_dp(MAX_DECIMALS).normalize();
    if exact.checked_mul(units)? == amount {
        return Some(vec![(quantity, exact)]);
    }
    let price = (amount / units).round_dp_with_strategy(scale, RoundingStrategy::ToZero);
    let last = amount - price.checked_mul(units - Decimal::ONE)?;
    Some(vec![(quantity - quantity.signum(), price), (quantity.signum(), last)])
}

/// `total` divided among `weights` in their proportion, each share rounded to `decimals`; the shares add up to exactly
/// `total`, because each is the difference of two rounded running sums. No share exceeds its weight where `total` is not
/// more than the sum of weights that have no more than `decimals`. All of it falls to the first where the weights are 0
/// together; nothing where there are none.
pub fn shares(total: Decimal, weights: &[Decimal], decimals: u32) -> Vec<Decimal> {
    let sum: Decimal = weights.iter().sum();
    let mut given = Decimal::ZERO;
    let mut weighed = Decimal::ZERO;
    weights
        .iter()
        .enumerate()
        .map(|(index, weight)| {
            weighed += *weight;
            let upto = match sum.is_zero() {
                true => total,
                false if index + 1 == weights.len() => total,
                false => {
                    // Exact, unless the product is too large for a decimal.
                    let part = match total.checked_mul(weighed) {
                        Some(product) => product / sum,
                        None => total * (weighed / sum),
                    };
                    part.round_dp_with_strategy(decimals, RoundingStrategy::MidpointAwayFromZero)
                }
            };
            let share = upto - given;
            given = upto;
            share
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rust_decimal::dec;

    #[test]
    fn a_division_that_ends_is_one_line() {
        assert_eq!(per_unit(dec!(20.00), 4, 2), Some(vec![(4, dec!(5))]));
        assert_eq!(per_unit(dec!(10.01), 2, 2), Some(vec![(2, dec!(5.005))]));
        assert_eq!(per_unit(dec!(0), 3, 2), Some(vec![(3, dec!(0))]));
    }

    #[test]
    fn a_division_that_does_not_end_leaves_the_rest_to_the_last_unit() {
        assert_eq!(per_unit(dec!(100.00), 3, 2), Some(vec![(2, dec!(33.33)), (1, dec!(33.34))]));
        assert_eq!(per_unit(dec!(-100), -3, 2), Some(vec![(-2, dec!(33.33)), (-1, dec!(33.34))]));
        assert_eq!(per_unit(dec!(100), 3, 0), Some(vec![(2, dec!(33)), (1, dec!(34))]));
        assert_eq!(per_unit(dec!(0.01), 3, 2), Some(vec![(2, dec!(0.00)), (1, dec!(0.01))]));
    }

    #[test]
    fn there_is_no_price_below_zero() {
        assert_eq!(per_unit(dec!(-1), 1, 2), None);
        assert_eq!(per_unit(dec!(1), -1, 2), None);
        assert_eq!(per_unit(dec!(1), 0, 2), None);
    }

    #[test]
    fn shares_follow_their_weights() {
        assert_eq!(shares(dec!(10), &[dec!(1), dec!(1), dec!(1)], 2), [dec!(3.33), dec!(3.34), dec!(3.33)]);
        assert_eq!(shares(dec!(5), &[dec!(0), dec!(0)], 2), [dec!(5), dec!(0)]);
        assert_eq!(shares(dec!(5), &[], 2), []);
        let large = dec!(300_000_000_000_000);
        assert_eq!(shares(large, &[large, large], 2), [dec!(150_000_000_000_000); 2]);
    }

    #[test]
    fn the_largest_amounts_are_divided() {
        let (total, weights) = (dec!(900_000_000_000_000), vec![dec!(999_999_999_999.99); 1_000]);
        let shares = shares(total, &weights, 2);
        assert_eq!(shares.iter().sum::<Decimal>(), total);
        assert!(
            shares.iter().all(|share| (dec!(899_999_999_999)..=dec!(900_000_000_001)).contains(share)),
            "{shares:?}"
        );
    }

    proptest! {
        #[test]
        fn units_and_money_add_up(digits in 0_i64..100_000_000_000, scale in 0_u32..=6, quantity in 1_i64..=1_000_000, taken_back: bool) {
            let sign = if taken_back { -1 } else { 1 };
            let total = Decimal::new(digits, scale) * Decimal::from(sign);
            let lines = per_unit(total, quantity * sign, 2).unwrap();
            prop_assert_eq!(lines.iter().map(|(units, _)| units).sum::<i64>(), quantity * sign);
            prop_assert_eq!(lines.iter().map(|(units, price)| Decimal::from(*units) * price).sum::<Decimal>(), total);
            for (units, price) in lines {
                prop_assert!(price >= Decimal::ZERO && price.scale() <= MAX_DECIMALS && units != 0);
            }
        }

        #[test]
        fn shares_add_up(cents in 0_i64..1_000_000_000, weights in prop::collection::vec(0_i64..1_000_000, 1..20)) {
            let total = Decimal::new(cents, 2);
            let weights: Vec<_> = weights.into_iter().map(|weight| Decimal::new(weight, 2)).collect();
            let shares = shares(total, &weights, 2);
            prop_assert_eq!(shares.iter().sum::<Decimal>(), total);
            prop_assert!(shares.iter().all(|share| *share >= Decimal::ZERO && share.scale() <= 2));
        }

        #[test]
        fn no_share_exceeds_what_it_is_taken_from(weights in prop::collection::vec(0_i64..100_000, 1..20), part in 0_u32..=100) {
            let cents = weights.iter().sum::<i64>() * i64::from(part) / 100;
            let weights: Vec<_> = weights.into_iter().map(|weight| Decimal::new(weight, 2)).collect();
            let shares = shares(Decimal::new(cents, 2), &weights, 2);
            prop_assert!(shares.iter().zip(&weights).all(|(share, weight)| share <= weight), "{shares:?} {weights:?}");
        }
    }
}
