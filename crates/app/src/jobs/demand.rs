//! What inventory and reorder figures have in common: the sales of every product as a clean daily series, and the demand
//! that follows from them.

use std::{collections::BTreeMap, sync::Arc};

use analytics::{
    demand::{Category, CategorySales, DemandModel, HISTORY_DAYS, Sales, StoreRhythm},
    exposure::{self, Shortfall},
};
use domain::{
    StoreError,
    daily::{DayTotals, without_gaps},
    demand::{StockAt, StockedProduct},
    metrics::contribution::OrderCosts,
    profit::DayRange,
    risks::HORIZON_DAYS,
};
use rust_decimal::prelude::ToPrimitive;
use time::{Date, Duration};
use tokio::sync::OnceCell;

use super::Work;

/// Days of the shop's totals, which show weekdays and seasons: two years and the weeks that the older one is compared with.
const SHOP_DAYS: i64 = 2 * 364 + 84;
/// Days that what orders cost is taken from.
const COST_DAYS: usize = 90;
/// Assumed where a shop has not said how long its supplier takes.
const LEAD_TIME_DAYS: i32 = 14;
/// Days of a lead time that a shortfall is over at most: what is beyond the horizon of risks is for a later one.
const HORIZON: i32 = HORIZON_DAYS as i32;

/// The products with a stock and the rhythm of their shop, up to the last full day.
pub(super) struct Stocked {
    pub products: Vec<StockedProduct>,
    pub last: Date,
    /// Units of the whole shop a day, up to the last.
    totals: Vec<Option<f64>>,
    rhythm: StoreRhythm,
    /// Of the last 90 days.
    pub costs: OrderCosts,
}

/// What two jobs of a run read, one after the other.
pub(super) type SharedStocked = OnceCell<Arc<Stocked>>;

impl Stocked {
    pub(super) async fn load(work: &Work<'_>) -> Result<Arc<Self>, StoreError> {
        let stocked = work.stocked.get_or_try_init(async || Self::read(work).await.map(Arc::new)).await?;
        Ok(Arc::clone(stocked))
    }

    async fn read(work: &Work<'_>) -> Result<Self, StoreError> {
        let (account, last) = (work.account, work.claim.last_full_day());
        let today = account.timezone.day_of((work.clock)());
        let at = if work.claim.as_of >= today { StockAt::Now } else { StockAt::Day(work.claim.as_of) };
        let products = work.deps.demand.stocked(account.id, days_until(last, HISTORY_DAYS), at).await?;
        let range = days_until(last, SHOP_DAYS);
        let known = work.deps.daily.series(account.id, range).await?;
        let days = without_gaps(&known, range.first, last);
        let totals = since_the_first_sale(&days).iter().map(|day| Some(number(day.units))).collect();
        let costs = OrderCosts::of(days.get(days.len().saturating_sub(COST_DAYS)..).unwrap_or_default());
        Ok(Self::of(products, totals, last, costs))
    }

    fn of(products: Vec<StockedProduct>, totals: Vec<Option<f64>>, last: Date, costs: OrderCosts) -> Self {
        let rhythm = StoreRhythm::fit(&totals, last);
        Self { products, last, totals, rhythm, costs }
    }

    /// What selling a unit brings, at the prices and the costs of orders of the last 90 days; `None` without either.
    pub(super) fn unit_contribution(&self, product: &StockedProduct) -> Option<f64> {
        let price = product.mean_price(self.last)?.to_f64()?;
        Some(self.costs.unit_contribution(price, product.unit_cost?.to_f64()?))
    }

    /// Hands every product with its clean daily units and its demand, if any can be estimated, to `figure`. The daily units are
    /// made twice: those of all products of a large shop at once would be gigabytes.
    pub(super) fn each<T>(
        &self,
        figure: impl Fn(&StockedProduct, &[Option<f64>], Option<&DemandModel<'_>>) -> T,
    ) -> Vec<T> {
        let categories = Categories::of(&self.products, self.last);
        self.products
            .iter()
            .map(|product| {
                let units = daily_units(product, self.last);
                let model =
                    DemandModel::fit(sales(product, &units), Some(categories.of_product(product)), &self.rhythm).ok();
                figure(product, &units, model.as_ref())
            })
            .collect()
    }
}

/// Days between the back-tests of an item: longer than most items' lead times, so that one does not repeat the other.
const BACK_TEST_STEP: usize = 28;
/// Back-tests of an item, so that most of a year is left to forecast from.
const BACK_TESTS: usize = 5;
/// Back-tests of a shop, about: as many tell a probability to a percent.
const MOST_BACK_TESTS: usize = 3_000;
/// Days since its first sale that an item has to look back on when it is forecast.
const BACK_TEST_HISTORY: usize = 56;

impl Stocked {
    /// Forecasts as they would have been made some weeks ago, by what was known then, and the units of the days since.
    /// `visit` is told the product, its demand as of then, and the days that followed, oldest first.
    pub(super) fn back_test(&self, mut visit: impl FnMut(&StockedProduct, &DemandModel<'_>, &[Option<f64>])) {
        let stride = (self.products.len() * BACK_TESTS).div_ceil(MOST_BACK_TESTS).max(1);
        let tried: Vec<_> = self.products.iter().step_by(stride).map(|p| (p, daily_units(p, self.last))).collect();
        for back in (1..=BACK_TESTS).map(|test| test * BACK_TEST_STEP) {
            let Some(last) = i64::try_from(back).ok().and_then(|back| self.last.checked_sub(Duration::days(back)))
            else {
                continue;
            };
            let known = self.totals.len().saturating_sub(back);
            let rhythm = StoreRhythm::fit(self.totals.get(..known).unwrap_or_default(), last);
            for (product, units) in &tried {
                let (before, after) = units.split_at(units.len().saturating_sub(back));
                // What has never sold tells nothing of forecasts.
                if !before.iter().flatten().any(|units| *units > 0.0) {
                    continue;
                }
                match DemandModel::fit(sales(product, before), None, &rhythm) {
                    Ok(model) if model.history_days() >= BACK_TEST_HISTORY => visit(product, &model, after),
                    _ => {}
                }
            }
        }
    }
}

/// The days from the first with a sale on: before it the shop did not sell nothing, it did not sell yet.
fn since_the_first_sale(days: &[DayTotals]) -> &[DayTotals] {
    let first = days.iter().position(|day| day.units > 0).unwrap_or(days.len());
    days.get(first..).unwrap_or_default()
}

fn days_until(last: Date, days: i64) -> DayRange {
    DayRange { first: last.checked_sub(Duration::days(days - 1)).unwrap_or(Date::MIN), last }
}

/// Units sold less units cancelled on the same day, never below 0; days that ended without stock are unknown, unless the
/// product sells without stock as well.
fn daily_units(product: &StockedProduct, last: Date) -> Vec<Option<f64>> {
    let first = days_until(last, HISTORY_DAYS).first;
    let index = |day: Date| usize::try_from((day - first).whole_days()).ok();
    let mut units = vec![Some(0.0); usize::try_from(HISTORY_DAYS).unwrap_or_default()];
    for sale in &product.sales {
        if let Some(day) = index(sale.day).and_then(|at| units.get_mut(at)) {
            *day = Some(number(sale.sold.saturating_sub(sale.cancelled.max(0)).max(0)));
        }
    }
    let is_gone = ended_without_stock(product, units.len(), index);
    if !sells_without_stock(&units, &is_gone) {
        hide_days_without_stock(&mut units, &is_gone);
    }
    units
}

/// Makes the days that ended without stock unknown: more would have been sold on them. Where the product sold on no other
/// day, those with a sale stay, or it would look as if it never sold.
fn hide_days_without_stock(units: &mut [Option<f64>], is_gone: &[bool]) {
    let always_sold_out = units.iter().zip(is_gone).all(|(day, is_gone)| *is_gone || !has_sale(*day));
    for (day, is_gone) in units.iter_mut().zip(is_gone) {
        if *is_gone && !(always_sold_out && has_sale(*day)) {
            *day = None;
        }
    }
}

fn has_sale(day: Option<f64>) -> bool {
    day.is_some_and(|units| units > 0.0)
}

/// Of each of `days` days, whether it ended without stock.
fn ended_without_stock(product: &StockedProduct, days: usize, index: impl Fn(Date) -> Option<usize>) -> Vec<bool> {
    let mut is_gone = vec![false; days];
    for day in &product.days_without_stock {
        if let Some(day) = index(*day).and_then(|at| is_gone.get_mut(at)) {
            *day = true;
        }
    }
    is_gone
}

/// Part of what it sells in stock that a product sells without, from which on its stock does not hold it back.
const SELLS_WITHOUT: f64 = 0.5;

/// Whether a product sells on days that begin and end without stock, too: what is made to order, or sold ahead. Counted from
/// its first sale on; so does what never was in stock since.
fn sells_without_stock(units: &[Option<f64>], is_gone: &[bool]) -> bool {
    let Some(first) = units.iter().position(|day| has_sale(*day)) else { return false };
    let (mut stocked, mut without) = ((0.0, 0.0), (0.0, 0.0));
    let began_without = std::iter::once(&false).chain(is_gone);
    for ((day, is_gone), began_without) in units.iter().zip(is_gone).zip(began_without).skip(first) {
        let units = day.unwrap_or_default();
        match (began_without, is_gone) {
            (true, true) => without = (without.0 + units, without.1 + 1.0),
            (_, false) => stocked = (stocked.0 + units, stocked.1 + 1.0),
            (false, true) => {}
        }
    }
    // Mean against mean, without dividing by no days.
    without.0 > 0.0 && without.0 * stocked.1 >= SELLS_WITHOUT * stocked.0 * without.1
}

fn sales<'a>(product: &StockedProduct, units: &'a [Option<f64>]) -> Sales<'a> {
    Sales { units, sold_before: product.sold_before }
}

/// What the products of each category have in common, and those of the whole shop.
struct Categories<'a> {
    by_name: BTreeMap<&'a str, Category>,
    shop: Category,
}

impl<'a> Categories<'a> {
    fn of(products: &'a [StockedProduct], last: Date) -> Self {
        let (mut shop, mut by_name) = (CategorySales::default(), BTreeMap::<&str, CategorySales>::new());
        for product in products {
            let units = daily_units(product, last);
            let sales = sales(product, &units);
            shop.add(sales);
            if let Some(category) = product.category.as_deref() {
                by_name.entry(category).or_default().add(sales);
            }
        }
        let shop = shop.shop();
        let by_name = by_name.into_iter().map(|(name, sold)| (name, sold.category().or(&shop))).collect();
        Self { by_name, shop }
    }

    fn of_product(&self, product: &StockedProduct) -> &Category {
        product.category.as_deref().and_then(|name| self.by_name.get(name)).unwrap_or(&self.shop)
    }
}

/// Days until an order of today arrives.
pub(super) fn lead_time(product: &StockedProduct) -> i32 {
    product.lead_time_days.unwrap_or(LEAD_TIME_DAYS).max(0)
}

/// What the stock of a product does not meet of the demand until an order of today arrives; nothing where too little is known of
/// it to order by.
pub(super) fn shortfall(product: &StockedProduct, model: Option<&DemandModel<'_>>) -> Shortfall {
    let model = model.filter(|model| model.is_evident());
    let days = usize::try_from(lead_time(product).clamp(1, HORIZON)).unwrap_or_default();
    let demand = |days| model.map(|model| model.window(days)).unwrap_or_default();
    exposure::shortfall(demand, days, number(product.stock), number(product.on_order))
}

/// Units as a number for statistics.
#[expect(clippy::cast_precision_loss, reason = "beyond 2^53 units a day the last one does not matter")]
pub(super) const fn number(units: i64) -> f64 {
    units as f64
}

#[cfg(test)]
pub(super) mod tests {
    use analytics::stock::{ExpectedDemand, Trend, trend};
    use domain::{
        ProductId,
        demand::SalesDay,
        inventory::Status,
        metrics::stock::{Cover, status, stockout_date},
    };
    use time::macros::date;

    use super::*;

    pub(in crate::jobs) const LAST: Date = date!(2026 - 03 - 01);

    /// A product that sold `units` on each of the last `days` days.
    pub(in crate::jobs) fn steady(id: i64, stock: i64, units: i64, days: i64) -> StockedProduct {
        let sales =
            (0..days).rev().map(|back| SalesDay { day: LAST - Duration::days(back), sold: units, cancelled: 0 });
        StockedProduct {
            product_id: ProductId(id),
            sku: format!("S{id}"),
            name: format!("Product {id}"),
            stock,
            sales: sales.collect(),
            ..StockedProduct::default()
        }
    }

    pub(in crate::jobs) fn stocked(products: Vec<StockedProduct>) -> Stocked {
        Stocked::of(products, Vec::new(), LAST, OrderCosts::default())
    }

    #[test]
    fn cancellations_of_the_day_are_netted_and_days_without_stock_unknown() {
        let mut product = steady(1, 5, 4, 3);
        product.sales[1].cancelled = 6;
        product.sales[2].cancelled = 1;
        product.days_without_stock = vec![LAST - Duration::days(3), LAST - Duration::days(900)];
        let units = daily_units(&product, LAST);
        assert_eq!(units.len(), 420);
        assert_eq!(units[415..], [Some(0.0), None, Some(4.0), Some(0.0), Some(3.0)]);
    }

    #[test]
    fn what_sells_without_stock_is_not_held_back_by_it() {
        let back = |days: i64| LAST - Duration::days(days);
        // Made to order: it never was in stock since it was first sold.
        let mut product = steady(1, -150, 5, 30);
        product.days_without_stock = (0..30).map(back).collect();
        assert_eq!(daily_units(&product, LAST)[390..], [Some(5.0); 30]);
        // It was in stock for 60 days, and went on to sell after that.
        let mut product = steady(1, -150, 5, 90);
        product.days_without_stock = (0..30).map(back).collect();
        assert_eq!(daily_units(&product, LAST)[330..], [Some(5.0); 90]);
        // What cannot be bought without stock does not sell on such days, but for what came and went on one.
        product.sales.truncate(60);
        product.sales.push(SalesDay { day: back(9), sold: 7, cancelled: 0 });
        let units = daily_units(&product, LAST);
        assert_eq!((units[389], &units[390..]), (Some(5.0), [None; 30].as_slice()));
        // A cancellation that is taken back adds no sale.
        product.sales[0].cancelled = -5;
        assert_eq!(daily_units(&product, LAST)[330], Some(5.0));
    }

    #[test]
    fn what_sold_out_on_every_day_with_a_sale_did_sell() {
        let back = |days: i64| LAST - Duration::days(days);
        let sold_out = |product: StockedProduct| {
            let days_without_stock = product.sales.iter().map(|sale| sale.day).collect();
            StockedProduct { days_without_stock, ..product }
        };
        // New, with ten in stock, and all of them sold on the last day.
        let product = sold_out(steady(1, 0, 10, 1));
        assert_eq!(daily_units(&product, LAST)[418..], [Some(0.0), Some(10.0)]);
        let found = stocked(vec![product]).each(|product, units, model| {
            let expected = model.map(ExpectedDemand::of);
            let cover = Cover::of(0.0, |day| expected.as_ref().map_or(0.0, |expected| expected.until(day)));
            (status(product.stock, cover), cover.days(), trend(units))
        });
        assert_eq!(found, [(Status::Critical, Some(0.0), Trend::Stable)]);
        assert_eq!(stockout_date(LAST, 0.0), Some(back(-1)), "out today");
        // The days after it without stock tell nothing.
        let mut product = sold_out(steady(1, 0, 10, 1));
        product.sales[0].day = back(2);
        product.days_without_stock = (0..3).map(back).collect();
        assert_eq!(daily_units(&product, LAST)[417..], [Some(10.0), None, None]);
        // One day with a sale that ended in stock is enough to know it by.
        let mut product = sold_out(steady(1, 0, 10, 2));
        product.days_without_stock.truncate(1);
        assert_eq!(daily_units(&product, LAST)[418..], [None, Some(10.0)]);
    }

    #[test]
    fn days_before_the_first_sale_are_no_days_without_sales() {
        let day = |back: i64, units| DayTotals { units, ..DayTotals::quiet(LAST - Duration::days(back)) };
        let days = [day(3, 0), day(2, 4), day(1, 0), day(0, 6)];
        let since: Vec<i64> = since_the_first_sale(&days).iter().map(|day| day.units).collect();
        assert_eq!(since, [4, 0, 6]);
        assert_eq!(since_the_first_sale(&days[..1]), []);
    }

    /// Units a day that a product without a sale yet would be taken to sell.
    #[test]
    fn a_young_product_is_compared_with_its_category_then_with_all() {
        let mugs = |product: StockedProduct| StockedProduct { category: Some("mugs".into()), ..product };
        let hats = |product: StockedProduct| StockedProduct { category: Some("hats".into()), ..product };
        let products = [
            mugs(steady(1, 1, 4, 100)),
            steady(2, 1, 1, 100),
            mugs(steady(3, 1, 50, 10)),
            steady(4, 1, 9, 5),
            hats(steady(5, 1, 9, 5)),
        ];
        let stocked = stocked(products.to_vec());
        let levels = stocked.each(|_, _, model| model.unwrap().level());
        // 14 days of the category's 4, or of the shop's 2.5.
        let drawn = |units: f64, days: f64, level: f64| (units * days + level * 14.0) / (days + 14.0);
        for (level, expected) in
            levels.iter().zip([4.0, 1.0, drawn(50.0, 10.0, 4.0), drawn(9.0, 5.0, 2.5), drawn(9.0, 5.0, 2.5)])
        {
            assert!((level - expected).abs() < 1e-9, "{levels:?}");
        }
    }

    #[test]
    fn what_never_sold_tells_nothing_of_forecasts() {
        let tried = |product: StockedProduct| {
            let mut tests = 0;
            stocked(vec![product]).back_test(|_, _, _| tests += 1);
            tests
        };
        assert_eq!((tried(steady(1, 1, 0, 300)), tried(steady(1, 1, 5, 300))), (0, BACK_TESTS));
    }

    #[test]
    fn what_sold_before_the_days_looked_at_is_not_young() {
        let again = |sold_before| StockedProduct { sold_before, ..steady(1, 1, 5, 1) };
        let level = |product: StockedProduct| {
            let stocked = stocked(vec![steady(2, 1, 5, 200), product]);
            stocked.each(|_, _, model| model.unwrap().level())[1]
        };
        assert!(level(again(false)) > 4.9);
        assert!(level(again(true)) < 0.5);
    }
}
