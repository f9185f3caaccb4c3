//! Products that sell far more than before.

use rust_decimal::{Decimal, prelude::ToPrimitive};

use super::{
    Category, Draft, Severity,
    rules::{code, count},
    told::{Kind, Told, Value},
};
use crate::{
    anomalies::Direction,
    daily::DayTotals,
    metrics::{contribution::contribution_share, stock::is_out_of_stock},
    money::{estimate, ratio},
    stories::WORTH_TELLING,
};

/// Days that are held against those before them.
pub const WEEK_DAYS: i64 = 7;
/// As many weeks tell what is usual.
pub const WEEKS_BEFORE: usize = 8;
/// Purchases of a week below which nothing is said of it.
pub const LEAST_PURCHASES: i64 = 5;
/// How many times the usual number it has to be.
const LEAST_RATIO: f64 = 2.0;
/// Standard deviations of a week that it has to be above the usual number. Of thousands of products some are by chance: those
/// with most at stake are told.
const LEAST_Z: f64 = 3.0;
/// The products with most at stake that are told at a time.
const MOST_PRODUCTS: usize = 3;
/// A stock that lasts for fewer days is to be reordered.
const SHORT_COVER_DAYS: i64 = 30;

/// How often a product was bought in the last seven full days, and in each of the eight weeks before them. Purchases are
/// counted, not units: a bulk order is one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProductWeeks {
    pub sku: String,
    pub purchases: i64,
    pub units: i64,
    pub revenue: Decimal,
    /// Purchases by week, the oldest first.
    pub before: [i64; WEEKS_BEFORE],
    /// Units at hand; none where they are not known.
    pub stock: Option<i64>,
    /// Whether units are on their way.
    pub is_on_order: bool,
}

/// A product that took off.
#[derive(Debug, Clone, PartialEq)]
struct TookOff<'a> {
    product: &'a ProductWeeks,
    usual: f64,
    /// Sales beyond the usual ones.
    sales: Decimal,
    /// What is left of them after goods, fees and shipping; the sales where no cost is known.
    stake: Decimal,
}

impl ProductWeeks {
    /// Purchases of a usual week, if the last is far above it: more than twice as many, more than in any week before, and more
    /// than chance explains. `growth` is that of the whole shop, from 1 on: a product that grows with it did not take off, and
    /// neither did one that was not sold in the first half of the weeks before: it is new.
    fn usual_if_it_took_off(&self, growth: f64) -> Option<f64> {
        let weeks = self.before.map(|purchases| purchases.to_f64().unwrap_or_default());
        let number = weeks.len().to_f64()?;
        let usual = weeks.iter().sum::<f64>() / number;
        let squares: f64 = weeks.iter().map(|week| (week - usual) * (week - usual)).sum();
        // At least that of a Poisson count; and the mean itself is of eight weeks.
        let variance = (squares / (number - 1.0)).max(usual) * (1.0 + 1.0 / number);
        let most = weeks.iter().copied().fold(0.0, f64::max);
        let least = growth * (LEAST_RATIO * usual).max(most).max(usual + LEAST_Z * variance.sqrt());
        let (early, _) = weeks.split_at(WEEKS_BEFORE / 2);
        let is_known = early.iter().any(|purchases| *purchases > 0.0);
        (is_known && self.purchases >= LEAST_PURCHASES && self.purchases.to_f64()? > least).then_some(usual)
    }
}

/// What took off of the products, the most at stake first. `usual_day` is what a usual day leaves.
pub(super) fn took_off<'a>(
    days: &[DayTotals],
    products: impl IntoIterator<Item = &'a ProductWeeks>,
    usual_day: Decimal,
) -> Vec<Draft> {
    let Some(growth) = growth(days) else { return Vec::new() };
    let share = contribution_share(days).map_or(1.0, |share| share.max(0.0));
    let mut found: Vec<TookOff> = products
        .into_iter()
        .filter_map(|product| {
            let usual = product.usual_if_it_took_off(growth)?;
            let purchases = Decimal::from(product.purchases);
            let sales = (purchases - estimate(usual, 4)) * ratio(product.revenue, purchases);
            Some(TookOff { product, usual, sales, stake: sales * estimate(share, 4) })
        })
        .collect();
    found.sort_by(|a, b| b.stake.cmp(&a.stake).then_with(|| a.product.sku.cmp(&b.product.sku)));
    found.truncate(MOST_PRODUCTS);
    found.iter().map(|found| draft(found, usual_day)).collect()
}

/// How many times the orders of a usual week the whole shop had in the last, at least 1; none before there are as many weeks.
fn growth(days: &[DayTotals]) -> Option<f64> {
    let begins = days.iter().position(|day| day.orders > 0)?;
    let week = usize::try_from(WEEK_DAYS).ok()?;
    let known = days.get(begins..)?;
    let last = known.get(known.len().checked_sub(week)?..)?;
    let before = known.get(known.len().checked_sub(week * (WEEKS_BEFORE + 1))?..known.len() - week)?;
    let orders = |days: &[DayTotals]| days.iter().map(|day| day.orders).sum::<i64>().to_f64();
    let usual = orders(before)? / WEEKS_BEFORE.to_f64()?;
    if usual > 0.0 { Some((orders(last)? / usual).max(1.0)) } else { None }
}

fn draft(found: &TookOff, usual_day: Decimal) -> Draft {
    let TookOff { product, usual, sales, stake } = found;
    let before = WEEK_DAYS * i64::try_from(WEEKS_BEFORE).unwrap_or_default();
    let told = Told::new(Kind::ProductTookOff)
        .with("product", Value::Names(vec![product.sku.clone()]))
        .with("days", Value::Days(WEEK_DAYS))
        .with("before", Value::Days(before))
        .with("purchases", count(product.purchases))
        .with("units", count(product.units))
        .with("usual", count(estimate(*usual, 0)))
        .with("most", count(product.before.into_iter().max().unwrap_or_default()))
        .with("sales", Value::Money(*sales))
        .with("purchases_moved", Value::Moved(Direction::Up));
    let told = match product.stock {
        // Who cannot buy it is not to be shown it.
        Some(stock) if is_out_of_stock(stock) => {
            told.with("stocked", code(if product.is_on_order { "awaited" } else { "out" }))
        }
        Some(stock) => {
            // What is left lasts for a part of a day at least.
            let cover = (stock.saturating_mul(WEEK_DAYS) / product.units.max(1)).max(1);
            let is_short = cover < SHORT_COVER_DAYS && !product.is_on_order;
            told.with("stocked", code(if is_short { "short" } else { "enough" }))
                .with("stock", count(stock))
                .with("cover", Value::Days(cover))
        }
        None => told.with("stocked", code("unknown")),
    };
    let fingerprint = format!("product:took_off:{}", product.sku);
    Draft {
        stake: Some(*stake),
        earns_place: *stake >= usual_day * estimate(WORTH_TELLING, 2),
        ..Draft::new(fingerprint, Severity::Low, Category::Revenue, told)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rust_decimal::dec;
    use time::{Duration, macros::date};

    use super::*;

    fn product(purchases: i64, before: [i64; WEEKS_BEFORE]) -> ProductWeeks {
        ProductWeeks {
            sku: "MUG".into(),
            purchases,
            units: purchases,
            revenue: dec!(10) * Decimal::from(purchases),
            before,
            stock: Some(60),
            is_on_order: false,
        }
    }

    const EVEN: [i64; WEEKS_BEFORE] = [9, 11, 10, 8, 12, 10, 9, 11];

    #[rstest]
    #[case::three_times(30, EVEN, 1.0, true)]
    // Twice ten, and three times the square root of 10 · 9/8: 20.1.
    #[case::chance(20, EVEN, 1.0, false)]
    #[case::beyond_chance(21, EVEN, 1.0, true)]
    #[case::as_the_whole_shop(30, EVEN, 1.5, false)]
    #[case::less_than_twice(1_500, [1_000; WEEKS_BEFORE], 1.0, false)]
    #[case::seen_before(30, [9, 31, 10, 8, 12, 10, 9, 11], 1.0, false)]
    #[case::a_trifle(4, [0, 1, 0, 0, 0, 0, 0, 0], 1.0, false)]
    #[case::hardly_sold_before(5, [0, 1, 0, 0, 0, 0, 0, 0], 1.0, true)]
    #[case::new(30, [0, 0, 0, 0, 9, 11, 10, 8], 1.0, false)]
    fn a_product_took_off_when_a_week_is_far_above_all_before(
        #[case] purchases: i64,
        #[case] before: [i64; WEEKS_BEFORE],
        #[case] growth: f64,
        #[case] took_off: bool,
    ) {
        assert_eq!(product(purchases, before).usual_if_it_took_off(growth).is_some(), took_off);
    }

    fn days(known: i64, last_week: i64) -> Vec<DayTotals> {
        let first = date!(2026 - 01 - 01);
        let day = |at: i64| DayTotals {
            orders: if at < 100 - known {
                0
            } else if at >= 93 {
                last_week
            } else {
                10
            },
            gross_revenue: dec!(100),
            cogs: dec!(40),
            ..DayTotals::quiet(first + Duration::days(at))
        };
        (0..100).map(day).collect()
    }

    #[test]
    fn a_shop_grows_against_the_eight_weeks_before() {
        assert_eq!(growth(&days(63, 15)), Some(1.5));
        assert_eq!(growth(&days(63, 5)), Some(1.0), "a shop that shrinks asks no less");
        assert_eq!(growth(&days(62, 15)), None);
        assert_eq!(growth(&[]), None);
    }

    #[test]
    fn what_is_at_stake_is_what_is_left_of_the_sales_beyond_the_usual() {
        let products = [product(30, EVEN), ProductWeeks { sku: "LAMP".into(), ..product(40, EVEN) }];
        let found = took_off(&days(63, 10), &products, dec!(900));
        let told: Vec<_> =
            found.iter().map(|draft| (draft.fingerprint.as_str(), draft.stake, draft.earns_place)).collect();
        // Of 300 and 200 beyond the usual 60 % are left; a sixth of 900 is 150, and 15 % are 135.
        assert_eq!(
            told,
            [("product:took_off:LAMP", Some(dec!(180.0)), true), ("product:took_off:MUG", Some(dec!(120.0)), false)]
        );
    }

    #[rstest]
    // 30 a week: 60 last for 14 days, 129 for 30.
    #[case(Some(60), false, "short")]
    #[case(Some(60), true, "enough")]
    #[case(Some(129), false, "enough")]
    #[case(Some(0), false, "out")]
    #[case(Some(0), true, "awaited")]
    #[case(None, false, "unknown")]
    fn a_short_stock_is_to_be_reordered(#[case] stock: Option<i64>, #[case] is_on_order: bool, #[case] stocked: &str) {
        let product = ProductWeeks { stock, is_on_order, ..product(30, EVEN) };
        let found = took_off(&days(63, 10), &[product], Decimal::ZERO);
        assert_eq!(found[0].told.figure("stocked"), Some(&code(stocked)));
    }

    #[test]
    fn what_is_left_lasts_for_a_day_at_least() {
        let product = ProductWeeks { stock: Some(4), ..product(30, EVEN) };
        let found = took_off(&days(63, 10), &[product], Decimal::ZERO);
        assert_eq!(found[0].told.figure("cover"), Some(&Value::Days(1)));
    }
}
