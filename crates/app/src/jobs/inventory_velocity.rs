//! The job `inventory_velocity`: how fast every product with a stock sells, and how long the stock lasts.

use super::{
    Work,
    demand::{Stocked, number, shortfall},
    off_thread,
};
use analytics::{
    demand::{DemandClass, DemandModel},
    stock::{self, ExpectedDemand},
};
use domain::{
    StoreError,
    demand::StockedProduct,
    inventory::{Figures, Trend, VelocityClass},
    jobs::WriteOutcome,
    metrics::stock::{Cover, FARTHEST_DAYS, average_daily_units, status, stockout_date, velocity},
    money::estimate,
};

pub(super) async fn run(work: &Work<'_>) -> Result<WriteOutcome, StoreError> {
    let stocked = Stocked::load(work).await?;
    let items =
        off_thread(move || stocked.each(|product, units, model| figures(product, units, model, &stocked))).await?;
    work.deps.inventory.replace(work.claim, items, (work.clock)()).await
}

pub(super) fn figures(
    product: &StockedProduct,
    units: &[Option<f64>],
    model: Option<&DemandModel<'_>>,
    stocked: &Stocked,
) -> Figures {
    let last = stocked.last;
    let units_sold_30d = product.units_sold(last, 30);
    let units_sold_7d = product.units_sold(last, 7);
    let stock = number(product.stock);
    let expected = model.map(ExpectedDemand::of);
    let demand_until = |day| expected.as_ref().map_or(0.0, |expected| expected.until(day));
    // Status and date are those of the days that are shown.
    let cover = Cover::of(stock, demand_until).shown();
    let days = cover.days();
    let range = expected.as_ref().zip(days).map(|(expected, days)| expected.range_of_days(stock, days, FARTHEST_DAYS));
    Figures {
        product_id: product.product_id,
        sku: product.sku.clone(),
        product_name: product.name.clone(),
        current_stock: product.stock,
        units_sold_30d,
        units_sold_7d,
        avg_daily_units_30d: average_daily_units(units_sold_30d, 30),
        avg_daily_units_7d: average_daily_units(units_sold_7d, 7),
        days_of_stock: days.map(|days| estimate(days, 1)),
        days_of_stock_range: range.map(|(soonest, latest)| (estimate(soonest, 1), estimate(latest, 1))),
        velocity: Some(estimate(velocity(demand_until), 4)),
        velocity_class: model.filter(|_| cover != Cover::NoDemand).and_then(|model| class(model.class())),
        trend: match stock::trend(units) {
            stock::Trend::Accelerating => Trend::Accelerating,
            stock::Trend::Stable => Trend::Stable,
            stock::Trend::Decelerating => Trend::Decelerating,
            stock::Trend::NoSales => Trend::NoSales,
        },
        status: status(product.stock, cover),
        estimated_stockout_at: days.and_then(|days| stockout_date(last, days)),
        unit_contribution: stocked.unit_contribution(product),
        missed_units: shortfall(product, model).units.expected,
    }
}

const fn class(class: DemandClass) -> Option<VelocityClass> {
    match class {
        DemandClass::Smooth => Some(VelocityClass::Smooth),
        DemandClass::Erratic => Some(VelocityClass::Erratic),
        DemandClass::Intermittent => Some(VelocityClass::Intermittent),
        DemandClass::Lumpy => Some(VelocityClass::Lumpy),
        DemandClass::NoSales => None,
    }
}

#[cfg(test)]
mod tests {
    use domain::{inventory::Status, metrics::stock::is_out_of_stock};
    use rust_decimal::dec;
    use time::macros::date;

    use super::{
        super::demand::tests::{steady, stocked},
        *,
    };

    fn inventory(products: Vec<StockedProduct>) -> Vec<Figures> {
        let stocked = stocked(products);
        stocked.each(|product, units, model| figures(product, units, model, &stocked))
    }

    #[test]
    fn steady_sales_use_the_stock_up_day_by_day() {
        let item = &inventory(vec![steady(1, 50, 5, 120)])[0];
        assert_eq!((item.units_sold_30d, item.units_sold_7d), (150, 35));
        assert_eq!((item.avg_daily_units_30d, item.avg_daily_units_7d), (dec!(5), dec!(5)));
        assert_eq!((item.days_of_stock, item.status, item.trend), (Some(dec!(10)), Status::Low, Trend::Stable));
        assert_eq!(item.estimated_stockout_at, Some(date!(2026 - 03 - 11)));
        assert_eq!((item.velocity, item.velocity_class), (Some(dec!(5)), Some(VelocityClass::Smooth)));
        let (low, high) = item.days_of_stock_range.unwrap();
        assert!(low >= dec!(8) && low <= dec!(10) && high >= dec!(10) && high <= dec!(12), "{low} to {high}");
    }

    #[test]
    fn a_product_that_never_sold_has_no_days_of_stock() {
        let item = &inventory(vec![steady(1, 50, 0, 0)])[0];
        assert_eq!((item.days_of_stock, item.estimated_stockout_at), (None, None));
        assert_eq!((item.days_of_stock_range, item.velocity, item.velocity_class), (None, Some(dec!(0)), None));
        assert_eq!((item.status, item.trend), (Status::Overstocked, Trend::NoSales));
    }

    #[test]
    fn nothing_in_stock_is_critical_and_out_today() {
        let sold_out = steady(1, -3, 5, 120);
        let item = &inventory(vec![sold_out])[0];
        assert_eq!((item.status, item.days_of_stock), (Status::Critical, Some(dec!(0))));
        assert_eq!(item.estimated_stockout_at, Some(date!(2026 - 03 - 02)));
    }

    #[test]
    fn what_lasts_for_more_than_two_years_has_no_number_of_days() {
        let item = &inventory(vec![steady(1, 5_000, 5, 120)])[0];
        assert_eq!((item.days_of_stock, item.estimated_stockout_at, item.days_of_stock_range), (None, None, None));
        assert_eq!((item.status, item.velocity_class), (Status::Overstocked, Some(VelocityClass::Smooth)));
        assert_eq!(item.velocity, Some(dec!(5)));
    }

    #[test]
    fn what_has_not_sold_for_a_year_is_not_missed() {
        let mut product = steady(1, 0, 5, 3);
        for sale in &mut product.sales {
            sale.day -= time::Duration::days(365);
        }
        assert_eq!(inventory(vec![product])[0].status, Status::Ok);
    }

    /// Alerts and insights look for stock-outs among the critical items.
    #[test]
    fn what_is_out_of_stock_and_sells_is_critical() {
        for (stock, a_day, days) in [(0, 5, 120), (-3, 1, 3), (i64::MIN, 1, 365)] {
            let item = &inventory(vec![steady(1, stock, a_day, days)])[0];
            assert!(is_out_of_stock(stock));
            assert_eq!(item.status, Status::Critical, "{stock} in stock, {a_day} a day");
        }
    }

    #[test]
    fn absurd_numbers_have_figures() {
        let items = inventory(vec![steady(1, i64::MAX, 1_000_000_000, 365), steady(2, i64::MIN, 1, 1)]);
        assert_eq!(items.len(), 2);
    }
}
